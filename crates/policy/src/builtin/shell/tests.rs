use super::*;
use proptest::prelude::*;

fn only_reads(text: &str) -> bool {
    super::only_reads(text, &WorkingFolder::default())
}

#[test]
fn the_list_for_the_binary_search_is_sorted() {
    assert!(programs::READ_ONLY_PROGRAMS.is_sorted());
}

#[test]
fn arguments_are_judged_as_words_without_a_shell() {
    let reads = |words: &[&str]| {
        command_reads(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(), &WorkingFolder::default())
    };
    assert!(reads(&["echo", "$(rm x)"]) && reads(&["git", "log"]) && reads(&["sh", "-c", "ls | wc"]));
    assert!(
        !reads(&["git", "push"])
            && !reads(&["sh", "-c", "rm x"])
            && !reads(&["./ls"])
            && !reads(&["find", ".", "-delete"])
    );
}

#[test]
fn no_disguise_lets_a_command_with_an_effect_pass() {
    let lines = include_str!("attacks.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let passed: Vec<&str> = lines.filter(|line| only_reads(&line.replace('⏎', "\n"))).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn commands_of_find_and_statements_of_databases_pass_if_they_read() {
    for text in [
        "find . -exec ls -lh {} +",
        "find src -type f -exec grep -l TODO {} \\;",
        "find . -type l ! -exec test -e {} \\; -print",
        "find . -exec sed -n 1p {} \\; -exec wc -l {} +",
        "psql -At -c 'SELECT count(*) FROM a' shop",
        "psql -c '\\d users'",
        "sqlite3 -readonly a.db 'SELECT 1' .tables",
        "sqlite3 a.db \"SELECT name, sql FROM sqlite_master WHERE type = 'table'\" 'PRAGMA table_info(t)'",
        "sqlite3 -readonly -safe a.db 'SELECT a FROM t JOIN v'",
        "mysql -D shop -e 'SELECT 1'",
        "printf '%s\\0' a b | xargs -0 ls",
        "git reflog -10",
        "git -c color.ui=never status",
        "git -c core.quotePath=false -C a diff --stat",
        "pwsh -NoProfile -c 'Get-ChildItem -Recurse | Select-Object -First 5'",
        "nm -C a.o && objdump -d a.out | head",
        "sudo --version",
        "tar tzf a.tgz",
        "tar -t -v -f a.tar member",
        "tar --list --verbose --file=a.tar",
        "date --date='1 day ago' +%F",
        "date -u --iso-8601=seconds",
        "sed -n '/foo/{p;q}' f",
        "sed -n '/a/,/b/{/c/{=;p}}' f",
        "sed 's/[0-9]*//;s/[[:space:]]*$//' a",
        "COLUMNS=80 LINES=20 ls",
        "TZ=Europe/Berlin date",
        "LC_ALL=en_US.UTF-8 LANGUAGE=de:en_GB sort a",
        "tree -L 2 -I 'target|out' --noreport src",
        "ls | xargs -I {} head -1 {}",
        "pmap -x 1",
        "lsof -i :3000",
        "lsof -p 4242 -n -P",
        "rustc --explain E0502",
        "rustc --print sysroot",
        "lsof -i:8080",
        "lsof -nP -iTCP:3000 -sTCP:LISTEN",
        "lsof -t -i:3000",
        "lsof src/main.rs",
        "history 20",
        "jobs -l",
        "alias",
        "export -p",
        "declare -p",
        "hash -t node",
        "sysctl -n kern.ostype",
        "unzip -v a.zip",
        "java -version",
        "docker run --help",
        "docker exec web ls -la /app",
        "docker exec -it -w /app web sh -c 'cat a | head'",
        "kubectl exec web -- ls",
        "kubectl exec -n shop web -c app -- cat /etc/os-release",
        "gh pr view --help",
        "kubectl get --help",
        "terraform plan --help",
        "[[ -f x && -d y ]]",
        "ls --help",
        "curl --help",
        "cargo --help",
        "docker compose up --help",
        "curl -s -H 'Accept: application/json' localhost:3000/api",
        "yq -o=json .a f.yml",
        "git config --list --show-origin",
        "git range-diff a..b c..d",
        "node --check app.js",
        "pwsh -c 'Get-Command git'",
        "git --help",
        "python3 --help",
        "curl -s \"http://localhost:8080/api/users?limit=5\"",
        "curl -s localhost:8080/login",
        "curl -s localhost:3000/build/assets/index.js",
        "curl -s localhost:8080/manage/health",
        "curl -s localhost:9200/builds/5/updates",
        "curl -s localhost:2375/containers/json",
        "curl -s localhost:9222/json/version",
        "curl -s -o /dev/null -w \"%{http_code}\" http://localhost:3000/",
        "yes",
        "f=README.md; git log --oneline -5 -- \"$f\"",
    ] {
        assert!(only_reads(text), "{text}");
    }
}

/// Commands around another that only read.
const WRAPPERS: &[&str] = &[
    "%",
    "ls; %",
    "% ; ls",
    "ls && %",
    "ls || %",
    "ls | %",
    "% | cat",
    "( % )",
    "{ % ; }",
    "! %",
    "echo $( % )",
    "echo \"$( % )\"",
    "echo ` % `",
    "cat <( % )",
    "if %; then ls; fi",
    "if ls; then %; fi",
    "if ls; then pwd; else %; fi",
    "while %; do ls; done",
    "for x in a b; do %; done",
    "for x in $( % ); do ls; done",
    "case a in a) %;; esac",
    "f() { %; }; f",
    "x=$( % )",
    "env LANG=C %",
    "nice %",
    "timeout 5 %",
    "command %",
    "ls | xargs %",
    "find . -exec % \\;",
    "find . -exec % {} +",
    "time %",
    "ls\n%\n",
    "ls & %",
    "% >/dev/null",
    "[[ -n $( % ) ]]",
    "cat <<E\n$( % )\nE",
];
const DENIED: &[&str] = &[
    "rm x",
    "git push",
    "find . -delete",
    "sort -o a b",
    "tee a",
    "sed -i s/a/b/ c",
    "./ls",
    "$x",
    "curl a",
    "eval ls",
];

#[test]
fn a_file_on_another_machine_is_asked_about() {
    for text in [
        "cat //host/share/a",
        r"cat '\\host\share\a'",
        r"cat \\\\host\\share\\a",
        "ls //192.168.0.1/c$",
        "wc -l < //host/share/a",
        "grep --file=//host/share/a b",
    ] {
        assert!(!only_reads(text), "{text}");
    }
    for text in ["grep '// TODO' a", "grep -n '//' a", "cat /a//b", "ls //", r"grep '\\n' a", "grep https://host/a b"] {
        assert!(only_reads(text), "{text}");
    }
}

proptest! {
    #[test]
    fn no_wrapping_hides_a_command_that_does_more_than_read(
        denied in prop::sample::select(DENIED),
        wrappings in prop::collection::vec(prop::sample::select(WRAPPERS), 0..4),
    ) {
        let text = wrappings.iter().fold(denied.to_owned(), |text, wrapping| wrapping.replace('%', &text));
        // Back quotes do not nest: there are plain words between two pairs of them.
        prop_assume!(text.matches('`').count() <= 2);
        prop_assert!(!only_reads(&text), "{text}");
    }

    /// Without quotes and expansions, every word after a separator is a command.
    #[test]
    fn no_text_that_passes_runs_a_program_that_is_not_listed(
        words in prop::collection::vec("(ls|cat|wc|rm|tee|mv|a|-l|x1| | |;|\\||&&|\\|\\||&|\n){1}", 0..15),
    ) {
        let text = words.join(" ");
        if only_reads(&text) {
            for command in text.split([';', '|', '&', '\n']) {
                let program = command.split_whitespace().next();
                prop_assert!(program.is_none_or(|program| ["ls", "cat", "wc"].contains(&program)), "{text:?}");
            }
        }
    }

    #[test]
    fn no_text_causes_a_panic(text in "([a-z $'\"`(){}\\[\\];|&<>\\\\/.-]|sed |awk |git |find |xargs |sh -c ){0,30}") {
        only_reads(&text);
    }
}
