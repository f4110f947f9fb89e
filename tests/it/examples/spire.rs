//! Those that play the recorded game.

use super::{at_a_terminal, run};
use crate::documents::{has_jq, path_with_our_programs};
use crate::log::Log;
use crate::spire::{Step, demo_session};
use std::fs;

fn recorded_decisions() -> usize {
    let commands = demo_session().into_iter().filter(|step| matches!(step, Step::Command(_)));
    // The first starts the run.
    commands.count() - 1
}

#[test]
fn a_bot_that_is_a_pipe_of_two() {
    if !has_jq() {
        return;
    }
    let ran = run("one-line-bot.sh", &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("replay: 66 turns, 0 different"), "{}", ran.stderr);
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
    let told: Vec<&str> = ran.stderr.lines().skip_while(|line| !line.contains("turn 10")).collect();
    assert_eq!(told[1..3], ["replay:   - play 1", "replay:   + play 3"], "a strike, and a defence: {}", ran.stderr);
}

#[test]
fn a_run_is_watched_from_outside() {
    if !has_jq() {
        return;
    }
    let ran = run("watch-a-run.sh", &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("replay: 66 turns, 0 different"), "the bot notices nothing: {}", ran.stderr);
    assert_eq!(ran.stdout.lines().next(), Some("floor 1, hp 63: Cultist 54"), "{}", ran.stdout);
}

#[test]
fn who_watches_a_bot_that_fails_ends_too() {
    if !has_jq() {
        return;
    }
    // Were one of them left, it would hold stderr open, and this would wait for it.
    let ran = run("watch-a-run.sh", &["sh", "-c", "exit 3"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
}

#[test]
fn a_log_as_a_table() {
    let ran = run("log-to-csv.sh", &[]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let rows: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(rows[0], "time,game_state.floor,game_state.current_hp,game_state.gold,game_state.screen_type");
    assert_eq!(rows[1], "2026-11-22T02:41:38.072416Z,0,63,99,EVENT");
    assert!(rows.last().unwrap().ends_with(",3,0,113,GAME_OVER"), "{rows:?}");
    assert_eq!(run("log-to-csv.sh", &["/nowhere/run.jsonl"]).status, Some(2), "a log that isn't there");
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
