//! `jsonl-record`: in a pipe, around a child, with existing files, with files that change during the run, and after a kill.

mod file;
mod filtered;
mod full_disk;
mod killed;
mod pipe;
mod removed;
mod rotation;
mod wrapped;

use crate::log::Log;
use crate::process::{binary, command};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder, and the path of the log in it, which does not exist yet.
fn new_log() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.jsonl");
    (folder, file)
}

fn record(file: &Path) -> Command {
    let mut record = command("jsonl-record");
    record.arg(file);
    record
}

/// `jsonl-record FILE -- sh -c SCRIPT`.
fn wrap(file: &Path, script: &str) -> Command {
    let mut record = record(file);
    record.args(["--", "sh", "-c", script]);
    record
}

const ODD: &[&[u8]] = &[
    b"\xef\xbb\xbf{\"big\":12345678901234567890,\"f\":1.10}\r\n",
    b"\n",
    b" \t \r\n",
    b" {} \n",
    b"{\"nul\":\"\0\"}\n",
    b"\0\0\0\n",
    b"\xff\xfe\n",
    b"{\"gbk\":\"\xb4\xf2\"}\n",
    b"{\"a\":1}\r{\"b\":2}\n",
    b"{\"dup\":1,\"dup\":2}\n",
    b"{\"half a pair\":\"\\ud800\",\"far\":1e999}\n",
    b"{\"t\":1,\"seq\":1,\"dir\":\"in\",\"msg\":{}}\n",
    b"\xef\xbb\xbf{}\n",
    b"null\n",
    b"\"no line feed at the end\"",
];

/// A recorder whose files are limited to this number of blocks of 512 bytes, which looks like a full disk.
fn record_on_a_small_disk(blocks: u32, file: &Path) -> Command {
    let mut shell = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    shell.args(["-c", &script, "sh"]).arg(binary("jsonl-record")).arg(file);
    shell
}

fn line(number: usize) -> String {
    format!("{{\"number\":{number},\"pad\":\"{}\"}}", "x".repeat(400))
}

/// `FILE.N`.
fn rotated(file: &Path, number: usize) -> PathBuf {
    PathBuf::from(format!("{}.{number}", file.display()))
}

/// A log with its existing rotated files. A recorder that was killed during renaming leaves a gap in their numbers.
fn read_with_rotated(file: &Path) -> Log {
    let prefix = format!("{}.", file.file_name().unwrap().to_str().unwrap());
    let number = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix(&prefix)?.parse::<usize>().ok();
    let entries = std::fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| number(path).is_some()).collect();
    files.sort_by_key(|path| std::cmp::Reverse(number(path)));
    files.push(file.to_owned());
    Log::read_all(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>())
}
