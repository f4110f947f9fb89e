//! The cache of paid turns: a folder with one file per request.

use super::endpoint::Endpoint;
use crate::cmd::usage;
use pipewright_io::report::Failure;
use pipewright_record::{Attempts, ModelTurn, Stop};
use pipewright_sys::{file, private, regular};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The longest entry that is read, in bytes.
const MAX_ENTRY: u64 = 256 << 20;

/// The folder, for requests to one model at one server.
pub struct Cache {
    folder: PathBuf,
    /// The hash of everything but the body that distinguishes requests.
    beginning: Sha256,
    provider: &'static str,
}

/// The file of a request's turn.
pub struct Entry(PathBuf);

impl Cache {
    /// Opens a folder; creates it if it is missing.
    ///
    /// # Errors
    /// [`usage`]: the folder cannot be created or used.
    pub fn open(folder: &Path, endpoint: &Endpoint) -> Result<Cache, Failure> {
        let wrong = |why: &dyn std::fmt::Display| usage(format_args!("--cache: {}: {why}", folder.display()));
        let made = private::folder().recursive(true).create(folder);
        made.map_err(|error| wrong(&error))?;
        let found = fs::metadata(folder).map_err(|error| wrong(&error))?;
        if file::others_can_write(&found) || !file::is_ours(&found) {
            return Err(wrong(&"other users could write answers there: the folder must be yours, with chmod go-w"));
        }
        let mut beginning = Sha256::new();
        for text in [endpoint.provider.name(), &endpoint.url] {
            beginning.update(text);
            beginning.update([0]);
        }
        Ok(Cache { folder: folder.to_owned(), beginning, provider: endpoint.provider.name() })
    }

    /// The file of the turn for the request with this body.
    pub fn entry(&self, body: &str) -> Entry {
        let mut name = String::new();
        for byte in self.beginning.clone().chain_update(body).finalize() {
            let _ = write!(name, "{byte:02x}");
        }
        Entry(self.folder.join(name + ".json"))
    }

    /// Reads the stored turn, if there is one. It counts no tokens.
    ///
    /// # Errors
    /// The file cannot be read, or was not written by llm-pipe.
    pub fn read(&self, entry: &Entry) -> Result<Option<ModelTurn>, String> {
        let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", entry.0.display());
        match regular::read_text(&entry.0, MAX_ENTRY) {
            Ok(text) => ModelTurn::read(text.trim_end(), self.provider).map(Some).map_err(|why| failed(&why)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Stores a turn, unless a repeated request may give a better one: after a length limit or a refusal.
    ///
    /// # Errors
    /// The file cannot be written; no partial file is left.
    pub fn write(&self, entry: &Entry, turn: &ModelTurn) -> Result<(), String> {
        if !matches!(turn.stop, Stop::End | Stop::Call) {
            return Ok(());
        }
        let chance = RandomState::new().hash_one(&entry.0);
        let new = entry.0.with_extension(format!("{chance:x}.new"));
        let text = turn.record(None, Attempts::default()) + "\n";
        let written = write_new(&new, &text).and_then(|()| fs::rename(&new, &entry.0));
        written.map_err(|error| {
            // A partial file would never be used.
            let _ = fs::remove_file(&new);
            format!("{}: {error}", entry.0.display())
        })
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    private::file().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
