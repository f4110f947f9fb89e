//! Lines of the world: answers to calls, its tools, and the progress of calls.

use super::{InFlight, Outbox, Server, result};
use pipewright_record::json::Object;
use pipewright_record::rpc::{notification, response};
use pipewright_record::{Fields, ToolError, ToolList, ToolResult};
use serde_json::value::RawValue;

/// The kind of a line from the world.
#[derive(Debug, PartialEq, Eq)]
pub enum WorldLine {
    /// A record, which has been handled.
    Record,
    /// Our request for its tools: the world echoes such requests instead of answering them.
    Echo,
    /// Not a readable record: why.
    Noise(String),
}

impl Server {
    /// Takes a line from the world.
    pub fn take_world_line(&mut self, line: &str, out: &mut Outbox) -> WorldLine {
        let fields = match Fields::read(line) {
            Ok(fields) => fields,
            Err(why) => return WorldLine::Noise(why.to_string()),
        };
        let read = match fields.get("type").map_or("", RawValue::get) {
            "\"tool_result\"" => ToolResult::read(&fields).map(|result| self.answer(&result, out)),
            "\"tool_list\"" => ToolList::read(line).map(|list| match list {
                Some(ToolList { tools, error: Some(error), .. }) if tools.is_empty() => self.fail_held(&error, out),
                Some(list) => self.set_tools(list.tools, out),
                None => {}
            }),
            "\"list_tools\"" => return WorldLine::Echo,
            "\"observation\"" => {
                self.observe(&fields, out);
                Ok(())
            }
            _ => Ok(()),
        };
        read.map_or_else(|why| WorldLine::Noise(why.to_string()), |()| WorldLine::Record)
    }

    /// Passes on an answer; answers to cancelled calls are dropped.
    fn answer(&mut self, result: &ToolResult<'_>, out: &mut Outbox) {
        if let Some(InFlight { link, id, era, .. }) =
            self.number_of(result.call_id).and_then(|it| self.calls.remove(&it))
        {
            out.reply(link, response(id.get(), Ok(&result::of_call(result, era))));
        }
    }

    /// Our number in a call_id.
    fn number_of(&self, call_id: Option<&RawValue>) -> Option<u64> {
        serde_json::from_str::<String>(call_id?.get()).ok()?.strip_prefix('c')?.parse().ok()
    }

    /// `{"type":"observation","call_id"?,"data":{"event","data"}}`: the progress of a call, or a change of the tools.
    fn observe(&mut self, fields: &Fields<'_>, out: &mut Outbox) {
        let Some(event) = fields.get("data").and_then(|data| Fields::read(data.get()).ok()) else { return };
        match event.get("event").map_or("", RawValue::get) {
            "\"tools\"" => self.ask_for_tools(out),
            "\"progress\"" => {
                let call = self.number_of(fields.get("call_id")).and_then(|number| self.calls.get(&number));
                if let (Some(call), Some(progress)) = (call, event.get("data"))
                    && let Some(params) = progress_params(call, progress)
                {
                    out.reply(call.link, notification("notifications/progress", Some(&params)));
                }
            }
            _ => {}
        }
    }

    /// Takes the known beginning of an overlong line. If it is the answer to a call, the call
    /// is answered with an error of the kind `too_large`.
    pub fn take_overlong(&mut self, head: &str, why: &str, out: &mut Outbox) {
        let id = head.split_once(r#""call_id":""#).and_then(|(_, rest)| rest.split_once('"'));
        let number = id.and_then(|(id, _)| id.strip_prefix('c')?.parse().ok());
        if let Some(call) = number.and_then(|number: u64| self.calls.remove(&number)) {
            fail(&call, "too_large", why, false, out);
        }
    }

    /// The world is gone: every call that was sent to it fails, and may have been executed.
    pub fn lose_world(&mut self, why: &str, out: &mut Outbox) {
        for call in std::mem::take(&mut self.calls).into_values() {
            fail(&call, "lost", why, true, out);
        }
        self.fail_held(why, out);
    }
}

fn fail(call: &InFlight, kind: &str, message: &str, maybe_executed: bool, out: &mut Outbox) {
    let (message, kind) = (message.to_owned(), kind.to_owned());
    let outcome = Err(ToolError { message, kind, code: None, data: None, maybe_executed });
    let result = result::of_call(&ToolResult { call_id: None, outcome, events: None }, call.era);
    out.reply(call.link, response(call.id.get(), Ok(&result)));
}

/// The parameters of `notifications/progress`, if the client wants them: with its own token instead of the world's.
fn progress_params(call: &InFlight, progress: &RawValue) -> Option<String> {
    let token = call.progress_token.as_deref()?;
    let progress = Fields::read(progress.get()).ok()?;
    let params = Object::default().put("progressToken", token).put("progress", progress.get("progress")?);
    Some(params.put_some("total", progress.get("total")).put_some("message", progress.get("message")).end())
}
