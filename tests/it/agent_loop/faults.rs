//! Sides that end, keep silent or print something else.

use super::{Place, Run};
use crate::process::{command, pipe};

#[test]
fn a_world_that_is_lost_ends_the_run_with_4() {
    let place = Place::new(&[r#"{"calls":[{"tool_name":"die","arguments":{"status":7}}]}"#]);
    let run = place.run(&["--goal", "g"], "");
    let last = run.last();
    assert_eq!((run.status, &last["outcome"]), (Some(4), &"failed".into()));
    assert!(last["content"].as_str().unwrap().contains("the world has ended: exit status 7"), "{last}");
}

#[test]
fn a_model_side_that_ends_is_4_and_one_that_cannot_be_started_is_3() {
    let run = |llm: &str| {
        let mut agent = command("agent-loop");
        agent.args(["--llm", llm, "--goal", "g", "--"]).arg(crate::process::example("stand-in-world"));
        Run::of(pipe(&mut agent, b""))
    };
    let ended = run("sh -c 'read x; exit 9'");
    assert!(ended.last()["content"].as_str().unwrap().contains("the model side has ended"), "{}", ended.stderr);
    assert_eq!(ended.status, Some(4));
    let missing = run("no-such-program");
    assert_eq!((missing.status, missing.stderr.contains("no-such-program")), (Some(3), true), "{}", missing.stderr);
    let open = run("sh 'x");
    assert_eq!((open.status, open.stderr.contains("--llm")), (Some(2), true), "{}", open.stderr);
}

#[test]
fn a_world_that_lists_no_tools_is_3() {
    let place = Place::new(&[]);
    for (world, why) in [("cat", "passes list_tools on"), ("cat >/dev/null", "no answer to list_tools within 0.5 s")] {
        let mut agent = place.agent(&["--goal", "g", "--start-timeout", "0.5", "--", "sh", "-c", world]);
        let run = Run::of(pipe(&mut agent, b""));
        assert_eq!((run.status, run.stderr.contains(why)), (Some(3), true), "{}", run.stderr);
    }
}

#[test]
fn lines_that_nobody_can_read_are_skipped() {
    let place = Place::new(&[
        r#"{"calls":[{"tool_name":"say","arguments":{"line":"noise"}}]}"#,
        r#"{"calls":[{"tool_name":"say","arguments":{"line":"{\"type\":\"tool_result\",\"call_id\":\"other\",\"status\":\"ok\",\"result\":1}"}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#,
    ]);
    let run = place.run(&["--goal", "g"], "not JSON\n[1]\n");
    assert_eq!(run.last()["outcome"], "done");
    assert!(run.stderr.contains("a line of the world is skipped"), "{}", run.stderr);
    assert_eq!(run.of_type("error").len(), 2, "{:?}", run.records);
}

#[test]
fn the_world_has_no_keys() {
    let place = Place::new(&[r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#]);
    let seen = place.path("environment");
    let world = format!("env >'{}'; exec '{}'", seen.display(), crate::process::example("stand-in-world").display());
    let mut agent = place.agent(&["--goal", "g", "--", "sh", "-c", &world]);
    agent.envs([("GEMINI_API_KEY", "k1"), ("OPENAI_API_KEY", "k2"), ("ANTHROPIC_API_KEY", "k3"), ("OTHER", "o")]);
    assert_eq!(Run::of(pipe(&mut agent, b"")).status, Some(0));
    let seen = super::read(&seen);
    assert!(seen.contains("OTHER=o") && !seen.contains("_API_KEY"), "{seen}");
}
