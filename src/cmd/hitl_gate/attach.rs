//! `hitl-gate attach`: a person answers, at their own terminal, the questions of all gates with `--approver`.

use super::asker::Asker;
use super::terminal_path;
use crate::cmd::approver::connections::Connections;
use crate::cmd::approver::gates::Gates;
use crate::cmd::options::{Color, LimitOptions};
use jiff::Timestamp;
use pipewright_clients::approvals::{PendingQuestion, Queue, QueueChange, RevokeRule};
use pipewright_io::approvers::{FOLDER, SOCKET};
use pipewright_io::between::{Listener, NearKind, Sides, between};
use pipewright_io::printable::printable;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Piece, text};
use pipewright_record::{HitlResponse, Record};
use pipewright_sys::run_folder::RunFolder;
use pipewright_sys::signal::Signals;
use pipewright_sys::terminal::expect_to_borrow;
use pipewright_sys::{descriptor::Descriptor, socket};
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub struct AttachArguments {
    /// The person's terminal [default: /dev/tty]
    #[arg(long, value_name = "PATH")]
    tty: Option<PathBuf>,
    /// Colour on the person's terminal
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,
    #[command(flatten)]
    limits: LimitOptions,
}

const IDLE: &str = "hitl-gate: waiting for questions from gates with --approver; Ctrl-C quits\n";
const COMMANDS: &str = "\
  s          show the next question
  rules      list the rules that allow calls until the end of a run
  revoke N   revoke the rule with this number
";

/// All gates connect to one socket.
const SESSION: usize = 0;

pub fn run(arguments: &AttachArguments, signals: &Signals, report: &Arc<Report>) -> Result<Status, Failure> {
    let tty = arguments.tty.as_deref().unwrap_or(Path::new("/dev/tty"));
    let tty = terminal_path(Some(tty))?.map_err(|why| Failure::new(Status::NotStarted, why))?;
    expect_to_borrow();
    let limits = Limits::from(arguments.limits);
    let folder = RunFolder::create(FOLDER).map_err(Failure::not_started)?;
    let listener = socket::listen(&folder.path().join(SOCKET)).map_err(Failure::not_started)?;
    let (mut asker, typed, terminal_reset) =
        Asker::new(tty, arguments.color.is_enabled(), limits).map_err(Failure::not_started)?;
    asker.wait_at_terminal(IDLE);
    let connections = Connections::new(Arc::clone(report));
    let gates = Gates::new(connections.clone(), Arc::clone(report));
    let stage = Attach { gates, asker, shown: None, report: Arc::clone(report) };
    let accept = move || Ok(connections.begin(connections.accept(&listener, SESSION)?));
    let clients = Some(Listener(Box::new(accept)));
    let sides =
        Sides { near: NearKind::Clients, clients, answers: vec![Descriptor::new(typed)], limits, ..Sides::default() };
    let ended = between(Box::new(stage), sides, signals, report);
    terminal_reset.wait();
    ended
}

/// Whether a typed line is a command about the queue, and not an answer about the call that is shown.
pub fn is_command(line: &str) -> bool {
    matches!(line.split_whitespace().next(), Some("s" | "skip" | "rules" | "revoke"))
}

struct Attach {
    gates: Gates,
    asker: Asker,
    /// The nonce of the question that is on the terminal.
    shown: Option<String>,
    report: Arc<Report>,
}

impl Attach {
    fn take(&mut self, change: QueueChange) {
        match change {
            QueueChange::Asked if self.shown.is_none() => self.show(0),
            QueueChange::Settled { nonce, settlement } => self.withdraw(&nonce, &settlement.note),
            QueueChange::Refused { nonce, why } if self.shown.as_ref() == Some(&nonce) => self.asker.refuse(&why),
            QueueChange::Asked
            | QueueChange::Refused { .. }
            | QueueChange::Rules
            | QueueChange::SecondQuestion
            | QueueChange::Nothing => {}
        }
    }

    /// The open questions of all gates.
    fn queue(&self) -> &Queue {
        self.gates.queue(SESSION)
    }

    /// A question is no longer open; if it was shown, the next one is shown.
    fn withdraw(&mut self, nonce: &str, note: &str) {
        if self.shown.as_deref() == Some(nonce) {
            self.asker.withdraw(note);
            self.show(0);
        }
    }

    /// Shows the question at a place in the queue; what is shown there now has been withdrawn.
    fn show(&mut self, place: usize) {
        self.shown = self.queue().get(place).map(|pending| pending.question.nonce.clone());
        match self.queue().get(place) {
            Some(pending) => {
                let heading = heading(pending, &self.gates.describe(pending.gate), place, self.queue().len());
                self.asker.ask(pending.question.clone(), heading);
            }
            None => self.asker.note(IDLE.to_owned()),
        }
    }

    /// Shows the next question in place of the one that is shown, which stays open.
    fn skip(&mut self) {
        match self.shown.as_deref().and_then(|nonce| self.queue().position(nonce)) {
            Some(place) if self.queue().len() > 1 => {
                self.asker.skip();
                self.show((place + 1) % self.queue().len());
            }
            Some(_) => self.asker.note("no other question is open\n".to_owned()),
            None => self.asker.note("no question is open\n".to_owned()),
        }
    }

    /// Takes input from the terminal: an answer, a command, or its end.
    fn take_typed(&mut self, line: &str, out: &mut Out) -> Result<(), Failure> {
        if let Ok(Some(answer)) = HitlResponse::read(line)
            && let Some(pending) = self.queue().find(&answer.nonce)
        {
            self.gates.send(pending.gate, line, out);
        }
        for typed in self.asker.typed() {
            let mut words = typed.split_whitespace();
            match (words.next(), words.next().map(str::parse)) {
                (Some("s" | "skip"), None) => self.skip(),
                (Some("rules"), None) => self.list_rules(),
                (Some("revoke"), Some(Ok(number))) => self.revoke(number, out),
                (None, _) => {}
                _ => self.asker.note(COMMANDS.to_owned()),
            }
        }
        match self.asker.gone() {
            // Ctrl-D while nothing was asked.
            Some((_, why)) if why.is_empty() => {
                out.stop(self.report.finish());
                Ok(())
            }
            Some((_, why)) => Err(Failure::new(Status::NotStarted, why)),
            None => Ok(()),
        }
    }

    /// Shows the rules that allow calls.
    fn list_rules(&mut self) {
        let rules = self.queue().rules().enumerate().map(|(index, (gate, rule))| {
            let text = printable(&rule.rule.replace('\n', "  ")).into_owned();
            let gate = self.gates.describe(gate);
            format!("{:>4}  {gate}, {}: {text}\n", index + 1, printable(&rule.rule_id))
        });
        let shown: String = rules.collect();
        self.asker.note(if shown.is_empty() { "no rule is in force\n".to_owned() } else { shown });
    }

    /// Revokes the rule with this number in the list, from 1.
    fn revoke(&mut self, number: usize, out: &mut Out) {
        let rule = number.checked_sub(1).and_then(|index| self.queue().rules().nth(index));
        let Some((gate, rule)) = rule else { return self.asker.note(format!("no rule has the number {number}\n")) };
        self.gates.send(gate, &RevokeRule { rule_id: &rule.rule_id }.json(), out);
        let note = format!("revoked: {}\n", printable(&rule.rule_id));
        self.asker.note(note);
    }
}

impl Stage for Attach {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::Answers, Piece::Line(line)) => self.take_typed(&text(line.body()), out)?,
            event => {
                if let Some((_, change)) = self.gates.take(event, out) {
                    self.take(change);
                }
            }
        }
        Ok(())
    }
}

/// The question's place in the queue, its process, and what that process reports about itself.
fn heading(pending: &PendingQuestion, process: &str, place: usize, open: usize) -> String {
    let question = &pending.question;
    let age = question.asked_at.map(|at| Timestamp::now().duration_since(at).as_secs().max(0));
    let age = age.map_or_else(String::new, |age| format!(", waiting {age} s"));
    let id = short(question.call.call().id.map_or("none", RawValue::get));
    let skip = if open > 1 { "; s shows the next" } else { "" };
    let caller = question.caller.as_deref().map(short);
    let caller = caller.map_or_else(String::new, |caller| format!(", which says that the caller is {caller}"));
    format!("question {} of {open}: id {id}{age}{skip}\nasked by {process}{caller}\n", place + 1)
}

/// Text of others, printable, and too short to fill a line and be mistaken for the next one.
fn short(text: &str) -> String {
    printable(&text.chars().take(40).collect::<String>()).into_owned()
}
