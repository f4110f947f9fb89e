//! A model that follows a script: `stand-in-model SCRIPT [LOG]`. Each line of the script is a turn, an object with `text`, `form`, `calls`
//! (`{"tool_name","arguments"}`), `stop`, `usage` or `error`, given after `sleep_ms`, or once the file `until` exists; the turn is chosen by the number of turns in the request, so that a restarted model
//! side continues; the last one is repeated. A text `@ROLE NAME` in arguments is replaced by the identifier of that element in the newest list of the request: its number
//! (browser-bridge), its ref (@playwright/mcp) or its path (godot-bridge's tree; in its view for agents the short name; `@ROLE.FIELD NAME` is a field of the node). Requests are appended to LOG.

#![allow(clippy::expect_used)] // an unreadable script is an error of its test

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, Write};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let script = std::fs::read_to_string(arguments.next().expect("SCRIPT")).expect("a script");
    let script: Vec<Value> = script.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let mut log = arguments.next().map(|path| open(&path));
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).expect("JSON");
        if request["type"] != "model_request" {
            continue;
        }
        if let Some(log) = &mut log {
            log.write_all(format!("{line}\n").as_bytes()).expect("LOG");
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
        while planned["until"].as_str().is_some_and(|file| !std::path::Path::new(file).exists()) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        for key in ["text", "calls", "stop", "usage", "reasoning", "request_id", "form"] {
            if let Some(value) = planned.get(key) {
                turn[key] = value.clone();
            }
        }
        let list = newest_list(messages);
        // The script may contain an unreadable turn.
        for (index, call) in turn["calls"].as_array_mut().into_iter().flatten().enumerate() {
            call["call_id"] = json!(format!("call_{number}_{index}"));
            fill(&mut call["arguments"], &list);
        }
        let stop = if turn["calls"].as_array().is_some_and(Vec::is_empty) { "end" } else { "call" };
        if turn.get("stop").is_none() {
            turn["stop"] = json!(stop);
        }
        if writeln!(std::io::stdout(), "{turn}").is_err() {
            return;
        }
    }
}

/// Opens the log. Half a line, which a killed model may have left, becomes a line of its own.
fn open(path: &str) -> File {
    let half = std::fs::read(path).is_ok_and(|text| text.last().is_some_and(|last| *last != b'\n'));
    let mut log = File::options().append(true).create(true).open(path).expect("LOG");
    if half {
        log.write_all(b"\n").expect("LOG");
    }
    log
}

/// An element that a call can identify.
struct Element {
    role: String,
    /// An element with any of these identifiers.
    names: Vec<String>,
    reference: Value,
    /// A node of a game, with all its fields.
    node: Value,
}

/// The elements of the last list in the messages.
fn newest_list(messages: &[Value]) -> Vec<Element> {
    let parts = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let texts = parts.filter_map(|part| part["text"].as_str());
    texts.filter_map(list).next_back().unwrap_or_default()
}

/// The elements of a list, in the format of any of the worlds.
fn list(text: &str) -> Option<Vec<Element>> {
    let object = text.lines().find(|line| line.starts_with('{')).and_then(|line| serde_json::from_str(line).ok());
    let object: Value = object.unwrap_or_default();
    if let Some(items) = object["items"].as_array() {
        return Some(items.iter().filter_map(|item| numbered(item.as_str()?)).collect());
    }
    if object["tree"].is_object() {
        let mut nodes = Vec::new();
        walk(&object["tree"], &mut nodes);
        return Some(nodes);
    }
    if let Some(lines) = object["tree"].as_array() {
        return Some(lines.iter().filter_map(|line| shown(line.as_str()?)).collect());
    }
    let snapshot = object["content"][0]["text"].as_str().unwrap_or(text);
    snapshot.contains("```yaml\n").then(|| snapshot.lines().filter_map(referenced).collect())
}

/// `NUMBER ROLE(MARKS) NAME (PLACE) = VALUE`
fn numbered(item: &str) -> Option<Element> {
    let (number, rest) = item.split_once(' ')?;
    let (role, name) = rest.split_once(' ').unwrap_or((rest, ""));
    let (role, name) = match rest.split_once('(') {
        Some((role, rest)) if !role.contains(' ') => (role, rest.split_once(')').map_or("", |(_, name)| name)),
        _ => (role, name),
    };
    let name = name.split_once(" = \"").map_or(name, |(name, _)| name);
    let name =
        [" (row \"", " (in \""].iter().fold(name, |name, place| name.split_once(place).map_or(name, |(name, _)| name));
    let names = vec![name.trim_start().to_owned()];
    Some(Element { role: role.to_owned(), names, reference: number.parse::<u64>().ok()?.into(), node: Value::Null })
}

/// `@NUMBER ROLE(MARKS) NAME = VALUE FIELD=VALUE`
fn shown(line: &str) -> Option<Element> {
    let (reference, rest) = line.trim_start().split_once(' ')?;
    let (head, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let fields = rest.split(' ').filter_map(|word| word.split_once('=')).filter(|(name, _)| !name.is_empty());
    let node: Value = fields
        .map(|(name, value)| (name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
        .collect::<serde_json::Map<String, Value>>()
        .into();
    let name = rest.split_once(" = ").or(rest.split_once(" =")).map_or(rest, |(name, _)| name).to_owned();
    let label = node["label"].as_str().map(str::to_owned);
    let role = head.split('(').next().unwrap_or(head).to_owned();
    Some(Element { role, names: label.into_iter().chain([name]).collect(), reference: reference.into(), node })
}

/// `- ROLE "NAME" [ref=REF]`
fn referenced(line: &str) -> Option<Element> {
    let item = line.trim_start().strip_prefix("- ")?.trim_start_matches('\'');
    let (role, rest) = item.split_once(' ')?;
    let (reference, _) = rest.split_once("[ref=")?.1.split_once(']')?;
    let name = rest.strip_prefix('"').and_then(|rest| rest.split_once("\" [")).map_or("", |(name, _)| name);
    Some(Element {
        role: role.to_owned(),
        names: vec![name.to_owned()],
        reference: reference.into(),
        node: Value::Null,
    })
}

/// A node of a game and its descendants.
fn walk(node: &Value, nodes: &mut Vec<Element>) {
    let names = ["text", "label", "name"].iter().filter_map(|key| node[key].as_str().map(str::to_owned));
    let role = node["type"].as_str().unwrap_or_default().to_owned();
    nodes.push(Element { role, names: names.collect(), reference: node["path"].clone(), node: node.clone() });
    node["children"].as_array().into_iter().flatten().for_each(|child| walk(child, nodes));
}

/// Replaces `@ROLE NAME` with the identifier.
fn fill(value: &mut Value, list: &[Element]) {
    match value {
        Value::Object(object) => object.values_mut().for_each(|value| fill(value, list)),
        Value::Array(values) => values.iter_mut().for_each(|value| fill(value, list)),
        Value::String(text) => {
            let Some((role, name)) = text.strip_prefix('@').and_then(|text| text.split_once(' ')) else { return };
            let (role, field) = role.split_once('.').map_or((role, None), |(role, field)| (role, Some(field)));
            let element =
                list.iter().find(|element| element.role == role && element.names.iter().any(|own| own == name));
            let found = element.map(|element| field.map_or(&element.reference, |field| &element.node[field]).clone());
            *value = found.unwrap_or_else(|| json!(format!("{text}: not in the list")));
        }
        _ => {}
    }
}
