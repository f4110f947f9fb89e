//! Requests to end, which a console sends: Ctrl-C, Ctrl-Break, and that its window is closed. The system calls the handler on a
//! thread of its own.
#![allow(unsafe_code)]

use super::checked;
use crate::lock;
use std::fmt;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::core::BOOL;

/// A request to end, named like the signal that it is on Unix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Break, with which a wrapper asks its child to end; the console was closed, the user logs off, or the system shuts down.
    Terminate,
    /// Never comes: on Unix, some commands take it as a request to open their files again.
    Hangup,
}

impl Signal {
    /// 128 plus the signal's number, as in a shell on Unix.
    pub fn exit_code(self) -> u8 {
        match self {
            Signal::Hangup => 129,
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Signal::Interrupt => "Ctrl-C",
            Signal::Terminate => "a request to end",
            Signal::Hangup => "a hangup",
        })
    }
}

/// The requests to end this process. They end it at once until a command receives them.
#[derive(Debug)]
pub struct Signals(());

static RECEIVER: Mutex<Option<Sender<Signal>>> = Mutex::new(None);

impl Signals {
    /// Installs the handler. `main` calls it once.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn hold() -> io::Result<Signals> {
        // SAFETY: the handler is a function that lives as long as the process and may run on any thread.
        checked(unsafe { SetConsoleCtrlHandler(Some(handle), 1) })?;
        Ok(Signals(()))
    }

    /// From now on, requests do not end this process but are sent to the returned receiver. After the receiver is dropped, they end
    /// it again.
    pub fn receive(&self) -> Receiver<Signal> {
        let (to, received) = mpsc::channel();
        *lock(&RECEIVER) = Some(to);
        received
    }
}

/// SAFETY: called by the system with the kind of the event.
unsafe extern "system" fn handle(kind: u32) -> BOOL {
    let signal = if kind == CTRL_C_EVENT { Signal::Interrupt } else { Signal::Terminate };
    let received = lock(&RECEIVER).as_ref().is_some_and(|to| to.send(signal).is_ok());
    if !received {
        die_of(signal);
    }
    // When this returns for a closed console, the system ends the process; until then, there are five seconds.
    while ![CTRL_C_EVENT, CTRL_BREAK_EVENT].contains(&kind) {
        thread::park();
    }
    1
}

/// Ends this process with the exit status of the signal. Call it after everything has been saved.
pub fn die_of(signal: Signal) -> ! {
    std::process::exit(i32::from(signal.exit_code()))
}
