//! The thread that reads the keys: it has a line edited, or watches for keys while the agent works, as it is ordered.

use super::completion::Completion;
use super::keys::{Key, Keys};
use super::screen::{Holder, Screen};
use super::{Begun, Input, Wanted};
use crate::cmd::agent_chat::command::{Command, Mode, Typed as Read, read};
use crate::cmd::approver::editor::{self, Edited};
use crate::io::asking::Asking;
use crate::io::descriptor::wait_readable;
use crate::io::lines::Limits;
use crate::io::raw_stdin::{RawStdin, Typed, typed};
use crate::io::terminal::Terminal;
use crate::mask::{Masker, Rules};
use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read as _, Write, stdin};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// What the thread is to do from now on.
pub struct Order {
    pub wanted: Wanted,
    /// It was given after so many inputs: one that was given before the last input is void.
    pub after: u64,
}

pub struct Keyboard {
    pub editor: Editor<Completion, FileHistory>,
    pub history: Option<PathBuf>,
    pub limits: Limits,
    pub masker: Masker,
    pub screen: Arc<Screen>,
    pub raw: RawStdin,
    pub begun: Arc<Begun>,
    pub orders: Receiver<Order>,
    pub woken: PipeReader,
    pub input: PipeWriter,
    pub keys: Keys,
    pub sent: u64,
}

/// JSON in a line nests no deeper.
const DEPTH: usize = 512;

/// The rest of a key that has begun comes within this time.
const REST: Duration = Duration::from_millis(100);

/// Finds secrets in lines.
pub fn masker() -> Masker {
    Masker::new(Rules::default(), DEPTH)
}

impl Keyboard {
    pub fn run(mut self) {
        if let Some(path) = &self.history {
            // The first session has none.
            let _ = self.editor.load_history(path);
        }
        while let Some(order) = self.next() {
            let goes_on = match order.wanted {
                _ if order.after != self.sent => true,
                Wanted::Line(prompt) => self.edit_line(&prompt, ""),
                Wanted::Keys(prompt) => self.watch_keys(&prompt),
                Wanted::Editor { text, question } => {
                    let text = self.edit_in_program(&text);
                    self.send(&Input::Edited { text, question })
                }
            };
            if !goes_on {
                return;
            }
        }
    }

    /// The next order; none where there are no more.
    fn next(&self) -> Option<Order> {
        (&self.woken).read_exact(&mut [0]).ok()?;
        self.orders.recv().ok()
    }

    /// False where nobody reads it any more.
    fn send(&mut self, input: &Input) -> bool {
        self.sent += 1;
        let mut line = serde_json::to_string(input).unwrap_or_default();
        line.push('\n');
        self.input.write_all(line.as_bytes()).is_ok()
    }

    /// Has a line edited that begins with `typed`; false where the run ends.
    fn edit_line(&mut self, prompt: &str, typed: &str) -> bool {
        self.begun.begin(typed);
        self.screen.give_to(Holder::LineEditor);
        let line = self.editor.readline_with_initial(prompt, (typed, ""));
        self.screen.give_to(Holder::Us);
        let input = match line {
            Ok(line) => {
                self.remember(&line);
                Input::Line { text: line, question: self.begun.question() }
            }
            Err(ReadlineError::Interrupted) => Input::Interrupt,
            Err(ReadlineError::Eof) => Input::End,
            // A byte that is no UTF-8: the line is lost, and nothing else.
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                self.screen.print("what was typed is not UTF-8\n");
                Input::Line { text: String::new(), question: 0 }
            }
            Err(error) => return self.gone(&error.to_string()),
        };
        self.send(&input)
    }

    /// Keeps a line in the history; not the answer to a tool, nor what may hold a secret.
    fn remember(&mut self, line: &str) {
        let may_be_secret = match read(line, Mode::Chat) {
            Read::Command(command, _) => matches!(command, Command::Answer | Command::Edit),
            Read::Unknown(_) | Read::Nothing => true,
            Read::Message(_) | Read::Call(_) => false,
        };
        if may_be_secret || self.masker.text(line) != line {
            return;
        }
        // Without a file, or where it cannot be written, the history ends with the session.
        if self.editor.add_history_entry(line).unwrap_or(false)
            && let Some(path) = &self.history
        {
            let _ = path.parent().map(|folder| crate::io::private::folder().recursive(true).create(folder));
            let _ = self.editor.append_history(path);
        }
    }

    /// Waits for keys, until there is another order; false where the run ends. A line that comes whole is submitted; the beginning of one is
    /// edited.
    fn watch_keys(&mut self, prompt: &str) -> bool {
        loop {
            if self.keys.is_within() && !wait_readable(&stdin().as_fd(), REST) {
                self.keys.forget();
            }
            let bytes = match typed(&self.woken) {
                Typed::Woken => return true,
                Typed::Gone => return self.gone("the terminal has gone"),
                Typed::Bytes(bytes) => bytes,
            };
            let sent = self.sent;
            let mut line = String::new();
            for key in self.keys.read(&bytes) {
                match key {
                    Key::Text(text) | Key::Paste(text) => line.push_str(&text),
                    Key::Backspace => _ = line.pop(),
                    Key::Enter if line.is_empty() => {}
                    Key::Enter => {
                        self.screen.print(&format!("{prompt}{line}\n"));
                        self.remember(&line);
                        let question = self.begun.current();
                        if !self.send(&Input::Line { text: std::mem::take(&mut line), question }) {
                            return false;
                        }
                    }
                    Key::Interrupt => {
                        line.clear();
                        if !self.send(&Input::Interrupt) {
                            return false;
                        }
                    }
                }
            }
            if !line.is_empty() {
                return self.send(&Input::Typing) && self.edit_line(prompt, &line);
            }
            if self.sent != sent {
                return true;
            }
        }
    }

    /// The run ends.
    fn gone(&mut self, why: &str) -> bool {
        self.send(&Input::Gone(why.to_owned()));
        false
    }

    fn edit_in_program(&mut self, text: &str) -> Result<String, String> {
        self.screen.give_to(Holder::Program);
        self.raw.restore();
        let edited = self.run_program(text);
        self.raw.enter();
        self.screen.give_to(Holder::Us);
        edited
    }

    fn run_program(&self, text: &str) -> Result<String, String> {
        let terminal = Terminal::open(Path::new("/dev/tty")).and_then(|terminal| Asking::begin(terminal, |_| false));
        let Some(mut terminal) = terminal.map_err(|failure| failure.to_string())? else {
            return Err("nothing was changed: another program asks at this terminal".to_owned());
        };
        // There is no other order before this one has its input.
        match editor::edit(text, self.limits.max_line, &mut terminal, || false)? {
            Edited::Text(text) => Ok(text),
            Edited::Stopped => Err("nothing was changed".to_owned()),
        }
    }
}
