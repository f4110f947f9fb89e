//! Asking at the terminal, on a thread of its own (`worker`): here is what the stage has of it, and what both share. What the person
//! says goes to the stage as a `hitl_response`, through a pipe.

mod worker;

use crate::approvals::Question;
use crate::io::lines::Limits;
use crate::io::lock;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use worker::Worker;

enum Order {
    /// The text is shown before the question.
    Ask(Box<Question>, String),
    /// To show this while nothing is asked.
    Note(String),
    /// What the person has edited doesn't pass, and why.
    Refuse(String),
    /// The question that is open is settled; the note says how.
    Withdraw(String),
    /// The person wants to see another question first.
    Skip,
    End,
}

/// What the stage, the thread and who makes the end all look at.
#[derive(Default)]
struct Desk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The thread has been started and has not ended: it may have the terminal.
    is_running: bool,
    /// About which question nobody can be asked, and why.
    gone: Option<(String, String)>,
    /// What was typed that is for the stage and answers nothing.
    typed: Vec<String>,
}

/// The way to the thread.
pub struct Asker {
    orders: Sender<Order>,
    wake: PipeWriter,
    desk: Arc<Desk>,
    /// Until the first question: a thread that was started before the signals were held back would die of them.
    worker: Option<Worker>,
}

/// Which lines that a person types are no answers but for the stage ([`Asker::typed`]).
pub type IsForStage = fn(&str) -> bool;

impl Asker {
    /// Gives also where its answers are read from, and who sees to it at the end that the terminal is put back.
    ///
    /// # Errors
    /// Where the process has no descriptor left.
    pub fn new(tty: PathBuf, color: bool, limits: Limits) -> io::Result<(Asker, PipeReader, Farewell)> {
        let ((woken, wake), (answers, answer)) = (io::pipe()?, io::pipe()?);
        let ((orders, to_do), desk) = (channel(), Arc::new(Desk::default()));
        let farewell = Farewell { orders: orders.clone(), wake: wake.try_clone()?, desk: Arc::clone(&desk) };
        let desk_there = Arc::clone(&desk);
        let worker = Worker {
            tty,
            color,
            limits,
            is_for_stage: None,
            orders: to_do,
            woken,
            answer,
            desk: desk_there,
            withdrawn: None,
        };
        Ok((Asker { orders, wake, desk, worker: Some(worker) }, answers, farewell))
    }

    /// Holds the terminal while nothing is asked, too, and takes what is typed then; and what is for the stage at any time.
    pub fn wait_at_terminal(&mut self, is_for_stage: IsForStage, text: &str) {
        if let Some(worker) = &mut self.worker {
            worker.is_for_stage = Some(is_for_stage);
        }
        self.start();
        self.order(Order::Note(text.to_owned()));
    }

    /// Asks; `heading`, lines that are printable, is shown before the question.
    pub fn ask(&mut self, question: Question, heading: String) {
        self.start();
        lock(&self.desk.state).gone = None;
        self.order(Order::Ask(Box::new(question), heading));
    }

    fn start(&mut self) {
        if let Some(worker) = self.worker.take() {
            lock(&self.desk.state).is_running = true;
            std::thread::spawn(move || worker.run());
        }
    }

    /// Shows lines, which are printable, where nothing is asked.
    pub fn note(&mut self, text: String) {
        self.order(Order::Note(text));
    }

    /// What was typed for the stage since the last call.
    pub fn typed(&mut self) -> Vec<String> {
        std::mem::take(&mut lock(&self.desk.state).typed)
    }

    pub fn refuse(&mut self, why: &str) {
        self.order(Order::Refuse(why.to_owned()));
    }

    pub fn withdraw(&mut self, note: &str) {
        self.order(Order::Withdraw(note.to_owned()));
    }

    /// Takes the question from the terminal, and keeps it open.
    pub fn skip(&mut self) {
        self.order(Order::Skip);
    }

    /// The nonce of the question that can't be asked, and why.
    pub fn gone(&mut self) -> Option<(String, String)> {
        lock(&self.desk.state).gone.take()
    }

    fn order(&mut self, order: Order) {
        give(&self.orders, &mut self.wake, order);
    }
}

fn give(orders: &Sender<Order>, wake: &mut PipeWriter, order: Order) {
    // The thread ends with the run; then nobody is asked anything. A byte for each order, which are few.
    if orders.send(order).is_ok() {
        let _ = wake.write_all(b"!");
    }
}

/// Waits at the end until the terminal has been put back.
pub struct Farewell {
    orders: Sender<Order>,
    wake: PipeWriter,
    desk: Arc<Desk>,
}

/// Longer than an editor takes to be ended.
const PATIENCE: Duration = Duration::from_secs(1);

impl Farewell {
    pub fn wait(mut self) {
        give(&self.orders, &mut self.wake, Order::End);
        let state = lock(&self.desk.state);
        let waited = self.desk.changed.wait_timeout_while(state, PATIENCE, |state| state.is_running);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}
