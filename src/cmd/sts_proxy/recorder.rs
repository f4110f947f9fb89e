//! The record files: one per run, continued when the run continues.

use crate::cmd::usage;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use pipewright_games::spire::run::{Run, RunTransition};
use pipewright_io::append::{Appender, OpenError, find_last};
use pipewright_io::report::{Failure, Report};
use pipewright_sys::private;
use serde::Deserialize;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlayerKind {
    Human,
    Agent,
}

/// Writes records into `{Class}_A{ascension}_{HUMAN|AGENT}_PROXY_{timestamp}.jsonl`.
#[derive(Debug)]
pub(super) struct Recorder {
    folder: PathBuf,
    kind: PlayerKind,
    sync: bool,
    report: Arc<Report>,
    file: Option<Appender>,
    /// Whether a file of an earlier process may hold the beginning of this run.
    joined: bool,
    unsynced: bool,
}

/// How many of the newest files are searched for the run that continues.
const MAX_SEARCHED: usize = 50;

impl Recorder {
    /// # Errors
    /// [`usage`]: the folder cannot be created.
    pub(super) fn new(folder: PathBuf, kind: PlayerKind, sync: bool, report: Arc<Report>) -> Result<Recorder, Failure> {
        private::folder().recursive(true).create(&folder).map_err(|error| {
            let folder = folder.display();
            usage(format_args!(
                "cannot create the folder for records: {folder}: {error}; give another with --data-dir, or --no-record"
            ))
        })?;
        Ok(Recorder { folder, kind, sync, report, file: None, joined: false, unsynced: false })
    }

    /// The run continues, or another begins. Its file is opened at its first record.
    pub(super) fn follow(&mut self, turn: RunTransition) {
        if matches!(turn, RunTransition::New | RunTransition::Joined) {
            self.sync();
            self.file = None;
            self.joined = turn == RunTransition::Joined;
        }
    }

    /// Appends a record. If that fails, the loss is reported and counted, and the game continues.
    pub(super) fn write(&mut self, run: &Run, floor: i64, record: &[u8]) {
        let mut path = self.folder.clone();
        let written = self.file(run, floor).and_then(|file| {
            path = file.path().to_owned();
            file.append(record)
        });
        match written {
            Ok(()) => self.unsynced = true,
            Err(error) => self.report.fault(path.display(), format_args!("a record was lost: {error}")),
        }
    }

    /// Appends a run's last record if its file exists, and closes the file.
    pub(super) fn close(&mut self, run: &Run, floor: i64, record: &[u8]) {
        if self.file.is_none() && std::mem::take(&mut self.joined) {
            self.file = self.resume(run, floor);
        }
        if self.file.is_some() {
            self.write(run, floor, record);
            self.sync();
        }
        self.file = None;
    }

    /// Forces the written records to the disk.
    pub(super) fn sync(&mut self) {
        if !std::mem::take(&mut self.unsynced) || !self.sync {
            return;
        }
        if let Some(file) = &self.file
            && let Err(error) = file.sync()
        {
            self.report.fault(file.path().display(), format_args!("cannot force the records to the disk: {error}"));
        }
    }

    fn file(&mut self, run: &Run, floor: i64) -> io::Result<&mut Appender> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let resumed = if std::mem::take(&mut self.joined) { self.resume(run, floor) } else { None };
                let file = resumed.map_or_else(|| self.create(run), Ok)?;
                self.report.note(format_args!("recording to {}", file.path().display()));
                file
            }
        };
        Ok(self.file.insert(file))
    }

    fn prefix(&self, run: &Run) -> String {
        let kind = match self.kind {
            PlayerKind::Human => "HUMAN",
            PlayerKind::Agent => "AGENT",
        };
        format!("{}_A{}_{kind}_PROXY_", run.class_name(), run.ascension)
    }

    fn create(&self, run: &Run) -> io::Result<Appender> {
        let prefix = self.prefix(run);
        // Names sort by time. Another proxy that writes here may have taken one.
        for _ in 0..1000 {
            let now = Timestamp::now().to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%S%.6fZ");
            match Appender::create(&self.folder.join(format!("{prefix}{now}.jsonl"))) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                created => return created,
            }
        }
        Err(io::Error::other("all 1000 file names are taken"))
    }

    /// The newest file of this run that is not over and that no other process writes to.
    fn resume(&self, run: &Run, floor: i64) -> Option<Appender> {
        let prefix = self.prefix(run);
        let mut names: Vec<PathBuf> = fs::read_dir(&self.folder)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(&prefix) && name.ends_with(".jsonl")
            })
            .collect();
        names.sort_unstable_by_key(|path| std::cmp::Reverse(fs::metadata(path).and_then(|file| file.modified()).ok()));
        let path = names.iter().take(MAX_SEARCHED).find(|path| continues(path, run, floor))?;
        match Appender::resume(path) {
            Ok((appender, torn)) => {
                if let Some(torn) = torn {
                    let aside = torn.moved_to.display();
                    self.report.fault(
                        path.display(),
                        format_args!("{} bytes of a torn last line were set aside in {aside}", torn.bytes),
                    );
                }
                Some(appender)
            }
            Err(OpenError::Busy | OpenError::Refused(_)) => None,
            Err(OpenError::Io(error)) => {
                self.report.fault(path.display(), format_args!("cannot be continued: {error}; starting a new file"));
                None
            }
        }
    }
}

/// The fields of a record that identify its run.
#[derive(Deserialize)]
struct Recorded {
    run: RecordedRun,
    state: RecordedState,
}

#[derive(Deserialize)]
struct RecordedRun {
    seed: Option<i64>,
    floor: i64,
}

/// What a reduced and a complete state have in common.
#[derive(Deserialize)]
struct RecordedState {
    screen_type: Option<String>,
}

/// Whether a file's last complete record belongs to this run, which was not over and not further on then.
fn continues(path: &Path, run: &Run, floor: i64) -> bool {
    /// Far more than two records with full states.
    const TAIL_LEN: u64 = 1 << 20;
    let goes_on = |line: &[u8]| {
        serde_json::from_slice::<Recorded>(line).is_ok_and(|record| {
            record.run.seed == run.seed
                && record.run.floor <= floor
                && record.state.screen_type.as_deref() != Some("GAME_OVER")
        })
    };
    find_last(path, TAIL_LEN, |line| Some(goes_on(line))).is_ok_and(|found| found == Some(true))
}
