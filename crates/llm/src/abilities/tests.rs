use super::*;
use crate::tests::request;
use crate::{ChatServer, Failure, Gemini, Headers, PROVIDERS, Retry};
use pipewright_record::{Kind, Stop};
use proptest::prelude::*;

const LOOK: &str = r#"{"name":"look","input_schema":{"type":"object","properties":{}}}"#;

fn without(abilities: &[Ability]) -> Abilities {
    let mut known = Abilities::default();
    abilities.iter().for_each(|ability| known.set(*ability, false));
    known
}

fn sent(fields: &str, abilities: &Abilities) -> String {
    encode(&ChatServer::VLLM, &request(fields), "m", abilities, &[]).unwrap().body
}

/// What a server refuses of this request by answering with this status and message.
fn refused(fields: &str, status: u16, message: &str) -> Option<Refusal> {
    let request = request(fields);
    let abilities = Abilities::default();
    let sent = encode(&ChatServer::VLLM, &request, "m", &abilities, &[]).unwrap().sent;
    let answer = Object::default().put("error", Object::default().text("message", message).end()).end();
    let headers: &Headers<'_> = &|_| None;
    let failure = ChatServer::VLLM.failure(status, headers, answer.as_bytes());
    refusal(&failure, &request, &sent, &abilities)
}

fn rich() -> String {
    format!(
        r#""system":"S","tool_choice":"any","tools":[{LOOK}],"schema":{{"type":"object"}},"max_output_tokens":5,"messages":[
        {{"role":"user","content":[{{"text":"see"}},{{"image_base64":"aaaa","mime":"image/png"}}]}},
        {{"role":"assistant","turn":{{"text":"","calls":[{{"call_id":"call_1","tool_name":"look","arguments":{{}}}}]}}}},
        {{"role":"tool","call_id":"call_1","content":"ok"}},{{"role":"user","content":"on"}}]"#
    )
}

#[test]
fn what_a_server_refuses_is_read_from_its_words() {
    use Ability::{CallIds, Images, Parts, RequiredCall, Schema, Streaming, System, Tools, UserAfterTool};
    let ability = |ability| Some(Refusal::Ability(ability));
    let field = |name: &str| Some(Refusal::Field(name.to_owned()));
    for (status, message, expected) in [
        (
            400,
            r#""auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"#,
            ability(Tools),
        ),
        (400, "registry.ollama.ai/library/gemma3:270m does not support tools", ability(Tools)),
        (404, "No endpoints found that support tool use. To learn more, visit: x", ability(Tools)),
        (500, "tools param requires --jinja flag", ability(Tools)),
        (400, "Function calling is not enabled for this model", ability(Tools)),
        (422, "Unrecognized request argument supplied: tools", ability(Tools)),
        (500, "response_format type must be one of \"text\" or \"json_object\", but got: json_schema", ability(Schema)),
        (400, "This response_format type is unavailable now", ability(Schema)),
        (400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported", ability(Schema)),
        (500, "image input is not supported - hint: you may need to provide the mmproj", ability(Images)),
        (400, "messages[1]: unknown variant `image_url`, expected `text`", ability(Images)),
        (404, "No endpoints found that support image input", ability(Images)),
        (400, "this is not a multimodal model", ability(Images)),
        (400, "At least one of the image dimensions exceed max allowed size: 8000 pixels", Some(Refusal::Pictures)),
        (
            400,
            "You uploaded an unsupported image. Please make sure it has one of these formats",
            Some(Refusal::Pictures),
        ),
        (400, "At most 1 image(s) may be provided in one request", Some(Refusal::Pictures)),
        (400, "System role not supported", ability(System)),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it", ability(System)),
        (400, "Unexpected role 'user' after role 'tool'", ability(UserAfterTool)),
        (400, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", ability(CallIds)),
        (
            400,
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$' for tool calls",
            ability(CallIds),
        ),
        (400, "tool_choice: required is not supported by this model", ability(RequiredCall)),
        (400, "Streaming is not supported for this model.", ability(Streaming)),
        (422, "messages[0].content: invalid type: sequence, expected a string", ability(Parts)),
        (400, "Extra inputs are not permitted, field: 'stream_options'", field("stream_options")),
        (400, "stream_options is not supported for this endpoint", field("stream_options")),
        (400, "Unsupported parameter: 'max_tokens' is not supported with this model.", field("max_tokens")),
        (400, "max_tokens is too large: 5. This model supports at most 4 completion tokens", field("max_tokens")),
        (400, "no such model", None),
        (401, "System role not supported", None),
        (429, "tools are limited", None),
        (500, "CUDA out of memory", None),
        (400, "prompt is too long: image tokens exceed the context window", None),
    ] {
        assert_eq!(refused(&rich(), status, message), expected, "{message}");
    }
    // A field that the request does not have is not refused.
    assert_eq!(refused(r#""messages":[{"role":"user","content":"x"}]"#, 400, "System role not supported"), None);
    assert_eq!(refused(r#""messages":[{"role":"user","content":"x"}]"#, 400, "seed is not supported"), None);
}

#[test]
fn what_is_known_is_not_learnt_again() {
    let request = request(&rich());
    let failure = Failure::new(Kind::BadRequest, "System role not supported", Retry::Never);
    let fields = SentBody::of(&sent(&rich(), &Abilities::default()), None);
    assert_eq!(refusal(&failure, &request, &fields, &without(&[Ability::System])), None);
}

#[test]
fn a_request_is_sent_in_the_form_that_the_server_accepts() {
    let body = |ability| sent(&rich(), &without(&[ability]));
    let plain = sent(&rich(), &Abilities::default());
    assert!(plain.contains(r#""role":"system""#) && plain.contains("image_url") && plain.contains(r#""stream":true"#));
    assert!(body(Ability::System).contains(r#""messages":[{"role":"user","content":[{"type":"text","text":"S"}"#));
    assert!(!body(Ability::Images).contains("image_url") && body(Ability::Images).contains("the model takes none"));
    assert!(!body(Ability::Schema).contains("response_format"));
    assert!(!body(Ability::Tools).contains("\"tools\":") && body(Ability::Tools).contains("function_call: name=look"));
    assert!(!body(Ability::RequiredCall).contains("\"tool_choice\""));
    assert!(!body(Ability::Streaming).contains("stream"));
    assert!(body(Ability::UserAfterTool).ends_with(r#""tool_call_id":"call_1","content":"ok\non"}]}"#), "{plain}");
    let short = body(Ability::CallIds);
    let id = short.split(r#""tool_call_id":""#).nth(1).unwrap().split('"').next().unwrap();
    assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{short}");
    assert_eq!(short.matches(id).count(), 2, "{short}");
    assert!(body(Ability::Parts).contains(r#""role":"user","content":"see\n\n[A picture"#), "{}", body(Ability::Parts));
}

#[test]
fn of_the_two_names_of_a_limit_the_other_is_used() {
    let mut abilities = Abilities::default();
    let short = r#""messages":[{"role":"user","content":"x"}],"max_output_tokens":5"#;
    for (name, left) in [("max_tokens", "\"max_completion_tokens\":5"), ("max_completion_tokens", "")] {
        abilities.learn(&Refusal::Field(name.to_owned()), &request(short));
        let body = sent(short, &abilities);
        assert!(body.contains(left) && !body.contains(&format!("\"{name}\"")), "{body}");
    }
}

#[test]
fn the_limit_that_a_server_names_is_used() {
    for (message, most) in [
        ("max_tokens is too large: 16384. This model supports at most 4,096 completion tokens, not 16384.", Some(4096)),
        ("max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for m", Some(8192)),
        ("max_tokens is too large. You have 20 input tokens", None),
    ] {
        let limited = r#""messages":[{"role":"user","content":"x"}],"max_output_tokens":16384"#;
        let refused = refused(limited, 400, message).unwrap();
        let mut abilities = Abilities::default();
        abilities.learn(&refused, &request(limited));
        let body = sent(limited, &abilities);
        match most {
            Some(most) => assert!(body.contains(&format!("\"max_tokens\":{most}")), "{body}"),
            None => assert!(!body.contains("\"max_tokens"), "{body}"),
        }
        assert_eq!(Abilities::read(&abilities.json()), abilities);
    }
}

#[test]
fn only_the_new_pictures_are_left_out_unless_all_were_accepted() {
    let request = |pictures: &[&str]| {
        let parts = pictures.iter().map(|data| format!(r#"{{"image_base64":"{data}","mime":"image/png"}}"#));
        format!(r#""messages":[{{"role":"user","content":[{}]}}]"#, parts.collect::<Vec<_>>().join(","))
    };
    let mut abilities = Abilities::default();
    abilities.accept(&crate::tests::request(&request(&["aaaa"])));
    abilities.learn(&Refusal::Pictures, &crate::tests::request(&request(&["aaaa", "bbbb"])));
    let body = sent(&request(&["aaaa", "bbbb", "cccc"]), &abilities);
    assert!(body.contains("aaaa") && !body.contains("bbbb") && body.contains("cccc"), "{body}");
    abilities.learn(&Refusal::Pictures, &crate::tests::request(&request(&["aaaa"])));
    assert!(!sent(&request(&["aaaa"]), &abilities).contains("aaaa"));
}

#[test]
fn messages_are_joined_and_empty_turns_are_left_out() {
    let empty = r#"{"role":"assistant","turn":{"text":" ","calls":[],"provider":"vllm","model":"m","raw":{"role":"assistant","content":""}}}"#;
    let body = sent(
        &format!(r#""messages":[{{"role":"user","content":"a"}},{empty},{{"role":"user","content":"b"}}]"#),
        &Abilities::default(),
    );
    let joined = r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]"#;
    assert!(body.ends_with(&format!(r#""messages":{joined}}}"#)), "{body}");
}

#[test]
fn every_object_of_a_schema_has_properties_and_every_list_has_items() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"object","x":1.10},"c":{"anyOf":[{"type":["object","null"]}]}}}"#;
    let tool = format!(
        r#""messages":[{{"role":"user","content":"x"}}],"tools":[{{"name":"t","input_schema":{schema}}},{{"name":"u"}}]"#
    );
    let body = sent(&tool, &Abilities::default());
    let whole = r#"{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"type":"object","x":1.10,"properties":{}},"c":{"anyOf":[{"type":["object","null"],"properties":{}}]}}}"#;
    assert!(body.contains(whole), "{body}");
    assert!(body.contains(r#"{"name":"u","parameters":{"type":"object","properties":{}}}"#), "{body}");
}

#[test]
fn names_of_tools_are_sent_in_a_form_that_every_server_accepts_and_come_back() {
    let tools = r#""messages":[{"role":"user","content":"x"}],"tools":[{"name":"calendar.read"},{"name":"calendar_read"},{"name":"look"}]"#;
    let request = request(tools);
    for (written, own) in [
        ("calendar_read", "calendar_read"),
        ("calendar_read_2", "calendar.read"),
        ("calendar.read", "calendar.read"),
        ("look<|channel|>commentary", "look"),
        ("functions.look", "look"),
        ("functions.look:0", "look"),
        ("other.look", "other.look"),
    ] {
        let Encoded { body, mut reader, .. } =
            encode(&ChatServer::VLLM, &request, "m", &Abilities::default(), &[]).unwrap();
        assert!(body.contains(r#""name":"calendar_read_2""#) && !body.contains("calendar.read"), "{body}");
        let call = format!(
            r#"{{"choices":[{{"message":{{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"{written}","arguments":"{{}}"}}}}]}},"finish_reason":"stop"}}]}}"#
        );
        reader.take("", call.as_bytes(), &mut Vec::new()).unwrap();
        reader.take("", b"[DONE]", &mut Vec::new()).unwrap();
        let turn = reader.finish().unwrap();
        assert_eq!((&*turn.calls[0].tool_name, turn.stop), (own, Stop::Call), "{written}");
        assert!(!turn.raw.get().contains("<|"), "{}", turn.raw);
    }
}

#[test]
fn settings_are_put_where_the_provider_expects_them() {
    let settings: Vec<(String, String)> =
        [("temperature", "0.2"), ("stop", "[\"x\"]"), ("reasoning_effort", "\"low\""), ("extra", "{\"a\":1}")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    let short = request(r#""messages":[{"role":"user","content":"x"}]"#);
    let body =
        |provider: &dyn crate::Provider| encode(provider, &short, "m", &Abilities::default(), &settings).unwrap().body;
    let chat = body(&ChatServer::VLLM);
    for part in [r#""temperature":0.2"#, r#""stop":["x"]"#, r#""reasoning_effort":"low""#, r#""extra":{"a":1}"#] {
        assert!(chat.contains(part), "{chat}");
    }
    let gemini = body(&Gemini);
    assert!(gemini.contains(r#""thinkingConfig":{"thinkingLevel":"low"}"#), "{gemini}");
    assert!(gemini.contains(r#""stopSequences":["x"]"#) && gemini.contains(r#""temperature":0.2"#), "{gemini}");
    for provider in PROVIDERS {
        assert!(Fields::read(&body(*provider)).is_ok_and(|fields| fields.iter().count() > 2), "{}", provider.name());
    }
    assert!(is_setting("top_k") && !is_setting("messages") && !is_setting("stream"));
}

#[test]
fn what_is_known_is_written_and_read() {
    let mut abilities = without(&[Ability::Tools, Ability::System]);
    abilities.learn(&Refusal::Field("seed".to_owned()), &ModelRequest::default());
    abilities.set_context(4096);
    abilities.prove_calls();
    let json = abilities.json();
    assert_eq!(json, r#"{"refused":["tools","system"],"fields":["seed"],"context":4096,"has_called":true}"#);
    assert_eq!(Abilities::read(&json), abilities);
    assert_eq!(Abilities::read(r#"{"refused":["x",7],"fields":["messages"]}"#), Abilities::default());
    assert_eq!(Abilities::read("no JSON"), Abilities::default());
}

#[test]
fn calls_are_asked_for_as_one_object_with_a_compact_list() {
    let tools = r#""messages":[{"role":"user","content":"x"}],"system":"S","core_tools":["act"],"tools":[
        {"name":"act","description":"Acts.","input_schema":{"type":"object","properties":{"to":{"$ref":"x","description":"d","type":"string","pattern":"^a"},"how":{"enum":["a","b"]},"list":{"type":"array","items":{"type":"integer","minimum":1}}},"required":["to"]}},
        {"name":"odd","description":"Long.","input_schema":{"type":"object"}},
        {"name":"assistant_ask","description":"Asks.","input_schema":{"type":"object","properties":{"question":{"type":"string"}},"required":["question"]}}]"#;
    let body = sent(tools, &without(&[Ability::Tools]));
    for part in [
        r#"- act(to: text, how?: \"a\"|\"b\", list?: [integer, ...]): Acts."#,
        r#"- {\"mode\":\"ask\",\"question\":text}: Asks."#,
        r#"to be described before they are called: odd"#,
        // Only keywords that every server knows.
        r#""args":{"type":"object","properties":{"to":{"type":"string"},"how":{"enum":["a","b"]},"list":{"type":"array","items":{"type":"integer"}}},"required":["to"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"mode":{"const":"ask"},"question":{"type":"string"}},"required":["mode","question"],"additionalProperties":false}"#,
        r#"{"mode":{"const":"describe"},"tool":{"enum":["odd"]}}"#,
    ] {
        assert!(body.contains(part), "{part}: {body}");
    }
    assert!(!body.contains("Long."), "{body}");
    // A report has the same beginning, and no schema.
    let report = sent(&format!(r#"{tools},"tool_choice":"none""#), &without(&[Ability::Tools]));
    assert!(
        report.contains("to be described before they are called: odd") && !report.contains("response_format"),
        "{report}"
    );
}

proptest! {
    /// Whatever a server says: what it refuses is new, and is not in the next body.
    #[test]
    fn a_refusal_always_changes_the_request(words in prop::collection::vec("(tools?|stream_options|max_tokens|system role|image|json_schema|call id|role|user|after|content|a string|not supported|unknown|invalid|must be|length) ", 1..8)) {
        let request = request(&rich());
        let mut abilities = Abilities::default();
        for _ in 0..20 {
            let Encoded { body, sent, .. } = encode(&ChatServer::VLLM, &request, "m", &abilities, &[]).unwrap();
            let failure = Failure::new(Kind::BadRequest, words.concat(), Retry::Never);
            let Some(refused) = refusal(&failure, &request, &sent, &abilities) else { return Ok(()) };
            abilities.learn(&refused, &request);
            let next = encode(&ChatServer::VLLM, &request, "m", &abilities, &[]).unwrap().body;
            prop_assert_ne!(next, body, "{:?}", refused);
        }
        prop_assert!(false, "the server is asked for ever: {}", words.concat());
    }
}
