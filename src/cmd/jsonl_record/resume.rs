//! Continuing an existing log: checks that it is a log, and finds its next number.

use pipewright_io::append::{Appender, OpenError, find_last};
use pipewright_io::report::Report;
use pipewright_io::rotation::rotated;
use pipewright_log::VERSION;
use pipewright_log::read::numbered;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The first bytes of every log.
const FILE_PREFIX: &[u8] = br#"{"format":"pipewright-log""#;

/// Opens a log or an empty file to append to; reports a torn last line.
pub(super) fn open_file(path: &Path, report: &Report) -> Result<Appender, String> {
    let (file, torn) = Appender::open(path, || check(path)).map_err(|error| match error {
        OpenError::Busy => "another process is recording to it; give another file".to_owned(),
        OpenError::Refused(why) => format!("{why}; give another file"),
        OpenError::Io(error) => error.to_string(),
    })?;
    if let Some(torn) = torn {
        let aside = torn.moved_to.display();
        report
            .fault(path.display(), format_args!("{} bytes of a torn last line were set aside in {aside}", torn.bytes));
    }
    Ok(file)
}

/// Checks that it is a log that this version can continue.
fn check(path: &Path) -> Result<(), String> {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64 << 10).read_to_end(&mut beginning));
    read.map_err(|error| error.to_string())?;
    if beginning.is_empty() {
        return Ok(());
    }
    let first_line = beginning.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_torn_beginning =
        !beginning.contains(&b'\n') && FILE_PREFIX.starts_with(&first_line[..first_line.len().min(FILE_PREFIX.len())]);
    let begins_well = first_line.starts_with(FILE_PREFIX) || is_torn_beginning;
    let newer = |version: Option<u64>| version.filter(|&version| version > VERSION);
    let version = numbered(first_line).and_then(|line| newer(line.version));
    let last = last_of(path, begins_well)?;
    if let Some(version) = version.or_else(|| last.and_then(|last| newer(last.version))) {
        return Err(format!("written by a newer pipewright (log version {version}, known is {VERSION})"));
    }
    if begins_well || last.is_some() { Ok(()) } else { Err("it is not a log of jsonl-record".to_owned()) }
}

/// The number at which the log continues.
pub(super) fn first_seq(file: &Appender) -> Result<u64, String> {
    if !file.is_regular() {
        return Ok(0);
    }
    // The last file may just have been rotated away.
    let before = rotated(file.path(), 1);
    let path = if file.is_empty() && before.is_file() { before.as_path() } else { file.path() };
    let Some(last) = last_of(path, true)? else { return Ok(0) };
    let next = last.seq.checked_add(1).filter(|&next| next < u64::MAX / 2);
    next.ok_or_else(|| format!("its last number is {}, which is too large to continue; give another file", last.seq))
}

/// The last readable line of a log. For a file that may not be a log (`is_log` is false), only the last 1 MiB is
/// searched.
fn last_of(path: &Path, is_log: bool) -> Result<Option<pipewright_log::read::Numbered>, String> {
    let most = if is_log { u64::MAX } else { 1 << 20 };
    find_last(path, most, numbered).map_err(|error| error.to_string())
}
