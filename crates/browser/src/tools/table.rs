//! The tools: their names, arguments and implementations.

use super::{Problem, ProblemKind, ToolResult, ToolSession};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Instant;

/// A tool, as callers see it.
#[derive(Debug, Clone)]
pub struct ToolDescription {
    /// Its name in calls.
    pub name: &'static str,
    /// For people and models.
    pub description: &'static str,
    /// JSON Schema of its arguments, an object.
    pub input_schema: Value,
    /// MCP's `ToolAnnotations`.
    pub annotations: Value,
}

/// A tool and its implementation.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) declared: ToolDescription,
    pub(super) run: fn(&mut ToolSession, &str, Instant) -> ToolResult,
}

/// The tool that runs scripts; only present if allowed.
pub(super) const EVALUATE: &str = "browser_evaluate";

/// What a tool may change.
#[derive(Clone, Copy)]
enum Effect {
    /// Nothing.
    Reads,
    /// The view, but not what the page or its server stores.
    Shows,
    /// Anything that a person at the page could change.
    Acts,
}

/// Arguments of a tool, and its implementation.
pub(super) trait Arguments: DeserializeOwned + JsonSchema {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult;
}

fn run<A: Arguments>(session: &mut ToolSession, arguments: &str, until: Instant) -> ToolResult {
    let arguments: A = serde_json::from_str(arguments)
        .map_err(|error| Problem::new(ProblemKind::InvalidArgs, format!("the arguments do not fit: {error}")))?;
    arguments.run(session, until)
}

fn tool<A: Arguments>(name: &'static str, effect: Effect, description: &'static str) -> Tool {
    let annotations = match effect {
        Effect::Reads => json!({"readOnlyHint": true}),
        Effect::Shows => json!({"readOnlyHint": false, "destructiveHint": false}),
        Effect::Acts => json!({"readOnlyHint": false}),
    };
    Tool { declared: ToolDescription { name, description, input_schema: schema::<A>(), annotations }, run: run::<A> }
}

fn schema<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if let Some(members) = schema.as_object_mut() {
        members.remove("$schema");
        members.remove("title");
        members.remove("description");
    }
    plain(&mut schema);
    schema
}

/// Removes what some model providers reject: custom formats, and null as a type (an optional argument is left out
/// instead).
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.remove("format");
            members.retain(|key, value| key != "default" || !value.is_null());
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    members.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(values)) = members.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
                choices.retain(|choice| *choice != json!({"type": "null"}));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    members.remove("anyOf");
                    for (key, value) in only {
                        members.entry(key).or_insert(value);
                    }
                }
            }
            members.values_mut().for_each(plain);
        }
        Value::Array(values) => values.iter_mut().for_each(plain),
        _ => {}
    }
}

/// The tools as callers see them.
pub fn declared(evaluates: bool) -> Vec<ToolDescription> {
    all(evaluates).into_iter().map(|tool| tool.declared).collect()
}

pub(super) fn all(evaluates: bool) -> Vec<Tool> {
    use super::{
        acting, banners, keyboard, listing, navigate, overlay, pointing, reading, requests, resize, tabs, transfer,
    };
    use Effect::{Acts, Reads, Shows};
    let mut tools = vec![
        tool::<navigate::Navigate>(
            "browser_navigate",
            Acts,
            "Goes to an address and returns its HTTP status and title.",
        ),
        tool::<navigate::Wait>(
            "browser_wait",
            Reads,
            "Waits until all named conditions hold, or for a number of milliseconds; fails with kind timeout.",
        ),
        tool::<navigate::Back>("browser_back", Acts, "Goes one page back in the history of the tab."),
        tool::<navigate::Forward>("browser_forward", Acts, "Goes one page forward in the history of the tab."),
        tool::<navigate::Reload>("browser_reload", Acts, "Loads the page again."),
        tool::<listing::List>(
            "browser_list_interactives",
            Reads,
            "Lists the elements that can be acted on, each with the number that acting tools take: \"7 button Pay \
             now\"; marks such as (disabled), (covered) or (off-screen) follow the role.",
        ),
        tool::<overlay::ShowOverlay>(
            "browser_overlay_show",
            Shows,
            "Draws the numbers of the elements over the page, for browser_screenshot; they stay until \
             browser_overlay_hide.",
        ),
        tool::<overlay::HideOverlay>(
            "browser_overlay_hide",
            Shows,
            "Removes the numbers that browser_overlay_show has drawn.",
        ),
        tool::<acting::Act>(
            "browser_overlay_act",
            Acts,
            "Clicks an element, types into it, or selects one of its options, by its number. Enter is pressed after \
             typing only with submit, or in a field of the role searchbox.",
        ),
        tool::<acting::Act>("browser_act_by_index", Acts, "The same as browser_overlay_act."),
        tool::<listing::Find>(
            "browser_find",
            Reads,
            "Finds elements of the whole page by role and by a part of their name.",
        ),
        tool::<keyboard::FocusNext>(
            "browser_focus_next",
            Shows,
            "Presses Tab until an element of the role has the focus, at most 20 times.",
        ),
        tool::<keyboard::FocusPrevious>(
            "browser_focus_prev",
            Shows,
            "Presses Shift+Tab until an element of the role has the focus, at most 20 times.",
        ),
        tool::<keyboard::Press>(
            "browser_press",
            Acts,
            "Presses a key, such as Enter, Escape, ArrowDown, a or Control+a, in the element with the focus or in the \
             one that is named.",
        ),
        tool::<acting::Scroll>(
            "browser_scroll",
            Shows,
            "Scrolls the page or a part of it to its top or bottom, to an element, or by a distance.",
        ),
        tool::<tabs::OpenInNewTab>(
            "browser_open_in_new_tab",
            Acts,
            "Opens the address of a link in a new tab and switches to it.",
        ),
        tool::<tabs::Switch>(
            "browser_switch_tab",
            Shows,
            "Switches to another tab, by its number from 0 or a part of its title.",
        ),
        tool::<tabs::List>("browser_tabs", Reads, "Lists the tabs; the other tools act on the active one."),
        tool::<tabs::Close>("browser_close_tab", Acts, "Closes a tab; the active one if no number is given."),
        tool::<tabs::Dialog>(
            "browser_dialog",
            Acts,
            "Answers the alert, confirm, prompt or beforeunload dialog that holds the page up.",
        ),
        tool::<pointing::Hover>("browser_hover", Shows, "Moves the mouse over an element, or to a point."),
        tool::<pointing::Drag>(
            "browser_drag",
            Acts,
            "Drags an element, or from a point, onto another element or by a distance.",
        ),
        tool::<pointing::SelectText>(
            "browser_select_text",
            Shows,
            "Selects a text of the page, or all text of an element, for what comes next: a key, a button of an editor.",
        ),
        tool::<transfer::ClickAndWait>(
            "browser_click_and_wait_download",
            Acts,
            "Clicks an element and waits for the download that it starts.",
        ),
        tool::<transfer::Wait>(
            "browser_download_wait",
            Reads,
            "Waits for a download, including one that began earlier, and returns its file.",
        ),
        tool::<transfer::Upload>(
            "browser_upload",
            Acts,
            "Gives files to a file input, to an element that opens a file chooser, or to the file chooser that is open. They \
             must be in the folder for uploads.",
        ),
        tool::<banners::CloseBanners>(
            "browser_close_banners",
            Acts,
            "Closes cookie and consent banners: declines if possible.",
        ),
        tool::<reading::Read>("browser_extract", Reads, "Returns the title, address, text and counts of the page."),
        tool::<reading::Pdf>("browser_pdf", Reads, "Prints the page as PDF and returns its path."),
        tool::<reading::Console>(
            "browser_console",
            Reads,
            "Returns the messages of the console and the failed requests since the last call.",
        ),
        tool::<resize::Resize>(
            "browser_resize",
            Shows,
            "Changes the size of the page, touch screen or mouse, and dark or light colours.",
        ),
        tool::<requests::Requests>(
            "browser_requests",
            Reads,
            "Lists the requests of the page: number, method, status, type, size, time and address; or returns one of them, \
             with its contents.",
        ),
        tool::<overlay::Screenshot>(
            "browser_screenshot",
            Reads,
            "Takes a picture of the page, or of one element, and returns its path; the numbers are on it while \
             browser_overlay_show is on.",
        ),
    ];
    if evaluates {
        tools.push(tool::<reading::Evaluate>(
            EVALUATE,
            Acts,
            "Runs JavaScript in the page: a function or an expression; returns its value as JSON.",
        ));
    }
    tools
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_of_objects_without_further_properties() {
        for ToolDescription { name, description, input_schema, .. } in declared(true) {
            assert_eq!(input_schema["type"], "object", "{name}");
            assert_eq!(input_schema["additionalProperties"], false, "{name}");
            assert!(description.ends_with('.'), "{name}");
            let text = input_schema.to_string();
            for none in ["null", "\"format\"", "$ref", "$defs", "oneOf", "title"] {
                assert!(
                    !text.contains(none) || (none == "title" && text.contains("title_contains")),
                    "{name}: {none}: {text}"
                );
            }
            let Some(properties) = input_schema["properties"].as_object() else { continue };
            for (key, property) in properties {
                assert!(property["description"].is_string(), "{name}: {key} has no description: {text}");
            }
        }
    }
}
