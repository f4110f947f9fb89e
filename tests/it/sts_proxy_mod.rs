//! `sts-proxy --protocol mod`: a bot that was written for the mod, against a game played by the test itself.

use crate::process::{Ended, Talk, command, pipe, text};
use crate::spire::{ERROR, game_over, menu, neow, rest_site, the};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// Keeps what it reads in the file `seen`, and writes one of its arguments after each message.
const SCRIPTED: &str = r#"echo ready; for command; do IFS= read -r line; printf '%s\n' "$line" >> seen; printf '%b\n' "$command"; done; while IFS= read -r line; do printf '%s\n' "$line" >> seen; done"#;

struct Game {
    proxy: Talk,
    folder: TempDir,
}

impl Game {
    fn start(options: &[&str], script: &str, commands: &[&str]) -> Game {
        let folder = tempfile::tempdir().unwrap();
        let mut proxy = command("sts-proxy");
        proxy.args(["--protocol", "mod", "--data-dir", "records"]).args(options);
        proxy.args(["--", "sh", "-c", script, "sh"]).args(commands);
        let mut proxy = Talk::start(proxy.current_dir(&folder));
        assert_eq!(proxy.receive(), "ready");
        Game { proxy, folder }
    }

    /// The end of the process, what the bot read, and the records.
    fn end(self) -> (Ended, Vec<String>, Vec<Value>) {
        let ended = self.proxy.end_after_close();
        let seen = std::fs::read_to_string(self.folder.path().join("seen")).unwrap();
        (ended, seen.lines().map(str::to_owned).collect(), records(&self.folder.path().join("records")))
    }
}

fn records(folder: &Path) -> Vec<Value> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let lines: Vec<String> = files.iter().map(crate::schemas::written).collect();
    lines.concat().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_message_reaches_the_bot_unchanged() {
    let not_ready = the("not ready");
    let messages = [&menu(), "{\"torn\":", "", &neow(7), &not_ready, ERROR, &game_over(7, 3), &menu()];
    let mut game = Game::start(&[], SCRIPTED, &[]);
    for message in messages {
        game.proxy.say(message);
    }
    game.proxy.receive_nothing_for(200);
    let (ended, seen, _) = game.end();
    assert_eq!(seen, messages);
    assert_eq!(ended.lines, Vec::<String>::new(), "nothing is asked for");
}

#[test]
fn commands_pass_and_decisions_are_recorded() {
    let commands = ["START silent 20", "state", "choose TALK", "wait 30", "\\nchoose 0", "key map", "proceed"];
    let sent = ["START silent 20", "state", "choose 0", "wait 30", "choose 0", "key map", "proceed"];
    let messages = [menu(), neow(7), neow(7), rest_site(7, 1), rest_site(7, 1), rest_site(7, 2), game_over(7, 3)];
    let mut game = Game::start(&[], SCRIPTED, &commands);
    for (message, command) in messages.iter().zip(sent) {
        assert_eq!(game.proxy.ask(message), command);
    }
    game.proxy.say(&menu());
    let (ended, seen, records) = game.end();
    assert_eq!((ended.status.code(), seen.len()), (Some(0), 8), "{}", ended.stderr);
    let decided: Vec<Value> =
        records[..4].iter().map(|record| json!([record["action_id"], record["cmd"], record["label"]])).collect();
    assert_eq!(
        json!(decided),
        json!([
            [110, "choose 0", "[Talk]"],
            [110, "choose 0", "rest"],
            [null, "key map", "key map"],
            [171, "proceed", "proceed"]
        ])
    );
    assert!(records[..4].iter().all(|record| record["confirmed"] == true), "{records:?}");
    assert_eq!(records[4]["run_over"], json!({"victory": false, "floor": 3, "score": 12}));
    assert_eq!(records.len(), 5);
}

#[test]
fn an_illegal_command_is_answered_as_the_mod_answers_it() {
    let mut game = Game::start(&[], SCRIPTED, &["play 1 0", "choose smith", "choose rest"]);
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    let (ended, seen, records) = game.end();
    let invalid = "Invalid command: play. Possible commands: [choose, key, click, wait, state]";
    assert_eq!(seen[1], json!({"error": invalid, "ready_for_command": true}).to_string());
    let invalid = "Invalid argument smith in command \"choose smith\".";
    assert_eq!(seen[2], json!({"error": invalid, "ready_for_command": true}).to_string());
    assert!(ended.stderr.contains(&format!("agent:3: not sent: choose smith: {invalid}")), "{}", ended.stderr);
    assert_eq!((ended.status.code(), records.len()), (Some(1), 1));
}

#[test]
fn pass_illegal_sends_and_marks_an_illegal_command() {
    let mut game = Game::start(&["--pass-illegal"], SCRIPTED, &["Play 1 0", "choose 0"]);
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "Play 1 0");
    assert_eq!(game.proxy.ask(ERROR), "choose 0");
    game.proxy.say(&rest_site(1, 2));
    let (ended, _, records) = game.end();
    assert_eq!((&records[0]["legal"], &records[0]["confirmed"]), (&json!(false), &json!(false)));
    assert_eq!((&records[1]["legal"], &records[1]["confirmed"]), (&Value::Null, &json!(true)));
    assert!(ended.stderr.contains("(--pass-illegal)"), "{}", ended.stderr);
}

#[test]
fn commands_pass_even_if_the_game_is_not_ready() {
    let not_ready = rest_site(1, 1).replace(r#""ready_for_command":true"#, r#""ready_for_command":false"#);
    let mut game = Game::start(&[], SCRIPTED, &["choose rest"]);
    assert_eq!(game.proxy.ask(&not_ready), "choose 0");
}

#[test]
fn a_restarted_bot_gets_the_latest_state() {
    let once = r#"echo ready; IFS= read -r line; printf '%s\n' "$line" >> seen; [ -e again ] || { : > again; exit 3; }; echo choose 0; read -r line"#;
    let mut game = Game::start(&["--restart", "1"], once, &[]);
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    let (ended, seen, _) = game.end();
    assert_eq!(seen, [rest_site(1, 1), rest_site(1, 1)]);
    assert!(ended.stderr.contains("agent: ended with exit status 3; restarting it"), "{}", ended.stderr);
}

#[test]
fn a_bot_that_ends_counts_as_lost_except_in_the_menu() {
    for (state, script, status) in [(menu(), "exit 0", 0), (menu(), "exit 3", 4), (rest_site(1, 1), "exit 0", 4)] {
        let mut game = Game::start(&[], &format!("echo ready; read -r line; {script}"), &[]);
        game.proxy.say(&state);
        let ended = game.proxy.end();
        assert_eq!(ended.status.code(), Some(status), "{script}: {}", ended.stderr);
    }
}

#[test]
fn a_lost_bot_is_replaced_and_its_runs_are_started_again() {
    let script = "echo ready; read -r line; echo start silent 5; read -r line; echo choose 0; exit 3";
    let mut game = Game::start(&["--fallback", "first", "--games", "2"], script, &[]);
    assert_eq!(game.proxy.ask(&menu()), "start silent 5");
    assert_eq!(game.proxy.ask(&neow(7)), "choose 0");
    assert_eq!(game.proxy.receive(), "state");
    assert_eq!(game.proxy.ask(&rest_site(7, 1)), "choose 0");
    assert_eq!(game.proxy.ask(&game_over(7, 1)), "proceed");
    assert_eq!(game.proxy.ask(&menu()), "start silent 5");
    assert_eq!(game.proxy.ask(&neow(8)), "choose 0");
    assert_eq!(game.proxy.ask(&game_over(8, 1)), "proceed");
    game.proxy.say(&menu());
    let ended = game.proxy.end();
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    let records = records(&game.folder.path().join("records"));
    let by: Vec<&str> = records.iter().map(|record| record["by"].as_str().unwrap_or("-")).collect();
    assert_eq!(by, ["-", "fallback", "fallback", "-", "fallback", "fallback", "-"]);
    assert_eq!(records[0]["error"], "no message followed");
}

#[test]
fn options_without_effect_are_refused() {
    for (options, reported) in [
        ("--protocol mod --idle wait -- cat", "--idle does nothing with --protocol mod"),
        ("--protocol mod --watchdog 1 -- cat", "--watchdog does nothing"),
        ("--protocol mod --attempts 2 -- cat", "--attempts does nothing"),
        ("--protocol mod --agent-timeout 2 -- cat", "--agent-timeout does nothing"),
        ("--protocol mod --start SILENT -- cat", "--start does nothing"),
        ("--protocol mod", "--protocol needs an AGENT"),
        ("--fallback end", "--fallback needs an AGENT"),
        ("--pass-illegal -- cat", "--pass-illegal needs --protocol mod"),
    ] {
        let output = pipe(command("sts-proxy").args(options.split(' ')), b"");
        assert!(
            output.status.code() == Some(2) && text(&output.stderr).contains(reported),
            "{options}: {}",
            text(&output.stderr)
        );
        assert_eq!(text(&output.stdout), "", "{options}");
    }
}
