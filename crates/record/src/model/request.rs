//! `model_request`: the conversation so far, and what the model may do next.

use crate::{Fields, OwnedTool, Unreadable, unreadable};
use serde_json::value::RawValue;

/// `{"type":"model_request","request_id"?,"system"?,"messages","tools"?,"tool_choice"?,"core_tools"?,"choices"?,"schema"?,"max_output_tokens"?}`.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// JSON text of any type; repeated in the turn.
    pub request_id: Option<Box<RawValue>>,
    /// The system prompt.
    pub system: Option<String>,
    /// At least one.
    pub messages: Vec<Message>,
    /// In the order in which they are sent.
    pub tools: Vec<OwnedTool>,
    /// Whether the model must call one of them.
    pub tool_choice: ToolChoice,
    /// The tools that a compact list describes, as `NAME` or `NAME(argument, argument?)`; all if empty.
    pub core_tools: Vec<String>,
    /// What a model gets that answers by schema.
    pub choices: Option<super::Choices>,
    /// JSON text: the JSON Schema that the turn's text must match.
    pub schema: Option<Box<RawValue>>,
    /// The token limit of the turn.
    pub max_output_tokens: Option<u64>,
}

/// Whether the model calls a tool.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It must call at least one.
    Any,
    /// It may not call any.
    None,
}

/// One message of the conversation.
#[derive(Debug, Clone)]
pub enum Message {
    /// `{"role":"user","content"}`.
    User(Vec<Part>),
    /// `{"role":"assistant","turn"}`.
    Assistant(OwnTurn),
    /// `{"role":"tool","call_id","content","is_error"?}`.
    Tool {
        /// The id of the call.
        call_id: String,
        /// The tool's output.
        content: Vec<Part>,
        /// Whether it failed.
        is_error: bool,
    },
}

/// Part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// `{"text"}`.
    Text(String),
    /// `{"image","sha256"?,"mime"?}` or `{"image_base64","mime"}`.
    Image(Image),
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its media type, such as `image/png`. For a file, it may follow from the name.
    pub mime: Option<String>,
    /// The location of its bytes.
    pub source: ImageSource,
}

/// The location of an image's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageSource {
    /// In a file, with an optional SHA-256 in hexadecimal digits.
    File {
        /// Its path, relative to the folder of images.
        path: String,
        /// The expected hash of its bytes.
        sha256: Option<String>,
    },
    /// Inline, in base64.
    Base64(String),
}

/// A model's own turn, as it is sent back: the fields of a `model_turn` that are used.
#[derive(Debug, Clone)]
pub struct OwnTurn {
    /// The provider that made it; empty if unknown.
    pub provider: String,
    /// The model that made it; empty if unknown.
    pub model: String,
    /// The provider's turn, JSON text, which goes back to that provider and model unchanged.
    pub raw: Option<Box<RawValue>>,
    /// Its text.
    pub text: String,
    /// Its calls.
    pub calls: Vec<super::ModelCall>,
    /// The form in which it was asked for calls.
    pub form: Option<super::CallForm>,
}

impl ModelRequest {
    /// Reads a line; `None` is another record.
    ///
    /// # Errors
    /// Text that is not a JSON object or has a key twice; no messages; a message, part, tool or choice of an unknown form.
    pub fn read(line: &str) -> Result<Option<ModelRequest>, Unreadable> {
        if !line.contains("model_request") {
            return Ok(None);
        }
        let fields = Fields::read(line)?;
        if fields.get("type").is_none_or(|value| value.get() != "\"model_request\"") {
            return Ok(None);
        }
        ModelRequest::from_fields(&fields).map(Some)
    }

    /// As [`ModelRequest::read`], for fields whose type is already known.
    ///
    /// # Errors
    /// As [`ModelRequest::read`].
    pub fn from_fields(fields: &Fields<'_>) -> Result<ModelRequest, Unreadable> {
        let messages = fields.list("messages")?.into_iter().map(message).collect::<Result<Vec<_>, _>>()?;
        if messages.is_empty() {
            return unreadable("a model_request needs \"messages\", a list with at least one");
        }
        let tool_choice = match fields.string("tool_choice")?.as_deref() {
            None | Some("auto") => ToolChoice::Auto,
            Some("any") => ToolChoice::Any,
            Some("none") => ToolChoice::None,
            Some(_) => return unreadable("\"tool_choice\" is \"auto\", \"any\" or \"none\""),
        };
        let max_output_tokens = match fields.present("max_output_tokens") {
            None => None,
            Some(value) => match value.get().parse::<u64>() {
                Ok(most) if most > 0 => Some(most),
                _ => return unreadable("\"max_output_tokens\" must be a whole number above 0"),
            },
        };
        let schema = fields.present("schema");
        if schema.is_some_and(|schema| !schema.get().starts_with('{')) {
            return unreadable("\"schema\" must be a JSON Schema, which is an object");
        }
        Ok(ModelRequest {
            request_id: fields.present("request_id").map(RawValue::to_owned),
            system: fields.string("system")?,
            messages,
            tools: tools(fields)?,
            tool_choice,
            core_tools: core_tools(fields)?,
            choices: choices(fields)?,
            schema: schema.map(RawValue::to_owned),
            max_output_tokens,
        })
    }

    /// Every image of the conversation, in order.
    pub fn images_mut(&mut self) -> impl Iterator<Item = &mut Image> {
        let parts = self.messages.iter_mut().flat_map(|message| match message {
            Message::User(content) | Message::Tool { content, .. } => content.iter_mut(),
            Message::Assistant(_) => [].iter_mut(),
        });
        parts.filter_map(|part| match part {
            Part::Image(image) => Some(image),
            Part::Text(_) => None,
        })
    }
}

/// The tools of a request. Providers refuse two tools of the same name, and a schema that is not an object, but rarely report
/// which tool it was.
fn tools(fields: &Fields<'_>) -> Result<Vec<OwnedTool>, Unreadable> {
    let mut tools: Vec<OwnedTool> = Vec::new();
    for raw in fields.list("tools")? {
        let tool = OwnedTool::read(raw)?;
        let name = &tool.name;
        if tools.iter().any(|other| other.name == *name) {
            return unreadable(format!("two tools have the name {name:?}"));
        }
        let written = Fields::read(raw.get())?;
        if written.present("input_schema").is_some_and(|schema| !schema.get().starts_with('{')) {
            return unreadable(format!(
                "the \"input_schema\" of the tool {name:?} must be a JSON Schema, which is an object"
            ));
        }
        tools.push(tool);
    }
    Ok(tools)
}

fn core_tools(fields: &Fields<'_>) -> Result<Vec<String>, Unreadable> {
    let name = |raw: &RawValue| serde_json::from_str(raw.get());
    let names: Result<Vec<String>, _> = fields.list("core_tools")?.into_iter().map(name).collect();
    names.or_else(|_| unreadable("\"core_tools\" is a list of names"))
}

fn choices(fields: &Fields<'_>) -> Result<Option<super::Choices>, Unreadable> {
    let Some(raw) = fields.present("choices") else { return Ok(None) };
    serde_json::from_str(raw.get()).map(Some).or_else(|why| unreadable(format!("\"choices\" cannot be read: {why}")))
}

fn message(raw: &RawValue) -> Result<Message, Unreadable> {
    let fields = Fields::read(raw.get())?;
    match fields.string("role")?.as_deref() {
        Some("user") => Ok(Message::User(content(&fields)?)),
        Some("assistant") => match fields.present("turn") {
            Some(turn) => Ok(Message::Assistant(own_turn(&Fields::read(turn.get())?)?)),
            None => unreadable("a message of the assistant needs \"turn\", a model_turn"),
        },
        Some("tool") => match fields.string("call_id")? {
            Some(call_id) => Ok(Message::Tool {
                call_id,
                content: content(&fields)?,
                is_error: fields.present("is_error").is_some_and(|value| value.get() == "true"),
            }),
            None => unreadable("a message of a tool needs \"call_id\""),
        },
        _ => unreadable("the \"role\" of a message must be \"user\", \"assistant\" or \"tool\""),
    }
}

/// A list of parts, or a string, which is one part.
fn content(fields: &Fields<'_>) -> Result<Vec<Part>, Unreadable> {
    match fields.present("content") {
        Some(value) if value.get().starts_with('"') => {
            Ok(fields.string("content")?.map(Part::Text).into_iter().collect())
        }
        Some(_) => fields.list("content")?.into_iter().map(part).collect(),
        None => unreadable("a message needs \"content\", a list of parts"),
    }
}

fn part(raw: &RawValue) -> Result<Part, Unreadable> {
    let fields = Fields::read(raw.get())?;
    let mime = fields.string("mime")?;
    match (fields.string("text")?, fields.string("image")?, fields.string("image_base64")?) {
        (Some(text), None, None) => Ok(Part::Text(text)),
        (None, Some(path), None) => {
            let source = ImageSource::File { path, sha256: fields.string("sha256")? };
            Ok(Part::Image(Image { mime, source }))
        }
        (None, None, Some(data)) if mime.is_some() => {
            Ok(Part::Image(Image { mime, source: ImageSource::Base64(data) }))
        }
        _ => unreadable(r#"a part must be {"text"}, {"image","sha256","mime"} or {"image_base64","mime"}"#),
    }
}

fn own_turn(fields: &Fields<'_>) -> Result<OwnTurn, Unreadable> {
    Ok(OwnTurn {
        provider: fields.string("provider")?.unwrap_or_default(),
        model: fields.string("model")?.unwrap_or_default(),
        raw: fields.present("raw").map(RawValue::to_owned),
        text: fields.string("text")?.unwrap_or_default(),
        calls: calls(fields)?,
        form: fields.string("form")?.as_deref().and_then(super::CallForm::named),
    })
}

/// The `calls` of a turn.
pub(super) fn calls(fields: &Fields<'_>) -> Result<Vec<super::ModelCall>, Unreadable> {
    fields.list("calls")?.into_iter().map(call).collect()
}

fn call(raw: &RawValue) -> Result<super::ModelCall, Unreadable> {
    let fields = Fields::read(raw.get())?;
    let arguments = match (fields.present("arguments"), fields.string("arguments_text")?) {
        (Some(arguments), None) if arguments.get().starts_with('{') => super::Arguments::Object(arguments.to_owned()),
        (None, Some(text)) => super::Arguments::Text(text),
        _ => return unreadable("a call of a turn needs \"arguments\", an object, or \"arguments_text\""),
    };
    match (fields.string("call_id")?, fields.string("tool_name")?) {
        (Some(call_id), Some(tool_name)) => Ok(super::ModelCall { call_id, tool_name, arguments }),
        _ => unreadable("a call of a turn needs \"call_id\" and \"tool_name\""),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::{Attempts, ModelTurn, Stop, Usage};

    #[test]
    fn a_request_is_read_with_every_digit() {
        let line = r#"{"type":"model_request","request_id":7.10,"system":"S","messages":[{"role":"user","content":"hi"},
            {"role":"assistant","turn":{"text":"t","provider":"gemini","model":"m","raw":{"n":1.10},"calls":[{"call_id":"c","tool_name":"x","arguments":{"a":1.0}}]}},
            {"role":"tool","call_id":"c","is_error":true,"content":[{"text":"no"},{"image":"a.png","sha256":"00"}]}],
            "tools":[{"name":"x","input_schema":{"type":"object","z":1e2}}],"tool_choice":"any","max_output_tokens":5}"#;
        let mut request = ModelRequest::read(line).unwrap().unwrap();
        assert_eq!(request.request_id.as_ref().unwrap().get(), "7.10");
        let Message::Assistant(turn) = &request.messages[1] else { panic!("{:?}", request.messages[1]) };
        assert_eq!(turn.raw.as_ref().unwrap().get(), r#"{"n":1.10}"#);
        assert_eq!(turn.calls[0].json(), r#"{"call_id":"c","tool_name":"x","arguments":{"a":1.0}}"#);
        assert_eq!(request.tools[0].input_schema, r#"{"type":"object","z":1e2}"#);
        assert_eq!((request.tool_choice, request.max_output_tokens), (ToolChoice::Any, Some(5)));
        assert_eq!(request.images_mut().count(), 1);
    }

    #[test]
    fn the_record_of_a_turn_is_read_as_a_turn_of_the_conversation() {
        let raw = RawValue::from_string(r#"{"parts":[1.10]}"#.to_owned()).unwrap();
        let turn = ModelTurn {
            stop: Stop::End,
            text: "a\nb".to_owned(),
            reasoning: String::new(),
            calls: Vec::new(),
            usage: Usage { input: Some(3), ..Usage::default() },
            provider: "gemini",
            model: "m".to_owned(),
            raw,
            form: None,
            context: None,
        };
        let turn = turn.record(None, Attempts::default());
        let line = format!(r#"{{"type":"model_request","messages":[{{"role":"assistant","turn":{turn}}}]}}"#);
        let request = ModelRequest::read(&line).unwrap().unwrap();
        let Message::Assistant(read) = &request.messages[0] else { panic!("{turn}") };
        assert_eq!((&*read.text, &*read.provider, &*read.model), ("a\nb", "gemini", "m"));
        assert_eq!(read.raw.as_ref().unwrap().get(), r#"{"parts":[1.10]}"#);
    }

    #[test]
    fn a_tool_that_no_provider_accepts_is_named() {
        for tools in [
            r#"{"name":"look"},{"name":"wait"},{"name":"look"}"#,
            r#"{"name":"wait"},{"name":"look","input_schema":7}"#,
        ] {
            let line =
                format!(r#"{{"type":"model_request","messages":[{{"role":"user","content":"x"}}],"tools":[{tools}]}}"#);
            let error = ModelRequest::read(&line).unwrap_err().to_string();
            assert!(error.contains("\"look\""), "{error}");
        }
    }

    #[test]
    fn an_invalid_request_is_an_error() {
        for fields in [
            r#""messages":[]"#,
            r#""messages":{}"#,
            r#""messages":[{"role":"system","content":"x"}]"#,
            r#""messages":[{"role":"user"}]"#,
            r#""messages":[{"role":"user","content":[{"text":"a","image":"b"}]}]"#,
            r#""messages":[{"role":"user","content":[{"image_base64":"b"}]}]"#,
            r#""messages":[{"role":"assistant","content":"x"}]"#,
            r#""messages":[{"role":"assistant","turn":{"calls":[{"call_id":"c","tool_name":"x"}]}}]"#,
            r#""messages":[{"role":"tool","content":"x"}]"#,
            r#""messages":[{"role":"user","content":"x"}],"tools":[{}]"#,
            r#""messages":[{"role":"user","content":"x"}],"tool_choice":"x""#,
            r#""messages":[{"role":"user","content":"x"}],"max_output_tokens":0"#,
            r#""messages":[{"role":"user","content":"x"}],"core_tools":[7]"#,
            r#""messages":[{"role":"user","content":"x"}],"schema":true"#,
        ] {
            let line = format!(r#"{{"type":"model_request",{fields}}}"#);
            assert!(ModelRequest::read(&line).is_err(), "{line}");
        }
        assert!(ModelRequest::read(r#"{"type":"x","a":"model_request"}"#).unwrap().is_none());
    }
}
