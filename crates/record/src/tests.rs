use super::*;
use proptest::prelude::*;

fn tool(line: &str) -> Option<(Form, String)> {
    recognise(line).unwrap().map(|call| (call.form, call.tool.into_owned()))
}

fn why(line: &str) -> String {
    match recognise(line) {
        Err(why) => why.to_string(),
        Ok(call) => panic!("{line} was read: {call:?}"),
    }
}

#[test]
fn a_call_is_recognised_in_every_form() {
    for (line, form) in [
        (r#"{"type":"tool_call","call_id":"c1","tool_name":"x","arguments":{}}"#, Form::Record),
        (r#"{"tool":"x"}"#, Form::Short),
        (r#" {"cmd":"x","id":3,"args":{"a":1}}"#, Form::Godot),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#, Form::JsonRpc),
        (r#"{"t\u006fol":"\u0078"}"#, Form::Short),
    ] {
        assert_eq!(tool(line), Some((form, "x".into())), "{line}");
    }
}

#[test]
fn other_records_are_not_calls() {
    for line in [
        "{}",
        r#"{"type":"observation","source":"spire","data":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"id":1,"tool":"x","status":"ok","data":{}}"#,
        r#"{"available_commands":[],"ready_for_command":true,"in_game":false}"#,
    ] {
        assert_eq!(tool(line), None, "{line}");
    }
}

#[test]
fn ambiguous_lines_are_unreadable() {
    assert!(why(r#"[{"tool":"x"}]"#).contains("array"));
    assert!(why(r#"["tool_call",true]"#).contains("array"));
    assert!(why(r#"{"tool":"x""#).contains("not a JSON"));
    assert!(why("tool").contains("not a JSON"));
    assert!(why("{\"x\":[\r{\"tool\":\"x\"}\r]}").contains("carriage return"));
    assert!(why(r#"{"tool":"x","tool":"y"}"#).contains("twice"));
    assert!(why(r#"{"tool":"x","to\u006fl":"y"}"#).contains("twice"));
    assert!(why(r#"{"tool":"x","Tool":"y"}"#).contains("two spellings"));
    assert!(why(r#"{"tool":"x","cmd":"y"}"#).contains("both"));
    // Readers that ignore case, as Go's does, would carry it out with arguments that no gate has checked.
    for line in [
        r#"{"tool":"browser_navigate","arGs":{"url":"javascript:1"}}"#,
        r#"{"type":"tool_call","tool_name":"x","Arguments":{}}"#,
        r#"{"cmd":"x","ID":1}"#,
        r#"{"tool":"x","Requires_Approval":true}"#,
        r#"{"tool":"x","\u017fession_id":1}"#,
        r#"{"method":"tools/call","params":{"name":"x","ARGUMENTS":{}}}"#,
        r#"{"method":"tools/call","params":{"name":"x","_Meta":{}}}"#,
        r#"{"method":"tools/call","params":{"name":"x","_meta":{"Target":{}}}}"#,
    ] {
        assert!(why(line).contains("ignore case: write"), "{line}");
    }
    assert_eq!(tool(r#"{"tool":"x","Notes":"kept"}"#), Some((Form::Short, "x".into())));
    assert!(why(r#"{"tool":1}"#).contains("not a string"));
    assert!(why(r#"{"tool":"x","args":[1]}"#).contains("not an object"));
    assert!(why(r#"{"tool":"x","args":{},"arguments":{}}"#).contains("both"));
    assert!(why(r#"{"method":"tools/call","params":{"name":"x","args":{}}}"#).contains("arguments"));
    assert!(why(r#"{"tool":"x","requires_approval":1}"#).contains("neither"));
    assert!(why(r#"{"type":"tool_call"}"#).contains("tool_name"));
    assert!(why(r#"{"method":"tools/call"}"#).contains("params"));
    assert!(why(r#"{"method":"tools/call","params":{"name":"x","Name":"y"}}"#).contains("spellings"));
    assert!(
        why(r#"{"method":"tools/call","params":{"name":"x","_meta":{"requires_approval":"no"}}}"#).contains("neither")
    );
}

#[test]
fn arguments_have_two_spellings_and_null_is_none() {
    for (line, key, arguments) in [
        (r#"{"tool":"x","args":{"a":1.10}}"#, "args", Some(r#"{"a":1.10}"#)),
        (r#"{"tool":"x","arguments":{"a":1.10}}"#, "arguments", Some(r#"{"a":1.10}"#)),
        (r#"{"cmd":"x","arguments":{}}"#, "arguments", Some("{}")),
        (r#"{"type":"tool_call","tool_name":"x","args":{}}"#, "args", Some("{}")),
        (r#"{"type":"tool_call","tool_name":"x"}"#, "arguments", None),
        (r#"{"tool":"x","args":null}"#, "args", None),
        (r#"{"method":"tools/call","params":{"name":"x","arguments":null}}"#, "arguments", None),
    ] {
        let call = recognise(line).unwrap().unwrap();
        assert_eq!((call.arguments_key, call.arguments.map(RawValue::get)), (key, arguments), "{line}");
    }
}

#[test]
fn an_unreadable_call_is_refused_in_its_form_and_with_its_id() {
    for (line, refusal) in [
        (
            r#"{"tool":"x","args":[1],"id":"i"}"#,
            r#"{"id":"i","tool":"x","status":"error","error":"line 7: \"args\" is not an object","kind":"bad_input"}"#,
        ),
        (
            r#"{"type":"tool_call","call_id":1.0,"tool_name":"x","arguments":"{}"}"#,
            r#"{"type":"tool_result","call_id":1.0,"status":"error","error":"line 7: \"arguments\" is not an object","kind":"bad_input"}"#,
        ),
        (
            r#"{"cmd":"x","args":1,"id":2}"#,
            r#"{"ok":false,"id":2,"error":"line 7: \"args\" is not an object","code":"bad_input","events":[]}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":1}}"#,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"line 7: \"name\" is not a string","data":{"kind":"bad_input"}}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call""#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"line 7: it is not a JSON object: EOF while parsing an object at column 45","data":{"kind":"bad_input"}}}"#,
        ),
        (
            "[]",
            r#"{"type":"tool_result","status":"error","error":"line 7: it is an array: send one record per line","kind":"bad_input"}"#,
        ),
    ] {
        assert_eq!(recognise(line).unwrap_err().refusal(Kind::BadInput, 7), refusal, "{line}");
    }
}

#[test]
fn a_marker_in_another_case_is_unreadable() {
    // A reader that ignores case (they exist) would carry it out.
    assert!(why(r#"{"Tool":"x"}"#).contains("case"));
    assert!(why(r#"{"tool":"x","args":{},"argſ":{}}"#).contains("spellings"));
    assert!(why(r#"{"METHOD":"tools/call","params":{"name":"x"}}"#).contains("case"));
}

#[test]
fn marks_are_read_in_the_places_of_each_form() {
    for line in [
        r#"{"type":"tool_call","tool_name":"x","requires_approval":true,"policy":{"verdict":"confirm"}}"#,
        r#"{"tool":"x","requires_approval":true,"policy":{"verdict":"confirm"}}"#,
        r#"{"method":"tools/call","params":{"name":"x","_meta":{"requires_approval":true,"policy":{"verdict":"confirm"}}}}"#,
    ] {
        let call = recognise(line).unwrap().unwrap();
        assert!(call.requires_approval, "{line}");
        assert_eq!(call.policy.unwrap().get(), r#"{"verdict":"confirm"}"#);
    }
}

#[test]
fn each_form_is_answered_in_the_same_form() {
    let result = RawValue::from_string("1.10".into()).unwrap();
    let error = Outcome::Error { kind: Kind::NeedsApproval, message: "ask \"first\"", code: None, data: None };
    for (line, ok, failed) in [
        (
            r#"{"type":"tool_call","call_id":"c1","tool_name":"x","plan_id":9}"#,
            r#"{"type":"tool_result","call_id":"c1","plan_id":9,"status":"ok","result":1.10}"#,
            r#"{"type":"tool_result","call_id":"c1","plan_id":9,"status":"error","error":"ask \"first\"","kind":"needs_approval"}"#,
        ),
        (
            r#"{"id":12345678901234567890,"tool":"x"}"#,
            r#"{"id":12345678901234567890,"tool":"x","status":"ok","data":1.10}"#,
            r#"{"id":12345678901234567890,"tool":"x","status":"error","error":"ask \"first\"","kind":"needs_approval"}"#,
        ),
        (
            r#"{"cmd":"x","id":null}"#,
            r#"{"ok":true,"id":null,"data":1.10,"events":[]}"#,
            r#"{"ok":false,"id":null,"error":"ask \"first\"","code":"needs_approval","events":[]}"#,
        ),
        (
            r#"{"id":"a","method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","result":1.10}"#,
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"ask \"first\"","data":{"kind":"needs_approval"}}}"#,
        ),
    ] {
        let call = recognise(line).unwrap().unwrap();
        assert_eq!(call.answer(Outcome::Ok(&result)), ok);
        assert_eq!(call.answer(error), failed);
        assert_eq!((tool(ok), tool(failed)), (None, None), "an answer is not a call");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]{}\",:a-z\\\\ 0-9]{0,60}") {
        let _ = recognise(&text);
    }

    #[test]
    fn the_order_of_fields_does_not_matter(swap in any::<bool>(), tool in "[a-z_]{1,9}") {
        let (first, second) = (format!("\"tool\":{tool:?}"), "\"id\":1".to_owned());
        let line = if swap { format!("{{{second},{first}}}") } else { format!("{{{first},{second}}}") };
        let call = recognise(&line).unwrap().unwrap();
        prop_assert_eq!(&*call.tool, tool.as_str());
        prop_assert_eq!(call.id.unwrap().get(), "1");
    }
}
