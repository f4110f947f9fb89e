//! Reading a line that may be a call, for gates and worlds.

use crate::cmd::options::{Limit, TOO_DEEP, TOO_LONG};
use pipewright_lines::{Piece, deeper_than};
use pipewright_record::{Call, Kind, Unreadable, looks_like_json_rpc, recognise};
use serde_json::value::RawValue;
use std::time::Duration;

/// Reads the lines of the near side.
#[derive(Debug)]
pub struct Intake {
    max_depth: usize,
    /// Whether the over-long line that is being skipped looks like JSON-RPC.
    overlong_is_json_rpc: bool,
}

/// A classified piece of the near side's input.
pub enum IntakeItem<'a> {
    /// A line of white space.
    Blank,
    /// A part of an over-long line, but not its last.
    Skipped,
    /// A call, and the text of its line.
    Call(&'a str, Call<'a>),
    /// The text of another record.
    Record(&'a str),
    /// A line that no world carries out and no gate passes on: [`Unreadable::refusal`] answers it.
    Refused(Kind, Unreadable),
}

impl Intake {
    /// Lines that are nested deeper than `max_depth` are refused.
    pub fn new(max_depth: usize) -> Intake {
        Intake { max_depth, overlong_is_json_rpc: false }
    }

    /// Reads a line, or a part of one that is too long. Of such a line, the last part is refused.
    pub fn read<'a>(&mut self, piece: &Piece<'a>) -> IntakeItem<'a> {
        match piece {
            Piece::Line(line) if line.is_blank() => IntakeItem::Blank,
            Piece::Line(line) => match read(line.body(), self.max_depth) {
                Ok((text, Some(call))) => IntakeItem::Call(text, call),
                Ok((text, None)) => IntakeItem::Record(text),
                Err(error) => IntakeItem::Refused(Kind::BadInput, error),
            },
            Piece::Part { bytes, last, .. } => {
                self.overlong_is_json_rpc |= looks_like_json_rpc(bytes);
                if !last {
                    return IntakeItem::Skipped;
                }
                let is_json_rpc = std::mem::take(&mut self.overlong_is_json_rpc);
                IntakeItem::Refused(Kind::TooLarge, Unreadable::new(TOO_LONG).in_json_rpc(is_json_rpc))
            }
        }
    }
}

/// The text of a line and the call in it; `None` if the line is another record.
fn read(line: &[u8], max_depth: usize) -> Result<(&str, Option<Call<'_>>), Unreadable> {
    let unreadable = |why| Unreadable::new(why).in_form_of(line);
    if deeper_than(line, max_depth) {
        return Err(unreadable(TOO_DEEP));
    }
    let text = std::str::from_utf8(line).map_err(|_| unreadable("it is not UTF-8"))?;
    Ok((text, recognise(text)?))
}

/// The call's own `timeout`: a number of seconds, or a text in the format of the commands' options.
///
/// # Errors
/// Why it is invalid.
pub fn timeout(call: &Call<'_>) -> Result<Option<Limit>, String> {
    let Some(value) = call.timeout.map(RawValue::get).filter(|value| *value != "null") else { return Ok(None) };
    let text = serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned());
    text.parse().map(Some).map_err(|why| format!("\"timeout\": {why}"))
}

/// The time limit of a call; `None` means no limit. A call with an unreadable timeout gets the `usual` one.
pub fn time_limit(call: &Call<'_>, usual: Option<Duration>) -> Option<Duration> {
    timeout(call).ok().flatten().map_or(usual, |own| own.0)
}
