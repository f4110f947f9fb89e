//! The stage: calls from the near side become the game's commands, its answers go back in order.

use super::game::{Answer, Game, Heard, LEFT, NOT_ENDED};
use crate::cmd::events::Events;
use crate::cmd::intake;
use crate::cmd::queue::{Pending, Queue, Sending};
use crate::godot::{Gone, answer, answer_gone, refuse};
use crate::io::child::exit_code;
use crate::io::lines::{Line, Piece, TOO_LONG, text};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::json::Object;
use crate::record::{Call, Unreadable, recognise};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub struct Bridge {
    pub game: Game,
    pub events: Option<Events>,
    pub max_depth: usize,
    pub report: Arc<Report>,
    /// Whether the game is ours to end.
    pub launched: bool,
    queue: Queue,
    /// Nothing more comes from the near side.
    near_ended: bool,
    /// An over-long line of the game's goes on.
    in_part: bool,
    /// The caller's own `quit`, by our number.
    asked_to_quit: Option<u64>,
    /// The game has said that it does.
    has_quit: bool,
    /// Why there is no game any more, and until when those who ask are told.
    lost: Option<(Gone, Instant)>,
}

/// What was on its way when the game was lost is answered, too, where it comes within this.
const LINGER: Duration = Duration::from_millis(100);

/// Who calls may give a command its own time.
const LONGEST: f64 = 864_000.0;

impl Bridge {
    pub fn new(game: Game, events: Option<Events>, max_depth: usize, launched: bool, report: Arc<Report>) -> Bridge {
        let queue = Queue::default();
        Bridge {
            game,
            events,
            max_depth,
            report,
            launched,
            queue,
            near_ended: false,
            in_part: false,
            asked_to_quit: None,
            has_quit: false,
            lost: None,
        }
    }

    /// Takes a line of the near side's.
    fn take(&mut self, line: &Line<'_>, out: &mut Out) {
        if line.is_blank() {
            return;
        }
        let (body, call) = match intake::read(line, self.max_depth) {
            Ok(read) => read,
            Err(error) => return self.refuse_line(line.number(), "BAD_JSON", &error),
        };
        match call {
            None => {
                let mut raw = line.raw().to_vec();
                if !raw.ends_with(b"\n") {
                    raw.push(b'\n');
                }
                self.queue.push(Pending::Done(raw));
            }
            Some(call) if call.requires_approval => {
                let why = "it still requires approval: let hitl-gate stand before this";
                self.report.fault(format_args!("stdin:{}", line.number()), why);
                self.queue.push(Pending::done(&refuse(&call, "NEEDS_APPROVAL", why)));
            }
            Some(call) if self.lost.is_some() => {
                if let Some((gone, _)) = &self.lost {
                    self.queue.push(Pending::done(&answer_gone(&call, gone)));
                }
            }
            Some(_) if !self.game.is_ready() => self.queue.push(Pending::unsent(0, body)),
            Some(call) => {
                let id = send(&mut self.game, &call, out, &mut self.asked_to_quit);
                self.queue.push(Pending::sent((0, id), body));
            }
        }
    }

    /// A line that is no call, and can't be passed on as something else: told, and answered in the game's form.
    fn refuse_line(&mut self, number: u64, code: &str, why: &Unreadable) {
        self.report.fault(format_args!("stdin:{number}"), why);
        let error = format!("line {number}: {why}");
        let answer = Object::default().put("ok", false).put_some("id", why.id());
        let answer = answer.text("error", &error).text("code", code).put("events", "[]");
        self.queue.push(Pending::Done(answer.line().into_bytes()));
    }

    fn hear(&mut self, line: &Line<'_>, out: &mut Out) {
        let body = text(line.body());
        match self.game.hear(&body, line.number()) {
            Err(gone) => self.lose(gone),
            Ok(Heard::Nothing) => {}
            Ok(Heard::Events(events)) => self.show(Some(events), out),
            Ok(Heard::Ready) => {
                let Bridge { queue, game, asked_to_quit, .. } = self;
                queue.send(|waiting| match recognise(&waiting.call) {
                    Ok(Some(call)) => Sending::Sent((0, send(game, &call, out, asked_to_quit))),
                    // It was one when it came.
                    _ => Sending::Later,
                });
            }
            Ok(Heard::Answer(answer)) => self.settle(&answer, out),
        }
    }

    /// Of an answer that is too long, the beginning tells that it is one; it answers what was asked first.
    fn hear_part(&mut self, bytes: &[u8], number: u64, last: bool) {
        if !std::mem::replace(&mut self.in_part, !last) {
            let why = format!("the game's answer is {TOO_LONG}: ask for less (depth, max_nodes, fields, since)");
            self.report.fault(format_args!("game:{number}"), &why);
            match self.game.hear_too_long(bytes) {
                Err(gone) => self.lose(gone),
                Ok(None) => {}
                Ok(Some(id)) => {
                    self.queue.answer((0, id), |waiting| waiting.answer(|call| refuse(call, "TOO_LARGE", &why)));
                    if self.game.has_answered_quit() {
                        self.game.close(NOT_ENDED);
                    }
                }
            }
        }
    }

    fn settle(&mut self, Answer { id, response, skipped }: &Answer<'_>, out: &mut Out) {
        if !response.ok {
            self.report.fail();
        }
        for &id in skipped {
            self.report.fail();
            let why = "the game has answered a later command, but not this one";
            self.queue.answer((0, id), |waiting| waiting.answer(|call| refuse(call, "GAME_ERROR", why)));
        }
        self.show(response.get("events").map(|events| events.get()), out);
        self.queue.answer((0, *id), |waiting| waiting.answer(|call| answer(call, response)));
        if self.asked_to_quit == Some(*id) {
            match response.ok {
                true => {
                    self.has_quit = true;
                    self.game.close(NOT_ENDED);
                }
                false => self.asked_to_quit = None,
            }
        }
        if self.game.has_answered_quit() {
            // How it ends is of interest still: it may crash.
            match response.ok {
                true => self.game.close(NOT_ENDED),
                false => out.stop(self.report.finish()),
            }
        }
    }

    fn show(&mut self, events: Option<&str>, out: &mut Out) {
        if let (Some(to), Some(events)) = (&mut self.events, events.filter(|events| *events != "[]")) {
            to.take_all("godot", events, out);
        }
    }

    /// There is no game any more: everybody who waits is told.
    fn lose(&mut self, gone: Gone) {
        self.tell_all(&gone);
        self.lost = Some((gone, Instant::now() + LINGER));
    }

    fn tell_all(&mut self, gone: &Gone) -> bool {
        self.queue.answer_all(|_| true, |waiting| waiting.answer(|call| answer_gone(call, gone)))
    }

    /// The game has ended; `status` where it was ours.
    fn exited(&mut self, status: Option<ExitStatus>, out: &mut Out) {
        let gone = status.map_or_else(|| self.game.left(), |status| self.game.exited(status));
        let ends_for_us = self.game.is_quitting() && !gone.has_crashed();
        if !self.has_quit && !ends_for_us {
            return self.lose(gone);
        }
        // Who asked for more after the `quit` doesn't get it.
        if self.tell_all(&gone) {
            self.report.fail();
        }
        let (own, code) = (self.report.finish(), status.map_or(0, exit_code));
        out.stop(if self.has_quit && code != 0 { Status::Child(code) } else { own });
    }

    /// What follows from every event: what may leave does, the game is told to end when there is nothing left to ask.
    fn go_on(&mut self, out: &mut Out) -> Result<(), Failure> {
        self.queue.drain(out.to(Side::Near));
        out.hold_near(self.queue.is_full());
        if let Some((gone, until)) = &self.lost {
            let is_over = self.near_ended || *until <= Instant::now();
            return if is_over { Err(self.game.failure(gone)) } else { Ok(()) };
        }
        if self.near_ended && self.queue.is_empty() && self.asked_to_quit.is_none() && self.game.is_ready() {
            match self.launched {
                true => self.game.quit(out),
                false => out.stop(self.report.finish()),
            }
        }
        Ok(())
    }
}

fn own_timeout(object: &str) -> Option<Duration> {
    #[derive(serde::Deserialize)]
    struct Own {
        timeout: f64,
    }
    let own = object.contains("\"timeout\"").then(|| serde_json::from_str::<Own>(object).ok()).flatten()?;
    (0.0..=LONGEST).contains(&own.timeout).then(|| Duration::from_secs_f64(own.timeout))
}

/// Sends a call as a command; gives its number.
fn send(game: &mut Game, call: &Call<'_>, out: &mut Out, asked_to_quit: &mut Option<u64>) -> u64 {
    let arguments = call.arguments.map(|arguments| arguments.get());
    // It stands beside the arguments, or among them.
    let beside = intake::timeout(call).ok().flatten().filter(|own| own.as_secs_f64() <= LONGEST);
    let timeout = beside.or_else(|| own_timeout(arguments?));
    let id = game.ask(out, &call.tool, arguments, timeout);
    if call.tool == "quit" {
        *asked_to_quit = Some(id);
    }
    id
}

impl Stage for Bridge {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started => self.game.greet(out),
            Event::Piece(Side::Near, Piece::Line(line)) => self.take(&line, out),
            Event::Piece(Side::Near, Piece::Part { last: true, number, .. }) => {
                self.refuse_line(number, "TOO_LARGE", &Unreadable::new(TOO_LONG));
            }
            Event::Piece(Side::Far, _) if self.lost.is_some() => {}
            Event::Piece(Side::Far, Piece::Line(line)) => self.hear(&line, out),
            Event::Piece(Side::Far, Piece::Part { bytes, number, last }) => self.hear_part(bytes, number, last),
            Event::Piece(Side::FarError, piece) => self.game.print(&piece, out),
            Event::Piece(..) => {}
            Event::Closed(Side::Near) => self.near_ended = true,
            Event::Closed(Side::Far) | Event::Broken(Side::Far, _) | Event::Exited(_) | Event::Due
                if self.lost.is_some() => {}
            Event::Closed(Side::Far) | Event::Broken(Side::Far, _) if self.launched => self.game.close(LEFT),
            Event::Closed(Side::Far) | Event::Broken(Side::Far, _) => self.exited(None, out),
            Event::Exited(status) => self.exited(Some(status), out),
            // It may have answered: who reads us hasn't let us hear that yet.
            Event::Due if out.far_waits() => self.game.wait_anew(),
            // It is ended with all that it has started.
            Event::Due if self.game.has_answered_quit() => out.stop(self.report.finish()),
            Event::Due => {
                if let Some(gone) = self.game.overdue() {
                    self.lose(gone);
                }
            }
            // It ends in order while we wait for it.
            Event::Signal(_) | Event::Broken(Side::Near, _) if self.launched => self.game.quit(out),
            Event::Signal(_) | Event::Broken(..) | Event::Closed(_) | Event::Reopen => {}
        }
        self.go_on(out)
    }

    fn deadline(&self) -> Option<Instant> {
        self.lost.as_ref().map(|(_, until)| *until).or_else(|| self.game.deadline())
    }
}
