#![allow(clippy::unwrap_used, clippy::panic)]

use super::profile::Profile;
use super::*;
use pipewright_record::AgentIds;
use pipewright_record::json::Object;
use proptest::prelude::*;

const TOOLS: &str = r#"{"type":"tool_list","request_id":"tools","world":"w","tools":[{"name":"look"},{"name":"press","input_schema":{"type":"object"}}]}"#;

/// An agent that works on the goal `g`, and its first request.
fn agent(profile: &str, limits: Limits) -> (Agent, Vec<Effect>) {
    let settings = AgentSettings {
        profile: Profile::read(profile).unwrap(),
        ids: AgentIds::default(),
        allow: Vec::new(),
        deny: Vec::new(),
        compact_at: Some(1000),
    };
    let (mut agent, _) = Agent::begin(settings, Run { limits, goal: Some("g".to_owned()) });
    let effects = agent.take(Input::World(TOOLS), Duration::ZERO);
    (agent, effects)
}

fn limits() -> Limits {
    Limits { max_steps: 20, ..Limits::default() }
}

/// The id of the latest request.
fn request(effects: &[Effect]) -> Option<String> {
    let asked = effects.iter().rev().find_map(|effect| match effect {
        Effect::Model(line) if line.contains("model_request") => Some(line),
        _ => None,
    });
    let id: serde_json::Value = serde_json::from_str(asked?).unwrap();
    Some(id["request_id"].as_str().unwrap().to_owned())
}

fn goal() -> Input<'static> {
    Input::Person(r#"{"type":"user_message","content":"g"}"#)
}

/// Texts, names and arguments, both valid and invalid.
fn turn() -> impl Strategy<Value = (String, Vec<(String, String)>)> {
    let text = prop_oneof![
        ".{0,40}",
        Just("function_call: name=press args={\"a\":1}".to_owned()),
        Just("{\"mode\":\"done\",\"reason\":\"x\"}".to_owned()),
        Just("{\"mode\":\"ask\",\"question\":\"x\"}".to_owned()),
        Just("<tool_call>{\"name\":\"look\"".to_owned()),
    ];
    let name = prop_oneof![
        Just("look"),
        Just("press"),
        Just("nothing"),
        Just("assistant_done"),
        Just("assistant_ask"),
        Just("assistant_plan"),
        Just("assistant_progress"),
        Just("assistant_goal"),
        Just("assistant_need_user"),
        Just("")
    ];
    let arguments = prop_oneof![
        Just(
            r#"{"reason":"r","question":"q","what":"w","goal":"g","steps":["a"],"step_id":"1","status":"done"}"#
                .to_owned()
        ),
        Just("{}".to_owned()),
        Just("[1]".to_owned()),
        Just(String::new()),
        ".{0,20}"
    ];
    (text, prop::collection::vec((name.prop_map(str::to_owned), arguments), 0..3))
}

proptest! {
    /// Whatever a model writes, the loop continues or ends, and every call of a turn has a result in the next request.
    #[test]
    fn every_turn_is_a_call_a_question_an_end_or_an_error_for_the_model(turns in prop::collection::vec(turn(), 1..12)) {
        let (mut agent, mut effects) = agent("", limits());
        for (number, (text, calls)) in turns.iter().enumerate() {
            let Some(id) = request(&effects) else { break };
            let calls: Vec<String> = calls.iter().enumerate().map(|(place, (tool, arguments))| {
                let call = Object::default().text("call_id", &format!("c{number}-{place}")).text("tool_name", tool);
                match serde_json::from_str::<serde_json::Map<_, serde_json::Value>>(arguments).is_ok() {
                    true => call.put("arguments", arguments),
                    false => call.text("arguments_text", arguments),
                }.end()
            }).collect();
            let stop = if calls.is_empty() { "end" } else { "call" };
            let line = Object::default().text("type", "model_turn").text("request_id", &id).text("status", "ok").text("stop", stop);
            let line = line.text("text", text).put("calls", format_args!("[{}]", calls.join(","))).put("usage", "{}").end();
            effects = agent.take(Input::Model(&line), Duration::ZERO);
            prop_assert!(!effects.is_empty(), "{line}");
            while let Some(call) = agent.call_under_way().map(str::to_owned) {
                let result = format!(r#"{{"type":"tool_result","call_id":"{call}","status":"ok","result":{number}}}"#);
                effects = agent.take(Input::World(&result), Duration::ZERO);
            }
            let is_waiting = effects.iter().any(|effect| matches!(effect, Effect::Session(record) if record.contains("\"waiting_user\"")));
            let is_over = effects.iter().any(|effect| matches!(effect, Effect::End(_)));
            prop_assert!(is_waiting || is_over || request(&effects).is_some(), "{line}: {effects:?}");
            if let Some(Effect::Model(request)) = effects.iter().rev().find(|effect| matches!(effect, Effect::Model(_))) {
                for place in 0..calls.len() {
                    let id = format!("\"call_id\":\"c{number}-{place}\"");
                    prop_assert!(request.matches(&id).count() == 2, "{id}: {request}");
                }
            }
            if is_waiting {
                effects = agent.take(goal(), Duration::ZERO);
            }
        }
    }

    /// No line of any side stops the loop.
    #[test]
    fn any_line_is_taken(lines in prop::collection::vec((0..3u8, ".{0,60}"), 0..20)) {
        let (mut agent, _) = agent("", limits());
        for (side, line) in &lines {
            agent.take(match side {
                0 => Input::World(line),
                1 => Input::Model(line),
                _ => Input::Person(line),
            }, Duration::ZERO);
        }
    }
}

#[test]
fn the_built_in_profiles_are_valid() {
    for (name, text) in profile::BUILT_IN {
        let profile = Profile::read(text).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(!profile.system.trim().is_empty(), "{name}");
    }
    let wrong = Profile::read("[settle]\nmode = \"events\"\n").unwrap_err();
    assert!(wrong.contains("wait"), "{wrong}");
    assert!(Profile::read("observes = 1").unwrap_err().contains("observes"));
}

#[test]
fn a_long_conversation_is_restarted_with_a_summary() {
    let (mut agent, mut effects) = agent("", limits());
    for number in 0..2 {
        let id = request(&effects).unwrap();
        let turn = format!(
            r#"{{"type":"model_turn","request_id":"{id}","status":"ok","stop":"call","text":"","usage":{{"input":2000}},"calls":[{{"call_id":"c{number}","tool_name":"press","arguments":{{"n":{number}}}}}]}}"#
        );
        agent.take(Input::Model(&turn), Duration::ZERO);
        let call = agent.call_under_way().unwrap().to_owned();
        let result = format!(r#"{{"type":"tool_result","call_id":"{call}","status":"ok","result":"shown {number}"}}"#);
        effects = agent.take(Input::World(&result), Duration::ZERO);
    }
    let Some(Effect::Model(request)) = effects.last() else { panic!("{effects:?}") };
    assert!(!request.contains("\"assistant\""), "{request}");
    for kept in ["Goal: g", "press {\\\"n\\\":0}: ok", "press {\\\"n\\\":1}: ok", "shown 1", "[left: 18 steps]"] {
        assert!(request.contains(kept), "{kept}: {request}");
    }
}

#[test]
fn an_overlong_request_is_restarted_once() {
    let (mut agent, effects) = agent("", limits());
    let overflow = |id: String| {
        format!(
            r#"{{"type":"model_turn","request_id":"{id}","status":"error","kind":"overflow","error":"too long","usage":{{}}}}"#
        )
    };
    let effects = agent.take(Input::Model(&overflow(request(&effects).unwrap())), Duration::ZERO);
    let again = request(&effects).unwrap();
    let effects = agent.take(Input::Model(&overflow(again)), Duration::ZERO);
    assert!(effects.contains(&Effect::End(FAILED)), "{effects:?}");
}
