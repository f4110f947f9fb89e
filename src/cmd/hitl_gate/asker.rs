//! Asking at the terminal, on a thread of its own (`worker`). This file has the stage's side and the shared state. The
//! person's answers go to the stage as `hitl_response` records, through a pipe.

mod worker;

use pipewright_clients::approvals::Question;
use pipewright_lines::Limits;
use pipewright_sys::lock;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use worker::Worker;

enum AskerCommand {
    /// Show the text, then the question.
    Ask(Box<Question>, String),
    /// Show this while nothing is asked.
    Note(String),
    /// The edited call does not pass; why.
    Refuse(String),
    /// The open question is settled; the note tells how.
    Withdraw(String),
    /// Take the question from the terminal, and keep it open.
    Skip,
    End,
}

/// The state that the stage, the thread and the end of the run share.
#[derive(Default)]
struct AskerState {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The thread has been started and has not ended: it may use the terminal.
    is_running: bool,
    /// The nonce of the question that can't be asked, and why.
    gone: Option<(String, String)>,
    /// Typed lines that are commands for the stage.
    typed: Vec<String>,
}

/// The stage's handle of the thread.
pub struct Asker {
    orders: Sender<AskerCommand>,
    wake: PipeWriter,
    shared: Arc<AskerState>,
    /// The thread's work, until the first question: a thread that was started before the signals were held back would
    /// die of them.
    worker: Option<Worker>,
}

impl Asker {
    /// Also gives the pipe of its answers, and the [`TerminalReset`] that puts the terminal back at the end.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn new(tty: PathBuf, color: bool, limits: Limits) -> io::Result<(Asker, PipeReader, TerminalReset)> {
        let ((woken, wake), (answers, answer)) = (io::pipe()?, io::pipe()?);
        let ((orders, to_do), shared) = (channel(), Arc::new(AskerState::default()));
        let terminal_reset =
            TerminalReset { orders: orders.clone(), wake: wake.try_clone()?, shared: Arc::clone(&shared) };
        let worker_shared = Arc::clone(&shared);
        let worker = Worker {
            tty,
            color,
            limits,
            is_attached: false,
            orders: to_do,
            woken,
            answer,
            shared: worker_shared,
            withdrawn: None,
        };
        Ok((Asker { orders, wake, shared, worker: Some(worker) }, answers, terminal_reset))
    }

    /// For `attach`: also holds the terminal while nothing is asked, and takes what is typed then; commands are taken
    /// at any time.
    pub fn wait_at_terminal(&mut self, text: &str) {
        if let Some(worker) = &mut self.worker {
            worker.is_attached = true;
        }
        self.start();
        self.order(AskerCommand::Note(text.to_owned()));
    }

    /// Asks a question. `heading`, printable lines, is shown before it.
    pub fn ask(&mut self, question: Question, heading: String) {
        self.start();
        lock(&self.shared.state).gone = None;
        self.order(AskerCommand::Ask(Box::new(question), heading));
    }

    fn start(&mut self) {
        if let Some(worker) = self.worker.take() {
            lock(&self.shared.state).is_running = true;
            std::thread::spawn(move || worker.run());
        }
    }

    /// Shows lines, which are printable, if nothing is asked.
    pub fn note(&mut self, text: String) {
        self.order(AskerCommand::Note(text));
    }

    /// The commands for the stage that were typed since the last call.
    pub fn typed(&mut self) -> Vec<String> {
        std::mem::take(&mut lock(&self.shared.state).typed)
    }

    pub fn refuse(&mut self, why: &str) {
        self.order(AskerCommand::Refuse(why.to_owned()));
    }

    pub fn withdraw(&mut self, note: &str) {
        self.order(AskerCommand::Withdraw(note.to_owned()));
    }

    /// Takes the question from the terminal, and keeps it open.
    pub fn skip(&mut self) {
        self.order(AskerCommand::Skip);
    }

    /// The nonce of the question that can't be asked, and why.
    pub fn gone(&mut self) -> Option<(String, String)> {
        lock(&self.shared.state).gone.take()
    }

    fn order(&mut self, order: AskerCommand) {
        send_command(&self.orders, &mut self.wake, order);
    }
}

fn send_command(orders: &Sender<AskerCommand>, wake: &mut PipeWriter, order: AskerCommand) {
    // The thread ends with the run; nobody is asked anything then. One byte for each order, which are few.
    if orders.send(order).is_ok() {
        let _ = wake.write_all(b"!");
    }
}

/// Waits at the end of the run until the terminal has been put back.
pub struct TerminalReset {
    orders: Sender<AskerCommand>,
    wake: PipeWriter,
    shared: Arc<AskerState>,
}

/// Longer than it takes to end an editor.
const RESET_TIMEOUT: Duration = Duration::from_secs(1);

impl TerminalReset {
    pub fn wait(mut self) {
        send_command(&self.orders, &mut self.wake, AskerCommand::End);
        let state = lock(&self.shared.state);
        let waited = self.shared.changed.wait_timeout_while(state, RESET_TIMEOUT, |state| state.is_running);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}
