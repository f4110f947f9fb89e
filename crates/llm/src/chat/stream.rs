//! The streamed answer: `chat.completion.chunk` objects, then `[DONE]`.

#[cfg(test)]
mod tests;

use super::calls::Calls;
use super::failure;
use super::growing_text::GrowingText;
use super::message::{Object, Value, between_quotes};
use super::usage::usage;
use crate::assembly::{event_text, list, raw};
use crate::conversation::{CallIds, whole_calls};
use crate::{Failure, Retry, Token, TurnReader};
use pipewright_record::{Fields, Kind, ModelRequest, ModelTurn, Stop, Usage};
use serde_json::value::RawValue;

/// Fields with the model's reasoning: DeepSeek and llama.cpp, OpenRouter and vLLM. If both are sent, they are equal.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reasons to end at a limit: OpenAI, Mistral, GLM, and gateways that pass on the words of other APIs.
const LENGTH: [&str; 5] =
    ["length", "model_length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"];

/// Reasons to withhold the answer, from OpenAI, GLM, Anthropic and Gemini.
const REFUSAL: [&str; 7] =
    ["content_filter", "sensitive", "refusal", "safety", "recitation", "blocklist", "prohibited_content"];

/// Reasons to end before the turn was complete: vLLM, DeepSeek, GLM, and servers that were stopped.
const CUT: [&str; 8] = [
    "abort",
    "aborted",
    "cancelled",
    "canceled",
    "insufficient_system_resource",
    "network_error",
    "timeout",
    "engine_overloaded",
];

pub(super) struct Reader {
    provider: &'static str,
    model: String,
    ids: CallIds,
    /// The message without its calls.
    message: Object,
    calls: Calls,
    text: GrowingText,
    reasoning: GrowingText,
    /// The field of [`REASONING`] that came first.
    reasoning_key: Option<&'static str>,
    is_refusal: bool,
    /// Whether the message came in one piece.
    is_whole: bool,
    /// In lower case.
    finish_reason: Option<String>,
    is_done: bool,
    usage: Usage,
}

impl Reader {
    pub(super) fn new(provider: &'static str, request: &ModelRequest, model: &str) -> Reader {
        Reader {
            provider,
            model: model.to_owned(),
            ids: CallIds::after(request),
            message: Object::default(),
            calls: Calls::default(),
            text: GrowingText::default(),
            reasoning: GrowingText::default(),
            reasoning_key: None,
            is_refusal: false,
            is_whole: false,
            finish_reason: None,
            is_done: false,
            usage: Usage::default(),
        }
    }

    fn choice(&mut self, choice: &RawValue, tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let text = choice.get();
        let choice = Fields::read(text)?;
        // OpenRouter
        if choice.present("error").is_some() {
            return Err(failure::in_stream(text));
        }
        // Only one choice is requested; another would be mixed into it.
        if choice.count("index").is_some_and(|index| index > 0) {
            return Ok(());
        }
        // Some servers send the complete message instead.
        self.is_whole |= choice.present("delta").is_none() && choice.present("message").is_some();
        if let Some(delta) = choice.present("delta").or_else(|| choice.present("message")) {
            self.delta(&Fields::read(delta.get())?, tokens)?;
        } else if let Some(text) = choice.present("text") {
            // The form of servers that only continue texts.
            self.show("content", text.get(), tokens);
            self.message.merge("content", Value::of(text));
        }
        // Moonshot
        if let Some(counts) = choice.object("usage") {
            self.usage = usage(&counts, ["prompt_tokens", "completion_tokens"]);
        }
        // Some servers send an empty one, or "null", until the turn ends.
        let reason = choice.text("finish_reason").map(|reason| reason.to_lowercase());
        if let Some(reason) = reason.filter(|reason| !["", "null", "none"].contains(&&**reason)) {
            self.finish_reason = Some(reason);
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Fields<'_>, tokens: &mut Vec<Token>) -> Result<(), Failure> {
        for (key, json) in delta.iter() {
            match key {
                "tool_calls" if json.get() == "{}" => {}
                "tool_calls" => {
                    for call in delta.list(key)? {
                        self.calls.take(&Fields::read(call.get())?)?;
                    }
                }
                // The form before `tool_calls`: our requests offer no functions. Some servers send an empty one.
                "function_call" => {
                    let is_empty = |(_, json): (&str, &RawValue)| ["null", "\"\""].contains(&json.get());
                    if json.get() != "null" && !Fields::read(json.get())?.iter().all(is_empty) {
                        return Err(Failure::protocol("a call comes in the old form, as \"function_call\""));
                    }
                }
                // Padding that hides the length of the tokens.
                "obfuscation" => {}
                // Mistral's reasoning models send a list of parts.
                "content"
                    if json.get().starts_with(['[', '{']) || matches!(self.message.get(key), Some(Value::List(_))) =>
                {
                    self.parts(key, json, tokens)?;
                }
                "content" if !json.get().starts_with('"') && json.get() != "null" => {
                    return Err(Failure::protocol("\"content\" is neither a text nor a list of parts"));
                }
                _ => {
                    self.show(key, json.get(), tokens);
                    self.message.merge(key, Value::of(json));
                }
            }
        }
        Ok(())
    }

    /// Appends parts of the content, `{"type":"text","text"}` or `{"type":"thinking","thinking":[...]}`, or a text as such a part.
    fn parts(&mut self, key: &str, json: &RawValue, tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let text = json.get();
        let list = match text.starts_with('[') {
            true => text.to_owned(),
            false if text.starts_with('{') => format!("[{text}]"),
            false if ["null", "\"\""].contains(&text) => return Ok(()),
            false => format!(r#"[{{"type":"text","text":{text}}}]"#),
        };
        let list = raw(list)?;
        let parts: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(Failure::protocol)?;
        for part in parts {
            let fields = Fields::read(part.get())?;
            if let Some(text) = fields.present("text") {
                self.show("content", text.get(), tokens);
            }
            for thought in fields.list("thinking").unwrap_or_default() {
                let thought = Fields::read(thought.get())?;
                if let Some(text) = thought.present("text") {
                    self.show(REASONING[0], text.get(), tokens);
                }
            }
        }
        self.message.extend_parts(key, Value::of(&list));
        Ok(())
    }

    /// Appends a field to the turn's text or reasoning, if it belongs there.
    fn show(&mut self, key: &str, json: &str, tokens: &mut Vec<Token>) {
        let escaped = between_quotes(json);
        if !json.starts_with('"') || escaped.is_empty() {
            return;
        }
        if ["content", "refusal"].contains(&key) {
            self.is_refusal |= key == "refusal";
            tokens.push(Token::Text(self.text.push(escaped)));
        } else if let Some(key) = REASONING.into_iter().find(|name| *name == key)
            && *self.reasoning_key.get_or_insert(key) == key
        {
            tokens.push(Token::Reasoning(self.reasoning.push(escaped)));
        }
    }

    fn stop(&self, has_calls: bool) -> Stop {
        match self.finish_reason.as_deref() {
            Some(reason) if LENGTH.contains(&reason) => Stop::Length,
            Some(reason) if REFUSAL.contains(&reason) => Stop::Refusal,
            _ if has_calls => Stop::Call,
            _ if self.is_refusal => Stop::Refusal,
            _ => Stop::End,
        }
    }
}

impl TurnReader for Reader {
    fn take(&mut self, name: &str, data: &[u8], tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let text = event_text(data)?;
        let text = text.trim();
        // A ping may have any text.
        if text.is_empty() || text == "null" || name == "ping" || self.is_done {
            return Ok(());
        }
        if text == "[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        let chunk = Fields::read(text)?;
        // vLLM's older form is the error itself.
        let is_error = ["object", "type"].into_iter().any(|key| chunk.text(key).as_deref() == Some("error"));
        if chunk.present("error").is_some() || is_error || name == "error" {
            return Err(failure::in_stream(text));
        }
        // MiniMax
        if let Some(status) = chunk.present("base_resp")
            && Fields::read(status.get())?.count("status_code").is_some_and(|code| code > 0)
        {
            return Err(failure::in_stream(status.get()));
        }
        if let Some(counts) = chunk.object("usage") {
            self.usage = usage(&counts, ["prompt_tokens", "completion_tokens"]);
        }
        for choice in chunk.list("choices")? {
            self.choice(choice, tokens)?;
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_done
    }

    fn is_ending(&self) -> bool {
        self.finish_reason.is_some()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(mut self: Box<Self>) -> Result<ModelTurn, Failure> {
        match self.finish_reason.as_deref() {
            // OpenRouter, if its provider fails.
            Some("error") => {
                return Err(Failure::new(Kind::Unavailable, "the model failed while it answered", Retry::Backoff));
            }
            Some("stop" | "tool_calls" | "function_call") => {}
            Some(reason) if LENGTH.contains(&reason) || REFUSAL.contains(&reason) => {}
            Some(reason) if CUT.contains(&reason) => return Err(Failure::cut()),
            // Another reason may be an abort.
            Some(_) if !self.calls.is_cut() => {}
            // The end may come without a reason, but not without a turn. A call has an effect, and may be one of several: it needs the reason.
            None if self.is_done && self.message.get("role").is_some() && self.calls.is_empty() => {}
            None if self.is_done && self.is_whole && !self.calls.is_cut() => {}
            None if self.is_done && !self.calls.is_empty() => {
                let why = "the answer has calls but no finish_reason, so it may be cut: they are not passed on";
                return Err(Failure::new(Kind::Lost, why, Retry::Backoff));
            }
            _ => return Err(Failure::cut()),
        }
        let (calls, read_calls) = std::mem::take(&mut self.calls).end(&mut self.ids)?;
        let stop = self.stop(!calls.is_empty());
        let mut message = self.message;
        message.put_missing("role", || Value::text("assistant"));
        message.put_missing("content", || match stop {
            Stop::Refusal => Value::null(),
            _ if !calls.is_empty() => Value::null(),
            _ => Value::text(""),
        });
        if !calls.is_empty() {
            message.put("tool_calls", Value::Other(list(&calls)));
        }
        Ok(ModelTurn {
            stop,
            text: self.text.end(),
            reasoning: self.reasoning.end(),
            calls: whole_calls(stop, read_calls),
            usage: self.usage,
            provider: self.provider,
            model: self.model,
            raw: raw(Value::Object(message).json())?,
            form: None,
            context: None,
        })
    }
}
