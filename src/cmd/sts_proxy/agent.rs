//! An agent: gets one line a decision, gives one line back.

use super::decision::{Decision, read_answer, shortened};
use super::player::{Player, Reply};
use crate::io::child::describe;
use crate::io::lines::{self, Piece, TOO_LONG};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Out, Side};
use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An agent that closes its stdout usually ends at once, and how it ended says more.
const TO_END: Duration = Duration::from_millis(500);

/// The agent's side of the conversation. Each line asked is owed one line, so an answer belongs to the
/// question that is owed longest: one that comes late is known to be late, and never taken for another's.
pub(super) struct Agent {
    timeout: Option<Duration>,
    attempts: u32,
    restarts: u32,
    report: Arc<Report>,
    /// What was asked and not yet answered, oldest first.
    owed: VecDeque<Asked>,
    /// How often the open decision was answered badly or not at all.
    failed: u32,
    failed_at: u64,
    /// Counts on while the game isn't ready.
    answer_by: Option<Instant>,
    /// Whether a decision is open: nothing is due otherwise.
    waiting: bool,
    closed_since: Option<Instant>,
    heard_nothing: bool,
}

/// A line that was sent to the agent.
struct Asked {
    /// The decision's number.
    decision: u64,
    /// It should have been answered by now, and was asked again.
    late: bool,
}

impl Agent {
    pub(super) fn new(timeout: Option<Duration>, attempts: u32, restarts: u32, report: Arc<Report>) -> Agent {
        Agent {
            timeout,
            attempts,
            restarts,
            report,
            owed: VecDeque::new(),
            failed: 0,
            failed_at: 0,
            answer_by: None,
            waiting: false,
            closed_since: None,
            heard_nothing: true,
        }
    }

    fn send(&mut self, decision: &Decision, out: &mut Out) {
        out.to(Side::Far).extend_from_slice(&decision.offered);
        self.owed.push_back(Asked { decision: decision.number, late: false });
        self.answer_by = self.timeout.map(|timeout| Instant::now() + timeout);
        self.waiting = true;
    }

    /// Counts a bad or missing answer, and asks again where that is still allowed.
    fn fail(&mut self, decision: &Decision, out: &mut Out) -> Result<(), Failure> {
        if self.failed_at != decision.number {
            self.failed = 0;
            self.failed_at = decision.number;
        }
        self.failed += 1;
        if self.failed >= self.attempts {
            let times = self.failed;
            return self.lost(&format!("gave no legal answer in {times} attempts (--attempts)"), out);
        }
        self.send(decision, out);
        Ok(())
    }

    fn lost(&mut self, how: &str, out: &mut Out) -> Result<(), Failure> {
        self.closed_since = None;
        if self.restarts == 0 {
            return Err(Failure::new(Status::Lost, format_args!("the agent {how}; --restart N starts it again")));
        }
        self.restarts -= 1;
        self.report.fault("agent", format_args!("{how}; it is started again"));
        out.respawn();
        Ok(())
    }
}

impl Player for Agent {
    fn ask(&mut self, decision: &Decision, out: &mut Out) {
        if self.owed.iter().any(|asked| asked.decision == decision.number && !asked.late) {
            // The same state once more while it thinks: its answer will do, if it comes in time.
            self.waiting = true;
        } else {
            self.send(decision, out);
        }
    }

    fn withdraw(&mut self, _out: &mut Out) {
        self.waiting = false;
    }

    fn hear(&mut self, piece: Piece<'_>, open: Option<&Decision>, out: &mut Out) -> Result<Reply, Failure> {
        let (number, answer) = match piece {
            Piece::Part { last: false, .. } => return Ok(Reply::Nothing),
            Piece::Part { number, .. } => (number, None),
            Piece::Line(line) => (line.number(), Some(lines::text(line.body()))),
        };
        let place = format!("agent:{number}");
        // Programs that were written for the mod say so first.
        if std::mem::take(&mut self.heard_nothing)
            && answer.as_ref().is_some_and(|answer| answer.trim().eq_ignore_ascii_case("ready"))
        {
            return Ok(Reply::Nothing);
        }
        let shown = answer.as_deref().map_or(TOO_LONG.to_owned(), shortened);
        let Some(asked) = self.owed.pop_front() else {
            self.report.fault(place, format_args!("not sent, nothing was asked: {shown}"));
            return Ok(Reply::Nothing);
        };
        let Some(decision) = open.filter(|decision| decision.number == asked.decision && !asked.late) else {
            let why = if asked.late { "it was asked again" } else { "the game has gone on" };
            self.report.fault(place, format_args!("not sent, the answer came late, {why}: {shown}"));
            return Ok(Reply::Nothing);
        };
        let read = match &answer {
            Some(answer) => read_answer(answer, &decision.actions),
            None => Err(format!("was {TOO_LONG}")),
        };
        match read {
            Ok(action) => {
                self.waiting = false;
                Ok(Reply::Act(action))
            }
            Err(why) => {
                self.report.fault(place, format_args!("not sent, the answer {why}"));
                self.fail(decision, out)?;
                Ok(Reply::Nothing)
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let gone = self.closed_since.map(|since| since + TO_END);
        self.answer_by.filter(|_| self.waiting).into_iter().chain(gone).min()
    }

    fn due(&mut self, open: Option<&Decision>, out: &mut Out) -> Result<(), Failure> {
        let now = Instant::now();
        if self.closed_since.is_some_and(|since| since + TO_END <= now) {
            return self.lost("closed its stdin or stdout", out);
        }
        if self.waiting && self.answer_by.is_some_and(|by| by <= now) {
            self.waiting = false;
            if let (Some(decision), Some(timeout)) = (open, self.timeout) {
                let seconds = timeout.as_secs_f64();
                self.report.fault("agent", format_args!("no answer within {seconds} s (--agent-timeout)"));
                self.owed.iter_mut().for_each(|asked| asked.late = true);
                self.fail(decision, out)?;
            }
        }
        Ok(())
    }

    fn started(&mut self, open: Option<&Decision>, out: &mut Out) {
        self.owed.clear();
        self.failed = 0;
        self.heard_nothing = true;
        if let Some(decision) = open {
            self.send(decision, out);
        }
    }

    fn closed(&mut self) -> Reply {
        self.closed_since.get_or_insert_with(Instant::now);
        Reply::Nothing
    }

    fn exited(&mut self, status: ExitStatus, out: &mut Out) -> Result<(), Failure> {
        self.lost(&format!("ended with {}", describe(status)), out)
    }
}
