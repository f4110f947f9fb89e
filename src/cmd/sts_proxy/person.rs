//! A person at a terminal: sees the state and the legal actions, and types an id.

use super::decision::Decision;
use super::player::{Player, PlayerReply};
use crate::cmd::options::Color;
use crate::cmd::spire_screen::Screen;
use pipewright_games::spire::message::Message;
use pipewright_io::printable::printable;
use pipewright_io::report::{Failure, Status};
use pipewright_io::stage::{Out, Side};
use pipewright_lines::{self as lines, Piece};
use pipewright_sys::terminal::Terminal;

const HELP: &str = "\
  a number   the action with that id (a mod command such as `end` does as well)
  state, q   ask the game for its state
  ?          show this and the menu again
  quit       end; the game goes on without us
";
const PROMPT: &str = "action> ";

/// The person's terminal, and whether the menu on it is still open.
pub(super) struct Person {
    terminal: Terminal,
    color: bool,
    open: bool,
}

impl Person {
    /// # Errors
    /// The terminal cannot be opened again.
    pub(super) fn new(terminal: &Terminal, color: Color) -> Result<Person, Failure> {
        Ok(Person {
            terminal: Terminal::open(terminal.path()).map_err(Failure::not_started)?,
            color: color.is_enabled(),
            open: false,
        })
    }

    fn say(&self, out: &mut Out, text: &str) {
        out.to(Side::Person).extend_from_slice(text.as_bytes());
    }

    fn show(&self, decision: &Decision, out: &mut Out) {
        let text = decision.text();
        let Ok(Some(message)) = Message::read(&text) else {
            return; // cannot happen: it was read when the decision was made
        };
        let screen = Screen { width: Some(self.terminal.width()), color: self.color };
        let mut screen = screen.draw(&message, &decision.actions);
        screen.push_str(PROMPT);
        out.to(Side::Person).extend_from_slice(screen.as_bytes());
    }
}

impl Player for Person {
    fn ask(&mut self, decision: &Decision, out: &mut Out) {
        // Input typed before this menu appeared must not become an answer to it.
        self.terminal.forget_input();
        if self.open {
            self.say(out, "\nthe game has a new state; this menu replaces the one above\n");
        }
        self.open = true;
        self.show(decision, out);
    }

    fn withdraw(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.open) {
            self.say(out, "\nthe game moved on by itself; the menu above is out of date\n");
        }
    }

    fn refused(&mut self, error: &str, out: &mut Out) {
        self.say(out, &format!("the game refused that: {}\n", printable(error)));
    }

    fn receive(&mut self, piece: Piece<'_>, open: Option<&Decision>, out: &mut Out) -> Result<PlayerReply, Failure> {
        let Piece::Line(line) = piece else {
            return Ok(PlayerReply::Nothing); // a terminal does not give lines that long
        };
        let text = lines::text(line.body());
        match (text.trim(), open) {
            ("quit", _) => return Ok(PlayerReply::Stop(Status::Success)),
            ("q" | "state", _) => {
                self.open = false;
                return Ok(PlayerReply::Ask("state".to_owned()));
            }
            ("?", Some(decision)) => {
                self.say(out, HELP);
                self.show(decision, out);
            }
            ("?", None) => self.say(out, HELP),
            ("", Some(_)) => self.say(out, PROMPT),
            ("", None) => {}
            (_, None) => self.say(out, "nothing to choose now: the game has not answered yet\n"),
            (answer, Some(decision)) => match decision.read(answer) {
                Ok(reply) => {
                    self.open = false;
                    return Ok(reply);
                }
                Err(why) => self.say(out, &format!("the answer {} (? for help)\n{PROMPT}", printable(&why))),
            },
        }
        Ok(PlayerReply::Nothing)
    }

    fn closed(&mut self) -> PlayerReply {
        PlayerReply::Stop(Status::Success)
    }
}
