//! A client's request: the input of a run (AG-UI 1.0, `RunAgentInput`).

use pipewright_record::json::quoted;
use pipewright_record::{Fields, Reason, Unreadable};
use serde_json::value::RawValue;

/// The input of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct RunInput {
    /// The thread's id, which is the session's id.
    pub thread: String,
    /// The run's id.
    pub run: String,
    /// The person's new messages, each with its id: the user's messages after the last message of any other role.
    pub messages: Vec<(String, String)>,
    /// The answers to interrupts.
    pub answers: Vec<Answer>,
}

/// A person's answer to an interrupt.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The interrupt's id.
    pub interrupt: String,
    /// The fields of a `hitl_response` as JSON text, except its type and the fields that name the call.
    pub response: String,
}

impl RunInput {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn read(body: &str) -> Result<RunInput, Reason> {
        let wrong = |why: Unreadable| why.to_string();
        let fields = Fields::read(body).map_err(wrong)?;
        let needed = |key: &str| fields.text(key).ok_or_else(|| format!("{key} is missing"));
        let messages = fields.list("messages").map_err(wrong)?;
        let resume =
            if fields.present("resume").is_some() { fields.list("resume").map_err(wrong)? } else { Vec::new() };
        let answers = resume.into_iter().map(answer).collect::<Result<_, _>>()?;
        Ok(RunInput {
            thread: needed("threadId")?,
            run: needed("runId")?,
            messages: last_user_messages(&messages),
            answers,
        })
    }
}

fn last_user_messages(messages: &[&RawValue]) -> Vec<(String, String)> {
    let of_user = messages.iter().rev().map_while(|message| {
        let fields = Fields::read(message.get()).ok()?;
        let is_user = fields.text("role").as_deref() == Some("user");
        is_user.then(|| (fields.text("id").unwrap_or_default(), content(&fields)))
    });
    let mut messages: Vec<(String, String)> = of_user.filter(|(_, text)| !text.trim().is_empty()).collect();
    messages.reverse();
    messages
}

/// The text of a message: its content, or the text parts of its content.
fn content(message: &Fields<'_>) -> String {
    if let Some(text) = message.text("content") {
        return text;
    }
    let parts = message.list("content").unwrap_or_default();
    let texts = parts.iter().filter_map(|part| Fields::read(part.get()).ok()?.text("text"));
    texts.collect::<Vec<_>>().join("\n")
}

fn answer(entry: &RawValue) -> Result<Answer, String> {
    let fields = Fields::read(entry.get()).map_err(|why| format!("resume: {why}"))?;
    let interrupt = fields.text("interruptId").ok_or("resume: interruptId is missing in an entry")?;
    let response = match fields.text("status").as_deref() {
        Some("cancelled") => r#"{"action":"reject"}"#.to_owned(),
        Some("resolved") => {
            let payload = fields.object("payload");
            let payload = payload.filter(|payload| payload.text("action").is_some());
            let payload = payload.ok_or(r#"resume: a payload needs "action": "approve", "edit" or "reject""#)?;
            let pairs = payload.iter().filter(|(key, _)| ANSWER_FIELDS.contains(key));
            let pairs: Vec<String> = pairs.map(|(key, value)| format!("{}:{}", quoted(key), value.get())).collect();
            format!("{{{}}}", pairs.join(","))
        }
        _ => return Err("resume: the status of an entry must be resolved or cancelled".to_owned()),
    };
    Ok(Answer { interrupt, response })
}

/// The fields of a `hitl_response` that a client may set here.
const ANSWER_FIELDS: [&str; 6] = ["action", "edited_arguments", "replace", "feedback", "scope", "rule"];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_messages_and_answers_are_read() {
        let body = r#"{"threadId":"t","runId":"r","tools":[],"context":[],"messages":[{"id":"1","role":"user","content":"old"},
            {"id":"2","role":"assistant","content":"yes?"},{"id":"3","role":"user","content":"new"},
            {"id":"4","role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]}],
            "resume":[{"interruptId":"i","status":"resolved","payload":{"action":"edit","edited_arguments":{"n":1.10},"type":"x"}},
            {"interruptId":"j","status":"cancelled"}]}"#;
        let messages = [("3", "new"), ("4", "a\nb")].map(|(id, text)| (id.to_owned(), text.to_owned()));
        let answers = [("i", r#"{"action":"edit","edited_arguments":{"n":1.10}}"#), ("j", r#"{"action":"reject"}"#)];
        let answers = answers.map(|(id, text)| Answer { interrupt: id.to_owned(), response: text.to_owned() });
        let expected = RunInput {
            thread: "t".to_owned(),
            run: "r".to_owned(),
            messages: messages.to_vec(),
            answers: answers.into(),
        };
        assert_eq!(RunInput::read(body).unwrap(), expected);
    }

    #[test]
    fn invalid_input_is_refused() {
        for (body, why) in [
            ("[]", "array"),
            (r#"{"runId":"r","messages":[]}"#, "threadId"),
            (r#"{"threadId":"t","messages":[]}"#, "runId"),
            (
                r#"{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"resolved"}]}"#,
                "action",
            ),
            (r#"{"threadId":"t","runId":"r","messages":[],"resume":[{"status":"cancelled"}]}"#, "interruptId"),
            (r#"{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"yes"}]}"#, "resolved"),
        ] {
            assert!(RunInput::read(body).unwrap_err().contains(why), "{body}: {:?}", RunInput::read(body));
        }
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in "\\PC{0,80}") {
            let _ = RunInput::read(&body);
            let _ = RunInput::read(&format!(r#"{{"threadId":"t","runId":"r","messages":{body},"resume":[{body}]}}"#));
        }
    }
}
