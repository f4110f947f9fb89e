//! The person's terminal: an editable line while the agent waits, and its activity, drawn in place, while it works. A
//! thread reads the keys.

mod completion;
mod keyboard;
mod keys;
mod line_editor;
mod line_owner;
mod screen;

pub use completion::CompletionWords;

use crate::cmd::agent_chat::command::InputMode;
use completion::Completion;
use keyboard::{Keyboard, KeyboardState, KeyboardTask};
use keys::Keys;
use line_editor::LineEditor;
use line_owner::LineOwner;
use pipewright_io::report::{Failure, Status};
use pipewright_lines::Limits;
use pipewright_sys::lock;
use pipewright_sys::terminal::RawStdin;
use rustyline::completion::FilenameCompleter;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};
use screen::Screen;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

/// Input from the keyboard, one line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A line was submitted; a pasted one may contain line feeds. `question` is the number of the question that was
    /// shown when the line was begun.
    Line { text: String, question: u64 },
    /// Ctrl-C; it may have cleared an unfinished line.
    Interrupt { is_clearing: bool },
    /// Ctrl-D on an empty line.
    End,
    /// A key was pressed while the agent worked: a line is edited now.
    Typing,
    /// The text from the person's editor, for the question of this number.
    Edited { text: Result<String, String>, question: u64 },
    /// The terminal is gone, and why.
    Gone(String),
}

/// What the keyboard has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyboardUse {
    /// Edit a line after this prompt.
    Line(String),
    /// Watch keys: Ctrl-C stops the agent, others start a line after this prompt.
    Keys(String),
    /// Edit this text in the person's editor, for the question of this number.
    Editor { text: String, question: u64 },
}

pub struct Terminal {
    screen: Arc<Screen>,
    known: Arc<Mutex<CompletionWords>>,
    raw: RawStdin,
    begun: Arc<LineOwner>,
    orders: Sender<KeyboardTask>,
    wake: PipeWriter,
    /// What the keyboard is doing, as far as it has reported.
    doing: Option<KeyboardUse>,
    /// The number of inputs from the keyboard.
    inputs: u64,
}

impl Terminal {
    /// Uses stdin and stdout, which must be the same terminal. Also gives the pipe that [inputs](Input) are read from.
    ///
    /// # Errors
    /// If the terminal cannot be used, or the process is out of file descriptors.
    pub fn open(history: Option<PathBuf>, limits: Limits) -> Result<(Terminal, PipeReader), Failure> {
        let line_editor =
            |error| Failure::new(Status::NotStarted, format_args!("the terminal cannot be used: {error}"));
        let (known, begun) =
            (CompletionWords { mode: InputMode::Cmd, tools: Vec::new() }, Arc::new(LineOwner::default()));
        let known = Arc::new(Mutex::new(known));
        let config = Config::builder().history_ignore_dups(true).map_err(line_editor)?.auto_add_history(false).build();
        let mut editor: Editor<Completion, FileHistory> = Editor::with_config(config).map_err(line_editor)?;
        let (known_there, begun_there) = (Arc::clone(&known), Arc::clone(&begun));
        let files = FilenameCompleter::new();
        editor.set_helper(Some(Completion { known: known_there, begun: begun_there, files }));
        let screen = Screen::start(editor.create_external_printer().map_err(line_editor)?);
        let (orders, to_do) = channel();
        let ((woken, wake), (inputs, input)) =
            (io::pipe().map_err(Failure::not_started)?, io::pipe().map_err(Failure::not_started)?);
        let (raw, keys) = RawStdin::begin().map_err(Failure::not_started)?;
        let line_editor = LineEditor::start(editor, history, keys, wake.try_clone().map_err(Failure::not_started)?);
        let keyboard = Keyboard {
            line_editor,
            limits,
            screen: Arc::clone(&screen),
            raw: raw.try_clone().map_err(Failure::not_started)?,
            begun: Arc::clone(&begun),
            orders: to_do,
            woken,
            input,
            keys: Keys::default(),
            unread: VecDeque::new(),
            doing: KeyboardState::Nothing,
            sent: 0,
        };
        std::thread::spawn(move || keyboard.run());
        Ok((Terminal { screen, known, raw, begun, orders, wake, doing: None, inputs: 0 }, inputs))
    }

    /// Prints text line by line, bypassing the stage.
    pub fn printer(&self) -> impl Fn(&str) + Send + Sync + use<> {
        let screen = Arc::clone(&self.screen);
        move |line| screen.print(&format!("{line}\n"))
    }

    /// Prints permanent text, which ends with a line feed.
    pub fn print(&mut self, text: &str) {
        self.screen.print(text);
    }

    /// Prints text that is never dropped.
    pub fn print_question(&mut self, text: &str) {
        self.screen.print_whole(text);
    }

    /// Shows the lines that change in place.
    pub fn show_live(&mut self, lines: Vec<String>) {
        self.screen.show_live(lines);
    }

    /// A question is shown: lines that were begun earlier do not answer it.
    pub fn ask(&mut self, question: u64) {
        self.begun.ask(question);
    }

    /// Changes the words that completion offers.
    pub fn set_known(&mut self, change: impl FnOnce(&mut CompletionWords)) {
        change(&mut lock(&self.known));
    }

    /// Reads an input from the keyboard.
    pub fn take(&mut self, line: &str) -> Option<Input> {
        let input = serde_json::from_str(line).ok()?;
        self.inputs += 1;
        self.doing = matches!(input, Input::Typing).then(|| KeyboardUse::Line(String::new()));
        Some(input)
    }

    /// Sets what the keyboard does. A line that is being edited stays until it is submitted.
    pub fn want(&mut self, wanted: KeyboardUse) {
        let is_busy = matches!(self.doing, Some(KeyboardUse::Line(_) | KeyboardUse::Editor { .. }));
        if is_busy || self.doing.as_ref() == Some(&wanted) {
            return;
        }
        self.doing = Some(wanted.clone());
        // Fails only if the thread has ended because the terminal is gone.
        if self.orders.send(KeyboardTask { wanted, after: self.inputs }).is_ok() {
            let _ = self.wake.write_all(b"!");
        }
    }

    /// Restores the terminal and prints the last text: the thread may be waiting for a key with changed settings.
    pub fn close(&mut self, last: &str) {
        // First, because a suspended terminal accepts no text.
        self.raw.restore();
        self.screen.close(last);
    }
}
