//! Which calls of a model's answer reach the world: none that is incomplete or only quoted, and none with another text than the model wrote.

use super::Run;
use crate::llm_pipe::server::{Reply, Server};
use crate::process::{binary, command, example, pipe};
use serde_json::{Value, json};

/// A run over the stand-in world whose model answers with these events (JSON texts), and then fails.
fn run(model: &str, events: Vec<String>) -> Run {
    let server = Server::start(move |_, before| match before {
        0 => Reply::stream(&events.iter().map(String::as_str).collect::<Vec<_>>()),
        _ => Reply::error(400, r#"{"error":{"message":"that was all"}}"#),
    });
    let llm = format!("'{}' -m {model} --retries 0 --base-url {}", binary("llm-pipe").display(), server.url);
    let mut agent = command("agent-loop");
    agent.args(["--llm", &llm, "--goal", "g", "--"]).arg(example("stand-in-world"));
    Run::of(pipe(&mut agent, b""))
}

/// The calls that reach the world, each as `NAME ARGUMENTS`.
fn made(model: &str, events: Vec<String>) -> Vec<String> {
    let run = run(model, events);
    let call = |record: &&Value| format!("{} {}", record["tool_name"].as_str().unwrap(), record["arguments"]);
    assert!(run.stderr.contains("that was all") || run.last()["outcome"] == "failed", "{}", run.stderr);
    run.of_type("tool_call").iter().map(call).collect()
}

/// A stream of Chat Completions with these deltas.
fn chat(deltas: &[Value], finish: Value) -> Vec<String> {
    let chunk =
        |delta: &Value, finish: &Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let begin = json!({"role": "assistant", "content": null});
    let deltas = [&begin].into_iter().chain(deltas).map(|delta| chunk(delta, &Value::Null).to_string());
    deltas.chain([chunk(&json!({}), &finish).to_string(), "[DONE]".to_owned()]).collect()
}

/// Deltas with these pieces of calls.
fn pieces(pieces: &[Value]) -> Vec<Value> {
    pieces.iter().map(|piece| json!({"tool_calls": [piece]})).collect()
}

fn text(text: &str) -> Vec<String> {
    chat(&[json!({"content": text})], json!("stop"))
}

/// The first piece of a call.
fn begun(index: u64, name: &str, arguments: &str) -> Value {
    json!({"index": index, "id": format!("c{index}"), "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[test]
fn an_argument_reaches_the_world_as_the_model_wrote_it_or_not_at_all() {
    let one = |arguments: &str| made("vllm/m", chat(&pieces(&[begun(0, "echo", arguments)]), json!("tool_calls")));
    let message = |text: &str| vec![format!("echo {}", json!({"message": text}))];
    for text in ["def f():\n    return 1\n", "a\r\n\n\tb", "\r", "a\u{0}\u{1f}b", "\\\n"] {
        assert_eq!(
            one(&format!("{{\n\t\"message\": \"{}\"\r\n}}", text.replace('\\', "\\\\"))),
            message(text),
            "{text:?}"
        );
    }
    assert_eq!(one(r#"{"message":"&lt; \ud83d\ude00 <b>\u0000"}"#), message("&lt; \u{1f600} <b>\u{0}"));
    for refused in [
        "{\"message\":\"a\\\nb\"}",
        r#"{"message":"a\qb"}"#,
        r#"{"message":"a",}"#,
        "{'message':'a'}",
        r#"{"message":"a"}{"message":"a"}"#,
        r#"{}{"message":"a"}"#,
        r#""{\"message\":\"a\"}""#,
    ] {
        assert_eq!(one(refused), Vec::<String>::new(), "{refused}");
    }
    // Half of a surrogate pair in the server's own JSON is no character that the arguments could keep.
    let lone = chat(&pieces(&[begun(0, "echo", r#"{"message":"HALF"}"#)]), json!("tool_calls"));
    let lone = |half: &str| lone.iter().map(|event| event.replace("HALF", half)).collect::<Vec<_>>();
    assert_eq!(made("vllm/m", lone("\\ud83d")), Vec::<String>::new());
    assert_eq!(made("vllm/m", lone("\\ud83d\\ude00")), message("\u{1f600}"));
    let written = |half: &str| {
        text(r#"function_call: name=echo args={"message":"HALF"}"#)
            .iter()
            .map(|event| event.replace("HALF", half))
            .collect()
    };
    assert_eq!(made("vllm/m", written("\\udc00")), Vec::<String>::new());
    assert_eq!(made("vllm/m", written("x\\\\ny")), message("x\ny"));
}

#[test]
fn a_quoted_call_is_not_made() {
    let call = r#"<tool_call>{"name":"echo","arguments":{"message":"quoted"}}</tool_call>"#;
    let line = r#"function_call: name=echo args={"message":"quoted"}"#;
    let fence = "```json\n{\"name\":\"echo\",\"arguments\":{\"message\":\"quoted\"}}\n```";
    for call in [call, line, fence] {
        for frame in [
            "I could write\nCALL\nbut not yet.\n</think>\n\nShall I?",
            "CALL</think>I ask first.",
            "<thinking>\nCALL\n</thinking>\nNo.",
            "[THINK]CALL[/THINK]No.",
            "<think>CALL",
            "No.\n<reasoning>\nCALL\n",
            "\u{25c1}think\u{25b7}CALL\n\u{25c1}/think\u{25b7}No.",
            "<|channel|>analysis<|message|>\nCALL\n<|end|><|start|>assistant<|channel|>final<|message|>No.",
            "> CALL\n\nsays the page.",
            "The page says:\n> CALL",
            "Write it so: `CALL`",
            "The form:\n```\nCALL\n```\nIs that right?",
            "The form:\n~~~text\nCALL\n~~~",
            "<!-- CALL -->",
            "For example:\nCALL",
            "I could call\nCALL\nbut I do not.",
            "CALL<|im_end|>\nThat was a mistake.",
            "The page says:\n\n    CALL",
        ] {
            assert_eq!(made("vllm/m", text(&frame.replace("CALL", call))), Vec::<String>::new(), "{frame} {call}");
        }
    }
    // A call in an argument of another one, whose own JSON cannot be read.
    let within = format!("<tool_call>{{\"name\":\"say\",\"arguments\":{{\"line\":\"\n{line}\n\"}}</tool_call>");
    assert_eq!(made("vllm/m", text(&within)), Vec::<String>::new());
    let within = format!("<tool_call><function=say><parameter=line>{call}</parameter></function></tool_call>");
    assert_eq!(made("vllm/m", text(&within)), Vec::<String>::new());
    let within = format!("<tool_call>\n<function=say>\n<parameter=line>\nIt says:\n</think>\n{line}\n</parameter>");
    assert_eq!(made("vllm/m", text(&within)), Vec::<String>::new());
    let reasoned = [json!({"reasoning_content": line}), json!({"content": ""})];
    assert_eq!(made("vllm/m", chat(&reasoned, json!("stop"))), Vec::<String>::new());
    // A text that was cut.
    assert_eq!(made("vllm/m", chat(&[json!({"content": call})], json!("length"))), Vec::<String>::new());
}

#[test]
fn a_real_call_beside_a_quoted_one_is_made() {
    let real = [r#"echo {"message":"real"}"#];
    for (said, form) in [
        ("Not <tool_call>{\"name\":\"echo\"}</tool_call>\n</think>\n\nREAL", "tag"),
        ("`<tool_call>{...}</tool_call>` is the form.\nREAL", "tag"),
        ("> function_call: name=echo args={}\nis not what I do.\n\nREAL", "tag"),
        ("```\nREAL\n```", "line"),
        ("`REAL`", "line"),
        ("REAL<|im_end|>", "tag"),
    ] {
        let call = match form {
            "tag" => r#"<tool_call>{"name":"echo","arguments":{"message":"real"}}</tool_call>"#,
            _ => r#"function_call: name=echo args={"message":"real"}"#,
        };
        assert_eq!(made("vllm/m", text(&said.replace("REAL", call))), real, "{said}");
    }
}

#[test]
fn an_incomplete_call_is_not_made() {
    let whole = r#"{"message":"x"}"#;
    let nameless = |index: u64| json!({"index": index, "id": null, "function": {"name": null, "arguments": whole}});
    let empty = begun(0, "echo", "");
    let calls = |deltas: &[Value], finish: Value| made("vllm/m", chat(&pieces(deltas), finish));
    let call = json!("tool_calls");
    for deltas in [
        vec![empty.clone(), nameless(1)],
        vec![empty.clone(), nameless(7)],
        vec![nameless(0)],
        vec![begun(0, "echo", "{}"), nameless(1)],
        // Another id in each piece; pieces without an index of calls that have one.
        vec![empty.clone(), json!({"index": 0, "id": "new", "function": {"arguments": whole}})],
        vec![empty.clone(), begun(1, "echo", ""), json!({"function": {"arguments": whole}})],
        // Pieces that cannot be told apart.
        vec![
            json!({"id": "a", "function": {"name": "echo", "arguments": ""}}),
            json!({"id": "b", "function": {"name": "echo", "arguments": ""}}),
            json!({"function": {"arguments": whole}}),
            json!({"function": {"arguments": whole}}),
        ],
        // Arguments of another kind than a text or an object.
        vec![json!({"index": 0, "id": "a", "function": {"name": "echo", "arguments": ["x"]}})],
        vec![
            json!({"index": 0, "id": "a", "function": {"name": "echo", "arguments": "{\"m"}}),
            json!({"index": 0, "function": {"arguments": 7}}),
        ],
        vec![json!({"index": 0, "id": "a", "function": {"name": "echo", "arguments": "", "Arguments": whole}})],
        // Arguments of the same name under another index, and in other places.
        vec![empty.clone(), begun(1, "echo", whole)],
        vec![
            json!({"index": 0, "function": {"name": "echo"}}),
            json!({"index": 1, "function": {"name": "echo", "arguments": whole}}),
        ],
        vec![json!({"index": 0, "id": "a", "function": {"name": "echo", "parameters": {"message": "x"}}})],
        vec![json!({"index": 0, "id": "a", "function": {"name": "echo", "arguments": "{}", "args": whole}})],
        vec![json!({"index": 0, "id": "a", "function": {"name": "echo", "input": {"message": "x"}}})],
        vec![json!({"index": 0, "id": "a", "function": {"name": "echo", "values": {"message": "x"}}})],
        vec![json!({"index": 0, "id": "a", "function": {"name": "echo"}, "arguments": whole})],
        vec![json!({"index": 0, "id": "a", "function": {"name": "echo"}, "custom": {"input": whole}})],
    ] {
        assert_eq!(calls(&deltas, call.clone()), Vec::<String>::new(), "{deltas:?}");
    }
    for finish in ["length", "content_filter", "model_length"] {
        for arguments in ["", "{}", "{\"message\":\"x", whole] {
            assert_eq!(
                calls(&[begun(0, "echo", arguments)], json!(finish)),
                Vec::<String>::new(),
                "{finish} {arguments}"
            );
        }
        let both = [begun(0, "echo", whole), begun(1, "echo", "{\"message\":\"y")];
        assert_eq!(calls(&both, json!(finish)), [format!("echo {whole}")], "{finish}");
    }
    for finish in ["abort", "error", "cancelled", "insufficient_system_resource"] {
        assert_eq!(calls(&[begun(0, "echo", whole)], json!(finish)), Vec::<String>::new(), "{finish}");
    }
    for finish in [Value::Null, json!("eos")] {
        assert_eq!(calls(std::slice::from_ref(&empty), finish.clone()), Vec::<String>::new(), "{finish}");
    }
    assert_eq!(calls(&[begun(0, "echo", whole)], json!("eos")), [format!("echo {whole}")]);
    // Without a reason for the end, another call may be missing.
    assert_eq!(calls(&[begun(0, "echo", whole)], Value::Null), Vec::<String>::new());
    // A piece of nothing is no call.
    for nothing in [json!({"index": 1}), json!({"index": 1, "function": {"name": "", "arguments": ""}})] {
        assert_eq!(calls(&[begun(0, "echo", whole), nothing], call.clone()), [format!("echo {whole}")]);
    }
    let old = [json!({"tool_calls": [empty]}), json!({"function_call": {"arguments": whole}})];
    assert_eq!(made("vllm/m", chat(&old, call.clone())), Vec::<String>::new());
    let cut = chat(&pieces(std::slice::from_ref(&empty)), Value::Null);
    assert_eq!(made("vllm/m", cut[..2].to_vec()), Vec::<String>::new());
    // Required by its schema; without arguments, a call may be complete.
    assert_eq!(calls(&[begun(0, "region", "{}")], call.clone()), Vec::<String>::new());
    assert_eq!(calls(&[empty], call), ["echo {}"]);
    for said in [
        "function_call: name=echo arguments={\"message\":\"x\"}",
        "function_call: name=echo args={\"message\":\"x\"",
        "{\"name\":\"echo\",\"params\":{\"message\":\"x\"}}",
        "<tool_call>{\"name\":\"echo\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"}}</tool_call>",
        "<tool_call><function=echo><parameter=message>x</parameter>",
    ] {
        assert_eq!(made("vllm/m", text(said)), Vec::<String>::new(), "{said}");
    }
}

#[test]
fn an_incomplete_call_of_any_provider_is_not_made() {
    let anthropic = |input: Value, events: &[Value]| {
        let block = json!({"type": "tool_use", "id": "a", "name": "echo", "input": input});
        let begin = json!({"type": "content_block_start", "index": 0, "content_block": block});
        let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
        let events = [begin].into_iter().chain(events.iter().cloned()).chain([end, json!({"type": "message_stop"})]);
        made("anthropic/m", events.map(|event| event.to_string()).collect())
    };
    let piece = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"message\":\"x\"}"}});
    let stop = json!({"type": "content_block_stop", "index": 0});
    assert_eq!(anthropic(json!({}), &[piece.clone(), stop.clone()]), [r#"echo {"message":"x"}"#]);
    // A block that does not end, and arguments both in its beginning and in pieces.
    assert_eq!(anthropic(json!({}), &[]), Vec::<String>::new());
    assert_eq!(anthropic(json!({"message": "y"}), &[piece, stop]), Vec::<String>::new());
    // Pieces under the index of a block that has no input, and arguments under another name.
    let text_block = json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}});
    let strayed = json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"message\":\"x\"}"}});
    let stop = json!({"type": "content_block_stop", "index": 0});
    assert_eq!(anthropic(json!({}), &[text_block, strayed, stop.clone()]), Vec::<String>::new());
    assert_eq!(anthropic(json!({}), &[stop]), ["echo {}"]);
    let interactions = |events: &[Value]| {
        let begin = json!({"event_type": "step.start", "index": 0, "step": {"type": "function_call", "id": "a", "name": "echo", "arguments": {}}});
        let end = json!({"event_type": "interaction.completed", "interaction": {"status": "requires_action"}});
        let events = [begin].into_iter().chain(events.iter().cloned()).chain([end]);
        made("gemini-interactions/m", events.map(|event| event.to_string()).collect())
    };
    assert_eq!(interactions(&[json!({"event_type": "step.stop", "index": 0})]), ["echo {}"]);
    assert_eq!(interactions(&[]), Vec::<String>::new());
    let gemini = |call: Value| {
        made(
            "gemini/m",
            vec![
                json!({"candidates": [{"content": {"parts": [{"functionCall": call}]}, "finishReason": "STOP"}]})
                    .to_string(),
            ],
        )
    };
    assert_eq!(gemini(json!({"name": "echo", "args": {"message": "x"}})), [r#"echo {"message":"x"}"#]);
    assert_eq!(gemini(json!({"name": "echo"})), ["echo {}"]);
    for key in ["arguments", "input", "values"] {
        assert_eq!(gemini(json!({"name": "echo", key: {"message": "x"}})), Vec::<String>::new(), "{key}");
    }
    assert_eq!(gemini(json!({"name": "echo", "willContinue": true})), Vec::<String>::new());
    assert_eq!(
        gemini(json!({"name": "echo", "partialArgs": [{"jsonPath": "$.message", "stringValue": "x"}]})),
        Vec::<String>::new()
    );
    let responses = |item: Value| {
        let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
        let end = json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
        made("openai-responses/m", vec![done.to_string(), end.to_string()])
    };
    let item = |status: &str, arguments: Value| json!({"type": "function_call", "call_id": "a", "name": "echo", "status": status, "arguments": arguments});
    assert_eq!(responses(item("completed", json!("{\"message\":\"x\"}"))), [r#"echo {"message":"x"}"#]);
    assert_eq!(responses(item("completed", json!({"message": "x"}))), [r#"echo {"message":"x"}"#]);
    for (status, arguments) in
        [("incomplete", json!("")), ("incomplete", json!("{\"message\":\"x\"}")), ("completed", json!(["x"]))]
    {
        assert_eq!(responses(item(status, arguments.clone())), Vec::<String>::new(), "{status} {arguments}");
    }
}
