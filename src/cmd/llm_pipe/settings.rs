//! The settings of a run.

use super::Arguments;
use super::answer::Answer;
use super::endpoint::Endpoint;
use super::input::Form;
use crate::io::lines::Limits;
use crate::io::report::{Failure, Status};
use crate::record::{OwnedTool, ToolList};
use pipewright_mcp::Schema;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::time::Instant;

/// The settings for every request.
pub struct Settings {
    pub endpoint: Endpoint,
    pub form: Form,
    pub answer: Answer,
    /// For requests without a system prompt.
    pub system: Option<String>,
    pub schema: Option<Box<serde_json::value::RawValue>>,
    pub tools: Vec<crate::record::OwnedTool>,
    pub max_output_tokens: Option<u64>,
    /// The folder of images.
    pub images: PathBuf,
    /// How many requests are sent at once.
    pub jobs: usize,
    pub unordered: bool,
    /// How often a failed request is sent again.
    pub retries: u32,
    /// Whether tokens are printed as they arrive.
    pub streams: bool,
    /// How many earlier prompts and answers precede each prompt.
    pub history: usize,
    pub deadline: Option<Instant>,
    pub max_depth: usize,
}

impl Settings {
    /// Reads the settings from the options.
    ///
    /// # Errors
    /// [`Status::Usage`]: a file cannot be read, or has the wrong content.
    pub fn read(arguments: &Arguments, endpoint: Endpoint) -> Result<Settings, Failure> {
        let schema = arguments.schema.as_deref().map(read_schema).transpose()?;
        let system = arguments.system.as_deref().map(|text| text_or_file("--system", text)).transpose()?;
        let tools = arguments.tools.as_ref().map(read_tools).transpose()?;
        Ok(Settings {
            endpoint,
            form: if arguments.text || arguments.bare { Form::Text } else { Form::Records },
            answer: match (&arguments.prompt, arguments.bare) {
                (Some(_), _) => Answer::Text,
                (None, true) => Answer::Line,
                (None, false) => Answer::Record,
            },
            system,
            schema,
            tools: tools.unwrap_or_default(),
            max_output_tokens: arguments.max_output_tokens,
            images: arguments.images.clone(),
            jobs: arguments.jobs,
            unordered: arguments.unordered,
            retries: arguments.retries,
            streams: arguments.stream,
            history: arguments.history,
            deadline: arguments.deadline.map(|deadline| Instant::now() + deadline),
            max_depth: Limits::default().max_depth,
        })
    }
}

fn read_schema(text: &str) -> Result<Box<RawValue>, Failure> {
    let text = text_or_file("--schema", text)?;
    let usage = |why: String| Failure::new(Status::Usage, format!("--schema: {why}"));
    Schema::compile(&text).map_err(usage)?;
    RawValue::from_string(text.trim().to_owned()).map_err(|error| usage(error.to_string()))
}

fn read_tools(path: &PathBuf) -> Result<Vec<OwnedTool>, Failure> {
    let usage =
        |why: &dyn std::fmt::Display| Failure::new(Status::Usage, format!("--tools: {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| usage(&error))?;
    match ToolList::read(text.trim()) {
        Ok(Some(list)) => Ok(list.tools),
        Ok(None) => Err(usage(&"not a tool_list record")),
        Err(why) => Err(usage(&why)),
    }
}

/// The text itself, or the text of the file that follows `@`.
fn text_or_file(option: &str, text: &str) -> Result<String, Failure> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    let failed = |error| Failure::new(Status::Usage, format_args!("{option}: {path}: {error}"));
    std::fs::read_to_string(path).map_err(failed)
}
