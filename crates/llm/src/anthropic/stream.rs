//! The streamed answer: blocks that begin, grow and end. The turn is the list of blocks.

use super::{NAME, failure};
use crate::assembly::{Assembly, event_text, list, raw};
use crate::conversation::{CallIds, has_no_arguments, only_arguments, whole_calls};
use crate::{Failure, Token, TurnReader};
use pipewright_record::{Fields, ModelCall, ModelRequest, ModelTurn, Stop, Usage};

pub(super) struct Reader {
    model: String,
    ids: CallIds,
    blocks: Vec<Block>,
    text: String,
    reasoning: String,
    counts: Counts,
    stop_reason: Option<String>,
    has_stopped: bool,
}

struct Block {
    index: u64,
    kind: String,
    fields: Assembly,
    /// The text of `input`, if it comes in pieces.
    input: String,
    has_ended: bool,
}

/// The token counts of the message so far.
#[derive(Default)]
struct Counts {
    input: Option<u64>,
    cache_creation: Option<u64>,
    cache_read: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Counts {
    /// Counts that are missing in an event stay unchanged.
    fn take(&mut self, usage: &Fields<'_>) {
        self.input = usage.count("input_tokens").or(self.input);
        self.cache_creation = usage.count("cache_creation_input_tokens").or(self.cache_creation);
        self.cache_read = usage.count("cache_read_input_tokens").or(self.cache_read);
        self.output = usage.count("output_tokens").or(self.output);
        let details = usage.object("output_tokens_details");
        self.thinking = details.and_then(|details| details.count("thinking_tokens")).or(self.thinking);
    }
}

impl Reader {
    pub(super) fn new(request: &ModelRequest, model: &str) -> Reader {
        Reader {
            model: model.to_owned(),
            ids: CallIds::after(request),
            blocks: Vec::new(),
            text: String::new(),
            reasoning: String::new(),
            counts: Counts::default(),
            stop_reason: None,
            has_stopped: false,
        }
    }

    fn begin(&mut self, event: &Fields<'_>, tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let (Some(index), Some(block)) = (event.count("index"), event.present("content_block")) else {
            return Err(Failure::protocol("a content_block_start has no index or no content_block"));
        };
        if self.blocks.iter().any(|block| block.index == index) {
            return Err(Failure::protocol(format_args!("the content block {index} begins twice")));
        }
        let block = Fields::read(block.get())?;
        let kind = block.string("type")?.unwrap_or_default();
        match &*kind {
            "text" => self.say(block.string("text")?, tokens),
            "thinking" => self.think(block.string("thinking")?, tokens),
            "tool_use" => only_arguments(&block, "input")?,
            _ => {}
        }
        self.blocks.push(Block { index, kind, fields: Assembly::of(&block), input: String::new(), has_ended: false });
        Ok(())
    }

    fn grow(&mut self, event: &Fields<'_>, tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let (index, delta) = (event.count("index"), event.object("delta").unwrap_or_default());
        let Some(block) = self.blocks.iter_mut().rev().find(|block| Some(block.index) == index) else {
            return Err(Failure::protocol("a content_block_delta is of no block that has begun"));
        };
        let mut append = |key: &str| -> Result<Option<String>, Failure> {
            let more = delta.string(key)?;
            block.fields.append(key, more.as_deref().unwrap_or_default());
            Ok(more)
        };
        match delta.string("type")?.as_deref() {
            Some("text_delta") => {
                let more = append("text")?;
                self.say(more, tokens);
            }
            Some("thinking_delta") => {
                let more = append("thinking")?;
                self.think(more, tokens);
            }
            Some("signature_delta") => _ = append("signature")?,
            Some("input_json_delta") => {
                let more = delta.string("partial_json")?.unwrap_or_default();
                if !more.is_empty() && (block.has_ended || !block.kind.ends_with("tool_use")) {
                    return Err(Failure::protocol("an input_json_delta is of a block that has no input or has ended"));
                }
                block.input += &more;
            }
            // Deltas of blocks that our requests do not ask for.
            _ => {}
        }
        Ok(())
    }

    fn say(&mut self, text: Option<String>, tokens: &mut Vec<Token>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.text.push_str(&text);
            tokens.push(Token::Text(text));
        }
    }

    fn think(&mut self, text: Option<String>, tokens: &mut Vec<Token>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.reasoning.push_str(&text);
            tokens.push(Token::Reasoning(text));
        }
    }
}

impl Block {
    /// The call in a complete block. Blocks of other kinds may also have an input.
    fn end(&mut self, ids: &mut CallIds) -> Result<Option<ModelCall>, Failure> {
        let is_call = self.kind == "tool_use";
        if !is_call && self.input.is_empty() {
            return Ok(None);
        }
        let arguments = self.fields.arguments("input", &self.input)?;
        if !is_call {
            return Ok(None);
        }
        let Some(tool_name) = self.fields.text("name") else {
            return Err(Failure::protocol("a tool_use has no name"));
        };
        Ok(Some(ModelCall { call_id: ids.take(self.fields.text("id")), tool_name, arguments }))
    }

    /// An unstreamed answer has no empty texts, and the API would refuse them in the next request.
    fn is_empty_text(&self) -> bool {
        self.kind == "text" && self.fields.text("text").is_none_or(|text| text.is_empty())
    }
}

impl TurnReader for Reader {
    fn take(&mut self, _name: &str, data: &[u8], tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let text = event_text(data)?;
        let event = Fields::read(&text)?;
        match event.string("type")?.as_deref() {
            Some("message_start") => {
                let message = event.object("message");
                let usage = message.and_then(|message| message.object("usage"));
                usage.iter().for_each(|usage| self.counts.take(usage));
            }
            Some("content_block_start") => self.begin(&event, tokens)?,
            Some("content_block_delta") => self.grow(&event, tokens)?,
            Some("content_block_stop") => {
                let index = event.count("index");
                let ended = self.blocks.iter_mut().filter(|block| Some(block.index) == index);
                ended.for_each(|block| block.has_ended = true);
            }
            Some("message_delta") => {
                let reason = event.object("delta").and_then(|delta| delta.text("stop_reason"));
                let reason = reason.filter(|reason| !reason.is_empty());
                self.stop_reason = reason.or(self.stop_reason.take());
                event.object("usage").iter().for_each(|usage| self.counts.take(usage));
            }
            Some("message_stop") => self.has_stopped = true,
            Some("error") => return Err(failure(None, &|_| None, text.as_bytes())),
            // ping; unknown events must be ignored (versioning policy).
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.has_stopped
    }

    fn usage(&self) -> Usage {
        let Counts { input, cache_creation, cache_read, output, thinking } = self.counts;
        let all = [input, cache_creation, cache_read].into_iter().flatten().reduce(u64::saturating_add);
        Usage { input: all, output, cached: cache_read, reasoning: thinking, cost: None }
    }

    fn finish(mut self: Box<Self>) -> Result<ModelTurn, Failure> {
        if !self.has_stopped {
            return Err(Failure::cut());
        }
        let usage = self.usage();
        self.blocks.retain(|block| !block.is_empty_text());
        let (mut calls, mut is_open) = (Vec::new(), false);
        for block in &mut self.blocks {
            let call = block.end(&mut self.ids)?;
            is_open |= !block.has_ended && call.as_ref().is_some_and(has_no_arguments);
            calls.extend(call);
        }
        let stop = match self.stop_reason.as_deref() {
            None => return Err(Failure::protocol("the message ends without a stop_reason")),
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
            Some("refusal") => Stop::Refusal,
            // end_turn, tool_use and stop_sequence. Also pause_turn: it is a pause of the provider's own tools, which
            // our requests do not offer; the turn is sent back unchanged if the conversation continues.
            Some(_) if calls.is_empty() => Stop::End,
            Some(_) => Stop::Call,
        };
        if stop == Stop::Call && is_open {
            return Err(Failure::cut());
        }
        let blocks: Vec<String> = self.blocks.iter().map(|block| block.fields.json()).collect();
        Ok(ModelTurn {
            stop,
            text: self.text,
            reasoning: self.reasoning,
            calls: whole_calls(stop, calls),
            usage,
            provider: NAME,
            model: self.model,
            raw: raw(list(&blocks))?,
            form: None,
            context: None,
        })
    }
}
