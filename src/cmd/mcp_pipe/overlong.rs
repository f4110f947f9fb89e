//! A line from the server that is too long to keep: whether it answers a call, and which.

use super::server::LossCause;
use super::world::Servers;
use crate::cmd::refusal::Refusal;
use crate::cmd::world::{Calls, FarCall};
use pipewright_io::stage::Out;
use pipewright_record::Kind;
use serde_json::json;

/// The id of an answer is near its beginning or its end.
const HEAD: usize = 256;
const TAIL_LEN: usize = 64;

/// The beginning and the end of a line that is read in parts.
#[derive(Default)]
pub struct OverlongLine {
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// Which call a line answers.
#[derive(Debug, PartialEq)]
enum AnsweredCall {
    /// The one with this number.
    Call(u64),
    /// One that is not known.
    Unnamed,
    /// No call: a notification or a request has a method, noise has no brace.
    Nothing,
}

impl OverlongLine {
    fn take(&mut self, bytes: &[u8]) {
        self.head.extend_from_slice(&bytes[..bytes.len().min(HEAD - self.head.len())]);
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_LEN)..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_LEN));
    }

    fn answers(&self) -> AnsweredCall {
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        let envelope = ["\"result\"", "\"error\""].iter().filter_map(|key| head.find(key)).min();
        let envelope = &head[..envelope.unwrap_or(head.len())];
        if !head.trim_start().starts_with('{') || envelope.contains("\"method\"") {
            return AnsweredCall::Nothing;
        }
        let behind =
            || tail.trim_end().strip_suffix('}').and_then(|tail| number(tail).filter(|(_, rest)| rest.is_empty()));
        number(envelope).or_else(behind).map_or(AnsweredCall::Unnamed, |(id, _)| AnsweredCall::Call(id))
    }
}

/// The number after the last `"id":`, and the text after it.
fn number(text: &str) -> Option<(u64, &str)> {
    let behind = text[text.rfind("\"id\"")?..].strip_prefix("\"id\"")?.trim_start().strip_prefix(':')?.trim_start();
    let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
    Some((behind[..end].parse().ok()?, behind[end..].trim()))
}

impl Servers {
    /// If neither the beginning nor the end names the call, the line answers the only open one.
    pub(super) fn take_part(&mut self, at: usize, bytes: &[u8], last: bool, calls: &mut Calls, out: &mut Out) {
        self.connections[at].overlong.take(bytes);
        if !last {
            return;
        }
        let answers = std::mem::take(&mut self.connections[at].overlong).answers();
        let why = "the server's line is longer than --max-result";
        self.show(at, "noise", &json!(why).to_string(), out);
        if answers == AnsweredCall::Nothing {
            return;
        }
        if !self.connections[at].server.client.is_ready() {
            let loss = self.connections[at].server.loss(why.to_owned(), LossCause::Unusable);
            return self.server_lost(at, &loss, calls, out);
        }
        let setup = self.connections[at].setup_call.as_ref().map(|call| call.id);
        let id = match answers {
            AnsweredCall::Call(id) => Some(id),
            _ if calls.in_flight(at) == 0 => setup,
            _ => calls.only_flight(at).filter(|_| setup.is_none()),
        };
        let Some(id) = id else { return };
        if self.connections[at].setup_call.take_if(|call| call.id == id).is_some() {
            self.fail_setup(at, why);
        } else if !calls.refuse(FarCall { far: at, id }, &Refusal::new(Kind::TooLarge, why)) {
            return;
        }
        self.connections[at].server.client.forget(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: AnsweredCall) {
        for size in [1, 7, 1000] {
            let mut overlong = OverlongLine::default();
            line.as_bytes().chunks(size).for_each(|part| overlong.take(part));
            assert_eq!(overlong.answers(), expected, "{line}");
        }
    }

    #[test]
    fn an_answer_is_recognised_by_its_beginning_or_its_end() {
        let long = "x".repeat(500);
        check(&format!(r#"{{"jsonrpc":"2.0","id":7,"result":"{long}"}}"#), AnsweredCall::Call(7));
        check(&format!(r#" {{"result":{{"id":3,"a":"{long}"}},"id": 12 }}"#), AnsweredCall::Call(12));
        check(&format!(r#"{{"result":{{"id":3,"a":"{long}"}}}}"#), AnsweredCall::Unnamed);
        check(
            &format!(r#"{{"method":"notifications/message","params":{{"id":7,"data":"{long}"}}}}"#),
            AnsweredCall::Nothing,
        );
        check(&long, AnsweredCall::Nothing);
        check("", AnsweredCall::Nothing);
    }
}
