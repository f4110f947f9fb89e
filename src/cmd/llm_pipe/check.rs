//! `llm-pipe check`: small requests that test what a model and its server can do.

use super::arrivals::{self, ArrivalReceiver};
use super::endpoint::{Endpoint, ModelOptions};
use super::input;
use super::job::{AttemptProgress, Job, Patience};
use super::learnt;
use super::repair::matches_schema;
use super::saved::SavedModel;
use super::served::context_window;
use pipewright_http::exchanges::{Arrival, Exchanges};
use pipewright_io::between::{NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status, shortened};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_llm::{Abilities, Ability, Encoded, Refusal, encode};
use pipewright_mcp::Schema;
use pipewright_record::json::Object;
use pipewright_record::{
    Arguments, Image, ImageSource, Kind, Message, ModelRequest, ModelTurn, OwnedTool, Part, Stop, ToolChoice,
    TurnFailure,
};
use pipewright_sys::signal::Signals;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The options of `llm-pipe check`.
#[derive(Debug, clap::Args)]
pub struct CheckArguments {
    #[command(flatten)]
    model: ModelOptions,
    /// Write what was found into models.toml, so that it is not tried again with each request
    #[arg(long, help_heading = "Model")]
    save: bool,
}

/// The time limit of one request: a model that has to be loaded first takes a while.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The longest answer in tokens, for providers without a limit of their own: a small model that is to call a tool may go on for ever.
const MAX_OUTPUT: u64 = 1024;

/// A server that loads its model is waited for, and a connection that breaks is made once more; other failures are results.
const PATIENCE: Patience = Patience { retries: 1, busy: TIMEOUT };

/// How many characters of an answer are shown.
const MOST_SHOWN: usize = 200;

/// 16 by 16 red pixels.
const RED: &str =
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg==";

const SCHEMA: &str =
    r#"{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"],"additionalProperties":false}"#;
const TOOL: &str = r#"{"name":"add","description":"Adds two numbers.","input_schema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}"#;

/// One check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    Text,
    Tools,
    Schema,
    Images,
}

impl Probe {
    const ALL: [Probe; 4] = [Probe::Text, Probe::Tools, Probe::Schema, Probe::Images];

    fn name(self) -> &'static str {
        match self {
            Probe::Text => "text",
            Probe::Tools => "tools",
            Probe::Schema => "schema",
            Probe::Images => "images",
        }
    }

    /// The abilities that it tests.
    fn abilities(self) -> &'static [Ability] {
        match self {
            Probe::Text => &[],
            Probe::Tools => &[Ability::Tools],
            Probe::Schema => &[Ability::Schema],
            Probe::Images => &[Ability::Images, Ability::Parts],
        }
    }

    fn request(self) -> Result<ModelRequest, Failure> {
        let broken =
            |why: &dyn std::fmt::Display| Failure::new(Status::Fault, format!("check: {}: {why}", self.name()));
        let ask = |prompt: &str| input::ask(prompt.to_owned());
        Ok(match self {
            Probe::Text => {
                let system = Some("You answer with words, never with digits.".to_owned());
                ModelRequest { system, ..ask("Count from one to twenty in English words.") }
            }
            Probe::Tools => {
                let tool = RawValue::from_string(TOOL.to_owned()).map_err(|error| broken(&error))?;
                let tools = vec![OwnedTool::read(&tool).map_err(|why| broken(&why))?];
                ModelRequest { tools, tool_choice: ToolChoice::Any, ..ask("What is 17 plus 25? Call the tool.") }
            }
            Probe::Schema => {
                let schema = RawValue::from_string(SCHEMA.to_owned()).map_err(|error| broken(&error))?;
                ModelRequest { schema: Some(schema), ..ask("Name a colour, as JSON: {\"colour\":\"...\"}.") }
            }
            Probe::Images => {
                let source = ImageSource::Base64(RED.to_owned());
                let image = Part::Image(Image { mime: Some("image/png".to_owned()), source });
                let question = Part::Text("What colour is this image? Answer with one word.".to_owned());
                ModelRequest { messages: vec![Message::User(vec![image, question])], ..ModelRequest::default() }
            }
        })
    }

    /// Why a turn fails the check.
    fn fault(self, turn: &mut ModelTurn) -> Option<String> {
        let said = shortened(turn.text.trim(), MOST_SHOWN);
        let failed = |what: &str| Some(format!("{what}: {said:?}"));
        match self {
            _ if turn.stop == Stop::Refusal => failed("the model refused"),
            Probe::Text => turn.text.trim().is_empty().then(|| "the answer is empty".to_owned()),
            Probe::Tools => match turn.calls.first() {
                Some(call) if call.tool_name == "add" && matches!(call.arguments, Arguments::Object(_)) => None,
                Some(call) => Some(format!("the model called {}", shortened(&call.json(), MOST_SHOWN))),
                None => failed("the model called no tool"),
            },
            Probe::Schema => {
                let checked =
                    Schema::compile(SCHEMA).map_err(String::from).and_then(|schema| matches_schema(turn, &schema));
                checked.err().map(|why| format!("the answer does not match the schema: {why}: {said:?}"))
            }
            Probe::Images if turn.text.to_lowercase().contains("red") => None,
            Probe::Images => failed("the image was red, but the answer was"),
        }
    }
}

/// Sends one request after the other.
struct Check {
    endpoint: Endpoint,
    exchanges: Exchanges,
    arrivals: ArrivalReceiver,
    report: Arc<Report>,
    /// The number of the open check, its index among all checks.
    number: u64,
    /// The number of the last attempt.
    attempt: u64,
    /// What the server was found to refuse.
    abilities: Abilities,
    /// The abilities that were tried: whether the model has them.
    found: Vec<(Ability, bool)>,
    /// Those that could not be tried.
    unknown: Vec<Ability>,
    /// The name under which the model is written into models.toml.
    save: Option<SavedModel>,
    job: Option<Job>,
    /// When the request is sent again.
    again: Option<Instant>,
    begun: Instant,
    /// The number of tokens that arrived separately.
    tokens: usize,
}

/// Runs the checks, and prints a line for each.
///
/// # Errors
/// The options name no model, or the system lacks a resource.
pub fn run(arguments: &CheckArguments, signals: &Signals, report: &Arc<Report>) -> Result<Status, Failure> {
    let endpoint = Endpoint::find(&arguments.model, report)?;
    let client = endpoint.client(Some(TIMEOUT), Some(TIMEOUT))?;
    let (exchanges, arrivals, wake) = arrivals::start(client).map_err(Failure::not_started)?;
    let begun = Instant::now();
    let report = Arc::clone(report);
    let save = arguments.save.then(|| arguments.model.saved());
    let check = Check {
        endpoint,
        exchanges,
        arrivals,
        report: Arc::clone(&report),
        number: 0,
        attempt: 0,
        abilities: Abilities::default(),
        found: Vec::new(),
        unknown: Vec::new(),
        save,
        job: None,
        again: None,
        begun,
        tokens: 0,
    };
    let sides = Sides { near: NearKind::Stdout, answers: vec![wake], stays: true, ..Sides::default() };
    between(Box::new(check), sides, signals, &report)
}

impl Check {
    fn probe(&self) -> Option<Probe> {
        Probe::ALL.get(usize::try_from(self.number).ok()?).copied()
    }

    /// Sends the next request; ends the run after the last.
    fn send(&mut self, out: &mut Out) -> Result<(), Failure> {
        let Some(probe) = self.probe() else { return self.end(out) };
        (self.begun, self.tokens) = (Instant::now(), 0);
        let limit = (!self.endpoint.provider.has_own_limit()).then_some(MAX_OUTPUT);
        let request = ModelRequest { max_output_tokens: limit, ..probe.request()? };
        self.job = Some(Job::new(request, probe.name().to_owned(), None));
        self.attempt()
    }

    /// Sends the request in the form that the server accepts, as far as that is known.
    fn attempt(&mut self) -> Result<(), Failure> {
        let Some(job) = &mut self.job else { return Ok(()) };
        let Endpoint { provider, model, settings, .. } = &self.endpoint;
        let encoded = encode(*provider, &job.request, model, &self.abilities, settings);
        let Encoded { body, sent, reader } = encoded.map_err(|why| Failure::new(Status::Fault, why))?;
        job.sent = sent;
        self.attempt += 1;
        job.send(self.attempt, reader, Instant::now());
        self.exchanges.post(self.attempt, body.into_bytes());
        Ok(())
    }

    /// Ends the run: a declared ability that is missing is a failure.
    fn end(&mut self, out: &mut Out) -> Result<(), Failure> {
        let Endpoint { declared, url, model, place, .. } = &self.endpoint;
        for (ability, _) in declared.iter().filter(|(_, has)| *has) {
            if self.found.contains(&(*ability, false)) {
                let name = ability.name();
                self.report
                    .fault("models.toml", format_args!("declares {name:?} for this model, but it does not work"));
            }
        }
        let mut abilities = self.abilities.clone();
        self.found.iter().for_each(|(ability, has)| abilities.set(*ability, *has));
        if let Some(tokens) = context_window(&self.endpoint) {
            abilities.set_context(tokens);
            out.add_line(
                Side::NEAR,
                &Object::default().text("check", "context").text("status", "ok").put("tokens", tokens).end(),
            );
        }
        if let Err(why) = learnt::write(url, model, place, &abilities) {
            self.report.note(format_args!("what the server refuses is not kept for the next run: {why}"));
        }
        if let Some(saved) = &self.save {
            let known = Ability::ALL.into_iter().filter(|ability| !self.unknown.contains(ability));
            let path = saved.write(&known.map(|ability| (ability, abilities.has(ability))).collect::<Vec<_>>())?;
            self.report.note(format_args!("written into {}", path.display()));
        }
        out.stop(self.report.finish());
        Ok(())
    }

    fn take(&mut self, out: &mut Out) -> Result<(), Failure> {
        let pieces: Vec<_> = self.arrivals.take().collect();
        pieces.into_iter().try_for_each(|(number, piece)| self.take_piece(number, piece, out))
    }

    fn take_piece(&mut self, number: u64, piece: Arrival, out: &mut Out) -> Result<(), Failure> {
        let (Some(probe), Some(job)) = (self.probe(), &mut self.job) else { return Ok(()) };
        if job.number() != Some(number) {
            return Ok(());
        }
        let mut tokens = Vec::new();
        let progress = job.take(piece, &self.endpoint, &self.abilities, PATIENCE, &mut tokens);
        self.tokens += tokens.len();
        // A server that does not answer says nothing of the model.
        let mut is_known = true;
        let why = match progress {
            AttemptProgress::Going => return Ok(()),
            AttemptProgress::Again(..) => {
                self.again = job.waits_until();
                return Ok(());
            }
            AttemptProgress::Refused(refused) => {
                let is_meant = |ability: &Ability| refused == Refusal::Ability(*ability);
                self.abilities.learn(&refused, &job.request);
                self.exchanges.cancel(number);
                match probe.abilities().iter().any(is_meant) {
                    true => Some(format!("the server {}", refused.describe())),
                    false => {
                        let line = Object::default().text("check", probe.name()).text("status", "refused");
                        let what = format!("the server {}", refused.describe());
                        out.add_line(Side::NEAR, &line.text("error", &what).end());
                        job.reset();
                        self.attempt()?;
                        return Ok(());
                    }
                }
            }
            AttemptProgress::Turn(turn) => {
                let mut turn = *turn;
                if probe == Probe::Tools && !turn.calls.is_empty() {
                    self.abilities.prove_calls();
                }
                probe.fault(&mut turn)
            }
            AttemptProgress::Failed(_) if job.is_misplaced && self.endpoint.other_url.is_some() => {
                if let Some(address) = self.endpoint.take_other_url() {
                    self.exchanges.move_to(address);
                }
                job.reset();
                return self.attempt();
            }
            AttemptProgress::Failed(TurnFailure { kind, message, .. }) => {
                is_known = matches!(kind, Kind::BadRequest | Kind::Protocol | Kind::TooLarge | Kind::Overflow);
                Some(self.endpoint.without_secrets(&message))
            }
        };
        self.print(probe, why.as_deref(), out);
        if is_known {
            self.found.extend(probe.abilities().iter().map(|ability| (*ability, why.is_none())));
        } else if probe != Probe::Text {
            self.unknown.extend(probe.abilities());
            self.report.fault(probe.name(), "the server gave no answer, so this is not known: check again");
        }
        let goes_on = why.is_none() || probe != Probe::Text;
        if !goes_on {
            // The other checks would fail for the same reason.
            self.report.fail();
            out.stop(self.report.finish());
            return Ok(());
        }
        self.number += 1;
        self.send(out)
    }

    fn print(&self, probe: Probe, why: Option<&str>, out: &mut Out) {
        let line = |name: &str, why: Option<&str>| {
            let object =
                Object::default().text("check", name).text("status", if why.is_some() { "error" } else { "ok" });
            object.text_some("error", why).put("latency_ms", self.begun.elapsed().as_millis()).end()
        };
        out.add_line(Side::NEAR, &line(probe.name(), why));
        if probe == Probe::Text && why.is_none() {
            let whole = (self.tokens < 2).then_some("the answer came in one piece");
            out.add_line(Side::NEAR, &line("streaming", whole));
        }
    }
}

impl Stage for Check {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::Answers, _) => self.take(out)?,
            Event::Due => {}
            _ => return Ok(()),
        }
        let now = Instant::now();
        if self.again.is_some_and(|at| at <= now) {
            self.again = None;
            self.attempt()?;
        }
        if let Some(number) =
            self.job.as_ref().filter(|job| job.ends_at().is_some_and(|at| at <= now)).and_then(Job::number)
        {
            self.take_piece(number, Arrival::End, out)?;
        }
        if self.job.is_none() { self.send(out) } else { Ok(()) }
    }

    fn deadline(&self) -> Option<Instant> {
        let ends = self.job.as_ref().and_then(Job::ends_at);
        self.again.into_iter().chain(ends).min()
    }
}
