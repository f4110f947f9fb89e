//! A request in the form that a server accepts.

use super::names::{ToolNames, is_accepted};
use super::{Abilities, Ability};
use crate::{object_calls, text_calls, without_schema};
use pipewright_record::json::{Object, quoted};
use pipewright_record::{CallForm, Fields, Image, ImageSource, Message, ModelRequest, OwnTurn, Part, ToolChoice};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The text in the place of a picture that is left out.
const NO_PICTURES: &str = "[A picture is left out here: the model takes none.]";
const REFUSED_PICTURE: &str = "[A picture is left out here: the server refused it.]";

/// The answer in front of a picture, for servers that accept no message after a result.
const SEEN: &str = "The picture of the result follows.";

/// The request as it is encoded. Most requests are not changed.
pub(super) fn shape<'a>(request: &'a ModelRequest, abilities: &Abilities, names: &ToolNames) -> Cow<'a, ModelRequest> {
    let mut shaped = Cow::Borrowed(request);
    let takes_images = abilities.has(Ability::Images) && abilities.has(Ability::Parts);
    let is_out = |hash: u64| !takes_images || abilities.left_out.contains(&hash);
    if pictures(request).any(is_out) {
        without_pictures(shaped.to_mut(), is_out, if takes_images { REFUSED_PICTURE } else { NO_PICTURES });
    }
    if shaped.schema.is_some() && !abilities.has(Ability::Schema) {
        shaped = Cow::Owned(without_schema(&shaped));
    }
    match form(&shaped, abilities) {
        None | Some(CallForm::Structured) => {}
        Some(CallForm::Schema) => shaped = Cow::Owned(object_calls::by_schema(&shaped)),
        Some(CallForm::Text) => shaped = Cow::Owned(text_calls::without_tools(&shaped)),
    }
    if !abilities.has(Ability::RequiredCall) && shaped.tool_choice == ToolChoice::Any {
        shaped.to_mut().tool_choice = ToolChoice::Auto;
    }
    if let Some(most) = abilities.most_output
        && shaped.max_output_tokens.is_none_or(|limit| limit > most)
    {
        shaped.to_mut().max_output_tokens = Some(most);
    }
    let schemas: Vec<Option<String>> = shaped.tools.iter().map(|tool| complete(&tool.input_schema)).collect();
    if schemas.iter().any(Option::is_some) {
        for (tool, schema) in shaped.to_mut().tools.iter_mut().zip(schemas) {
            tool.input_schema = schema.unwrap_or(std::mem::take(&mut tool.input_schema));
        }
    }
    if !names_of(&shaped).all(is_accepted) {
        rename(shaped.to_mut(), names);
    }
    if shaped.messages.iter().any(is_empty) {
        shaped.to_mut().messages.retain(|message| !is_empty(message));
    }
    if !abilities.has(Ability::CallIds) && shaped.messages.iter().any(has_calls) {
        shorten_ids(shaped.to_mut());
    }
    if !abilities.has(Ability::UserAfterTool) {
        join_results(shaped.to_mut());
    }
    if !abilities.has(Ability::System) && shaped.system.is_some() {
        let system = shaped.to_mut().system.take();
        let first = Message::User(system.into_iter().map(Part::Text).collect());
        shaped.to_mut().messages.insert(0, first);
    }
    let is_pair = |pair: &[Message]| matches!(pair, [Message::User(_), Message::User(_)]);
    if shaped.messages.windows(2).any(is_pair) {
        join_users(shaped.to_mut());
    }
    if !abilities.has(Ability::Parts) {
        join_texts(shaped.to_mut());
    }
    shaped
}

/// The form in which calls are asked for; `None` if there are none. A conversation that has begun with JSON objects or lines of text keeps
/// them: what is known of a server is forgotten after a while.
pub(super) fn form(request: &ModelRequest, abilities: &Abilities) -> Option<CallForm> {
    let kept = request.messages.iter().rev().find_map(|message| match message {
        Message::Assistant(turn) => turn.form,
        _ => None,
    });
    if request.tools.is_empty() && !request.messages.iter().any(has_calls) {
        None
    } else if abilities.has(Ability::Tools) && kept.is_none_or(|form| form == CallForm::Structured) {
        Some(CallForm::Structured)
    } else if abilities.has(Ability::Schema)
        && kept != Some(CallForm::Text)
        && request.schema.is_none()
        && !request.tools.is_empty()
    {
        Some(CallForm::Schema)
    } else {
        Some(CallForm::Text)
    }
}

fn parts(message: &Message) -> &[Part] {
    match message {
        Message::User(parts) | Message::Tool { content: parts, .. } => parts,
        Message::Assistant(_) => &[],
    }
}

fn hash_of(image: &Image) -> u64 {
    let mut hash = DefaultHasher::new();
    match &image.source {
        ImageSource::Base64(data) => data.hash(&mut hash),
        ImageSource::File { path, sha256 } => (path, sha256).hash(&mut hash),
    }
    hash.finish()
}

/// The hashes of a request's pictures.
pub(super) fn pictures(request: &ModelRequest) -> impl Iterator<Item = u64> {
    let all = request.messages.iter().flat_map(parts);
    all.filter_map(|part| match part {
        Part::Image(image) => Some(hash_of(image)),
        Part::Text(_) => None,
    })
}

fn without_pictures(request: &mut ModelRequest, is_out: impl Fn(u64) -> bool, instead: &str) {
    for message in &mut request.messages {
        let (Message::User(parts) | Message::Tool { content: parts, .. }) = message else { continue };
        for part in parts {
            if matches!(part, Part::Image(image) if is_out(hash_of(image))) {
                *part = Part::Text(instead.to_owned());
            }
        }
    }
}

fn has_calls(message: &Message) -> bool {
    matches!(message, Message::Assistant(turn) if !turn.calls.is_empty())
}

/// Whether it is a turn without content, which servers refuse.
fn is_empty(message: &Message) -> bool {
    matches!(message, Message::Assistant(turn) if turn.calls.is_empty() && turn.text.trim().is_empty())
}

fn names_of(request: &ModelRequest) -> impl Iterator<Item = &str> {
    let calls = request.messages.iter().flat_map(|message| match message {
        Message::Assistant(turn) => &turn.calls[..],
        _ => &[],
    });
    request.tools.iter().map(|tool| &*tool.name).chain(calls.map(|call| &*call.tool_name))
}

/// Gives tools and calls the names that are sent; the provider's own turns have them already.
fn rename(request: &mut ModelRequest, names: &ToolNames) {
    for tool in &mut request.tools {
        tool.name = names.sent(&tool.name);
    }
    for call in turns(request).flat_map(|turn| &mut turn.calls) {
        call.tool_name = names.sent(&call.tool_name);
    }
}

fn turns(request: &mut ModelRequest) -> impl Iterator<Item = &mut OwnTurn> {
    request.messages.iter_mut().filter_map(|message| match message {
        Message::Assistant(turn) => Some(turn),
        _ => None,
    })
}

/// A schema in which every object has properties and every list has items, as some servers require; `None` if it is complete.
fn complete(schema: &str) -> Option<String> {
    let fields = Fields::read(schema).ok()?;
    let mut is_changed = false;
    let mut within = |json: &RawValue| {
        let completed = complete(json.get());
        is_changed |= completed.is_some();
        completed.unwrap_or_else(|| json.get().to_owned())
    };
    let mut new = Object::default();
    for (key, json) in fields.iter() {
        let value = match key {
            "properties" | "$defs" | "definitions" => {
                let all = Fields::read(json.get()).unwrap_or_default();
                let all = all.iter().fold(Object::default(), |object, (name, json)| object.put_any(name, within(json)));
                all.end()
            }
            "items" | "additionalProperties" | "not" => within(json),
            "anyOf" | "oneOf" | "allOf" => {
                let list = fields.list(key).unwrap_or_default();
                format!("[{}]", list.into_iter().map(&mut within).collect::<Vec<_>>().join(","))
            }
            _ => json.get().to_owned(),
        };
        new = new.put_any(key, value);
    }
    let has_type = |name: &str| fields.present("type").is_some_and(|kind| kind.get().contains(&quoted(name)));
    let is_bare = fields.iter().next().is_none();
    let missing = [("object", "properties"), ("array", "items")];
    for (_, key) in missing.into_iter().filter(|(kind, key)| has_type(kind) && fields.present(key).is_none()) {
        new = new.put(key, "{}");
        is_changed = true;
    }
    (is_changed && !is_bare).then(|| new.end())
}

/// Gives calls ids of nine letters and digits, derived from their own.
fn shorten_ids(request: &mut ModelRequest) {
    let short = |id: &str| {
        let is_short = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_short { id.to_owned() } else { nine_letters(id) }
    };
    for message in &mut request.messages {
        match message {
            Message::Tool { call_id, .. } => *call_id = short(call_id),
            Message::Assistant(turn) => {
                for call in &mut turn.calls {
                    let new = short(&call.call_id);
                    if new != call.call_id {
                        // The provider's own turn has the old one.
                        turn.raw = None;
                        call.call_id = new;
                    }
                }
            }
            Message::User(_) => {}
        }
    }
}

/// An id from the 64-bit FNV-1a hash, so that it is the same in every process.
fn nine_letters(id: &str) -> String {
    let hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    (0..9).scan(hash, |left, _| Some((LETTERS[(*left % 36) as usize] as char, *left /= 36).0)).collect()
}

/// Puts the texts of a user's message into the result in front of it. Pictures stay in a message, after a turn of the model.
fn join_results(request: &mut ModelRequest) {
    let mut joined: Vec<Message> = Vec::new();
    let mut pictures = Vec::new();
    let flush = |joined: &mut Vec<Message>, pictures: &mut Vec<Part>| {
        if !pictures.is_empty() {
            let text = SEEN.to_owned();
            let (provider, model) = (String::new(), String::new());
            joined.push(Message::Assistant(OwnTurn {
                provider,
                model,
                raw: None,
                text,
                calls: Vec::new(),
                form: None,
            }));
            joined.push(Message::User(std::mem::take(pictures)));
        }
    };
    for message in std::mem::take(&mut request.messages) {
        match message {
            Message::Tool { call_id, content, is_error } => {
                let (images, texts): (Vec<_>, Vec<_>) =
                    content.into_iter().partition(|part| matches!(part, Part::Image(_)));
                pictures.extend(images);
                joined.push(Message::Tool { call_id, content: texts, is_error });
            }
            Message::User(parts) => match joined.last_mut() {
                Some(Message::Tool { content, .. }) => {
                    let (images, texts): (Vec<_>, Vec<_>) =
                        parts.into_iter().partition(|part| matches!(part, Part::Image(_)));
                    pictures.extend(images);
                    content.extend(texts);
                }
                _ => joined.push(Message::User(parts)),
            },
            Message::Assistant(turn) => {
                flush(&mut joined, &mut pictures);
                joined.push(Message::Assistant(turn));
            }
        }
    }
    flush(&mut joined, &mut pictures);
    request.messages = joined;
}

/// Joins messages of the user that stand side by side: many templates require alternating roles.
fn join_users(request: &mut ModelRequest) {
    let mut joined: Vec<Message> = Vec::new();
    for message in std::mem::take(&mut request.messages) {
        match (joined.last_mut(), message) {
            (Some(Message::User(parts)), Message::User(more)) => parts.extend(more),
            (_, message) => joined.push(message),
        }
    }
    request.messages = joined;
}

/// Joins the texts of each message.
fn join_texts(request: &mut ModelRequest) {
    for message in &mut request.messages {
        let (Message::User(parts) | Message::Tool { content: parts, .. }) = message else { continue };
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image(_) => None,
        });
        *parts = vec![Part::Text(texts.collect::<Vec<_>>().join("\n\n"))];
    }
}
