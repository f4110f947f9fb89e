//! The terminal: text that stays, and below it lines that change in place, or the line that is edited.

use crate::cmd::agent_chat::style::unstyled;
use crate::io::lock;
use crate::io::terminal::width;
use rustyline::ExternalPrinter;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use unicode_width::UnicodeWidthStr;

/// Who has the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// We draw on it.
    Us,
    /// rustyline, which edits a line: text is printed through it.
    LineEditor,
    /// The person's editor: text waits.
    Program,
}

/// What is on the terminal.
#[derive(Debug)]
struct State {
    holder: Holder,
    /// Text that stays, and is not printed yet.
    waiting: String,
    /// The lines that change in place, each of one row when they were drawn.
    live: Vec<String>,
    /// Those that are drawn.
    drawn: Vec<String>,
    is_closed: bool,
}

/// The terminal, for the stage, the keyboard, and the thread that prints through rustyline. None of them holds the lock while it waits for
/// rustyline, which takes nothing where a key is awaited (after Esc, in a search).
#[derive(Debug)]
pub struct Screen {
    state: Mutex<State>,
    changed: Condvar,
}

/// So much text waits, in bytes; what is more is left out.
const WAITING: usize = 1 << 20;
const LEFT_OUT: &str = "(some text is left out here)\n";

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
/// A paste comes between marks.
const MARK_PASTES: &str = "\x1b[?2004h";
const DO_NOT_MARK_PASTES: &str = "\x1b[?2004l";

impl Screen {
    /// Starts the thread that prints while a line is edited.
    pub fn start(printer: impl ExternalPrinter + Send + 'static) -> Arc<Screen> {
        let (waiting, live, drawn) = (String::new(), Vec::new(), Vec::new());
        let state = State { holder: Holder::Us, waiting, live, drawn, is_closed: false };
        let screen = Arc::new(Screen { state: Mutex::new(state), changed: Condvar::new() });
        let there = Arc::clone(&screen);
        std::thread::spawn(move || there.print_while_editing(printer));
        screen
    }

    fn print_while_editing(&self, mut printer: impl ExternalPrinter) {
        loop {
            let has_nothing =
                |state: &mut State| state.holder != Holder::LineEditor || state.waiting.is_empty() || state.is_closed;
            let state = self.changed.wait_while(lock(&self.state), has_nothing);
            let text = std::mem::take(&mut state.unwrap_or_else(PoisonError::into_inner).waiting);
            // Where a line is submitted at this moment, it is shown with the next prompt.
            if printer.print(text).is_err() {
                return;
            }
        }
    }

    /// Prints text that stays; it ends with a line feed. The lines that change in place are gone until they are shown again.
    pub fn print(&self, text: &str) {
        self.print_up_to(text, WAITING);
    }

    /// The same with text that is not left out, however much waits.
    pub fn print_whole(&self, text: &str) {
        self.print_up_to(text, usize::MAX);
    }

    fn print_up_to(&self, text: &str, most: usize) {
        let mut state = lock(&self.state);
        if state.holder == Holder::Us {
            let shown = format!("{}{text}", state.erase());
            return write(&shown);
        }
        if state.waiting.len() < most {
            state.waiting.push_str(text);
        } else if !state.waiting.ends_with(LEFT_OUT) {
            state.waiting.push_str(LEFT_OUT);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Replaces the lines that change in place.
    pub fn show_live(&self, lines: Vec<String>) {
        let mut state = lock(&self.state);
        state.live = lines;
        if state.holder == Holder::Us && state.live != state.drawn {
            state.draw();
        }
    }

    /// Gives the terminal to somebody else, or takes it back.
    pub fn give_to(&self, holder: Holder) {
        let mut state = lock(&self.state);
        if holder == Holder::Us {
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

    /// Leaves the terminal, with the last text.
    pub fn close(&self, last: &str) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        state.live.clear();
        let begun = if state.holder == Holder::Us { state.erase() } else { "\r\n".to_owned() };
        let waiting = std::mem::take(&mut state.waiting);
        write(&format!("{begun}{waiting}{last}{SHOW_CURSOR}{DO_NOT_MARK_PASTES}"));
    }
}

impl State {
    /// What goes to the first of the lines that are drawn, and removes all from there on. A window that was made narrower has broken them.
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

/// A terminal that has gone is noticed by the thread that reads it.
fn write(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
