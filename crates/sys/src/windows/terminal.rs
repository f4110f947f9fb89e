//! The console of a person, which is not our stdin and stdout. Nothing is borrowed here: all programs of a console may read it.

use super::console;
use super::descriptor::{AsDescriptor, Descriptor};
use super::process::Group;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use windows_sys::Win32::System::Console::{
    ENABLE_ECHO_INPUT, ENABLE_LINE_INPUT, ENABLE_VIRTUAL_TERMINAL_PROCESSING, FlushConsoleInputBuffer,
};

pub use crate::screen::{height, width};

/// The console that this process was started from.
pub const OWN: &str = "CONIN$";

/// What is shown goes to this file.
const OUTPUT: &str = "CONOUT$";

/// The environment variable in which wrappers list their processes, outermost first, separated by commas.
pub const LENDERS: &str = "PIPEWRIGHT_FOREGROUND";

/// The value of [`LENDERS`] for a wrapper's child: the inherited list, and the wrapper itself.
pub fn lenders() -> String {
    let own = std::process::id();
    match std::env::var(LENDERS) {
        Ok(outer) if !outer.is_empty() => format!("{outer},{own}"),
        _ => own.to_string(),
    }
}

/// An open console.
#[derive(Debug)]
pub struct Terminal {
    input: File,
    output: File,
    path: PathBuf,
}

impl Terminal {
    /// Opens the console that this process was started from; there is no other path than [`OWN`].
    ///
    /// # Errors
    /// If there is no console; the message explains how to get one.
    pub fn open(path: &Path) -> io::Result<Terminal> {
        let open = |path: &Path| OpenOptions::new().read(true).write(true).open(path);
        let opened = open(path).and_then(|input| Ok((console::mode(&input).map(|_| input)?, open(Path::new(OUTPUT))?)));
        let (input, output) = opened.map_err(|error| {
            let path = path.display();
            io::Error::other(format!(
                "no console to ask at: {path}: {error}; start from a console window (cmd, PowerShell, Windows Terminal)"
            ))
        })?;
        // Colours need this on older consoles; without it, they are not shown.
        let _ = console::mode(&output)
            .and_then(|mode| console::set_mode(&output, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING));
        Ok(Terminal { input, output, path: path.to_owned() })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new descriptor to read from and write to.
    ///
    /// # Errors
    /// If the process has no handle left.
    pub fn descriptor(&self) -> io::Result<Descriptor> {
        Ok(Descriptor::of_console(self.input.try_clone()?, self.output.try_clone()?))
    }

    /// Nothing to borrow.
    ///
    /// # Errors
    /// None.
    pub fn borrow(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Nothing to give back.
    pub fn restore(&mut self) {}

    /// Discards unread input.
    pub fn forget_input(&self) {
        forget_input(&self.input);
    }

    /// Its width in columns: that of the console, or COLUMNS, or 80.
    pub fn width(&self) -> usize {
        width(&self.output)
    }
}

/// Discards what was typed at a console and is not read yet.
#[allow(unsafe_code)]
pub fn forget_input(of: impl AsDescriptor) {
    use std::os::windows::io::AsRawHandle;
    // This fails only for what is no console.
    // SAFETY: the handle is open as long as `of` is borrowed.
    let _ = unsafe { FlushConsoleInputBuffer(of.as_handle().as_raw_handle()) };
}

/// Nothing to take back: see the module.
pub fn reclaim(_: &Group) {}

/// A console whose keys are read as they are typed, without echo. Its mode is restored when this is dropped.
#[derive(Debug)]
pub struct Keys {
    terminal: Terminal,
    from: Descriptor,
    before: u32,
}

impl Keys {
    /// Takes over a console.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn read_from(terminal: Terminal) -> io::Result<Keys> {
        let before = console::mode(&terminal.input)?;
        console::set_mode(&terminal.input, before & !(ENABLE_ECHO_INPUT | ENABLE_LINE_INPUT))?;
        let from = terminal.descriptor()?;
        Ok(Keys { terminal, from, before })
    }

    /// The next key; `None` if the console was closed.
    pub fn wait(&mut self) -> Option<u8> {
        let mut key = [0];
        let read = self.from.read(&mut key).unwrap_or(0);
        (read == 1).then(|| key[0])
    }

    /// A function that restores the console, for callers that cannot wait until this is dropped.
    ///
    /// # Errors
    /// If the process has no handle left.
    pub fn restorer(&self) -> io::Result<impl FnOnce() + Send + use<>> {
        let (input, before) = (self.terminal.input.try_clone()?, self.before);
        Ok(move || drop(console::set_mode(&input, before)))
    }

    /// The console's width in columns.
    pub fn width(&self) -> usize {
        self.terminal.width()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = console::set_mode(&self.terminal.input, self.before);
    }
}
