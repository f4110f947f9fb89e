//! The streamed answer: steps that begin, grow and end. The turn is the list of steps.

use super::NAME;
use crate::assembly::{Assembly, event_text, list, raw};
use crate::conversation::{CallIds, has_no_arguments, only_arguments, whole_calls};
use crate::{Failure, Token, TurnReader, gemini};
use pipewright_record::json::Object;
use pipewright_record::{Fields, ModelCall, ModelRequest, ModelTurn, Stop, Usage};

pub(super) struct Reader {
    model: String,
    ids: CallIds,
    steps: Vec<Step>,
    text: String,
    reasoning: String,
    usage: Usage,
    /// The status of the completed interaction.
    status: Option<String>,
}

struct Step {
    index: u64,
    kind: String,
    fields: Assembly,
    /// The content of `content`, or of a thought's `summary`.
    content: Vec<Assembly>,
    /// The text of a call's arguments, which come in pieces.
    arguments: String,
    has_ended: bool,
}

impl Step {
    /// The field with its content.
    fn content_key(&self) -> &'static str {
        if self.kind == "thought" { "summary" } else { "content" }
    }

    /// Text is appended to preceding text; anything else is a separate content.
    fn add_content(&mut self, content: &Fields<'_>) {
        let is_plain = content.iter().all(|(key, _)| key == "type" || key == "text");
        match (content.text("text").filter(|_| is_plain), self.content.last_mut()) {
            (Some(text), Some(last)) if last.text("type").as_deref() == Some("text") => last.append("text", &text),
            // An unstreamed answer has no empty texts.
            (Some(text), _) if text.is_empty() => {}
            _ => self.content.push(Assembly::of(content)),
        }
    }

    /// The call in a complete step.
    fn end(&mut self, ids: &mut CallIds) -> Result<Option<ModelCall>, Failure> {
        if !self.content.is_empty() {
            let content: Vec<String> = self.content.iter().map(Assembly::json).collect();
            self.fields.put(self.content_key(), raw(list(&content))?);
        }
        if self.kind != "function_call" {
            return Ok(None);
        }
        let arguments = self.fields.arguments("arguments", &self.arguments)?;
        let Some(tool_name) = self.fields.text("name") else {
            return Err(Failure::protocol("a function_call has no name"));
        };
        Ok(Some(ModelCall { call_id: ids.take(self.fields.text("id")), tool_name, arguments }))
    }
}

impl Reader {
    pub(super) fn new(request: &ModelRequest, model: &str) -> Reader {
        Reader {
            model: model.to_owned(),
            ids: CallIds::after(request),
            steps: Vec::new(),
            text: String::new(),
            reasoning: String::new(),
            usage: Usage::default(),
            status: None,
        }
    }

    fn begin(&mut self, event: &Fields<'_>, tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let (Some(index), Some(step)) = (event.count("index"), event.present("step")) else {
            return Err(Failure::protocol("a step.start has no index or no step"));
        };
        if self.steps.iter().any(|step| step.index == index) {
            return Err(Failure::protocol(format_args!("the step {index} begins twice")));
        }
        let fields = Fields::read(step.get())?;
        let kind = fields.string("type")?.unwrap_or_default();
        if kind == "function_call" {
            only_arguments(&fields, "arguments")?;
        }
        let assembly = Assembly::of(&fields);
        let (content, arguments) = (Vec::new(), String::new());
        let mut step = Step { index, kind, fields: assembly, content, arguments, has_ended: false };
        for content in fields.list(step.content_key())? {
            let content = Fields::read(content.get())?;
            step.add_content(&content);
            say(&step.kind, content.string("text")?, &mut self.text, &mut self.reasoning, tokens);
        }
        self.steps.push(step);
        Ok(())
    }

    fn grow(&mut self, event: &Fields<'_>, tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let (index, delta) = (event.count("index"), event.object("delta").unwrap_or_default());
        let Some(step) = self.steps.iter_mut().rev().find(|step| Some(step.index) == index) else {
            return Err(Failure::protocol("a step.delta is of no step that has begun"));
        };
        match delta.string("type")?.as_deref() {
            Some("arguments_delta") => {
                let more = delta.string("arguments")?.unwrap_or_default();
                if !more.is_empty() && (step.has_ended || !step.kind.ends_with("_call")) {
                    return Err(Failure::protocol("an arguments_delta is of a step that is no call or has ended"));
                }
                step.arguments += &more;
            }
            Some("thought_signature") => {
                step.fields.append("signature", &delta.string("signature")?.unwrap_or_default());
            }
            Some("thought_summary") => {
                let content = delta.object("content").unwrap_or_default();
                step.add_content(&content);
                say(&step.kind, content.string("text")?, &mut self.text, &mut self.reasoning, tokens);
            }
            Some("text" | "image" | "audio" | "video" | "document") => {
                step.add_content(&delta);
                say(&step.kind, delta.string("text")?, &mut self.text, &mut self.reasoning, tokens);
            }
            // Deltas of tools and citations that our requests do not ask for.
            _ => {}
        }
        Ok(())
    }

    fn complete(&mut self, interaction: &Fields<'_>) -> Result<(), Failure> {
        if let Some(usage) = interaction.object("usage") {
            self.count(&usage);
        }
        let status = interaction.string("status")?;
        let error = interaction.list("errors")?.first().copied();
        if matches!(status.as_deref(), Some("failed" | "cancelled")) || error.is_some() {
            let status = status.unwrap_or_default();
            let none = Object::default().text("code", &status).text("message", "the interaction failed").end();
            return Err(failure(error.map_or(&*none, |error| error.get())));
        }
        self.status = Some(status.unwrap_or_default());
        Ok(())
    }

    fn count(&mut self, usage: &Fields<'_>) {
        let written = ["total_output_tokens", "total_thought_tokens"].into_iter().filter_map(|key| usage.count(key));
        self.usage = Usage {
            input: usage.count("total_input_tokens"),
            output: written.reduce(u64::saturating_add),
            cached: usage.count("total_cached_tokens"),
            reasoning: usage.count("total_thought_tokens"),
            cost: None,
        };
    }
}

fn say(kind: &str, piece: Option<String>, text: &mut String, reasoning: &mut String, tokens: &mut Vec<Token>) {
    match (kind, piece.filter(|piece| !piece.is_empty())) {
        ("thought", Some(piece)) => {
            reasoning.push_str(&piece);
            tokens.push(Token::Reasoning(piece));
        }
        ("model_output", Some(piece)) => {
            text.push_str(&piece);
            tokens.push(Token::Text(piece));
        }
        _ => {}
    }
}

/// An error in the stream, `{"code","message"}`, whose code implies a status.
fn failure(error: &str) -> Failure {
    let code = Fields::read(error).ok().and_then(|error| error.text("code")).unwrap_or_default();
    let status = match &*code {
        "rate_limit_exceeded" | "too_many_requests" => 429,
        "invalid_request" | "invalid_argument" => 400,
        "unauthenticated" => 401,
        "permission_denied" => 403,
        "not_found" => 404,
        _ => 500,
    };
    gemini::failure(status, &|_| None, Object::default().put("error", error).end().as_bytes())
}

impl TurnReader for Reader {
    fn take(&mut self, _name: &str, data: &[u8], tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let text = event_text(data)?;
        let event = Fields::read(&text)?;
        let counted = event.object("metadata").and_then(|metadata| metadata.object("total_usage"));
        counted.iter().for_each(|usage| self.count(usage));
        match event.string("event_type")?.as_deref() {
            Some("step.start") => self.begin(&event, tokens),
            Some("step.delta") => self.grow(&event, tokens),
            Some("step.stop") => {
                let index = event.count("index");
                let ended = self.steps.iter_mut().filter(|step| Some(step.index) == index);
                ended.for_each(|step| step.has_ended = true);
                Ok(())
            }
            Some("interaction.completed") => self.complete(&event.object("interaction").unwrap_or_default()),
            Some("error") => Err(failure(event.get("error").map_or("{}", |error| error.get()))),
            // Events for its creation and its status; and future events.
            _ => Ok(()),
        }
    }

    fn is_complete(&self) -> bool {
        self.status.is_some()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(mut self: Box<Self>) -> Result<ModelTurn, Failure> {
        let Some(status) = self.status else {
            return Err(Failure::cut());
        };
        let (mut calls, mut is_open) = (Vec::new(), false);
        for step in &mut self.steps {
            let call = step.end(&mut self.ids)?;
            is_open |= !step.has_ended && call.as_ref().is_some_and(has_no_arguments);
            calls.extend(call);
        }
        let stop = match &*status {
            "completed" | "requires_action" if calls.is_empty() => Stop::End,
            "completed" | "requires_action" => Stop::Call,
            "incomplete" | "budget_exceeded" | "requires_continuation" => Stop::Length,
            _ => return Err(Failure::protocol(format_args!("the interaction ends with the status {status:?}"))),
        };
        if stop == Stop::Call && is_open {
            return Err(Failure::cut());
        }
        // Output without content has no meaning, and the API would refuse it in the next request.
        self.steps.retain(|step| step.kind != "model_output" || !step.content.is_empty());
        let steps: Vec<String> = self.steps.iter().map(|step| step.fields.json()).collect();
        Ok(ModelTurn {
            stop,
            text: self.text,
            reasoning: self.reasoning,
            calls: whole_calls(stop, calls),
            usage: self.usage,
            provider: NAME,
            model: self.model,
            raw: raw(list(&steps))?,
            form: None,
            context: None,
        })
    }
}
