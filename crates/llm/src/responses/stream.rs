//! The streamed answer: events until `response.completed`, `response.incomplete` or `response.failed`.

#[cfg(test)]
mod tests;

use crate::assembly::{Assembly, event_text, list, raw};
use crate::chat::calls::arguments_of;
use crate::chat::failure;
use crate::chat::growing_text::{GrowingText, unescaped};
use crate::chat::message::between_quotes;
use crate::chat::usage::usage;
use crate::conversation::{CallIds, only_arguments, whole_calls};
use crate::{Failure, Token, TurnReader};
use pipewright_record::{Arguments, Fields, ModelCall, ModelRequest, ModelTurn, Stop, Usage};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The separator between messages, and between parts of the reasoning's summary.
const BREAK: &str = "\n\n";

/// How a response ended.
enum End {
    Complete,
    /// With `incomplete_details.reason`, which may be missing.
    Incomplete {
        reason: String,
    },
}

pub(super) struct Reader {
    model: String,
    ids: CallIds,
    /// JSON texts by their index in the output. They are taken when they are done: before, encrypted content may be
    /// incomplete.
    items: BTreeMap<u64, String>,
    /// The indices of the items whose arguments came in events of their own; `None` if an event does not tell.
    given: Vec<Option<u64>>,
    /// The text so far.
    text: GrowingText,
    reasoning: GrowingText,
    /// How the response ended.
    end: Option<End>,
    usage: Usage,
}

impl Reader {
    pub(super) fn new(request: &ModelRequest, model: &str) -> Reader {
        Reader {
            model: model.to_owned(),
            ids: CallIds::after(request),
            items: BTreeMap::new(),
            given: Vec::new(),
            text: GrowingText::default(),
            reasoning: GrowingText::default(),
            end: None,
            usage: Usage::default(),
        }
    }

    /// Takes the last event of a response with a turn.
    fn close(&mut self, response: &Fields<'_>, is_whole: bool) -> Result<(), Failure> {
        let items = response.list("output")?;
        if self.items.is_empty() {
            self.items = (0..).zip(items.into_iter().map(|item| item.get().to_owned())).collect();
        }
        let is_whole = is_whole && response.text("status").as_deref() != Some("incomplete");
        let reason = response.object("incomplete_details").and_then(|details| details.text("reason"));
        self.end = Some(match reason {
            Some(reason) => End::Incomplete { reason },
            None if is_whole => End::Complete,
            None => End::Incomplete { reason: String::new() },
        });
        Ok(())
    }

    /// Whether arguments came that no item has.
    fn has_lost_arguments(&self) -> bool {
        let has_some = |item: &String| {
            let arguments = Fields::read(item).ok().and_then(|item| item.present("arguments").map(RawValue::get));
            arguments.is_some_and(|json| !["\"\"", "\"{}\"", "{}"].contains(&json))
        };
        self.given.iter().any(|at| match at {
            Some(at) => !self.items.get(at).is_some_and(has_some),
            None => !self.items.values().filter(|item| item.contains("\"function_call\"")).all(has_some),
        })
    }

    fn count(&mut self, response: &Fields<'_>) {
        if let Some(counts) = response.object("usage") {
            self.usage = usage(&counts, ["input_tokens", "output_tokens"]);
        }
    }
}

impl TurnReader for Reader {
    fn take(&mut self, _name: &str, data: &[u8], tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let text = event_text(data)?;
        let text = text.trim();
        // Some compatible servers end with [DONE] as in Chat Completions.
        if text.is_empty() || text == "[DONE]" || self.end.is_some() {
            return Ok(());
        }
        let event = Fields::read(text)?;
        let delta = || event.get("delta").map_or("", |delta| between_quotes(delta.get()));
        let response = event.object("response").unwrap_or_default();
        match event.text("type").as_deref() {
            Some("response.output_text.delta" | "response.refusal.delta") => {
                tokens.push(Token::Text(self.text.push(delta())));
            }
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                tokens.push(Token::Reasoning(self.reasoning.push(delta())));
            }
            Some("response.output_item.added") if kind(event.get("item")) == "message" && !self.text.is_empty() => {
                tokens.push(Token::Text(self.text.push("\\n\\n")));
            }
            Some("response.reasoning_summary_part.added") if !self.reasoning.is_empty() => {
                tokens.push(Token::Reasoning(self.reasoning.push("\\n\\n")));
            }
            Some("response.output_item.done") => {
                if let (Some(at), Some(item)) = (event.count("output_index"), event.get("item")) {
                    self.items.insert(at, item.get().to_owned());
                }
            }
            Some("response.function_call_arguments.delta" | "response.function_call_arguments.done") => {
                let given = event.present("arguments").or(event.present("delta")).map_or("", RawValue::get);
                let at = event.count("output_index");
                if !["", "\"\"", "\"{}\"", "{}"].contains(&given) && !self.given.contains(&at) {
                    self.given.push(at);
                }
            }
            Some(end @ ("response.completed" | "response.incomplete")) => {
                self.count(&response);
                if matches!(response.text("status").as_deref(), Some("failed" | "cancelled")) {
                    return Err(Failure::cut());
                }
                self.close(&response, end == "response.completed")?;
            }
            Some("response.failed") => {
                self.count(&response);
                return Err(failure::in_stream(event.get("response").map_or(text, RawValue::get)));
            }
            Some("error") => return Err(failure::in_stream(text)),
            // llama.cpp and proxies
            None if event.present("error").is_some() => return Err(failure::in_stream(text)),
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(mut self: Box<Self>) -> Result<ModelTurn, Failure> {
        let has_lost = self.has_lost_arguments();
        let Some(end) = self.end else { return Err(Failure::cut()) };
        let mut output = Output::default();
        let mut items = Vec::new();
        for item in self.items.values() {
            items.push(output.add(item, &mut self.ids)?);
        }
        let stop = match end {
            End::Incomplete { reason } if reason == "content_filter" => Stop::Refusal,
            // `max_output_tokens`, and unknown reasons: the turn may be cut anywhere.
            End::Incomplete { reason } if !["max_messages", "steered"].contains(&&*reason) => Stop::Length,
            _ if !output.calls.is_empty() => Stop::Call,
            _ if output.is_refusal => Stop::Refusal,
            _ => Stop::End,
        };
        if stop == Stop::Call && has_lost {
            return Err(Failure::protocol("the arguments of a call have come, but its item does not have them"));
        }
        Ok(ModelTurn {
            stop,
            text: output.texts.join(BREAK),
            reasoning: output.reasoning.join(BREAK),
            calls: whole_calls(stop, output.calls),
            usage: self.usage,
            provider: super::NAME,
            model: self.model,
            raw: raw(list(&items))?,
            form: None,
            context: None,
        })
    }
}

/// The content of a response's items.
#[derive(Default)]
struct Output {
    /// One per message.
    texts: Vec<String>,
    /// One per part of a summary.
    reasoning: Vec<String>,
    calls: Vec<ModelCall>,
    is_refusal: bool,
}

impl Output {
    /// Reads an item, and gives it in the form for the next request: unchanged, unless a call has no id of its own.
    fn add(&mut self, item: &str, ids: &mut CallIds) -> Result<String, Failure> {
        let fields = Fields::read(item)?;
        match fields.text("type").as_deref() {
            Some("message") => {
                let mut text = String::new();
                for part in fields.list("content")? {
                    let part = Fields::read(part.get())?;
                    let refusal = part.present("refusal").is_some();
                    self.is_refusal |= refusal;
                    text += &string(&part, if refusal { "refusal" } else { "text" });
                }
                self.texts.extend(Some(text).filter(|text| !text.is_empty()));
            }
            Some("reasoning") => {
                let summary = fields.list("summary")?;
                // Open models show the reasoning itself.
                let parts = if summary.is_empty() { fields.list("content")? } else { summary };
                for part in parts {
                    self.reasoning.push(string(&Fields::read(part.get())?, "text"));
                }
            }
            Some("function_call") => {
                only_arguments(&fields, "arguments")?;
                let own = fields.text("call_id");
                let call_id = ids.take(own.clone());
                let arguments = match fields.get("arguments").map_or("", RawValue::get) {
                    cut if fields.text("status").as_deref() == Some("incomplete") => Arguments::Text(cut.to_owned()),
                    "null" => Arguments::of_text(""),
                    text if text.starts_with('"') => arguments_of(between_quotes(text)),
                    json => Arguments::of_text(json),
                };
                self.calls.push(ModelCall { call_id: call_id.clone(), tool_name: string(&fields, "name"), arguments });
                if own.as_ref() != Some(&call_id) {
                    let mut item = Assembly::of(&fields);
                    item.put("call_id", raw(pipewright_record::json::quoted(&call_id))?);
                    return Ok(item.json());
                }
            }
            _ => {}
        }
        Ok(item.to_owned())
    }
}

/// A string field of an object; empty if it is something else.
fn string(fields: &Fields<'_>, key: &str) -> String {
    let json = fields.get(key).map(RawValue::get).filter(|json| json.starts_with('"'));
    json.map(|json| unescaped(between_quotes(json))).unwrap_or_default()
}

fn kind(item: Option<&RawValue>) -> String {
    item.and_then(|item| Fields::read(item.get()).ok()?.text("type")).unwrap_or_default()
}
