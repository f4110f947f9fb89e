//! Reads lines of input as requests.

use pipewright_lines::deeper_than;
use pipewright_record::{Fields, Image, ImageSource, Message, ModelRequest, Part, Unreadable, unreadable};
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

/// The form of the input's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Records: `model_request`, or `{"prompt","id"?,"images"?}`.
    Records,
    /// Each line is a prompt.
    Text,
}

/// A line of input.
pub enum Line {
    /// A request for the model's next turn.
    Request(Box<ModelRequest>),
    /// Cancels the request with this id (JSON text): `{"type":"cancel","request_id"}`.
    Cancel(Box<RawValue>),
}

/// Reads a line.
///
/// # Errors
/// The line is not one of these records, or the request cannot be sent.
pub fn read(form: Form, line: &[u8], max_depth: usize) -> Result<Line, Unreadable> {
    let Ok(text) = std::str::from_utf8(line) else { return unreadable("not UTF-8") };
    let request = |request| Line::Request(Box::new(request));
    if form == Form::Text {
        return match text.trim() {
            "" => unreadable("the line is empty"),
            _ => Ok(request(ask(text.to_owned()))),
        };
    }
    if deeper_than(line, max_depth) {
        return unreadable(crate::cmd::options::TOO_DEEP);
    }
    let fields = Fields::read(text)?;
    match fields.get("type").map(RawValue::get) {
        Some("\"model_request\"") => ModelRequest::from_fields(&fields).map(request),
        Some("\"cancel\"") => match fields.present("request_id") {
            Some(id) => Ok(Line::Cancel(id.to_owned())),
            None => unreadable("a cancel needs the \"request_id\" of the request"),
        },
        None if fields.get("prompt").is_some() => short(&fields).map(request),
        _ => unreadable(r#"neither a model_request nor {"prompt"}"#),
    }
}

/// A prompt from the command line, followed by the text of stdin.
pub struct Prompt {
    prompt: String,
    text: Vec<u8>,
    longest: usize,
    /// Whether stdin is still read.
    pub has_more: bool,
    begun: Instant,
    /// Whether a note says that stdin is waited for.
    pub is_noted: bool,
}

/// How long stdin may send nothing until a note says that it is waited for.
const SILENCE: Duration = Duration::from_secs(2);

impl Prompt {
    /// `longest` is the most bytes of stdin that are accepted.
    pub fn new(prompt: String, has_more: bool, longest: usize) -> Prompt {
        Prompt { prompt, text: Vec::new(), longest, has_more, begun: Instant::now(), is_noted: false }
    }

    /// When a note is to say that stdin has sent nothing so far.
    pub fn waits_until(&self) -> Option<Instant> {
        (self.has_more && self.text.is_empty() && !self.is_noted).then(|| self.begun + SILENCE)
    }

    /// Whether the note is due.
    pub fn is_waiting(&self, now: Instant) -> bool {
        self.waits_until().is_some_and(|until| until <= now)
    }

    /// Takes the next bytes of stdin.
    pub fn extend(&mut self, bytes: &[u8]) {
        // One more byte shows that the text is too long.
        let room = self.longest.saturating_add(1).saturating_sub(self.text.len());
        self.text.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The prompt and the text.
    ///
    /// # Errors
    /// Why the text is refused.
    pub fn text(self) -> Result<String, String> {
        if self.text.len() > self.longest {
            return Err(format!("the text of stdin is longer than {} bytes (--max-line)", self.longest));
        }
        let text = String::from_utf8(self.text).map_err(|_| "the text of stdin is not UTF-8".to_owned())?;
        Ok(if text.trim().is_empty() { self.prompt } else { format!("{}\n\n{text}", self.prompt) })
    }
}

/// A conversation that starts with this prompt.
pub fn ask(prompt: String) -> ModelRequest {
    ModelRequest { messages: vec![Message::User(vec![Part::Text(prompt)])], ..ModelRequest::default() }
}

fn short(fields: &Fields<'_>) -> Result<ModelRequest, Unreadable> {
    let known = ["prompt", "id", "images"];
    if let Some((other, _)) = fields.iter().find(|(key, _)| !known.contains(key)) {
        return unreadable(format_args!(
            "unknown field {other:?}: a short request has \"prompt\", \"id\" and \"images\""
        ));
    }
    let Some(Ok(prompt)) = fields.get("prompt").map(|value| serde_json::from_str(value.get())) else {
        return unreadable("\"prompt\" must be a string");
    };
    let images: Vec<String> = match fields.get("images").map(|value| serde_json::from_str(value.get())) {
        None => Vec::new(),
        Some(Ok(images)) => images,
        Some(Err(_)) => return unreadable("\"images\" must be a list of paths"),
    };
    let image = |path| Part::Image(Image { mime: None, source: ImageSource::File { path, sha256: None } });
    let content = images.into_iter().map(image).chain([Part::Text(prompt)]).collect();
    Ok(ModelRequest {
        request_id: fields.get("id").map(RawValue::to_owned),
        messages: vec![Message::User(content)],
        ..ModelRequest::default()
    })
}

/// The id of an unreadable request, if that much of it can be read.
pub fn id(line: &[u8]) -> Option<Box<RawValue>> {
    #[derive(serde::Deserialize)]
    struct Ids {
        request_id: Option<Box<RawValue>>,
        id: Option<Box<RawValue>>,
    }
    let Ids { request_id, id } = serde_json::from_slice(line).ok()?;
    request_id.or(id)
}
