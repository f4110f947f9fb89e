//! The ids of calls, if a live agent uses other ids than the recorded one. Then the recorded world's lines about its
//! calls get the live ids, and the form of the live call. Only for calls in our own forms; JSON-RPC is answered by
//! [`answers`](super::answers).

use super::calls::{CallLine, CallNews, OpenCalls, about, call, own_call};
use super::forms::with_live_id;
use super::json_rpc::name;
use super::turns::{RecordedLine, body};
use std::borrow::Cow;
use std::collections::HashSet;

/// The recorded calls without an answer so far, with their live ids.
#[derive(Debug, Default)]
pub struct Ids {
    open: OpenCalls<MatchedCall>,
    /// The ids of the calls that were made while any of these was open.
    live: HashSet<Option<String>>,
}

#[derive(Debug)]
struct MatchedCall {
    /// The recorded call.
    recorded: RecordedLine,
    /// The call as made live, if it was.
    now: Option<String>,
}

impl Ids {
    /// A line of the agent is expected.
    pub fn expect(&mut self, recorded: &RecordedLine) {
        if let Some(call) = own_call(recorded.body()) {
            if self.open.is_empty() {
                self.live.clear();
            }
            self.open.push(&call, MatchedCall { recorded: recorded.clone(), now: None });
        }
    }

    /// A live line takes the place of that recorded one.
    pub fn pair(&mut self, recorded: &RecordedLine, line: &[u8]) {
        if !self.open.is_empty()
            && let (Some(recorded_call), Some(now)) = (call(recorded.body()), call(line))
            && let Some(made) = self.open.with_id_of(&recorded_call).find(|made| made.recorded.place == recorded.place)
        {
            made.now = std::str::from_utf8(line).ok().map(str::to_owned);
            self.live.insert(now.id.map(name));
        }
    }

    /// A live line takes no recorded line's place. It stands for the first recorded call that is equal and was not
    /// made.
    pub fn pair_extra(&mut self, now: &[u8], is_same: impl Fn(&[u8], &[u8]) -> bool) {
        if self.open.is_empty() {
            return;
        }
        let Some(extra) = call(now) else { return };
        let unmade = self.open.all().filter(|made| made.now.is_none() && is_same(made.recorded.body(), now));
        if let Some(made) = unmade.min_by_key(|made| made.recorded.place) {
            made.now = std::str::from_utf8(now).ok().map(str::to_owned);
        }
        self.live.insert(extra.id.map(name));
    }

    /// A line of the recorded world, with the live ids. An answer is the last line about its call. `None` if it is
    /// about a call that was not made, and would look like the answer to another one that was.
    pub fn answer<'l>(&mut self, raw: &'l [u8]) -> Option<Cow<'l, [u8]>> {
        let Some(about) = self.about(raw) else { return Some(Cow::Borrowed(raw)) };
        let is_unmade = self.open.first(&about).is_some_and(|made| made.now.is_none());
        let now = (!is_unmade || !self.live.contains(&about.id)).then(|| self.now(raw, &about));
        if matches!(about.news, CallNews::Answered { .. }) {
            self.open.close(&about);
        }
        now
    }

    /// A recorded line of the agent about a call, such as a cancel request, with the live ids.
    pub fn translated<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        match self.about(line) {
            Some(about) => self.now(line, &about),
            None => Cow::Borrowed(line),
        }
    }

    fn about<'l>(&self, raw: &'l [u8]) -> Option<CallLine<'l>> {
        if self.open.is_empty() { None } else { about(body(raw)) }
    }

    /// A line with the live id, and if it is an answer, in the form of the live call.
    fn now<'l>(&self, raw: &'l [u8], about: &CallLine<'_>) -> Cow<'l, [u8]> {
        let (line, end) = raw.split_at(body(raw).len());
        let made = self.open.first(about).and_then(|made| made.now.as_deref());
        let Some(call) = made.and_then(|now| call(now.as_bytes())) else { return Cow::Borrowed(raw) };
        // A line that was read as an object is UTF-8.
        let Ok(line) = std::str::from_utf8(line) else { return Cow::Borrowed(raw) };
        match with_live_id(&call, about, line) {
            Some(line) => Cow::Owned([line.as_bytes(), end].concat()),
            None => Cow::Borrowed(raw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::Place;

    fn line_of(line: &str, number: u64) -> RecordedLine {
        RecordedLine { bytes: format!("{line}\n").into_bytes(), t: 0, place: Place { file: 0, line: number } }
    }

    /// The lines sent for the recorded `answers` after these calls were recorded and made.
    fn answers(calls: &[(&str, &str)], answers: &[&str]) -> Vec<String> {
        let mut ids = Ids::default();
        for (number, (recorded, _)) in (1..).zip(calls) {
            ids.expect(&line_of(recorded, number));
        }
        for (number, (recorded, now)) in (1..).zip(calls).filter(|(_, (_, now))| !now.is_empty()) {
            ids.pair(&line_of(recorded, number), now.as_bytes());
        }
        let given = answers.iter().filter_map(|line| ids.answer(line.as_bytes()).map(|line| line.into_owned()));
        given.map(|line| String::from_utf8_lossy(&line).into_owned()).collect()
    }

    #[test]
    fn an_answer_gets_the_live_id_in_each_of_our_forms() {
        for (call, now, answer, expected) in [
            (
                r#"{"id":1,"tool":"a"}"#,
                r#"{"id":"x","tool":"a"}"#,
                r#"{"id":1,"tool":"a","status":"ok","data":1.10}"#,
                r#"{"id":"x","tool":"a","status":"ok","data":1.10}"#,
            ),
            (
                r#"{"id":1,"cmd":"a"}"#,
                r#"{"id":2,"cmd":"a"}"#,
                r#"{"ok":true, "id":1,"data":{"id":1}}"#,
                r#"{"ok":true, "id":2,"data":{"id":1}}"#,
            ),
            (
                r#"{"type":"tool_call","call_id":"c","tool_name":"a"}"#,
                r#"{"type":"tool_call","call_id":12345678901234567890123,"tool_name":"a"}"#,
                r#"{"type":"tool_result","call_id":"\u0063","status":"ok","result":{}}"#,
                r#"{"type":"tool_result","call_id":12345678901234567890123,"status":"ok","result":{}}"#,
            ),
            // Recorded or live, it may have no id.
            (
                r#"{"id":1,"tool":"a"}"#,
                r#"{"tool":"a"}"#,
                r#"{"id":1,"tool":"a","status":"ok"}"#,
                r#"{"tool":"a","status":"ok"}"#,
            ),
            (
                r#"{"tool":"a"}"#,
                r#"{"id":1,"tool":"a"}"#,
                r#"{"tool":"a","status":"ok"}"#,
                r#"{"tool":"a","status":"ok","id":1}"#,
            ),
            // The answer to a call that was not made is unchanged if its id is free, and so is one in JSON-RPC.
            (
                r#"{"id":1,"tool":"a"}"#,
                "",
                r#"{"id":1,"tool":"a","status":"ok"}"#,
                r#"{"id":1,"tool":"a","status":"ok"}"#,
            ),
            (
                r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#,
                r#"{"id":2,"method":"tools/call","params":{"name":"a"}}"#,
                r#"{"id":1,"result":{}}"#,
                r#"{"id":1,"result":{}}"#,
            ),
        ] {
            assert_eq!(answers(&[(call, now)], &[answer]), [expected]);
        }
    }

    #[test]
    fn all_lines_about_a_call_get_its_id_until_it_is_answered() {
        let call = (r#"{"id":1,"tool":"a"}"#, r#"{"id":9,"tool":"a"}"#);
        let status = r#"{"type":"status","status":"waiting_human","call_id":1,"tool_name":"a"}"#;
        let (answer, other) =
            (r#"{"id":1,"tool":"a","status":"ok"}"#, r#"{"type":"observation","source":"x","data":{"id":1}}"#);
        let given = answers(&[call], &[status, other, answer, answer]);
        assert_eq!(given, [&status.replace(":1,", ":9,"), other, &answer.replace(":1,", ":9,"), answer]);
    }

    #[test]
    fn without_ids_answers_follow_the_order_of_all_recorded_calls() {
        let call = r#"{"tool":"a"}"#;
        let made = |id: u32| format!("{{\"id\":{id},\"tool\":\"a\"}}");
        let answer = |n: u32| format!("{{\"tool\":\"a\",\"status\":\"ok\",\"data\":{n}}}");
        let given = answers(&[(call, &made(1)), (call, ""), (call, &made(3))], &[&answer(1), &answer(2), &answer(3)]);
        let with = |n: u32| answer(n).replace('}', &format!(",\"id\":{n}}}"));
        assert_eq!(given, [with(1), answer(2), with(3)]);
    }

    #[test]
    fn the_answer_to_a_call_that_was_not_made_is_left_out_if_its_id_is_in_use() {
        let call = |id: u32, tool: &str| format!("{{\"id\":{id},\"tool\":\"{tool}\"}}");
        let answer = |id: u32, tool: &str| format!("{{\"id\":{id},\"tool\":\"{tool}\",\"status\":\"ok\"}}");
        let (a, b, b_now) = (call(1, "a"), call(2, "b"), call(1, "b"));
        for order in [[answer(1, "a"), answer(2, "b")], [answer(2, "b"), answer(1, "a")]] {
            assert_eq!(answers(&[(&a, ""), (&b, &b_now)], &[&order[0], &order[1]]), [answer(1, "b")]);
        }
    }

    #[test]
    fn a_cancel_request_is_compared_with_the_live_id() {
        let mut ids = Ids::default();
        let (call, cancel) = (line_of(r#"{"id":1,"tool":"a"}"#, 1), br#"{"type":"cancel","call_id":1}"#);
        ids.expect(&call);
        assert_eq!(&*ids.translated(cancel), cancel);
        ids.pair(&call, br#"{"id":"x","tool":"a"}"#);
        assert_eq!(&*ids.translated(cancel), br#"{"type":"cancel","call_id":"x"}"#);
        assert_eq!(&*ids.translated(call.body()), call.body());
    }
}
