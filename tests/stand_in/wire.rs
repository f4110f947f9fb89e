//! The two transports, on the game's side.

use serde::Deserialize;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

pub enum Wire {
    Files { folder: PathBuf, commands: (u64, BufReader<File>), responses: (u64, File) },
    Socket { from: Box<dyn BufRead>, to: Box<dyn Write>, hang_up: Box<dyn FnOnce()> },
    HungUp,
}

type Ends = (Box<dyn Read>, Box<dyn Write>, Box<dyn FnOnce()>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pointer {
    next: String,
}

fn path(folder: &Path, stem: &str, number: u64) -> PathBuf {
    let number = if number == 1 { String::new() } else { format!(".{number}") };
    folder.join(format!("{stem}{number}.jsonl"))
}

fn open(path: &Path) -> File {
    OpenOptions::new().read(true).append(true).create(true).open(path).unwrap()
}

impl Wire {
    pub fn open(folder: &Path) -> Wire {
        let commands = (1, BufReader::new(open(&path(folder, "cmd", 1))));
        Wire::Files { folder: folder.to_owned(), commands, responses: (1, open(&path(folder, "resp", 1))) }
    }

    pub fn dial(address: &str, token: &str) -> Wire {
        let greeting = format!("{{\"hello\":\"agent_bridge\",\"protocol\":\"1.0\",\"token\":\"{token}\"}}\n");
        #[cfg(unix)]
        let by_path = address.strip_prefix("unix:").map(|path| UnixStream::connect(path).unwrap());
        #[cfg(not(unix))]
        let by_path: Option<TcpStream> = None;
        let (from, mut to, hang_up): Ends = if let Some(socket) = by_path {
            let (from, twin) = (socket.try_clone().unwrap(), socket.try_clone().unwrap());
            (Box::new(from), Box::new(socket), Box::new(move || twin.shutdown(std::net::Shutdown::Both).unwrap()))
        } else {
            let socket = TcpStream::connect(address.strip_prefix("tcp:").unwrap()).unwrap();
            let (from, twin) = (socket.try_clone().unwrap(), socket.try_clone().unwrap());
            (Box::new(from), Box::new(socket), Box::new(move || twin.shutdown(std::net::Shutdown::Both).unwrap()))
        };
        to.write_all(greeting.as_bytes()).unwrap();
        Wire::Socket { from: Box::new(BufReader::new(from)), to, hang_up }
    }

    /// The next line; `None` after the other side has disconnected.
    pub fn read(&mut self) -> Option<String> {
        let mut line = String::new();
        match self {
            Wire::Files { folder, commands: (number, file), .. } => loop {
                while !line.ends_with('\n') {
                    if file.read_line(&mut line).unwrap() == 0 {
                        sleep(Duration::from_millis(1));
                    }
                }
                let Ok(Pointer { next }) = serde_json::from_str(&line) else { return Some(line) };
                fs::remove_file(path(folder, "cmd", *number)).unwrap();
                *number += 1;
                *file = BufReader::new(File::open(folder.join(next)).unwrap());
                line.clear();
            },
            Wire::Socket { from, .. } => (from.read_line(&mut line).unwrap_or(0) > 0).then_some(line),
            Wire::HungUp => None,
        }
    }

    pub fn write(&mut self, bytes: &[u8]) {
        match self {
            Wire::Files { responses: (_, file), .. } => file.write_all(bytes).unwrap(),
            // The other side may have disconnected.
            Wire::Socket { to, .. } => drop(to.write_all(bytes)),
            Wire::HungUp => {}
        }
    }

    /// Continues in the next file of responses.
    pub fn go_on_in_the_next(&mut self) {
        let Wire::Files { folder, responses: (number, file), .. } = self else { return };
        *number += 1;
        let next = path(folder, "resp", *number);
        let pointer = format!("{{\"next\":\"{}\"}}\n", next.file_name().unwrap().to_str().unwrap());
        let mut full = std::mem::replace(file, open(&next));
        full.write_all(pointer.as_bytes()).unwrap();
    }

    pub fn hang_up(&mut self) {
        if let Wire::Socket { hang_up, .. } = std::mem::replace(self, Wire::HungUp) {
            hang_up();
        }
    }
}
