//! Lines to the game, and lines from it.

use super::{PROTOCOL, is_compatible};
use pipewright_lines::{Kind, Tokens};
use pipewright_record::json::Object;
use pipewright_record::{Fields, Reason};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A command's line, with its line feed. Godot reads numbers as floats, so the id is a small one of ours, and integers
/// with more digits than a float keeps are sent as `{"$type":"int","value":"..."}`. It also reads long fractions
/// slightly wrong (and very small ones as zero), so their bits are sent.
pub fn command(id: u64, name: &str, arguments: Option<&str>, timeout: f64) -> String {
    let arguments = exact_numbers(arguments.unwrap_or("{}"));
    Object::default().put("id", id).text("cmd", name).put("args", arguments).put("timeout", timeout).line()
}

/// A number with at most this many digits is certainly read exactly,
const CERTAIN_DIGITS: usize = 15;
/// if its power of ten is at most this, which a float represents exactly.
const CERTAIN_EXPONENT: usize = 22;

/// The form in which a number is sent, if Godot might not read the plain number exactly.
fn exact(number: &str) -> Option<String> {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let fraction = digits.split_once('.').map_or("", |(_, fraction)| fraction);
    if digits.bytes().filter(u8::is_ascii_digit).count() <= CERTAIN_DIGITS {
        let power = exponent.parse::<isize>().ok()?.unsigned_abs();
        if power.saturating_add(fraction.len()) <= CERTAIN_EXPONENT {
            return None;
        }
    } else if digits.len() == number.len() && fraction.is_empty() {
        return Some(format!("{{\"$type\":\"int\",\"value\":\"{number}\"}}"));
    }
    let bits = number.parse::<f64>().ok()?.to_bits();
    Some(format!("{{\"$type\":\"float\",\"bits\":\"{bits:016x}\"}}"))
}

fn exact_numbers(json: &str) -> Cow<'_, str> {
    let (mut out, mut copied) = (String::new(), 0);
    let numbers = Tokens::new(json).filter(|token| token.kind == Kind::Number);
    for number in numbers {
        if let Some(exact) = exact(&json[number.range()]) {
            out.push_str(&json[copied..number.start]);
            out.push_str(&exact);
            copied = number.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[copied..]);
    Cow::Owned(out)
}

/// The game's answer to a command, with every field byte for byte.
#[derive(Debug)]
pub struct Response<'a> {
    /// The number of our command; `None` if the game could not read the line of the command.
    pub id: Option<u64>,
    /// Whether it succeeded.
    pub ok: bool,
    fields: Fields<'a>,
}

/// The addon's answer to `hello`.
#[derive(Debug, Default, serde::Deserialize)]
pub struct Hello {
    /// The version of the protocol.
    pub version: Option<String>,
    /// The names of its commands.
    pub commands: Option<Vec<String>>,
}

impl Hello {
    /// Reads the answer to `hello`.
    ///
    /// # Errors
    /// Why this addon is incompatible, and what to do.
    pub fn of(response: &Response<'_>) -> Result<Hello, Reason> {
        let data = response.get("data").and_then(|data| serde_json::from_str::<Hello>(data.get()).ok());
        let hello = data.unwrap_or_default();
        if response.ok && hello.version.as_deref().is_some_and(is_compatible) {
            return Ok(hello);
        }
        let found = match (hello.version, response.text("error")) {
            (Some(version), _) => format!("the addon uses version {version} of the protocol"),
            (None, Some(error)) => format!("the addon answered {error:?}"),
            (None, None) => "the addon reported no version of the protocol".to_owned(),
        };
        let advice = "run godot-bridge install on the project to install the matching addon";
        Err(format!("{found}, this bridge {PROTOCOL}; {advice}").into())
    }
}

/// A line from the game.
#[derive(Debug)]
pub enum Message<'a> {
    /// An answer.
    Response(Response<'a>),
    /// Events that were not caused by a command: a JSON array.
    Events(&'a RawValue),
    /// A line that is neither, with the reason.
    Unreadable(String),
}

impl<'a> Message<'a> {
    /// Reads a line's text.
    pub fn read(line: &'a str) -> Message<'a> {
        let fields = match Fields::read(line) {
            Ok(fields) => fields,
            Err(error) => return Message::Unreadable(error.to_string()),
        };
        let id = fields.get("id").and_then(|id| serde_json::from_str::<Option<u64>>(id.get()).ok());
        let ok = fields.get("ok").map(RawValue::get);
        match (id, ok, fields.get("events")) {
            (Some(id @ Some(_)), Some("true"), _) => Message::Response(Response { id, ok: true, fields }),
            (Some(id), Some("false"), _) => Message::Response(Response { id, ok: false, fields }),
            (None, None, Some(events)) if events.get().starts_with('[') => Message::Events(events),
            _ => Message::Unreadable("it is neither an answer nor events".to_owned()),
        }
    }
}

impl<'a> Response<'a> {
    /// A field, byte for byte.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.fields.get(key)
    }

    /// A field that is a string.
    pub fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// All fields in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.fields.iter()
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::godot::answer;
    use pipewright_record::recognise;
    use proptest::prelude::*;

    const CALLS: [&str; 4] = [
        r#"{"cmd":"x","id":12345678901234567890}"#,
        r#"{"type":"tool_call","call_id":1.10,"tool_name":"x"}"#,
        r#"{"tool":"x","id":[1e400]}"#,
        r#"{"jsonrpc":"2.0","id":-0,"method":"tools/call","params":{"name":"x"}}"#,
    ];

    /// JSON text, with numbers beyond every type, and white space.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?",
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
            prop_oneof!["null", "true", "\"\\\\ud800\"", "\"[1234567890123456789]\""],
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            let array = prop::collection::vec(inner.clone(), 0..5).prop_map(|all| format!("[ {}]", all.join(" ,")));
            let object = prop::collection::vec(inner, 0..5).prop_map(|all| {
                let fields = all.iter().enumerate().map(|(at, value)| format!("\"k{at}\":{value}"));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            });
            prop_oneof![array, object]
        })
    }

    /// A line of the game, with fields of such lines and other ones.
    fn line() -> impl Strategy<Value = String> {
        let ok = prop_oneof!["\"ok\":(true|false|1)", "\"id\":(null|[0-9]{1,22}|1\\.0|\"1\")"];
        let other =
            (prop_oneof!["data", "events", "error", "hint", "details", "code", "frame", "dropped", "Ok"], json());
        let field = prop_oneof![ok, other.prop_map(|(key, value)| format!("\"{key}\":{value}"))];
        prop::collection::vec(field, 0..7).prop_map(|fields| format!("{{{}}}", fields.join(",")))
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in prop_oneof![any::<String>(), line(), json()]) {
            if let Message::Response(response) = Message::read(&text) {
                for call in CALLS {
                    let answer = answer(&recognise(call).unwrap().unwrap(), &response);
                    let answer: &RawValue = serde_json::from_str(&answer).unwrap();
                    prop_assert!(!answer.get().contains('\n') || text.contains('\n'));
                }
            }
        }

        #[test]
        fn an_answer_keeps_every_byte_of_the_games_data(data in json(), events in json(), frame in any::<u64>()) {
            let text = format!("{{\"ok\":true,\"id\":3,\"data\":{data},\"events\":[{events}],\"frame\":{frame}}}");
            let Message::Response(response) = Message::read(&text) else { panic!("{text}") };
            let answers = CALLS.map(|call| answer(&recognise(call).unwrap().unwrap(), &response));
            let rest = format!("{data},\"events\":[{events}],\"frame\":{frame}}}");
            prop_assert_eq!(&answers[0], &format!("{{\"ok\":true,\"id\":12345678901234567890,\"data\":{rest}"));
            let record = "{\"type\":\"tool_result\",\"call_id\":1.10,\"status\":\"ok\",\"result\":";
            prop_assert_eq!(&answers[1], &format!("{record}{rest}"));
            prop_assert_eq!(&answers[2], &format!("{{\"id\":[1e400],\"tool\":\"x\",\"status\":\"ok\",\"data\":{rest}"));
            prop_assert_eq!(&answers[3], &format!("{{\"jsonrpc\":\"2.0\",\"id\":-0,\"result\":{data}}}"));
        }

        #[test]
        fn wrapped_arguments_are_json_with_nothing_left_to_wrap(arguments in json()) {
            let wrapped = exact_numbers(&arguments);
            serde_json::from_str::<&RawValue>(&wrapped).unwrap();
            prop_assert_eq!(exact_numbers(&wrapped), &*wrapped);
        }

        #[test]
        fn a_wrapped_number_keeps_its_value(number in "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?") {
            if let Some(exact) = exact(&number) {
                let bits = number.parse::<f64>().unwrap().to_bits();
                let float = format!("{{\"$type\":\"float\",\"bits\":\"{bits:016x}\"}}");
                let int = format!("{{\"$type\":\"int\",\"value\":\"{number}\"}}");
                prop_assert_eq!(exact, if number.contains(['.', 'e', 'E']) { float } else { int });
            }
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        let plain = r#"{"a":123456789012345,"b":1.23456789012345,"c":"12345678901234567890","d":-1e22,"e":"\"1234567890123456789"}"#;
        assert_eq!(exact_numbers(plain), plain);
        assert_eq!(
            exact_numbers(r#"{"seed":-9223372036854775807,"x":[1234567890123456]}"#),
            r#"{"seed":{"$type":"int","value":"-9223372036854775807"},"x":[{"$type":"int","value":"1234567890123456"}]}"#
        );
        assert_eq!(
            exact_numbers("[0.30000000000000004,1e-7,-5e-324,1e400,1E+23]"),
            r#"[{"$type":"float","bits":"3fd3333333333334"},1e-7,{"$type":"float","bits":"8000000000000001"},{"$type":"float","bits":"7ff0000000000000"},{"$type":"float","bits":"44b52d02c7e14af6"}]"#
        );
        assert_eq!(command(3, "a\"b", None, 2.5), "{\"id\":3,\"cmd\":\"a\\\"b\",\"args\":{},\"timeout\":2.5}\n");
    }

    #[test]
    fn kinds_of_lines_are_distinguished() {
        let Message::Response(response) = Message::read(r#"{"ok":false,"id":7,"code":"TIMEOUT","events":[]}"#) else {
            panic!("an answer");
        };
        assert_eq!((response.id, response.ok, response.text("code").as_deref()), (Some(7), false, Some("TIMEOUT")));
        let unread = r#"{"ok":false,"id":null,"code":"BAD_JSON"}"#;
        assert!(matches!(Message::read(unread), Message::Response(Response { id: None, ok: false, .. })));
        assert!(matches!(Message::read(r#"{"events":[{"seq":1}],"frame":2}"#), Message::Events(_)));
        for bad in ["", "[]", "{}", r#"{"ok":true}"#, r#"{"ok":1,"id":1}"#, r#"{"ok":true,"id":null}"#, "{\"ok\":tr"] {
            assert!(matches!(Message::read(bad), Message::Unreadable(_)), "{bad}");
        }
    }
}
