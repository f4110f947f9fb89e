//! A call as the choice of an action and the name of an element. The schema has only those that fit, and the conversation is one message: what
//! the world shows, the goal, and what was done. Before that, the model splits the goal into steps, and each answer begins with the next one;
//! otherwise a small model takes the first element, or the button that ends a form.

use super::{Kinds, args, kinds, line, object_of, schema_of};
use pipewright_record::{ActionChoice, Arguments, Choices, Fields, Message, ModelRequest, Part, ToolChoice};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The tool that takes the steps.
const PLAN: &str = "assistant_plan";
/// The most steps. A small model may never end a list.
const MOST_STEPS: usize = 8;
/// What the modes without an element are for. The descriptions of their tools are written for larger models.
const MEANS: [(&str, &str); 2] = [
    ("ask", "asks the person"),
    ("done", "ends the work when the goal is reached; the evidence is a text that is shown"),
];
/// The most tokens of a turn: a small model may never end a text.
const MOST_TOKENS: u64 = 400;

/// The request with the choices in place of its conversation, and the schema of its answer.
pub(super) fn by_choices(request: &ModelRequest, choices: &Choices) -> ModelRequest {
    let mut written = request.clone();
    let pictures = match request.messages.last() {
        Some(Message::User(parts)) if !choices.wants_plan => {
            parts.iter().filter(|part| matches!(part, Part::Image(_))).cloned().collect()
        }
        _ => Vec::new(),
    };
    let parts = std::iter::once(Part::Text(choices.prompt.clone())).chain(pictures);
    written.messages = vec![Message::User(parts.collect())];
    written.tools.clear();
    written.tool_choice = ToolChoice::Auto;
    written.max_output_tokens = Some(request.max_output_tokens.map_or(MOST_TOKENS, |most| most.min(MOST_TOKENS)));
    let Choices { system, example, .. } = choices;
    let description = description(request, choices);
    written.system = Some([system.trim(), &description, example.trim()].join("\n").trim().to_owned());
    // A report has no calls, but the same beginning as the requests before it.
    let is_report = request.tool_choice == ToolChoice::None;
    let schema = json!({"anyOf": forms(request, choices)});
    written.schema = RawValue::from_string(schema.to_string()).ok().filter(|_| !is_report);
    written
}

/// The calls of an answer that chooses an action, or plans.
pub fn chosen(answer: &str, request: &ModelRequest) -> Option<Vec<(String, Arguments)>> {
    let choices = request.choices.as_ref()?;
    let fields = Fields::read(answer.trim()).ok()?;
    let (tool, arguments) = if choices.wants_plan { plan(&fields)? } else { action(&fields, choices)? };
    Some(vec![(tool, Arguments::Object(RawValue::from_string(arguments.to_string()).ok()?))])
}

fn action(fields: &Fields<'_>, choices: &Choices) -> Option<(String, Value)> {
    let (mode, element, text) = (fields.text("mode")?, fields.text("element")?, fields.text("text"));
    let of_verb = choices.actions.iter().filter(|action| action.verb == mode);
    let call =
        |action: &ActionChoice| Some((action.tool.clone(), action.arguments_for(&element, text.as_deref())?.into()));
    of_verb.filter_map(call).next()
}

/// The steps of an answer, each once: a small model may repeat the last one up to the limit.
fn plan(fields: &Fields<'_>) -> Option<(String, Value)> {
    let mut steps: Vec<String> = serde_json::from_str(fields.present("steps")?.get()).ok()?;
    let mut seen = HashSet::new();
    steps.retain(|step| !step.trim().is_empty() && seen.insert(step.clone()));
    Some((PLAN.to_owned(), json!({"steps": steps}))).filter(|_| !seen.is_empty())
}

/// The tools that are not called by a choice. Those that are no core tools are not offered: their names distract.
fn other_kinds<'a>(request: &'a ModelRequest, choices: &Choices) -> Kinds<'a> {
    let mut kinds = kinds(request);
    kinds.core.retain(|(tool, _)| !choices.actions.iter().any(|action| action.tool == tool.name));
    kinds
}

fn description(request: &ModelRequest, choices: &Choices) -> String {
    if choices.wants_plan {
        return "Answer with one JSON object, the steps of the goal, each one action on one element, without steps to look or to scroll:\n\
                - {\"steps\":[TEXT,...]}"
            .to_owned();
    }
    let Kinds { words, core, .. } = other_kinds(request, choices);
    let mut text = "Answer with one JSON object, the next step of the goal and its action:".to_owned();
    let mut add = |rest: &str, means: &str| {
        text.push_str(format!("\n- {{\"step\":TEXT,\"mode\":{rest}}} {means}").trim_end());
    };
    let mut verbs: Vec<&str> = Vec::new();
    for ActionChoice { verb, means, text, .. } in &choices.actions {
        if !verbs.contains(&&**verb) {
            verbs.push(verb);
            let written = if text.is_some() { ",\"text\":TEXT" } else { "" };
            add(&format!("\"{verb}\",\"element\":ELEMENT{written}"), means);
        }
    }
    for (mode, tool) in &words {
        let fields: Vec<String> = required(tool).iter().map(|(name, _)| format!(",\"{name}\":TEXT")).collect();
        let means = MEANS.iter().find(|(own, _)| own == mode).map_or("", |(_, means)| means);
        add(&format!("\"{mode}\"{}", fields.concat()), means);
    }
    if !core.is_empty() {
        add("\"act\",\"tool\":NAME,\"args\":{...}", "calls one of these tools:");
        core.iter().for_each(|(tool, schema)| text.push_str(&line(tool, schema)));
    }
    text
}

/// The arguments that a tool requires, with their schemas.
fn required(tool: &pipewright_record::OwnedTool) -> Vec<(String, Value)> {
    let own = args(&schema_of(tool, None));
    let names = own["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), own["properties"][name].clone())).collect()
}

/// The forms of an answer.
fn forms(request: &ModelRequest, choices: &Choices) -> Vec<Value> {
    if choices.wants_plan {
        let steps = json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_STEPS});
        return vec![object_of([("steps", steps)])];
    }
    let Kinds { words, core, .. } = other_kinds(request, choices);
    let step = choices.step.as_deref();
    let mut forms: Vec<Value> = choices
        .actions
        .iter()
        .filter(|action| !action.elements.is_empty())
        .map(|action| of_action(action, step))
        .collect();
    // A small model likes to say that it is done before it has begun.
    let may_end = (choices.has_begun && step.is_none()) || forms.is_empty();
    let act = |tool: &str, own: &Value| {
        form(step, "act", vec![("tool".to_owned(), json!({"const": tool})), ("args".to_owned(), args(own))])
    };
    let words = words.iter().filter(|(mode, _)| *mode != "done" || may_end);
    forms.extend(words.map(|(mode, tool)| form(step, mode, required(tool))));
    forms.extend(core.iter().map(|(tool, schema)| act(&tool.name, schema)));
    forms
}

fn of_action(action: &ActionChoice, step: Option<&str>) -> Value {
    let elements: Vec<&String> = action.elements.keys().collect();
    let mut fields = vec![("element".to_owned(), json!({"enum": elements}))];
    if action.text.is_some() {
        let texts = if action.texts.is_empty() { json!({"type": "string"}) } else { json!({"enum": action.texts}) };
        fields.push(("text".to_owned(), texts));
    }
    form(step, &action.verb, fields)
}

/// An object of the step, a mode and these fields, in this order: models write them so.
fn form(step: Option<&str>, mode: &str, fields: Vec<(String, Value)>) -> Value {
    let step = step.map_or(json!({"type": "string"}), |step| json!({"const": step}));
    let mut form = object_of([("step", step), ("mode", json!({"const": mode}))]);
    for (name, schema) in fields {
        if let Some(required) = form["required"].as_array_mut() {
            required.push(json!(name));
        }
        form["properties"][name] = schema;
    }
    form
}
