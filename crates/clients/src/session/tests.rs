use super::*;

const RUNNING: &str = r#"{"type":"status","status":"running","pending_kind":"none","current_goal":"g"}"#;
const QUESTION: &str = r#"{"type":"status","status":"waiting_user","pending_kind":"question"}"#;
const MESSAGE: &str = r#"{"type":"user_message","content":"yes"}"#;

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_call","call_id":"{id}","tool_name":"look","arguments":{{}}}}"#)
}

fn result(id: &str) -> String {
    format!(r#"{{"type":"tool_result","call_id":"{id}","status":"ok","result":1}}"#)
}

fn held(id: &str) -> String {
    format!(
        r#"{{"type":"status","status":"waiting_user","pending_kind":"confirm","pending_action":{{"call_id":"{id}","tool_name":"pay","arguments":{{}}}}}}"#
    )
}

fn received(session: &mut Session, line: &str) -> Result<(), OutOfOrder> {
    session.received(&SessionRecord::read(line)?)
}

/// The disorder of the last line; the lines before it must be in order.
#[track_caller]
fn disorder_of(lines: &[&str]) -> String {
    let mut session = Session::default();
    let (last, lines) = lines.split_last().unwrap();
    for line in lines {
        received(&mut session, line).unwrap();
    }
    received(&mut session, last).unwrap_err().to_string()
}

#[test]
fn a_session_in_order_reaches_the_expected_state() {
    let mut session = Session::default();
    session.sent(MESSAGE);
    let plan = r#"{"type":"plan_update","plan_id":"plan-1","steps":[{"id":"1","desc":"Look","status":"running"},{"id":"2","desc":"Pay","status":"pending"}],"current_step":"1"}"#;
    let progress = r#"{"type":"plan_progress","plan_id":"plan-1","step_id":"1","result":"seen","status":"done"}"#;
    let chain = r#"{"type":"agent_chain_update","chain_id":"c","agents":[{"agent_id":"a","status":"running"}],"current_agent":"a"}"#;
    for line in [RUNNING, plan, &call("a1"), &held("a1"), RUNNING, &result("a1"), progress, chain, QUESTION] {
        received(&mut session, line).unwrap();
    }
    assert_eq!((session.state(), session.goal()), (State::Question, Some("g")));
    assert_eq!((&*session.plan()[0].status, &*session.plan()[1].desc), ("done", "Pay"));
    assert_eq!(session.agents(), [("a".to_owned(), "running".to_owned())]);
    session.sent(MESSAGE);
    received(&mut session, RUNNING).unwrap();
    // A call by the person; its id is a number.
    session.sent(r#"{"tool":"look","id":1}"#);
    received(&mut session, r#"{"type":"tool_result","call_id":1,"status":"ok","result":1}"#).unwrap();
    received(&mut session, &held("a2")).unwrap();
    assert!(session.pending_action().is_some_and(|action| action.contains("pay")));
    received(&mut session, r#"{"type":"final","outcome":"done","content":"x"}"#).unwrap();
}

#[test]
fn records_out_of_order_are_reported() {
    assert!(disorder_of(&[RUNNING, &result("a1")]).contains("not an open call"));
    assert!(disorder_of(&[RUNNING, &call("a1"), &result("a1"), &result("a1")]).contains("not an open call"));
    assert!(disorder_of(&[RUNNING, &call("a1"), &result("a1"), &call("a1")]).contains("was used before"));
    assert!(disorder_of(&[&call("a1")]).contains("works on no goal"));
    assert!(disorder_of(&[RUNNING, QUESTION, RUNNING]).contains("was not answered"));
    assert!(disorder_of(&[RUNNING, QUESTION, &call("a1")]).contains("while the agent waits for the person"));
    assert!(disorder_of(&[RUNNING, &held("a1"), &held("a2")]).contains("a second call is held"));
    let progress = r#"{"type":"plan_progress","plan_id":"plan-1","step_id":"1","result":"","status":"done"}"#;
    assert!(disorder_of(&[progress]).contains("unknown plan"));
    let plan = r#"{"type":"plan_update","plan_id":"plan-1","steps":[{"id":"2","desc":"x","status":"running"}]}"#;
    assert!(disorder_of(&[plan, progress]).contains("has no step"));
    let done = r#"{"type":"final","outcome":"done","content":"x"}"#;
    assert!(disorder_of(&[RUNNING, &call("a1"), done]).contains("has no result"));
}
