//! `sts-proxy` in states that a bot or the action table is not made for: more monsters than targets, potions without one, messages
//! that cannot be read, screens that no action leaves.

use crate::process::{Ended, Talk, command, eventually};
use crate::spire::{fight, potion, rest_site, tutorial};
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

/// The next command that is not the watchdog's. On a busy machine the watchdog wakes more than once.
fn receive_decision(proxy: &mut Talk) -> String {
    loop {
        let command = proxy.receive();
        if !["state", "wait 30"].contains(&command.as_str()) {
            return command;
        }
    }
}

const MOD: [&str; 2] = ["--protocol", "mod"];

/// The action id, the command and the mapping of each record.
fn decisions(records: &[Value]) -> Vec<Value> {
    records.iter().map(|record| json!([record["action_id"], record["cmd"], record["targets"]])).collect()
}

/// A Slime Boss that has split twice: only the last two of seven monsters live.
fn split() -> String {
    fight("xxxxxoo", &[potion("Fire Potion", true)]).to_string()
}

#[test]
fn an_id_reaches_the_seventh_monster_and_the_record_says_which() {
    let mut game = Game::start(&[], &[r#"{"action_id":10}"#, "play 1 6", "75", "60"]);
    assert_eq!(game.proxy.ask(&split()), "play 1 6");
    assert_eq!(game.proxy.ask(&fight("xxoxxoo", &[]).to_string()), "play 1 6", "a command names the game's own index");
    assert_eq!(game.proxy.ask(&fight("xxxxxxo", &[potion("Fire Potion", true)]).to_string()), "potion use 0 6");
    assert_eq!(game.proxy.ask(&fight("xxxxxox", &[]).to_string()), "play 1 5", "other ids keep their monsters");
    game.proxy.say(&rest_site(5, 17));
    let (_, seen, records) = game.end();
    assert_eq!(seen[0]["valid_actions"][1]["cmd"], "play 1 6");
    assert_eq!(seen[0]["valid_actions"][1]["label"], "play Strike (1) -> Slime #7 (9/30)");
    let mapped = json!({"0":6});
    let expected = json!([
        [10, "play 1 6", mapped],
        [10, "play 1 6", mapped],
        [75, "potion use 0 6", mapped],
        [60, "play 1 5", null]
    ]);
    assert_eq!(json!(decisions(&records)), expected);
}

#[test]
fn a_command_never_comes_to_mean_another_monster() {
    let mut game = Game::start(&[], &["play 1 0", "play 1 5"]);
    assert_eq!(game.proxy.ask(&split()), "play 1 5");
    let (ended, seen, _) = game.end();
    assert_eq!(seen[1]["refused"]["answer"], "play 1 0", "the monster 0 is gone, and its id is now the monster 6");
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
}

#[test]
fn an_unchanged_bot_reaches_the_seventh_monster() {
    let mut game = Game::start(&MOD, &["play 1 0", "play 1 6", "potion use 0 6", "potion use 0 0", "state"]);
    game.proxy.say(&split());
    assert_eq!(game.proxy.receive(), "play 1 6");
    assert_eq!(game.proxy.ask(&split()), "potion use 0 6");
    assert_eq!(game.proxy.ask(&split()), "state");
    game.proxy.say(&rest_site(5, 17));
    let (ended, seen, records) = game.end();
    assert_eq!(seen[1]["error"], "Selected card cannot be played with the selected target.");
    let mapped = json!({"0":6});
    assert_eq!(
        json!(decisions(&records)),
        json!([[10, "play 1 6", mapped], [75, "potion use 0 6", mapped]]),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_state_in_which_no_target_is_free_is_reported() {
    let full = fight("ooooooo", &[potion("Fire Potion", true)]).to_string();
    for options in [&[][..], &MOD] {
        let mut game = Game::start(options, &["play 1 6", "potion use 0 6", "0"]);
        assert_eq!(game.proxy.ask(&full), "play 1 6");
        let (ended, _, records) = game.end();
        let note =
            "stdin:1: monster 6, Slime #7, has no action id, since six others live; use the command: play CARD 6";
        assert!(ended.stderr.contains(note), "{}", ended.stderr);
        assert_eq!(ended.status.code(), Some(1));
        assert_eq!(json!(decisions(&records)), json!([[null, "play 1 6", null]]));
    }
}

#[test]
fn an_unchanged_bot_uses_potions_as_the_mods_executor_takes_them() {
    let missing =
        |slot: u8| format!("Argument missing in command \"potion use {slot}\". Selected potion requires a target.");
    for (id, command, expected) in [
        ("Explosive Potion", "potion use 0", Ok("potion use 0")),
        ("Explosive Potion", "potion use 0 1", Ok("potion use 0")),
        ("SmokeBomb", "potion use 0", Ok("potion use 0")),
        ("SmokeBomb", "potion use 0 9", Ok("potion use 0")),
        ("Fire Potion", "potion use 0", Err(missing(0))),
        ("Weak Potion", "potion use 0", Err(missing(0))),
        ("FearPotion", "potion use 0", Err(missing(0))),
        ("Poison Potion", "potion use 0", Err(missing(0))),
        ("Fire Potion", "potion use 0 1", Ok("potion use 0 1")),
        ("Fire Potion", "potion use 0 0", Err("Selected potion cannot be used.".to_owned())),
        ("othermod:Acid", "potion use 0", Ok("potion use 0")), // only the mod knows
        ("othermod:Acid", "potion use 0 1", Ok("potion use 0 1")),
    ] {
        let mut game = Game::start(&MOD, &[command, "state"]);
        game.proxy.say(&fight("xo", &[potion(id, true)]).to_string());
        match expected {
            Ok(sent) => assert_eq!(game.proxy.receive(), sent, "{id}: {command}"),
            Err(error) => {
                assert_eq!(game.proxy.receive(), "state", "{id}: {command}");
                assert_eq!(game.end().1[1]["error"], error, "{id}: {command}");
            }
        }
    }
}

#[test]
fn a_card_without_a_target_may_name_any_monster() {
    for (command, sent) in [("play 2 0", "play 2"), ("play 2 1", "play 2"), ("play 2 -1", "play 2")] {
        let mut game = Game::start(&MOD, &[command]);
        assert_eq!(game.proxy.ask(&fight("xo", &[]).to_string()), sent, "{command}");
    }
    let mut game = Game::start(&MOD, &["play 2 2", "state"]);
    assert_eq!(game.proxy.ask(&fight("xo", &[]).to_string()), "state");
    assert_eq!(game.end().1[1]["error"], "Index 2 out of bounds in command \"play 2 2\"");
}

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
fn a_command_that_the_mod_would_refuse_is_answered_with_its_reason() {
    let mut game = Game::start(&[], &["play 42 0", "potion use 9", "play 1 1"]);
    assert_eq!(game.proxy.ask(&fight("xo", &[]).to_string()), "play 1 1");
    let (_, seen, _) = game.end();
    let why = |at: usize| seen[at]["refused"]["why"].as_str().unwrap_or_default();
    assert_eq!(why(1), "the answer would be refused by the mod: Index 42 out of bounds in command \"play 42 0\"");
    assert!(why(2).starts_with("the answer would be refused by the mod: "), "{}", why(2));
}

#[test]
fn an_unreadable_message_closes_the_open_question() {
    for (kind, message) in unreadable() {
        let mut game = Game::start(&["--max-line", "64K"], &[]);
        game.proxy.say(&rest_site(5, 15));
        let seen = game.folder.path().join("seen");
        eventually("the bot has the question", || std::fs::metadata(&seen).is_ok_and(|file| file.len() > 0));
        assert_eq!(game.proxy.ask(&message), "state", "{kind}");
        let (_, seen, _) = game.end();
        assert_eq!(seen.len(), 1, "{kind}");
    }
}

#[test]
fn a_screen_that_no_action_leaves_is_a_question_that_a_command_answers() {
    let mut unknown = tutorial();
    unknown["game_state"]["screen_type"] = json!("HOLOGRAM");
    unknown["available_commands"] = json!(["resign", "state"]);
    let mut without_choices = tutorial();
    without_choices["available_commands"] = json!(["choose", "key", "state"]);
    for (state, command) in [
        (tutorial(), "click left 960.5 540"),
        (tutorial(), "key confirm"),
        (tutorial(), "wait 30"),
        (without_choices, "key confirm"),
        (unknown, "Resign now"),
    ] {
        // Sentences that begin like a command are ignored.
        let answer = format!("Wait for the model to load...\nKey idea: block first\n{command}");
        let mut game = Game::start(&[], &["5", &answer]);
        assert_eq!(game.proxy.ask(&state.to_string()), command);
        let (ended, seen, _) = game.end();
        assert_eq!(seen[0]["valid_actions"], json!([]));
        assert_eq!(seen[0]["available_commands"], state["available_commands"]);
        let why = "the answer is not legal here: 5 (play 6); legal are only commands without an id";
        assert_eq!(seen[1]["refused"]["why"], why);
        let note = "stdin:1: no action leaves this screen (FTUE); the game takes: ";
        assert!(ended.stderr.contains(note), "{}", ended.stderr);
    }
}

#[test]
fn a_known_screen_without_actions_becomes_a_question_only_if_it_stays() {
    for screen in ["EVENT", "REST", "NONE"] {
        let mut state: Value = serde_json::from_str(&rest_site(5, 15)).unwrap();
        state["available_commands"] = json!(["key", "click", "wait", "state"]);
        state["game_state"]["screen_type"] = json!(screen);
        state["game_state"]["is_screen_up"] = json!(false);
        state["game_state"].as_object_mut().unwrap().remove("choice_list");
        let mut passes = Game::start(&["--watchdog", "0"], &["110"]);
        passes.proxy.say(&state.to_string());
        assert_eq!(passes.proxy.ask(&rest_site(5, 15)), "choose 0", "{screen}");
        assert_eq!(passes.end().1.len(), 1, "{screen}");
        let mut stays = Game::start(&["--watchdog", "0.2"], &["key confirm"]);
        stays.proxy.say(&state.to_string());
        assert_eq!(stays.proxy.receive(), "state", "{screen}");
        stays.proxy.say(&state.to_string());
        assert_eq!(receive_decision(&mut stays.proxy), "key confirm", "{screen}");
        assert_eq!(stays.end().1[0]["valid_actions"], json!([]), "{screen}");
    }
}

#[test]
fn an_unchanged_bot_leaves_such_a_screen_by_its_own_command() {
    let mut game = Game::start(&MOD, &["click left 960.5 540"]);
    assert_eq!(game.proxy.ask(&tutorial().to_string()), "click left 960.5 540");
    let (ended, ..) = game.end();
    assert!(ended.stderr.contains("no action leaves this screen (FTUE)"), "{}", ended.stderr);
}

#[test]
fn a_lost_agent_leaves_such_a_screen_to_a_person() {
    let mut shown = tutorial();
    shown["available_commands"] = json!(["potion", "key", "state"]);
    shown["game_state"]["potions"] = json!([potion("Fire Potion", true)]);
    let folder = tempfile::tempdir().unwrap();
    let mut proxy = command("sts-proxy");
    proxy.args(["--no-record", "--fallback", "first", "--watchdog", "0.2", "--", "sh", "-c", "read -r line; exit 3"]);
    let mut proxy = Talk::start(proxy.current_dir(&folder));
    assert_eq!(proxy.receive(), "ready");
    assert_eq!(proxy.ask(&shown.to_string()), "state", "no potion is thrown away");
    assert_eq!(proxy.ask(&shown.to_string()), "wait 30");
    proxy.say(&rest_site(5, 15));
    assert_eq!(receive_decision(&mut proxy), "choose 0");
}
