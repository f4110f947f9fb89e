//! A Godot game as a world: sends calls as the game's commands and returns its answers in order.

use super::game::{Answer, CLOSED_NOT_ENDED, Game, GameMessage, QUIT_NOT_ENDED};
use crate::cmd::events::Events;
use crate::cmd::options::TOO_LONG;
use crate::cmd::refusal::Refusal;
use crate::cmd::world::{Calls, FarCall, LINGER, SendResult, World};
use pipewright_games::godot::{self, GameLoss, answer, kind_of};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side};
use pipewright_lines::{Line, Piece, text};
use pipewright_record::json::Object;
use pipewright_record::{Form, Kind, OwnedCall, Tool, Unreadable};
use pipewright_sys::process::exit_code;
use serde_json::json;
use serde_json::value::to_raw_value;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub struct Bridge {
    game: Game,
    events: Option<Events>,
    report: Arc<Report>,
    /// Whether we started the game, and so have to end it.
    launched: bool,
    /// Whether we are in the middle of an over-long line from the game.
    in_part: bool,
    /// Our number for a `quit` command from the caller.
    asked_to_quit: Option<u64>,
    /// Whether the game has confirmed that `quit`.
    has_quit: bool,
    declared: DeclaredTools,
}

/// The tools that the game's own nodes declare.
enum DeclaredTools {
    /// No client has asked for the tools, or the game cannot answer yet.
    Unknown,
    /// The command of this number has asked the game.
    Asked(u64),
    /// Each as JSON text.
    Known(Vec<String>),
}

/// The longest timeout that a call may set, in seconds.
const MAX_TIMEOUT: f64 = 864_000.0;

impl Bridge {
    pub fn new(game: Game, events: Option<Events>, launched: bool, report: Arc<Report>) -> Bridge {
        Bridge {
            game,
            events,
            report,
            launched,
            in_part: false,
            asked_to_quit: None,
            has_quit: false,
            declared: DeclaredTools::Unknown,
        }
    }

    fn take_line(&mut self, line: &Line<'_>, calls: &mut Calls, out: &mut Out) {
        match self.game.receive(&text(line.body()), line.number()) {
            Err(gone) => self.game_lost(&gone, calls),
            Ok(GameMessage::Nothing | GameMessage::Ready) => {}
            Ok(GameMessage::Events(events)) => self.show(Some(events), out),
            Ok(GameMessage::Answer(answer)) => self.settle(&answer, calls, out),
        }
    }

    /// Takes a part of an over-long line. Its beginning shows whether it is an answer; it then answers the oldest
    /// pending command.
    fn take_part(&mut self, bytes: &[u8], number: u64, last: bool, calls: &mut Calls) {
        if std::mem::replace(&mut self.in_part, !last) {
            return;
        }
        let why = format!("the game's answer is {TOO_LONG}: ask for less (depth, max_nodes, fields, since)");
        self.report.fault(format_args!("game:{number}"), &why);
        match self.game.receive_overlong(bytes) {
            Err(gone) => self.game_lost(&gone, calls),
            Ok(None) => {}
            Ok(Some(id)) if self.is_declaration(id) => self.declared = DeclaredTools::Known(Vec::new()),
            Ok(Some(id)) => {
                calls.refuse(FarCall { far: 0, id }, &refusal("TOO_LARGE", why));
                if self.game.has_answered_quit() {
                    self.game.close(QUIT_NOT_ENDED);
                }
            }
        }
    }

    /// The tools of the addon: an older addon, or one without permission to edit, has fewer.
    fn built_in_tools(&self) -> impl Iterator<Item = Tool<'static>> {
        godot::tools().filter(|tool| self.game.takes(tool.name))
    }

    /// Whether this is the number of our own request for the tools that the game declares.
    fn is_declaration(&self, id: u64) -> bool {
        matches!(self.declared, DeclaredTools::Asked(asked) if asked == id)
    }

    fn settle(&mut self, Answer { id, response, skipped }: &Answer<'_>, calls: &mut Calls, out: &mut Out) {
        if self.is_declaration(*id) {
            let data = response.get("data").filter(|_| response.ok);
            let is_built_in = |name: &str| self.built_in_tools().any(|tool| tool.name == name);
            let declared = data.map(|data| godot::declared_tools(data.get(), is_built_in));
            self.declared = DeclaredTools::Known(declared.unwrap_or_default());
        } else if !response.ok {
            self.report.fail();
        }
        if skipped.iter().any(|id| self.is_declaration(*id)) {
            self.declared = DeclaredTools::Known(Vec::new());
        }
        for &id in skipped {
            calls.refuse(
                FarCall { far: 0, id },
                &refusal("GAME_ERROR", "the game has answered a later command, but not this one"),
            );
        }
        self.show(response.get("events").map(|events| events.get()), out);
        calls.answer(FarCall { far: 0, id: *id }, |call, _| answer(call, response));
        if self.asked_to_quit == Some(*id) {
            match response.ok {
                true => {
                    self.has_quit = true;
                    self.game.close(QUIT_NOT_ENDED);
                }
                false => self.asked_to_quit = None,
            }
        }
        if self.game.has_answered_quit() {
            // Its exit still matters: it may crash.
            match response.ok {
                true => self.game.close(QUIT_NOT_ENDED),
                false => out.stop(self.report.finish()),
            }
        }
    }

    fn show(&mut self, events: Option<&str>, out: &mut Out) {
        if let (Some(to), Some(events)) = (&mut self.events, events.filter(|events| *events != "[]")) {
            to.take_all("godot", events, out);
        }
    }

    /// The game is gone: refuses its calls.
    fn game_lost(&mut self, gone: &GameLoss, calls: &mut Calls) {
        let failure = self.game.failure(gone);
        calls.far_side_lost(0, &lost(gone), false);
        calls.give_up(0, lost(gone), failure, LINGER);
    }

    /// The game has ended. `status` is given if we started it.
    fn exited(&mut self, status: Option<ExitStatus>, calls: &mut Calls, out: &mut Out) {
        let gone = status.map_or_else(|| self.game.left(), |status| self.game.exited(status));
        let ends_for_us = self.game.is_quitting() && !gone.has_crashed();
        if !self.has_quit && !ends_for_us {
            return self.game_lost(&gone, calls);
        }
        // Commands that came after the `quit` are not carried out.
        if calls.refuse_all(&lost(&gone)) {
            self.report.fail();
        }
        let (own, code) = (self.report.finish(), status.map_or(0, exit_code));
        out.stop(if self.has_quit && code != 0 { Status::Child(code) } else { own });
    }
}

/// Why a call gets no result, with the game's own code.
fn refusal(code: &'static str, message: impl Into<String>) -> Refusal {
    Refusal { code: Some(code), ..Refusal::new(kind_of(code), message) }
}

fn lost(gone: &GameLoss) -> Refusal {
    let data = to_raw_value(&json!({"status": gone.status, "stderr": gone.printed})).ok();
    Refusal { data, ..refusal(gone.code, &gone.message) }
}

fn own_timeout(object: &str) -> Option<Duration> {
    #[derive(serde::Deserialize)]
    struct CallTimeout {
        timeout: f64,
    }
    let own = object.contains("\"timeout\"").then(|| serde_json::from_str::<CallTimeout>(object).ok()).flatten()?;
    (0.0..=MAX_TIMEOUT).contains(&own.timeout).then(|| Duration::from_secs_f64(own.timeout))
}

impl World for Bridge {
    fn name(&self) -> &'static str {
        "godot"
    }

    fn tools(&self) -> Vec<String> {
        let declared: &[String] = if let DeclaredTools::Known(tools) = &self.declared { tools } else { &[] };
        self.built_in_tools().map(|tool| tool.json()).chain(declared.iter().cloned()).collect()
    }

    fn find_tools(&mut self, out: &mut Out) -> bool {
        // After its `quit` the game answers nothing more.
        if self.asked_to_quit.is_some() {
            return true;
        }
        if matches!(self.declared, DeclaredTools::Unknown) && self.game.is_ready() {
            self.declared = DeclaredTools::Asked(self.game.send(out, "list_actions", None, None));
        }
        matches!(self.declared, DeclaredTools::Known(_))
    }

    fn takes_calls(&self, _far: usize) -> bool {
        self.game.is_ready()
    }

    fn send(&mut self, _far: usize, call: &OwnedCall, timeout: Option<Duration>, out: &mut Out) -> SendResult {
        let arguments = call.call().arguments.map(|arguments| arguments.get());
        // The timeout is a field beside the arguments, or one of them.
        let beside = timeout.filter(|own| own.as_secs_f64() <= MAX_TIMEOUT);
        let timeout = beside.or_else(|| own_timeout(arguments?));
        let id = self.game.send(out, call.tool(), arguments, timeout);
        if call.tool() == "quit" {
            self.asked_to_quit = Some(id);
        }
        // The game enforces the timeout, and answers late commands itself.
        SendResult::Sent { id, timeout: None, is_repeatable: false }
    }

    fn code(&self, kind: Kind) -> Option<&'static str> {
        match kind {
            Kind::NeedsApproval => Some("NEEDS_APPROVAL"),
            Kind::BadInput => Some("INVALID_ARGS"),
            Kind::Cancelled => Some("CANCELLED"),
            Kind::StartFailed => Some("GAME_START_FAILED"),
            _ => None,
        }
    }

    fn refuse_line(&self, error: &Unreadable, kind: Kind, line_number: u64) -> String {
        if !matches!(error.form(), None | Some(Form::Godot)) {
            return error.refusal(kind, line_number);
        }
        let code = if kind == Kind::TooLarge { "TOO_LARGE" } else { "BAD_JSON" };
        let answer = Object::default().put("ok", false).put_some("id", error.id());
        let message = format!("line {line_number}: {error}");
        answer.text("error", &message).text("code", code).put("events", "[]").end()
    }

    fn on(&mut self, event: Event<'_>, calls: &mut Calls, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started(_) => self.game.send_hello(out),
            Event::Piece(Side::FAR_ERROR, piece) => self.game.print(&piece, out),
            Event::Piece(Side::FAR, _) | Event::Closed(Side::FAR) | Event::Broken(Side::FAR, _) | Event::Exited(..)
                if calls.is_over(0) => {}
            Event::Piece(Side::FAR, Piece::Line(line)) => self.take_line(&line, calls, out),
            Event::Piece(Side::FAR, Piece::Part { bytes, number, last }) => self.take_part(bytes, number, last, calls),
            Event::Closed(Side::FAR) | Event::Broken(Side::FAR, _) if self.launched => {
                self.game.close(CLOSED_NOT_ENDED)
            }
            Event::Closed(Side::FAR) | Event::Broken(Side::FAR, _) => self.exited(None, calls, out),
            Event::Exited(_, status) => self.exited(Some(status), calls, out),
            // The game ends in order while we wait for it.
            Event::Signal(_) | Event::Broken(Side::NEAR, _) if self.launched => self.game.quit(out),
            _ => {}
        }
        Ok(())
    }

    fn restart_timeouts(&mut self, _far: usize) {
        self.game.restart_timeouts();
    }

    fn due(&mut self, far: usize, calls: &mut Calls, out: &mut Out) {
        if out.far_waits(far) {
            return;
        }
        if self.game.has_answered_quit() {
            // The game is killed together with all processes it has started.
            self.report.note(QUIT_NOT_ENDED);
            out.stop(self.report.finish());
        } else if let Some(gone) = self.game.overdue() {
            self.game_lost(&gone, calls);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.game.deadline()
    }

    fn ask_to_end(&mut self, _far: usize, out: &mut Out) -> bool {
        if self.asked_to_quit.is_some() || !self.game.is_ready() {
            return false;
        }
        if self.launched {
            self.game.quit(out);
        }
        !self.launched
    }
}
