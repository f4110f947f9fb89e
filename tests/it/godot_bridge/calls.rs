//! The commands that lines of stdin become, and their answers.

use super::{Bridge, lines, play};
use crate::process::{pipe, text};

#[test]
fn each_form_of_call_is_answered_in_the_same_form() {
    let output = play(
        "echo",
        &["--timeout", "5"],
        &[
            r#"{"cmd":"swap","id":12345678901234567890,"args":{"from":0}}"#,
            r#"{"type":"tool_call","call_id":"c","tool_name":"swap","arguments":{"from":0},"session_id":"s","step_id":1.0}"#,
            r#"{"tool":"swap","args":{"from":0}}"#,
            r#"{"jsonrpc":"2.0","id":1e2,"method":"tools/call","params":{"name":"swap","arguments":{"from":0}}}"#,
        ],
    );
    let data = r#"{"cmd":"swap","args":{"from":0},"timeout":5}"#;
    assert_eq!(
        lines(&output),
        [
            format!(r#"{{"ok":true,"id":12345678901234567890,"data":{data},"events":[],"frame":1}}"#),
            format!(
                r#"{{"type":"tool_result","call_id":"c","session_id":"s","step_id":1.0,"status":"ok","result":{data},"events":[],"frame":1}}"#
            ),
            format!(r#"{{"tool":"swap","status":"ok","data":{data},"events":[],"frame":1}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":1e2,"result":{data}}}"#),
        ]
    );
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn a_failed_command_exits_1_and_has_code_hint_and_details() {
    let output =
        play("echo", &[], &[r#"{"cmd":"fail","id":"a"}"#, r#"{"type":"tool_call","call_id":2,"tool_name":"fail"}"#]);
    assert_eq!(
        lines(&output),
        [
            r#"{"ok":false,"id":"a","error":"no node /root/X","code":"NODE_NOT_FOUND","hint":"there is /root/Y","details":{"path":"/root/X"},"events":[],"frame":2}"#,
            r#"{"type":"tool_result","call_id":2,"status":"error","error":"no node /root/X; there is /root/Y","kind":"not_found","code":"NODE_NOT_FOUND","data":{"path":"/root/X"},"events":[],"frame":2}"#,
        ]
    );
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(1), ""));
}

#[test]
fn the_digits_of_numbers_reach_the_game() {
    let wide = r#"{"cmd":"x","args":{"a":-9223372036854775808,"b":[9007199254740993],"c":1.10,"d":"9007199254740993","e":1E5}}"#;
    let output = play("echo", &[], &[wide]);
    let wrapped = |digits: &str| format!(r#"{{"$type":"int","value":"{digits}"}}"#);
    let (a, b) = (wrapped("-9223372036854775808"), wrapped("9007199254740993"));
    let expected = format!(r#""args":{{"a":{a},"b":[{b}],"c":1.10,"d":"9007199254740993","e":1E5}}"#);
    assert!(lines(&output)[0].contains(&expected), "{:?}", lines(&output));
}

#[test]
fn a_command_may_have_its_own_timeout() {
    let output = play(
        "echo",
        &["--timeout", "0.1"],
        &[
            r#"{"cmd":"sleep","args":{"seconds":2.3,"timeout":5}}"#,
            r#"{"cmd":"sleep","timeout":5,"args":{"seconds":2.3}}"#,
            r#"{"tool":"x","timeout":7,"args":{"timeout":2.5}}"#,
            r#"{"tool":"x","args":{"timeout":"soon"}}"#,
        ],
    );
    let answers = lines(&output);
    assert!(answers[..2].iter().all(|line| line.starts_with(r#"{"ok":true,"#)), "{answers:?}");
    assert!(answers[2].contains(r#""timeout":2.5}"#) && answers[3].contains(r#""timeout":0.1}"#), "{answers:?}");
}

#[test]
fn what_requires_approval_never_reaches_the_game() {
    let output = play(
        "echo",
        &[],
        &[
            r#"{"cmd":"exit","id":1,"requires_approval":true}"#,
            r#"{"type":"tool_call","call_id":2,"tool_name":"exit","requires_approval":true}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"exit","_meta":{"requires_approval":true}}}"#,
            r#"{"cmd":"x","id":4,"requires_approval":false}"#,
        ],
    );
    let answers = lines(&output);
    let refused = |line: &String| line.contains(r#""code":"NEEDS_APPROVAL""#);
    assert!(answers[..3].iter().all(refused) && answers[3].starts_with(r#"{"ok":true,"id":4"#), "{answers:?}");
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(
        stderr.starts_with("godot-bridge: stdin:1: it still requires approval: put hitl-gate in front of"),
        "{stderr}"
    );
}

#[test]
fn other_records_are_passed_on_in_order_between_the_answers() {
    let others = [r#"{"type":"observation","data":{"n":1.10}}"#, r#" { "type" : "plan_update" } "#];
    let mut bridge = Bridge::start("echo", &[]);
    bridge.talk.say(&[r#"{"cmd":"sleep","args":{"seconds":0.3}}"#, others[0], r#"{"cmd":"x"}"#, others[1]].join("\n"));
    bridge.talk.receive_nothing_for(100);
    assert!(bridge.talk.receive().contains(r#""data":{}"#));
    assert_eq!(bridge.talk.receive(), others[0]);
    assert!(bridge.talk.receive().contains(r#""cmd":"x""#));
    assert_eq!(bridge.talk.receive(), others[1]);
    assert_eq!(bridge.end_after_close().status.code(), Some(0));
}

#[test]
fn ambiguous_lines_are_refused_in_order() {
    let (mut bridge, _home) = super::bridge("echo", &["--max-line", "200", "--max-depth", "4"]);
    let long = format!(r#"{{"cmd":"{}"}}"#, "x".repeat(300));
    let bad: &[(&[u8], &str, &str)] = &[
        (b"{\"cmd\":\"x\"", "BAD_JSON", "line 1: "),
        (b"[{\"cmd\":\"x\"}]", "BAD_JSON", "line 2: it is an array"),
        (b"{\"cmd\":\"x\",\"Cmd\":\"y\"}", "BAD_JSON", "line 3: "),
        (b"{\"cmd\":\"x\",\"tool\":\"y\"}", "BAD_JSON", "line 4: both"),
        (b"{\"cmd\":\"\xff\"}", "BAD_JSON", "line 5: it is not UTF-8"),
        (b"{\"cmd\":\"x\",\"args\":{\"a\":[[[]]]}}", "BAD_JSON", "line 6: nested deeper"),
        (long.as_bytes(), "TOO_LARGE", "line 7: longer than --max-line"),
        (b"{\"cmd\":\"x\",\"args\":[]}", "BAD_JSON", "line 8: "),
    ];
    let mut input = Vec::new();
    for (line, ..) in bad {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    input.extend_from_slice(b"\n  \r\n{\"cmd\":\"x\",\"id\":9}");
    let output = pipe(&mut bridge, &input);
    let answers = lines(&output);
    for ((_, code, why), line) in bad.iter().zip(&answers) {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((&answer["ok"], &answer["code"]), (&false.into(), &(*code).into()), "{line}");
        assert!(answer["error"].as_str().unwrap().starts_with(why), "{line}");
    }
    assert!(
        answers.len() == 9 && answers[8].starts_with(r#"{"ok":true,"id":9"#),
        "blank lines are nothing: {answers:?}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_commands_are_listed_as_tools_with_the_id_of_the_request() {
    let output = play("echo", &[], &[r#"{"type":"list_tools","request_id":"l\u0041"}"#, r#"{"cmd":"x"}"#]);
    let lists: Vec<String> = lines(&output).into_iter().filter(|line| line.contains("\"tool_list\"")).collect();
    let [list] = lists.as_slice() else { panic!("{lists:?}") };
    assert!(
        list.starts_with(r#"{"type":"tool_list","request_id":"l\u0041","world":"godot","tools":[{"name":""#),
        "{list}"
    );
    let list: serde_json::Value = serde_json::from_str(list).unwrap();
    let tools = list["tools"].as_array().unwrap();
    let press = tools.iter().find(|tool| tool["name"] == "press_button").unwrap();
    assert_eq!(press["input_schema"]["type"], "object", "{press}");
}

/// The names of the listed tools.
fn tools(fault: &str, lines_in: &[&str]) -> Vec<String> {
    let output = play(fault, &[], lines_in);
    let lists: Vec<String> = lines(&output).into_iter().filter(|line| line.contains("\"tool_list\"")).collect();
    let [list] = lists.as_slice() else { panic!("{fault}: {lists:?}") };
    let list: serde_json::Value = serde_json::from_str(list).unwrap();
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn only_commands_that_the_addon_has_are_tools() {
    assert_eq!(tools("few-commands", &[r#"{"cmd":"x"}"#, r#"{"type":"list_tools"}"#]), ["get_tree", "quit", "click"]);
}

#[test]
fn commands_that_the_game_declares_are_also_tools() {
    let lines_in = [r#"{"cmd":"x","id":1}"#, r#"{"type":"list_tools"}"#, r#"{"cmd":"x","id":2}"#];
    let own = tools("echo", &lines_in);
    assert_eq!(tools("declares", &lines_in), [own.as_slice(), &["swap".to_owned()]].concat());
    // The list is answered even if the request for the game's commands fails.
    for fault in ["cannot-list", "lists-too-much", "forgets-to-list", "hangs"] {
        let options: &[&str] = if fault == "hangs" { &["--timeout", "0.1"] } else { &[] };
        let output = play(fault, options, &lines_in);
        let lists = lines(&output).into_iter().filter(|line| line.contains("\"press_button\"")).count();
        assert_eq!(lists, 1, "{fault}: {output:?}");
        assert_eq!(
            output.status.code() == Some(0),
            fault != "hangs" && fault != "lists-too-much",
            "{fault}: {output:?}"
        );
    }
    let mut bridge = Bridge::start("declares", &[]);
    bridge.talk.ask(r#"{"cmd":"x"}"#);
    bridge.talk.say("{\"cmd\":\"quit\"}\n{\"type\":\"list_tools\"}");
    let answers = [bridge.talk.receive(), bridge.talk.receive()];
    assert!(answers.iter().any(|line| line.contains("\"press_button\"")), "a game that ends is not asked: {answers:?}");
}

#[test]
fn a_call_that_is_cancelled_is_answered_at_once_and_its_answer_dropped() {
    let mut bridge = Bridge::start("echo", &[]);
    bridge.talk.ask(r#"{"cmd":"x"}"#);
    bridge.talk.say(r#"{"type":"tool_call","call_id":"a","tool_name":"sleep","arguments":{"seconds":1}}"#);
    bridge.talk.say(r#"{"type":"tool_call","call_id":"b","tool_name":"x"}"#);
    bridge.talk.say(r#"{"type":"cancel","call_id":"a"}"#);
    let cancelled: serde_json::Value = serde_json::from_str(&bridge.talk.receive()).unwrap();
    assert_eq!((&cancelled["call_id"], &cancelled["kind"]), (&"a".into(), &"cancelled".into()), "{cancelled}");
    assert_eq!(cancelled["maybe_executed"], true, "{cancelled}");
    let next: serde_json::Value = serde_json::from_str(&bridge.talk.receive()).unwrap();
    assert_eq!((&next["call_id"], &next["status"]), (&"b".into(), &"ok".into()), "{next}");
    let ended = bridge.talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
}
