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
