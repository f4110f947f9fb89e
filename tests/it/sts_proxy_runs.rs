//! `sts-proxy`: how a run's records end, an agent that is lost for good, and many proxies in one folder.

use crate::process::{Talk, command};
use crate::spire::{game_over, menu, neow, rest_site, the};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const FIRST: &str = r#"while read -r line; do case $line in *'"action_id":110'*) echo 110;; *) echo 171;; esac; done"#;

fn start(folder: &Path, options: &[&str], agent: &str) -> Talk {
    let mut proxy = command("sts-proxy");
    let mut proxy = Talk::start(proxy.arg("--data-dir").arg(folder).args(options).args(["--", "sh", "-c", agent]));
    assert_eq!(proxy.receive(), "ready");
    proxy
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The records of each file, in the order of the file names.
fn records(folder: &Path) -> Vec<Vec<Value>> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |text: String| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    files.iter().map(|file| read(crate::schemas::written(file))).collect()
}

fn ends(folder: &Path) -> Vec<Value> {
    records(folder).iter().map(|run| run.last().unwrap()["run_over"].clone()).collect()
}

#[test]
fn the_last_record_says_that_the_run_was_won() {
    let place = folder();
    let mut proxy = start(place.path(), &[], FIRST);
    assert_eq!(proxy.ask(&rest_site(7, 51)), "choose 0");
    assert_eq!(proxy.ask(&game_over(7, 51).replace("false}", "true}")), "proceed");
    // The game ends without showing the menu.
    proxy.end_after_close();
    assert_eq!(ends(place.path()), [json!({"victory": true, "floor": 51, "score": 12})]);
}

#[test]
fn an_abandoned_run_gets_a_last_record_and_one_that_may_continue_does_not() {
    let place = folder();
    let mut proxy = start(place.path(), &[], FIRST);
    for message in [neow(1), rest_site(1, 4), neow(2), rest_site(2, 1), neow(3).replace("THE_SILENT", "DEFECT")] {
        assert_eq!(proxy.ask(&message), "choose 0");
    }
    proxy.end_after_close();
    let abandoned = json!({"victory": null, "floor": 4, "score": null, "reason": "abandoned"});
    // Files sort by class first, so the Defect's comes before the Silent's.
    assert_eq!(ends(place.path()), [Value::Null, abandoned, Value::Null]);
}

#[test]
fn a_restarted_proxy_writes_the_last_record_of_a_run_once() {
    let place = folder();
    let mut proxy = start(place.path(), &[], FIRST);
    assert_eq!(proxy.ask(&rest_site(7, 3)), "choose 0");
    proxy.end_after_close();
    // A person plays the last turn in the game itself.
    let mut proxy = start(place.path(), &[], "read -r line; sleep 60");
    proxy.say(&game_over(7, 3));
    proxy.say(&menu());
    proxy.say(&menu());
    proxy.end_after_close();
    let runs = records(place.path());
    assert_eq!((runs.len(), runs[0].len()), (1, 2));
    assert_eq!(runs[0][1]["run_over"]["score"], 12);
}

#[test]
fn an_agent_that_is_lost_for_good_is_replaced() {
    for (agent, reported) in [
        ("exit 3", "the agent ended with exit status 3"),
        ("while read -r line; do echo 0; done", "gave no legal answer in 2 attempts"),
    ] {
        let place = folder();
        let mut proxy = start(
            place.path(),
            &["--fallback", "first", "--attempts", "2"],
            &format!("read -r line; echo 110; {agent}"),
        );
        for floor in 1..4 {
            assert_eq!(proxy.ask(&rest_site(1, floor)), "choose 0");
        }
        assert_eq!(proxy.ask(&game_over(1, 3)), "proceed");
        proxy.say(&menu());
        let ended = proxy.end();
        assert_eq!(ended.status.code(), Some(4), "no --start: it ends with the run: {}", ended.stderr);
        assert!(ended.stderr.contains(reported) && ended.stderr.contains("(--fallback)"), "{}", ended.stderr);
        let by: Vec<Value> = records(place.path())[0].iter().map(|record| record["by"].clone()).collect();
        assert_eq!(by, [json!(null), json!("fallback"), json!("fallback"), json!("fallback"), json!(null)]);
    }
}

#[test]
fn an_agent_that_cannot_be_started_is_not_replaced() {
    let mut proxy = command("sts-proxy");
    let output = crate::process::pipe(proxy.args(["--no-record", "--fallback", "first", "--", "/no/such/agent"]), b"");
    assert_eq!(output.status.code(), Some(3));
}

fn on_floor_9(message: String) -> String {
    let mut message: Value = serde_json::from_str(&message).unwrap();
    message["game_state"]["floor"] = json!(9);
    message.to_string()
}

#[test]
fn a_fallback_ends_the_turn_or_chooses_by_the_run_seed_and_leaves_repeated_states() {
    let play = |policy: &str, messages: &[String]| {
        let place = folder();
        let mut proxy = start(place.path(), &["--fallback", policy, "--no-record"], "exit 3");
        messages.iter().map(|message| proxy.ask(message)).collect::<Vec<_>>()
    };
    let fight = crate::spire::real().into_iter().map(|message| message.line);
    let fight: Vec<String> =
        fight.filter(|line| line.contains(r#""end""#) && line.contains(r#""play""#)).take(8).collect();
    assert!(play("end", &fight).iter().all(|command| command == "end"));
    let random = play("random", &fight);
    assert_eq!(random, play("random", &fight), "the same again");
    assert!(random.iter().any(|command| *command != random[0]), "{random:?}");
    let shop = the("an open chest").replace(r#""potion","proceed""#, r#""choose","proceed""#);
    let shop = shop.replacen("\"screen_type\"", "\"choice_list\":[\"shop\"],\"screen_type\"", 1);
    let commands = play("first", &[shop.clone(), rest_site(1, 9), shop].map(on_floor_9));
    assert_ne!(commands[0], commands[2], "{commands:?}");
}

#[test]
fn a_line_agent_may_use_the_mods_own_forms_of_commands() {
    let place = folder();
    let commands = ["'choose Rest'", "state", "'wait 30'", "state", "state", "'key map'", "'choose rest'"];
    let agent = format!("for a in {}; do read -r line; echo \"$a\"; done; read -r line", commands.join(" "));
    let mut proxy = start(place.path(), &["--attempts", "1"], &agent);
    assert_eq!(proxy.ask(&rest_site(1, 1)), "choose 0");
    for sent in ["state", "wait 30", "state", "state", "key map", "choose 0"] {
        assert_eq!(proxy.ask(&rest_site(1, 2)), sent);
    }
    let ended = proxy.end_after_close();
    assert_eq!((ended.status.code(), ended.stderr.contains("not sent")), (Some(0), false), "{}", ended.stderr);
    let sent: Vec<Value> = records(place.path())[0].iter().map(|record| record["cmd"].clone()).collect();
    assert_eq!(sent, ["choose 0", "key map", "choose 0"]);
    let mut untargeted = the("an open chest");
    let hand = r#""combat_state":{"hand":[{"name":"Defend","is_playable":true}],"monsters":[{"name":"Cultist"}]},"screen_type""#;
    untargeted = untargeted.replacen("\"screen_type\"", hand, 1).replace(r#""proceed""#, r#""play""#);
    let mut proxy = start(place.path(), &["--attempts", "1"], "read -r line; echo play 1 0; read -r line");
    assert_eq!(proxy.ask(&untargeted), "play 1");
}

#[test]
fn eight_proxies_record_into_one_folder_at_once() {
    let place = folder();
    let mut proxies: Vec<Talk> = (0..8).map(|_| start(place.path(), &["--quiet"], FIRST)).collect();
    // All of them begin the same run at the same time.
    for floor in 0..4 {
        proxies.iter_mut().for_each(|proxy| proxy.say(&if floor == 0 { neow(7) } else { rest_site(7, floor) }));
        proxies.iter_mut().for_each(|proxy| assert_eq!(proxy.receive(), "choose 0"));
    }
    for mut proxy in proxies {
        assert_eq!(proxy.ask(&game_over(7, 4)), "proceed");
        proxy.say(&menu());
        let ended = proxy.end_after_close();
        assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
    }
    let runs = records(place.path());
    assert_eq!(runs.len(), 8);
    for run in &runs {
        let floors: Vec<i64> = run.iter().map(|record| record["run"]["floor"].as_i64().unwrap()).collect();
        assert_eq!(floors, [0, 1, 2, 3, 4, 4]);
    }
}
