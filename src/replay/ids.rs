//! The ids of calls, where an agent of now gives other ones than were recorded: what a recorded world says about its calls then
//! bears the ids of now, and is in the form that the call has now. Only in our own forms of calls; JSON-RPC is answered by [`answers`](super::answers).

use super::calls::{About, News, OpenCalls, about, call, own_call};
use super::forms::said_about;
use super::json_rpc::name;
use super::turns::{RecordedLine, body};
use std::borrow::Cow;
use std::collections::HashSet;

/// The recorded calls that have no answer yet, with their ids of now.
#[derive(Debug, Default)]
pub struct Ids {
    open: OpenCalls<Made>,
    /// The ids of the calls that were made while any of those was open.
    live: HashSet<Option<String>>,
}

#[derive(Debug)]
struct Made {
    /// The recorded call.
    said: RecordedLine,
    /// The same call as it was made now, where it was.
    now: Option<String>,
}

impl Ids {
    /// A line of the agent's is waited for.
    pub fn expect(&mut self, said: &RecordedLine) {
        if let Some(call) = own_call(said.body()) {
            if self.open.is_empty() {
                self.live.clear();
            }
            self.open.push(&call, Made { said: said.clone(), now: None });
        }
    }

    /// A line of now stands for that one.
    pub fn pair(&mut self, said: &RecordedLine, line: &[u8]) {
        if !self.open.is_empty()
            && let (Some(recorded), Some(now)) = (call(said.body()), call(line))
            && let Some(made) = self.open.like(&recorded).find(|made| made.said.place == said.place)
        {
            made.now = std::str::from_utf8(line).ok().map(str::to_owned);
            self.live.insert(now.id.map(name));
        }
    }

    /// A line of now came in no recorded line's place; it stands for the first recorded call that is the same and was not made.
    pub fn pair_extra(&mut self, now: &[u8], is_same: impl Fn(&[u8], &[u8]) -> bool) {
        if self.open.is_empty() {
            return;
        }
        let Some(extra) = call(now) else { return };
        let unmade = self.open.all().filter(|made| made.now.is_none() && is_same(made.said.body(), now));
        if let Some(made) = unmade.min_by_key(|made| made.said.place) {
            made.now = std::str::from_utf8(now).ok().map(str::to_owned);
        }
        self.live.insert(extra.id.map(name));
    }

    /// A line of the recorded world, to be said with the ids of now. An answer is the last that is said about its call.
    /// `None` where it is about a call that was not made, and would be taken for an answer to another that was made.
    pub fn answer<'l>(&mut self, raw: &'l [u8]) -> Option<Cow<'l, [u8]>> {
        let Some(about) = self.about(raw) else { return Some(Cow::Borrowed(raw)) };
        let is_unmade = self.open.first(&about).is_some_and(|made| made.now.is_none());
        let now = (!is_unmade || !self.live.contains(&about.id)).then(|| self.now(raw, &about));
        if matches!(about.news, News::Answered { .. }) {
            self.open.close(&about);
        }
        now
    }

    /// A recorded line of the agent's that is about a call, such as one that cancels it, as it would be with the ids of now.
    pub fn translated<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        match self.about(line) {
            Some(about) => self.now(line, &about),
            None => Cow::Borrowed(line),
        }
    }

    fn about<'l>(&self, raw: &'l [u8]) -> Option<About<'l>> {
        if self.open.is_empty() { None } else { about(body(raw)) }
    }

    /// A line with the id of now, and where it is an answer, in the form of the call of now.
    fn now<'l>(&self, raw: &'l [u8], about: &About<'_>) -> Cow<'l, [u8]> {
        let (line, end) = raw.split_at(body(raw).len());
        let made = self.open.first(about).and_then(|made| made.now.as_deref());
        let Some(call) = made.and_then(|now| call(now.as_bytes())) else { return Cow::Borrowed(raw) };
        // What was read as an object is text.
        let Ok(line) = std::str::from_utf8(line) else { return Cow::Borrowed(raw) };
        match said_about(&call, about, line) {
            Some(said) => Cow::Owned([said.as_bytes(), end].concat()),
            None => Cow::Borrowed(raw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str, number: u64) -> RecordedLine {
        RecordedLine { bytes: format!("{line}\n").into_bytes(), t: 0, place: (0, number) }
    }

    /// What is said of the recorded `answers` where these calls were recorded and made.
    fn answers(calls: &[(&str, &str)], answers: &[&str]) -> Vec<String> {
        let mut ids = Ids::default();
        for (number, (recorded, _)) in (1..).zip(calls) {
            ids.expect(&said(recorded, number));
        }
        for (number, (recorded, now)) in (1..).zip(calls).filter(|(_, (_, now))| !now.is_empty()) {
            ids.pair(&said(recorded, number), now.as_bytes());
        }
        let said = answers.iter().filter_map(|line| ids.answer(line.as_bytes()).map(|said| said.into_owned()));
        said.map(|said| String::from_utf8_lossy(&said).into_owned()).collect()
    }

    #[test]
    fn an_answer_bears_the_id_of_now_in_each_of_our_forms() {
        for (call, now, answer, said) in [
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
            // Then or now, it may have none.
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
            // A call that wasn't made where its id is free, and one of JSON-RPC, are answered as they were.
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
            assert_eq!(answers(&[(call, now)], &[answer]), [said]);
        }
    }

    #[test]
    fn all_that_is_said_about_a_call_bears_its_id_until_it_is_answered() {
        let call = (r#"{"id":1,"tool":"a"}"#, r#"{"id":9,"tool":"a"}"#);
        let status = r#"{"type":"status","status":"waiting_human","call_id":1,"tool_name":"a"}"#;
        let (answer, other) =
            (r#"{"id":1,"tool":"a","status":"ok"}"#, r#"{"type":"observation","source":"x","data":{"id":1}}"#);
        let said = answers(&[call], &[status, other, answer, answer]);
        assert_eq!(said, [&status.replace(":1,", ":9,"), other, &answer.replace(":1,", ":9,"), answer]);
    }

    #[test]
    fn without_ids_answers_come_in_the_order_of_the_calls_also_of_those_that_were_not_made() {
        let call = r#"{"tool":"a"}"#;
        let made = |id: u32| format!("{{\"id\":{id},\"tool\":\"a\"}}");
        let answer = |n: u32| format!("{{\"tool\":\"a\",\"status\":\"ok\",\"data\":{n}}}");
        let said = answers(&[(call, &made(1)), (call, ""), (call, &made(3))], &[&answer(1), &answer(2), &answer(3)]);
        let with = |n: u32| answer(n).replace('}', &format!(",\"id\":{n}}}"));
        assert_eq!(said, [with(1), answer(2), with(3)]);
    }

    #[test]
    fn an_answer_to_a_call_that_was_not_made_is_left_out_where_its_id_is_used_now() {
        let call = |id: u32, tool: &str| format!("{{\"id\":{id},\"tool\":\"{tool}\"}}");
        let answer = |id: u32, tool: &str| format!("{{\"id\":{id},\"tool\":\"{tool}\",\"status\":\"ok\"}}");
        let (a, b, b_now) = (call(1, "a"), call(2, "b"), call(1, "b"));
        for order in [[answer(1, "a"), answer(2, "b")], [answer(2, "b"), answer(1, "a")]] {
            assert_eq!(answers(&[(&a, ""), (&b, &b_now)], &[&order[0], &order[1]]), [answer(1, "b")]);
        }
    }

    #[test]
    fn what_cancels_a_call_is_compared_with_the_id_of_now() {
        let mut ids = Ids::default();
        let (call, cancel) = (said(r#"{"id":1,"tool":"a"}"#, 1), br#"{"type":"cancel","call_id":1}"#);
        ids.expect(&call);
        assert_eq!(&*ids.translated(cancel), cancel);
        ids.pair(&call, br#"{"id":"x","tool":"a"}"#);
        assert_eq!(&*ids.translated(cancel), br#"{"type":"cancel","call_id":"x"}"#);
        assert_eq!(&*ids.translated(call.body()), call.body());
    }
}
