//! Complete games on a real engine (decapitate-the-spire, installed by `scripts/test`; PIPEWRIGHT_ENGINE names its Python). The
//! launcher stands in for CommunicationMod: it starts the proxy as the mod does.

use crate::process::{binary, eventually, text, with_a_person};
use serde_json::Value;
use std::process::Command;

const LAUNCHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/communication_mod.py");

pub fn launcher() -> Command {
    let python = std::env::var("PIPEWRIGHT_ENGINE").expect("PIPEWRIGHT_ENGINE must name a Python: run scripts/test");
    let mut launcher = Command::new(python);
    launcher.arg(LAUNCHER);
    launcher
}

fn report(path: &std::path::Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
#[ignore = "needs the engine: scripts/test installs it"]
fn twenty_games_by_a_random_legal_agent() {
    const GAMES: u64 = 20;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let agent = at("agent.py");
    // Any legal action, chosen at random with a fixed seed.
    std::fs::write(
        &agent,
        "import json, random, sys\nrandom.seed(7)\nfor line in sys.stdin:\n    print(random.choice(json.loads(line)['valid_actions'])['action_id'], flush=True)\n",
    )
    .unwrap();
    let output = launcher()
        .args(["--seed", "11", "--games", &GAMES.to_string(), "--report"])
        .arg(at("report"))
        .arg("--transcript")
        .arg(at("transcript"))
        .arg("--stderr")
        .arg(at("stderr"))
        .arg("--")
        .arg(binary("sts-proxy"))
        .arg("--data-dir")
        .arg(at("records"))
        .args(["--start", "SILENT", "0", "--games", &GAMES.to_string(), "--", "python3"])
        .arg(&agent)
        .output()
        .unwrap();
    let stderr = std::fs::read_to_string(at("stderr")).unwrap();
    assert!(output.status.success(), "{}\n{stderr}", text(&output.stderr));
    let report = report(&at("report"));
    assert_eq!(report["games"], GAMES);
    assert_eq!(report["rejected"], 0, "{report}");
    // One record for every accepted command except those that start a run, in order, one file per game.
    let transcript = std::fs::read_to_string(at("transcript")).unwrap();
    let sent: Vec<String> = transcript
        .lines()
        .filter_map(|line| Some(serde_json::from_str::<Value>(line).unwrap()["child"].as_str()?.to_owned()))
        .filter(|command| !command.starts_with("start"))
        .collect();
    let mut files: Vec<_> = std::fs::read_dir(at("records")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len() as u64, GAMES);
    let recorded: Vec<Value> = files
        .iter()
        .flat_map(|path| {
            let lines = std::fs::read_to_string(path).unwrap();
            let mut records = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
            assert_eq!(records.pop().unwrap()["run_over"]["victory"], false);
            records
        })
        .collect();
    assert!(recorded.iter().all(|record| record["confirmed"] == true), "{stderr}");
    let commands: Vec<&str> = recorded.iter().map(|record| record["cmd"].as_str().unwrap()).collect();
    assert_eq!(commands, sent);
    let seeds: std::collections::BTreeSet<i64> =
        recorded.iter().map(|record| record["run"]["seed"].as_i64().unwrap()).collect();
    assert_eq!(seeds.len() as u64, GAMES);
    assert!(seeds.iter().all(|&seed| seed > 1 << 53), "beyond the range of a float");
}

/// A deterministic agent: its answer depends only on the question and how often it was asked before. With CHANGE=N it gives
/// another answer to question N.
const AGENT: &str = "\
import json, os, sys
change = int(os.environ.get('CHANGE', 0))
for number, line in enumerate(sys.stdin, 1):
    actions = json.loads(line)['valid_actions']
    choice = (sum(map(ord, actions[0]['label'])) + number + (number == change)) % len(actions)
    print(actions[choice]['action_id'], flush=True)
";

#[test]
#[ignore = "needs the engine: scripts/test installs it"]
fn recorded_games_are_replayed_to_either_side() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("agent.py"), AGENT).unwrap();
    let play = |child: &mut Command, name: &str| {
        let mut game = launcher();
        game.args(["--seed", "11", "--games", "3", "--report"])
            .arg(at(name))
            .arg("--stderr")
            .arg(at("stderr"))
            .arg("--");
        let output = game.arg(child.get_program()).args(child.get_args()).output().unwrap();
        let stderr = std::fs::read_to_string(at("stderr")).unwrap();
        assert!(output.status.success(), "{}\n{stderr}", text(&output.stderr));
        assert_eq!(report(&at(name))["rejected"], 0);
        stderr
    };
    let proxy_and_agent = |command: &mut Command| {
        command.arg("--").arg(binary("sts-proxy")).args([
            "--no-record",
            "--start",
            "SILENT",
            "0",
            "--games",
            "3",
            "--",
        ]);
        command.arg("python3").arg(at("agent.py"));
    };
    let mut recorder = Command::new(binary("jsonl-record"));
    recorder.args(["--child", "agent"]).arg(at("run.jsonl"));
    proxy_and_agent(&mut recorder);
    play(&mut recorder, "recorded");

    let replay = |change: &str| {
        let mut world = Command::new(binary("replay"));
        world.args(["--as", "world"]).arg(at("run.jsonl")).arg("--report").arg(at("found")).env("CHANGE", change);
        proxy_and_agent(&mut world);
        let output = world.output().unwrap();
        let found = std::fs::read_to_string(at("found")).unwrap();
        let found: Vec<Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (output.status.code(), text(&output.stderr), found)
    };
    let (status, output, _) = replay("0");
    assert_eq!(status, Some(0), "{output}");
    assert!(output.contains(" 0 different; ") && !output.contains("recorded and"), "{output}");

    // The turn of question 100: `ready` and the three starts come before it, the first of them in a turn of its own.
    let (status, output, found) = replay("100");
    assert_eq!(status, Some(1), "{output}");
    let differences: Vec<&Value> = found.iter().filter(|one| one["type"] == "difference").collect();
    let [difference] = differences[..] else { panic!("{output}") };
    let log = std::fs::read_to_string(at("run.jsonl")).unwrap();
    let answers =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|line| line["dir"] == "out");
    let hundredth = answers
        .enumerate()
        .filter(|(_, line)| line["text"] != "ready" && !line["text"].as_str().unwrap().starts_with("start"))
        .nth(99);
    let (answer, line) = hundredth.unwrap();
    assert_eq!(difference["turn"], answer as u64 + 1, "each answer ends a turn\n{output}");
    assert_eq!(difference["recorded"], line["text"]);

    let mut agent = Command::new(binary("replay"));
    agent.args(["--as", "agent"]).arg(at("run.jsonl"));
    let output = play(&mut agent, "replayed");
    assert!(output.contains(" 0 different; "), "{output}");
    assert_eq!(report(&at("recorded"))["screens"], report(&at("replayed"))["screens"]);
}

#[test]
#[ignore = "needs the engine: scripts/test installs it"]
fn a_person_plays_a_whole_game_at_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut game = launcher();
    game.args(["--seed", "237", "--games", "1", "--report"])
        .arg(at("report"))
        .arg("--stderr")
        .arg(at("stderr"))
        .arg("--");
    game.arg(binary("sts-proxy")).arg("--data-dir").arg(at("records"));
    game.args(["--color", "never", "--start", "SILENT", "20", "--games", "1"]);
    game.env("TERM", "xterm");
    let mut person = with_a_person(game);
    let mut keys = 0;
    // Enters the first id of each menu until the game is over, the menu is back, and the proxy ends.
    while let Ok(menu) = person.exp_string("action> ") {
        let first = menu.split('[').skip(1).filter_map(|part| part.split(']').next()?.trim().parse::<u8>().ok()).next();
        let Some(id) = first else { panic!("no action in {menu}") };
        if keys == 3 {
            person.send_line("0x").unwrap();
            person.exp_string("is not understood").unwrap();
            person.exp_string("action> ").unwrap();
        }
        person.send_line(&id.to_string()).unwrap();
        keys += 1;
        if menu.contains("game over") {
            break;
        }
    }
    eventually("the game is reported", || at("report").exists());
    eventually("the report is complete", || std::fs::read_to_string(at("report")).unwrap().ends_with('\n'));
    let report = report(&at("report"));
    assert_eq!((&report["games"], &report["rejected"]), (&Value::from(1), &Value::from(0)), "{report}");
    assert!(keys > 30, "{keys}");
}

const MOD_BOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/mod_bots.py");

/// Ten games by a bot that was written for the mod. Every command that decides something is recorded, and each run's file has the
/// run's end.
fn ten_games_by(bot: &[&str], proxy: &[&str], launch: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut game = launcher();
    game.args(["--seed", "3", "--games", "10"]).args(launch).arg("--report").arg(at("report"));
    game.arg("--transcript").arg(at("transcript")).arg("--stderr").arg(at("stderr")).arg("--");
    game.arg(binary("sts-proxy")).arg("--data-dir").arg(at("records"));
    game.args(["--protocol", "mod", "--games", "10"]).args(proxy).args(["--", "python3", MOD_BOTS]).args(bot);
    let output = game.output().unwrap();
    let stderr = std::fs::read_to_string(at("stderr")).unwrap();
    assert!(output.status.success(), "{}\n{stderr}", text(&output.stderr));
    let report = report(&at("report"));
    assert_eq!((&report["games"], &report["rejected"]), (&Value::from(10), &Value::from(0)), "{report}\n{stderr}");
    let transcript = std::fs::read_to_string(at("transcript")).unwrap();
    let sent = transcript.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let command = line["child"].as_str()?.to_lowercase();
        let decides = !["start", "state", "wait"].contains(&command.split(' ').next()?);
        decides.then_some(command)
    });
    let mut files: Vec<_> = std::fs::read_dir(at("records")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 10);
    let mut recorded = Vec::new();
    for file in files {
        let lines = crate::schemas::written(&file);
        let mut records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let closing = records.pop().unwrap();
        assert!(closing["run_over"]["score"].is_i64() && closing["run_over"]["victory"].is_boolean(), "{closing}");
        assert!(records.iter().all(|record| record["confirmed"] == true), "{stderr}");
        assert!(records.iter().all(|record| record["run"]["seed"] == closing["run"]["seed"]));
        recorded.extend(records.iter().map(|record| {
            assert_eq!(record["action_id"].is_null(), record["cmd"] == "key map", "{record}");
            record["cmd"].as_str().unwrap().to_owned()
        }));
    }
    assert_eq!(recorded, sent.collect::<Vec<_>>());
}

#[test]
#[ignore = "needs the engine: scripts/test installs it"]
fn ten_games_by_a_mod_bot_that_chooses_by_name() {
    ten_games_by(&["named"], &[], &[]);
}

#[test]
#[ignore = "needs the engine: scripts/test installs it"]
fn ten_games_by_a_mod_bot_that_counts_messages() {
    // It acts on each message, so two messages for the same state would make it act twice, with the mod alone as well.
    ten_games_by(&["counted"], &[], &["--not-ready", "0"]);
}

#[test]
#[ignore = "needs the engine: scripts/test installs it"]
fn ten_games_by_a_mod_bot_that_is_restarted_in_the_middle_of_runs() {
    ten_games_by(&["loud", "--mortal"], &["--restart", "1000"], &[]);
}

#[test]
#[ignore = "needs the engine: scripts/test installs it"]
fn ten_games_continue_without_a_lost_bot() {
    for (policy, protocol) in
        [("first", "mod"), ("random", "mod"), ("end", "mod"), ("first", "lines"), ("end", "lines")]
    {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut game = launcher();
        game.args(["--seed", "3", "--games", "10", "--report"]).arg(at("report")).arg("--stderr").arg(at("stderr"));
        game.arg("--").arg(binary("sts-proxy")).arg("--data-dir").arg(at("records"));
        game.args(["--games", "10", "--fallback", policy, "--protocol", protocol]);
        if protocol == "lines" {
            game.args(["--start", "SILENT", "0", "--", "head", "-n", "0"]);
        } else {
            game.args(["--", "python3", MOD_BOTS, "loud", "--mortal"]);
        }
        let output = game.output().unwrap();
        let stderr = std::fs::read_to_string(at("stderr")).unwrap();
        assert!(output.status.success(), "{policy} {protocol}: {}\n{stderr}", text(&output.stderr));
        let report = report(&at("report"));
        assert_eq!((&report["games"], &report["rejected"]), (&Value::from(10), &Value::from(0)), "{report}\n{stderr}");
        let files = std::fs::read_dir(at("records")).unwrap().map(|file| file.unwrap().path());
        let lines: Vec<String> = files.map(crate::schemas::written).collect();
        assert_eq!(lines.concat().matches("\"run_over\":").count(), 10, "{stderr}");
        assert!(lines.concat().contains(r#""by":"fallback""#));
    }
}
