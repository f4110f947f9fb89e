//! A model that follows a script: `stand-in-model SCRIPT [LOG]`. Each line of the script is a turn, an object with `text`, `calls`
//! (`{"tool_name","arguments"}`), `stop`, `usage` or `error`; the turn is chosen by the number of turns that the request has, so that a model side
//! that is started anew goes on; the last one is repeated. A text `@ROLE NAME` in arguments is the number of that element in the newest list of the request. Requests are
//! appended to LOG.

#![allow(clippy::expect_used)] // a script that cannot be read is a fault of its test

use serde_json::{Value, json};
use std::io::{BufRead, Write};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let script = std::fs::read_to_string(arguments.next().expect("SCRIPT")).expect("a script");
    let script: Vec<Value> = script.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let mut log =
        arguments.next().map(|log| std::fs::OpenOptions::new().append(true).create(true).open(log).expect("LOG"));
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).expect("JSON");
        if request["type"] != "model_request" {
            continue;
        }
        if let Some(log) = &mut log {
            writeln!(log, "{line}").expect("LOG");
        }
        let messages = request["messages"].as_array().expect("messages");
        let number = messages.iter().filter(|message| message["role"] == "assistant").count();
        let mut turn = json!({"type": "model_turn", "request_id": request["request_id"], "status": "ok", "text": "", "calls": [],
            "usage": {"input": line.len() / 4, "output": 9}, "provider": "script", "model": "m", "raw": {"n": number}, "latency_ms": 0, "retries": 0});
        let planned =
            script.get(number).or(script.last()).cloned().unwrap_or_else(|| json!({"error": "the script is empty"}));
        if let Some(error) = planned["error"].as_str() {
            turn["status"] = json!("error");
            turn["error"] = json!(error);
            turn["kind"] = planned.get("kind").cloned().unwrap_or_else(|| json!("unavailable"));
        }
        if let Some(milliseconds) = planned["sleep_ms"].as_u64() {
            std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        }
        for key in ["text", "calls", "stop", "usage", "reasoning", "request_id"] {
            if let Some(value) = planned.get(key) {
                turn[key] = value.clone();
            }
        }
        let list = newest_list(messages);
        let calls = turn["calls"].as_array_mut().expect("calls");
        for (index, call) in calls.iter_mut().enumerate() {
            call["call_id"] = json!(format!("call_{number}_{index}"));
            fill(&mut call["arguments"], &list);
        }
        let stop = if calls.is_empty() { "end" } else { "call" };
        if turn.get("stop").is_none() {
            turn["stop"] = json!(stop);
        }
        if writeln!(std::io::stdout(), "{turn}").is_err() {
            return;
        }
    }
}

/// The items of the last list in the messages: `NUMBER ROLE(MARKS) NAME`.
fn newest_list(messages: &[Value]) -> Vec<String> {
    let parts = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let texts = parts.filter_map(|part| part["text"].as_str()).filter(|text| text.contains("\"items\":["));
    let Some(text) = texts.reduce(|_, last| last) else { return Vec::new() };
    let object = text.lines().find(|line| line.starts_with('{')).unwrap_or("{}");
    let list: Value = serde_json::from_str(object).unwrap_or_default();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The number of `@ROLE NAME`.
fn fill(value: &mut Value, list: &[String]) {
    match value {
        Value::Object(object) => object.values_mut().for_each(|value| fill(value, list)),
        Value::Array(values) => values.iter_mut().for_each(|value| fill(value, list)),
        Value::String(text) => {
            let Some((role, name)) = text.strip_prefix('@').and_then(|text| text.split_once(' ')) else { return };
            let is_it = |item: &&String| {
                let Some((_, item)) = item.split_once(' ') else { return false };
                let Some(rest) = item.strip_prefix(role) else { return false };
                let rest = if rest.starts_with('(') { rest.split_once(')').map_or("", |(_, rest)| rest) } else { rest };
                rest.trim_start() == name
            };
            let number = list.iter().find(is_it).and_then(|item| item.split(' ').next()?.parse::<u64>().ok());
            *value = number.map_or_else(|| json!(format!("{text}: not in the list")), Value::from);
        }
        _ => {}
    }
}
