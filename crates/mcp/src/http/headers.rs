//! The request headers that a message requires: the version, and from 2026-07-28 on the method, the name, and the
//! arguments that a tool's schema marks with `x-mcp-header` (SEP-2243). They allow intermediaries to route requests
//! without reading bodies.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// From this version on, requests carry `Mcp-Method` and the related headers.
const STATELESS: &str = "2026-07-28";

/// Whether `version` belongs to the era without sessions.
pub(super) fn is_stateless(version: &str) -> bool {
    version >= STATELESS
}

/// The parts of a JSON-RPC message that the transport uses.
#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads JSON text; `None` if it is not a message.
    pub(super) fn read(text: &'a str) -> Option<Message<'a>> {
        serde_json::from_str(text).ok()
    }

    /// Whether the message needs an answer: it has a method and an id.
    pub(super) fn is_request(&self) -> bool {
        self.id.is_some() && self.method.is_some()
    }

    pub(super) fn is(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    fn params<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.params?.get()).ok()
    }

    /// The version in the message itself, which every message of the stateless era has.
    pub(super) fn version(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: Meta,
        }
        #[derive(Deserialize)]
        struct Meta {
            #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
            version: String,
        }
        self.params().map(|params: Params| params.meta.version)
    }

    /// The id of the request that a cancellation names.
    pub(super) fn cancels(&self) -> Option<&'a RawValue> {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(rename = "requestId", borrow)]
            request: &'a RawValue,
        }
        let params: Option<Params<'a>> = if self.is("notifications/cancelled") { self.params() } else { None };
        params.map(|params| params.request)
    }

    /// The headers of the message's request in protocol `version`.
    pub(super) fn headers(&self, version: &str, tools: &HeaderArguments) -> Vec<(String, String)> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            name: Option<String>,
            uri: Option<String>,
            task_id: Option<String>,
            #[serde(borrow)]
            arguments: Option<&'a RawValue>,
        }
        let Some(method) = self.method.as_deref().filter(|_| is_stateless(version)) else { return Vec::new() };
        let mut headers = vec![("Mcp-Method".to_owned(), encoded(method))];
        let Some(params) = self.params::<Params<'_>>() else { return headers };
        let name = match method {
            "tools/call" | "prompts/get" => params.name.as_deref(),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => params.uri.as_deref(),
            "tasks/get" | "tasks/update" | "tasks/cancel" => params.task_id.as_deref(),
            _ => None,
        };
        headers.extend(name.map(|name| ("Mcp-Name".to_owned(), encoded(name))));
        if let ("tools/call", Some(name), Some(arguments)) = (method, name, params.arguments) {
            for marked in tools.0.get(name).into_iter().flatten() {
                let value = marked.value_in(arguments);
                headers.extend(value.map(|value| (format!("Mcp-Param-{}", marked.header), encoded(&value))));
            }
        }
        headers
    }
}

/// A value as a header value: if it is not plain ASCII, or would lose its spaces, it is encoded as base64.
fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, 0x20..=0x7E));
    let is_trimmed = !value.starts_with(' ') && !value.ends_with(' ');
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if is_plain && is_trimmed && !looks_encoded {
        return value.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
}

/// An argument that is repeated in a header.
#[derive(Debug, PartialEq, Eq)]
struct HeaderArgument {
    /// Its path in the arguments.
    path: Vec<String>,
    /// The header's name after `Mcp-Param-`.
    header: String,
}

impl HeaderArgument {
    /// Its value in `arguments`, with every digit.
    fn value_in(&self, arguments: &RawValue) -> Option<String> {
        let mut at = arguments.get();
        for key in &self.path {
            let fields: HashMap<String, &RawValue> = serde_json::from_str(at).ok()?;
            at = fields.get(key)?.get();
        }
        match at.as_bytes().first()? {
            b'"' => serde_json::from_str(at).ok(),
            b'{' | b'[' | b'n' => None,
            _ => Some(at.to_owned()),
        }
    }
}

/// The arguments that each tool requires in headers.
#[derive(Debug, Default)]
pub(super) struct HeaderArguments(HashMap<String, Vec<HeaderArgument>>);

impl HeaderArguments {
    /// Reads the marks in the result of a `tools/list`. Gives the result without the tools whose marks are invalid,
    /// which a client must not offer (SEP-2243), and the reasons; `None` if all tools are valid.
    pub(super) fn read_tools(&mut self, result: &RawValue) -> Option<(String, Vec<String>)> {
        #[derive(Deserialize)]
        struct Page<'a> {
            #[serde(borrow)]
            tools: Vec<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Tool {
            name: String,
            #[serde(rename = "inputSchema", default)]
            schema: Value,
        }
        let page: Page<'_> = serde_json::from_str(result.get()).ok()?;
        let (mut kept, mut refused) = (Vec::new(), Vec::new());
        for raw in page.tools {
            // Most tools have no marks, and need not be parsed.
            let tool =
                if raw.get().contains(HEADER_KEYWORD) { serde_json::from_str::<Tool>(raw.get()).ok() } else { None };
            match tool.map(|tool| (marks(&tool.schema), tool.name)) {
                None => kept.push(raw),
                Some((Ok(marked), name)) => {
                    self.0.insert(name, marked);
                    kept.push(raw);
                }
                Some((Err(why), name)) => refused.push(format!("ignored the server's tool {name:?}: {why}")),
            }
        }
        if refused.is_empty() {
            return None;
        }
        let others: BTreeMap<String, &RawValue> = serde_json::from_str(result.get()).ok()?;
        let tools = kept.iter().map(|raw| raw.get()).collect::<Vec<_>>().join(",");
        let mut fields = vec![format!("\"tools\":[{tools}]")];
        let others = others.iter().filter(|(key, _)| *key != "tools");
        fields.extend(others.map(|(key, value)| format!("{}:{value}", Value::from(key.as_str()))));
        Some((format!("{{{}}}", fields.join(",")), refused))
    }
}

const HEADER_KEYWORD: &str = "x-mcp-header";

/// The marks in a schema. They are valid on properties that are reached from its root through `properties` only; each
/// is a header name, and all are different.
fn marks(schema: &Value) -> Result<Vec<HeaderArgument>, String> {
    let mut found = Vec::new();
    find_marks(schema, Some(&[]), &mut found)?;
    let mut names: Vec<String> = found.iter().map(|marked| marked.header.to_ascii_lowercase()).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("{HEADER_KEYWORD} {:?} is used twice", pair[0])),
        None => Ok(found),
    }
}

/// `path` is `None` where marks are not allowed.
fn find_marks(schema: &Value, path: Option<&[String]>, found: &mut Vec<HeaderArgument>) -> Result<(), String> {
    let fields = match schema {
        Value::Object(fields) => fields,
        Value::Array(items) => return items.iter().try_for_each(|item| find_marks(item, None, found)),
        _ => return Ok(()),
    };
    for (key, value) in fields {
        match key.as_str() {
            HEADER_KEYWORD => {
                let path = path
                    .filter(|path| !path.is_empty())
                    .ok_or(format!("{HEADER_KEYWORD} is in a place where it is not allowed"))?;
                let of = fields.get("type").and_then(Value::as_str);
                found.push(HeaderArgument { path: path.to_owned(), header: header_name(value, of)? });
            }
            "properties" | "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => {
                for (name, schema) in value.as_object().into_iter().flatten() {
                    let path =
                        path.filter(|_| key == "properties").map(|path| [path, std::slice::from_ref(name)].concat());
                    find_marks(schema, path.as_deref(), found)?;
                }
            }
            // These contain values, not schemas.
            "default" | "const" | "enum" | "examples" => {}
            _ => find_marks(value, None, found)?,
        }
    }
    Ok(())
}

fn header_name(value: &Value, of: Option<&str>) -> Result<String, String> {
    let is_token = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let name =
        value.as_str().filter(|name| is_token(name)).ok_or(format!("{HEADER_KEYWORD} {value} is not a header name"))?;
    if !matches!(of, Some("string" | "integer" | "boolean")) {
        return Err(format!("{HEADER_KEYWORD} {name:?} is on a property that is not a string, integer or boolean"));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_call_of_the_stateless_era_is_repeated_in_headers() {
        let mut tools = HeaderArguments::default();
        let listed = raw(
            r#"{"tools":[{"name":"a","inputSchema":{"properties":{"n":{"type":"integer","x-mcp-header":"N"},"deep":{"properties":{"é":{"type":"string","x-mcp-header":"E"}}},"none":{"type":"string","x-mcp-header":"No"}}}}]}"#,
        );
        assert_eq!(tools.read_tools(&listed), None);
        let call = r#"{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":12345678901234567890123,"deep":{"é":"é "},"none":null},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let message = Message::read(call).unwrap();
        assert!(message.is_request() && message.version().as_deref() == Some("2026-07-28"));
        let headers: Vec<String> =
            message.headers("2026-07-28", &tools).into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let expected = [
            "Mcp-Method: tools/call",
            "Mcp-Name: a",
            "Mcp-Param-E: =?base64?w6kg?=",
            "Mcp-Param-N: 12345678901234567890123",
        ];
        let mut sorted = headers.clone();
        sorted.sort();
        assert_eq!(sorted, expected);
        assert!(message.headers("2025-11-25", &tools).is_empty());
    }

    #[test]
    fn tools_with_invalid_marks_are_ignored() {
        for schema in [
            r#"{"x-mcp-header":"A"}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#,
            r#"{"properties":{"a":{"type":"array","x-mcp-header":"A"}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
            r#"{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}"#,
        ] {
            let listed = format!(
                r#"{{"tools":[{{"name":"bad","inputSchema":{schema}}},{{"name":"good","n":1.10}}],"nextCursor":"2"}}"#
            );
            let (kept, why) = HeaderArguments::default().read_tools(&raw(&listed)).unwrap();
            assert_eq!(kept, r#"{"tools":[{"name":"good","n":1.10}],"nextCursor":"2"}"#, "{schema}");
            assert!(why[0].contains("bad"), "{why:?}");
        }
        let example = raw(r#"{"tools":[{"name":"a","inputSchema":{"default":{"x-mcp-header":1}}}]}"#);
        assert_eq!(HeaderArguments::default().read_tools(&example), None);
    }

    #[test]
    fn values_that_a_header_would_change_are_encoded() {
        for (value, expected) in [
            ("plain value", "plain value"),
            (" x", "=?base64?IHg=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
            ("", ""),
        ] {
            assert_eq!(encoded(value), expected);
        }
    }

    #[test]
    fn a_cancellation_names_its_request() {
        let text = r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(Message::read(text).unwrap().cancels().unwrap().get(), "7");
        assert!(Message::read(r#"{"method":"x","params":{"requestId":7}}"#).unwrap().cancels().is_none());
        assert!(Message::read("[]").is_none() && Message::read("hello").is_none());
    }
}
