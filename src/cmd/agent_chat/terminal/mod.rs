//! A person at a terminal: a line that is edited while the agent waits, and what it does, in place, while it works. A thread reads the keys.

mod completion;
mod keyboard;
mod screen;

pub use completion::Known;

use crate::cmd::agent_chat::command::Mode;
use crate::io::lines::Limits;
use crate::io::lock;
use crate::io::report::{Failure, Status};
use crate::io::terminal_mode::TerminalState;
use completion::Completion;
use keyboard::{Keyboard, Order};
use rustyline::completion::FilenameCompleter;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};
use screen::Screen;
use serde::{Deserialize, Serialize};
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

/// What comes from the keyboard, a line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A line was submitted; it may have line feeds, where it was pasted.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D on an empty line.
    End,
    /// A key was struck while the agent worked: a line is edited now.
    Typing,
    /// What the editor made of the text.
    Edited(Result<String, String>),
    /// The terminal has gone, and why.
    Gone(String),
}

/// What the keyboard does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A line is edited, after this prompt.
    Line(String),
    /// Keys are watched: Ctrl-C stops the agent, others begin a line, after this prompt.
    Keys(String),
    /// This text is edited in the person's own editor.
    Editor(String),
}

pub struct Terminal {
    screen: Arc<Mutex<Screen>>,
    known: Arc<Mutex<Known>>,
    orders: Sender<Order>,
    wake: PipeWriter,
    /// What the keyboard does, as far as it has said.
    doing: Option<Wanted>,
    /// How many inputs came from it.
    inputs: u64,
    before: TerminalState,
    keyboard: Option<Keyboard>,
}

impl Terminal {
    /// On stdin and stdout, which are one terminal. Gives also where [inputs](Input) are read from.
    ///
    /// # Errors
    /// Where the terminal cannot be used, or the process has no descriptor left.
    pub fn open(history: Option<PathBuf>, limits: Limits) -> Result<(Terminal, PipeReader), Failure> {
        let system = |error: io::Error| Failure::new(Status::NotStarted, error);
        let line_editor =
            |error| Failure::new(Status::NotStarted, format_args!("the terminal cannot be used: {error}"));
        let before = TerminalState::of_stdin().map_err(system)?;
        let known = Arc::new(Mutex::new(Known { mode: Mode::Cmd, tools: Vec::new() }));
        let config = Config::builder().history_ignore_dups(true).map_err(line_editor)?.auto_add_history(false).build();
        let mut editor: Editor<Completion, FileHistory> = Editor::with_config(config).map_err(line_editor)?;
        editor.set_helper(Some(Completion { known: Arc::clone(&known), files: FilenameCompleter::new() }));
        let screen = Arc::new(Mutex::new(Screen::new(editor.create_external_printer().map_err(line_editor)?)));
        let ((orders, to_do), (woken, wake), (inputs, input)) =
            (channel(), io::pipe().map_err(system)?, io::pipe().map_err(system)?);
        let keyboard = Keyboard::new(editor, history, limits, Arc::clone(&screen), to_do, woken, input);
        let (doing, keyboard) = (None, Some(keyboard));
        Ok((Terminal { screen, known, orders, wake, doing, inputs: 0, before, keyboard }, inputs))
    }

    /// Prints text that stays; it ends with a line feed.
    pub fn print(&mut self, text: &str) {
        // A terminal that has gone is noticed by the thread that reads it.
        let _ = lock(&self.screen).print(text);
    }

    /// Shows lines that change in place.
    pub fn show_live(&mut self, lines: Vec<String>) {
        let _ = lock(&self.screen).show_live(lines);
    }

    /// What is completed from.
    pub fn set_known(&mut self, change: impl FnOnce(&mut Known)) {
        change(&mut lock(&self.known));
    }

    /// Reads what came from the keyboard.
    pub fn take(&mut self, line: &str) -> Option<Input> {
        let input = serde_json::from_str(line).ok()?;
        self.inputs += 1;
        self.doing = matches!(input, Input::Typing).then(|| Wanted::Line(String::new()));
        Some(input)
    }

    /// Has the keyboard do something. A line that is edited stays until it is submitted.
    pub fn want(&mut self, wanted: Wanted) {
        if matches!(self.doing, Some(Wanted::Line(_) | Wanted::Editor(_))) || self.doing.as_ref() == Some(&wanted) {
            return;
        }
        // The first order starts the thread: one that was started before the signals were held back would die of them.
        if let Some(keyboard) = self.keyboard.take() {
            std::thread::spawn(move || keyboard.run());
        }
        self.doing = Some(wanted.clone());
        // The thread ends where the terminal has gone.
        if self.orders.send(Order { wanted, after: self.inputs }).is_ok() {
            let _ = self.wake.write_all(b"!");
        }
    }

    /// Puts the terminal back as it was: the thread may wait for a key with settings of its own.
    pub fn close(&mut self) {
        lock(&self.screen).close();
        self.before.restore();
    }
}
