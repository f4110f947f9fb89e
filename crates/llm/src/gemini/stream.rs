//! The streamed answer. The turn is `candidates[0].content`, assembled from the parts of all events.

use super::{NAME, failure};
use crate::assembly::{Assembly, event_text, list, raw};
use crate::conversation::{CallIds, only_arguments, whole_calls};
use crate::{Failure, Retry, Token, TurnReader};
use pipewright_record::json::Object;
use pipewright_record::{Arguments, Fields, Kind, ModelCall, ModelRequest, ModelTurn, Stop, Usage};
use serde_json::value::RawValue;

pub(super) struct Reader {
    model: String,
    ids: CallIds,
    /// The fields of the content; its parts are those of the last event.
    content: Assembly,
    parts: Vec<Part>,
    text: String,
    reasoning: String,
    calls: Vec<ModelCall>,
    usage: Usage,
    finish: Option<String>,
    finish_message: Option<String>,
    /// Whether the prompt was blocked, so that there is no candidate.
    is_blocked: bool,
}

enum Part {
    /// Text without a signature; following text of the same kind is appended.
    Text { text: String, is_thought: bool },
    /// Any other part, unchanged. Parts are never merged if one of them is signed.
    Whole(Box<RawValue>),
}

impl Part {
    fn json(&self) -> String {
        match self {
            Part::Text { text, is_thought } => {
                Object::default().text("text", text).put_some("thought", is_thought.then_some(true)).end()
            }
            Part::Whole(json) => json.get().to_owned(),
        }
    }
}

impl Reader {
    pub(super) fn new(request: &ModelRequest, model: &str) -> Reader {
        Reader {
            model: model.to_owned(),
            ids: CallIds::after(request),
            content: Assembly::default(),
            parts: Vec::new(),
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            usage: Usage::default(),
            finish: None,
            finish_message: None,
            is_blocked: false,
        }
    }

    /// Takes the counts of an event, which cover the turn so far.
    fn count(&mut self, counts: &Fields<'_>) {
        let sum = |keys: [&str; 2]| keys.into_iter().filter_map(|key| counts.count(key)).reduce(u64::saturating_add);
        self.usage = Usage {
            input: sum(["promptTokenCount", "toolUsePromptTokenCount"]),
            output: sum(["candidatesTokenCount", "thoughtsTokenCount"]),
            cached: counts.count("cachedContentTokenCount"),
            reasoning: counts.count("thoughtsTokenCount"),
            cost: None,
        };
    }

    fn take_candidate(&mut self, candidate: &Fields<'_>, tokens: &mut Vec<Token>) -> Result<(), Failure> {
        if let Some(content) = candidate.present("content") {
            let content = Fields::read(content.get())?;
            for (key, json) in content.iter() {
                self.content.put(key, json.to_owned());
            }
            for part in content.list("parts")? {
                self.take_part(part, tokens)?;
            }
        }
        let reason = candidate.string("finishReason")?.filter(|reason| !reason.is_empty());
        self.finish = reason.or(self.finish.take());
        self.finish_message = candidate.string("finishMessage")?.or(self.finish_message.take());
        Ok(())
    }

    fn take_part(&mut self, part: &RawValue, tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let fields = Fields::read(part.get())?;
        let is_thought = fields.get("thought").is_some_and(|value| value.get() == "true");
        let text = fields.string("text")?;
        if let Some(text) = text.as_ref().filter(|text| !text.is_empty()) {
            let all = if is_thought { &mut self.reasoning } else { &mut self.text };
            all.push_str(text);
            tokens.push(if is_thought { Token::Reasoning(text.clone()) } else { Token::Text(text.clone()) });
        }
        if let Some(call) = fields.present("functionCall") {
            self.take_call(&Fields::read(call.get())?)?;
        }
        let is_plain = fields.iter().all(|(key, _)| key == "text" || key == "thought");
        match (text.filter(|_| is_plain), self.parts.last_mut()) {
            (Some(more), Some(Part::Text { text, is_thought: of })) if *of == is_thought => text.push_str(&more),
            // An unstreamed answer has no empty parts.
            (Some(more), _) if more.is_empty() => {}
            (Some(text), _) => self.parts.push(Part::Text { text, is_thought }),
            (None, _) => self.parts.push(Part::Whole(part.to_owned())),
        }
        Ok(())
    }

    fn take_call(&mut self, call: &Fields<'_>) -> Result<(), Failure> {
        let Some(tool_name) = call.string("name")? else {
            return Err(Failure::protocol("a functionCall has no name"));
        };
        // Our requests do not ask for arguments in pieces.
        if call.present("partialArgs").is_some() || call.get("willContinue").is_some_and(|value| value.get() == "true")
        {
            return Err(Failure::protocol("the arguments of a functionCall come in pieces"));
        }
        only_arguments(call, "args")?;
        let arguments = match call.present("args") {
            None => Arguments::Object(raw("{}".to_owned())?),
            Some(args) if args.get().starts_with('{') => Arguments::Object(args.to_owned()),
            Some(args) => Arguments::Text(args.get().to_owned()),
        };
        let call_id = self.ids.take(call.string("id")?);
        self.calls.push(ModelCall { call_id, tool_name, arguments });
        Ok(())
    }

    fn stop(&self) -> Result<Stop, Failure> {
        let Some(reason) = self.finish.as_deref() else {
            return if self.is_blocked { Ok(Stop::Refusal) } else { Err(Failure::cut()) };
        };
        match reason {
            // FUNCTION_CALL: servers that imitate Gemini's.
            "STOP" | "FUNCTION_CALL" if !self.calls.is_empty() => Ok(Stop::Call),
            "STOP" | "FUNCTION_CALL" => Ok(Stop::End),
            "MAX_TOKENS" | "CONTINUATION" => Ok(Stop::Length),
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => Ok(Stop::Refusal),
            // MALFORMED_FUNCTION_CALL, MALFORMED_RESPONSE, UNEXPECTED_TOOL_CALL, OTHER, and future reasons.
            _ => {
                let why = self.finish_message.as_deref().unwrap_or("no reason is given");
                let message = format!("the turn cannot be used ({reason}): {why}");
                Err(Failure::new(Kind::Protocol, message, Retry::Backoff).with_code(Some(reason.to_owned())))
            }
        }
    }
}

impl TurnReader for Reader {
    fn take(&mut self, _name: &str, data: &[u8], tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let text = event_text(data)?;
        let event = Fields::read(&text)?;
        if let Some(error) = event.object("error") {
            let status = error.count("code").and_then(|code| u16::try_from(code).ok());
            return Err(failure(status.unwrap_or(500), &|_| None, text.as_bytes()));
        }
        if let Some(counts) = event.object("usageMetadata") {
            self.count(&counts);
        }
        self.is_blocked |=
            event.object("promptFeedback").is_some_and(|feedback| feedback.present("blockReason").is_some());
        match event.list("candidates")?.first() {
            Some(candidate) => self.take_candidate(&Fields::read(candidate.get())?, tokens),
            None => Ok(()),
        }
    }

    /// Only the end of the stream shows it: older models send a finishReason with every event.
    fn is_complete(&self) -> bool {
        false
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(mut self: Box<Self>) -> Result<ModelTurn, Failure> {
        let stop = self.stop()?;
        if self.content.text("role").is_none() {
            self.content.put("role", raw("\"model\"".to_owned())?);
        }
        let parts: Vec<String> = self.parts.iter().map(Part::json).collect();
        self.content.put("parts", raw(list(&parts))?);
        Ok(ModelTurn {
            stop,
            text: self.text,
            reasoning: self.reasoning,
            calls: whole_calls(stop, self.calls),
            usage: self.usage,
            provider: NAME,
            model: self.model,
            raw: raw(self.content.json())?,
            form: None,
            context: None,
        })
    }
}
