//! The settings of a run.

use super::Arguments;
use super::answer::TurnForm;
use super::endpoint::Endpoint;
use super::input::Form;
use super::job::Patience;
use crate::cmd::options::read_tools;
use crate::cmd::usage;
use pipewright_io::report::Failure;
use pipewright_lines::Limits;
use pipewright_mcp::Schema;
use pipewright_record::OwnedTool;
use serde_json::value::RawValue;
use std::io::{IsTerminal, stdout};
use std::path::PathBuf;
use std::time::Instant;

/// The limit of a turn's tokens, reasoning included, if none is given: a small model that repeats itself would not end otherwise.
const DEFAULT_LIMIT: u64 = 16_384;

/// The settings for every request.
pub struct RequestSettings {
    pub endpoint: Endpoint,
    pub form: Form,
    pub answer: TurnForm,
    /// For requests without a system prompt.
    pub system: Option<String>,
    pub schema: Option<Box<RawValue>>,
    pub tools: Vec<OwnedTool>,
    pub max_output_tokens: Option<u64>,
    /// For requests without any other limit.
    pub default_limit: Option<u64>,
    /// The folder of images.
    pub images: PathBuf,
    /// How many requests are sent at once.
    pub jobs: usize,
    pub unordered: bool,
    /// How often, and how long, a failed request is sent again.
    pub patience: Patience,
    /// Whether tokens are printed as they arrive.
    pub streams: bool,
    /// How many earlier prompts and answers precede each prompt.
    pub history: usize,
    pub deadline: Option<Instant>,
    pub max_depth: usize,
}

impl RequestSettings {
    /// Reads the settings from the options.
    ///
    /// # Errors
    /// [`usage`]: a file cannot be read, or has the wrong content.
    pub fn read(arguments: &Arguments, endpoint: Endpoint) -> Result<RequestSettings, Failure> {
        let schema = arguments.schema.as_deref().map(read_schema).transpose()?;
        let system = arguments.system.as_deref().map(|text| text_or_file("--system", text)).transpose()?;
        let tools = arguments.tools.as_deref().map(read_tools).transpose()?;
        // Calls and JSON are only shown once they are complete and checked.
        let is_typed = arguments.prompt.is_some() && schema.is_none() && tools.is_none() && stdout().is_terminal();
        Ok(RequestSettings {
            endpoint,
            form: if arguments.text || arguments.bare { Form::Text } else { Form::Records },
            answer: match (&arguments.prompt, arguments.bare) {
                (Some(_), _) if is_typed => TurnForm::Typed,
                (Some(_), _) => TurnForm::Text,
                (None, true) => TurnForm::Line,
                (None, false) => TurnForm::Record,
            },
            system,
            schema,
            tools: tools.unwrap_or_default(),
            max_output_tokens: arguments.max_output_tokens.filter(|most| *most > 0),
            default_limit: arguments.max_output_tokens.is_none().then_some(DEFAULT_LIMIT),
            images: arguments.images.clone(),
            jobs: arguments.jobs,
            unordered: arguments.unordered,
            patience: Patience { retries: arguments.retries, busy: arguments.busy_timeout },
            streams: arguments.stream || is_typed,
            history: arguments.history,
            deadline: arguments.deadline.map(|deadline| Instant::now() + deadline),
            max_depth: Limits::default().max_depth,
        })
    }
}

fn read_schema(text: &str) -> Result<Box<RawValue>, Failure> {
    let text = text_or_file("--schema", text)?;
    let wrong = |why: String| usage(format!("--schema: {why}"));
    Schema::compile(&text).map_err(String::from).map_err(wrong)?;
    RawValue::from_string(text.trim().to_owned()).map_err(|error| wrong(error.to_string()))
}

/// The text itself, or the text of the file that follows `@`.
fn text_or_file(option: &str, text: &str) -> Result<String, Failure> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    let failed = |error| usage(format_args!("{option}: {path}: {error}"));
    std::fs::read_to_string(path).map_err(failed)
}
