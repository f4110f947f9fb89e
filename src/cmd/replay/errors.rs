//! The error answers of a recorded world that answers in any order.

use pipewright_record::json::{Object, quoted};
use pipewright_record::{Kind, Outcome};
use pipewright_replay::answers::{Caller, Miss};
use pipewright_replay::requests::failed_turn;
use serde_json::value::RawValue;

/// JSON-RPC error codes: parse error, invalid request, method not found, internal error.
pub(super) const UNREADABLE: i32 = -32700;
pub(super) const INVALID: i32 = -32600;
const NO_METHOD: i32 = -32601;
pub(super) const INTERNAL: i32 = -32603;

/// An error without code and data.
pub(super) fn refusal(kind: Kind, message: &str) -> Outcome<'_> {
    Outcome::Error { kind, message, code: None, data: None }
}

/// An error in the caller's form, with the kind or the JSON-RPC code.
pub(super) fn error(caller: Caller<'_>, (kind, code): (Kind, i32), message: &str, data: Option<&RawValue>) -> Vec<u8> {
    let line = match caller {
        Caller::Call(call) => call.answer(Outcome::Error { kind, message, code: None, data }) + "\n",
        Caller::Request(id, _) => {
            let error = Object::default().put("code", code).text("message", message).put_some("data", data);
            Object::default().text("jsonrpc", "2.0").put("id", id).put("error", error.end()).line()
        }
        Caller::ModelRequest(id) => failed_turn(id, kind, message) + "\n",
        Caller::Notification => String::new(),
    };
    line.into_bytes()
}

/// The recorded requests that are nearest to a request.
pub(super) fn nearest(miss: &Miss) -> Box<RawValue> {
    let list = |key, items: Vec<String>| (!items.is_empty()).then(|| (key, format!("[{}]", items.join(","))));
    let recorded = list("recorded", miss.near.iter().map(|near| near.arguments.clone()).collect());
    let names = list("names", miss.names.iter().map(|name| quoted(name)).collect());
    let nearest = [recorded, names].into_iter().flatten();
    let nearest = nearest.fold(Object::default(), |object, (key, items)| object.put(key, items));
    RawValue::from_string(nearest.end()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The message for a miss, with its kind and JSON-RPC code.
pub(super) fn words(miss: &Miss) -> ((Kind, i32), String) {
    let Miss { method, tool, is_known, names, near } = miss;
    let has_names = !names.is_empty();
    let names = names.join(", ");
    if !is_known {
        return ((Kind::UnknownTool, NO_METHOD), format!("the recording has no {method}; it has {names}"));
    }
    let what = match tool {
        Some(tool) if has_names => {
            let message = format!("the recording has no call of {tool}; it has {names}");
            return ((Kind::UnknownTool, INTERNAL), message);
        }
        Some(tool) => format!("call of {tool} with these arguments"),
        None if method == "model_request" => "model_request with these messages".to_owned(),
        None => format!("{method} with these parameters"),
    };
    let paths: Vec<&str> = near.iter().take(1).flat_map(|near| &near.paths).map(String::as_str).take(3).collect();
    let nearest =
        if paths.is_empty() { String::new() } else { format!("; the nearest differs at {}", paths.join(", ")) };
    ((Kind::NotFound, INTERNAL), format!("the recording has no {what}{nearest}"))
}
