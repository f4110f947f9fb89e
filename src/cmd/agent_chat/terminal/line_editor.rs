//! Runs rustyline on its own thread. Its terminal is a pseudoterminal through which this command passes it keys.

use super::completion::Completion;
use crate::cmd::agent_chat::command::{Command, InputMode, TypedLine, read};
use pipewright_mask::{Masker, Rules};
use pipewright_sys::descriptor::Descriptor;
use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use std::io::{self, ErrorKind, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

/// How the editing of a line ended.
#[derive(Debug)]
pub enum LineResult {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D on an empty line.
    End,
    Failed(String),
}

enum EditorCommand {
    /// Edit a line that starts with `typed`, after this prompt.
    Edit { prompt: String, typed: String },
    /// Add a line to the history that was submitted without the editor.
    Remember(String),
}

pub struct LineEditor {
    orders: Sender<EditorCommand>,
    edited: Receiver<LineResult>,
    keys: Descriptor,
    /// The newest bytes, and whether they are in a paste.
    newest: Vec<u8>,
    is_in_paste: bool,
}

/// JSON in a line nests no deeper.
const DEPTH: usize = 512;

impl LineEditor {
    /// Starts the thread. `wake` gets a byte for each edited line.
    pub fn start(
        editor: Editor<Completion, FileHistory>,
        history: Option<PathBuf>,
        keys: Descriptor,
        wake: PipeWriter,
    ) -> LineEditor {
        let ((orders, to_do), (done, edited)) = (channel(), channel());
        let masker = Masker::new(Rules::default(), DEPTH);
        std::thread::spawn(move || EditorThread { editor, history, masker }.run(&to_do, &done, wake));
        LineEditor { orders, edited, keys, newest: Vec::new(), is_in_paste: false }
    }

    /// Edits a line; false if the thread has ended.
    pub fn begin(&mut self, prompt: String, typed: String) -> bool {
        self.orders.send(EditorCommand::Edit { prompt, typed }).is_ok()
    }

    /// Adds a line to the history that was submitted without the editor.
    pub fn remember(&self, line: &str) {
        // Fails only if the thread has ended, and the run with it.
        let _ = self.orders.send(EditorCommand::Remember(line.to_owned()));
    }

    /// How the line ended, if it did.
    pub fn edited(&self) -> Option<LineResult> {
        self.edited.try_recv().ok()
    }

    /// Passes a byte to the editor.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn feed(&mut self, byte: u8) -> io::Result<()> {
        self.newest.push(byte);
        if self.newest.ends_with(b"\x1b[200~") {
            self.is_in_paste = true;
        } else if self.newest.ends_with(b"\x1b[201~") {
            self.is_in_paste = false;
        }
        if self.newest.len() > 64 {
            self.newest.drain(..58);
        }
        self.keys.write_all(&[byte])
    }

    /// Whether the last bytes are part of a paste.
    pub fn is_in_paste(&self) -> bool {
        self.is_in_paste
    }
}

struct EditorThread {
    editor: Editor<Completion, FileHistory>,
    history: Option<PathBuf>,
    masker: Masker,
}

impl EditorThread {
    fn run(mut self, orders: &Receiver<EditorCommand>, done: &Sender<LineResult>, mut wake: PipeWriter) {
        if let Some(path) = &self.history {
            // The history does not exist before the first session.
            let _ = self.editor.load_history(path);
        }
        while let Ok(order) = orders.recv() {
            let (prompt, typed) = match order {
                EditorCommand::Edit { prompt, typed } => (prompt, typed),
                EditorCommand::Remember(line) => {
                    self.remember(&line);
                    continue;
                }
            };
            let edited = match self.editor.readline_with_initial(&prompt, (&typed, "")) {
                Ok(line) => {
                    self.remember(&line);
                    LineResult::Line(line)
                }
                Err(ReadlineError::Interrupted) => LineResult::Interrupt,
                Err(ReadlineError::Eof) => LineResult::End,
                // A byte that is not UTF-8 loses only its line.
                Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                    LineResult::Line(String::new())
                }
                Err(error) => LineResult::Failed(error.to_string()),
            };
            if done.send(edited).is_err() || wake.write_all(b"!").is_err() {
                return;
            }
        }
    }

    /// Adds a line to the history, except the answer to a tool and lines that may contain a secret.
    fn remember(&mut self, line: &str) {
        let may_be_secret = match read(line, InputMode::Chat) {
            TypedLine::Command(command, _) => matches!(command, Command::Answer | Command::Edit),
            TypedLine::Unknown(_) | TypedLine::Nothing => true,
            TypedLine::Message(_) | TypedLine::Call(_) => false,
        };
        if may_be_secret || self.masker.text(line) != line {
            return;
        }
        // If the file is missing or cannot be written, the history ends with the session.
        if self.editor.add_history_entry(line).unwrap_or(false)
            && let Some(path) = &self.history
        {
            let _ = path.parent().map(|folder| pipewright_sys::private::folder().recursive(true).create(folder));
            let _ = self.editor.append_history(path);
        }
    }
}
