//! `llm-pipe`: requests to a language model as lines, its turns as lines.

mod answer;
mod arrivals;
mod images;
mod input;
mod job;
mod key;
mod stage;

use super::options::{duration, size};
use super::{Command, needs_input};
use crate::io::between::{Ends, Near, between};
use crate::io::lines::Limits;
use crate::io::private;
use crate::io::report::{Failure, Report, Status};
use crate::io::signal::Signals;
use crate::llm::{self, Provider};
use crate::record::{OwnedTool, ToolList};
use answer::Answer;
use clap::builder::RangedU64ValueParser;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use input::Form;
use key::KeyOptions;
use pipewright_http::exchanges::{Exchanges, Longest};
use pipewright_http::{Address, Client};
use pipewright_mcp::Schema;
use serde_json::value::RawValue;
use stage::{Pipe, Settings};
use std::io::{IsTerminal, Read, stdin};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Ask a language model: one request per line in, one turn per line out
///
/// A line is {"prompt","id"?,"images"?}, or a model_request record with the whole conversation and the tools (see pipewright(7)); its answer
/// is a model_turn record. With PROMPT there is one request: the prompt, followed by the text of stdin; its answer is printed as text.
///
/// Nothing is kept between requests, but with --history.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// Ask this once, with the text of stdin behind it, unless stdin is a terminal
    prompt: Option<String>,
    /// The model: PROVIDER/NAME
    #[arg(short, long, value_name = "PROVIDER/NAME", help_heading = "Model")]
    model: String,
    /// The server's address, for anything that speaks the provider's API: http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", help_heading = "Model")]
    base_url: Option<String>,
    #[command(flatten)]
    key: KeyOptions,

    /// Each line is a prompt
    #[arg(long, conflicts_with_all = ["prompt", "bare"], help_heading = "Requests")]
    text: bool,
    /// Each line is a prompt, and its answer is one line of text: line feeds are written as \n, and a failure is an object with "error"
    /// and "kind". For programs that wait for each answer
    #[arg(long, conflicts_with_all = ["prompt", "stream", "jobs"], help_heading = "Requests")]
    bare: bool,
    /// With --bare: put the last N prompts and their answers before each prompt
    #[arg(long, value_name = "N", default_value_t = 0, requires = "bare", help_heading = "Requests")]
    history: usize,
    /// The system prompt, for requests without one; @FILE is the text of a file
    #[arg(long, value_name = "TEXT|@FILE", help_heading = "Requests")]
    system: Option<String>,
    /// The JSON Schema of the answer's text, for requests without one. A model whose answer does not match is asked again, at most twice
    #[arg(long, value_name = "JSON|@FILE", help_heading = "Requests")]
    schema: Option<String>,
    /// The tools that the model may call, for requests without tools: a tool_list record, as `tool-call --list --json-out` prints it
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    tools: Option<PathBuf>,
    /// The most tokens of an answer, for requests that do not say
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..), help_heading = "Requests")]
    max_output_tokens: Option<u64>,
    /// The folder that images are read from; paths in requests are relative to it and cannot leave it
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Requests")]
    images: PathBuf,

    /// How many requests are at the provider at once
    #[arg(short = 'j', long = "jobs", value_name = "N", default_value = "1", value_parser = RangedU64ValueParser::<usize>::new().range(1..), help_heading = "Answers")]
    jobs: usize,
    /// Give each answer as soon as it is there, not in the order of the requests
    #[arg(long, help_heading = "Answers")]
    unordered: bool,
    /// Also print the answer while it is written, as assistant_message records
    #[arg(long, conflicts_with = "prompt", help_heading = "Answers")]
    stream: bool,

    /// How often a request is sent again that failed for a reason that passes: a rate limit, a lost connection, a server's fault
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Time")]
    retries: u32,
    /// How long one attempt may take
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration, help_heading = "Time")]
    timeout: Duration,
    /// How long the provider may send nothing
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration, help_heading = "Time")]
    idle_timeout: Duration,
    /// Overall time limit; requests without an answer fail with `timeout` (exit status 124)
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Time")]
    deadline: Option<Duration>,

    /// Longest line, in bytes (K, M, G for powers of 1024); a longer one is refused
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size, help_heading = "Limits")]
    max_line: usize,
}

const NAME: &str = "llm-pipe";
const AFTER_HELP: &str = "\
Providers, and the variables of their keys: see pipewright(7) and docs/models.md.

Examples:
  Topics of articles, eight at a time:
    jq -c '{prompt: .title}' articles.jsonl |
      llm-pipe -m gemini/gemini-3-flash -j 8 --system 'Answer with one word: the topic.' | jq -r .text
  One question about a file, to a model of this machine:
    llm-pipe -m ollama/qwen3 'Summarise this log' <run.log

Exit status:
  0 all well; 1 a request failed; 2 usage; 124 --deadline passed. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(|error| Failure::new(Status::Usage, error))?;
    let report = Arc::new(Report::new(NAME, false));
    // A child of an agent's world cannot read the key in our environment or memory.
    private::protect_process().map_err(|error| Failure::new(Status::NotStarted, error))?;
    let (provider, model) = provider(&arguments.model)?;
    let asked = match &arguments.prompt {
        Some(prompt) => Some(with_stdin(prompt, arguments.max_line)?),
        None => needs_input("requests").map(|()| None)?,
    };
    let mut settings = settings(&arguments, provider, model)?;
    settings.key = key::key(&arguments.key, provider)?;
    let system = |error| Failure::new(Status::NotStarted, error);
    let (delivery, arrivals, wake) = arrivals::arrivals().map_err(system)?;
    let client = client(&arguments, &settings)?;
    let longest = Longest { event: LONGEST_EVENT, body: LONGEST_BODY };
    // A request of the command line is no event that the stage would run for.
    delivery.wake();
    let exchanges = Exchanges::start(client, longest, move |number, piece| delivery.deliver(number, piece));
    let limits = Limits { max_line: arguments.max_line, ..Limits::default() };
    let near = if asked.is_some() { Near::Stdout } else { Near::Stdio };
    let mut pipe = Pipe::new(settings, exchanges.map_err(system)?, arrivals, Arc::clone(&report));
    if let Some(prompt) = asked {
        pipe.ask(input::ask(prompt));
    }
    let ends = Ends { near, answers: vec![wake], stays: true, limits, ..Ends::default() };
    between(Box::new(pipe), ends, signals, &report)
}

/// Of one event's data. Gemini sends an image in one.
const LONGEST_EVENT: usize = 64 << 20;
/// Of an error's body, of which only the message is read.
const LONGEST_BODY: usize = 1 << 20;

fn provider(model: &str) -> Result<(&'static dyn Provider, &str), Failure> {
    let usage = |why: String| Failure::new(Status::Usage, format!("--model: {why}"));
    let names = || Vec::from_iter(llm::PROVIDERS.iter().map(|provider| provider.name())).join(", ");
    let Some((name, model)) = model.split_once('/').filter(|(_, model)| !model.is_empty()) else {
        return Err(usage(format!("{model:?} is not PROVIDER/NAME; providers are {}", names())));
    };
    match llm::PROVIDERS.iter().find(|provider| provider.name() == name) {
        Some(provider) => Ok((*provider, model)),
        None => Err(usage(format!(
            "there is no provider {name:?}, but {}; for others, name the one whose API the server has, and --base-url",
            names()
        ))),
    }
}

fn client(arguments: &Arguments, settings: &Settings) -> Result<Client, Failure> {
    let usage = |why: String| Failure::new(Status::Usage, why);
    let Settings { provider, model, key, .. } = settings;
    let base = arguments.base_url.as_deref().unwrap_or(provider.base_url()).trim_end_matches('/');
    let url = format!("{base}{}", provider.path(model));
    let mut headers: Vec<_> =
        provider.headers().iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    headers.extend(key.as_deref().map(|key| provider.key_header(key)).map(|(name, value)| (name.to_owned(), value)));
    let address = Address::read(&url, &headers).map_err(|why| usage(format!("--base-url: {why}")))?;
    if key.is_none() && !provider.key_variables().is_empty() && arguments.base_url.is_none() {
        let names = provider.key_variables().join(" or ");
        return Err(usage(format!("{} needs a key: set {names}, or use --key-env or --key-file", provider.name())));
    }
    if key.is_some() && !address.is_encrypted() && !address.is_loopback() {
        return Err(usage("--base-url: a key is sent over https only, or over http to this machine".to_owned()));
    }
    let limits = pipewright_http::Limits {
        first_byte: Some(arguments.idle_timeout),
        idle: Some(arguments.idle_timeout),
        total: Some(arguments.timeout),
        // The key goes to the address that was named, and nowhere else.
        redirects: 0,
        ..pipewright_http::Limits::default()
    };
    Client::new(&address, limits).map_err(|error| Failure::new(Status::NotStarted, error))
}

fn settings(arguments: &Arguments, provider: &'static dyn Provider, model: &str) -> Result<Settings, Failure> {
    let schema = arguments.schema.as_deref().map(read_schema).transpose()?;
    let system = arguments.system.as_deref().map(|text| text_or_file("--system", text)).transpose()?;
    let tools = arguments.tools.as_ref().map(read_tools).transpose()?;
    Ok(Settings {
        provider,
        model: model.to_owned(),
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
        key: None,
    })
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
        Ok(None) => Err(usage(&"it is no tool_list record")),
        Err(why) => Err(usage(&why)),
    }
}

/// The text itself, or that of the file that it names behind `@`.
fn text_or_file(option: &str, text: &str) -> Result<String, Failure> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    let failed = |error| Failure::new(Status::Usage, format_args!("{option}: {path}: {error}"));
    std::fs::read_to_string(path).map_err(failed)
}

fn with_stdin(prompt: &str, longest: usize) -> Result<String, Failure> {
    if stdin().is_terminal() {
        return Ok(prompt.to_owned());
    }
    let usage = |why: String| Failure::new(Status::Usage, format!("stdin: {why}"));
    let mut text = Vec::new();
    let most = u64::try_from(longest).unwrap_or(u64::MAX);
    stdin().take(most.saturating_add(1)).read_to_end(&mut text).map_err(|error| usage(error.to_string()))?;
    if text.len() > longest {
        return Err(usage(format!("its text is longer than {longest} bytes (--max-line)")));
    }
    let text = String::from_utf8(text).map_err(|_| usage("its text is not UTF-8".to_owned()))?;
    Ok(if text.trim().is_empty() { prompt.to_owned() } else { format!("{prompt}\n\n{text}") })
}
