//! One side of a recorded conversation, played against live code on the other.

use super::conversation::{Conversation, Sessions, Wanted};
use super::findings::Findings;
use super::{Arguments, RoleOptions};
use crate::cmd::filter::Filter;
use crate::cmd::silence::Silence;
use crate::io::between::{Ends, Manner, Near, Way, between};
use crate::io::lines::{Limits, Piece};
use crate::io::report::{Failure, Report, Status};
use crate::io::signal::Signals;
use crate::io::stage::{Event, Out, Side, Stage};
use crate::journal::Part;
use crate::record::ListTools;
use crate::replay::alignment::{Alignment, Finding, LiveLine, Need};
use crate::replay::compare::{Comparison, Normalise};
use crate::replay::model::Conversations;
use crate::replay::schedule::{Speed, scaled};
use crate::replay::turns::{Turn, body};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A world that goes on by itself is looked for among so many turns.
const AHEAD: usize = 16;

/// While more than this waits to be read by the other side, nothing more is said, and so often is looked again.
const MOST: usize = 4 << 20;
const LOOK: Duration = Duration::from_millis(5);

/// Who closed its stdout ends within this, mostly.
const SOON: Duration = Duration::from_secs(1);

/// A live line is held up to this; the rest of a longer one is not compared.
const LONGEST: usize = 64 << 20;

/// A side that is behind owes its lines soon: so many times the time to settle.
const BEHIND: u32 = 5;

pub fn run(arguments: Arguments, part: Part, signals: &Signals, report: Arc<Report>) -> Result<Status, Failure> {
    let Arguments { files, speed, idle_limit, log, role, command, .. } = arguments;
    let RoleOptions {
        child, session, include_rejected, ignore, normalise, report: file, timeout, settle, quiet, ..
    } = role;
    let normalise = Filter::compile_some("--normalise", normalise.as_ref())?.map(normaliser);
    let sessions = session.map_or(Sessions::Last, Sessions::Number);
    let wanted = Wanted { files: &files, options: &log, part, child, sessions, includes_rejected: include_rejected };
    let conversation = Conversation::open(&wanted, &report)?;
    // It is the agent that gives ids, so a world must come with the same.
    let comparison = Comparison { ignored: ignore, normalise, ignores_ids: part == Part::World };
    let findings = Findings::new(comparison, file.as_deref(), quiet, &report)?;
    let wraps = !command.is_empty();
    let stage = Role {
        part,
        peer: if wraps { Side::Far } else { Side::Near },
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
        // A child is spoken to once it has started.
        state: if wraps { State::Starting } else { State::Sending(Instant::now()) },
        sent_at: Instant::now(),
        first_heard: None,
        heard: 0,
        line: Vec::new(),
        silence: Silence::new(Arc::clone(&report)),
        report: Arc::clone(&report),
    };
    let ends = Ends {
        far: Way::child(command),
        near: if wraps { Near::Stdout } else { Near::Stdio },
        limits: Limits { max_line: log.max_line, max_depth: log.max_depth },
        manner: Manner::Session,
        ..Ends::default()
    };
    between(Box::new(stage), ends, signals, &report)
}

/// A line that the filter gives nothing for, or fails on, stays as it is.
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
    /// Of the live agent, with the model that we play.
    with_model: Conversations,
    pub(super) alignment: Alignment,
    pub(super) findings: Findings,
    /// With the recorded pauses, so many times as fast, none longer than that.
    pace: Option<(f64, Option<Duration>)>,
    pub(super) timeout: Duration,
    pub(super) settle: Duration,
    pub(super) turn: Turn,
    /// The turn's lines have been said.
    pub(super) begun: bool,
    pub(super) state: State,
    /// Since when a line waits for one that explains it.
    pub(super) unexplained: Option<Instant>,
    /// The other side's stdin was closed, because it may be what it waits for.
    pub(super) closed: bool,
    pub(super) finished: bool,
    pub(super) sent_at: Instant,
    /// How long the turn's first line took to come.
    pub(super) first_heard: Option<Duration>,
    heard: u64,
    /// An over-long line that is still coming.
    line: Vec<u8>,
    silence: Silence,
    pub(super) report: Arc<Report>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Starting,
    /// The turn's lines are said then.
    Sending(Instant),
    /// Until then, something is to come.
    Waiting(Instant),
    /// Until then, a line is to come that explains the one before.
    Settling(Instant),
    /// It will say nothing more; it is to end by then.
    Silent(Instant),
    /// Everything has been played; the other side is to end by then.
    Ending(Instant),
}

impl Role {
    /// Goes to the next turn, and on while nothing is to be waited for.
    fn go_on(&mut self, out: &mut Out) -> Result<(), Failure> {
        let next = match self.alignment.next_ahead() {
            Some(turn) => Some(turn),
            None => self.conversation.next()?,
        };
        // Only a world can go on by itself: an agent hears nothing but what we say.
        while self.part == Part::Agent
            && self.alignment.ahead() < AHEAD
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
        if out.unsent(self.peer) > MOST {
            self.state = State::Sending(Instant::now() + LOOK);
            return Ok(());
        }
        self.begun = true;
        for said in &self.turn.ours {
            match self.findings.with_ids(&said.bytes) {
                Some(line) => out.to(self.peer).extend_from_slice(&line),
                None => self.findings.take(self.turn.number, Finding::Unsaid(said.clone()), &self.conversation),
            }
        }
        self.findings.expect(&self.turn.theirs);
        self.sent_at = Instant::now();
        self.first_heard = None;
        let findings = &self.findings;
        let need = self.alignment.begin(&self.turn, &|recorded, now| findings.is_same(recorded, now));
        self.state = State::Waiting(self.sent_at + self.timeout);
        self.follow(need, out)
    }

    /// Does what the comparison needs.
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
                self.go_on(out)
            }
            (Need::Explanation, State::Ending(_)) => Ok(()),
            (Need::Explanation, _) => {
                // Who talks on without an end explains nothing.
                let since = *self.unexplained.get_or_insert(now);
                self.state = State::Settling((now + self.settle).min(since + self.timeout));
                Ok(())
            }
            (Need::Line, _) => {
                let patience = if self.alignment.is_behind() { self.settle * BEHIND } else { self.timeout };
                self.state = State::Waiting(now + patience);
                if self.peer == Side::Far {
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
        if let Some((said, heard)) = self.alignment.stand_in() {
            self.findings.pair(said, heard);
        }
    }

    pub(super) fn end_turn(&mut self) {
        let recorded = match (self.turn.ours.last(), self.turn.theirs.first()) {
            (Some(ours), Some(theirs)) => Some(Duration::from_micros(theirs.t.saturating_sub(ours.t))),
            _ => None,
        };
        self.findings.end_turn(self.turn.number, recorded, self.first_heard, self.alignment.open_turn());
    }

    /// Everything has been played.
    fn end(&mut self, out: &mut Out) {
        // A live loop may ask the model once more than was recorded, and gets an error then.
        let waits = self.peer == Side::Far || self.findings.requests.is_used();
        self.state = State::Ending(Instant::now() + if waits { self.timeout } else { self.settle });
        self.answer_unanswerable(out);
        if self.peer == Side::Far {
            out.close_far();
        }
    }

    fn receive(&mut self, piece: Piece<'_>, out: &mut Out) -> Result<(), Failure> {
        let room = LONGEST.saturating_sub(self.line.len());
        self.line.extend_from_slice(&piece.raw()[..piece.raw().len().min(room)]);
        if matches!(piece, Piece::Part { last: false, .. }) {
            return Ok(());
        }
        self.heard += 1;
        if self.part == Part::World && self.answer_discovery(out)? {
            return Ok(());
        }
        if self.part == Part::World
            && let Some(delta) = self.with_model.add(body(&self.line))
        {
            self.findings.requests.receive(self.heard, delta.request_id);
            self.line = (delta.line + "\n").into_bytes();
        }
        self.silence.answered();
        self.first_heard.get_or_insert_with(|| self.sent_at.elapsed());
        let heard = LiveLine { bytes: std::mem::take(&mut self.line), number: self.heard };
        let findings = &self.findings;
        let need = self.alignment.receive(heard, &|recorded, now| findings.is_same(recorded, now));
        self.follow(need, out)
    }

    /// Answers the requests to a model that the recording has no turn for: at its end, all.
    pub(super) fn answer_unanswerable(&mut self, out: &mut Out) {
        if matches!(self.state, State::Ending(_)) {
            self.findings.requests.give_up_all();
        }
        for turn in self.findings.requests.failed_turns() {
            out.add_line(self.peer, &turn);
        }
    }

    /// Answers the line that has come, if it is a request for the tools: at any time, and outside of the turns.
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
                // What is still to come has the turn's whole time.
                self.state = State::Waiting(now + self.timeout);
                self.follow(need, out)
            }
            State::Waiting(at) if at <= now => {
                if !self.alignment.is_behind() {
                    let seconds = self.timeout.as_secs_f64();
                    let turn = self.turn.number;
                    let closes = self.peer == Side::Far && !self.closed && !self.read_ahead()?;
                    let what = if closes { "closing its stdin" } else { "going on" };
                    self.report.note(format_args!("turn {turn}: nothing came for {seconds} s (--timeout), {what}"));
                    if closes {
                        // Some answer only when they have heard everything.
                        self.closed = true;
                        out.close_far();
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
                if self.peer == Side::Far {
                    self.findings.ended_otherwise(self.turn.number, "didn't end, though its stdin was closed");
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
            // Whoever started us has spoken before we could.
            self.go_on(out)?;
        }
        if matches!(event, Event::Closed(side) if side == self.peer) && self.alignment.waits_for_passed_only() {
            // They will not come any more; what was made is answered.
            let need = self.alignment.settle();
            self.follow(need, out)?;
        }
        let done = match event {
            Event::Started => self.go_on(out),
            Event::Piece(side, piece) if side == self.peer => self.receive(piece, out),
            Event::Due => self.due(out),
            Event::Exited(status) => self.exited(status, out),
            Event::Closed(Side::Near) if self.peer == Side::Near => self.gone("stdin ended", out),
            Event::Broken(Side::Near, _) if self.peer == Side::Near => self.gone("the reader of stdout has gone", out),
            Event::Closed(Side::Far) if !matches!(self.state, State::Ending(_)) => {
                // Mostly it has ended, and how is heard in a moment.
                self.state = State::Silent(Instant::now() + self.settle.max(SOON));
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
