//! A harness's settings as a JSON value: our hooks in it, and how they are put there.

use super::{ASKER, Client, Layout, NAME, asking, runs};
use serde_json::{Map, Value, json};

/// A hook of an event.
#[derive(Debug)]
pub struct FoundHook<'s> {
    pub hook: &'s Value,
    /// The group in which it is, or the hook itself.
    pub entry: &'s Value,
    /// Whether none follows it.
    pub is_last: bool,
}

/// The settings with our hook in place of a former one, at the end of each list: where the last hook decides, that is
/// ours. With an `asker`, it gets the event with which the harness asks, unless a hook runs it in another way.
///
/// # Errors
/// A part has another type than it has in the harness's documents, or a hook runs policy-check in another way.
pub fn merged(settings: &Value, client: &Client, program: &str, asker: Option<&str>) -> Result<Value, String> {
    let mut settings = settings.clone();
    for event in client.events() {
        if let Some(other) = mentions(&settings, event, NAME).into_iter().find(|found| !is_ours(client, found.hook)) {
            let command = command(other.hook).unwrap_or_default();
            return Err(format!(
                "hooks.{event} has the hook `{command}`, which install has not written, and everything is left as it \
                 is: remove that hook, or keep it as yours"
            ));
        }
    }
    let asked = client.asks.zip(asker);
    let asked = asked.filter(|(event, _)| mentions(&settings, event, ASKER).iter().all(|found| is_asking(found.hook)));
    let Some(top) = settings.as_object_mut() else { return Err("it is not a JSON object".to_owned()) };
    let Some(hook) = client.hook(program) else { return Err("it is a program".to_owned()) };
    let wraps = matches!(client.layout, Layout::Groups { .. });
    if matches!(client.layout, Layout::Flat { has_version: true, .. }) {
        top.entry("version").or_insert(json!(1));
    }
    let hooks = top.entry("hooks").or_insert_with(|| Value::Object(Map::new()));
    let Some(hooks) = hooks.as_object_mut() else { return Err("\"hooks\" is not an object".to_owned()) };
    for event in client.events() {
        put(hooks, event, wraps, &|hook| is_ours(client, hook), &hook)?;
    }
    if let Some((event, asker)) = asked {
        put(hooks, event, wraps, &is_asking, &asking(asker))?;
    }
    Ok(settings)
}

/// Puts a hook at the end of an event's list, in place of a former one.
fn put(
    hooks: &mut Map<String, Value>,
    event: &str,
    wraps: bool,
    is_former: &dyn Fn(&Value) -> bool,
    hook: &Value,
) -> Result<(), String> {
    let list = hooks.entry(event).or_insert_with(|| json!([]));
    let Some(list) = list.as_array_mut() else { return Err(format!("\"hooks.{event}\" is not a list")) };
    list.retain_mut(|entry| match entry.get_mut("hooks").and_then(Value::as_array_mut).filter(|_| wraps) {
        Some(own) => {
            let before = own.len();
            own.retain(|hook| !is_former(hook));
            own.len() == before || !own.is_empty()
        }
        None => wraps || !is_former(entry),
    });
    list.push(if wraps { json!({"matcher": "*", "hooks": [hook]}) } else { hook.clone() });
    Ok(())
}

/// The hooks of an event that run a program, also in another way than ours.
pub fn mentions<'s>(settings: &'s Value, event: &str, program: &str) -> Vec<FoundHook<'s>> {
    let entries = settings["hooks"][event].as_array().map_or(&[][..], Vec::as_slice);
    let hooks: Vec<(&Value, &Value)> = entries
        .iter()
        .flat_map(|entry| match entry["hooks"].as_array() {
            Some(hooks) => hooks.iter().map(|hook| (hook, entry)).collect::<Vec<_>>(),
            None => vec![(entry, entry)],
        })
        .collect();
    let last = hooks.len().saturating_sub(1);
    let found =
        hooks.iter().enumerate().filter(|(_, (hook, _))| command(hook).is_some_and(|text| text.contains(program)));
    found.map(|(index, (hook, entry))| FoundHook { hook, entry, is_last: index == last }).collect()
}

/// Whether a hook's command is exactly one that install writes.
pub fn is_ours(client: &Client, hook: &Value) -> bool {
    hook.get("args").is_none() && command(hook).is_some_and(|text| client.is_written_by_us(text))
}

/// Whether a hook's command is the one with which install asks an approver.
fn is_asking(hook: &Value) -> bool {
    let arguments = asking("");
    let arguments = command(&arguments).unwrap_or_default();
    hook.get("args").is_none() && command(hook).is_some_and(|text| runs(ASKER, text, "", arguments))
}

/// The command of a hook, a shell's text.
pub fn command(hook: &Value) -> Option<&str> {
    hook["command"].as_str().or_else(|| hook["bash"].as_str())
}

/// A JSON text without blanks and the content of strings.
pub fn skeleton(json: &str) -> String {
    let (mut skeleton, mut in_string, mut is_escaped) = (String::new(), false, false);
    for one in json.chars() {
        match one {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => {
                in_string = !in_string;
                skeleton.push(one);
            }
            _ if in_string || one.is_whitespace() => {}
            _ => skeleton.push(one),
        }
    }
    skeleton
}
