//! The thread that reads the keys: it has a line edited, or watches for keys while the agent works, as it is ordered.

use super::completion::Completion;
use super::screen::Screen;
use super::{Input, Wanted};
use crate::cmd::approver::editor::{self, Edited};
use crate::io::asking::Asking;
use crate::io::keys::{Keys, Typed};
use crate::io::lines::Limits;
use crate::io::lock;
use crate::io::terminal::Terminal;
use crate::mask::{Masker, Rules};
use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

/// What the thread is to do from now on.
pub struct Order {
    pub wanted: Wanted,
    /// It was given after so many inputs: one that was given before the last input is void.
    pub after: u64,
}

pub struct Keyboard {
    editor: Editor<Completion, FileHistory>,
    history: Option<PathBuf>,
    limits: Limits,
    masker: Masker,
    screen: Arc<Mutex<Screen>>,
    orders: Receiver<Order>,
    woken: PipeReader,
    input: PipeWriter,
    sent: u64,
}

/// JSON in a line nests no deeper.
const DEPTH: usize = 512;
const CONTROL_C: u8 = 3;

impl Keyboard {
    pub fn new(
        mut editor: Editor<Completion, FileHistory>,
        history: Option<PathBuf>,
        limits: Limits,
        screen: Arc<Mutex<Screen>>,
        orders: Receiver<Order>,
        woken: PipeReader,
        input: PipeWriter,
    ) -> Keyboard {
        if let Some(path) = &history {
            // The first session has none.
            let _ = editor.load_history(path);
        }
        let masker = Masker::new(Rules::default(), DEPTH);
        Keyboard { editor, history, limits, masker, screen, orders, woken, input, sent: 0 }
    }

    pub fn run(mut self) {
        while let Some(order) = self.next() {
            let went_on = match order.wanted {
                _ if order.after != self.sent => true,
                Wanted::Line(prompt) => self.edit_line(&prompt, ""),
                Wanted::Keys(prompt) => self.watch_keys(&prompt),
                Wanted::Editor(text) => {
                    let edited = self.edit_in_program(&text);
                    self.send(&Input::Edited(edited))
                }
            };
            if !went_on {
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

    /// False where the run ends.
    fn edit_line(&mut self, prompt: &str, typed: &str) -> bool {
        let gone = lock(&self.screen).set_editing(true).err();
        let line = self.editor.readline_with_initial(prompt, (typed, ""));
        let _ = lock(&self.screen).set_editing(false);
        let input = match (line, gone) {
            (_, Some(error)) => Input::Gone(error.to_string()),
            (Ok(line), None) => {
                self.remember(&line);
                Input::Line(line)
            }
            (Err(ReadlineError::Interrupted), None) => Input::Interrupt,
            (Err(ReadlineError::Eof), None) => Input::End,
            (Err(error), None) => Input::Gone(error.to_string()),
        };
        self.send(&input) && !matches!(input, Input::Gone(_))
    }

    /// Keeps a line in the history; not the answer to a tool, nor what holds a secret.
    fn remember(&mut self, line: &str) {
        let may_be_secret = ["/answer", "/edit"].iter().any(|command| line.starts_with(command));
        if line.trim().is_empty() || may_be_secret || self.masker.text(line) != line {
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

    /// Waits for keys, until there is another order; false where the run ends.
    fn watch_keys(&mut self, prompt: &str) -> bool {
        let terminal = Terminal::open(Path::new("/dev/tty"));
        let mut keys = match terminal.and_then(Keys::with_control_keys) {
            Ok(keys) => keys,
            Err(failure) => return self.gone(&failure.to_string()),
        };
        loop {
            match keys.typed(&self.woken) {
                Typed::Woken => return true,
                Typed::Gone => return self.gone("the terminal has gone"),
                Typed::Bytes(bytes) if bytes.contains(&CONTROL_C) => {
                    return self.send(&Input::Interrupt);
                }
                Typed::Bytes(bytes) => {
                    let typed = begun_line(&bytes);
                    if typed.is_empty() {
                        continue;
                    }
                    drop(keys);
                    return self.send(&Input::Typing) && self.edit_line(prompt, &typed);
                }
            }
        }
    }

    /// The run ends.
    fn gone(&mut self, why: &str) -> bool {
        self.send(&Input::Gone(why.to_owned()));
        false
    }

    fn edit_in_program(&mut self, text: &str) -> Result<String, String> {
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

/// What keys begin a line with: text without what steers a terminal, such as arrow keys.
fn begun_line(bytes: &[u8]) -> String {
    if bytes.first() == Some(&0x1b) {
        return String::new();
    }
    let text = String::from_utf8_lossy(bytes).replace('\r', "\n");
    text.chars()
        .filter(|character| *character == '\n' || crate::io::terminal::is_printable(*character))
        .collect::<String>()
        .trim_start()
        .to_owned()
}
