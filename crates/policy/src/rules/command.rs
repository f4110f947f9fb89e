//! A pattern for one simple command of a shell: `mkdir -p *`. A rule with it allows what a person means by "this
//! program again": the same program, subcommand and options, with other names below the folder.

use pipewright_record::Reason;

/// The programs, with their subcommands, for which `*` may stand for further words, and those of their options that
/// have no value. Whatever such a word is, they run nothing that they would not run without it, contact no other
/// machine, delete nothing and overwrite no text that they do not only lay out anew. (eslint and prettier run the
/// configuration beside a file.) Everything else is allowed by its exact text only.
const PROGRAMS: &[(&[&str], &[&str])] = &[
    (&["black"], &["--check", "--diff", "-q", "--quiet"]),
    (&["cargo", "bench"], CARGO),
    (&["cargo", "test"], CARGO),
    (&["git", "add"], &["-v", "--verbose", "-n", "--dry-run", "-u", "--update", "-N", "--intent-to-add"]),
    (&["git", "commit"], &["-q", "--quiet", "-v", "-s", "--signoff", "-a", "--all"]),
    (&["git", "switch"], &["-c", "--create", "-q", "--quiet"]),
    (&["go", "fmt"], &[]),
    (&["go", "vet"], &[]),
    (&["gofmt"], &["-w", "-l", "-s"]),
    (&["mkdir"], &["-p", "--parents", "-v", "--verbose", "-pv", "-vp"]),
    (&["mypy"], &["--strict"]),
    (&["ruff", "check"], &["--fix", "-q", "--quiet"]),
    (&["ruff", "format"], &["--check", "-q", "--quiet"]),
    (&["rustfmt"], &["--check", "-q", "--quiet"]),
    (&["touch"], &["-a", "-c", "--no-create", "-m"]),
];
const CARGO: &[&str] =
    &["-q", "--quiet", "-r", "--release", "--lib", "--doc", "--all", "--workspace", "--all-features", "--all-targets"];

/// Options of `git commit` whose value is a message, which may have any text.
const MESSAGE: &[&str] = &["-m", "-am", "--message"];

/// Checks a pattern.
///
/// # Errors
/// What is wrong with it.
pub fn check(pattern: &str) -> Result<(), Reason> {
    let words: Vec<&str> = pattern.split_whitespace().collect();
    let Some((&"*", fixed)) = words.split_last() else {
        return Err("`command` ends with `*`; `is` compares the complete text".into());
    };
    if !fixed.iter().all(|word| is_fixed(word)) {
        return Err("before its `*`, `command` has plain words only".into());
    }
    match of_program(fixed).is_some() {
        true => Ok(()),
        false => {
            let known: Vec<String> = PROGRAMS.iter().map(|(program, _)| program.join(" ")).collect();
            Err(format!(
                "`command` is only for these programs, others need their exact text (`is`): {}",
                known.join(", ")
            )
            .into())
        }
    }
}

/// Whether a text is one simple command that the pattern matches.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some(fixed) = pattern.trim_end().strip_suffix('*').filter(|_| check(pattern).is_ok()) else { return false };
    let fixed: Vec<&str> = fixed.split_whitespace().collect();
    simple(text).is_some_and(|words| {
        let (begin, rest) = words.split_at(words.len().min(fixed.len()));
        begin.iter().eq(&fixed) && are_operands(&fixed, rest)
    })
}

/// The pattern for a text and others like it, if there may be one.
pub fn pattern_of(text: &str) -> Option<String> {
    let words = simple(text)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (program, alone) = of_program(&words)?;
    // An option that is not known may have the next word as its value, which stays as it is.
    let behind = |at: usize| match words[at] {
        "--" => at + 1,
        option if alone.contains(&option) || has_message(&words[..=at]) => at + 1,
        _ => at + 2,
    };
    let last = words.iter().rposition(|word| word.starts_with('-'));
    let fixed = words.get(..last.map_or(0, behind).max(program.len()))?;
    let is_one = are_operands(fixed, words.get(fixed.len()..)?) && fixed.iter().all(|word| is_fixed(word));
    is_one.then(|| format!("{} *", fixed.join(" ")))
}

/// The program and subcommand with which the words begin, and its options without a value.
fn of_program(words: &[&str]) -> Option<(&'static [&'static str], &'static [&'static str])> {
    PROGRAMS.iter().find(|(program, _)| words.starts_with(program)).copied()
}

fn has_message(words: &[&str]) -> bool {
    words.starts_with(&["git", "commit"]) && words.last().is_some_and(|word| MESSAGE.contains(word))
}

/// Whether these words, of which there is at least one, may stand for `*` behind the fixed ones.
fn are_operands<S: AsRef<str>>(fixed: &[&str], words: &[S]) -> bool {
    let mut words = words.iter().map(AsRef::as_ref).peekable();
    let is_message = has_message(fixed);
    words.peek().is_some() && (!is_message || words.next().is_some_and(is_message_text)) && words.all(is_operand)
}

/// Whether a message is plain text: some shells take other signs than bash for quotes and separators.
fn is_message_text(message: &str) -> bool {
    !message.starts_with('-')
        && message.chars().all(|one| one.is_alphanumeric() || " \n_-./,:()#!?+=@*[]".contains(one))
}

/// Whether a word is a plain name, or the path of a file below the folder; not an option, a hidden file, an address or
/// a pattern.
fn is_operand(word: &str) -> bool {
    let path = word.strip_prefix("./").unwrap_or(word);
    let path = path.strip_suffix('/').unwrap_or(path);
    !path.starts_with('-')
        && path.split('/').all(|name| !name.is_empty() && !name.starts_with('.'))
        && path.chars().all(|one| one.is_alphanumeric() || "_-./,".contains(one))
}

fn is_fixed(word: &str) -> bool {
    word.chars().all(|one| one.is_ascii_alphanumeric() || "_-./,+:@%=".contains(one))
}

/// The words of a text that is one simple command and nothing else: no redirection, assignment, expansion or operator.
#[cfg(feature = "gates")]
fn simple(text: &str) -> Option<Vec<String>> {
    use pipewright_syntax::shell::{Command, ShellStep, steps};
    let steps = steps(text).ok()?;
    let [ShellStep::Run(Command { assigned, words, written, read, source: _ })] = &steps[..] else { return None };
    let known: Option<Vec<String>> = words.iter().map(|word| word.text().map(str::to_owned)).collect();
    let known = known.filter(|_| assigned.is_empty() && written.is_empty() && read.is_empty())?;
    // The steps do not tell of brackets, `&`, `!`, `time` and here-documents; then the text has other words.
    (shlex::split(text)? == known).then_some(known)
}

/// Without the gates, nothing reads a shell's text.
#[cfg(not(feature = "gates"))]
fn simple(_: &str) -> Option<Vec<String>> {
    None
}

#[cfg(test)]
#[cfg(feature = "gates")]
mod tests {
    use super::*;

    #[test]
    fn the_programs_are_sorted() {
        assert!(PROGRAMS.is_sorted_by_key(|(program, _)| program));
    }

    #[test]
    fn a_pattern_is_offered_for_one_simple_command() {
        for (text, pattern) in [
            ("mkdir build", "mkdir *"),
            ("mkdir -p 'a/b' \"c\"", "mkdir -p *"),
            ("mkdir -m 700 a", "mkdir -m 700 *"),
            ("git add src/a.rs docs/", "git add *"),
            ("git commit -m 'fix: (a), #5'", "git commit -m *"),
            ("git commit -am wip", "git commit -am *"),
            ("git switch -c topic/a", "git switch -c *"),
            ("cargo test --lib gates", "cargo test --lib *"),
            ("cargo test -p web gates", "cargo test -p web *"),
            ("touch -- a", "touch -- *"),
        ] {
            assert_eq!(pattern_of(text).as_deref(), Some(pattern), "{text}");
            assert!(check(pattern).is_ok() && matches(pattern, text), "{pattern}: {text}");
        }
    }

    /// Texts that are separated by two blanks, with `\n` for a line feed.
    fn texts(list: &str) -> Vec<String> {
        let texts = list.lines().flat_map(|line| line.split("  ")).map(str::trim).filter(|text| !text.is_empty());
        texts.map(|text| text.replace("\\n", "\n")).collect()
    }

    #[test]
    fn no_pattern_is_offered_for_anything_else() {
        for text in texts(
            r#"
            mkdir  mkdir /etc/x  mkdir ~/x  mkdir ../x  mkdir .git  mkdir a/../../b  mkdir $x  mkdir *  mkdir {a,b}  mkdir a b=c
            mkdir a > b  mkdir a <b  X=1 mkdir a  mkdir a; ls  mkdir a && ls  mkdir a | ls  mkdir a &  ! mkdir a  (mkdir a)
            { mkdir a; }  time mkdir a  mkdir a\nrm -rf b  mkdir $(rm a)  mkdir `rm a`  mkdir a <<E\nx\nE  mkdir a <<<b  mkdir a -p
            if mkdir a; then rm b; fi  while mkdir a; do :; done  mkdir() { rm a; }  ./mkdir a  /bin/mkdir a  mkdir "a b"
            sh a  bash -c ls  python a.py  node a.js  env mkdir a  sudo mkdir a  xargs mkdir  ssh host mkdir  eval mkdir a  find a
            git -c a=b add c  git -C x add c  git push origin  git config a b  git clone a  git checkout a  docker run a  make a
            npm run a  npm install a  cargo run a  cargo add a  rm a  rm -r build  dd a  curl a  pip install a  kubectl delete a
            mv a b  cp a b  git commit -m 'a’; ls; echo ‘b'  git commit -m "a\'; ls"  git commit -m 'a|b'  eslint a.js  prettier --check a.js
            git commit -m -a  git add :/  git add .  cargo test -- a --nocapture
            "#,
        ) {
            assert_eq!(pattern_of(&text), None, "{text}");
        }
        assert_eq!((pattern_of(""), pattern_of("mkdir a\u{a0}b")), (None, None));
    }

    #[test]
    fn a_pattern_matches_other_names_below_the_folder() {
        for (pattern, list) in [
            ("mkdir *", "mkdir build2  mkdir a b/c ./d  mkdir 'x'  mkdir a # b"),
            ("git commit -m *", "git commit -m 'rm -rf b'  git commit -m a b.rs"),
            ("cargo test --lib *", "cargo test --lib other"),
        ] {
            for text in texts(list) {
                assert!(matches(pattern, &text), "{pattern}: {text}");
            }
        }
        for (pattern, list) in [
            (
                "mkdir *",
                r#"
                mkdir  mkdir -p a  mkdir a -p  mkdir /etc/x  mkdir ~  mkdir ~root/x  mkdir a/../../b  mkdir ..  mkdir .ssh
                mkdir a/.git/hooks  mkdir $x  mkdir a; rm -rf ~  mkdir a&&rm b  mkdir a\nrm b  mkdir a >b  mkdir a >/dev/null
                mkdir $(rm b)  mkdir <(rm b)  rm -rf ~  mkdirs a  x=1 mkdir a  sudo mkdir a  mkdir a &  (mkdir a)
                mkdir \\n/etc/x  mkdir a*  mkdir a?  mkdir [a]
                "#,
            ),
            (
                "git commit -m *",
                r#"git commit -m  git commit -m a --amend  git commit -m "$(x)"  git commit -m a ../b"#,
            ),
            ("cargo test --lib *", "cargo test other  cargo test --lib a -- b  cargo test --lib -Z a=b x"),
        ] {
            for text in texts(list) {
                assert!(!matches(pattern, &text), "{pattern}: {text}");
            }
        }
    }

    #[test]
    fn a_pattern_for_another_program_is_refused() {
        for pattern in
            ["", "*", "mkdir", "mkdir a", "rm *", "sh *", "git *", "git push *", "mkdir * *", "mkdir $x *", "mk* *"]
        {
            assert!(check(pattern).is_err() && !matches(pattern, "mkdir a"), "{pattern}");
        }
    }
}
