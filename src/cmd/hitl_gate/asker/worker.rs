//! The thread that asks at the terminal. It takes the terminal for a question, or to wait for one, and gives it back.

use super::{IsForStage, Order, Shared};
use crate::approvals::Question;
use crate::cmd::approver::dialogue::{Dialogue, Next};
use crate::cmd::approver::editor;
use crate::cmd::approver::words::LETTERS;
use crate::io::asking::{Asking, TerminalInput};
use crate::io::descriptor::wait_readable;
use crate::io::lines::Limits;
use crate::io::lock;
use crate::io::terminal::{Terminal, printable};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// The thread.
pub(super) struct Worker {
    pub(super) tty: PathBuf,
    pub(super) color: bool,
    pub(super) limits: Limits,
    pub(super) is_for_stage: Option<IsForStage>,
    pub(super) orders: Receiver<Order>,
    pub(super) woken: PipeReader,
    pub(super) answer: PipeWriter,
    pub(super) shared: Arc<Shared>,
    /// When an unanswered question was taken away.
    pub(super) withdrawn: Option<Instant>,
}

/// A question that is shown this soon after another was taken away replaces it: typed text may be meant for the former.
const REPLACING: Duration = Duration::from_secs(1);
/// For this long after a question has replaced another, no input is taken as an answer.
const READING: Duration = Duration::from_millis(500);
const TOO_SOON: &str = "ignored: this question has just replaced another\n";

/// How a question ended.
enum Ended {
    /// It was withdrawn, or answered.
    Settled,
    /// There is no terminal; why.
    Gone(String),
    /// The run ends.
    Over,
}

impl Worker {
    pub(super) fn run(mut self) {
        self.take_orders();
        lock(&self.shared.state).is_running = false;
        self.shared.changed.notify_all();
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
                // Its question has already ended here.
                Order::Refuse(_) | Order::Withdraw(_) | Order::Skip | Order::Note(_) => continue,
            };
            match ended {
                Ended::Settled => {}
                Ended::Over => return,
                Ended::Gone(why) => {
                    lock(&self.shared.state).gone = Some((nonce, why));
                    let _ = self.answer.write_all(b"\n");
                }
            }
        }
    }

    /// Shows `text`, and takes what is typed until the next order, which it gives; `None` if no more orders come.
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

    /// The terminal, once no other process asks there; or the order that came first, `None` if no more orders come.
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
        lock(&self.shared.state).typed.push(line.trim().to_owned());
        // It fails only if the stage has ended.
        let _ = (&self.answer).write_all(b"\n");
    }

    /// The next order; `None` if no more orders come.
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
        let mut dialogue = Dialogue::new(&LETTERS, question, self.color, terminal.width(), self.limits);
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
                    // Input typed before the text was shown is not an answer to it.
                    terminal.forget_input();
                    if let Err(error) = shown.and_then(|()| terminal.show(dialogue.prompt())) {
                        return gone(error);
                    }
                    if std::mem::take(&mut replaces) {
                        counts_from = Instant::now() + READING;
                    }
                }
                Next::Edit => {
                    let stop = || wait_readable(&self.woken, Duration::ZERO);
                    let edited = editor::edit(&dialogue.draft(), self.limits.max_line, &mut terminal, stop);
                    next = dialogue.take_draft(edited);
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
                    // It is about an answer that was given elsewhere.
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

    /// Shows how the question ended, and that the terminal is free again.
    fn close(&self, terminal: &mut Asking, order: Option<Order>) -> Ended {
        let (note, ended) = match order {
            Some(Order::Withdraw(note)) => (note, Ended::Settled),
            Some(Order::Skip) => ("skipped: it stays open".to_owned(), Ended::Settled),
            // The question is a gate's, which asks the next person who attaches.
            _ if self.is_for_stage.is_some() => ("hitl-gate ends; this question still waits".to_owned(), Ended::Over),
            _ => ("this question is withdrawn: hitl-gate ends".to_owned(), Ended::Over),
        };
        // A failed write means that the person's terminal has gone.
        let _ = terminal.show(&format!("\r{}\n", printable(&note)));
        ended
    }
}
