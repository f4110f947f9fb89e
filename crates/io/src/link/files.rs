//! Two growing files in a folder: we append lines to one, the other side appends lines to the other. To limit their
//! growth, a writer continues in the next file, and names it in the last line, `{"next":"cmd.2.jsonl"}`; the reader
//! deletes a file that it has read to such a line.

use super::{LinkPipes, pipes};
use crate::between::Link;
use memchr::{memchr, memrchr};
use pipewright_sys::{file, lock, private};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// After a file exceeds this length, the writer continues in the next one.
const ROTATE_SIZE: u64 = 16 << 20;
/// The longest line that names the next file.
const MAX_POINTER_LEN: usize = 256;
/// For this long after a line was sent or received, the pause between two reads is the short one, then the long one.
const ACTIVE_TIME: Duration = Duration::from_millis(250);
const ACTIVE_PAUSE: Duration = Duration::from_micros(50);
const IDLE_PAUSE: Duration = Duration::from_millis(5);
/// How often to check whether the other side still runs.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// A link over `folder`'s files `to` and `from` (`cmd.jsonl`, `resp.jsonl`), or their latest successors. Missing files
/// are created. Existing lines in `from` are skipped: they were meant for an earlier process. The link ends when
/// `is_running`, which is called periodically, returns false for the other side.
///
/// # Errors
/// Any error in opening the files.
pub fn files(folder: &Path, to: &str, from: &str, is_running: impl Fn() -> bool + Send + 'static) -> io::Result<Link> {
    let (link, LinkPipes { outbound, inbound }) = pipes()?;
    let mut writer = Writer::open(FileSeries::find(folder, to)?)?;
    if is_torn_at(&writer.file, writer.length)? {
        // An earlier process was killed in the middle of a line: ours would be read as the rest of it.
        writer.file.write_all(b"\n")?;
    }
    let mut tail = Tail::open(FileSeries::find(folder, from)?)?;
    let last_active = Arc::new(Mutex::new(Instant::now()));
    let last_sent = Arc::clone(&last_active);
    thread::spawn(move || {
        // After an error the pipe is closed, and the next write to it fails.
        let _ = writer.write_all_from(outbound, &last_sent);
    });
    thread::spawn(move || {
        let _ = tail.read_all_to(inbound, &last_active, &is_running);
    });
    Ok(link)
}

/// A file and its successors: `cmd.jsonl`, `cmd.2.jsonl`, `cmd.3.jsonl`. `number` is that of the file in use.
struct FileSeries {
    folder: PathBuf,
    stem: String,
    number: u64,
}

impl FileSeries {
    /// The series that begins with the file `first_name`. The file with the highest number is in use.
    fn find(folder: &Path, first_name: &str) -> io::Result<FileSeries> {
        let stem = first_name.strip_suffix(".jsonl").unwrap_or(first_name).to_owned();
        let mut number = 1;
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            let numbered = name.to_str().and_then(|name| name.strip_prefix(&stem)?.strip_prefix('.'));
            number = number.max(numbered.and_then(|rest| rest.strip_suffix(".jsonl")?.parse().ok()).unwrap_or(1));
        }
        Ok(FileSeries { folder: folder.to_owned(), stem, number })
    }

    fn name(&self) -> String {
        let FileSeries { stem, number, .. } = self;
        if *number == 1 { format!("{stem}.jsonl") } else { format!("{stem}.{number}.jsonl") }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(self.name())
    }

    /// The series when its next file is in use.
    fn successor(&self) -> FileSeries {
        FileSeries { folder: self.folder.clone(), stem: self.stem.clone(), number: self.number + 1 }
    }

    /// Opens the file in use, or creates it for its owner only.
    fn open_or_create(&self) -> io::Result<File> {
        private::file().read(true).append(true).create(true).open(self.path())
    }
}

/// Whether the file ends with an unfinished line at `end`.
fn is_torn_at(file: &File, end: u64) -> io::Result<bool> {
    let mut last = *b"\n";
    if end > 0 {
        file::read_exact_at(file, &mut last, end - 1)?;
    }
    Ok(last != *b"\n")
}

/// Appends lines to the file in use.
struct Writer {
    series: FileSeries,
    file: File,
    length: u64,
}

impl Writer {
    fn open(series: FileSeries) -> io::Result<Writer> {
        let file = series.open_or_create()?;
        let length = file.metadata()?.len();
        Ok(Writer { series, file, length })
    }

    /// Appends lines as they come, only complete ones.
    fn write_all_from(&mut self, mut outbound: impl Read, last_sent: &Mutex<Instant>) -> io::Result<()> {
        let mut held = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match outbound.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            held.extend_from_slice(&buffer[..read]);
            if let Some(end) = memrchr(b'\n', &held) {
                self.append(&held[..=end])?;
                held.drain(..=end);
                *lock(last_sent) = Instant::now();
            }
        }
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)?;
        self.length += lines.len() as u64;
        if self.length > ROTATE_SIZE {
            let mut full = mem::replace(self, Writer::open(self.series.successor())?);
            // Last, so that the next file exists before it is named.
            full.file.write_all(format!("{{\"next\":\"{}\"}}\n", self.series.name()).as_bytes())?;
        }
        Ok(())
    }
}

/// Reads a file as it grows.
struct Tail {
    series: FileSeries,
    file: File,
    /// An unfinished line.
    held: Vec<u8>,
    /// Whether to skip up to the next line feed: the rest of a line that was begun before us.
    skips_rest: bool,
}

impl Tail {
    fn open(series: FileSeries) -> io::Result<Tail> {
        series.open_or_create()?;
        let mut file = File::open(series.path())?;
        let end = file.seek(SeekFrom::End(0))?;
        let skips_rest = is_torn_at(&file, end)?;
        Ok(Tail { series, file, held: Vec::new(), skips_rest })
    }

    /// Passes on lines as they come, until the other side has ended and all is read.
    fn read_all_to(
        &mut self,
        mut inbound: impl Write,
        last_active: &Mutex<Instant>,
        is_running: &impl Fn() -> bool,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 18];
        let mut checked = Instant::now();
        let mut has_ended = false;
        loop {
            let read = match self.file.read(&mut buffer) {
                Ok(0) if has_ended => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if read > 0 {
                self.take(&buffer[..read], &mut inbound)?;
                *lock(last_active) = Instant::now();
                continue;
            }
            if checked.elapsed() > CHECK_INTERVAL {
                checked = Instant::now();
                // The file is read once more: the other side may have written before it ended.
                has_ended = !is_running();
            }
            let is_active = lock(last_active).elapsed() < ACTIVE_TIME;
            thread::sleep(if is_active { ACTIVE_PAUSE } else { IDLE_PAUSE });
        }
    }

    /// Passes on complete lines, and continues in the next file if a line names it.
    fn take(&mut self, mut bytes: &[u8], inbound: &mut impl Write) -> io::Result<()> {
        if self.skips_rest {
            let Some(end) = memchr(b'\n', bytes) else { return Ok(()) };
            (self.skips_rest, bytes) = (false, &bytes[end + 1..]);
        }
        let Some(end) = memrchr(b'\n', bytes) else {
            self.held.extend_from_slice(bytes);
            return Ok(());
        };
        let (complete, unfinished) = bytes.split_at(end + 1);
        self.held.extend_from_slice(complete);
        let last_line = memrchr(b'\n', &self.held[..self.held.len() - 1]).map_or(0, |at| at + 1);
        // Nothing follows a line that names the next file.
        let next = if unfinished.is_empty() { next_file(&self.held[last_line..]) } else { None };
        let lines = if next.is_some() { &self.held[..last_line] } else { &self.held[..] };
        inbound.write_all(lines)?;
        self.held.clear();
        self.held.extend_from_slice(unfinished);
        if let Some(next) = next {
            let successor = self.series.successor();
            // A line with another name is ignored.
            if next == successor.name() {
                self.file = File::open(successor.path())?;
                fs::remove_file(mem::replace(&mut self.series, successor).path())?;
            }
        }
        Ok(())
    }
}

/// The name in a line that names the next file.
fn next_file(line: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pointer {
        next: String,
    }
    if line.len() > MAX_POINTER_LEN || !line.starts_with(b"{\"next\"") {
        return None;
    }
    serde_json::from_slice::<Pointer>(line).ok().map(|pointer| pointer.next)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("pipewright-link-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn tail(folder: &Path) -> Tail {
        Tail::open(FileSeries::find(folder, "resp.jsonl").unwrap()).unwrap()
    }

    #[test]
    fn only_complete_lines_are_passed_on_however_they_are_read() {
        let folder = folder("whole");
        let text = b"{\"a\":1}\n{\"next\":\"elsewhere\"}x\n\n{\"b\":2}\n{\"c\"";
        for size in 1..text.len() {
            let (mut tail, mut received) = (tail(&folder), Vec::new());
            for part in text.chunks(size) {
                tail.take(part, &mut received).unwrap();
            }
            assert_eq!(received, text[..text.len() - 4], "{size}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn lines_torn_before_us_are_skipped_on_both_sides() {
        let folder = folder("torn");
        fs::write(folder.join("cmd.jsonl"), "{\"id\":1,\"cm").unwrap();
        fs::write(folder.join("resp.jsonl"), "{\"ok\":true}\n{\"ok\":t").unwrap();
        let (mut tail, mut received) = (tail(&folder), Vec::new());
        for part in [&b"rue"[..], b"}\n{\"b\"", b":2}\n"] {
            tail.take(part, &mut received).unwrap();
        }
        assert_eq!(received, b"{\"b\":2}\n");
        files(&folder, "cmd.jsonl", "resp.jsonl", || false).unwrap();
        assert_eq!(fs::read(folder.join("cmd.jsonl")).unwrap(), b"{\"id\":1,\"cm\n");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_full_file_is_continued_in_the_next_and_nothing_is_lost() {
        let folder = folder("full");
        let mut tail = tail(&folder);
        let mut writer = Writer::open(FileSeries::find(&folder, "resp.jsonl").unwrap()).unwrap();
        let line = [vec![b'x'; 1 << 20], b"\n".to_vec()].concat();
        let (mut received, mut buffer) = (0, vec![0; 1 << 20]);
        for number in 0..40 {
            writer.append(&line).unwrap();
            if number % 7 == 0 {
                loop {
                    let (read, mut sink) = (tail.file.read(&mut buffer).unwrap(), Vec::new());
                    if read == 0 {
                        break;
                    }
                    tail.take(&buffer[..read], &mut sink).unwrap();
                    received += sink.len();
                }
            }
        }
        assert_eq!(received, 36 * line.len());
        assert_eq!(FileSeries::find(&folder, "resp.jsonl").unwrap().number, 3);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "files that were read are deleted");
        fs::remove_dir_all(folder).unwrap();
    }
}
