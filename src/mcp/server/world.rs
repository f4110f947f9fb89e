//! What the world says: answers to calls, its tools, and how far a call has come.

use super::{InFlight, Outbox, Server, result};
use crate::json::Object;
use crate::record::{Fields, ToolError, ToolList, ToolResult};
use crate::rpc::{notification, response};
use serde_json::value::RawValue;

/// What a line of the world's means, beside what has been answered.
#[derive(Debug, PartialEq, Eq)]
pub enum WorldLine {
    /// A record; what is to be done about it has been done.
    Record,
    /// The world has sent our request for its tools back: it does not answer such requests.
    Echo,
    /// Not a record that can be read: why.
    Noise(String),
}

impl Server {
    /// Takes a line of the world's.
    pub fn take_world_line(&mut self, line: &str, out: &mut Outbox) -> WorldLine {
        let fields = match Fields::read(line) {
            Ok(fields) => fields,
            Err(why) => return WorldLine::Noise(why.to_string()),
        };
        let read = match fields.get("type").map_or("", RawValue::get) {
            "\"tool_result\"" => ToolResult::read(&fields).map(|result| self.answer(&result, out)),
            "\"tool_list\"" => ToolList::read(line).map(|list| {
                if let Some(list) = list {
                    self.set_tools(list.tools, out);
                }
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

    /// An answer to a call that nobody waits for any more is dropped.
    fn answer(&mut self, result: &ToolResult<'_>, out: &mut Outbox) {
        if let Some(InFlight { link, id, era, .. }) =
            self.number_of(result.call_id).and_then(|it| self.calls.remove(&it))
        {
            out.reply(link, response(id.get(), Ok(&result::of_call(result, era))));
        }
    }

    /// The number in a call_id of ours.
    fn number_of(&self, call_id: Option<&RawValue>) -> Option<u64> {
        serde_json::from_str::<String>(call_id?.get()).ok()?.strip_prefix('c')?.parse().ok()
    }

    /// `{"type":"observation","call_id"?,"data":{"event","data"}}`: progress of a call, and that the tools have changed.
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

    /// The beginning of a line that is too long to be read, or all that is known of it: if it is the answer to a call, the call
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

/// The parameters of `notifications/progress`, where the client wants them: with its token instead of the world's own.
fn progress_params(call: &InFlight, progress: &RawValue) -> Option<String> {
    let token = call.progress_token.as_deref()?;
    let progress = Fields::read(progress.get()).ok()?;
    let params = Object::default().put("progressToken", token).put("progress", progress.get("progress")?);
    Some(params.put_some("total", progress.get("total")).put_some("message", progress.get("message")).end())
}
