//! The common part of the gates: which calls they read, pass on and refuse, and what they write about them.

use super::audit::AuditWriter;
use super::caller::RefusalForm;
use super::events::Events;
use super::refusal::Refusal;
use super::world::intake::{Intake, IntakeItem};
use pipewright_io::report::{Report, Status};
use pipewright_io::stage::{Event, Out, Side};
use pipewright_lines::{Line, Piece};
use pipewright_policy::audit::{self, Did, Subject};
use pipewright_record::{Call, Kind, OwnedCall};
use pipewright_sys::process::{describe, exit_code};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// The passage of calls from the near side to the far side.
pub struct Passage {
    pub report: Arc<Report>,
    /// The output for the gate's own records; with `None` they are not written.
    pub events: Option<Events>,
    intake: Intake,
    refuse_as: RefusalForm,
    audit: Option<Box<dyn AuditWriter>>,
    /// Calls that were passed on and may not be written yet.
    passed: VecDeque<PassedCall>,
    /// Why the other side accepts no more lines.
    broken: Option<String>,
}

/// A call as it was passed on.
struct PassedCall {
    call: OwnedCall,
    /// The line's number in the gate's input.
    number: u64,
    did: Did,
    /// The call is written when this many bytes are.
    end: u64,
}

impl Passage {
    /// Lines that are nested deeper than `max_depth` are refused.
    pub fn new(
        max_depth: usize,
        refuse_as: RefusalForm,
        events: Option<Events>,
        audit: Option<Box<dyn AuditWriter>>,
        report: Arc<Report>,
    ) -> Passage {
        let intake = Intake::new(max_depth);
        Passage { report, events, intake, refuse_as, audit, passed: VecDeque::new(), broken: None }
    }

    /// Reads a line of the near side, or a part of one.
    pub fn read<'a>(&mut self, piece: &Piece<'a>) -> IntakeItem<'a> {
        self.intake.read(piece)
    }

    /// Writes to the audit, if there is one, what is about to happen.
    ///
    /// # Errors
    /// The audit has no such entry, so it must not happen.
    pub fn audit<'e>(&mut self, event: impl FnOnce() -> audit::Event<'e>) -> io::Result<()> {
        self.audit.as_mut().map_or(Ok(()), |audit| audit.write(&event()))
    }

    /// Writes to the audit what has happened; a failure is reported.
    pub fn note<'e>(&mut self, event: impl FnOnce() -> audit::Event<'e>) {
        if let Err(error) = self.audit(event) {
            self.report.fault("--audit", error);
        }
    }

    /// Writes a record to the output for events.
    pub fn send_event(&mut self, record: &str, out: &mut Out) {
        if let Some(events) = &mut self.events {
            events.take_record(record, out);
        }
    }

    /// Passes a call's line on: to the child process, or in a pipe to stdout.
    pub fn pass(&mut self, line: &Line<'_>, call: &Call<'_>, did: Did, out: &mut Out) {
        self.forget_written(out);
        out.pass(Side::FAR, &Piece::Line(*line));
        let end = out.sent(Side::FAR);
        self.passed.push_back(PassedCall { call: call.into(), number: line.number(), did, end });
    }

    /// The lines that were passed on have reached their reader in another form.
    #[cfg_attr(not(unix), allow(dead_code))]
    pub fn are_delivered(&mut self) {
        self.passed.clear();
    }

    /// Answers a call that does not pass.
    pub fn refuse(&self, call: &Call<'_>, refusal: &Refusal, out: &mut Out) {
        self.refuse_as.refuse(call, refusal, out);
    }

    /// As [`Passage::refuse`], with other `advice` for a model than that for the kind.
    pub fn refuse_advising(&self, call: &Call<'_>, refusal: &Refusal, advice: &str, out: &mut Out) {
        self.refuse_as.refuse_advising(call, refusal, advice, out);
    }

    /// Takes the loss of the far side.
    pub fn take_loss(&mut self, event: &Event<'_>, out: &mut Out) {
        match event {
            Event::Exited(_, status) => {
                self.broken.get_or_insert_with(|| format!("the other side has ended ({})", describe(*status)));
                out.stop(Status::Child(exit_code(*status)));
            }
            Event::Broken(Side::FAR, error) => {
                self.broken = Some(format!("the other side accepts no more lines ({error})"));
                // As in a pipe: the next write to our stdin fails.
                out.close_near(0);
            }
            _ => {}
        }
    }

    /// Why the other side accepts no more lines, if it does not.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Once the other side accepts no more lines: answers the calls that passed and were not delivered.
    pub fn answer_undelivered(&mut self, out: &mut Out) {
        let Some(why) = &self.broken else { return };
        let refusal = Refusal::new(Kind::Lost, format!("it was not delivered: {why}"));
        for passed in self.take_undelivered(out) {
            let call = passed.call.call();
            self.report
                .fault(format_args!("stdin:{}", passed.number), format_args!("{}: {}", call.tool, refusal.message));
            self.refuse(&call, &refusal, out);
        }
    }

    /// The end of the run: the audit gets the calls that were not delivered, and its end.
    pub fn end(&mut self, out: &Out) {
        self.take_undelivered(out);
        if let Some(Err(error)) = self.audit.take().map(|mut audit| audit.end()) {
            self.report.fault("--audit", error);
        }
    }

    /// The calls that are not written and, once a write has failed or the run has ended, will not be; the audit gets
    /// them.
    fn take_undelivered(&mut self, out: &Out) -> VecDeque<PassedCall> {
        self.forget_written(out);
        let undelivered = std::mem::take(&mut self.passed);
        for passed in &undelivered {
            let call = passed.call.call();
            self.note(|| audit::Event::Undelivered { subject: Subject::of(&call), did: passed.did });
        }
        undelivered
    }

    fn forget_written(&mut self, out: &Out) {
        let written = out.written(Side::FAR);
        while self.passed.front().is_some_and(|passed| passed.end <= written) {
            self.passed.pop_front();
        }
    }
}
