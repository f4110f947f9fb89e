//! Requests to a model without a turn so far, when the recorded model is played to live requests. Recorded lines about
//! a request are sent with the `request_id` of the live one, and every live request gets exactly one turn.

use super::json_rpc::name;
use super::model::{ModelRecord, model_record};
use super::turns::{RecordedLine, body};
use pipewright_lines::{Change, change};
use pipewright_record::{Attempts, Kind, TurnFailure, Usage};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The requests of both sides.
#[derive(Debug, Default)]
pub struct Requests {
    recorded: Vec<RecordedRequest>,
    live: Vec<LiveRequest>,
    /// Live requests for which the recording has no turn.
    unanswerable: Vec<LiveRequest>,
    is_used: bool,
}

#[derive(Debug)]
struct RecordedRequest {
    line: RecordedLine,
    id: Option<String>,
    /// The number of the live request that takes its place.
    now: Option<u64>,
}

#[derive(Debug)]
struct LiveRequest {
    number: u64,
    id: Option<Box<RawValue>>,
}

/// Whether a line is the model's: its turn, or a part of it.
pub fn is_answer(line: &[u8]) -> bool {
    matches!(model_record(line), Some((ModelRecord::Token | ModelRecord::Turn, _)))
}

/// The turn for a request that the recording cannot answer, JSON text without a line feed.
pub fn failed_turn(request_id: Option<&RawValue>, kind: Kind, message: &str) -> String {
    let failure = TurnFailure { kind, message: message.to_owned(), code: None };
    failure.record(request_id, Usage::default(), Attempts::default())
}

/// A recorded line of the model with this `request_id`, or without one.
pub(super) fn with_request_id(line: &str, id: Option<&RawValue>) -> Option<Vec<u8>> {
    let id = id.map_or(Change::Remove, |id| Change::Set(id.get().as_bytes()));
    let mut changed = Vec::new();
    change(line, &[("request_id", id)], &mut changed).ok()?;
    Some(changed)
}

impl Requests {
    /// Whether any live request has come.
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// A live request has come, with this line number.
    pub fn receive(&mut self, number: u64, id: Option<Box<RawValue>>) {
        self.is_used = true;
        self.live.push(LiveRequest { number, id });
    }

    /// A recorded line of the agent is expected.
    pub fn expect(&mut self, line: &RecordedLine) {
        if let Some((ModelRecord::Request, id)) = model_record(line.body()) {
            self.recorded.push(RecordedRequest { line: line.clone(), id: id.map(name), now: None });
        }
    }

    /// The live line with this number takes the place of that recorded one.
    pub fn pair(&mut self, line: &RecordedLine, number: u64) {
        match self.recorded.iter_mut().find(|recorded| recorded.line.place == line.place) {
            Some(recorded) => recorded.now = Some(number),
            None => self.give_up(number),
        }
    }

    /// The live line with this number takes no recorded line's place. It stands for the first recorded request that is
    /// equal and was not made.
    pub fn pair_extra(&mut self, number: u64, is_same: impl Fn(&[u8]) -> bool) {
        if let Some(stood_in) = self.recorded.iter_mut().find(|recorded| recorded.now == Some(number)) {
            stood_in.now = None;
        }
        match self.recorded.iter_mut().find(|recorded| recorded.now.is_none() && is_same(recorded.line.body())) {
            Some(recorded) => recorded.now = Some(number),
            None => self.give_up(number),
        }
    }

    /// A line of the recorded model, with the id of the live request. `None` if its request was not made.
    pub fn answer<'l>(&mut self, raw: &'l [u8]) -> Option<Cow<'l, [u8]>> {
        let (line, end) = raw.split_at(body(raw).len());
        let Some((record @ (ModelRecord::Token | ModelRecord::Turn), id)) = model_record(line) else {
            return Some(Cow::Borrowed(raw));
        };
        let id = id.map(name);
        let Some(at) = self.recorded.iter().position(|recorded| recorded.id == id) else {
            return Some(Cow::Borrowed(raw));
        };
        let live = self.live.iter().position(|live| self.recorded[at].now == Some(live.number));
        let line =
            live.and_then(|live| with_request_id(std::str::from_utf8(line).ok()?, self.live[live].id.as_deref()));
        if record == ModelRecord::Turn {
            self.recorded.remove(at);
            live.map(|live| self.live.remove(live));
        }
        Some(Cow::Owned([&line?, end].concat()))
    }

    /// The recording has ended: no further live request gets a recorded turn.
    pub fn give_up_all(&mut self) {
        self.unanswerable.append(&mut self.live);
    }

    fn give_up(&mut self, number: u64) {
        if let Some(at) = self.live.iter().position(|live| live.number == number) {
            self.unanswerable.push(self.live.remove(at));
        }
    }

    /// The turns for the live requests for which the recording has none, JSON text without line feeds.
    pub fn failed_turns(&mut self) -> Vec<String> {
        let message = "the recording has no turn for this request";
        let turn = |live: LiveRequest| failed_turn(live.id.as_deref(), Kind::NotFound, message);
        std::mem::take(&mut self.unanswerable).into_iter().map(turn).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::turns::Place;

    fn request(id: &str, number: u64) -> RecordedLine {
        let bytes = format!("{{\"type\":\"model_request\",\"request_id\":{id}}}\n").into_bytes();
        RecordedLine { bytes, t: 0, place: Place { file: 0, line: number } }
    }

    fn live(requests: &mut Requests, number: u64, id: &str) {
        requests.receive(number, serde_json::from_str(id).unwrap());
    }

    fn answer(requests: &mut Requests, line: &str) -> Option<String> {
        requests.answer(line.as_bytes()).map(|line| String::from_utf8_lossy(&line).into_owned())
    }

    #[test]
    fn tokens_and_the_turn_get_the_live_id_and_are_otherwise_unchanged() {
        let mut requests = Requests::default();
        requests.expect(&request("\"m1\"", 1));
        requests.expect(&request("2", 2));
        live(&mut requests, 1, "\"x\"");
        live(&mut requests, 2, "7.10");
        requests.pair(&request("2", 2), 1);
        requests.pair(&request("\"m1\"", 1), 2);
        let token = r#"{"type":"assistant_message", "request_id":"m1","token":"a"}"#;
        let turn = "{\"type\":\"model_turn\",\"request_id\":\"\\u006d1\",\"n\":1.10}\r\n";
        let changed = |line: &str, from: &str, to: &str| Some(line.replace(from, to));
        assert_eq!(answer(&mut requests, token), changed(token, "\"m1\"", "7.10"));
        assert_eq!(answer(&mut requests, turn), changed(turn, "\"\\u006d1\"", "7.10"));
        let other = r#"{"type":"observation","data":{"request_id":2}}"#;
        assert_eq!(answer(&mut requests, other).unwrap(), other);
        let turn = r#"{"type":"model_turn","request_id":2}"#;
        assert_eq!(answer(&mut requests, turn), changed(turn, "2", "\"x\""));
        requests.give_up_all();
        assert_eq!(requests.failed_turns(), [""; 0]);
    }

    #[test]
    fn a_turn_whose_request_was_not_made_is_not_sent() {
        let mut requests = Requests::default();
        requests.expect(&request("1", 1));
        assert_eq!(answer(&mut requests, r#"{"type":"model_turn","request_id":1}"#), None);
    }

    #[test]
    fn a_request_in_no_recorded_place_gets_the_turn_of_the_same_request_or_an_error() {
        let mut requests = Requests::default();
        requests.expect(&request("1", 1));
        live(&mut requests, 1, "\"a\"");
        live(&mut requests, 2, "null");
        live(&mut requests, 3, "\"c\"");
        requests.pair_extra(1, |_| false);
        assert!(requests.failed_turns()[0].contains(r#""request_id":"a","status":"error","kind":"not_found""#));
        requests.pair(&request("1", 1), 2);
        // The expected line comes late, so the one that stood in for it has no place.
        requests.pair_extra(2, |_| false);
        requests.pair(&request("1", 1), 3);
        assert_eq!(requests.failed_turns().len(), 1);
        let turn = answer(&mut requests, r#"{"type":"model_turn","request_id":1}"#);
        assert_eq!(turn.unwrap(), r#"{"type":"model_turn","request_id":"c"}"#);
        requests.pair(&request("1", 1), 3);
        assert_eq!(requests.failed_turns().len(), 0, "it has its turn");
    }
}
