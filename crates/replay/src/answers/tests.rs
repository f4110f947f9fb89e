use super::*;
use crate::calls::own_call;
use crate::json_rpc::{name, read};
use pipewright_lines::Path;
use pipewright_record::rpc::{Message, request_progress_token};
use proptest::prelude::*;

/// A recording: `>` marks the client's lines, `<` the server's, a millisecond apart; `-` begins another session.
fn recorded(lines: &[&str]) -> Answers {
    recorded_as(Comparison::default(), lines)
}

fn recorded_as(same: Comparison, lines: &[&str]) -> Answers {
    let mut recording = Recording::new(same);
    for (t, line) in (0..).step_by(1000).zip(lines) {
        match line.split_at(1) {
            (">", line) => recording.client(line, t, Place { file: 0, line: t / 1000 }),
            ("<", line) => recording.server(line, t),
            _ => recording.begin_session(),
        }
    }
    recording.finish()
}

fn raw(json: &str) -> Box<RawValue> {
    serde_json::from_str(json).unwrap()
}

/// The replies to a request, one per line.
fn ask(answers: &mut Answers, line: &str) -> Vec<String> {
    let Ok(Message::Request { id, params, .. }) = read(line) else { panic!("{line}") };
    let exchange = answers.find_request(line).unwrap();
    let replies = exchange.replies(Caller::Request(id, request_progress_token(params)));
    replies.into_iter().map(|due| String::from_utf8(due.line).unwrap().trim_end().to_owned()).collect()
}

fn call(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

#[test]
fn unasked_requests_have_their_place_and_greetings_do_not_count() {
    let list = r#">{"id":9,"method":"tools/list"}"#;
    let mut answers = recorded(&[
        r#">{"id":1,"method":"initialize","params":{}}"#,
        r#">{"method":"notifications/initialized"}"#,
        &format!(">{}", call("2", "t", "{}")),
        list,
        &format!(">{}", call("3", "t", "{}")),
        r#">{"id":4,"method":"ping"}"#,
    ]);
    let lines = |answers: &Answers| answers.unasked().iter().map(|exchange| exchange.place.line).collect::<Vec<_>>();
    assert_eq!(lines(&answers), [2, 3, 4]);
    assert_eq!(answers.unasked()[1].asked, &list[1..]);
    answers.find_request(&call("7", "t", "{}")).unwrap();
    answers.find_request(&call("7", "u", "{}")).unwrap_err();
    assert_eq!(lines(&answers), [3, 4]);
    answers.find_request(&call("8", "t", "{}")).unwrap();
    answers.find_request(&call("9", "t", "{}")).unwrap();
    assert_eq!(lines(&answers), [3]);
}

#[test]
fn an_answer_is_found_by_its_request_and_keeps_every_digit() {
    let mut answers = recorded(&[
        r#">{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"y":[2.50]},"_meta":{"progressToken":1}}}"#,
        r#"< {"result":{"n":12345678901234567890123, "x":1.10},"id":1 ,"jsonrpc":"2.0"}"#,
        r#">{"id":"2","method":"tools/list"}"#,
        r#"<{"id":"2","result":{"tools":[]}}"#,
    ]);
    assert_eq!(
        ask(
            &mut answers,
            r#"{"id":"k","params":{"arguments":{ "y":[2.50],"\u0078":1},"name":"a"},"method":"tools/call"}"#
        ),
        [r#"{"result":{"n":12345678901234567890123, "x":1.10},"id":"k" ,"jsonrpc":"2.0"}"#]
    );
    assert_eq!(
        ask(&mut answers, r#"{"id":12345678901234567890123,"method":"tools/list","params":{}}"#),
        [r#"{"id":12345678901234567890123,"result":{"tools":[]}}"#]
    );
    assert!(answers.find_request(&call("1", "a", r#"{"x":1.0,"y":[2.5]}"#)).is_ok(), "2.5 equals 2.50");
    assert!(answers.find_request(&call("1", "a", r#"{"x":1,"y":[2.51]}"#)).is_err());
}

#[test]
fn repeats_are_answered_in_order_and_the_last_again() {
    let mut answers = recorded(&[
        &format!(">{}", call("1", "n", "{}")),
        r#"<{"id":1,"result":"one"}"#,
        "-",
        r#">{"id":1,"method":"tools/call","params":{"name":"n"}}"#,
        r#"<{"id":1,"result":"two"}"#,
    ]);
    assert_eq!(answers.requests(), 2);
    for (id, expected) in [("7", "one"), ("8", "two"), ("9", "two")] {
        assert_eq!(ask(&mut answers, &call(id, "n", "{}")), [format!(r#"{{"id":{id},"result":"{expected}"}}"#)]);
    }
}

#[test]
fn the_greeting_may_come_from_another_client() {
    let mut answers = recorded(&[
        r#">{"id":0,"method":"initialize","params":{"clientInfo":{"name":"a"}}}"#,
        r#"<{"id":0,"result":{"protocolVersion":"2025-11-25"}}"#,
    ]);
    let line = r#"{"id":5,"method":"initialize","params":{"clientInfo":{"name":"b"}}}"#;
    assert_eq!(ask(&mut answers, line), [r#"{"id":5,"result":{"protocolVersion":"2025-11-25"}}"#]);
}

#[test]
fn the_servers_lines_about_a_request_come_with_its_answer() {
    let mut answers = recorded(&[
        r#">{"method":"notifications/initialized"}"#,
        r#"<{"id":"s1","method":"roots/list"}"#,
        r#">{"id":"s1","result":{"roots":[]}}"#,
        r#">{"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}"#,
        r#">{"id":2,"method":"tools/call","params":{"name":"b"}}"#,
        r#"<{"method":"notifications/progress","params":{ "progressToken":"t","progress":1.0}}"#,
        r#"<{"method":"notifications/message","params":{"data":"b"}}"#,
        r#"<{"id":1,"result":"a"}"#,
        "<listening",
        r#"<{"id":2,"result":"b"}"#,
        r#"<{"method":"notifications/tools/list_changed"}"#,
    ]);
    let progress = r#"{"method":"notifications/progress","params":{ "progressToken":[9],"progress":1.0}}"#;
    assert_eq!(
        ask(&mut answers, r#"{"id":3,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":[9]}}}"#),
        [progress, r#"{"id":3,"result":"a"}"#]
    );
    assert_eq!(ask(&mut answers, &call("4", "a", "{}")), [r#"{"id":4,"result":"a"}"#], "it asked for no progress");
    assert_eq!(
        ask(&mut answers, &call("5", "b", "{}")),
        [
            r#"{"method":"notifications/message","params":{"data":"b"}}"#,
            r#"{"id":5,"result":"b"}"#,
            r#"{"method":"notifications/tools/list_changed"}"#
        ]
    );
    let replies =
        answers.find_notification(r#"{"method":"notifications/initialized"}"#).unwrap().replies(Caller::Notification);
    assert_eq!(replies, [DueLine { t: 1000, line: b"{\"id\":\"s1\",\"method\":\"roots/list\"}\n".to_vec() }]);
    assert!(answers.find_notification(r#"{"method":"notifications/roots/list_changed"}"#).is_none());
}

#[test]
fn a_request_that_was_never_answered_is_marked() {
    let mut answers = recorded(&[
        r#">{"id":1,"method":"tools/call","params":{"name":"a"}}"#,
        r#">{"method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"<{"id":1,"result":"late"}"#,
        r#">{"id":2,"method":"ping"}"#,
        r#"<{"id":2,"result":{}}"#,
        r#">{"id":3,"method":"tools/call","params":{"name":"b"}}"#,
        "-",
        r#"<{"id":3,"result":"of another session"}"#,
    ]);
    for tool in ["a", "b"] {
        assert!(!answers.find_request(&call("1", tool, "{}")).unwrap().is_answered());
    }
    assert_eq!(answers.requests(), 2);
}

#[test]
fn a_miss_names_the_nearest_requests() {
    let mut answers = recorded(&[
        &format!(">{}", call("1", "echo", r#"{"message":"hello","loud":true}"#)),
        &format!(">{}", call("2", "echo", r#"{"message":"help"}"#)),
        &format!(">{}", call("3", "add", r#"{"a":1}"#)),
        r#">{"id":4,"method":"resources/read","params":{"uri":"file:///a"}}"#,
        r#">{"method":"notifications/initialized"}"#,
    ]);
    let miss = answers.find_request(&call("9", "echo", r#"{"message":"hell"}"#)).unwrap_err();
    assert!(miss.is_known && miss.names.is_empty());
    assert_eq!(
        miss.near,
        [
            NearRequest {
                arguments: r#"{"message":"help"}"#.to_owned(),
                paths: vec![".params.arguments.message".to_owned()]
            },
            NearRequest {
                arguments: r#"{"loud":true,"message":"hello"}"#.to_owned(),
                paths: vec![".params.arguments.loud".to_owned(), ".params.arguments.message".to_owned()]
            }
        ]
    );
    let miss = answers.find_request(&call("9", "ecco", "{}")).unwrap_err();
    assert_eq!((miss.is_known, miss.names, miss.near), (true, vec!["echo".to_owned(), "add".to_owned()], vec![]));
    let miss = answers.find_request(r#"{"id":1,"method":"resources/read","params":{"uri":"file:///b"}}"#).unwrap_err();
    assert_eq!(miss.near[0].arguments, r#"{"uri":"file:///a"}"#);
    let miss = answers.find_request(r#"{"id":1,"method":"resources/list"}"#).unwrap_err();
    assert_eq!((miss.is_known, miss.names), (false, vec!["resources/read".to_owned(), "tools/call".to_owned()]));
    assert!(
        answers.find_request(r#"{"id":1,"method":"notifications/initialized"}"#).is_err(),
        "it was a notification, not a request"
    );
}

#[test]
fn ignored_and_normalised_parts_may_differ() {
    let ignored = vec![Path::parse(".params.arguments.at").unwrap()];
    let same = Comparison { ignored, ..Comparison::default() };
    let mut answers =
        recorded_as(same, &[&format!(">{}", call("1", "a", r#"{"at":1,"x":2}"#)), r#"<{"id":1,"result":1}"#]);
    assert!(answers.find_request(&call("1", "a", r#"{"x":2,"at":9}"#)).is_ok());
    assert!(answers.find_request(&call("1", "a", r#"{"x":3}"#)).is_err());
    // The log's redacted text is also removed from live lines.
    let normalise: crate::compare::Normalise =
        Box::new(|line| Some(String::from_utf8(line.to_vec()).ok()?.replace(r#","key":"secret""#, "").into_bytes()));
    let same = Comparison { normalise: Some(normalise), ..Comparison::default() };
    let mut answers = recorded_as(same, &[&format!(">{}", call("1", "a", r#"{"x":1}"#)), r#"<{"id":1,"result":1}"#]);
    assert_eq!(ask(&mut answers, &call("2", "a", r#"{"x":1,"key":"secret"}"#)), [r#"{"id":2,"result":1}"#]);
}

/// The replies to a call in one of our own forms, one per line.
fn call_now(answers: &mut Answers, line: &str) -> Vec<String> {
    let call = own_call(line.as_bytes()).unwrap();
    let replies = answers.find_request(line).unwrap().replies(Caller::Call(&call));
    replies.into_iter().map(|due| String::from_utf8(due.line).unwrap().trim_end().to_owned()).collect()
}

#[test]
fn calls_in_our_own_forms_are_found_by_tool_and_arguments_and_answered_in_their_form() {
    let mut answers = recorded(&[
        r#">{"id":1,"tool":"a","args":{"n":1.0}}"#,
        r#">{"id":2,"cmd":"b","session_id":"s"}"#,
        r#"<{"type":"observation","source":"w","data":{"id":1}}"#,
        r#"<{"ok":false,"id":2,"error":"no","code":"X","events":[7]}"#,
        r#"<{"type":"status","status":"waiting_human","call_id":1}"#,
        r#"<{"type":"status","status":"waiting_human","call_id":9}"#,
        r#"<{"id":1,"tool":"a","status":"ok","data":1.10}"#,
        r#"<{"type":"status","status":"waiting_human","call_id":1}"#,
        r#">{"type":"tool_call","call_id":1,"tool_name":"a","arguments":{"n":1}}"#,
        r#"<{"type":"tool_result","call_id":1,"status":"ok","result":2,"events":[8]}"#,
    ]);
    assert_eq!((answers.requests(), answers.is_json_rpc()), (3, false));
    assert_eq!(
        call_now(&mut answers, r#"{"type":"tool_call","call_id":"x","tool_name":"b","plan_id":7}"#),
        [
            r#"{"type":"observation","source":"w","data":{"id":1}}"#,
            r#"{"type":"tool_result","call_id":"x","plan_id":7,"status":"error","error":"no","kind":"tool_error","code":"X","events":[7]}"#
        ]
    );
    assert_eq!(
        call_now(&mut answers, r#"{"cmd":"a","id":3,"arguments":{"n":1}}"#),
        [r#"{"type":"status","status":"waiting_human","call_id":3}"#, r#"{"ok":true,"id":3,"data":1.10,"events":[]}"#]
    );
    for _ in 0..2 {
        assert_eq!(call_now(&mut answers, r#"{"cmd":"a","args":{"n":1}}"#), [r#"{"ok":true,"data":2,"events":[8]}"#]);
    }
    assert_eq!(
        call_now(&mut answers, r#"{"tool":"a","args":{"n":1}}"#),
        [r#"{"tool":"a","status":"ok","data":2,"events":[8]}"#]
    );
    let miss = answers.find_request(r#"{"tool":"a","args":{"n":2}}"#).unwrap_err();
    assert_eq!(
        (miss.tool.as_deref(), miss.near),
        (Some("a"), vec![NearRequest { arguments: r#"{"n":1}"#.to_owned(), paths: vec![".arguments.n".to_owned()] }])
    );
    let miss = answers.find_request(&call("1", "a", "{}")).unwrap_err();
    assert_eq!((miss.is_known, miss.names), (false, vec!["tool_call".to_owned()]));
}

#[test]
fn a_place_in_the_arguments_of_a_call_is_ignored_under_both_names() {
    for path in [".args.at", ".arguments.at"] {
        let same = Comparison { ignored: vec![Path::parse(path).unwrap()], ..Comparison::default() };
        let mut answers = recorded_as(same, &[r#">{"tool":"a","args":{"at":1,"x":2}}"#]);
        assert!(answers.find_request(r#"{"type":"tool_call","tool_name":"a","arguments":{"at":9,"x":2}}"#).is_ok());
        assert!(answers.find_request(r#"{"tool":"a","args":{"at":1,"x":3}}"#).is_err());
    }
}

/// Ids of any JSON type.
fn ids() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|id| id.to_string()),
        "[1-9][0-9]{18,30}",
        any::<String>().prop_map(|id| serde_json::to_string(&id).unwrap()),
        Just("1.10".to_owned()),
        Just("true".to_owned()),
        Just(r#"{"b":[1],"a":null}"#.to_owned()),
    ]
}

/// A request (one of four), its recorded id, and its live id.
type Asking = (usize, String, String);

/// Requests, and the order in which they are asked again.
fn askings() -> impl Strategy<Value = (Vec<Asking>, Vec<usize>)> {
    prop::collection::vec((0..4_usize, ids(), ids()), 1..20).prop_flat_map(|mut asked| {
        let mut known = std::collections::HashSet::new();
        asked.retain(|(_, id, _)| known.insert(name(&raw(id))));
        let order: Vec<usize> = (0..asked.len()).collect();
        (Just(asked), Just(order).prop_shuffle())
    })
}

proptest! {
    /// In any order, each request gets its own answers, in their order, with its live ids. This holds whether the
    /// requests were recorded one after the other or all at once.
    #[test]
    fn any_order_of_the_same_requests_gets_the_same_answers((asked, order) in askings(), at_once in any::<bool>()) {
        let mut recording = Recording::new(Comparison::default());
        let mut answered: Vec<std::collections::VecDeque<usize>> = vec![Default::default(); 4];
        let mut late = Vec::new();
        for (number, (what, id, _)) in asked.iter().enumerate() {
            answered[*what].push_back(number);
            recording.client(&call(id, "t", &format!("{{\"a\":{what},\"b\":0}}")), 0, Place::default());
            let answer = format!("{{\"id\":{id},\"result\":{number}}}");
            if at_once { late.push(answer) } else { recording.server(&answer, 0) }
        }
        late.iter().rev().for_each(|answer| recording.server(answer, 0));
        let mut answers = recording.finish();
        for at in order {
            let (what, _, id) = &asked[at];
            let expected = answered[*what].pop_front().unwrap();
            let replies = ask(&mut answers, &call(id, "t", &format!("{{\"b\":0, \"a\":{what}}}")));
            prop_assert_eq!(replies, vec![format!("{{\"id\":{id},\"result\":{expected}}}")]);
        }
    }
}

/// Lines made of pieces of JSON-RPC, mostly broken.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"id\"",
        "\"method\"",
        "\"params\"",
        "\"_meta\"",
        "\"progressToken\"",
        "\"name\"",
        "\"tools/call\"",
        "\"notifications/progress\"",
        "\"initialize\"",
        "1",
        "1e999",
        "null",
        "\"\\ud800\"",
        "é",
        " ",
        "{\"id\":1,\"method\":\"tools/call\",\"params\":",
        "{\"id\":1,\"result\":",
        "{\"id\":1,\"tool\":\"a\"}",
        "{\"type\":\"tool_call\",\"tool_name\":\"a\",\"arguments\":",
        "{\"id\":1,\"tool\":\"a\",\"status\":\"ok\"}",
        "\"arguments\"",
        "\\",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// For any log and any client, each request gets a recorded answer, or a miss.
    #[test]
    fn odd_lines_are_handled(lines in prop::collection::vec((any::<bool>(), pieces()), 0..12), asked in pieces()) {
        let mut recording = Recording::new(Comparison::default());
        for (is_client, line) in &lines {
            if *is_client { recording.client(line, 0, Place::default()) } else { recording.server(line, 0) }
        }
        let mut answers = recording.finish();
        for line in lines.iter().map(|(_, line)| line).chain([&asked]) {
            if let Ok(exchange) = answers.find_request(line) {
                exchange.replies(Caller::Request(RawValue::NULL, Some(RawValue::NULL)));
                if let Some(call) = own_call(line.as_bytes()) {
                    exchange.replies(Caller::Call(&call));
                }
            }
            answers.find_notification(line);
        }
    }
}
