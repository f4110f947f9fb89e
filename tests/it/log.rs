//! Reads logs with the library's own reader.

use crate::schemas::hold;
use pipewright_lines::{Limits, Paths, Piece, Splitter};
use pipewright_log::Direction;
use pipewright_log::read::{Content, Found, Header, Reader};
use std::path::Path;

/// A message, with the bytes that were passed on.
#[derive(Debug)]
pub struct Message {
    pub direction: Direction,
    pub seq: u64,
    pub bytes: Vec<u8>,
    /// `msg`, `text` or `b64`.
    pub kind: &'static str,
}

/// The contents of a log.
#[derive(Debug, Default)]
pub struct Log {
    pub headers: Vec<Header>,
    pub messages: Vec<Message>,
    pub lost: Vec<u64>,
    pub ends: Vec<(String, Option<u8>)>,
    pub problems: Vec<String>,
}

impl Log {
    pub fn read(file: &Path) -> Log {
        Log::read_all(&[file])
    }

    /// Reads the files of a rotated log, oldest first, as one log: the numbers must be consecutive.
    pub fn read_all(files: &[&Path]) -> Log {
        let mut log = Log::default();
        let mut reader = Reader::new(Paths::new(&[]));
        for file in files {
            let mut bytes = std::fs::File::open(file).unwrap();
            let mut splitter = Splitter::new(Limits { max_line: 64 << 20, max_depth: 512 });
            while splitter.fill(&mut bytes).unwrap() > 0 {
                while let Some(piece) = splitter.next() {
                    log.take(&mut reader, &piece);
                }
            }
            while let Some(piece) = splitter.next() {
                log.take(&mut reader, &piece);
            }
        }
        log
    }

    fn take(&mut self, reader: &mut Reader, piece: &Piece<'_>) {
        let Piece::Line(line) = piece else { panic!("a line of more than 64 MB") };
        hold(&String::from_utf8_lossy(line.body()));
        reader.read(line, &mut |_, found| match found {
            Found::Header(header) => self.headers.push(header),
            Found::Message(message) => {
                let mut bytes = Vec::new();
                assert_eq!(message.write(&mut bytes), !matches!(message.content, Content::Withheld(_)));
                let kind = match message.content {
                    Content::Json(_) => "msg",
                    Content::Text(_) => "text",
                    Content::Bytes(_) => "b64",
                    Content::Withheld(_) => "withheld",
                };
                let (direction, seq) = (message.direction.unwrap(), message.seq.unwrap());
                self.messages.push(Message { direction, seq, bytes, kind });
            }
            Found::Lost(count) => self.lost.push(count),
            Found::End(end) => self.ends.push((end.how.into_owned(), end.status)),
            Found::Problem(problem) => self.problems.push(format!("line {}: {problem}", line.number())),
        });
    }

    /// The traffic in one direction, byte for byte.
    pub fn stream(&self, direction: Direction) -> Vec<u8> {
        let messages = self.messages.iter().filter(|message| message.direction == direction);
        messages.flat_map(|message| message.bytes.iter().copied()).collect()
    }

    pub fn end(&self) -> (&str, Option<u8>) {
        let [(how, status)] = &self.ends[..] else { panic!("it should end once: {:?}", self.ends) };
        (how, *status)
    }

    /// Asserts that the log has no problems.
    #[track_caller]
    pub fn clean(self) -> Log {
        assert_eq!(self.problems, Vec::<String>::new());
        self
    }
}
