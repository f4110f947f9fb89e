//! What a failure says that the server refuses. Servers have no common code for this, and each has its own words: so a message is read
//! for the part of the request that it names, and for a word of refusal.

use super::body::{MESSAGES, is_optional};
use super::{Abilities, Ability, Refusal};
use crate::Failure;
use crate::overflow::is_only_output;
use pipewright_record::{CallForm, Fields, Kind, Message, ModelRequest, ToolChoice};
use std::collections::BTreeSet;

/// Words of refusal, in lower case.
const REFUSES: [&str; 30] = [
    "not support",
    "unsupported",
    "not permitted",
    "not allowed",
    "not accept",
    "not enabled",
    "not available",
    "unavailable",
    "not implemented",
    "not a valid",
    "not recognized",
    "unknown",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "extra input",
    "extra field",
    "extra_forbidden",
    "disabled",
    "invalid",
    "removed",
    "deprecated",
    "requires ",
    "no endpoints",
    "cannot",
    "can't",
    "only ",
    "must be",
    "unable",
    "does not",
];

/// What a server says of a fault that passes.
const PASSES: [&str; 2] = ["temporarily", "try again"];

/// Words of refusal for a field of messages: others may demand it.
const NO_FIELD: [&str; 9] = [
    "not support",
    "unsupported",
    "not permitted",
    "not allowed",
    "not accept",
    "unknown",
    "unrecognized",
    "extra input",
    "extra_forbidden",
];

/// For a model, or a configuration, without tools.
const NO_TOOLS: [&str; 6] = [
    // vLLM without --tool-call-parser
    "tool choice requires --enable-auto-tool-choice",
    // Ollama, for a model whose template has no tools
    "does not support tools",
    // OpenRouter, for a model without any provider that supports tools
    "support tool use",
    // llama.cpp
    "requires --jinja",
    // templates of models without tools
    "only user and assistant roles",
    "roles must alternate",
];

/// Names of the JSON Schema of an answer. Old servers support none, others only a part of JSON Schema.
const SCHEMA: [&str; 13] = [
    "response_format",
    // llama.cpp, for a schema that it cannot follow
    "grammar",
    "response format",
    "json_schema",
    "json schema",
    "structured output",
    "output_config",
    "responsejsonschema",
    "response_schema",
    "text.format",
    "response mime type",
    "response_mime_type",
    "responsemimetype",
];

const IMAGES: [&str; 9] =
    ["image", "picture", "vision", "multimodal", "multi-modal", "mmproj", "inlinedata", "inline_data", "visual"];

/// What is wrong with one picture: another one may be accepted.
const ONE_PICTURE: [&str; 22] = [
    "dimension",
    "size",
    "pixel",
    "mb",
    "bytes",
    "exceed",
    "too large",
    "too small",
    "too many",
    "at most",
    "format",
    "decode",
    "base64",
    "process",
    "media type",
    "media_type",
    "mime",
    "corrupt",
    "invalid image",
    "download",
    "load image",
    "truncated",
];

/// A model that takes no picture at all.
const NO_PICTURE: [&str; 10] = [
    "unknown variant",
    "at most 0",
    "mmproj",
    "not a multimodal",
    "text-only",
    "text only",
    "not support image",
    "not support vision",
    "support image input",
    "not supported by this model",
];

const SYSTEM: [&str; 12] = [
    "system role",
    "role 'system'",
    "role \"system\"",
    "role: system",
    "role system",
    "`system`",
    "'system'",
    "system message",
    "system prompt",
    "system instruction",
    "developer instruction",
    "system_instruction",
];

/// What a failure says that the server refuses of a request; `None` if it says nothing of this kind, or only what is known already.
/// `sent` is the body that was sent.
pub fn refusal(failure: &Failure, request: &ModelRequest, sent: &SentBody, abilities: &Abilities) -> Option<Refusal> {
    let message = failure.what.message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if !matches!(failure.what.kind, Kind::BadRequest | Kind::Unavailable) || failure.is_busy {
        return None;
    }
    if failure.what.kind == Kind::Unavailable && says(&PASSES) {
        return None;
    }
    let fields = &sent.fields;
    let has = |ability| abilities.has(ability);
    let ability = |ability| Some(Refusal::Ability(ability));
    let has_tools = has(Ability::Tools) && (!request.tools.is_empty() || has_results(request));
    let refuses = says(&REFUSES);
    if has_tools && says(&NO_TOOLS) {
        return ability(Ability::Tools);
    }
    let has_schema = request.schema.is_some() || sent.form == Some(CallForm::Schema);
    if has_schema && has(Ability::Schema) && says(&SCHEMA) {
        return ability(Ability::Schema);
    }
    if has_images(request, abilities) && says(&IMAGES) {
        let is_one = says(&ONE_PICTURE) && !says(&NO_PICTURE);
        return if is_one { Some(Refusal::Pictures) } else { ability(Ability::Images) };
    }
    if request.system.is_some() && has(Ability::System) && (says(&NO_TOOLS[4..]) || (refuses && says(&SYSTEM))) {
        return ability(Ability::System);
    }
    if has(Ability::UserAfterTool) && has_results(request) && is_about_order(&message) {
        return ability(Ability::UserAfterTool);
    }
    if has(Ability::CallIds) && has_results(request) && is_about_ids(&message) {
        return ability(Ability::CallIds);
    }
    let is_required = request.tool_choice == ToolChoice::Any && has(Ability::RequiredCall) && !request.tools.is_empty();
    if is_required && refuses && says(&["tool_choice", "tool choice", "toolchoice", "calling_config", "callingconfig"])
    {
        return ability(Ability::RequiredCall);
    }
    let limit = sent.limit.filter(|_| is_only_output(&message));
    if let Some(most) = limit.and_then(|limit| lower_limit(&message, limit)) {
        return Some(Refusal::Limit(most));
    }
    let own = sent.of_messages.iter().filter(|name| has_word(&message, &name.to_lowercase()));
    if let Some(name) = own.max_by_key(|name| name.len()).filter(|_| says(&["message"]) && says(&NO_FIELD)) {
        return Some(Refusal::Field(format!("{MESSAGES}{name}")));
    }
    if let Some(field) = refused_field(failure, &message, fields, refuses) {
        return match &*field {
            "stream" if has(Ability::Streaming) => ability(Ability::Streaming),
            _ => Some(Refusal::Field(field)).filter(|_| !abilities.leaves_out(&field_of(failure, &message, fields))),
        };
    }
    let streams = has(Ability::Streaming) && fields.iter().any(|field| field == "stream");
    if streams && refuses && says(&["streaming", "\"stream\"", "'stream'", "`stream`", "stream is", "stream="]) {
        return ability(Ability::Streaming);
    }
    if has(Ability::Parts)
        && message.contains("content")
        && says(&["a string", "sequence", "a str", "be str", "null", "none is not"])
    {
        return ability(Ability::Parts);
    }
    let is_about_tools = says(&["tools", "tool use", "tool call", "function call", "functions"]);
    // A model that has called a tool is trusted.
    let has_called = abilities.has_called;
    if has_tools
        && !has_called
        && refuses
        && is_about_tools
        && !says(&["schema", "].function", "parameters", "name", "pattern"])
    {
        return ability(Ability::Tools);
    }
    None
}

/// The names of the fields of a body's messages that not every server knows.
fn fields_of_messages(body: &Fields<'_>) -> BTreeSet<String> {
    const KNOWN: [&str; 5] = ["role", "content", "tool_calls", "tool_call_id", "name"];
    let mut names = BTreeSet::new();
    for message in body.list("messages").unwrap_or_default() {
        let fields = Fields::read(message.get()).unwrap_or_default();
        names.extend(fields.iter().map(|(name, _)| name.to_owned()).filter(|name| !KNOWN.contains(&&**name)));
    }
    names
}

fn field_of(failure: &Failure, message: &str, fields: &[String]) -> String {
    refused_field(failure, message, fields, true).unwrap_or_default()
}

/// The optional field of the body that the server names.
fn refused_field(failure: &Failure, message: &str, fields: &[String], refuses: bool) -> Option<String> {
    let optional = || fields.iter().filter(|field| is_optional(field));
    if let Some(param) = &failure.param
        && let Some(field) = optional().find(|field| *field == param)
    {
        return Some(field.clone());
    }
    let limit = |field: &&String| field.starts_with("max_");
    if is_only_output(message)
        && let Some(field) = optional().find(limit)
    {
        return Some(field.clone());
    }
    let named = || optional().filter(|field| has_word(message, &field.to_lowercase()));
    named().max_by_key(|field| field.len()).filter(|_| refuses).cloned()
}

/// Whether a text has a name that is not a part of a longer one. Names that are also English words must be marked as names.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || "_-".contains(character);
    let is_plain = ["stop", "stream", "user", "include", "format", "text", "reasoning", "thinking"].contains(&name);
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        let is_marked = |character: char| "'\"`:=".contains(character);
        !before.is_some_and(is_part)
            && !after.is_some_and(is_part)
            && (!is_plain || before.is_some_and(is_marked) || after.is_some_and(is_marked))
    })
}

fn has_results(request: &ModelRequest) -> bool {
    request.messages.iter().any(|message| match message {
        Message::Tool { .. } => true,
        Message::Assistant(turn) => !turn.calls.is_empty(),
        Message::User(_) => false,
    })
}

fn has_images(request: &ModelRequest, abilities: &Abilities) -> bool {
    abilities.has(Ability::Images)
        && abilities.has(Ability::Parts)
        && super::shape::pictures(request).any(|hash| !abilities.left_out.contains(&hash))
}

/// Whether it is about a message of the user behind the result of a tool.
fn is_about_order(message: &str) -> bool {
    ["role", "message"].iter().any(|word| message.contains(word))
        && message.contains("user")
        && message.contains("tool")
        && ["after", "unexpected", "follow", "order"].iter().any(|word| message.contains(word))
}

/// Whether it is about the form of a call's id.
fn is_about_ids(message: &str) -> bool {
    let is_id = |word: &str| word == "id" || word == "ids" || word.ends_with("_id");
    let mut words = message.split(|character: char| !character.is_alphanumeric() && character != '_');
    words.any(is_id)
        && ["call", "tool"].iter().any(|word| message.contains(word))
        && ["length", "pattern", "characters", "must be a-z", "too long", "invalid format"]
            .iter()
            .any(|word| message.contains(word))
}

/// The highest limit that a message names below the sent one. A lower number is something else.
fn lower_limit(message: &str, sent: u64) -> Option<u64> {
    const LEAST: u64 = 256;
    let numbers = message.split(|each: char| !each.is_ascii_digit() && each != ',');
    let numbers = numbers.filter_map(|number| number.replace(',', "").parse().ok());
    numbers.filter(|number| (LEAST..sent).contains(number)).max()
}

/// What a refusal can be about in a body that was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentBody {
    /// The names of its fields.
    fields: Vec<String>,
    /// The names of what its messages have besides the fields that every server knows: parts of the model's own turns.
    of_messages: BTreeSet<String>,
    /// Its limit of the turn's tokens.
    limit: Option<u64>,
    form: Option<CallForm>,
}

impl SentBody {
    /// The form in which it asks for calls.
    pub fn form(&self) -> Option<CallForm> {
        self.form
    }

    /// Of this body, JSON text, which asks for calls in this form.
    pub fn of(body: &str, form: Option<CallForm>) -> SentBody {
        let fields = Fields::read(body).unwrap_or_default();
        let limit = fields.iter().find_map(|(name, _)| fields.count(name).filter(|_| name.starts_with("max_")));
        let of_messages = fields_of_messages(&fields);
        SentBody { of_messages, fields: fields.iter().map(|(name, _)| name.to_owned()).collect(), limit, form }
    }
}
