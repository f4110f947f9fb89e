//! The thread that reads keys. While the agent works, the thread handles keys itself. While a line is edited, it passes
//! them to the line editor, up to the end of that line. So all input is handled in order, and input that was typed
//! before a question is known as such.

use super::keys::{Key, Keys};
use super::line_editor::{LineEditor, LineResult};
use super::line_owner::LineOwner;
use super::screen::{Screen, TerminalOwner};
use super::{Input, KeyboardUse};
use crate::cmd::approver::editor;
use pipewright_lines::Limits;
use pipewright_record::json;
use pipewright_sys::terminal::{Asking, RawStdin, Terminal, Typed};
use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// What the thread has to do from now on.
pub struct KeyboardTask {
    pub wanted: KeyboardUse,
    /// The number of inputs when it was given. An order that is older than the last input is void.
    pub after: u64,
}

pub struct Keyboard {
    pub line_editor: LineEditor,
    pub limits: Limits,
    pub screen: Arc<Screen>,
    pub raw: RawStdin,
    pub begun: Arc<LineOwner>,
    pub orders: Receiver<KeyboardTask>,
    /// Gets a byte for each order, and for each edited line.
    pub woken: PipeReader,
    pub input: PipeWriter,
    pub keys: Keys,
    pub unread: VecDeque<TypedByte>,
    pub doing: KeyboardState,
    pub sent: u64,
}

/// A byte, and the number of the question at which it was typed.
pub struct TypedByte {
    byte: u8,
    question: u64,
}

/// What the thread is doing.
pub enum KeyboardState {
    /// Waits for an order.
    Nothing,
    /// Reads keys. A line starts after this prompt, with the text typed so far.
    Keys { prompt: String, line: String, question: u64 },
    /// The line editor edits a line. After a key that may have ended the line, the editor gets no more keys until this
    /// time.
    Line { until: Option<Instant> },
}

/// The time within which the rest of a split key arrives.
const SPLIT_KEY_TIMEOUT: Duration = Duration::from_millis(100);
/// If a line has not ended after this time, the line editor continues with it.
const LINE_END_TIMEOUT: Duration = Duration::from_millis(50);
/// The most bytes that are read ahead.
const MAX_READ_AHEAD: usize = 4 << 20;

/// Keys that may end a line: Ctrl-C, Ctrl-D, line feed, Enter.
const LINE_END_KEYS: [u8; 4] = [3, 4, b'\n', b'\r'];
/// Keys that the line editor does not get. It prints nothing while it searches (Ctrl-R, Ctrl-S) or waits for a literal
/// key (Ctrl-V, Ctrl-Q), and Ctrl-Z would stop the process with the wrong terminal settings.
const WITHHELD_KEYS: [u8; 5] = [0x11, 0x12, 0x13, 0x16, 0x1a];

impl Keyboard {
    pub fn run(mut self) {
        while self.handle_keys() && self.wait() {}
    }

    /// Waits for keys, an order, or the end of a line; false at the end of the run.
    fn wait(&mut self) -> bool {
        let time = match &self.doing {
            KeyboardState::Line { until: Some(until) } => Some(until.saturating_duration_since(Instant::now())),
            KeyboardState::Keys { .. } if self.keys.is_cut() => Some(SPLIT_KEY_TIMEOUT),
            _ => None,
        };
        match self.raw.typed(self.unread.len() < MAX_READ_AHEAD, &self.woken, time) {
            Typed::Bytes(bytes) => {
                let question = self.begun.now();
                self.unread.extend(bytes.into_iter().map(|byte| TypedByte { byte, question }));
                true
            }
            Typed::Late => {
                if matches!(self.doing, KeyboardState::Keys { .. }) {
                    self.keys.forget();
                }
                true
            }
            Typed::Gone => self.gone("the terminal is gone"),
            Typed::Woken => self.wake(),
        }
    }

    /// Takes an order, or the end of a line.
    fn wake(&mut self) -> bool {
        if (&self.woken).read_exact(&mut [0]).is_err() {
            return false;
        }
        if let Some(edited) = self.line_editor.edited() {
            self.screen.set_owner(TerminalOwner::Us);
            self.doing = KeyboardState::Nothing;
            let input = match edited {
                LineResult::Line(text) => Input::Line { text, question: self.begun.question() },
                LineResult::Interrupt => Input::Interrupt { is_clearing: self.begun.has_text() },
                LineResult::End => Input::End,
                LineResult::Failed(why) => return self.gone(&why),
            };
            return self.send(&input);
        }
        let Ok(order) = self.orders.try_recv() else { return true };
        match order.wanted {
            _ if order.after != self.sent => true,
            KeyboardUse::Line(prompt) => self.edit_line(prompt, String::new(), None),
            KeyboardUse::Keys(prompt) => {
                self.doing = KeyboardState::Keys { prompt, line: String::new(), question: 0 };
                true
            }
            KeyboardUse::Editor { text, question } => {
                let text = self.edit_in_program(&text);
                self.send(&Input::Edited { text, question })
            }
        }
    }

    /// Sends an input to the stage; false if the run has ended.
    fn send(&mut self, input: &Input) -> bool {
        self.sent += 1;
        let line = json::text(input) + "\n";
        self.input.write_all(line.as_bytes()).is_ok()
    }

    /// Ends the run.
    fn gone(&mut self, why: &str) -> bool {
        self.send(&Input::Gone(why.to_owned()));
        false
    }

    /// Passes a line to the line editor.
    fn edit_line(&mut self, prompt: String, typed: String, question: Option<u64>) -> bool {
        self.begun.begin(question);
        self.screen.set_owner(TerminalOwner::LineEditor);
        self.doing = KeyboardState::Line { until: None };
        self.line_editor.begin(prompt, typed)
    }

    /// Acts on typed keys; false at the end of the run.
    fn handle_keys(&mut self) -> bool {
        match &mut self.doing {
            KeyboardState::Nothing => true,
            KeyboardState::Line { until } => {
                if until.is_some_and(|until| Instant::now() < until) {
                    return true;
                }
                *until = None;
                self.feed()
            }
            KeyboardState::Keys { .. } => self.read_keys(),
        }
    }

    /// Passes keys to the line editor, up to one that may end the line.
    fn feed(&mut self) -> bool {
        while let Some(TypedByte { byte, question }) = self.unread.pop_front() {
            let is_pasted = self.line_editor.is_in_paste();
            if WITHHELD_KEYS.contains(&byte) && !is_pasted {
                continue;
            }
            self.begun.key_typed(question);
            if let Err(error) = self.line_editor.feed(byte) {
                return self.gone(&error.to_string());
            }
            if LINE_END_KEYS.contains(&byte) && !is_pasted {
                self.doing = KeyboardState::Line { until: Some(Instant::now() + LINE_END_TIMEOUT) };
                break;
            }
        }
        true
    }

    /// Reads keys up to one that the stage has to act on. A complete line is submitted; the start of a line is edited.
    fn read_keys(&mut self) -> bool {
        while let Some(TypedByte { byte, question: struck }) = self.unread.pop_front() {
            for key in self.keys.read(&[byte]) {
                let KeyboardState::Keys { prompt, line, question } = &mut self.doing else { return true };
                match key {
                    Key::Text(text) | Key::Paste(text) => {
                        if line.is_empty() {
                            *question = struck;
                        }
                        line.push_str(&text);
                    }
                    Key::Backspace => _ = line.pop(),
                    Key::Enter if line.is_empty() => {}
                    Key::Enter => {
                        self.screen.print(&format!("{prompt}{line}\n"));
                        self.line_editor.remember(line);
                        let input = Input::Line { text: std::mem::take(line), question: *question };
                        self.doing = KeyboardState::Nothing;
                        return self.send(&input);
                    }
                    Key::Interrupt => {
                        self.doing = KeyboardState::Nothing;
                        return self.send(&Input::Interrupt { is_clearing: false });
                    }
                }
            }
        }
        let KeyboardState::Keys { prompt, line, question } = &mut self.doing else { return true };
        if line.is_empty() || self.keys.is_within() {
            return true;
        }
        let (prompt, line, question) = (std::mem::take(prompt), std::mem::take(line), *question);
        self.send(&Input::Typing) && self.edit_line(prompt, line, Some(question))
    }

    fn edit_in_program(&mut self, text: &str) -> Result<String, String> {
        self.screen.set_owner(TerminalOwner::Program);
        self.raw.restore();
        let edited = self.run_program(text);
        self.raw.enter();
        self.screen.set_owner(TerminalOwner::Us);
        edited
    }

    fn run_program(&self, text: &str) -> Result<String, String> {
        let terminal = Terminal::open(Path::new("/dev/tty")).and_then(|terminal| Asking::begin(terminal, |_| false));
        let Some(mut terminal) = terminal.map_err(|failure| failure.to_string())? else {
            return Err("nothing was changed: another program is asking at this terminal".to_owned());
        };
        // No other order can arrive before this one has its input.
        match editor::edit(text, self.limits.max_line, &mut terminal, || false)? {
            editor::EditResult::Text(text) => Ok(text),
            editor::EditResult::Stopped => Err("nothing was changed".to_owned()),
        }
    }
}
