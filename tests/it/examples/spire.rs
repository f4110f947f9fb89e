//! The examples that play the recorded game.

use super::{at_a_terminal, folder, run};
use crate::documents::{has_jq, path_with_our_programs};
use crate::llm_pipe::server::{Reply, Server};
use crate::log::Log;
use crate::process::{Talk, command, pipe, text};
use crate::spire::{Step, all, demo_session};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

fn recorded_decisions() -> usize {
    let commands = demo_session().into_iter().filter(|step| matches!(step, Step::Command(_)));
    // The first command starts the run.
    commands.count() - 1
}

#[test]
fn a_bot_behind_a_proxy_and_its_records() {
    if !has_jq() {
        return;
    }
    let ran = run("spire-bot.sh", &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("replay: 66 turns, 0 different"), "{}", ran.stderr);
    let counted = ran.stdout.lines().map(|line| {
        let count = line.strip_prefix("floor ").and_then(|line| line.split(' ').nth(1));
        count.and_then(|count| count.parse::<usize>().ok()).unwrap_or_else(|| panic!("{line}"))
    });
    assert_eq!(counted.sum::<usize>(), recorded_decisions());
}

#[test]
fn two_bots_compared() {
    if !has_jq() {
        return;
    }
    let ran = run("compare-two-bots.sh", &[]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), "66 decisions, 4 different\n"), "{}", ran.stderr);
    let differences: Vec<&str> = ran.stderr.lines().skip_while(|line| !line.contains("turn 10")).collect();
    assert_eq!(
        differences[1..3],
        ["replay:   - play 1", "replay:   + play 3"],
        "a strike, and a defence: {}",
        ran.stderr
    );
}

#[test]
fn a_run_is_watched_from_outside() {
    if !has_jq() {
        return;
    }
    let ran = run("watch-a-run.sh", &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("replay: 66 turns, 0 different"), "the bot is not affected: {}", ran.stderr);
    assert_eq!(ran.stdout.lines().next(), Some("floor 1, hp 63: Cultist 54"), "{}", ran.stdout);
}

#[test]
fn the_watchers_of_a_failing_bot_end_too() {
    if !has_jq() {
        return;
    }
    // If one of them were left, it would hold stderr open, and this would wait for it.
    let ran = run("watch-a-run.sh", &["sh", "-c", "exit 3"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
}

#[test]
fn a_person_is_recorded() {
    if !has_jq() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("kept");
    fs::create_dir(&folder).unwrap();
    let mut person =
        at_a_terminal("record-human.sh", &[folder.to_str().unwrap()], &path_with_our_programs(), place.path());
    for typed in ["110", "110", "quit"] {
        person.exp_string("action> ").unwrap();
        person.send_line(typed).unwrap();
    }
    person.exp_string("messages, 0 lost").unwrap();
    person.exp_string("floor 0: choose 0\r\nfloor 0: choose 0\r\n").unwrap();
    person.exp_string("status 0").unwrap();
    let log = Log::read(&folder.join("session.log")).clean();
    assert_eq!(log.end(), ("exit status 0", Some(0)));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "the log, and one run's decisions");
}

#[test]
fn a_bot_in_python_answers_each_decision_with_a_legal_id() {
    let messages: String = all().iter().map(|message| format!("{}\n", message.line)).collect();
    let offered = text(&pipe(&mut command("valid-actions"), messages.as_bytes()).stdout);
    let mut bot = Talk::start(Command::new("python3").arg(folder().join("spire-bot.py")));
    let mut decisions = 0;
    for line in offered.lines() {
        let mut message: Value = serde_json::from_str(line).unwrap();
        let actions = message["valid_actions"].as_array().unwrap().clone();
        if actions.is_empty() {
            continue;
        }
        decisions += 1;
        message["decision"] = json!(decisions);
        // It waits for the next question, so an answer that is not flushed would never arrive.
        let answer: Value = serde_json::from_str(&bot.ask(&message.to_string())).unwrap();
        assert!(actions.iter().any(|action| action["action_id"] == answer["action_id"]), "{answer} to {message}");
        assert_eq!(answer["decision"], decisions);
    }
    assert!(decisions > 150, "{decisions}");
}

#[test]
fn a_model_reads_states_as_text() {
    let ran = run("spire-llm-bot.sh", &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("replay: 66 turns, 0 different"), "{}", ran.stderr);
}

/// The first id in the prompt of a request to the model.
fn first_id(body: &str) -> u64 {
    let request: Value = serde_json::from_str(body).unwrap();
    let prompt = request["contents"][0]["parts"][0]["text"].as_str().unwrap();
    let (_, actions) = prompt.split_once("\\n[").unwrap();
    actions.split(']').next().unwrap().parse().unwrap()
}

#[test]
fn a_model_that_gives_an_illegal_answer_is_asked_again_with_the_reason() {
    let server = Server::start(|request, before| {
        let id = if before == 3 { 99 } else { first_id(&request.body) };
        Reply::gemini(&format!("```json\n{{\"action_id\": {id}}}\n```"))
    });
    let place = tempfile::tempdir().unwrap();
    let mut game = command("replay");
    game.args(["--as", "world", "tests/fixtures/spire/demo_session.jsonl", "--", "bash"]);
    game.arg(folder().join("spire-llm-bot.sh")).args(["gemini/gemini-3-flash", "--base-url", &server.url]);
    game.env("PATH", path_with_our_programs()).env("GEMINI_API_KEY", "k3y-of-all");
    game.env("AI_STS_PROXY_DATA_DIR", place.path()).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = game.output().unwrap();
    let stderr = text(&output.stderr);
    assert!(stderr.contains("lines: 65 the same\n"), "the game is the recorded one: {stderr}");
    assert!(stderr.contains("ended with exit status 1"), "an answer was refused: {stderr}");
    let requests = server.requests();
    assert_eq!(requests.len(), recorded_decisions() + 1);
    assert!(requests[0].body.contains("THE_SILENT A20") && requests[0].body.contains("You play Slay the Spire"));
    let asked_again = &requests[4].body;
    assert!(
        asked_again.contains("not accepted: ") && asked_again.contains("99 (potion use 4 4); legal are"),
        "{asked_again}"
    );
    assert!(!requests[5].body.contains("not accepted"), "{}", requests[5].body);
}

#[test]
#[ignore = "needs the engine: scripts/test installs it"]
fn four_games_at_once_become_one_table() {
    let ran = run("spire-four-games.sh", &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let mut rows = ran.stdout.lines();
    assert_eq!(
        rows.next(),
        Some("file,run.seed,run.floor,state.hp,state.gold,state.screen_type,legal_ids,action_id,label")
    );
    let mut runs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows {
        let (file, row) = row.split_once(',').unwrap();
        runs.entry(file).or_default().push(row.split(',').next().unwrap());
    }
    assert_eq!(runs.len(), 4, "{:?}", runs.keys());
    for (file, seeds) in runs {
        assert!(seeds.len() > 30 && seeds.iter().all(|seed| *seed == seeds[0]), "{file} has one run");
    }
}
