//! A private file for each session of a harness, which the hooks of its calls share.

use pipewright_policy::audit::sha256;
use pipewright_record::hook::HookCall;
use pipewright_sys::{private, run_folder};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The files of sessions that have written nothing for this long are removed.
const MAX_AGE: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// An open file, locked until it is dropped.
pub struct SessionFile(File);

impl SessionFile {
    /// The text of the file for `purpose`; empty if there is none, or the input names no session.
    pub fn read(purpose: &str, hook: &HookCall) -> String {
        let read = || -> io::Result<String> {
            let file = File::open(run_folder::home()?.join(purpose).join(name(hook)?))?;
            file.lock_shared()?;
            SessionFile(file).text()
        };
        read().unwrap_or_default()
    }

    /// Opens the file for `purpose` to change it.
    ///
    /// # Errors
    /// It cannot be written, or the input names no session.
    pub fn open(purpose: &str, hook: &HookCall) -> io::Result<SessionFile> {
        let folder = run_folder::home()?.join(purpose);
        match private::folder().create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => remove_old(&folder),
        }
        let path = folder.join(name(hook)?);
        let file = private::file().read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        Ok(SessionFile(file))
    }

    /// As [`SessionFile::open`], if there is a file.
    ///
    /// # Errors
    /// As there.
    pub fn open_existing(purpose: &str, hook: &HookCall) -> io::Result<Option<SessionFile>> {
        let path = run_folder::home()?.join(purpose).join(name(hook)?);
        let file = match private::file().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        file.lock()?;
        Ok(Some(SessionFile(file)))
    }

    pub fn text(&mut self) -> io::Result<String> {
        let mut text = String::new();
        self.0.seek(SeekFrom::Start(0))?;
        self.0.read_to_string(&mut text)?;
        Ok(text)
    }

    pub fn replace(&mut self, text: &str) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(text.as_bytes())
    }
}

fn name(hook: &HookCall) -> io::Result<String> {
    let session = hook.session.as_deref().ok_or_else(|| io::Error::other("the input names no session"))?;
    Ok(sha256(format!("{}\n{session}", hook.harness.name).as_bytes())[..32].to_owned())
}

fn remove_old(folder: &Path) {
    let is_old = |path: &Path| {
        let written = path.metadata().and_then(|file| file.modified());
        written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > MAX_AGE))
    };
    // Leftovers that cannot be removed are no reason to fail.
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(|path| is_old(path)).for_each(|path| _ = fs::remove_file(path));
}
