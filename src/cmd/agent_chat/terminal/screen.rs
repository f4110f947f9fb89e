//! The terminal: text that stays, and below it lines that change in place, or the line that is edited.

use rustyline::ExternalPrinter;
use std::io::{self, Write};

/// What is on the terminal.
pub struct Screen {
    printer: Box<dyn ExternalPrinter + Send>,
    /// rustyline has the terminal: what is printed goes through it.
    is_editing: bool,
    /// The lines that change in place, each of one row.
    live: Vec<String>,
    /// So many of them are drawn.
    drawn: usize,
}

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
/// To the first of `drawn` lines, and all from there on removed.
fn erased(drawn: usize) -> String {
    match drawn {
        0 => String::new(),
        1 => "\r\x1b[J".to_owned(),
        _ => format!("\r\x1b[{}A\x1b[J", drawn - 1),
    }
}

impl Screen {
    pub fn new(printer: impl ExternalPrinter + Send + 'static) -> Screen {
        Screen { printer: Box::new(printer), is_editing: false, live: Vec::new(), drawn: 0 }
    }

    /// Prints text that stays; it ends with a line feed. The lines that change in place are gone until they are shown again.
    ///
    /// # Errors
    /// Where the terminal has gone.
    pub fn print(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.is_editing {
            // Where a line is submitted at this moment, it is shown with the next prompt.
            return self.printer.print(text.to_owned()).map_err(io::Error::other);
        }
        let shown = format!("{}{text}", erased(self.drawn));
        self.drawn = 0;
        write(&shown)
    }

    /// Replaces the lines that change in place.
    ///
    /// # Errors
    /// Where the terminal has gone.
    pub fn show_live(&mut self, lines: Vec<String>) -> io::Result<()> {
        if self.live == lines && self.drawn == lines.len() {
            return Ok(());
        }
        self.live = lines;
        if self.is_editing { Ok(()) } else { self.draw() }
    }

    fn draw(&mut self) -> io::Result<()> {
        let cursor = if self.live.is_empty() { SHOW_CURSOR } else { HIDE_CURSOR };
        let shown = format!("{}{}{cursor}", erased(self.drawn), self.live.join("\n"));
        self.drawn = self.live.len();
        write(&shown)
    }

    /// rustyline has the terminal from now on, or no longer.
    ///
    /// # Errors
    /// Where the terminal has gone.
    pub fn set_editing(&mut self, is_editing: bool) -> io::Result<()> {
        if is_editing {
            let shown = format!("{}{SHOW_CURSOR}", erased(self.drawn));
            self.drawn = 0;
            self.is_editing = true;
            return write(&shown);
        }
        self.is_editing = false;
        self.draw()
    }

    /// Removes what changes in place, for the end.
    pub fn close(&mut self) {
        self.live.clear();
        // A terminal that has gone needs nothing.
        let _ = if self.is_editing { write("\r\n") } else { self.draw() };
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
