//! The thread that asks at the terminal. It takes the terminal for a question, or to wait for one, and gives it back.

use super::{AskerCommand, AskerState};
use crate::cmd::approver::dialogue::{Dialogue, DialogueStep};
use crate::cmd::approver::editor;
use crate::cmd::approver::texts::LETTERS;
use crate::cmd::hitl_gate::attach::is_command;
use pipewright_clients::approvals::Question;
use pipewright_io::printable::printable;
use pipewright_lines::Limits;
use pipewright_sys::descriptor::wait_readable;
use pipewright_sys::lock;
use pipewright_sys::terminal::{Asking, Terminal, TerminalInput};
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
    /// Whether the stage is `attach`, which takes commands, and whose questions are those of gates.
    pub(super) is_attached: bool,
    pub(super) orders: Receiver<AskerCommand>,
    pub(super) woken: PipeReader,
    pub(super) answer: PipeWriter,
    pub(super) shared: Arc<AskerState>,
    /// When an unanswered question was taken away.
    pub(super) withdrawn: Option<Instant>,
}

/// A question that is shown this soon after another was taken away replaces it: typed text may be meant for the former.
const REPLACING: Duration = Duration::from_secs(1);
/// For this long after a question has replaced another, no input is taken as an answer.
const READING_TIME: Duration = Duration::from_millis(500);
/// A call that begins to wait can be heard.
const BELL: &str = "\u{7}";
const TOO_SOON: &str = "ignored: this question has just replaced another\n";

/// How a question ended.
enum QuestionEnd {
    /// The question was withdrawn, or answered.
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
                AskerCommand::Ask(question, heading) => (question.nonce.clone(), self.ask(*question, &heading)),
                AskerCommand::Note(text) if self.is_attached => match self.wait_idle(&text) {
                    Ok(next) => {
                        waiting = next;
                        continue;
                    }
                    Err(why) => (String::new(), QuestionEnd::Gone(why)),
                },
                AskerCommand::End => return,
                // Its question has already ended here.
                AskerCommand::Refuse(_) | AskerCommand::Withdraw(_) | AskerCommand::Skip | AskerCommand::Note(_) => {
                    continue;
                }
            };
            match ended {
                QuestionEnd::Settled => {}
                QuestionEnd::Over => return,
                QuestionEnd::Gone(why) => {
                    lock(&self.shared.state).gone = Some((nonce, why));
                    let _ = self.answer.write_all(b"\n");
                }
            }
        }
    }

    /// Shows `text`, and takes what is typed until the next order, which it gives; `None` if no more orders come.
    fn wait_idle(&self, text: &str) -> Result<Option<AskerCommand>, String> {
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
                    Some(AskerCommand::Note(text)) => terminal.show(&text).map_err(gone)?,
                    Some(AskerCommand::Refuse(_) | AskerCommand::Withdraw(_) | AskerCommand::Skip) => {}
                    order => return Ok(order),
                },
            }
        }
    }

    /// The terminal, once no other process asks there; or the order that came first, `None` if no more orders come.
    fn take_terminal(&self) -> Result<Result<Asking, Option<AskerCommand>>, String> {
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
        // Writing fails only if the stage has ended.
        let _ = (&self.answer).write_all(b"\n");
    }

    /// The next order; `None` if no more orders come.
    fn next(&self) -> Option<AskerCommand> {
        (&self.woken).read_exact(&mut [0]).ok()?;
        self.orders.recv().ok()
    }

    fn ask(&mut self, question: Question, heading: &str) -> QuestionEnd {
        let mut terminal = loop {
            match self.take_terminal() {
                Ok(Ok(terminal)) => break terminal,
                Ok(Err(Some(AskerCommand::Note(_) | AskerCommand::Refuse(_)))) => {}
                Ok(Err(Some(AskerCommand::Withdraw(_) | AskerCommand::Skip))) => return QuestionEnd::Settled,
                Ok(Err(_)) => return QuestionEnd::Over,
                Err(why) => return QuestionEnd::Gone(why),
            }
        };
        let mut dialogue = Dialogue::new(&LETTERS, question, self.color, terminal.width(), self.limits);
        let gone = |error: io::Error| QuestionEnd::Gone(format!("the terminal has gone: {error}"));
        if let Err(error) = terminal.show(BELL).and_then(|()| terminal.show(heading)) {
            return gone(error);
        }
        let mut replaces = self.withdrawn.take().is_some_and(|at| at.elapsed() < REPLACING);
        let mut counts_from = Instant::now();
        let mut next = dialogue.begin();
        loop {
            match next {
                DialogueStep::Say(text) => {
                    if let Err(error) = terminal.show(&text) {
                        return gone(error);
                    }
                }
                DialogueStep::AskAnew(text) => {
                    let shown = terminal.show(&text);
                    // Input typed before the text was shown is not an answer to it.
                    terminal.forget_input();
                    if let Err(error) = shown.and_then(|()| terminal.show(dialogue.prompt())) {
                        return gone(error);
                    }
                    if std::mem::take(&mut replaces) {
                        counts_from = Instant::now() + READING_TIME;
                    }
                }
                DialogueStep::Edit => {
                    let stop = || wait_readable(&self.woken, Duration::ZERO);
                    let edited = editor::edit(&dialogue.draft(), self.limits.max_line, &mut terminal, stop);
                    next = dialogue.take_draft(edited);
                    continue;
                }
                DialogueStep::Answer(record) => {
                    if self.answer.write_all(record.as_bytes()).is_err() {
                        return QuestionEnd::Over;
                    }
                    next = loop {
                        match self.next() {
                            Some(AskerCommand::Refuse(why)) => break dialogue.refused(&why),
                            Some(AskerCommand::Note(text)) => _ = terminal.show(&text),
                            order => return self.close(&mut terminal, order),
                        }
                    };
                    continue;
                }
            }
            next = match terminal.line(&self.woken) {
                TerminalInput::Line(_) | TerminalInput::End if Instant::now() < counts_from => {
                    DialogueStep::Say(TOO_SOON.to_owned() + dialogue.prompt())
                }
                TerminalInput::Line(line) if self.is_attached && is_command(line.trim()) => {
                    self.give_to_stage(&line);
                    DialogueStep::Say(String::new())
                }
                TerminalInput::Line(line) => dialogue.receive(&line),
                TerminalInput::End => dialogue.ended(),
                TerminalInput::Gone => return QuestionEnd::Gone("the terminal has gone".to_owned()),
                TerminalInput::Woken => match self.next() {
                    // The refusal is about an answer that was given elsewhere.
                    Some(AskerCommand::Refuse(_)) => DialogueStep::Say(String::new()),
                    Some(AskerCommand::Note(text)) => DialogueStep::Say(text + dialogue.prompt()),
                    order => {
                        self.withdrawn = matches!(order, Some(AskerCommand::Withdraw(_))).then(Instant::now);
                        return self.close(&mut terminal, order);
                    }
                },
            };
        }
    }

    /// Shows how the question ended, and that the terminal is free again.
    fn close(&self, terminal: &mut Asking, order: Option<AskerCommand>) -> QuestionEnd {
        let (note, ended) = match order {
            Some(AskerCommand::Withdraw(note)) => (note, QuestionEnd::Settled),
            Some(AskerCommand::Skip) => ("skipped: it stays open".to_owned(), QuestionEnd::Settled),
            // The question is a gate's, which asks the next person who attaches.
            _ if self.is_attached => ("hitl-gate ends; this question still waits".to_owned(), QuestionEnd::Over),
            _ => ("this question is withdrawn: hitl-gate ends".to_owned(), QuestionEnd::Over),
        };
        // A failed write means that the person's terminal has gone.
        let _ = terminal.show(&format!("\r{}\n", printable(&note)));
        ended
    }
}
