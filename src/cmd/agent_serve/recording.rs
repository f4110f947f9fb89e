//! `--replay`: the records of a logged session.

use crate::cmd::agents::MAX_RECORD;
use crate::cmd::log_file::{Entry, LogFile, LogOptions, path, report_problem};
use crate::cmd::usage;
use pipewright_io::report::{Failure, Report};
use pipewright_log::Direction;
use pipewright_log::read::{Content, Found};
use pipewright_record::{recognise, type_of};
use std::ffi::OsStr;

/// Reads the records of a session in order, from a log of jsonl-record around the agent or from a file of records.
///
/// # Errors
/// [`usage`]: the file cannot be read, or contains no record of a session.
pub fn read(file: &OsStr, max_depth: usize, report: &Report) -> Result<Vec<String>, Failure> {
    let failed = |why: &dyn std::fmt::Display| usage(format_args!("--replay: {}: {why}", file.display()));
    let options = LogOptions { max_line: MAX_RECORD, max_depth, time: path(".").map_err(|why| failed(&why))? };
    let mut log = LogFile::open(file, &options)?;
    log.leave_out_times();
    let name = file.to_string_lossy().into_owned();
    let mut records = Vec::new();
    let mut take = |entry: Entry<'_>| match entry.found {
        Found::Message(message) if message.direction != Some(Direction::Err) => {
            if let Content::Json(json) = message.content
                && (type_of(json).is_some() || recognise(json).is_ok_and(|call| call.is_some()))
            {
                records.push(json.to_owned());
            }
        }
        Found::Problem(problem) => report_problem(&problem, &name, entry.line, report),
        _ => {}
    };
    while log.read(&mut take).map_err(|error| failed(&error))? {}
    if records.is_empty() { Err(failed(&"the file contains no record of a session")) } else { Ok(records) }
}
