//! Which decision an agent's answer is applied to: `sts-proxy` with noisy, late, surplus, numbered and unflushed agents.

use crate::process::{Ended, Talk, command};
use crate::spire::{ERROR, rest_site, the};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;

/// Stores the number of the decision in `$line` in `$n`.
const NUMBER: &str = r#"n=${line##*'"decision":'}; n=${n%%[,\}]*}"#;

/// The proxy, and a folder in which the agent keeps its questions.
struct Game {
    proxy: Talk,
    folder: TempDir,
}

impl Game {
    /// `ask` in the agent's script reads a question into `$line` and keeps it.
    fn start(options: &[&str], agent: &str) -> Game {
        let folder = tempfile::tempdir().unwrap();
        let ask = r#"ask() { read -r line && printf '%s\n' "$line" >> questions; }"#;
        let mut proxy = command("sts-proxy");
        proxy.args(["--no-record", "--quiet"]).args(options).args(["--", "sh", "-c", &format!("{ask}; {agent}")]);
        let mut proxy = Talk::start(proxy.current_dir(&folder));
        assert_eq!(proxy.receive(), "ready");
        Game { proxy, folder }
    }

    fn end(self) -> (Ended, Vec<Value>) {
        let ended = self.proxy.end_after_close();
        let questions = std::fs::read_to_string(self.folder.path().join("questions")).unwrap();
        let questions = questions.lines().map(|line| {
            crate::schemas::hold(line);
            serde_json::from_str(line).unwrap()
        });
        (ended, questions.collect())
    }
}

fn numbers(questions: &[Value]) -> Vec<u64> {
    questions.iter().map(|question| question["decision"].as_u64().unwrap()).collect()
}

/// A state in which both `choose 0` (110) and `proceed` (171) are legal.
fn chest(floor: u32) -> String {
    let state = the("an open chest").replace(r#""potion","proceed""#, r#""choose","potion","proceed""#);
    let state = state.replacen("\"screen_type\"", "\"choice_list\":[\"open\"],\"screen_type\"", 1);
    let mut state: Value = serde_json::from_str(&state).unwrap();
    state["game_state"]["floor"] = json!(floor);
    state.to_string()
}

#[test]
fn other_output_is_reported_and_is_not_an_answer() {
    let noise = "for noise in hello '' 1.5 'end of turn' '[110]'; do echo \"$noise\"; done";
    let mut game = Game::start(&[], &format!("ask; {noise}; echo 110; ask; {noise}; echo 171; ask; echo 110; ask"));
    for (floor, command) in [(1, "choose 0"), (2, "proceed"), (3, "choose 0")] {
        assert_eq!(game.proxy.ask(&chest(floor)), command);
    }
    let (ended, questions) = game.end();
    assert_eq!(numbers(&questions), [1, 2, 3], "nothing was asked twice");
    assert!(ended.stderr.contains("sts-proxy: agent:1: ignored: \"hello\" is not an id"), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("ignored").count(), 10, "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(1));
}

#[test]
fn an_answer_may_name_its_decision() {
    let agent = format!(r#"while ask; do {NUMBER}; echo "{{\"action_id\":110,\"decision\":$n}}"; done"#);
    let mut game = Game::start(&[], &agent);
    for floor in 1..=3 {
        assert_eq!(game.proxy.ask(&rest_site(1, floor)), "choose 0");
    }
    let (ended, questions) = game.end();
    assert_eq!(numbers(&questions), [1, 2, 3]);
    assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn an_answer_for_a_decision_that_was_never_asked_is_refused_and_asked_again() {
    let wrong = r#"{"action_id":110,"decision":9}"#;
    let mut game = Game::start(&[], &format!("ask; echo '{wrong}'; ask; echo '{}'; ask", wrong.replace('9', "1")));
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    let (ended, questions) = game.end();
    let why = "the answer is for decision 9, which was never asked; this is 1";
    assert_eq!(questions[1]["refused"], json!({"answer": wrong, "why": why}));
    assert!(ended.stderr.contains(&format!("agent:1: not sent, {why}: {wrong}")), "{}", ended.stderr);
    assert_eq!((numbers(&questions), ended.status.code()), (vec![1, 1], Some(1)));
}

#[test]
fn an_answer_that_names_a_decision_that_is_over_is_refused() {
    let answer = |id, decision| format!(r#"echo '{{"action_id":{id},"decision":{decision}}}'"#);
    let script = format!(
        "ask; {}; ask; {}; ask; {}; ask; {}; ask",
        answer(110, 0),
        answer(110, 1),
        answer(171, 1),
        answer(171, 2)
    );
    let mut game = Game::start(&[], &script);
    assert_eq!(game.proxy.ask(&chest(1)), "choose 0");
    assert_eq!(game.proxy.ask(&chest(2)), "proceed");
    let (_, questions) = game.end();
    assert_eq!(numbers(&questions), [1, 1, 2, 2]);
    assert_eq!(questions[1]["refused"]["why"], "the answer is for decision 0, which was never asked; this is 1");
    assert_eq!(questions[3]["refused"]["why"], "the answer is for decision 1, which is over; this is 2");
}

#[test]
fn a_repeated_answer_is_dropped_and_the_open_decision_waits() {
    let answer = |decision| format!(r#"echo '{{"action_id":110,"decision":{decision}}}'"#);
    let (first, second) = (answer(1), answer(2));
    let mut game = Game::start(&[], &format!("ask; {first}; ask; {first}; sleep 0.3; {second}; ask"));
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    game.proxy.say(&rest_site(1, 2));
    game.proxy.receive_nothing_for(150);
    assert_eq!(game.proxy.receive(), "choose 0");
    let (ended, questions) = game.end();
    assert_eq!(numbers(&questions), [1, 2]);
    assert!(ended.stderr.contains("agent:2: not sent, the answer came late, it was given before"), "{}", ended.stderr);
}

#[test]
fn a_late_answer_that_names_the_open_decision_is_applied() {
    let agent = r#"ask; sleep 0.6; echo '{"action_id":110,"decision":1}'; ask; ask; echo 171; ask"#;
    let mut game = Game::start(&["--agent-timeout", "400ms"], agent);
    assert_eq!(game.proxy.ask(&chest(1)), "choose 0");
    // It was asked twice and has answered once: the next answer may be to either question.
    game.proxy.say(&chest(2));
    game.proxy.receive_nothing_for(200);
    let (ended, questions) = game.end();
    assert_eq!(numbers(&questions)[..3], [1, 1, 2]);
    assert_eq!(questions[1]["refused"], json!({"answer": null, "why": "no answer within 0.4 s (--agent-timeout)"}));
    assert!(ended.stderr.contains("agent:2: not sent, the answer came late"), "{}", ended.stderr);
}

#[test]
fn a_surplus_answer_is_dropped_and_never_applied_to_the_next_decision() {
    // In one write: on a busy machine, a second write could come after the next decision was asked, and would then answer it.
    let mut game = Game::start(&[], r"while ask; do printf '110\n171\n'; done");
    for floor in 1..=5 {
        assert_eq!(game.proxy.ask(&chest(floor)), "choose 0", "floor {floor}");
        if floor == 1 {
            // The surplus answer is noticed once, while nothing is asked. From then on the states come at once.
            std::thread::sleep(Duration::from_millis(300));
        }
    }
    std::thread::sleep(Duration::from_millis(300));
    let (ended, questions) = game.end();
    assert_eq!(numbers(&questions), [1, 2, 3, 4, 5]);
    assert_eq!(ended.stderr.matches("not sent, nothing was asked: 171").count(), 5, "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(1));
}

#[test]
fn a_right_answer_right_after_a_wrong_one_is_taken_without_asking_again() {
    let mut game = Game::start(&[], "while ask; do echo 5; echo '{\"level\":\"info\"}'; echo 110; done");
    for floor in 1..=3 {
        assert_eq!(game.proxy.ask(&chest(floor)), "choose 0");
    }
    let (ended, questions) = game.end();
    assert_eq!(numbers(&questions), [1, 2, 3]);
    assert_eq!(ended.stderr.matches("not sent, the answer").count(), 6, "{}", ended.stderr);
}

#[test]
fn a_question_that_is_asked_again_says_why() {
    let mut game = Game::start(&[], "ask; echo 5; ask; echo 110; ask; echo 171; ask; echo 171; ask");
    assert_eq!(game.proxy.ask(&chest(1)), "choose 0");
    assert_eq!(game.proxy.ask(ERROR), "state");
    assert_eq!(game.proxy.ask(&chest(1)), "proceed");
    assert_eq!(game.proxy.ask(&chest(2)), "proceed");
    let (_, questions) = game.end();
    assert_eq!(numbers(&questions), [1, 1, 1, 2]);
    let refused: Vec<&Value> = questions.iter().map(|question| &question["refused"]).collect();
    assert_eq!(refused[0], &Value::Null);
    let why = refused[1]["why"].as_str().unwrap();
    assert!(why.starts_with("the answer is not legal here: 5 (play 6); legal are "), "{why}");
    assert_eq!(refused[1]["answer"], "5");
    let why = "the game refused it: Invalid command: choose. Possible commands: [state]";
    assert_eq!(refused[2], &json!({"answer": "110", "why": why}));
    assert_eq!(refused[3], &Value::Null, "another decision");
}

#[test]
fn an_agent_that_does_not_flush_gets_one_hint() {
    let mut proxy = command("sts-proxy");
    let mut proxy = Talk::start(proxy.args(["--no-record", "--watchdog", "0", "--", "sed", "s/.*/110/"]));
    assert_eq!(proxy.receive(), "ready");
    proxy.say(&rest_site(1, 1));
    proxy.receive_nothing_for(10_500);
    let ended = proxy.end_after_close();
    assert_eq!(ended.stderr.matches("no answer for 10 s").count(), 1, "{}", ended.stderr);
    for way in ["print(..., flush=True)", "python3 -u", "stdbuf -oL"] {
        assert!(ended.stderr.contains(way), "{}", ended.stderr);
    }
    assert_eq!(ended.status.code(), Some(0));
}
