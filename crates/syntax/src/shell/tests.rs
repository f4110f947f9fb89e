use super::{Command, ShellStep, Word, steps};
use proptest::prelude::*;

fn word(text: &str) -> Word {
    Word::Text(text.to_owned())
}

/// Every command that is run, its words joined by blanks; `?` stands for an unknown word, `=a` for a variable, `>a` for
/// a file.
fn run(text: &str) -> Vec<String> {
    let shown = |words: Vec<Word>, mark: &str| {
        words.into_iter().map(|word| mark.to_owned() + word.text().unwrap_or("?")).collect::<Vec<_>>()
    };
    let steps = steps(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    let command = |Command { assigned, words, written, read, source: _ }: Command| {
        let set = assigned.into_iter().map(|(name, _)| Word::Text(name)).collect();
        [shown(set, "="), shown(words, ""), shown(written, ">"), shown(read, "<")].concat().join(" ")
    };
    let step = |step| match step {
        ShellStep::Run(run) => command(run),
        ShellStep::Define(name) => format!("{name}()"),
    };
    steps.into_iter().map(step).filter(|shown| !shown.is_empty()).collect()
}

#[test]
fn every_command_is_found_at_any_place() {
    for (text, commands) in [
        ("ls -la /tmp", &["ls -la /tmp"][..]),
        ("a; b & c && d || ! e | f\ng", &["a", "b", "c", "d", "e", "f", "g"]),
        ("(a; { b; })", &["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi >x", &["a", "b", "c", "d", "e", ">x"]),
        ("for f in *.c $(a); do b \"$f\"; done", &["a", "=f", "b ?"]),
        ("while a; do b; done <x | until c; do d; done", &["a", "b", "<x", "c", "d"]),
        ("case $x in a|b) c;; *) d;; esac", &["c", "d"]),
        ("f() { a; }; f", &["a", "f()", "f"]),
        ("f() { a; }\nf", &["a", "f()", "f"]),
        ("if a; then f() { b; }; fi", &["a", "b"]),
        ("a $(b $(c)) `d` \"$(e)\" <(g) > >(h)", &["c", "b ?", "d", "e", "g", "h", "a ? ? ? ?"]),
        ("X=$(a) Y=1 b", &["a", "=X =Y b"]),
        ("x=(1 $(a))", &["a", "=x"]),
        ("a 2>/dev/null >&2 2>&1 <b >>c &>d <>e >|g", &["a >/dev/null >c >d >e >g <b"]),
        ("a >&file", &["a >file"]),
        ("cat <<E\nx $y\nE\n", &["cat"]),
        ("cat <<<\"$a\"", &["cat"]),
        ("[[ -f $(a) && x == y* ]] && b", &["a", "b"]),
        ("[[ -t 1 ]] && b", &["b"]),
        ("time a -p | b", &["a -p", "b"]),
        ("'a' b\\ c \"d e\" f'g'h \\i", &["a b c d e fgh i"]),
        ("a {b,c} {1..3} {\"-o\",x} {} @{0}", &["a ? ? ? {} @{0}"]),
        ("a ~/b *.c ${x} \"$y\" $((1+2))", &["a ~/b ? ? ? ?"]),
        ("a '{b' 'c}' \\} d{ HEAD@{1} {e}f x{g}", &["a {b c} } d{ HEAD@{1} {e}f x{g}"]),
        ("a \\\n  b 'e \\\nf'", &["a b e \\\nf"]),
        ("cat <<'E'\na \\\nb\nE\n", &["cat"]),
        ("a &&\\\n b |\\\n c", &["a", "b", "c"]),
        ("a &>/dev/null; b x 2>&1", &["a >/dev/null", "b x"]),
        ("[[ -f a || -d b && ! -e c ]] && d", &["d"]),
        ("x+=a; a <<<'' <b", &["=x", "a <b"]),
        ("# only a comment\na # b", &["a"]),
        ("coproc a", &["coproc a"]),
    ] {
        assert_eq!(run(text), commands, "{text}");
    }
    assert_eq!(run(""), [""; 0]);
}

#[test]
fn only_a_quoted_expansion_or_a_number_is_certainly_one_word() {
    for (text, expected) in [
        ("a $?", Word::Number),
        ("a \"$!\"", Word::Number),
        ("a ${#x}", Word::Number),
        ("a $((1+2))", Word::Number),
        ("a \"$((1+2))\"", Word::Number),
        ("a x$?", Word::One),
        ("n=5; a $n", Word::Number),
        ("n=5; m=$(b); m=6; a \"$n\"", Word::Number),
        ("n=$(b | wc -l); a \"$n\"", Word::Number),
        ("n=`wc -l <b`; m=$((n+1)); a $((n+$m))", Word::Number),
        ("n=0; while b; do n=$((n+1)); done; a \"$n\"", Word::Number),
        ("n=0; while a \"$n\"; do n=$m; done", Word::One),
        ("n=0; read n; a \"$n\"", Word::One),
        ("n=0; for n in b; do c; done; a \"$n\"", Word::One),
        ("n=0; n+=b; a \"$n\"", Word::One),
        ("n=0; n=(b); a \"$n\"", Word::One),
        ("export n=b; n=0; a \"$n\"", Word::One),
        ("n=0 | b; a \"$n\"", Word::One),
        ("n=0 & a \"$n\"", Word::One),
        ("b && n=0; a \"$n\"", Word::One),
        ("if b; then n=0; fi; a \"$n\"", Word::One),
        ("(n=0); a \"$n\"", Word::One),
        ("n=0 b; a \"$n\"", Word::One),
        ("match=0; a \"$match\"", Word::One),
        ("n=$(b; wc -l); a \"$n\"", Word::One),
        ("n=$(wc -l b); a \"$n\"", Word::One),
        ("n=$(wc -l <b 2>&1); a \"$n\"", Word::One),
        ("wc() { b; }; n=$(wc -l); a \"$n\"", Word::One),
        ("a \"$x\"", Word::One),
        ("a \"x$(b)\"y", Word::One),
        ("a \"${x%.c}\"", Word::One),
        ("a \"$x\"$y", Word::Any),
        ("a $x", Word::Any),
        ("a \"$@\"", Word::Any),
        ("a \"${@:-b}\"", Word::Any),
        ("a x\"$*\"", Word::Any),
        ("a $(b)", Word::Any),
        ("a b*", Word::Pattern("b*".to_owned())),
        ("a \"b\"?", Word::Pattern("b?".to_owned())),
        ("a [b\"c\"]", Word::Pattern("[bc]".to_owned())),
        ("a '*'\\?\"[b]\"", word("*?[b]")),
        ("a [", word("[")),
        ("a ]b[", word("]b[")),
        ("a \"$x\"*", Word::Any),
    ] {
        let found = steps(text).unwrap();
        let is_a =
            |step: &&ShellStep| matches!(step, ShellStep::Run(command) if command.words.first() == Some(&word("a")));
        let last = found.iter().rfind(is_a);
        assert!(matches!(last, Some(ShellStep::Run(command)) if command.words[1] == expected), "{text}: {found:?}");
    }
}

#[test]
fn text_that_shells_read_differently_or_evaluate_is_refused() {
    for text in [
        "a 'b",
        "a \"b",
        "a $(b",
        "a )",
        "if a",
        "a && ",
        "echo $'\\x72m'",
        "echo $\"x\"",
        "echo $[1]",
        "echo $((x))",
        "echo >&'$(rm x)'",
        "((n='a[$(rm x)]';))",
        "echo $((n='a[$(rm x)]';))",
        "echo >&\"$x\"",
        "echo $((x)); x=1",
        "x=1; echo $((x+y))",
        "x=1; echo $((x)); x=$y",
        "x=1; echo $((x)); read x",
        "x=1; echo $((x[0]))",
        "x=1; echo $(($(x)))",
        "x=1; echo $((`x`))",
        "x=1; f() { x=$y; }; echo $((x))",
        "if a; then x=1; fi; echo $((x))",
        "echo $((a[$(b)]))",
        "((x=1))",
        "for ((i=0;i<3;i++)); do a; done",
        "echo ${x@P}",
        "echo ${!x}",
        "echo ${a[x]}",
        "echo ${x:-$(a)}",
        "echo ${x:=a}",
        "echo ${x:1}",
        "[[ -v a[$(b)] ]]",
        "[[ $x -eq 1 ]]",
        "[[ -t $x ]]",
        "[[ -t x ]]",
        "[[ -t a[1] ]]",
        "[[ x =~ $(a) ]]",
        "a[$(b)]=1",
        "{ ls } always { rm x; }",
        "{ ls a} always { rm x; }",
        "{ ls ${x}} always { rm x; }",
        "({ ls \"a\"b} always { rm x; })",
        "{ ls $x} always { rm x; }",
        "{ ls $((1))} always { rm x; }",
        "{ ls >a} always { rm x; }",
        "{ x=a} always { rm x; }",
        "{ cat <<E} always { rm x; }\na\nE}\n",
        "for x in a} b; do ls; done",
        "while ls {rm x }; do ls; done",
        "ls *(e:'rm x':)",
        "echo (a)",
        "cat =(a)",
        "select x in a; do b; done",
        "\"$(echo a # )\n rm x)\"",
        "\"$(cat <<E\n)\nE\nrm x)\"",
        "\"$(case a in a) rm x;; esac)\"",
        "cat <<E\n$(rm x)\nE\n",
        "cat <<E\n${x@P}\nE\n",
        "cat <<E\na \\\nb\nE\n",
        "cat <\\\n<E\na\nE\n",
        "a \"$\\\n(b)\"",
        "a b\\\nc",
        "a &\\\n& b",
        "a |\\\n| b",
        "cat <<'' ",
        "cat <<''",
        "cat <<- \"\"\n\n",
        "; a; done<<'' ",
        "cat <<''; a\n\n",
        "function f { a; }\nf",
        "function rm\n{ a; }\nrm b",
        "a &>/dev/null rm b",
        "a >&2 &>>/dev/null rm b",
        "cat <<E &>/dev/null a\nE\n",
        "((a b))",
        "((1>2))",
        "n=0; ((n>5)) && a",
        "[[ a > b ]] && c",
        "[[ a < b ]] && c",
        "[[ a || rm == b ]] && c",
        "! [[ a && rm == b ]] && c",
        "[[ a || ! ( rm == b ) ]] && c",
        "[[ a =~ b|rm ]] && c",
        "x+=a/b",
        "x+=$y",
        "a ${x:-<(b)}",
        "a ${x:+*(e:b:)}",
        "a ${x%=(b)}",
        "a $~x",
        "a \"$=x\"",
        "a $^x",
        "a $x[b]",
        "a \"$1[b]\"",
        "a<1-3>/dev/null",
        "a <->b",
        "`a \\`b\\``",
        "ls\rrm x",
        "ls\u{0}",
        "ls\u{1b}",
    ] {
        assert!(steps(text).is_err(), "{text}: {:?}", steps(text));
    }
}

#[test]
fn a_hostile_text_is_refused_within_bounded_stack_and_time() {
    let nested = |open: &str, close: &str, count: usize| format!("{}a{}", open.repeat(count), close.repeat(count));
    let before = std::time::Instant::now();
    for count in [3, 10, 20, 39, 1000] {
        for text in [
            nested("(", ")", count),
            nested("{ ", "; }", count),
            nested("((", "))", count),
            nested("$(", ")", count),
            nested("$((", "))", count),
            nested("\"$(", ")\"", count),
            nested("if ", "; then a; fi", count),
            nested("while ", "; do a; done", count),
            nested("case a in a) ", ";; esac", count),
            nested("f() ", "", count),
            nested("! ", "", count),
            nested("[[ ! ( ", " ) ]]", count),
            nested("[[ (", ") ]]", count.min(39)),
            nested("${a:-", "}", count),
            nested("<(", ")", count),
            nested("a=(", ")", count),
            nested("`", "`", count),
            nested("a <<E ", "", count),
            nested("a | ", "", count),
            nested("a && ", "", count),
            nested("time ", "", count),
            nested("{a,", "}", count),
            nested("(", "", count),
            nested("((", "", count),
            nested("(*", "", count),
            nested("$((", "", count),
            nested("(x(x)", "", count),
            nested("(x)((", "", count),
            nested("x((", ")", count),
            nested("$(", "", count),
            nested("'", "", count),
            nested("\\", "", count),
            nested("~99999999999999999999 {1..99999999999999999999}", "", count),
        ] {
            let started = std::time::Instant::now();
            let _ = steps(&text);
            assert!(started.elapsed().as_secs() < 60, "{:?}: {}", started.elapsed(), &text[..text.len().min(100)]);
        }
    }
    assert!(before.elapsed().as_secs() < 300, "{:?}", before.elapsed());
}

proptest! {
    #[test]
    fn no_text_causes_a_panic(text in "([ \\n;&|<>(){}$`'\"\\\\#~*?!=\\[\\]a-c0-9-]|<<|if|then|fi|for|in|do|done|case|esac){0,40}") {
        let _ = steps(&text);
    }

    #[test]
    fn a_quoted_word_is_its_text(text in "[ -&(-~]{1,20}") {
        let quoted = format!("echo '{text}'");
        if let Ok(found) = steps(&quoted) {
            prop_assert_eq!(found, [ShellStep::Run(Command {
                words: vec![word("echo"), word(&text)],
                source: quoted.clone(),
                ..Command::default()
            })]);
        }
    }
}
