//! A harness's settings as a JSON value: our hooks in it, and how they are put there.

use super::Layout;
use serde_json::{Map, Value, json};

/// The settings with our hook in place of a former one, at the end of each list: where the last hook decides, that is
/// ours.
///
/// # Errors
/// A part has another type than it has in the harness's documents.
pub fn merged(settings: &Value, layout: &Layout, program: &str) -> Result<Value, String> {
    let mut settings = settings.clone();
    let Some(top) = settings.as_object_mut() else { return Err("it is not a JSON object".to_owned()) };
    let (events, hook, wraps) = match layout {
        Layout::Groups { events, hook } => (*events, hook(program), true),
        Layout::Flat { events, hook, has_version } => {
            if *has_version {
                top.entry("version").or_insert(json!(1));
            }
            (*events, hook(program), false)
        }
        Layout::Program(_) => return Err("it is a program".to_owned()),
    };
    let hooks = top.entry("hooks").or_insert_with(|| Value::Object(Map::new()));
    let Some(hooks) = hooks.as_object_mut() else { return Err("\"hooks\" is not an object".to_owned()) };
    for event in events {
        let list = hooks.entry(*event).or_insert_with(|| json!([]));
        let Some(list) = list.as_array_mut() else { return Err(format!("\"hooks.{event}\" is not a list")) };
        for group in list.iter_mut().filter(|_| wraps) {
            if let Some(own) = group.get_mut("hooks").and_then(Value::as_array_mut) {
                own.retain(|hook| !is_ours(hook));
            }
        }
        let is_empty = |group: &Value| group["hooks"].as_array().is_some_and(Vec::is_empty);
        list.retain(|entry| if wraps { !is_empty(entry) } else { !is_ours(entry) });
        list.push(if wraps { json!({"matcher": "*", "hooks": [hook]}) } else { hook.clone() });
    }
    Ok(settings)
}

/// Our hooks of an event, each with whether it is the last of the event.
pub fn ours<'s>(settings: &'s Value, event: &str) -> Vec<(&'s Value, bool)> {
    let entries = settings["hooks"][event].as_array().map_or(&[][..], Vec::as_slice);
    let hooks: Vec<&Value> = entries
        .iter()
        .flat_map(|entry| match entry["hooks"].as_array() {
            Some(hooks) => hooks.iter().collect::<Vec<_>>(),
            None => vec![entry],
        })
        .collect();
    let last = hooks.len().saturating_sub(1);
    let mine = hooks.iter().enumerate().filter(|(_, hook)| is_ours(hook));
    mine.map(|(index, hook)| (*hook, index == last)).collect()
}

/// Whether a hook runs `policy-check hook`.
fn is_ours(hook: &Value) -> bool {
    let (program, arguments) = command(hook);
    let own = |text: &str| text.contains("policy-check");
    own(&program) && (program.contains(" hook") || arguments.first().is_some_and(|first| first == "hook"))
}

/// The command of a hook, a shell's text or, with arguments, a program.
pub fn command(hook: &Value) -> (String, Vec<String>) {
    let text = |key: &str| hook[key].as_str().map(str::to_owned);
    let arguments = hook["args"].as_array().map_or(&[][..], Vec::as_slice);
    let arguments = arguments.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    (text("command").or_else(|| text("bash")).unwrap_or_default(), arguments)
}
