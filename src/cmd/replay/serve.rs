//! A recorded world that answers calls and requests in any order.

use super::conversation::{Conversation, ConversationOptions, SessionSelection};
use super::errors::{INTERNAL, INVALID, UNREADABLE, error, nearest, refusal, words};
use super::findings::{shortened, shown};
use super::report::{Counts, DifferenceKind, Line as ReportLine, ReportFile, json, reported};
use super::role::normaliser;
use super::{Arguments, RoleOptions};
use crate::cmd::filter::Filter;
use crate::cmd::usage;
use crate::cmd::world::intake::{Intake, IntakeItem};
use pipewright_io::between::{EndMode, FarEndpoint, NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Piece};
use pipewright_log::Part;
use pipewright_record::rpc::{Message, request_progress_token, response};
use pipewright_record::{Call, Form, Kind, ListTools, Unreadable, cancelled_id, is_same_id};
use pipewright_replay::answers::{Answers, Caller, DueLine, Exchange, Miss, PING, Recording};
use pipewright_replay::compare::{Comparison, Difference, MAX_DEPTH};
use pipewright_replay::json_rpc;
use pipewright_replay::model::{Conversations, RequestDelta};
use pipewright_replay::schedule::{Schedule, Speed};
use pipewright_replay::turns::RecordedLine;
use pipewright_sys::process::exit_code;
use pipewright_sys::signal::Signals;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn run(arguments: Arguments, signals: &Signals, report: Arc<Report>) -> Result<Status, Failure> {
    let Arguments { files, speed, idle_limit, log, role, command, .. } = arguments;
    let RoleOptions { child, ignore, normalise, report: file, quiet, .. } = role;
    let normalise = Filter::compile_some("--normalise", normalise.as_ref())?.map(normaliser);
    let wanted = ConversationOptions {
        files: &files,
        options: &log,
        part: Part::World,
        child,
        sessions: SessionSelection::All,
        includes_rejected: true,
    };
    let mut conversation = Conversation::open(&wanted, &report)?;
    let answers = read(&mut conversation, Comparison { ignored: ignore, normalise, ignores_ids: false })?;
    if answers.requests() == 0 {
        let names = files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>().join(", ");
        return Err(usage(format_args!("{names}: the log contains no call and no request to answer")));
    }
    let file = ReportFile::create(file.as_deref(), &report)?;
    let wraps = !command.is_empty();
    let stage = Server {
        peer: if wraps { Side::FAR } else { Side::NEAR },
        conversation,
        answers,
        // Deeper values cannot be compared.
        intake: Intake::new(log.max_depth.min(MAX_DEPTH)),
        with_model: Conversations::default(),
        pace: (speed.unwrap_or(Speed::Max), idle_limit),
        pending: BTreeMap::new(),
        queued: 0,
        counts: Counts::default(),
        file,
        finished: false,
        quiet,
        report: Arc::clone(&report),
    };
    let sides = Sides {
        far: FarEndpoint::child(command),
        near: if wraps { NearKind::Stdout } else { NearKind::Stdio },
        limits: Limits { max_line: log.max_line, max_depth: log.max_depth },
        end_mode: if wraps { EndMode::Session } else { EndMode::Relay },
        ..Sides::default()
    };
    between(Box::new(stage), sides, signals, &report)
}

fn read(conversation: &mut Conversation, same: Comparison) -> Result<Answers, Failure> {
    let mut recording = Recording::new(same);
    let text = |line: &RecordedLine| std::str::from_utf8(line.body()).map(str::to_owned).unwrap_or_default();
    while let Some(turn) = conversation.next()? {
        if turn.number == 1 {
            recording.begin_session();
        }
        for ours in &turn.ours {
            recording.server(&text(ours), ours.t);
        }
        for theirs in &turn.theirs {
            recording.client(&text(theirs), theirs.t, theirs.place);
        }
    }
    Ok(recording.finish())
}

/// Answers from a recording.
struct Server {
    peer: Side,
    /// Already read to its end; kept for the names of the logs.
    conversation: Conversation,
    answers: Answers,
    intake: Intake,
    /// The live agent's conversations with the model that we play.
    with_model: Conversations,
    /// The speed, and the longest pause.
    pace: (Speed, Option<Duration>),
    /// Lines to send, by their time and the order in which they were queued.
    pending: BTreeMap<(Instant, u64), PendingLine>,
    queued: u64,
    /// Requests answered from the recording count as the same, others as extra, and recorded requests that were not
    /// made as missing.
    counts: Counts,
    file: ReportFile,
    finished: bool,
    quiet: bool,
    report: Arc<Report>,
}

struct PendingLine {
    /// The id of its request or call, as JSON text.
    id: Option<String>,
    line: Vec<u8>,
    /// What is sent in its place if the call is cancelled: an answer, or nothing.
    when_cancelled: String,
}

/// The recorded replies to a request.
struct FoundReplies {
    t: u64,
    lines: Vec<DueLine>,
    is_answered: bool,
}

impl FoundReplies {
    fn of(exchange: &Exchange, caller: Caller<'_>) -> FoundReplies {
        FoundReplies { t: exchange.t, lines: exchange.replies(caller), is_answered: exchange.is_answered() }
    }
}

impl Server {
    fn receive(&mut self, piece: &Piece<'_>, out: &mut Out) -> Result<(), Failure> {
        let number = piece.number();
        match self.intake.read(piece) {
            IntakeItem::Blank | IntakeItem::Skipped => {}
            IntakeItem::Call(text, call) if call.requires_approval => self.refuse_held(number, text, &call, out),
            IntakeItem::Call(text, call) if call.form != Form::JsonRpc => {
                self.answer(number, text, Caller::Call(&call), out);
            }
            IntakeItem::Call(text, _) => self.take_message(text, piece, out),
            IntakeItem::Record(text) => {
                if let Some(id) = cancelled_id(text) {
                    self.cancel(id, out);
                } else if let Ok(Some(request)) = ListTools::read(text) {
                    out.add_line(self.peer, &self.conversation.tool_list(&request)?);
                } else if let Some(request) = self.with_model.add(text.as_bytes()) {
                    self.answer_model_request(number, &request, out);
                } else {
                    self.take_message(text, piece, out);
                }
            }
            IntakeItem::Refused(kind, error) => self.refuse_line(piece, kind, &error, out),
        }
        Ok(())
    }

    fn take_message(&mut self, text: &str, piece: &Piece<'_>, out: &mut Out) {
        match json_rpc::read(text) {
            Ok(Message::Request { id, method, .. }) if method == PING => {
                let pong = response(id.get(), Ok("{}"));
                out.to(self.peer).extend_from_slice(pong.as_bytes());
            }
            Ok(Message::Request { id, params, .. }) => {
                self.answer(piece.number(), text, Caller::Request(id, request_progress_token(params)), out);
            }
            Ok(Message::Notification { .. }) => {
                if let Some(exchange) = self.answers.find_notification(text) {
                    let (t, lines) = (exchange.t, exchange.replies(Caller::Notification));
                    self.queue(t, lines, Caller::Notification);
                }
            }
            // An answer to a request of the recorded server.
            Ok(Message::Response { .. }) => {}
            Err(why) if self.answers.is_json_rpc() => {
                self.refuse_line(piece, Kind::BadInput, &Unreadable::new(why), out);
            }
            // Another record.
            Err(_) => {}
        }
    }

    fn answer(&mut self, number: u64, line: &str, caller: Caller<'_>, out: &mut Out) {
        match self.answers.find_request(line).map(|exchange| FoundReplies::of(exchange, caller)) {
            Ok(found) => {
                self.counts.same += u64::from(found.is_answered);
                self.queue_replies(number, line, found, caller);
            }
            Err(miss) => self.give_error(number, line, &miss, caller, out),
        }
    }

    /// A request to a model is found by its messages; settings that differ from the recorded ones are reported.
    fn answer_model_request(&mut self, number: u64, request: &RequestDelta, out: &mut Out) {
        let caller = Caller::ModelRequest(request.request_id.as_deref());
        match self.answers.find_model_request(request) {
            Ok((exchange, differences)) => {
                let found = FoundReplies::of(exchange, caller);
                if !differences.is_empty() {
                    let (log, asked) = (self.conversation.lines.place(exchange.place), exchange.asked.clone());
                    self.differ(log, &asked, &request.line, &differences);
                }
                let same = found.is_answered && differences.is_empty();
                self.counts.same += u64::from(same);
                self.counts.differs += u64::from(found.is_answered && !same);
                self.queue_replies(number, &request.line, found, caller);
            }
            Err(miss) => self.give_error(number, &request.line, &miss, caller, out),
        }
    }

    /// Queues the recorded replies, and an error if there is no recorded answer.
    fn queue_replies(&mut self, number: u64, line: &str, found: FoundReplies, caller: Caller<'_>) {
        let FoundReplies { t, mut lines, is_answered } = found;
        if !is_answered {
            let message = "this request is in the recording but was never answered there";
            self.report_missing(number, line.as_bytes(), message);
            // The error comes after all recorded lines about the request.
            let t = lines.last().map_or(t, |line| line.t);
            lines.push(DueLine { t, line: error(caller, (Kind::NotFound, INTERNAL), message, None) });
        }
        self.queue(t, lines, caller);
    }

    fn give_error(&mut self, number: u64, line: &str, miss: &Miss, caller: Caller<'_>, out: &mut Out) {
        let (kind, message) = words(miss);
        self.report_missing(number, line.as_bytes(), &message);
        out.to(self.peer).extend_from_slice(&error(caller, kind, &message, Some(&nearest(miss))));
    }

    /// Reports that a request that is answered from the recording differs from the recorded one.
    fn differ(&mut self, log: String, asked: &str, now: &str, differences: &[Difference]) {
        self.report.fail();
        if !self.quiet {
            self.report.fault_with(&log, "its settings differ from the recorded ones", &shown(differences));
        }
        self.file.write(&ReportLine::Difference {
            turn: None,
            kind: DifferenceKind::Differs,
            log: Some(log),
            recorded: Some(json(asked.as_bytes())),
            now: Some(json(now.as_bytes())),
            differences: differences.iter().map(reported).collect(),
            why: None,
        });
    }

    /// Drops the pending replies to the request with this id; a call is answered as cancelled.
    fn cancel(&mut self, id: &RawValue, out: &mut Out) {
        let to = out.to(self.peer);
        self.pending.retain(|_, pending| {
            let is_cancelled = pending.id.as_deref().is_some_and(|known| is_same_id(Some(known), Some(id.get())));
            if is_cancelled {
                to.extend_from_slice(pending.when_cancelled.as_bytes());
            }
            !is_cancelled
        });
    }

    /// Refuses a call that still requires approval, as every world does.
    fn refuse_held(&mut self, number: u64, line: &str, call: &Call<'_>, out: &mut Out) {
        let message = "it still requires approval: a gate has to decide on it first";
        self.report_missing(number, line.as_bytes(), message);
        out.add_line(self.peer, &call.answer(refusal(Kind::NeedsApproval, message)));
    }

    /// Refuses an unreadable line; in JSON-RPC if the line or the log is JSON-RPC.
    fn refuse_line(&mut self, piece: &Piece<'_>, kind: Kind, unreadable: &Unreadable, out: &mut Out) {
        let line = if let Piece::Line(line) = piece { line.body() } else { b"null" };
        let message = unreadable.to_string();
        self.report_missing(piece.number(), line, &message);
        let unreadable = unreadable.clone().in_json_rpc(self.answers.is_json_rpc());
        let call = unreadable.call();
        let answer = match (call.form, call.id) {
            (Form::JsonRpc, Some(id)) => {
                let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
                let code = if is_json { INVALID } else { UNREADABLE };
                error(Caller::Request(id, None), (kind, code), &message, None)
            }
            _ => (unreadable.refusal(kind, piece.number()) + "\n").into_bytes(),
        };
        out.to(self.peer).extend_from_slice(&answer);
    }

    /// Reports a line that gets no recorded answer.
    fn report_missing(&mut self, number: u64, line: &[u8], why: &str) {
        self.counts.extra += 1;
        self.file.write(&ReportLine::Difference {
            turn: None,
            kind: DifferenceKind::Extra,
            log: None,
            recorded: None,
            now: Some(json(line)),
            differences: Vec::new(),
            why: Some(why),
        });
        if self.quiet {
            return self.report.fail();
        }
        let who = if self.peer == Side::FAR { "client" } else { "stdin" };
        self.report.fault(format_args!("{who}:{number}"), why);
    }

    /// Queues lines for the caller, each for its time.
    fn queue(&mut self, asked_at: u64, lines: Vec<DueLine>, caller: Caller<'_>) {
        let (speed, idle_limit) = self.pace;
        let (mut schedule, now) = (Schedule::new(speed, idle_limit), Instant::now());
        schedule.due(i64::try_from(asked_at).ok());
        let id = match caller {
            Caller::Call(call) => call.id.map(RawValue::get),
            Caller::Request(id, _) => Some(id.get()),
            Caller::Notification | Caller::ModelRequest(_) => None,
        };
        let last = lines.len().saturating_sub(1);
        for (index, DueLine { t, line }) in lines.into_iter().enumerate() {
            let due = schedule.due(i64::try_from(t).ok());
            self.queued += 1;
            let when_cancelled = match caller {
                Caller::Call(call) if index == last => call.answer(refusal(Kind::Cancelled, "it was cancelled")) + "\n",
                _ => String::new(),
            };
            let pending = PendingLine { id: id.map(str::to_owned), line, when_cancelled };
            self.pending.insert((now + due, self.queued), pending);
        }
    }

    /// Sends all lines that are due at `until`; with `None`, all lines.
    fn send_due(&mut self, until: Option<Instant>, out: &mut Out) {
        while let Some(first) = self.pending.first_entry()
            && until.is_none_or(|until| first.key().0 <= until)
        {
            out.to(self.peer).extend_from_slice(&first.remove().line);
        }
    }

    /// Lists the recorded requests that were not made and writes the summary, once. They are not a fault: a client need
    /// not make all recorded requests.
    fn sum_up(&mut self) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        for exchange in self.answers.unasked() {
            self.counts.missing += 1;
            let log = self.conversation.lines.place(exchange.place);
            let asked = shortened(&exchange.asked);
            self.report.note_limited(format_args!("{log}: recorded, but not requested: {asked}"));
            self.file.write(&ReportLine::Difference {
                turn: None,
                kind: DifferenceKind::Missing,
                log: Some(log),
                recorded: Some(json(exchange.asked.as_bytes())),
                now: None,
                differences: Vec::new(),
                why: None,
            });
        }
        let Counts { same, differs, missing, extra, .. } = self.counts;
        let answered = same + differs;
        let requests = if answered + extra == 1 { "request" } else { "requests" };
        let settings = if differs > 0 { format!("; with other settings: {differs}") } else { String::new() };
        self.report.say(format_args!(
            "{} {requests}: {answered} answered from the recording, {extra} not; recorded and not made: \
             {missing}{settings}",
            answered + extra
        ));
        self.file.write(&ReportLine::Served { lines: &self.counts });
        self.file.finish();
        self.report.finish();
    }
}

impl Stage for Server {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(side, piece) if side == self.peer => self.receive(&piece, out)?,
            Event::Closed(side) if side == self.peer => {
                // A client that sends nothing more only waits for the answers: send them without pauses.
                self.send_due(None, out);
                if side == Side::FAR {
                    out.close_far(0);
                } else {
                    self.sum_up();
                    out.stop(self.report.finish());
                }
            }
            Event::Exited(_, status) => {
                self.sum_up();
                out.stop(Status::Child(exit_code(status)));
            }
            Event::Signal(_) => self.sum_up(),
            Event::Broken(Side::NEAR, _) if self.peer == Side::NEAR => self.sum_up(),
            _ => {}
        }
        self.send_due(Some(Instant::now()), out);
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.pending.keys().next().map(|(at, _)| *at)
    }
}
