//! `llm-pipe models PROVIDER`: the models that a server has.

use super::arrivals::SIZES;
use super::endpoint::{Endpoint, ModelOptions};
use pipewright_http::exchanges::{Arrival, Exchanges};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_record::Fields;
use pipewright_record::json::Object;
use serde_json::value::RawValue;
use std::io::{ErrorKind, Write};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The options of `llm-pipe models`.
#[derive(Debug, clap::Args)]
pub struct ModelsArguments {
    /// Print the models of this provider's server
    #[arg(value_name = "PROVIDER", conflicts_with = "model")]
    provider: Option<String>,
    #[command(flatten)]
    model: ModelOptions,
}

impl ModelsArguments {
    /// Whether no server is named.
    pub fn is_empty(&self) -> bool {
        self.provider.is_none() && self.model.is_empty()
    }
}

/// The time limit of the request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Prints `{"model"}` for each model of the server, in its order.
///
/// # Errors
/// The options name no server, or it does not list its models.
pub fn run(arguments: &ModelsArguments, report: &Report) -> Result<Status, Failure> {
    let options = match &arguments.provider {
        // Any name: it is not sent.
        Some(provider) => arguments.model.of_provider(provider),
        None => arguments.model.clone(),
    };
    let mut endpoint = Endpoint::find(&options, report)?;
    let provider = endpoint.provider;
    let mut failure = String::new();
    for url in endpoint.list_urls() {
        endpoint.url = url;
        match get(&endpoint) {
            Ok(answer) => {
                let models = provider.models(&answer);
                if models.is_empty() && !answer.contains("[]") && !is_null(&answer) {
                    failure = format!("{}: the answer is no list of models", endpoint.asked());
                    continue;
                }
                let name = provider.name();
                let line = |model: String| Object::default().text("model", &format!("{name}/{model}")).line();
                let lines: String = models.into_iter().map(line).collect();
                return match std::io::stdout().write_all(lines.as_bytes()) {
                    Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                        Err(Failure::new(Status::Fault, format!("stdout: {error}")))
                    }
                    _ => Ok(Status::Success),
                };
            }
            Err(why) => failure = why,
        }
    }
    Err(Failure::new(Status::Fault, endpoint.without_secrets(&failure)))
}

/// Whether an answer has null in place of an empty list: older Ollamas.
fn is_null(answer: &str) -> bool {
    let fields = Fields::read(answer).unwrap_or_default();
    let is_part = |(name, json): (&str, &RawValue)| {
        name == "object" || (["data", "models"].contains(&name) && json.get() == "null")
    };
    fields.iter().next().is_some() && fields.iter().all(is_part)
}

/// The context window of the endpoint's model in tokens, if the server's list of models has it.
pub fn context_window(endpoint: &Endpoint) -> Option<u64> {
    let mut list = endpoint.clone();
    endpoint.list_urls().into_iter().find_map(|url| {
        list.url = url;
        pipewright_llm::context_window_of(&get(&list).ok()?, &endpoint.model)
    })
}

/// The answer of the endpoint's address. Its client is its own: a connection that another one keeps may belong to a runtime that has ended.
fn get(endpoint: &Endpoint) -> Result<String, String> {
    let client = endpoint.client(Some(TIMEOUT), Some(TIMEOUT)).map_err(|why| why.message)?;
    let asked = endpoint.asked();
    let address = endpoint.address().map_err(|why| why.message)?;
    let (sender, pieces) = channel();
    let deliver = move |_: u64, piece: Arrival| _ = sender.send(piece);
    let exchanges = Exchanges::start(client.at(&address), SIZES, deliver).map_err(|error| error.to_string())?;
    exchanges.get(0);
    let mut status = 0;
    for piece in pieces {
        match piece {
            Arrival::Head(code, _) => status = code,
            Arrival::Body(body) if (200..300).contains(&status) => {
                return Ok(String::from_utf8_lossy(&body).into_owned());
            }
            Arrival::Body(body) => {
                let why = endpoint.provider.failure(status.max(200), &|_| None, &body);
                return Err(format!("{asked}: HTTP status {status}: {}", why.what.message));
            }
            Arrival::Failed(error) => return Err(format!("{asked}: {error}: check that the server is running there")),
            Arrival::Event(_) | Arrival::End => return Err(format!("{asked}: the answer is no list of models")),
        }
    }
    Err(format!("{asked}: no answer"))
}
