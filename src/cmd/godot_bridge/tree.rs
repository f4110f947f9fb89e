//! `godot-bridge tree`: prints what is on the screen, for people.

use super::game::{Answer, CLOSED_NOT_ENDED, Game, GameMessage, QUIT_NOT_ENDED};
use pipewright_games::godot;
use pipewright_io::printable::printable;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Piece, text};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

const COMMAND: &str = "get_tree";

/// Requests the tree once and prints it.
pub struct Tree {
    pub game: Game,
    /// The node to begin at: a path or a selector.
    pub root: String,
    /// The number of levels to print.
    pub depth: Option<u32>,
    /// Whether we started the game, and so have to end it.
    pub launched: bool,
    pub report: Arc<Report>,
}

fn failed(why: impl std::fmt::Display) -> Failure {
    Failure::new(Status::Fault, format_args!("{COMMAND}: {why}"))
}

impl Tree {
    fn ask(&mut self, out: &mut Out) {
        let mut arguments = json!({ "root": self.root });
        if let Some(depth) = self.depth {
            arguments["depth"] = depth.into();
        }
        self.game.send(out, COMMAND, Some(&arguments.to_string()), None);
    }

    fn draw(&mut self, data: &Value, out: &mut Out) -> Result<(), Failure> {
        let tree = data.get("tree").ok_or_else(|| failed("the answer contains no tree"))?;
        let mut drawn = godot::tree(tree);
        if data.get("truncated") == Some(&Value::Bool(true)) {
            drawn.push_str("(more was left out)\n");
        }
        for line in drawn.lines() {
            out.to(Side::NEAR).extend_from_slice(printable(line).as_bytes());
            out.to(Side::NEAR).push(b'\n');
        }
        match self.launched {
            true => self.game.quit(out),
            false => out.stop(self.report.finish()),
        }
        Ok(())
    }

    fn receive(&mut self, body: &str, number: u64, out: &mut Out) -> Result<(), Failure> {
        match self.game.receive(body, number) {
            Err(gone) => return Err(self.game.failure(&gone)),
            Ok(GameMessage::Ready) => self.ask(out),
            Ok(GameMessage::Answer(Answer { response, .. })) if self.game.has_answered_quit() => {
                // Its exit still matters: it may crash.
                match response.ok {
                    true => self.game.close(QUIT_NOT_ENDED),
                    false => out.stop(self.report.finish()),
                }
            }
            Ok(GameMessage::Answer(Answer { response, .. })) if response.ok => {
                let data = response.get("data").map_or("null", |data| data.get());
                self.draw(&serde_json::from_str(data).unwrap_or_default(), out)?;
            }
            Ok(GameMessage::Answer(Answer { response, .. })) => {
                let texts = ["error", "hint"].into_iter().filter_map(|key| response.text(key));
                return Err(failed(texts.collect::<Vec<_>>().join("; ")));
            }
            Ok(GameMessage::Events(_) | GameMessage::Nothing) => {}
        }
        Ok(())
    }
}

impl Stage for Tree {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started(_) => self.game.send_hello(out),
            Event::Piece(Side::FAR, Piece::Line(line)) => self.receive(&text(line.body()), line.number(), out)?,
            Event::Piece(Side::FAR, Piece::Part { last: true, .. }) => {
                return Err(failed("the answer is too long"));
            }
            Event::Piece(Side::FAR_ERROR, piece) => self.game.print(&piece, out),
            Event::Closed(Side::FAR) | Event::Broken(Side::FAR, _) if self.launched => {
                self.game.close(CLOSED_NOT_ENDED)
            }
            Event::Closed(Side::FAR) | Event::Broken(Side::FAR, _) => {
                return Err(self.game.failure(&self.game.left()));
            }
            Event::Exited(_, status) => {
                let gone = self.game.exited(status);
                if !self.game.is_quitting() || gone.has_crashed() {
                    return Err(self.game.failure(&gone));
                }
                out.stop(self.report.finish());
            }
            Event::Due if self.game.has_answered_quit() => {
                self.report.note(QUIT_NOT_ENDED);
                out.stop(self.report.finish());
            }
            Event::Due => {
                if let Some(gone) = self.game.overdue() {
                    return Err(self.game.failure(&gone));
                }
            }
            Event::Signal(_) | Event::Broken(Side::NEAR, _) if self.launched => self.game.quit(out),
            _ => {}
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.game.deadline()
    }
}
