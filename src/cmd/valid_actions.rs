//! `valid-actions`: adds the player's legal actions to each message of the Spire mod.

use super::options::LimitOptions;
use super::{Command, needs_input, usage};
use crate::cmd::options::{TOO_DEEP, TOO_LONG};
use crate::cmd::spire_screen::Screen;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use pipewright_games::spire::legal_actions::legal_actions;
use pipewright_games::spire::message::Message;
use pipewright_games::spire::offer;
use pipewright_games::spire::targets::without_target;
use pipewright_io::between::{Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{self as lines, Limits, Line, Piece, why_not_json};
use pipewright_sys::signal::Signals;
use serde::de::IgnoredAny;
use std::sync::Arc;

/// Add the legal actions to each message of the Slay the Spire mod
///
/// Reads CommunicationMod's messages, one JSON object per line, and writes each out byte for byte with one field added:
/// "valid_actions":[{"action_id","cmd","label"}]. The ids are those of the action table, which has 173 actions; "cmd" is the mod command; "label"
/// names the card, target, reward or price as the player sees it. A living monster past the sixth has the ids of a gone one. The list is empty while the game is not ready, in menus, and
/// for error messages. Any other line passes unchanged.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// Print only {"action_ids":[...]} for each message; with --text, its text as one line
    #[arg(long)]
    bare: bool,
    /// Print each message as text for people: the state, and the legal actions with their ids (those in the message, if it has
    /// them)
    #[arg(long)]
    text: bool,
    /// Stop at the first line that cannot be read
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    limits: LimitOptions,
}

/// Fits most terminals.
const TEXT_WIDTH: usize = 80;

const NAME: &str = "valid-actions";
const AFTER_HELP: &str = "\
Examples:
  A Spire bot in one line, as the mod's command:
    echo ready; valid-actions | jq --unbuffered -r 'if .error then \"state\" else .valid_actions[0].cmd // empty end'
  Count the choices at each step of a recorded session:
    valid-actions --bare < session.jsonl | jq '.action_ids | length'
  Show a recorded session as its player saw it:
    valid-actions --text < session.jsonl | less
  Give a model each state as a prompt of one line; line feeds are written as \\n:
    sts-proxy -- sh -c 'valid-actions --text --bare | llm-pipe --bare -m MODEL --system @prompt.md'

Exit status:
  0 success; 1 a line could not be read (it was passed on), or a living monster has no id; 2 wrong usage. See \
  pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    needs_input("the mod's messages")?;
    let report = Arc::new(Report::new(NAME, false));
    let Arguments { bare, text, strict, limits } = arguments;
    let limits = Limits::from(limits);
    let stage = ActionsFilter { bare, text, strict, limits, report: Arc::clone(&report), actions_json: Vec::new() };
    between(Box::new(stage), Sides { limits, ..Sides::default() }, signals, &report)
}

struct ActionsFilter {
    bare: bool,
    text: bool,
    strict: bool,
    limits: Limits,
    report: Arc<Report>,
    actions_json: Vec<u8>,
}

impl Stage for ActionsFilter {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        let Event::Piece(side, piece) = event else {
            return Ok(());
        };
        match piece {
            Piece::Line(line) => self.add(&line, side, out),
            Piece::Part { bytes, number, last } => {
                out.opposite(side).extend_from_slice(bytes);
                if last {
                    self.passed_on(number, format_args!("{TOO_LONG}"), out);
                }
            }
        }
        Ok(())
    }
}

impl ActionsFilter {
    fn add(&mut self, line: &Line<'_>, side: Side, out: &mut Out) {
        let body = line.body();
        let text = lines::text(body);
        if lines::deeper_than(body, self.limits.max_depth) {
            out.opposite(side).extend_from_slice(line.raw());
            return self.passed_on(line.number(), format_args!("{TOO_DEEP}"), out);
        }
        match Message::read(&text) {
            Ok(Some(message)) => {
                for note in message.combat_state().filter(|_| message.is_ready()).into_iter().flat_map(without_target) {
                    self.report.fault(format_args!("stdin:{}", line.number()), note);
                }
                self.write(line, &text, &message, out.opposite(side));
            }
            Ok(None) => {
                out.opposite(side).extend_from_slice(line.raw());
                // Not an object; perhaps not JSON at all.
                if !text.trim_start().starts_with('{')
                    && !line.is_blank()
                    && let Err(error) = serde_json::from_str::<IgnoredAny>(&text)
                {
                    self.passed_on(line.number(), format_args!("not JSON: {}", why_not_json(&error)), out);
                }
            }
            Err(error) => {
                out.opposite(side).extend_from_slice(line.raw());
                self.passed_on(line.number(), format_args!("cannot be read: {}", why_not_json(&error)), out);
            }
        }
    }

    fn write(&mut self, line: &Line<'_>, text: &str, message: &Message<'_>, out: &mut Vec<u8>) {
        if self.text {
            return self.draw(message, out);
        }
        let actions = legal_actions(message);
        if self.bare {
            offer::write_bare(&actions, out);
        } else {
            self.actions_json.clear();
            offer::write_actions(message, &actions, &mut self.actions_json);
            offer::set(line, text, message, &self.actions_json, out);
        }
    }

    fn draw(&self, message: &Message<'_>, out: &mut Vec<u8>) {
        let actions = offer::offered(message).unwrap_or_else(|| legal_actions(message));
        let screen = Screen { width: if self.bare { None } else { Some(TEXT_WIDTH) }, color: false };
        let text = screen.draw(message, &actions);
        if self.bare {
            // As `llm-pipe --bare` writes its answers: a line feed is the only control character in a drawing.
            out.extend_from_slice(text.trim_end().replace('\n', "\\n").as_bytes());
            out.push(b'\n');
        } else {
            out.extend_from_slice(text.as_bytes());
        }
    }

    fn passed_on(&self, number: u64, why: std::fmt::Arguments<'_>, out: &mut Out) {
        self.report.fault(format_args!("stdin:{number}"), format_args!("{why}; passed on unchanged"));
        if self.strict {
            out.stop(Status::Fault);
        }
    }
}
