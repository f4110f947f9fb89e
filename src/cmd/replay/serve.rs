//! A recorded JSON-RPC server, played to a client that asks what it likes, in any order.

use super::conversation::{Conversation, Sessions, Wanted};
use super::findings::shortened;
use super::report::{Counts, Line as ReportLine, ReportFile, json};
use super::role::normaliser;
use super::{Arguments, RoleOptions};
use crate::cmd::filter::Filter;
use crate::cmd::options::TOO_LONG;
use crate::io::between::{Ends, Manner, Near, Way, between};
use crate::io::child::exit_code;
use crate::io::lines::{Limits, Line, Piece};
use crate::io::report::{Failure, Report, Status};
use crate::io::signal::Signals;
use crate::io::stage::{Event, Out, Side, Stage};
use crate::journal::Part;
use crate::record::{Call, Kind, Outcome, recognise};
use crate::replay::answers::{Answers, Due, Miss, PING, Recording};
use crate::replay::compare::Comparison;
use crate::replay::json_rpc::{self, asked_token, cancelled};
use crate::replay::schedule::{Schedule, Speed};
use crate::replay::turns::RecordedLine;
use crate::rpc::{Message, response};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn run(arguments: Arguments, signals: &Signals, report: Arc<Report>) -> Result<Status, Failure> {
    let Arguments { files, speed, idle_limit, log, role, command, .. } = arguments;
    let RoleOptions { child, ignore, normalise, report: file, quiet, .. } = role;
    let normalise = Filter::compile_some("--normalise", normalise.as_ref())?.map(normaliser);
    let wanted = Wanted {
        files: &files,
        options: &log,
        part: Part::World,
        child,
        sessions: Sessions::All,
        includes_rejected: true,
    };
    let mut conversation = Conversation::open(&wanted, &report)?;
    let answers = read(&mut conversation, Comparison { ignored: ignore, normalise, ignores_ids: false })?;
    if answers.requests() == 0 {
        let names = files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>().join(", ");
        return Err(Failure::new(Status::Usage, format_args!("{names}: nobody asks anything there in JSON-RPC")));
    }
    let file = ReportFile::create(file.as_deref(), &report)?;
    let wraps = !command.is_empty();
    let stage = Server {
        peer: if wraps { Side::Far } else { Side::Near },
        conversation,
        answers,
        pace: (speed.unwrap_or(Speed::Max), idle_limit),
        owed: BTreeMap::new(),
        said: 0,
        counts: Counts::default(),
        file,
        finished: false,
        quiet,
        report: Arc::clone(&report),
    };
    let ends = Ends {
        far: Way::child(command),
        near: if wraps { Near::Stdout } else { Near::Stdio },
        limits: Limits { max_line: log.max_line, max_depth: log.max_depth },
        manner: if wraps { Manner::Session } else { Manner::Relay },
        ..Ends::default()
    };
    between(Box::new(stage), ends, signals, &report)
}

fn read(conversation: &mut Conversation, same: Comparison) -> Result<Answers, Failure> {
    let mut recording = Recording::new(same);
    let text = |said: &RecordedLine| std::str::from_utf8(said.body()).map(str::to_owned).unwrap_or_default();
    while let Some(turn) = conversation.next()? {
        if turn.number == 1 {
            recording.begin_session();
        }
        for said in &turn.ours {
            recording.server(&text(said), said.t);
        }
        for said in &turn.theirs {
            recording.client(&text(said), said.t, said.place);
        }
    }
    Ok(recording.finish())
}

/// Answers from a recording.
struct Server {
    peer: Side,
    /// Read to its end: it still knows the names of the logs.
    conversation: Conversation,
    answers: Answers,
    /// How fast, and the longest pause.
    pace: (Speed, Option<Duration>),
    /// What is to be said, by its time, and in the order in which it was decided.
    owed: BTreeMap<(Instant, u64), Owed>,
    said: u64,
    /// Requests that were answered from the recording are the same, others extra, and recorded ones that nobody made missing.
    counts: Counts,
    file: ReportFile,
    finished: bool,
    quiet: bool,
    report: Arc<Report>,
}

struct Owed {
    /// The request that it is about.
    id: Option<String>,
    line: Vec<u8>,
}

/// JSON-RPC's: the line can't be read; it is no message; there is no such method; it can't be done here.
const UNREADABLE: i32 = -32700;
const INVALID: i32 = -32600;
const NO_METHOD: i32 = -32601;
const INTERNAL: i32 = -32603;

#[derive(Serialize)]
struct ErrorAnswer<'a> {
    jsonrpc: &'a str,
    id: &'a RawValue,
    error: ErrorObject<'a>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    code: i32,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Nearest>,
}

/// What is told about a request that isn't in the recording.
#[derive(Serialize)]
struct Nearest {
    /// What the same was asked with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recorded: Vec<Box<RawValue>>,
    /// Other methods or tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
}

impl Server {
    fn receive(&mut self, line: &Line<'_>, out: &mut Out) {
        if line.is_blank() {
            return;
        }
        let number = line.number();
        let Ok(text) = std::str::from_utf8(line.body()) else {
            return self.refuse_line(number, line.body(), UNREADABLE, "it is no UTF-8", out);
        };
        match json_rpc::read(text) {
            Ok(Message::Request { id, method, .. }) if method == PING => {
                let pong = response(id.get(), Ok("{}"));
                out.to(self.peer).extend_from_slice(pong.as_bytes());
            }
            Ok(Message::Request { id, params, .. }) => match recognise(text) {
                Ok(Some(call)) if call.requires_approval => self.refuse_held(number, text, &call, out),
                _ => self.answer(number, text, id, asked_token(params), out),
            },
            Ok(Message::Notification { method, params }) => match cancelled(&method, params) {
                Some(id) => self.owed.retain(|_, owed| owed.id.as_deref() != Some(id.get())),
                None => {
                    if let Some(exchange) = self.answers.find_notification(text) {
                        let (t, lines) = (exchange.t, exchange.replies(None, None));
                        self.owe(t, lines, None);
                    }
                }
            },
            // An answer to what the recorded server asked.
            Ok(Message::Response { .. }) => {}
            Err(why) => {
                let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
                self.refuse_line(number, line.body(), if is_json { INVALID } else { UNREADABLE }, &why, out);
            }
        }
    }

    fn answer(&mut self, number: u64, line: &str, id: &RawValue, token: Option<&RawValue>, out: &mut Out) {
        match self.answers.find_request(line) {
            Ok(exchange) => {
                let (t, mut lines) = (exchange.t, exchange.replies(Some(id), token));
                if exchange.is_answered() {
                    self.counts.same += 1;
                } else {
                    let message = "this request is in the recording, but was never answered there";
                    self.miss(number, line.as_bytes(), message);
                    // It comes behind all that was said about the request.
                    let t = lines.last().map_or(t, |line| line.t);
                    lines.push(Due { t, line: error(id, INTERNAL, message, None) });
                }
                self.owe(t, lines, Some(id.get().to_owned()));
            }
            Err(miss) => {
                let (code, message) = words(&miss);
                self.miss(number, line.as_bytes(), &message);
                let recorded = miss.near.into_iter().filter_map(|near| RawValue::from_string(near.arguments).ok());
                let nearest = Nearest { recorded: recorded.collect(), names: miss.names };
                out.to(self.peer).extend_from_slice(&error(id, code, &message, Some(nearest)));
            }
        }
    }

    /// A world carries out nothing that somebody has still to be asked about; nor does one that is recorded seem to.
    fn refuse_held(&mut self, number: u64, line: &str, call: &Call<'_>, out: &mut Out) {
        let message = "it still requires approval: a gate has to settle it first";
        self.miss(number, line.as_bytes(), message);
        let refusal = Outcome::Error { kind: Kind::NeedsApproval, message, code: None, data: None };
        out.to(self.peer).extend_from_slice((call.answer(refusal) + "\n").as_bytes());
    }

    fn refuse_line(&mut self, number: u64, line: &[u8], code: i32, why: &str, out: &mut Out) {
        self.miss(number, line, why);
        out.to(self.peer).extend_from_slice(&error(RawValue::NULL, code, why, None));
    }

    /// Something gets no recorded answer.
    fn miss(&mut self, number: u64, line: &[u8], why: &str) {
        self.counts.extra += 1;
        self.file.write(&ReportLine::Difference {
            turn: None,
            kind: "extra",
            log: None,
            recorded: None,
            now: Some(json(line)),
            differences: Vec::new(),
            why: Some(why),
        });
        if self.quiet {
            return self.report.fail();
        }
        let who = if self.peer == Side::Far { "client" } else { "stdin" };
        self.report.fault(format_args!("{who}:{number}"), why);
    }

    /// Says it when it is due.
    fn owe(&mut self, asked_at: u64, lines: Vec<Due>, id: Option<String>) {
        let (speed, idle_limit) = self.pace;
        let (mut schedule, now) = (Schedule::new(speed, idle_limit), Instant::now());
        schedule.due(i64::try_from(asked_at).ok());
        for Due { t, line } in lines {
            let due = schedule.due(i64::try_from(t).ok());
            self.said += 1;
            self.owed.insert((now + due, self.said), Owed { id: id.clone(), line });
        }
    }

    /// Says everything that is due by then; all where nothing is waited for.
    fn send_due(&mut self, until: Option<Instant>, out: &mut Out) {
        while let Some(first) = self.owed.first_entry()
            && until.is_none_or(|until| first.key().0 <= until)
        {
            out.to(self.peer).extend_from_slice(&first.remove().line);
        }
    }

    /// Names the recorded requests that nobody made, and sums up, once. A client need not ask for all that was recorded, so that is no
    /// fault.
    fn sum_up(&mut self) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        for exchange in self.answers.unasked() {
            self.counts.missing += 1;
            let log = self.conversation.place(exchange.place);
            let asked = shortened(&exchange.asked);
            self.report.note_again(format_args!("{log}: this recorded request was not made: {asked}"));
            self.file.write(&ReportLine::Difference {
                turn: None,
                kind: "missing",
                log: Some(log),
                recorded: Some(json(exchange.asked.as_bytes())),
                now: None,
                differences: Vec::new(),
                why: None,
            });
        }
        let Counts { same, missing, extra, .. } = self.counts;
        let requests = if same + extra == 1 { "request" } else { "requests" };
        self.report.say(format_args!(
            "{} {requests}: {same} answered from the recording, {extra} not; recorded and not made: {missing}",
            same + extra
        ));
        self.file.write(&ReportLine::Served { lines: &self.counts });
        self.file.finish();
        self.report.finish();
    }
}

fn error(id: &RawValue, code: i32, message: &str, data: Option<Nearest>) -> Vec<u8> {
    let answer = ErrorAnswer { jsonrpc: "2.0", id, error: ErrorObject { code, message, data } };
    // Texts and what was JSON before: there is nothing in it that can't be JSON.
    let mut line = to_raw_value(&answer).map(|json| json.get().to_owned()).unwrap_or_default().into_bytes();
    line.push(b'\n');
    line
}

/// What there is to say about a miss, with JSON-RPC's number.
fn words(miss: &Miss) -> (i32, String) {
    let Miss { method, tool, is_known, names, near } = miss;
    let has_names = !names.is_empty();
    let names = names.join(", ");
    if !is_known {
        return (NO_METHOD, format!("the recording has no {method}; it has {names}"));
    }
    let what = match tool {
        Some(tool) if has_names => return (INTERNAL, format!("the recording has no call of {tool}; it has {names}")),
        Some(tool) => format!("call of {tool} with these arguments"),
        None => format!("{method} with these parameters"),
    };
    let paths: Vec<&str> = near.iter().take(1).flat_map(|near| &near.paths).map(String::as_str).take(3).collect();
    let nearest =
        if paths.is_empty() { String::new() } else { format!("; the nearest differs at {}", paths.join(", ")) };
    (INTERNAL, format!("the recording has no {what}{nearest}"))
}

impl Stage for Server {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(side, Piece::Line(line)) if side == self.peer => self.receive(&line, out),
            Event::Piece(side, Piece::Part { last: true, number, .. }) if side == self.peer => {
                self.refuse_line(number, b"null", INVALID, TOO_LONG, out);
            }
            Event::Closed(side) if side == self.peer => {
                // Who has nothing more to ask waits for nothing but the answers.
                self.send_due(None, out);
                if side == Side::Far {
                    out.close_far();
                } else {
                    self.sum_up();
                    out.stop(self.report.finish());
                }
            }
            Event::Exited(status) => {
                self.sum_up();
                out.stop(Status::Child(exit_code(status)));
            }
            Event::Signal(_) => self.sum_up(),
            Event::Broken(Side::Near, _) if self.peer == Side::Near => self.sum_up(),
            _ => {}
        }
        self.send_due(Some(Instant::now()), out);
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.owed.keys().next().map(|(at, _)| *at)
    }
}
