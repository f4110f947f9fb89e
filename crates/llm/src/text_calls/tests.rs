#![allow(clippy::unwrap_used)]

use super::*;
use crate::tests::{calls, request};
use crate::{ChatServer, Provider};
use pipewright_record::Usage;
use proptest::prelude::*;
use serde_json::value::RawValue;

const TOOLS: &str = r#""tools":[{"name":"look"},{"name":"wait","description":"d","input_schema":{"type":"object","properties":{"ms":{"type":"integer"},"why":{"type":"string"}}}},
    {"name":"assistant_ask"},{"name":"assistant_done"}]"#;

fn turn(text: &str) -> ModelTurn {
    ModelTurn {
        stop: Stop::End,
        text: text.to_owned(),
        reasoning: String::new(),
        calls: Vec::new(),
        usage: Usage::default(),
        provider: "ollama",
        model: "m".to_owned(),
        raw: RawValue::from_string("{}".to_owned()).unwrap(),
        form: None,
        context: None,
    }
}

fn offered() -> ModelRequest {
    request(&format!(r#""messages":[{{"role":"user","content":"x"}}],{TOOLS}"#))
}

/// The calls in a text, each as `NAME ARGUMENTS`, and the remaining text.
fn read(text: &str) -> (Vec<String>, String) {
    let turn = recognise(turn(text), &offered());
    assert_eq!(turn.stop == Stop::Call, !turn.calls.is_empty());
    let call = |call: &ModelCall| match &call.arguments {
        Arguments::Object(object) => format!("{} {object}", call.tool_name),
        Arguments::Text(text) => format!("{} text {text}", call.tool_name),
    };
    (turn.calls.iter().map(call).collect(), turn.text)
}

#[test]
fn every_form_of_a_call_is_recognised() {
    let wait = r#"wait {"ms":1.10}"#;
    for (text, found, left) in [
        (r#"function_call: name=wait args={"ms":1.10}"#, vec![wait], ""),
        ("I wait.\nfunction_call: name=\"wait\", args={\"ms\":1.10}", vec![wait], "I wait."),
        ("function_call: name=look", vec!["look {}"], ""),
        ("function_call: name=wait args={'ms': 1}\n", vec!["wait text {'ms': 1}"], ""),
        (r#"Hm <tool_call>{"name":"wait","arguments":{"ms":1.10}}</tool_call>"#, vec![wait], "Hm"),
        (
            "<tool_call>\n{\"name\":\"look\"}\n</tool_call>\n<tool_call>\n{\"name\":\"wait\",\"arguments\":\"{\\\"ms\\\":1.10}\"}\n</tool_call>",
            vec!["look {}", wait],
            "",
        ),
        (
            "<tool_call>\n<function=wait>\n<parameter=ms>\n1.10\n</parameter>\n<parameter=why>\n7\n</parameter>\n</function>\n</tool_call>",
            vec![r#"wait {"ms":1.10,"why":"7"}"#],
            "",
        ),
        (
            r#"[TOOL_CALLS][{"name":"look","arguments":{}},{"name":"wait","arguments":{"ms":1.10}}]"#,
            vec!["look {}", wait],
            "",
        ),
        (r#"[TOOL_CALL]{"tool":"wait","args":{"ms":1.10}}[/TOOL_CALL]"#, vec![wait], ""),
        (r#"<|python_tag|>{"name":"wait","parameters":{"ms":1.10}}"#, vec![wait], ""),
        ("Now:\n```json\n{\"tool\":\"wait\",\"args\":{\"ms\":1.10}}\n```", vec![wait], "Now:"),
        (r#" {"mode":"act","tool":"wait","args":{"ms":1.10}} "#, vec![wait], ""),
        (r#"{"mode":"ask","question":"Which?"}"#, vec![r#"assistant_ask {"question":"Which?"}"#], ""),
        (r#"{"mode":"done","args":{"reason":"r"}}"#, vec![r#"assistant_done {"reason":"r"}"#], ""),
        (r#"{"type":"function","function":{"name":"wait","arguments":"{\"ms\":1.10}"}}"#, vec![wait], ""),
    ] {
        let (calls, rest) = read(text);
        assert_eq!((calls, &*rest), (found.iter().map(|call| (*call).to_owned()).collect(), left), "{text}");
    }
}

#[test]
fn the_forms_of_models_are_recognised() {
    let wait = r#"wait {"ms":5}"#;
    for (text, found) in [
        ("<|tool_call_start|>[wait(ms=5)]<|tool_call_end|>", vec![wait]),
        ("<longcat_tool_call>{\"name\":\"wait\",\"arguments\":{\"ms\":5}}</longcat_tool_call>", vec![wait]),
        ("<seed:tool_call>\n<function=wait>\n<parameter=ms>5</parameter>\n</function>\n</seed:tool_call>", vec![wait]),
        ("<|action_start|><|plugin|>{\"name\":\"wait\",\"parameters\":{\"ms\":5}}<|action_end|>", vec![wait]),
        ("<tool_call>wait\n<arg_key>ms</arg_key>\n<arg_value>5</arg_value>\n</tool_call>", vec![wait]),
        (
            "<tool_call>look\n</tool_call><tool_call>wait<arg_key>ms</arg_key><arg_value>5</arg_value></tool_call>",
            vec!["look {}", wait],
        ),
        (
            "I wait. <|tool_calls_section_begin|><|tool_call_begin|>functions.wait:0<|tool_call_argument_begin|>{\"ms\":5}<|tool_call_end|><|tool_calls_section_end|>",
            vec![wait],
        ),
        ("<|tool_call_begin|>look:1<|tool_call_argument_begin|>{}<|tool_call_end|>", vec!["look {}"]),
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>wait\n```json\n{\"ms\":5}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            vec![wait],
        ),
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁call▁begin｜>wait<｜tool▁sep｜>{\"ms\":5}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            vec!["look {}", wait],
        ),
        ("[TOOL_CALLS]wait[ARGS]{\"ms\":5}", vec![wait]),
        ("[TOOL_CALLS]look[CALL_ID]Ab3dE5gH7[ARGS]{}[TOOL_CALLS]wait[ARGS]{\"ms\":5}</s>", vec!["look {}", wait]),
        ("<|channel|>commentary to=functions.wait <|constrain|>json<|message|>{\"ms\":5}<|call|>", vec![wait]),
        (
            "<|channel|>analysis<|message|>I wait.<|end|><|start|>assistant<|channel|>commentary to=functions.wait <|message|>{\"ms\":5}<|call|>",
            vec![wait],
        ),
        ("I wait.\n<function=wait>\n<parameter=ms>\n5\n</parameter>\n</function>\n</tool_call>", vec![wait]),
        ("<function=wait>{\"ms\":5}</function>", vec![wait]),
        (
            "<minimax:tool_call>\n<invoke name=\"wait\">\n<parameter name=\"ms\">5</parameter>\n</invoke>\n</minimax:tool_call>",
            vec![wait],
        ),
        (
            "<｜DSML｜function_calls><｜DSML｜invoke name=\"wait\"><｜DSML｜parameter name=\"ms\" string=\"false\">5</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
            vec![wait],
        ),
        ("<|tool_call|>[{\"name\":\"wait\",\"arguments\":{\"ms\":5}}]<|/tool_call|>", vec![wait]),
        ("[wait(ms=5)]", vec![wait]),
        ("[look(), wait(ms=5, why='a, (b)')]", vec!["look {}", r#"wait {"ms":5,"why":"a, (b)"}"#]),
        ("```tool_code\nwait(ms=5)\n```", vec![wait]),
        ("<tools>\n{\"name\": \"wait\", \"arguments\": {\"ms\":5}}\n</tools>", vec![wait]),
        ("```\n{\"name\": \"wait\", \"arguments\": {\"ms\":5}}\n```", vec![wait]),
        ("<|tool_call_start|>[wait(ms=5)]<|tool_call_end|>", vec![wait]),
        ("<longcat_tool_call>{\"name\":\"wait\",\"arguments\":{\"ms\":5}}</longcat_tool_call>", vec![wait]),
        ("<seed:tool_call>\n<function=wait>\n<parameter=ms>5</parameter>\n</function>\n</seed:tool_call>", vec![wait]),
        ("<|action_start|><|plugin|>{\"name\":\"wait\",\"parameters\":{\"ms\":5}}<|action_end|>", vec![wait]),
        ("[{\"name\": \"look\"}, {\"name\": \"wait\", \"arguments\": {\"ms\":5}}]", vec!["look {}", wait]),
        ("<tool_call>\n{\"name\": \"wait\", \"arguments\": {\"ms\":5,}}\n</tool_call>", vec![wait]),
        ("<tool_call>\n{'name': 'wait', 'arguments': {'ms': 5}}\n</tool_call>", vec![r#"wait {"ms": 5}"#]),
    ] {
        assert_eq!(read(text).0, found, "{text}");
    }
}

#[test]
fn an_incomplete_or_foreign_call_of_any_form_is_none() {
    for text in [
        "<tool_call>wait\n<arg_key>ms</arg_key>\n<arg_value>5",
        "<tool_call>rm\n</tool_call>",
        "<|tool_call_begin|>functions.wait:0<|tool_call_argument_begin|>{\"ms\":5}",
        "<|tool_call_begin|>functions.rm:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
        "<｜tool▁call▁begin｜>wait<｜tool▁sep｜>{\"ms\":5",
        "[TOOL_CALLS]wait[ARGS]{\"ms\":",
        "<function=wait>\n<parameter=ms>\n5\n</parameter>",
        "<minimax:tool_call>\n<invoke name=\"wait\">\n<parameter name=\"ms\">5</parameter>",
        "<tool_call>\n{\"name\": \"wait\", \"arguments\": {\"ms\":5}\n</tool_call>",
        "[wait(ms=5]",
        "[wait(5)]",
        "[wait(ms=5), rm()]",
        "I would write [wait(ms=5)]",
        "[wait(ms=5)] is the form.",
        "The list is <tools>{\"name\":\"look\"}</tools>",
        "```text\n{\"name\": \"look\"}\n```",
        "So:\n```\n{\"name\": \"look\"}\n```",
        "<function=look></function> is the form.",
        "> <|tool_call_begin|>look:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
        "`<function=look></function>`, I think",
    ] {
        assert_eq!(read(text).0, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn other_text_than_calls_of_offered_tools_is_unchanged() {
    for text in [
        "function_call: name=rm args={}",
        "function_call: see the manual",
        r#"<tool_call>{"name":"rm","arguments":{}}</tool_call>"#,
        r#"<tool_call>{"name":"look""#,
        "<tool_call><function=look><parameter=a>1",
        r#"[TOOL_CALLS][{"name":"look"},{"name":"rm"}]"#,
        "[TOOL_CALLS][]",
        "```json\n{\"name\":7}\n```",
        r#"{"name":"rm"}"#,
        r#"{"name":"look"} is what I would write"#,
        "<think>function_call: name=look",
    ] {
        assert_eq!(read(text), (Vec::new(), text.to_owned()));
    }
}

#[test]
fn values_in_tags_are_kept_and_only_those_of_another_type_are_read_as_json() {
    let schema = r##"{"properties":{"text":{"type":"string"},"maybe":{"type":["string","null"]},"any":{"anyOf":[{"type":"string"},{"type":"null"}]},"n":{"type":"integer"},"list":{"type":"array","items":{"type":"string"}},
        "code":{"enum":["1","2"]},"one":{"const":"null"},"zip":{"pattern":"[0-9]+"},"day":{"format":"date"},"level":{"enum":[1,2]},
        "named":{"$ref":"#/$defs/a"},"either":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]},"all":{"allOf":[{"$ref":"#/$defs/a"}]},"both":{"oneOf":[{"type":"integer"},{"const":null}]}}}"##;
    let request = request(&format!(
        r#""messages":[{{"role":"user","content":"x"}}],"tools":[{{"name":"write","input_schema":{schema}}}]"#
    ));
    let read = |name: &str, value: &str| {
        let text = format!("<tool_call><function=write><parameter={name}>{value}</parameter></function></tool_call>");
        calls(&recognise(turn(&text), &request))
    };
    for (name, value, json) in [
        ("text", "\n\n a &lt;b>\t\r\n\n", r#""\n a &lt;b>\t\r\n""#),
        ("text", "\r\n007\r\n", r#""007""#),
        ("text", "{\"a\":\n1}", r#""{\"a\":\n1}""#),
        ("maybe", "12345678901234567890", r#""12345678901234567890""#),
        ("any", "1.10", r#""1.10""#),
        ("n", "\n1.10\n", "1.10"),
        ("list", "[\"a\",\n\"b\"]", r#"["a", "b"]"#),
        ("other", "true", r#""true""#),
        ("other", "[1]", "[1]"),
        ("code", "1", r#""1""#),
        ("one", "null", r#""null""#),
        ("zip", "00501", r#""00501""#),
        ("day", "2026", r#""2026""#),
        ("level", "2", "2"),
        ("named", "1.10", r#""1.10""#),
        ("either", "1.10", r#""1.10""#),
        ("either", "{\"a\":1}", r#"{"a":1}"#),
        ("all", "1.10", r#""1.10""#),
        ("both", "1", "1"),
        ("other", "007", r#""007""#),
    ] {
        let expected = format!(r#"{{"call_id":"call_1","tool_name":"write","arguments":{{"{name}":{json}}}}}"#);
        assert_eq!(read(name, value), expected, "{value:?}");
    }
}

#[test]
fn arguments_in_another_form_are_not_left_out() {
    for (text, found) in [
        ("function_call: name=wait ms=5", Some("wait text ms=5")),
        (r#"function_call: name=wait arguments={"ms":5}"#, Some(r#"wait text arguments={"ms":5}"#)),
        (r#"function_call: name=wait args={"ms":5}, {"ms":6}"#, Some(r#"wait text {"ms":5}, {"ms":6}"#)),
        ("function_call: name=wait args=", Some("wait text ")),
        (r#"{"name":"wait","params":{"ms":5}}"#, None),
        (r#"{"name":"wait","args":{},"input":{"ms":5}}"#, None),
        (r#"{"name":"wait","description":"d","parameters":{"type":"object"}}"#, None),
        (r#"<tool_call>{"name":"wait","ms":5}</tool_call>"#, None),
        (r#"{"name":"wait","arguments":{},"kwargs":{"ms":5}}"#, None),
        (r#"{"name":"wait","arguments":{},"list":[5]}"#, None),
        (r#"{"name":"wait","arguments":{"ms":5},"thought":"t"}"#, Some(r#"wait {"ms":5}"#)),
        (r#"{"function":{"name":"wait"},"arguments":{"ms":5}}"#, Some(r#"wait {"ms":5}"#)),
        (r#"{"function":{"name":"wait","arguments":{}},"arguments":{"ms":5}}"#, None),
        (r#"{"function":{"name":"wait"},"kwargs":{"ms":5}}"#, None),
        (r#"{"name":"wait","parameters":{"type":"object","properties":{"ms":{"type":"integer"}}}}"#, None),
        (r#"{"name":"wait","parameters":"{\"type\":\"object\"}"}"#, None),
    ] {
        assert_eq!(read(text).0, Vec::from_iter(found.map(str::to_owned)), "{text}");
    }
}

#[test]
fn of_several_calls_only_those_that_end_the_text_are_found() {
    let tag = |name: &str| format!("<tool_call>{{\"name\":\"{name}\"}}</tool_call>");
    let (look, wait) = (tag("look"), tag("wait"));
    for (text, found) in [
        (format!("`{look}` is the form.\n{wait}"), vec!["wait {}"]),
        (format!("> {look}\n\n{wait}\n{look}"), vec!["wait {}", "look {}"]),
        (format!("```\n{look}\n```\n{wait}<|im_end|>"), vec!["wait {}"]),
        (format!("{look}\n</think>\n{wait}"), vec!["wait {}"]),
        ("The page says: function_call: name=look args={}. So:\nfunction_call: name=wait".to_owned(), vec!["wait {}"]),
        (format!("- function_call: name=wait\n> {look}"), vec![]),
        // The second may depend on the first.
        (format!("First {look} and then {wait}"), vec![]),
        (format!("{look}{wait} would do it."), vec![]),
        (format!("{look}\n<tool_call>{{\"name\":"), vec![]),
        (format!("{look}\n<tool_call>{{\"name\":\"rm\"}}</tool_call>"), vec![]),
    ] {
        assert_eq!(read(&text).0, found, "{text}");
    }
}

#[test]
fn an_object_that_says_that_it_is_something_else_is_no_call() {
    for (field, is_call) in [
        (r#""mode":"act""#, true),
        (r#""mode":null"#, true),
        (r#""type":"function""#, true),
        (r#""type":"tool_use""#, true),
        (r#""action":"look""#, true),
        (r#""mode":"refuse""#, false),
        (r#""mode":"plan""#, false),
        (r#""mode":"ask""#, false),
        (r#""type":"error""#, false),
        (r#""type":7"#, false),
        (r#""action":"none""#, false),
        (r#""tool":"wait""#, false),
        (r#""tool":{"name":"wait"}"#, false),
    ] {
        for text in [
            format!(r#"{{{field},"name":"look","args":{{}}}}"#),
            format!(r#"{{{field},"function":{{"name":"look","args":{{}}}}}}"#),
            format!(r#"{{"function":{{{field},"name":"look","args":{{}}}}}}"#),
        ] {
            assert_eq!(read(&text).0.len(), usize::from(is_call), "{text}");
        }
    }
    assert_eq!(read(r#"{"action":"look","input":{}}"#).0, ["look {}"]);
    assert_eq!(read(r#"{"action":"none","mode":"ask","question":"q"}"#).0, Vec::<String>::new());
}

#[test]
fn text_in_the_arguments_of_another_call_is_not_called() {
    let line = "function_call: name=look args={}";
    let tags = "<tool_call>\n<function=wait>\n<parameter=why>\nThe doc says:\n</think>\n";
    for text in [
        format!("{tags}{line}\n</parameter>\n</function>\n</tool_call>"),
        format!("{tags}{line}"),
        format!("{tags}<tool_call>{{\"name\":\"look\"}}</tool_call>"),
        format!("{{\"name\":\"wait\",\"arguments\":{{\"why\":\"\n</think>\n{line}"),
        format!("<tool_call>{{\"name\":\"wait\",\"arguments\":{{\"why\":\"</think>\n{line}"),
        format!("[TOOL_CALLS][{{\"name\":\"wait\",\"arguments\":{{\"why\":\"\n</think>\n{line}"),
        format!("```json\n{{\"name\":\"wait\",\"arguments\":{{\"why\":\"\n</think>\n{line}"),
        format!("function_call: name=wait args={{\"why\":\"\n</think>\n{line}"),
        format!("function_call: name=wait args={{\"why\":\"\n{line}\n\"}}"),
        format!("{{\"page\":\"x</think>{line}\"}}"),
    ] {
        assert_eq!(read(&text).0, Vec::<String>::new(), "{text}");
    }
    let why = format!("x</think>{line} y");
    let whole = format!("{{\"name\":\"wait\",\"arguments\":{{\"why\":\"{why}\"}}}}");
    assert_eq!(read(&whole).0, [format!("wait {{\"why\":\"{why}\"}}")]);
    assert_eq!(read(&format!("<tool_call>{whole}</tool_call>")).0, Vec::<String>::new());
}

#[test]
fn a_call_that_other_text_follows_is_quoted() {
    let line = r#"function_call: name=look args={}"#;
    let tag = "<tool_call>{\"name\":\"look\"}</tool_call>";
    for call in [line, tag] {
        for frame in [
            "The page contains these instructions:\nCALL\nI will not follow them.",
            "\"\"\"\nCALL\n\"\"\"",
            "<pre>\nCALL\n</pre>",
            "<example>\nCALL\n</example>",
            "{\"text\":\"\nCALL\n\"}",
            "<invoke name=\"wait\"><parameter name=\"why\">\nCALL\n</parameter></invoke>",
            "It says:\n\n    CALL",
            "It says:\n\tCALL",
            "- CALL",
            "1. CALL",
            "function_result: name=wait\nok\nCALL",
            "CALL<|im_end|>\nThat was a mistake.",
            "CALL</s>\n<|im_start|>user\nNo.",
            "````\n```\nCALL\n```\nCALL",
            "```\na\n~~~\nCALL",
            "```\na\n``` b\nCALL",
            "- ```\n  a\nCALL",
        ] {
            let text = frame.replace("CALL", call);
            assert_eq!(read(&text).0, Vec::<String>::new(), "{text}");
        }
        for frame in ["CALL<|im_end|>\n<|endoftext|></s>", "CALL\nfunction_result: name=look\nok", "\n    CALL\n"] {
            let text = frame.replace("CALL", call);
            assert_eq!(read(&text).0, ["look {}"], "{text}");
        }
    }
    let next_line = "function_call: name=wait\nargs={\"ms\":5}";
    assert_eq!(read(next_line).0, Vec::<String>::new());
}

#[test]
fn reasoning_before_a_call_is_reasoning() {
    let text = "\n<think>\nfunction_call: name=look\n</think>\n\nI look. function_call: name=wait args={\"ms\":1}";
    let turn = recognise(turn(text), &offered());
    assert_eq!((&*turn.reasoning, &*turn.text), ("function_call: name=look", "I look."));
    assert_eq!(calls(&turn), r#"{"call_id":"call_1","tool_name":"wait","arguments":{"ms":1}}"#);
}

#[test]
fn only_a_complete_turn_without_calls_is_searched() {
    let text = "function_call: name=look";
    let with = |change: fn(&mut ModelTurn, &mut ModelRequest)| {
        let (mut turn, mut request) = (turn(text), offered());
        change(&mut turn, &mut request);
        recognise(turn, &request).text == text
    };
    assert!(!with(|_, _| {}));
    assert!(with(|turn, _| turn.stop = Stop::Length));
    assert!(with(|_, request| request.tool_choice = ToolChoice::None));
    assert!(with(|_, request| request.tools.clear()));
    assert!(with(|turn, _| turn.calls.push(ModelCall {
        call_id: "c".to_owned(),
        tool_name: "look".to_owned(),
        arguments: Arguments::Text(String::new()),
    })));
}

#[test]
fn a_request_without_tools_has_the_same_content_as_text() {
    let request = request(&format!(
        r#""system":"S","tool_choice":"any",{TOOLS},"messages":[{{"role":"user","content":"go"}},
        {{"role":"assistant","turn":{{"provider":"ollama","model":"m","text":"I wait.","raw":{{}},"calls":[{{"call_id":"a","tool_name":"wait","arguments":{{"ms":1.10}}}},{{"call_id":"b","tool_name":"look","arguments":{{}}}}]}}}},
        {{"role":"tool","call_id":"a","content":"ok"}},{{"role":"tool","call_id":"b","content":"no","is_error":true}},{{"role":"user","content":"on"}},
        {{"role":"assistant","turn":{{"provider":"ollama","model":"m","text":"t","raw":{{"content":"t"}}}}}}]"#
    ));
    let body = ChatServer::OLLAMA.encode(&without_tools(&request), "m").unwrap();
    let system = describe(&request) + "\nCall a tool in every answer.";
    assert!(
        body.contains(&format!(r#""content":{}"#, pipewright_record::json::quoted(&format!("S\n\n{system}")))),
        "{body}"
    );
    assert!(!body.contains(r#""tools":"#), "{body}");
    let part = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let results =
        ["function_result: name=wait", "ok", "function_result: name=look error", "no", "on"].map(part).join(",");
    let expected = format!(
        r#"{{"role":"user","content":"go"}},{{"role":"assistant","content":"I wait.\nfunction_call: name=wait args={{\"ms\":1.10}}\nfunction_call: name=look args={{}}"}},{{"role":"user","content":[{results}]}},{{"content":"t"}}]}}"#
    );
    assert!(body.ends_with(&expected), "{body}");
}

proptest! {
    #[test]
    fn calls_in_the_described_form_are_recognised(texts in prop::collection::vec(".{0,20}", 1..4)) {
        let call = |text: &String| {
            let object = pipewright_record::json::Object::default().text("why", text).end();
            ModelCall { call_id: String::new(), tool_name: "wait".to_owned(), arguments: Arguments::Object(RawValue::from_string(object).unwrap()) }
        };
        let written: Vec<ModelCall> = texts.iter().map(call).collect();
        let lines: Vec<String> = written.iter().map(line).collect();
        let (calls, left) = read(&lines.join("\n"));
        let expected: Vec<String> = texts.iter().map(|text| format!("wait {{\"why\":{}}}", pipewright_record::json::quoted(text))).collect();
        prop_assert_eq!((calls, left), (expected, String::new()));
    }

    #[test]
    fn a_quoted_call_is_never_found(before in "[a-z][^`]{0,20}", after in ".{0,20}", form in 0..3usize) {
        let call = ["function_call: name=look", "<tool_call>{\"name\":\"look\"}</tool_call>", "```json\n{\"name\":\"look\"}\n```"][form];
        for text in [
            format!("{before}\n{call}\n{after}</think>No."),
            format!("{before}\n<reasoning>\n{call}\n{after}"),
            format!("{before}\n~~~\n{call}\n~~~\n{after}"),
            format!("{before}\n> {call}"),
        ] {
            prop_assert_eq!(&read(&text).0, &Vec::<String>::new(), "{}", text);
        }
    }
}
