//! `sts-proxy` in states that a bot or the action table is not made for: messages that cannot be read.

use crate::process::{Ended, Talk, command};
use crate::spire::{fight, rest_site};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The proxy with a bot that keeps what it reads in the file `seen`, and writes one of `answers` after each line.
struct Game {
    proxy: Talk,
    folder: TempDir,
}

const BOT: &str = r#"echo ready; for answer; do IFS= read -r line; printf '%s\n' "$line" >> seen; printf '%s\n' "$answer"; done; cat >> seen"#;

impl Game {
    fn start(options: &[&str], answers: &[&str]) -> Game {
        let folder = tempfile::tempdir().unwrap();
        let mut proxy = command("sts-proxy");
        proxy.args(["--data-dir", "records"]).args(options).args(["--", "sh", "-c", BOT, "sh"]).args(answers);
        let mut proxy = Talk::start(proxy.current_dir(&folder));
        assert_eq!(proxy.receive(), "ready");
        Game { proxy, folder }
    }

    /// The end of the process, what the bot read, and the records.
    fn end(self) -> (Ended, Vec<Value>, Vec<Value>) {
        let ended = self.proxy.end_after_close();
        let lines = |text: String| -> Vec<Value> {
            text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| json!(line))).collect()
        };
        let seen = lines(std::fs::read_to_string(self.folder.path().join("seen")).unwrap());
        let mut files: Vec<_> = std::fs::read_dir(self.folder.path().join("records")).unwrap().collect();
        let record = files.pop().map(|file| crate::schemas::written(file.unwrap().path())).unwrap_or_default();
        assert!(files.is_empty(), "one run");
        (ended, seen, lines(record))
    }
}

const MOD: [&str; 2] = ["--protocol", "mod"];

/// Messages that cannot be read, each of another kind.
fn unreadable() -> Vec<(&'static str, String)> {
    let state = fight("xo", &[]).to_string();
    let half = state[..state.len() / 2].to_owned();
    vec![
        ("torn", half.clone()),
        ("the second half", state[half.len()..].to_owned()),
        ("no JSON", "Exception in thread \"main\"".to_owned()),
        ("a wrong escape", state.replacen("Slime", r"Sl\xme", 1)),
        ("half an escape", state.replacen("Slime", r"Sl\ud8", 1)),
        ("a field twice", state.replacen('{', r#"{"in_game":true,"#, 1)),
        ("a field of another type", state.replacen(r#""seed":5"#, r#""seed":"5""#, 1)),
        ("no message of the mod", r#"{"type":"observation"}"#.to_owned()),
        ("too deep", state.replacen(r#""deck":[]"#, &format!(r#""deck":{}{}"#, "[".repeat(600), "]".repeat(600)), 1)),
        ("too long", state.replacen(r#""deck":[]"#, &format!(r#""deck":["{}"]"#, "x".repeat(70_000)), 1)),
    ]
}

#[test]
fn after_an_unreadable_message_no_command_of_an_unchanged_bot_passes_unchecked() {
    let options = [&MOD[..], &["--max-line", "64K"]].concat();
    for (kind, message) in unreadable() {
        for before in [None, Some(rest_site(5, 15))] {
            let mut game = Game::start(&options, &["play 1 1", "state", "play 1 1"]);
            let first = before.is_none();
            if let Some(before) = before {
                game = Game::start(&options, &["state", "choose 0", "state", "play 1 1"]);
                assert_eq!(game.proxy.ask(&before), "state");
            }
            assert_eq!(game.proxy.ask(&message), "state", "{kind}");
            assert_eq!(game.proxy.ask(&fight("xo", &[]).to_string()), "play 1 1", "{kind}");
            let (ended, seen, _) = game.end();
            let refused = &seen[if first { 1 } else { 2 }];
            let error = refused["error"].as_str().unwrap();
            assert!(error.starts_with("The game's latest message could not be read"), "{kind}: {error}");
            assert_eq!(refused["ready_for_command"], true, "bots ask for the state then");
            assert!(ended.stderr.contains("not acted on"), "{kind}: {}", ended.stderr);
            assert_eq!(ended.status.code(), Some(1));
        }
    }
}

#[test]
fn what_is_never_checked_and_what_pass_illegal_allows_passes_after_an_unreadable_message() {
    for (options, command) in [
        (vec![], "wait 30"),
        (vec![], "key confirm"),
        (vec![], "click left 960.5 540"),
        (vec!["--pass-illegal"], "play 1 1"),
    ] {
        let mut game = Game::start(&[&MOD[..], &options].concat(), &[command]);
        assert_eq!(game.proxy.ask("{\"torn"), command);
    }
}

#[test]
fn half_a_line_at_the_end_reaches_an_unchanged_bot_and_is_reported() {
    let mut game = Game::start(&MOD, &["state"]);
    assert_eq!(game.proxy.ask(&rest_site(5, 15)), "state");
    let mut stdin = game.proxy.take_stdin();
    std::io::Write::write_all(&mut stdin, b"{\"in_game\":tr").unwrap();
    drop(stdin);
    let ended = game.proxy.end();
    assert!(ended.stderr.contains("stdin:2: not acted on: not a CommunicationMod message"), "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(1));
    let seen = std::fs::read_to_string(game.folder.path().join("seen")).unwrap();
    assert!(seen.ends_with("\n{\"in_game\":tr"), "{seen}");
}

#[test]
fn half_a_surrogate_pair_is_no_reason_to_let_a_command_pass() {
    let state = fight("xo", &[]).to_string().replace("Slime", r"Sl\ud83dme");
    let mut game = Game::start(&MOD, &["play 1 0", "play 1 1"]);
    game.proxy.say(&state);
    assert_eq!(game.proxy.receive(), "play 1 1");
    game.proxy.say(&rest_site(5, 17));
    let (ended, seen, records) = game.end();
    assert_eq!(seen[0], json!(state), "byte for byte: not every reader takes it");
    assert_eq!(seen[1]["error"], "Selected card cannot be played with the selected target.");
    assert_eq!(records[0]["state"]["combat_state"]["monsters"][0]["name"], "Sl\u{fffd}me", "every reader takes it");
    assert_eq!(records[0]["label"], "play Strike (1) -> Sl\u{fffd}me #2 (9/30)");
    assert!(!ended.stderr.contains("not acted on"), "{}", ended.stderr);
}

#[test]
fn an_unreadable_message_closes_the_open_question() {
    for (kind, message) in unreadable() {
        let mut game = Game::start(&["--max-line", "64K"], &[]);
        game.proxy.say(&rest_site(5, 15));
        assert_eq!(game.proxy.ask(&message), "state", "{kind}");
        let (_, seen, _) = game.end();
        assert_eq!(seen.len(), 1, "{kind}");
    }
}
