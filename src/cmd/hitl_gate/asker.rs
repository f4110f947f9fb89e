//! Asking at the terminal, on a thread of its own: it takes the terminal for a question and gives it back. What the person says
//! goes to the stage as a `hitl_response`, through a pipe.

use super::dialogue::{Dialogue, Next};
use crate::approvals::Question;
use crate::io::asking::{Asking, TerminalInput};
use crate::io::descriptor::wait_readable;
use crate::io::lines::Limits;
use crate::io::lock;
use crate::io::terminal::{Terminal, printable};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

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

/// The thread.
struct Worker {
    tty: PathBuf,
    color: bool,
    limits: Limits,
    is_for_stage: Option<IsForStage>,
    orders: Receiver<Order>,
    woken: PipeReader,
    answer: PipeWriter,
    desk: Arc<Desk>,
    /// When a question was taken away that the person had not answered.
    withdrawn: Option<Instant>,
}

/// A question that is shown so soon after another was taken away replaces it: what is typed may be meant for the other.
const REPLACING: Duration = Duration::from_secs(1);
/// For so long after a question has replaced another, nothing is taken for an answer.
const READING: Duration = Duration::from_millis(500);
const TOO_SOON: &str = "ignored: this question has just replaced another\n";

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
        self.take_orders();
        lock(&self.desk.state).is_running = false;
        self.desk.changed.notify_all();
    }

    fn take_orders(&mut self) {
        let mut waiting = None;
        while let Some(order) = waiting.take().or_else(|| self.next()) {
            let (nonce, ended) = match order {
                Order::Ask(question, heading) => (question.nonce.clone(), self.ask(*question, &heading)),
                Order::Note(text) if self.is_for_stage.is_some() => match self.wait_idle(&text) {
                    Ok(next) => {
                        waiting = next;
                        continue;
                    }
                    Err(why) => (String::new(), Ended::Gone(why)),
                },
                Order::End => return,
                // It is about a question that has ended here already.
                Order::Refuse(_) | Order::Withdraw(_) | Order::Skip | Order::Note(_) => continue,
            };
            match ended {
                Ended::Settled => {}
                Ended::Over => return,
                Ended::Gone(why) => {
                    lock(&self.desk.state).gone = Some((nonce, why));
                    let _ = self.answer.write_all(b"\n");
                }
            }
        }
    }

    /// Shows `text`, and takes what is typed until there is another order, which is given; none where nobody gives one any more.
    fn wait_idle(&self, text: &str) -> Result<Option<Order>, String> {
        let mut terminal = match self.take_terminal()? {
            Ok(terminal) => terminal,
            Err(order) => return Ok(order),
        };
        let gone = |error: io::Error| format!("the terminal has gone: {error}");
        terminal.show(text).map_err(gone)?;
        loop {
            match terminal.line(&self.woken) {
                TerminalInput::Line(line) => self.give_to_stage(&line),
                TerminalInput::End => return Err(String::new()),
                TerminalInput::Gone => return Err("the terminal has gone".to_owned()),
                TerminalInput::Woken => match self.next() {
                    Some(Order::Note(text)) => terminal.show(&text).map_err(gone)?,
                    Some(Order::Refuse(_) | Order::Withdraw(_) | Order::Skip) => {}
                    order => return Ok(order),
                },
            }
        }
    }

    /// The terminal, once no other process asks there; or the order that came before, none where nobody gives one any more.
    fn take_terminal(&self) -> Result<Result<Asking, Option<Order>>, String> {
        let mut order = None;
        let begun = Terminal::open(&self.tty).and_then(|terminal| {
            Asking::begin(terminal, |time| {
                let is_ordered = wait_readable(&self.woken, time);
                if is_ordered {
                    order = self.next();
                }
                !is_ordered
            })
        });
        let begun = begun.map_err(|failure| failure.to_string())?;
        Ok(begun.ok_or(order))
    }

    fn give_to_stage(&self, line: &str) {
        lock(&self.desk.state).typed.push(line.trim().to_owned());
        // The stage has ended where it fails.
        let _ = (&self.answer).write_all(b"\n");
    }

    /// The next thing to do; none where nobody is there any more who could say so.
    fn next(&self) -> Option<Order> {
        (&self.woken).read_exact(&mut [0]).ok()?;
        self.orders.recv().ok()
    }

    fn ask(&mut self, question: Question, heading: &str) -> Ended {
        let mut terminal = loop {
            match self.take_terminal() {
                Ok(Ok(terminal)) => break terminal,
                Ok(Err(Some(Order::Note(_) | Order::Refuse(_)))) => {}
                Ok(Err(Some(Order::Withdraw(_) | Order::Skip))) => return Ended::Settled,
                Ok(Err(_)) => return Ended::Over,
                Err(why) => return Ended::Gone(why),
            }
        };
        let mut dialogue = Dialogue::new(question, self.color, terminal.width(), self.limits);
        let gone = |error: io::Error| Ended::Gone(format!("the terminal has gone: {error}"));
        if let Err(error) = terminal.show(heading) {
            return gone(error);
        }
        let mut replaces = self.withdrawn.take().is_some_and(|at| at.elapsed() < REPLACING);
        let mut counts_from = Instant::now();
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
                    if std::mem::take(&mut replaces) {
                        counts_from = Instant::now() + READING;
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
                    next = loop {
                        match self.next() {
                            Some(Order::Refuse(why)) => break dialogue.refused(&why),
                            Some(Order::Note(text)) => _ = terminal.show(&text),
                            order => return self.close(&mut terminal, order),
                        }
                    };
                    continue;
                }
            }
            next = match terminal.line(&self.woken) {
                TerminalInput::Line(_) | TerminalInput::End if Instant::now() < counts_from => {
                    Next::Say(TOO_SOON.to_owned() + dialogue.prompt())
                }
                TerminalInput::Line(line)
                    if self.is_for_stage.is_some_and(|is_for_stage| is_for_stage(line.trim())) =>
                {
                    self.give_to_stage(&line);
                    Next::Say(String::new())
                }
                TerminalInput::Line(line) => dialogue.receive(&line),
                TerminalInput::End => dialogue.ended(),
                TerminalInput::Gone => return Ended::Gone("the terminal has gone".to_owned()),
                TerminalInput::Woken => match self.next() {
                    // Of an answer that was given elsewhere.
                    Some(Order::Refuse(_)) => Next::Say(String::new()),
                    Some(Order::Note(text)) => Next::Say(text + dialogue.prompt()),
                    order => {
                        self.withdrawn = matches!(order, Some(Order::Withdraw(_))).then(Instant::now);
                        return self.close(&mut terminal, order);
                    }
                },
            };
        }
    }
    /// Says how it ended, and that we are done with the terminal.
    fn close(&self, terminal: &mut Asking, order: Option<Order>) -> Ended {
        let (note, ended) = match order {
            Some(Order::Withdraw(note)) => (note, Ended::Settled),
            Some(Order::Skip) => ("skipped: it still waits".to_owned(), Ended::Settled),
            // It is a gate's, which asks the next person who attaches.
            _ if self.is_for_stage.is_some() => ("hitl-gate ends; this question still waits".to_owned(), Ended::Over),
            _ => ("this question is withdrawn: hitl-gate ends".to_owned(), Ended::Over),
        };
        // Who doesn't see it isn't there any more.
        let _ = terminal.show(&format!("\r{}\n", printable(&note)));
        ended
    }
}
