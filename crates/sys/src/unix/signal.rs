//! Signals: a thread waits for them; there is no signal handler.
#![allow(unsafe_code)]

use crate::lock;
use nix::libc;
use nix::sys::signal::{self as nix_signal, SigSet, SigmaskHow};
use std::fmt;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// A signal that requests the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal was closed.
    Hangup,
}

const ALL: [Signal; 3] = [Signal::Interrupt, Signal::Terminate, Signal::Hangup];

impl Signal {
    fn number(self) -> nix_signal::Signal {
        match self {
            Signal::Interrupt => nix_signal::SIGINT,
            Signal::Terminate => nix_signal::SIGTERM,
            Signal::Hangup => nix_signal::SIGHUP,
        }
    }

    /// 128 plus the signal's number, as in a shell.
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
        to.write_str(self.number().as_str())
    }
}

/// The signals that request the end of this process. They have their usual effect until a command receives them.
#[derive(Debug)]
pub struct Signals {
    receiver: Arc<Mutex<Option<Sender<Signal>>>>,
}

impl Signals {
    /// Blocks XFSZ, so that a write beyond the limit of `ulimit -f` fails (EFBIG) like on a full disk instead of killing this process.
    /// Blocks INT, TERM and HUP, and starts the thread that waits for them. Signals that were ignored when this process
    /// started (`nohup`, a shell's `&`) stay ignored. `main` calls it once, before any thread is started, because threads
    /// inherit the mask. Children get the mask that this process was started with.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn hold() -> io::Result<Signals> {
        let mut set = SigSet::empty();
        for signal in ALL {
            if !is_ignored(signal) {
                set.add(signal.number());
            }
        }
        hold(&(set | SigSet::from(nix_signal::SIGXFSZ)))?;
        let receiver: Arc<Mutex<Option<Sender<Signal>>>> = Arc::default();
        if set != SigSet::empty() {
            let receiver = Arc::clone(&receiver);
            thread::Builder::new().spawn(move || {
                // A command may block further signals in its own threads; this one must not take them instead.
                let _ = SigSet::all().thread_block();
                loop {
                    let signal = wait(&set);
                    let received = lock(&receiver).as_ref().is_some_and(|to| to.send(signal).is_ok());
                    if !received {
                        die_of(signal);
                    }
                }
            })?;
        }
        Ok(Signals { receiver })
    }

    /// From now on, signals do not end this process but are sent to the returned receiver. After the receiver is dropped, they end
    /// it again.
    pub fn receive(&self) -> Receiver<Signal> {
        let (to, received) = mpsc::channel();
        *lock(&self.receiver) = Some(to);
        received
    }
}

fn wait(set: &SigSet) -> Signal {
    loop {
        if let Ok(number) = set.wait()
            && let Some(signal) = ALL.into_iter().find(|signal| signal.number() == number)
        {
            return signal;
        }
    }
}

/// The mask that this process was started with.
static AT_START: OnceLock<SigSet> = OnceLock::new();

/// Blocks signals for this thread and those that it starts.
pub(crate) fn hold(set: &SigSet) -> nix::Result<()> {
    let before = set.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    AT_START.get_or_init(|| before);
    Ok(())
}

/// Restores the mask that this process was started with: for a child, between fork and exec, which would otherwise
/// inherit our blocked signals. Async-signal-safe: it reads a cell that is not written any more, and calls
/// pthread_sigmask(3).
///
/// # Errors
/// None in practice: it fails only for a wrong `how`.
pub(crate) fn restore_mask() -> io::Result<()> {
    if let Some(mask) = AT_START.get() {
        mask.thread_set_mask()?;
    }
    Ok(())
}

/// Makes INT, TERM and HUP end this process again if the parent process ignored them: for a child, between fork and exec.
/// Async-signal-safe: it calls sigaction(2).
///
/// # Errors
/// None in practice: it fails only for a wrong signal number.
pub(crate) fn restore_default_actions() -> io::Result<()> {
    for signal in ALL {
        // SAFETY: SIG_DFL installs no handler, so there is no code of ours that could run in one.
        unsafe { nix_signal::signal(signal.number(), nix_signal::SigHandler::SigDfl) }?;
    }
    Ok(())
}

fn is_ignored(signal: Signal) -> bool {
    let mut current = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: with a null `act`, sigaction(2) changes nothing and only fills `current`, which it does
    // whenever it returns 0; it is read only then.
    unsafe {
        libc::sigaction(signal.number() as libc::c_int, std::ptr::null(), current.as_mut_ptr()) == 0
            && current.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Dies of the signal, so that a waiting parent gets the right status (only then does a shell stop its loop on
/// Ctrl-C). Call it after everything has been saved.
pub fn die_of(signal: Signal) -> ! {
    // SAFETY: SIG_DFL installs no handler, so there is no code of ours that could run in one.
    let reset = unsafe { nix_signal::signal(signal.number(), nix_signal::SigHandler::SigDfl) };
    if reset.is_ok() {
        let mut set = SigSet::empty();
        set.add(signal.number());
        let _ = nix_signal::pthread_sigmask(SigmaskHow::SIG_UNBLOCK, Some(&set), None);
        let _ = nix_signal::raise(signal.number());
    }
    std::process::exit(i32::from(signal.exit_code()))
}
