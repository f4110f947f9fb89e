//! Crash-safe files of appended lines: complete lines only, one writer at a time, synced on request.

use pipewright_sys::descriptor::AsDescriptor;
use pipewright_sys::file::{self, Identity, State};
use pipewright_sys::private;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file of lines that is open for appending. Others may read it; another [`Appender`] is refused.
#[derive(Debug)]
pub struct Appender {
    file: File,
    path: PathBuf,
    /// The end of the last complete line.
    end: u64,
    /// Whether it is a regular file, and not a device or a pipe, which can be neither truncated nor synced.
    is_regular: bool,
    /// A part of a line may follow `end`.
    is_torn: bool,
}

/// What another process did to an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incident {
    /// Its name was removed, and with it the file, unless the file is written again.
    Removed,
    /// The file was removed, and its name is that of another file.
    Replaced,
    /// The file was truncated.
    Truncated,
}

/// The torn last line of a file: one that its writer did not finish.
#[derive(Debug, PartialEq, Eq)]
pub struct Torn {
    /// Its length.
    pub bytes: u64,
    /// The file they were moved to.
    pub moved_to: PathBuf,
}

/// Why a file cannot be opened for appending.
#[derive(Debug)]
pub enum OpenError {
    /// Another process is appending to it.
    Busy,
    /// Why the file may not be continued.
    Refused(String),
    /// An I/O error.
    Io(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> OpenError {
        OpenError::Io(error)
    }
}

impl Appender {
    /// Creates a new file that only its owner can read.
    ///
    /// # Errors
    /// Any I/O error, also if the file exists already.
    pub fn create(path: &Path) -> io::Result<Appender> {
        let file = create(path)?;
        sync_name(path)?;
        Ok(Appender { file, path: path.to_owned(), end: 0, is_regular: true, is_torn: false })
    }

    /// Opens a file to continue it, or creates it. `check` inspects an existing file before anything in it is changed.
    ///
    /// # Errors
    /// As [`Appender::resume`]; [`OpenError::Refused`] with the error of `check`.
    pub fn open(
        path: &Path,
        check: impl FnOnce() -> Result<(), String>,
    ) -> Result<(Appender, Option<Torn>), OpenError> {
        match Appender::resume_checked(path, check) {
            Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::NotFound => match Appender::create(path) {
                Ok(created) => Ok((created, None)),
                // Another process was quicker to create the file, or to lock it.
                Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::WouldBlock) => {
                    Err(OpenError::Busy)
                }
                Err(error) => Err(error.into()),
            },
            opened => opened,
        }
    }

    /// Opens an existing file, to continue after its last complete line. A torn tail is set aside: appended,
    /// with a line feed, to the file with `.torn` added to its name, and synced there before it is truncated here.
    ///
    /// # Errors
    /// [`OpenError::Busy`] if another process appends to it.
    pub fn resume(path: &Path) -> Result<(Appender, Option<Torn>), OpenError> {
        Appender::resume_checked(path, || Ok(()))
    }

    fn resume_checked(
        path: &Path,
        check: impl FnOnce() -> Result<(), String>,
    ) -> Result<(Appender, Option<Torn>), OpenError> {
        let is_regular = !file::is_special(path);
        let mut file = OpenOptions::new().read(is_regular).append(true).open(path)?;
        if is_regular {
            file::lock_for_writing(&file).map_err(|error| match error {
                TryLockError::WouldBlock => OpenError::Busy,
                TryLockError::Error(error) => OpenError::Io(error),
            })?;
        }
        if is_regular {
            check().map_err(OpenError::Refused)?;
        }
        let length = if is_regular { file.metadata()?.len() } else { 0 };
        let end = last_line_feed(&mut file, length)?;
        let torn = (end < length).then(|| set_aside(&mut file, path, end, length)).transpose()?;
        let appender = Appender { file, path: path.to_owned(), end, is_regular, is_torn: false };
        Ok((appender, torn))
    }

    /// What happened to the file since its last line was written, if anything.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn incident(&self) -> io::Result<Option<Incident>> {
        let state = State::of(&self.file)?;
        Ok(match state.is_removed {
            _ if !self.is_regular => None,
            true if self.path.symlink_metadata().is_ok() => Some(Incident::Replaced),
            true => Some(Incident::Removed),
            false => (state.length < self.end).then_some(Incident::Truncated),
        })
    }

    /// Appends lines (each with its line feed) in one write: when this returns, they are in the kernel, and
    /// a crash of this process loses none of them. If only a part could be written (a full disk), the file is
    /// truncated to its last complete line. A file whose name was removed is written again.
    ///
    /// # Errors
    /// The error of the write; the file then contains nothing of `lines`.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let incident = self.incident()?;
        self.append_after(incident, lines)
    }

    /// Appends lines as [`Appender::append`] does, after what [`Appender::incident`] has just given.
    ///
    /// # Errors
    /// As [`Appender::append`].
    pub fn append_after(&mut self, incident: Option<Incident>, lines: &[u8]) -> io::Result<()> {
        match incident {
            Some(Incident::Removed | Incident::Replaced) => self.write_again()?,
            Some(Incident::Truncated) => self.end_torn_line()?,
            None => {}
        }
        self.cut_off()?;
        let written = self.file.write_all(lines);
        match written {
            Ok(()) => self.end += lines.len() as u64,
            Err(_) => {
                self.is_torn = true;
                // If that fails too, it is tried again before the next write.
                let _ = self.cut_off();
            }
        }
        written
    }

    /// Writes what is in the removed file to a new one, since nothing else keeps it.
    fn write_again(&mut self) -> io::Result<()> {
        let failed = |error| io::Error::other(format!("it was removed, and cannot be written again: {error}"));
        let mut again = create(&self.path).map_err(failed)?;
        let copied = (&self.file)
            .seek(SeekFrom::Start(0))
            .and_then(|_| io::copy(&mut (&self.file).take(self.end), &mut again))
            .and_then(|_| sync_name(&self.path));
        if let Err(error) = copied {
            // An incomplete copy would be taken for the whole file; it holds nothing that the removed one does not.
            let _ = std::fs::remove_file(&self.path);
            return Err(failed(error));
        }
        (self.file, self.is_torn) = (again, false);
        Ok(())
    }

    /// The next line must not become a part of one that was cut off in the middle.
    fn end_torn_line(&mut self) -> io::Result<()> {
        self.end = self.file.metadata()?.len();
        if self.end > 0 {
            self.file.write_all(b"\n")?;
            self.end += 1;
        }
        Ok(())
    }

    fn cut_off(&mut self) -> io::Result<()> {
        if self.is_torn && self.is_regular {
            // Another process may have truncated it meanwhile: never extend it.
            let length = self.file.metadata()?.len();
            file::truncate(&self.file, self.end.min(length))?;
        }
        self.is_torn = false;
        Ok(())
    }

    /// Waits until all appended lines are on disk (fdatasync).
    ///
    /// # Errors
    /// The error of the sync; the lines may not survive a power loss.
    pub fn sync(&self) -> io::Result<()> {
        if self.is_regular { self.file.sync_data() } else { Ok(()) }
    }

    /// As [`Appender::sync`], on a separate thread, which calls `failed` on an error.
    pub fn sync_aside(&self, failed: impl FnOnce(io::Error) + Send + 'static) {
        if !self.is_regular {
            return;
        }
        match self.file.try_clone() {
            Ok(file) => {
                std::thread::spawn(move || file.sync_data().unwrap_or_else(failed));
            }
            Err(error) => failed(error),
        }
    }

    /// Lets others append to it: nothing more is appended here, but a sync may still be in progress.
    pub fn release(&self) {
        // If that fails, it is released when the sync has ended.
        let _ = file::unlock_for_writing(&self.file);
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        self.end
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Whether it is a regular file, and not a device or a pipe.
    pub fn is_regular(&self) -> bool {
        self.is_regular
    }

    /// Whether `other` is the same file. False for devices, since several descriptors may be /dev/null.
    pub fn same_file(&self, other: impl AsDescriptor) -> bool {
        file::is_same(&self.file, other)
    }

    /// Whether its path still names the open file, which may have been renamed.
    pub fn path_names_it(&self) -> bool {
        let named = Identity::at(&self.path);
        Identity::of(&self.file).is_ok_and(|open| named.is_ok_and(|named| open == named))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Searches the complete lines among the last `most` bytes of a file backwards, and returns the first result of `find`.
/// Reads only as much as is needed.
///
/// # Errors
/// If the file cannot be read.
pub fn find_last<T>(path: &Path, most: u64, find: impl Fn(&[u8]) -> Option<T>) -> io::Result<Option<T>> {
    let most = most.min(path.metadata()?.len());
    // Most lines are short.
    let mut size = 64 << 10;
    loop {
        let lines = last_lines(path, size)?;
        let whole = lines.strip_suffix(b"\n");
        let found = whole.and_then(|lines| lines.rsplit(|&byte| byte == b'\n').find_map(&find));
        if found.is_some() || size >= most {
            return Ok(found);
        }
        size *= 16;
    }
}

/// The complete lines among the last `most` bytes of a file.
fn last_lines(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(most);
    file.seek(SeekFrom::Start(start))?;
    let mut lines = Vec::new();
    file.take(most).read_to_end(&mut lines)?;
    lines.truncate(memchr::memrchr(b'\n', &lines).map_or(0, |at| at + 1));
    if start > 0 {
        let first = memchr::memchr(b'\n', &lines).map_or(lines.len(), |at| at + 1);
        lines.drain(..first);
    }
    Ok(lines)
}

/// Creates and locks a new file. It can be read, too, since [`Appender::append`] may have to write it again.
fn create(path: &Path) -> io::Result<File> {
    let file = private::file().read(true).append(true).create_new(true).open(path)?;
    file::lock_for_writing(&file).map_err(io::Error::from)?;
    Ok(file)
}

/// Waits until the file's name is on disk, in its folder.
fn sync_name(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    file::sync_folder(folder)
}

/// The position after the last line feed, or 0.
fn last_line_feed(file: &mut File, length: u64) -> io::Result<u64> {
    let mut block = [0; 4096];
    let mut end = length;
    while end > 0 {
        let size = end.min(block.len() as u64);
        // At most a block's length, so it fits.
        let block = &mut block[..size as usize];
        file.seek(SeekFrom::Start(end - size))?;
        file.read_exact(block)?;
        if let Some(at) = memchr::memrchr(b'\n', block) {
            return Ok(end - size + at as u64 + 1);
        }
        end -= size;
    }
    Ok(0)
}

fn set_aside(file: &mut File, path: &Path, from: u64, to: u64) -> io::Result<Torn> {
    let mut name = path.as_os_str().to_owned();
    name.push(".torn");
    let moved_to = PathBuf::from(name);
    let mut aside = private::file().append(true).create(true).open(&moved_to)?;
    file.seek(SeekFrom::Start(from))?;
    let bytes = io::copy(&mut file.take(to - from), &mut aside)?;
    aside.write_all(b"\n")?;
    aside.sync_data()?;
    sync_name(&moved_to)?;
    file::truncate(file, from)?;
    Ok(Torn { bytes, moved_to })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Each waits for the disk three times.
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn complete_lines_stay_and_the_rest_is_set_aside(
            before in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..9000),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            std::fs::write(&path, &before).unwrap();
            let (mut appender, torn) = Appender::resume(&path).unwrap();
            appender.append(b"next\n").unwrap();
            let whole = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            prop_assert_eq!(std::fs::read(&path).unwrap(), [&before[..whole], b"next\n"].concat());
            prop_assert_eq!(torn.is_some(), whole < before.len());
            if let Some(torn) = torn {
                prop_assert_eq!(std::fs::read(torn.moved_to).unwrap(), [&before[whole..], b"\n"].concat());
            }
        }
    }

    #[test]
    fn a_torn_tail_is_set_aside_and_never_fused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        for tail in [b"{\"half\":".to_vec(), vec![b'x'; 10_000]] {
            std::fs::write(&path, [b"{\"whole\":1}\n", tail.as_slice()].concat()).unwrap();
            let (mut appender, torn) = Appender::resume(&path).unwrap();
            let torn = torn.unwrap();
            assert_eq!(torn.bytes, tail.len() as u64);
            appender.append(b"{\"next\":2}\n").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"{\"whole\":1}\n{\"next\":2}\n");
            let aside = std::fs::read(&torn.moved_to).unwrap();
            assert!(aside.ends_with(&[tail.as_slice(), b"\n"].concat()));
        }
    }

    #[test]
    fn a_complete_file_is_continued() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let mut first = Appender::create(&path).unwrap();
        first.append(b"1\n").unwrap();
        assert!(matches!(Appender::resume(&path), Err(OpenError::Busy)));
        drop(first);
        let (mut second, torn) = Appender::resume(&path).unwrap();
        assert_eq!(torn, None);
        second.append(b"2\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"1\n2\n");
        assert!(Appender::create(&path).is_err(), "a new file does not replace an existing one");
    }

    #[test]
    fn a_file_with_only_a_torn_line_is_emptied_and_its_bytes_are_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        std::fs::write(&path, "half").unwrap();
        let (_, torn) = Appender::resume(&path).unwrap();
        assert_eq!(std::fs::read(torn.unwrap().moved_to).unwrap(), b"half\n");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    }
}
