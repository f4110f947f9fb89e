//! `llm-pipe`: sends each line as a request to a language model, and prints its turn as a line.

mod answer;
mod arrivals;
mod cache;
mod check;
mod endpoint;
mod images;
mod input;
mod job;
mod key;
mod learnt;
mod repair;
mod saved;
mod served;
mod settings;
mod stage;
mod tally;

use super::models::Models;
use super::options::{Limit, duration, size};
use super::{Command, needs_input, usage};
use cache::Cache;
use check::CheckArguments;
use clap::builder::RangedU64ValueParser;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use endpoint::{Endpoint, ModelOptions};
use input::Prompt;
use pipewright_io::between::{NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_sys::private;
use pipewright_sys::signal::Signals;
use served::ModelsArguments;
use settings::RequestSettings;
use stage::ModelStage;
use std::io::{IsTerminal, stdin};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tally::Tally;

/// Ask a language model: one request per line in, one turn per line out
///
/// A line is {"prompt","id"?,"images"?}, or a model_request record with the complete conversation and the tools (see pipewright(7)); its answer
/// is a model_turn record. With PROMPT, llm-pipe sends one request (the prompt, followed by the text of stdin) and prints the answer as text.
///
/// Requests are independent of each other, except with --history.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Send this one prompt, followed by the text of stdin unless stdin is a terminal
    prompt: Option<String>,
    #[command(flatten)]
    model: ModelOptions,

    /// Each line of stdin is a prompt in plain text, not JSON
    #[arg(long, conflicts_with_all = ["prompt", "bare"], help_heading = "Requests")]
    text: bool,
    /// Each line of stdin is a prompt in plain text, and its answer is one line of text. Line feeds are written as \n; a failure is an
    /// object with "error" and "kind". For programs that wait for each answer
    #[arg(long, conflicts_with_all = ["prompt", "stream", "jobs"], help_heading = "Requests")]
    bare: bool,
    /// With --bare: put the last N prompts and their answers in front of each prompt
    #[arg(long, value_name = "N", default_value_t = 0, requires = "bare", help_heading = "Requests")]
    history: usize,
    /// The system prompt, for requests without one; @FILE reads it from a file
    #[arg(long, value_name = "TEXT|@FILE", help_heading = "Requests")]
    system: Option<String>,
    /// The JSON Schema of the answer's text, for requests without one. If the answer does not match, the model is asked again, at most twice
    #[arg(long, value_name = "JSON|@FILE", help_heading = "Requests")]
    schema: Option<String>,
    /// The tools that the model may call, for requests without tools: a tool_list record, as printed by `tool-call --list --json-out`
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    tools: Option<PathBuf>,
    /// The highest number of tokens in an answer, reasoning included, for requests that do not set it; 0 means no limit [default: 16384, or what
    /// fits]
    #[arg(long, value_name = "N", help_heading = "Requests")]
    max_output_tokens: Option<u64>,
    /// The folder that images are read from; paths in requests are relative to it and cannot leave it
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Requests")]
    images: PathBuf,

    /// How many requests may be in progress at the same time
    #[arg(short = 'j', long = "jobs", value_name = "N", default_value = "1", value_parser = RangedU64ValueParser::<usize>::new().range(1..), help_heading = "Answers")]
    jobs: usize,
    /// Print each answer when it arrives, not in the order of the requests
    #[arg(long, help_heading = "Answers")]
    unordered: bool,
    /// Store turns in this folder, and answer repeated requests from it
    #[arg(long, value_name = "DIR", help_heading = "Answers")]
    cache: Option<PathBuf>,
    /// Also print the answer while it arrives, as assistant_message records
    #[arg(long, conflicts_with = "prompt", help_heading = "Answers")]
    stream: bool,

    /// How many times a request is repeated after a temporary failure: a rate limit, a lost connection, a server error
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Time")]
    retries: u32,
    /// How long a request is repeated while the server is overloaded, limits the rate or loads its model; 0 means not at all
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration, help_heading = "Time")]
    busy_timeout: Duration,
    /// Time limit of one attempt; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "10m", help_heading = "Time")]
    timeout: Limit,
    /// How long the provider may send nothing; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "2m", help_heading = "Time")]
    idle_timeout: Limit,
    /// Overall time limit; unanswered requests fail with `timeout` (exit status 124)
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Time")]
    deadline: Option<Duration>,

    /// Longest line, in bytes (K, M, G for powers of 1024); a longer one is refused
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size, help_heading = "Limits")]
    max_line: usize,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the models of a server, or those in models.toml and the providers
    Models(ModelsArguments),
    /// Send small requests, and print what works: text, streaming, tools, schema, images
    Check(CheckArguments),
}

const NAME: &str = "llm-pipe";
const AFTER_HELP: &str = "\
`llm-pipe models` lists the providers and the variables of their keys. docs/models.md describes models.toml.

Examples:
  Topics of articles, eight at a time:
    jq -c '{prompt: .title}' articles.jsonl |
      llm-pipe -m gemini/gemini-3-flash -j 8 --system 'Answer with one word: the topic.' | jq -r .text
  One question about a file, to a model of this machine:
    llm-pipe -m ollama/qwen3 'Summarise this log' <run.log
  A batch that continues where it was interrupted:
    llm-pipe -m gemini/gemini-3-flash -j 8 --cache turns <requests.jsonl >answers.jsonl
  Check that a local server has all that an agent needs:
    llm-pipe check -m llama.cpp/any

Exit status:
  0 success; 1 a request failed; 2 wrong usage; 124 --deadline passed. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let report = Arc::new(Report::new(NAME, false));
    if let Some(Action::Models(own)) = &arguments.action
        && own.is_empty()
    {
        return Models::print();
    }
    // Child processes of an agent's world must not read the key from our environment or memory.
    private::protect_process().map_err(Failure::not_started)?;
    match &arguments.action {
        Some(Action::Models(own)) => return served::run(own, &report),
        Some(Action::Check(own)) => return check::run(own, signals, &report),
        None => {}
    }
    let endpoint = Endpoint::find(&arguments.model, &report)?;
    let has_text = !stdin().is_terminal();
    match arguments.prompt.as_deref() {
        None => needs_input("requests")?,
        Some(name @ ("check" | "models")) => {
            let why = format!("options of `{NAME} {name}` go after {name}; to send {name:?} as a prompt, use --text");
            return Err(usage(why));
        }
        Some(_) => {}
    }
    let client = endpoint.client(arguments.timeout.0, arguments.idle_timeout.0)?;
    let cache = arguments.cache.as_deref().map(|folder| Cache::open(folder, &endpoint)).transpose()?;
    let settings = RequestSettings::read(&arguments, endpoint)?;
    let (exchanges, arrivals, wake) = arrivals::start(client).map_err(Failure::not_started)?;
    let limits = Limits { max_line: arguments.max_line, ..Limits::default() };
    let near = if has_text { NearKind::Stdio } else { NearKind::Stdout };
    let mut pipe = ModelStage::new(settings, exchanges, arrivals, Arc::clone(&report));
    pipe.keep(cache);
    match arguments.prompt {
        Some(prompt) => pipe.ask(Prompt::new(prompt, has_text, arguments.max_line)),
        None if arguments.bare => {}
        None => pipe.count(Tally::start()),
    }
    let sides = Sides { near, answers: vec![wake], stays: true, limits, ..Sides::default() };
    between(Box::new(pipe), sides, signals, &report)
}
