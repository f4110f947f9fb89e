//! Plays one side of a recorded conversation against live code.

use super::conversation::{Conversation, ConversationOptions, SessionSelection};
use super::findings::Findings;
use super::{Arguments, RoleOptions};
use crate::cmd::filter::Filter;
use crate::cmd::silence::SilenceWatch;
use pipewright_io::between::{EndMode, FarEndpoint, NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Piece};
use pipewright_log::Part;
use pipewright_record::ListTools;
use pipewright_replay::alignment::{Alignment, Finding, LiveLine, Need};
use pipewright_replay::compare::{Comparison, Normalise};
use pipewright_replay::model::Conversations;
use pipewright_replay::schedule::{Speed, scaled};
use pipewright_replay::turns::{Turn, body};
use pipewright_sys::signal::Signals;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many turns are searched for a world that continues on its own.
const MAX_TURNS_AHEAD: usize = 16;

/// While more unsent bytes than this wait for the other side, nothing more is sent. They are checked again after
/// `UNSENT_POLL`.
const MAX_UNSENT: usize = 4 << 20;
const UNSENT_POLL: Duration = Duration::from_millis(5);

/// A process that closed its stdout usually ends within this time.
const EXIT_GRACE: Duration = Duration::from_secs(1);

/// The most bytes of a live line that are compared.
const MAX_COMPARED: usize = 64 << 20;

/// A side that is behind has this many times the settle time for its lines.
const BEHIND_FACTOR: u32 = 5;

pub fn run(arguments: Arguments, part: Part, signals: &Signals, report: Arc<Report>) -> Result<Status, Failure> {
    let Arguments { files, speed, idle_limit, log, role, command, .. } = arguments;
    let RoleOptions {
        child, session, include_rejected, ignore, normalise, report: file, timeout, settle, quiet, ..
    } = role;
    let normalise = Filter::compile_some("--normalise", normalise.as_ref())?.map(normaliser);
    let sessions = session.map_or(SessionSelection::Last, SessionSelection::Number);
    let wanted = ConversationOptions {
        files: &files,
        options: &log,
        part,
        child,
        sessions,
        includes_rejected: include_rejected,
    };
    let conversation = Conversation::open(&wanted, &report)?;
    // The agent chooses the ids, so a live world must send the recorded ones.
    let comparison = Comparison { ignored: ignore, normalise, ignores_ids: part == Part::World };
    let findings = Findings::new(comparison, file.as_deref(), quiet, &report)?;
    let wraps = !command.is_empty();
    let stage = Role {
        part,
        peer: if wraps { Side::FAR } else { Side::NEAR },
        conversation,
        with_model: Conversations::default(),
        alignment: Alignment::new(part == Part::World),
        findings,
        pace: match speed {
            Some(Speed::Times(times)) => Some((times, idle_limit)),
            Some(Speed::Max) | None => None,
        },
        timeout,
        settle,
        turn: Turn::default(),
        begun: false,
        unexplained: None,
        closed: false,
        finished: false,
        // Nothing is sent to a child before it has started.
        state: if wraps { State::Starting } else { State::Sending(Instant::now()) },
        sent_at: Instant::now(),
        first_reply: None,
        received: 0,
        line: Vec::new(),
        silence: SilenceWatch::new(Arc::clone(&report)),
        report: Arc::clone(&report),
    };
    let sides = Sides {
        far: FarEndpoint::child(command),
        near: if wraps { NearKind::Stdout } else { NearKind::Stdio },
        limits: Limits { max_line: log.max_line, max_depth: log.max_depth },
        end_mode: EndMode::Session,
        ..Sides::default()
    };
    between(Box::new(stage), sides, signals, &report)
}

/// A line for which the filter gives no output, or fails, stays unchanged.
pub(super) fn normaliser(filter: Filter) -> Normalise {
    Box::new(move |line| {
        let mut changed = Vec::new();
        filter.change(line, &mut changed).unwrap_or(false).then_some(changed)
    })
}

/// Plays a side.
pub(super) struct Role {
    pub(super) part: Part,
    pub(super) peer: Side,
    pub(super) conversation: Conversation,
    /// The live agent's conversations with the model that we play.
    with_model: Conversations,
    pub(super) alignment: Alignment,
    pub(super) findings: Findings,
    /// With the recorded pauses: the speed factor, and the longest pause.
    pace: Option<(f64, Option<Duration>)>,
    pub(super) timeout: Duration,
    pub(super) settle: Duration,
    pub(super) turn: Turn,
    /// Whether the turn's lines have been sent.
    pub(super) begun: bool,
    pub(super) state: State,
    /// Since when a line waits for another that explains it.
    pub(super) unexplained: Option<Instant>,
    /// Whether the other side's stdin was closed early because it may wait for that.
    pub(super) closed: bool,
    pub(super) finished: bool,
    pub(super) sent_at: Instant,
    /// How long the turn's first line took to arrive.
    pub(super) first_reply: Option<Duration>,
    received: u64,
    /// The unfinished line of the other side.
    line: Vec<u8>,
    silence: SilenceWatch,
    pub(super) report: Arc<Report>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Starting,
    /// The turn's lines are sent at this time.
    Sending(Instant),
    /// A line is due by this time.
    Waiting(Instant),
    /// A line that explains the one before is due by this time.
    Settling(Instant),
    /// The other side closed its stdout; it should end by this time.
    Silent(Instant),
    /// Everything has been played; the other side should end by this time.
    Ending(Instant),
}

impl Role {
    /// Goes to the next turn, and further as long as there is nothing to wait for.
    fn advance(&mut self, out: &mut Out) -> Result<(), Failure> {
        let next = match self.alignment.next_ahead() {
            Some(turn) => Some(turn),
            None => self.conversation.next()?,
        };
        // Only a world can continue on its own: an agent receives only our lines.
        while self.part == Part::Agent
            && self.alignment.ahead() < MAX_TURNS_AHEAD
            && let Some(turn) = self.conversation.next()?
        {
            self.alignment.look_ahead(turn);
        }
        match next {
            Some(turn) => {
                let pause = match self.pace {
                    Some((times, limit)) if !turn.ours.is_empty() => {
                        let think = Duration::from_micros(turn.think);
                        scaled(limit.map_or(think, |limit| think.min(limit)), times)
                    }
                    _ => Duration::ZERO,
                };
                self.turn = turn;
                self.begun = false;
                if !pause.is_zero() {
                    self.state = State::Sending(Instant::now() + pause);
                    Ok(())
                } else {
                    self.send(out)
                }
            }
            None => {
                self.end(out);
                Ok(())
            }
        }
    }

    fn send(&mut self, out: &mut Out) -> Result<(), Failure> {
        if out.unsent(self.peer) > MAX_UNSENT {
            self.state = State::Sending(Instant::now() + UNSENT_POLL);
            return Ok(());
        }
        self.begun = true;
        for ours in &self.turn.ours {
            match self.findings.with_ids(&ours.bytes) {
                Some(line) => out.to(self.peer).extend_from_slice(&line),
                None => self.findings.take(self.turn.number, Finding::Unsaid(ours.clone()), &self.conversation),
            }
        }
        self.findings.expect(&self.turn.theirs);
        self.sent_at = Instant::now();
        self.first_reply = None;
        let findings = &self.findings;
        let need = self.alignment.begin(&self.turn, &|recorded, now| findings.is_same(recorded, now));
        self.state = State::Waiting(self.sent_at + self.timeout);
        self.follow(need, out)
    }

    /// Waits for what the comparison needs, or goes on.
    fn follow(&mut self, need: Need, out: &mut Out) -> Result<(), Failure> {
        self.take_findings();
        let now = Instant::now();
        if need != Need::Explanation {
            self.unexplained = None;
        }
        match (need, self.state) {
            (_, State::Starting | State::Sending(_) | State::Silent(_)) | (Need::Next, State::Ending(_)) => Ok(()),
            (Need::Next, _) => {
                self.end_turn();
                self.advance(out)
            }
            (Need::Explanation, State::Ending(_)) => Ok(()),
            (Need::Explanation, _) => {
                // Limited, because a side that never stops sending may never explain the line.
                let since = *self.unexplained.get_or_insert(now);
                self.state = State::Settling((now + self.settle).min(since + self.timeout));
                Ok(())
            }
            (Need::Line, _) => {
                let patience = if self.alignment.is_behind() { self.settle * BEHIND_FACTOR } else { self.timeout };
                self.state = State::Waiting(now + patience);
                if self.peer == Side::FAR {
                    self.silence.asked();
                }
                Ok(())
            }
        }
    }

    pub(super) fn take_findings(&mut self) {
        for (turn, finding) in self.alignment.findings() {
            self.findings.take(turn, finding, &self.conversation);
        }
        if let Some((recorded, live)) = self.alignment.substitute() {
            self.findings.pair(recorded, live);
        }
    }

    pub(super) fn end_turn(&mut self) {
        let recorded = match (self.turn.ours.last(), self.turn.theirs.first()) {
            (Some(ours), Some(theirs)) => Some(Duration::from_micros(theirs.t.saturating_sub(ours.t))),
            _ => None,
        };
        self.findings.end_turn(self.turn.number, recorded, self.first_reply, self.alignment.open_turn());
    }

    /// Everything has been played.
    fn end(&mut self, out: &mut Out) {
        // A live loop may send one more model request than was recorded; that gets an error.
        let waits = self.peer == Side::FAR || self.findings.requests.is_used();
        self.state = State::Ending(Instant::now() + if waits { self.timeout } else { self.settle });
        self.answer_unanswerable(out);
        if self.peer == Side::FAR {
            out.close_far(0);
        }
    }

    fn receive(&mut self, piece: Piece<'_>, out: &mut Out) -> Result<(), Failure> {
        let room = MAX_COMPARED.saturating_sub(self.line.len());
        self.line.extend_from_slice(&piece.raw()[..piece.raw().len().min(room)]);
        if matches!(piece, Piece::Part { last: false, .. }) {
            return Ok(());
        }
        self.received += 1;
        if self.part == Part::World && self.answer_discovery(out)? {
            return Ok(());
        }
        if self.part == Part::World
            && let Some(delta) = self.with_model.add(body(&self.line))
        {
            self.findings.requests.receive(self.received, delta.request_id);
            self.line = (delta.line + "\n").into_bytes();
        }
        self.silence.answered();
        self.first_reply.get_or_insert_with(|| self.sent_at.elapsed());
        let line = LiveLine { bytes: std::mem::take(&mut self.line), number: self.received };
        let findings = &self.findings;
        let need = self.alignment.receive(line, &|recorded, now| findings.is_same(recorded, now));
        self.follow(need, out)
    }

    /// Answers model requests without a recorded turn with an error; at the end of the recording, all open ones.
    pub(super) fn answer_unanswerable(&mut self, out: &mut Out) {
        if matches!(self.state, State::Ending(_)) {
            self.findings.requests.give_up_all();
        }
        for turn in self.findings.requests.failed_turns() {
            out.add_line(self.peer, &turn);
        }
    }

    /// Answers the received line if it is a request for the tools. Such requests may come at any time and belong to no
    /// turn.
    fn answer_discovery(&mut self, out: &mut Out) -> Result<bool, Failure> {
        let line = std::str::from_utf8(body(&self.line)).unwrap_or_default();
        let Ok(Some(request)) = ListTools::read(line) else { return Ok(false) };
        let answer = self.conversation.tool_list(&request)? + "\n";
        out.to(self.peer).extend_from_slice(answer.as_bytes());
        self.line.clear();
        Ok(true)
    }

    fn due(&mut self, out: &mut Out) -> Result<(), Failure> {
        let now = Instant::now();
        if matches!(self.state, State::Waiting(_)) {
            self.silence.due();
        }
        match self.state {
            State::Sending(at) if at <= now => self.send(out),
            State::Settling(at) if at <= now => {
                let need = self.alignment.settle();
                // The remaining lines have the turn's full time.
                self.state = State::Waiting(now + self.timeout);
                self.follow(need, out)
            }
            State::Waiting(at) if at <= now => {
                if !self.alignment.is_behind() {
                    let seconds = self.timeout.as_secs_f64();
                    let turn = self.turn.number;
                    let closes = self.peer == Side::FAR && !self.closed && !self.read_ahead()?;
                    let what = if closes { "closing its stdin" } else { "continuing" };
                    self.report.note(format_args!("turn {turn}: nothing came for {seconds} s (--timeout); {what}"));
                    if closes {
                        // Some programs answer only after the end of their input.
                        self.closed = true;
                        out.close_far(0);
                        self.state = State::Waiting(now + self.timeout);
                        return Ok(());
                    }
                }
                let need = self.alignment.give_up();
                self.follow(need, out)
            }
            State::Silent(at) if at <= now => {
                self.account_for_rest("the other side closed its stdout")?;
                self.finish(out);
                Ok(())
            }
            State::Ending(at) if at <= now => {
                if self.peer == Side::FAR {
                    self.findings.ended_otherwise(self.turn.number, "did not end after its stdin was closed");
                }
                self.finish(out);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Stage for Role {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        if self.finished {
            return Ok(());
        }
        let is_news = matches!(event, Event::Piece(..) | Event::Closed(_) | Event::Due);
        if is_news && self.turn.number == 0 && matches!(self.state, State::Sending(_)) {
            // The other side has sent something before our first line was due.
            self.advance(out)?;
        }
        if matches!(event, Event::Closed(side) if side == self.peer) && self.alignment.waits_for_passed_only() {
            // The missing calls will not come any more; answer those that were made.
            let need = self.alignment.settle();
            self.follow(need, out)?;
        }
        let done = match event {
            Event::Started(_) => self.advance(out),
            Event::Piece(side, piece) if side == self.peer => self.receive(piece, out),
            Event::Due => self.due(out),
            Event::Exited(_, status) => self.exited(status, out),
            Event::Closed(Side::NEAR) if self.peer == Side::NEAR => self.gone("stdin ended", out),
            Event::Broken(Side::NEAR, _) if self.peer == Side::NEAR => self.gone("the reader of stdout closed it", out),
            Event::Closed(Side::FAR) if !matches!(self.state, State::Ending(_)) => {
                // Usually it has ended, and its exit status follows immediately.
                self.state = State::Silent(Instant::now() + self.settle.max(EXIT_GRACE));
                Ok(())
            }
            // The signal ends the run.
            Event::Signal(_) => {
                self.alignment.stop();
                self.sum_up();
                Ok(())
            }
            _ => Ok(()),
        };
        if !self.finished {
            self.answer_unanswerable(out);
        }
        done
    }

    fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Starting => None,
            State::Waiting(at) => Some(self.silence.deadline().map_or(at, |silent| at.min(silent))),
            State::Sending(at) | State::Settling(at) | State::Silent(at) | State::Ending(at) => Some(at),
        }
    }
}
