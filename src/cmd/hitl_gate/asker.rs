//! Asking at the terminal, on a thread of its own: it takes the terminal for a question and gives it back. What the person says
//! goes to the stage as a `hitl_response`, through a pipe.

use super::dialogue::{Dialogue, Next};
use crate::io::asking::{Asking, TerminalInput};
use crate::io::descriptor::wait_readable;
use crate::io::lines::Limits;
use crate::io::lock;
use crate::io::terminal::{Terminal, printable};
use crate::record::OwnedCall;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A call that a person is to be asked about.
pub struct Question {
    /// Marks the answer as this terminal's.
    pub nonce: String,
    /// Of its arguments.
    pub sha256: String,
    pub call: OwnedCall,
    /// When it is rejected.
    pub timeout: Option<Duration>,
}

enum Order {
    Ask(Box<Question>),
    /// What the person has edited doesn't pass, and why.
    Refuse(String),
    /// The question that is open is settled; the note says how.
    Withdraw(String),
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
    /// How many questions the terminal has been taken for, or will be.
    open: usize,
    /// About which question nobody can be asked, and why.
    gone: Option<(String, String)>,
}

/// The way to the thread.
pub struct Asker {
    orders: Sender<Order>,
    wake: PipeWriter,
    desk: Arc<Desk>,
    /// Until the first question: a thread that was started before the signals were held back would die of them.
    worker: Option<Worker>,
}

impl Asker {
    /// Gives also where its answers are read from, and who sees to it at the end that the terminal is put back.
    ///
    /// # Errors
    /// Where the process has no descriptor left.
    pub fn new(tty: PathBuf, color: bool, limits: Limits) -> io::Result<(Asker, PipeReader, Farewell)> {
        let ((woken, wake), (answers, answer)) = (io::pipe()?, io::pipe()?);
        let ((orders, to_do), desk) = (channel(), Arc::new(Desk::default()));
        let farewell = Farewell { orders: orders.clone(), wake: wake.try_clone()?, desk: Arc::clone(&desk) };
        let worker = Worker { tty, color, limits, orders: to_do, woken, answer, desk: Arc::clone(&desk) };
        Ok((Asker { orders, wake, desk, worker: Some(worker) }, answers, farewell))
    }

    pub fn ask(&mut self, question: Question) {
        if let Some(worker) = self.worker.take() {
            std::thread::spawn(move || worker.run());
        }
        let mut state = lock(&self.desk.state);
        state.open += 1;
        state.gone = None;
        drop(state);
        self.order(Order::Ask(Box::new(question)));
    }

    pub fn refuse(&mut self, why: &str) {
        self.order(Order::Refuse(why.to_owned()));
    }

    pub fn withdraw(&mut self, note: &str) {
        self.order(Order::Withdraw(note.to_owned()));
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
        let waited = self.desk.changed.wait_timeout_while(state, PATIENCE, |state| state.open > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// The thread.
struct Worker {
    tty: PathBuf,
    color: bool,
    limits: Limits,
    orders: Receiver<Order>,
    woken: PipeReader,
    answer: PipeWriter,
    desk: Arc<Desk>,
}

/// What ends a question.
enum Ended {
    /// It was withdrawn, or answered.
    Settled,
    /// There is no terminal, and why.
    Gone(String),
    /// The run ends.
    Over,
}

impl Worker {
    fn run(mut self) {
        while let Some(order) = self.next() {
            let Order::Ask(question) = order else {
                if matches!(order, Order::End) {
                    return;
                }
                // It is about a question that has ended here already.
                continue;
            };
            let nonce = question.nonce.clone();
            let ended = self.ask(*question);
            let over = matches!(ended, Ended::Over);
            let mut state = lock(&self.desk.state);
            state.open = state.open.saturating_sub(1);
            if let Ended::Gone(why) = ended {
                state.gone = Some((nonce, why));
                drop(state);
                let _ = self.answer.write_all(b"\n");
            }
            self.desk.changed.notify_all();
            if over {
                return;
            }
        }
    }

    /// The next thing to do; none where nobody is there any more who could say so.
    fn next(&mut self) -> Option<Order> {
        self.woken.read_exact(&mut [0]).ok()?;
        self.orders.recv().ok()
    }

    fn ask(&mut self, question: Question) -> Ended {
        let terminal = Terminal::open(&self.tty).and_then(Asking::begin);
        let mut terminal = match terminal {
            Ok(terminal) => terminal,
            Err(failure) => return Ended::Gone(failure.to_string()),
        };
        let mut dialogue = Dialogue::new(question, self.color, terminal.width(), self.limits);
        let gone = |error: io::Error| Ended::Gone(format!("the terminal has gone: {error}"));
        let mut next = dialogue.begin();
        loop {
            match next {
                Next::Say(text) => {
                    if let Err(error) = terminal.show(&text) {
                        return gone(error);
                    }
                }
                Next::AskAnew(text) => {
                    let shown = terminal.show(&text);
                    // What was typed before this was there to be read is no answer to it.
                    terminal.forget_input();
                    if let Err(error) = shown.and_then(|()| terminal.show(dialogue.prompt())) {
                        return gone(error);
                    }
                }
                Next::Edit => {
                    next = dialogue.edit(&mut terminal, || wait_readable(&self.woken, Duration::ZERO));
                    continue;
                }
                Next::Answer(record) => {
                    if self.answer.write_all(record.as_bytes()).is_err() {
                        return Ended::Over;
                    }
                    next = match self.next() {
                        Some(Order::Refuse(why)) => dialogue.refused(&why),
                        order => return close(&mut terminal, order),
                    };
                    continue;
                }
            }
            next = match terminal.line(&self.woken) {
                TerminalInput::Line(line) => dialogue.receive(&line),
                TerminalInput::End => dialogue.ended(),
                TerminalInput::Gone => return Ended::Gone("the terminal has gone".to_owned()),
                TerminalInput::Woken => match self.next() {
                    // Of an answer that was given elsewhere.
                    Some(Order::Refuse(_)) => Next::Say(String::new()),
                    order => return close(&mut terminal, order),
                },
            };
        }
    }
}

/// Says how it ended, and that we are done with the terminal.
fn close(terminal: &mut Asking, order: Option<Order>) -> Ended {
    let (note, ended) = match order {
        Some(Order::Withdraw(note)) => (note, Ended::Settled),
        _ => ("this question is withdrawn: hitl-gate ends".to_owned(), Ended::Over),
    };
    // Who doesn't see it isn't there any more.
    let _ = terminal.show(&format!("\r{}\n", printable(&note)));
    ended
}
