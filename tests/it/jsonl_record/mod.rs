//! `jsonl-record`: in a pipe, around a child, which files it takes for a log, what happens to the file meanwhile, and what a
//! kill does to it.

mod file;
mod killed;
mod pipe;
mod trouble;
mod wrapped;

use crate::process::command;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder, and the log in it, which isn't there yet.
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
