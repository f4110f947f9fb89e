use super::*;
use std::collections::HashSet;

/// Whether a command of plain words passes.
fn passes(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    reads(words[0], &words[1..]).unwrap_or(false)
}

#[test]
fn a_program_is_in_one_table_and_each_option_has_a_form() {
    let mut names = HashSet::new();
    for reader in READERS {
        assert!(reader.names.iter().all(|name| names.insert(name)), "{:?}", reader.names);
        let options = reader.groups.iter().flat_map(|group| group.options).chain(reader.before);
        for option in options {
            let name = option.trim_end_matches(['=', '?']);
            assert!(name.starts_with('-') && name.len() > 1 && !name.contains('='), "{:?} {option}", reader.names);
        }
        for group in reader.groups {
            assert_eq!(group.operands == Operands::Marked, !group.marks.is_empty(), "{:?}", group.paths);
            let has = |mark: &&&str| group.options.iter().any(|option| option.trim_end_matches(['=', '?']) == **mark);
            assert!(group.marks.iter().chain(group.needs).all(|mark| has(&mark)), "{:?}", group.paths);
        }
    }
}

#[test]
fn reading_subcommands_pass() {
    let commands = include_str!("pass.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let asked: Vec<&str> = commands.filter(|command| !passes(command)).collect();
    assert!(asked.is_empty(), "{asked:#?}");
}

#[test]
fn their_neighbours_that_write_run_or_send_are_asked_about() {
    let commands = include_str!("asked.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let passed: Vec<&str> = commands.filter(|command| passes(command)).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

/// No option in front of, between or behind the words of a reading subcommand passes unless it is listed.
#[test]
fn an_option_that_is_not_listed_is_asked_about_anywhere() {
    let commands = include_str!("pass.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        for at in 1..=words.len() {
            for option in ["--unlisted", "--unlisted=x", "-X", "-Xsh", "--", "-aX", "--f", "-Hx"] {
                let mut words = words.clone();
                words.insert(at, option);
                assert!(!passes(&words.join(" ")), "{}", words.join(" "));
            }
        }
    }
}
