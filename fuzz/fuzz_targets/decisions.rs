//! For any lines of the model side, the world and the person: an agent's loop accepts them, and each of its own requests and
//! calls is one line of JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_agent::profile::{BUILT_IN, Profile};
use pipewright_agent::{Agent, AgentSettings, Effect, Input, Limits, Run};
use serde_json::value::RawValue;
use std::time::Duration;

const TOOLS: &str = r#"{"type":"tool_list","tools":[{"name":"look"},{"name":"browser_list_interactives"},{"name":"browser_overlay_act"},
    {"name":"browser_close_banners"},{"name":"browser_wait"}]}"#;

fuzz_target!(|text: &str| {
    let profile = Profile::read(BUILT_IN[0].1).expect("a built-in profile");
    let settings = AgentSettings {
        profile,
        ids: Default::default(),
        allow: Vec::new(),
        deny: Vec::new(),
        compact_at: Some(10_000),
    };
    let limits = Limits { max_steps: 20, turn_steps: Some(5), ..Limits::default() };
    let (mut agent, _) = Agent::begin(settings, Run { limits, goal: None });
    agent.take(Input::World(TOOLS), Duration::ZERO);
    agent.take(Input::Person(r#"{"type":"user_message","content":"g"}"#), Duration::ZERO);
    for line in text.split('\n') {
        let (side, line) = line.split_at_checked(1).unwrap_or(("", ""));
        let effects = agent.take(
            match side {
                "w" => Input::World(line),
                "p" => Input::Person(line),
                _ => Input::Model(line),
            },
            Duration::ZERO,
        );
        for effect in effects {
            if let Effect::Model(line) = effect {
                assert!(!line.contains(['\n', '\r']));
                serde_json::from_str::<&RawValue>(&line).expect("the request is JSON");
            }
        }
    }
});
