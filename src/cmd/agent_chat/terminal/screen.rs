//! The terminal: permanent text, and below it the lines that change in place, or the line that is being edited.

use crate::cmd::agent_chat::style::unstyled;
use pipewright_sys::lock;
use pipewright_sys::terminal::width;
use rustyline::ExternalPrinter;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use unicode_width::UnicodeWidthStr;

/// Which program has the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalOwner {
    /// We draw on the terminal.
    Us,
    /// rustyline, which edits a line: text is printed through it.
    LineEditor,
    /// The person's editor: text is queued.
    Program,
}

/// The terminal's content.
#[derive(Debug)]
struct ScreenContent {
    holder: TerminalOwner,
    /// Permanent text that is not printed yet.
    waiting: String,
    /// The lines that change in place; each is drawn on one row.
    live: Vec<String>,
    /// The lines that are drawn.
    drawn: Vec<String>,
    is_closed: bool,
}

/// The terminal, shared by the stage, the keyboard, and the thread that prints through rustyline. None of them holds
/// the lock while it waits for rustyline, which accepts nothing while it waits for a key (after Esc, or in a search).
#[derive(Debug)]
pub struct Screen {
    state: Mutex<ScreenContent>,
    changed: Condvar,
}

/// The most bytes of text that are queued; the rest is dropped.
const MAX_QUEUED: usize = 1 << 20;
const DROPPED: &str = "(some text was dropped here)\n";

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
/// Makes the terminal mark the start and the end of a paste.
const MARK_PASTES: &str = "\x1b[?2004h";
const DO_NOT_MARK_PASTES: &str = "\x1b[?2004l";

impl Screen {
    /// Starts the thread that prints while a line is edited.
    pub fn start(printer: impl ExternalPrinter + Send + 'static) -> Arc<Screen> {
        let (waiting, live, drawn) = (String::new(), Vec::new(), Vec::new());
        let state = ScreenContent { holder: TerminalOwner::Us, waiting, live, drawn, is_closed: false };
        let screen = Arc::new(Screen { state: Mutex::new(state), changed: Condvar::new() });
        let there = Arc::clone(&screen);
        std::thread::spawn(move || there.print_while_editing(printer));
        screen
    }

    fn print_while_editing(&self, mut printer: impl ExternalPrinter) {
        loop {
            let has_nothing = |state: &mut ScreenContent| {
                state.holder != TerminalOwner::LineEditor || state.waiting.is_empty() || state.is_closed
            };
            let state = self.changed.wait_while(lock(&self.state), has_nothing);
            let text = std::mem::take(&mut state.unwrap_or_else(PoisonError::into_inner).waiting);
            // Fails if a line is submitted at this moment; the text is then printed with the next prompt.
            if printer.print(text).is_err() {
                return;
            }
        }
    }

    /// Prints permanent text, which ends with a line feed. The changing lines are removed until they are shown again.
    pub fn print(&self, text: &str) {
        self.print_up_to(text, MAX_QUEUED);
    }

    /// Like `print`, for text that is never dropped, however much is queued.
    pub fn print_whole(&self, text: &str) {
        self.print_up_to(text, usize::MAX);
    }

    fn print_up_to(&self, text: &str, most: usize) {
        let mut state = lock(&self.state);
        if state.holder == TerminalOwner::Us {
            let shown = format!("{}{text}", state.erase());
            return write(&shown);
        }
        if state.waiting.len() < most {
            state.waiting.push_str(text);
        } else if !state.waiting.ends_with(DROPPED) {
            state.waiting.push_str(DROPPED);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Replaces the changing lines.
    pub fn show_live(&self, lines: Vec<String>) {
        let mut state = lock(&self.state);
        state.live = lines;
        if state.holder == TerminalOwner::Us && state.live != state.drawn {
            state.draw();
        }
    }

    /// Gives the terminal to another program, or takes it back.
    pub fn set_owner(&self, holder: TerminalOwner) {
        let mut state = lock(&self.state);
        if holder == TerminalOwner::Us {
            state.holder = holder;
            let waiting = std::mem::take(&mut state.waiting);
            write(&format!("{waiting}{MARK_PASTES}"));
            state.draw();
        } else {
            let shown = format!("{}{SHOW_CURSOR}{DO_NOT_MARK_PASTES}", state.erase());
            write(&shown);
            state.holder = holder;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Releases the terminal, after the last text.
    pub fn close(&self, last: &str) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        state.live.clear();
        let begun = if state.holder == TerminalOwner::Us { state.erase() } else { "\r\n".to_owned() };
        let waiting = std::mem::take(&mut state.waiting);
        write(&format!("{begun}{waiting}{last}{SHOW_CURSOR}{DO_NOT_MARK_PASTES}"));
    }
}

impl ScreenContent {
    /// Moves to the first drawn line and clears from there on. If the window was made narrower, the lines occupy more
    /// rows than before.
    fn erase(&mut self) -> String {
        let columns = width(io::stdout()).max(1);
        let rows: usize = self.drawn.iter().map(|line| unstyled(line).width().div_ceil(columns).max(1)).sum();
        self.drawn.clear();
        match rows {
            0 => String::new(),
            1 => "\r\x1b[J".to_owned(),
            _ => format!("\r\x1b[{}A\x1b[J", rows - 1),
        }
    }

    fn draw(&mut self) {
        let cursor = if self.live.is_empty() { SHOW_CURSOR } else { HIDE_CURSOR };
        let shown = format!("{}{}{cursor}", self.erase(), self.live.join("\n"));
        self.drawn.clone_from(&self.live);
        write(&shown);
    }
}

/// An error means that the terminal is gone, which the reading thread detects.
fn write(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
