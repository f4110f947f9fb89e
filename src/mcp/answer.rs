//! What a server's result means: `isError`, and seed 001's contract of tools, whatever shape they give it.

use crate::json::one_line;
use crate::record::Fields;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What a tool gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given<'a> {
    /// It did it: the whole result, or what a tool of seed 001's contract calls its data.
    Result(Cow<'a, str>),
    /// It failed: what it says, and what it gave with that, as JSON text (all of it, where the seed's contract doesn't name its data).
    Error {
        /// For people.
        message: String,
        /// JSON text.
        data: Cow<'a, str>,
    },
    /// It wants something to be answered before it goes on (2026-07-28); the whole result.
    InputRequired(&'a str),
}

/// Reads a `tools/call` result. Everything that the server said stays: text, structured content, blocks, unknown fields, every
/// digit.
pub fn given(result: &RawValue) -> Given<'_> {
    let whole = result.get();
    let Ok(fields) = Fields::read(whole) else { return Given::Result(whole.into()) };
    let is = |key, value| fields.get(key).is_some_and(|found| found.get() == value);
    if is("resultType", "\"input_required\"") {
        return Given::InputRequired(whole);
    }
    if is("isError", "true") {
        let message = texts(fields.get("content")).unwrap_or_else(|| UNNAMED.to_owned());
        return Given::Error { message, data: whole.into() };
    }
    let structured = fields.get("structuredContent").and_then(|content| contract(content.get()));
    structured
        .or_else(|| contract(&only_text(fields.get("content"))?).map(Given::into_owned))
        .map(|given| match given {
            Given::Error { message, data } if data.is_empty() => Given::Error { message, data: whole.into() },
            given => given,
        })
        .unwrap_or(Given::Result(whole.into()))
}

/// What a tool asks for before it goes on (2026-07-28, multi round-trip requests).
#[derive(Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// Its requests: their names, methods and parameters (JSON text).
    pub requests: Vec<(String, String, &'a str)>,
    /// What it wants to have back, as JSON text.
    pub state: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// Reads a result that is [`Given::InputRequired`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(whole: &'a str) -> Result<Asked<'a>, String> {
        let read =
            |json: &'a RawValue| Fields::read(json.get()).map_err(|error| format!("its input_required: {error}"));
        let fields = Fields::read(whole).map_err(|error| error.to_string())?;
        let is_there = |value: &&RawValue| value.get() != "null";
        let mut requests = Vec::new();
        if let Some(asked) = fields.get("inputRequests").filter(is_there) {
            for (name, request) in read(asked)?.iter() {
                let request = read(request)?;
                let method = request.get("method").and_then(|method| serde_json::from_str(method.get()).ok());
                let method = method.ok_or_else(|| format!("its input_required: {name:?} has no method"))?;
                requests.push((name.to_owned(), method, request.get("params").map_or("{}", RawValue::get)));
            }
        }
        let state = fields.get("requestState").filter(is_there).map(RawValue::get);
        if requests.is_empty() && state.is_none() {
            return Err("its input_required asks for nothing".to_owned());
        }
        Ok(Asked { requests, state })
    }
}

const UNNAMED: &str = "the tool reports an error";

/// Seed 001: `{"status":"ok","data":...}`, or `{"status":"error","error":"...","data":...}`; without data, that is empty.
fn contract(json: &str) -> Option<Given<'_>> {
    let fields = Fields::read(json).ok()?;
    let text =
        |value: &RawValue| serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned());
    let data = fields.get("data").map(|data| Cow::Borrowed(data.get()));
    match fields.get("status")?.get() {
        "\"error\"" => {
            let message = fields.get("error").map_or_else(|| UNNAMED.to_owned(), text);
            Some(Given::Error { message, data: data.unwrap_or_default() })
        }
        "\"ok\"" => data.map(Given::Result),
        _ => None,
    }
}

impl Given<'_> {
    fn into_owned<'a>(self) -> Given<'a> {
        match self {
            Given::Error { message, data } => Given::Error { message, data: one_line(&data).into() },
            Given::Result(data) => Given::Result(one_line(&data).into()),
            // A contract is none.
            Given::InputRequired(whole) => Given::Result(whole.to_owned().into()),
        }
    }
}

#[derive(serde::Deserialize)]
struct Block {
    text: Option<String>,
}

fn blocks(content: Option<&RawValue>) -> Vec<Block> {
    content.and_then(|content| serde_json::from_str(content.get()).ok()).unwrap_or_default()
}

/// The texts of the blocks, joined.
fn texts(content: Option<&RawValue>) -> Option<String> {
    let texts: Vec<String> = blocks(content).into_iter().filter_map(|block| block.text).collect();
    if texts.is_empty() { None } else { Some(texts.join("\n")) }
}

fn only_text(content: Option<&RawValue>) -> Option<String> {
    let mut blocks = blocks(content);
    if blocks.len() == 1 { blocks.remove(0).text } else { None }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Given<'_>) {
        let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
        assert_eq!(given(&raw), expected);
    }

    #[test]
    fn everything_that_was_said_stays() {
        let json = r#"{"content":[{"type":"text","text":"hi"}],"structuredContent":{"n":12345678901234567890123,"x":1.10},"unknown":{}}"#;
        check(json, Given::Result(json.into()));
        let json = r#"{"content":[{"type":"text","text":"no"},{"type":"image","data":""},{"type":"text","text":"way"}],"isError":true,"structuredContent":{"why":1}}"#;
        check(json, Given::Error { message: "no\nway".to_owned(), data: json.into() });
        check(
            r#"{"isError":true}"#,
            Given::Error { message: "the tool reports an error".to_owned(), data: r#"{"isError":true}"#.into() },
        );
        check("[1]", Given::Result("[1]".into()));
        let json = r#"{"resultType":"input_required","requestState":"s"}"#;
        check(json, Given::InputRequired(json));
    }

    #[test]
    fn what_a_tool_asks_for_is_read() {
        let asked = r#"{"resultType":"input_required","inputRequests":{"q \"1\"":{"method":"elicitation/create","params":{"n":1.10}}},"requestState":"s\u0041"}"#;
        let requests = vec![("q \"1\"".to_owned(), "elicitation/create".to_owned(), r#"{"n":1.10}"#)];
        assert_eq!(Asked::read(asked), Ok(Asked { requests, state: Some(r#""s\u0041""#) }));
        assert_eq!(Asked::read(r#"{"requestState":"s"}"#), Ok(Asked { requests: Vec::new(), state: Some("\"s\"") }));
        for bad in ["{}", r#"{"inputRequests":{"a":{}}}"#, r#"{"inputRequests":[]}"#, r#"{"inputRequests":{"a":1}}"#] {
            assert!(Asked::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_seeds_contract_is_recognised_in_both_shapes() {
        let json = r#"{"content":[],"structuredContent":{"status":"ok","data":{"url":"x","n":1.10}}}"#;
        check(json, Given::Result(r#"{"url":"x","n":1.10}"#.into()));
        let json = r#"{"content":[],"structuredContent":{"status":"error","error":"gone","data":{"a":1.0}}}"#;
        check(json, Given::Error { message: "gone".to_owned(), data: r#"{"a":1.0}"#.into() });
        let json = r#"{"content":[{"type":"text","text":"{\"status\":\"error\",\"error\":\"gone\"}"}]}"#;
        check(json, Given::Error { message: "gone".to_owned(), data: json.into() });
        let json = r#"{"content":[{"type":"text","text":"{\"status\":\"ok\",\"data\":[1.10]}"}]}"#;
        check(json, Given::Result("[1.10]".into()));
        let json = r#"{"content":[{"type":"text","text":"{\n\"status\":\"ok\",\n\"data\":[\r\n1.10]}"}]}"#;
        check(json, Given::Result("[  1.10]".into()));
        // Somebody's own status is none of ours.
        let json =
            r#"{"content":[{"type":"text","text":"{\"status\":\"shipped\"}"}],"structuredContent":{"status":"ok"}}"#;
        check(json, Given::Result(json.into()));
    }
}
