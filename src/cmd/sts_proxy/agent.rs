//! An agent: gets one line per decision and answers each with one line.

use super::decision::{Decision, is_answer, named_decision, shortened};
use super::player::{Player, PlayerReply};
use super::process::Process;
use super::questions::{AnswerClass, Questions};
use crate::cmd::options::TOO_LONG;
use crate::cmd::silence::SilenceWatch;
use pipewright_io::report::{Failure, Report};
use pipewright_io::stage::{Out, Side};
use pipewright_lines::{self as lines, Piece};
use pipewright_record::json::{Object, quoted};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An agent whose answer was refused, or that sent one too many, may be about to send another. It is asked only after
/// it has been quiet for this long: a line that comes before then is not an answer to the new question.
const QUIET_TIME: Duration = Duration::from_millis(100);

/// The connection to the agent.
pub(super) struct Agent {
    timeout: Option<Duration>,
    attempts: u32,
    process: Process,
    report: Arc<Report>,
    questions: Questions,
    /// The question for this decision is sent at this time.
    postponed: Option<(u64, Instant)>,
    quiet_until: Option<Instant>,
    /// The answer that was last acted on, and its decision.
    acted: Option<(u64, String)>,
    /// Why this decision is asked again: a JSON object.
    refused: Option<(u64, String)>,
    /// How many bad or missing answers the open decision has had.
    failed: u32,
    failed_at: u64,
    /// Keeps running while the game is not ready.
    answer_by: Option<Instant>,
    /// Whether a decision is open. Otherwise nothing is due.
    waiting: bool,
    is_first_line: bool,
    silence: SilenceWatch,
}

impl Agent {
    pub(super) fn new(timeout: Option<Duration>, attempts: u32, restarts: u32, report: Arc<Report>) -> Agent {
        Agent {
            timeout,
            attempts,
            process: Process::new(restarts, Arc::clone(&report)),
            silence: SilenceWatch::new(Arc::clone(&report)),
            report,
            questions: Questions::default(),
            postponed: None,
            quiet_until: None,
            acted: None,
            refused: None,
            failed: 0,
            failed_at: 0,
            answer_by: None,
            waiting: false,
            is_first_line: true,
        }
    }

    fn send(&mut self, decision: &Decision, out: &mut Out) {
        let to = out.to(Side::FAR);
        match self.refused.take().filter(|(number, _)| *number == decision.number) {
            Some((_, refused)) => to.extend_from_slice(&decision.repeated_offer(&refused)),
            None => to.extend_from_slice(&decision.offered),
        }
        self.questions.asked(decision.number);
        self.postponed = None;
        self.answer_by = self.timeout.map(|timeout| Instant::now() + timeout);
        self.waiting = true;
        self.silence.asked();
    }

    /// Asks when the agent has been quiet until this time.
    fn postpone(&mut self, decision: u64, until: Instant) {
        self.postponed = Some((decision, until));
        self.answer_by = None;
        self.waiting = true;
    }

    /// Counts a bad or missing answer and gives the agent up after the last attempt. Returns whether it is asked again.
    fn fail(&mut self, decision: &Decision, out: &mut Out) -> Result<bool, Failure> {
        if self.failed_at != decision.number {
            self.failed = 0;
            self.failed_at = decision.number;
        }
        self.failed += 1;
        if self.failed >= self.attempts {
            let times = self.failed;
            self.process.lost(&format!("gave no legal answer in {times} attempts (--attempts)"), out)?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Refuses an answer to the open decision, and asks again if attempts are left.
    fn refuse(&mut self, decision: &Decision, answer: Option<&str>, why: &str, out: &mut Out) -> Result<(), Failure> {
        if self.fail(decision, out)? {
            self.refused = Some((decision.number, refusal(answer, &format!("the answer {why}"))));
            self.postpone(decision.number, Instant::now() + QUIET_TIME);
        }
        Ok(())
    }
}

/// Why a decision is asked again: the object `refused` in the line that asks.
fn refusal(answer: Option<&str>, why: &str) -> String {
    let answer = answer.map_or_else(|| "null".to_owned(), |answer| quoted(&shortened(answer)));
    Object::default().put("answer", answer).text("why", why).end()
}

impl Player for Agent {
    fn ask(&mut self, decision: &Decision, out: &mut Out) {
        let number = decision.number;
        if self.questions.awaits(number) || self.postponed.is_some_and(|(postponed, _)| postponed == number) {
            // An equal state again while the agent thinks: its answer still counts if it comes in time.
            self.waiting = true;
            return;
        }
        match self.quiet_until.filter(|until| *until > Instant::now()) {
            Some(until) => self.postpone(number, until),
            None => self.send(decision, out),
        }
    }

    fn withdraw(&mut self, _out: &mut Out) {
        self.waiting = false;
        self.postponed = None;
    }

    fn refused(&mut self, error: &str, _out: &mut Out) {
        if let Some((decision, answer)) = self.acted.take() {
            self.refused = Some((decision, refusal(Some(&answer), &format!("the game refused it: {error}"))));
        }
    }

    fn receive(&mut self, piece: Piece<'_>, open: Option<&Decision>, out: &mut Out) -> Result<PlayerReply, Failure> {
        let (number, answer) = match piece {
            Piece::Part { last: false, .. } => return Ok(PlayerReply::Nothing),
            Piece::Part { number, .. } => (number, None),
            Piece::Line(line) => (line.number(), Some(lines::text(line.body()))),
        };
        let answer = answer.as_deref().map(str::trim);
        let place = format!("agent:{number}");
        // Programs that were written for the mod first send "ready".
        if std::mem::take(&mut self.is_first_line) && answer.is_some_and(|answer| answer.eq_ignore_ascii_case("ready"))
        {
            return Ok(PlayerReply::Nothing);
        }
        let shown = answer.map_or(TOO_LONG.to_owned(), shortened);
        if answer.is_some_and(|answer| !is_answer(answer, open)) {
            self.report
                .fault(place, format_args!("ignored: {shown:?} is not an id, {{\"action_id\":N}} or a mod command"));
            return Ok(PlayerReply::Nothing);
        }
        let named = answer.and_then(named_decision);
        let open_number = open.map(|decision| decision.number);
        let refused = self.refused.as_ref().map(|(number, _)| *number);
        let acted = self.acted.as_ref().map(|(number, answer)| (Some(*number), answer.as_str()));
        let is_repeated = acted == Some((named, shown.as_str()));
        let class = self.questions.take_answer(named, open_number, refused, is_repeated);
        if !matches!(class, AnswerClass::Late(_)) {
            self.silence.answered();
        }
        match (class, open) {
            (AnswerClass::Open, Some(decision)) => {
                let read = match answer {
                    Some(answer) => decision.read(answer),
                    None => Err(format!("was {TOO_LONG}")),
                };
                match read {
                    Ok(reply) => {
                        self.waiting = false;
                        self.postponed = None;
                        self.refused = None;
                        self.acted = Some((decision.number, shown));
                        let was_asked_again = self.failed > 0 && self.failed_at == decision.number;
                        let may_say_more = named.is_none() && was_asked_again;
                        self.quiet_until = may_say_more.then(|| Instant::now() + QUIET_TIME);
                        return Ok(reply);
                    }
                    Err(why) => {
                        self.report.fault(place, format_args!("not sent, the answer {why}"));
                        self.refuse(decision, answer, &why, out)?;
                    }
                }
            }
            (AnswerClass::Wrong(why), Some(decision)) => {
                self.report.fault(place, format_args!("not sent, the answer {why}: {shown}"));
                self.refuse(decision, answer, &why, out)?;
            }
            (AnswerClass::Late(why), _) => {
                self.report.fault(place, format_args!("not sent, the answer came late, {why}: {shown}"));
            }
            _ => {
                self.report.fault(place, format_args!("not sent, nothing was asked: {shown}"));
                self.quiet_until = Some(Instant::now() + QUIET_TIME);
            }
        }
        Ok(PlayerReply::Nothing)
    }

    fn deadline(&self) -> Option<Instant> {
        let gone = self.process.deadline();
        let ask = self.postponed.map(|(_, until)| until);
        let answer_by = self.answer_by.filter(|_| self.waiting);
        [answer_by, gone, ask, self.silence.deadline()].into_iter().flatten().min()
    }

    fn due(&mut self, open: Option<&Decision>, out: &mut Out) -> Result<(), Failure> {
        let now = Instant::now();
        self.silence.due();
        if self.process.due(out)? {
            return Ok(());
        }
        if self.postponed.take_if(|(_, until)| *until <= now).is_some()
            && let Some(decision) = open
        {
            self.send(decision, out);
        }
        if self.waiting && self.answer_by.is_some_and(|by| by <= now) {
            self.waiting = false;
            if let (Some(decision), Some(timeout)) = (open, self.timeout) {
                let why = format!("no answer within {} s (--agent-timeout)", timeout.as_secs_f64());
                self.report.fault("agent", &why);
                self.questions.mark_late();
                if self.fail(decision, out)? {
                    self.refused = Some((decision.number, refusal(None, &why)));
                    self.send(decision, out);
                }
            }
        }
        Ok(())
    }

    fn started(&mut self, open: Option<&Decision>, out: &mut Out) {
        self.questions.forget();
        self.silence.answered();
        self.postponed = None;
        self.quiet_until = None;
        self.refused = None;
        self.failed = 0;
        self.is_first_line = true;
        if let Some(decision) = open {
            self.send(decision, out);
        }
    }

    fn closed(&mut self) -> PlayerReply {
        self.process.closed();
        PlayerReply::Nothing
    }

    fn exited(&mut self, status: ExitStatus, out: &mut Out) -> Result<(), Failure> {
        self.process.exited(status, out)
    }
}
