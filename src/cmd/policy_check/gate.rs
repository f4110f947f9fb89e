//! The stage: judges calls, then marks or refuses them; everything else passes, and answers are read for snapshots and tool lists.

use super::discovery::Discovery;
use super::summary::Summary;
use crate::cmd::audit::Audit;
use crate::cmd::caller::{Refusal, RefuseAs};
use crate::cmd::deliveries::Deliveries;
use crate::cmd::events::Events;
use crate::cmd::rules_file::{Judged, RulesFile, judge};
use crate::cmd::world::intake::{Intake, Read};
use crate::io::child::{describe, exit_code};
use crate::io::lines::{Line, Piece};
use crate::io::report::{Failure, Report};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::policy::annotations::Annotations;
use crate::policy::audit::Subject;
use crate::policy::builtin::Builtin;
use crate::policy::marks::{Marks, mark};
use crate::policy::target::Target;
use crate::policy::{Decision, Verdict};
use crate::record::{Call, Form, InputResponse, Kind, Unreadable, cancelled_id, is_decision};
use std::sync::Arc;

/// What to do with a call that needs a person's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Confirm {
    /// Mark it, for a hitl-gate that follows or a world that refuses marked calls.
    Mark,
    /// Answer it with an error.
    Refuse,
}

/// Whether verdicts take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Calls are marked or refused as judged.
    Enforce,
    /// Every line passes unchanged, and verdicts are counted.
    Observe,
}

pub struct Settings {
    pub confirm: Option<Confirm>,
    pub mode: Mode,
    /// Each verdict is written to stderr.
    pub explain: bool,
    pub refuse_as: RefuseAs,
    /// Whether there is a child process.
    pub wraps: bool,
}

pub struct Gate {
    pub settings: Settings,
    pub builtin: Builtin,
    pub rules: Option<RulesFile>,
    pub annotations: Annotations,
    /// If there is a child process.
    pub discovery: Option<Discovery>,
    /// What `--mode observe` counts.
    pub summary: Summary,
    pub audit: Option<Audit>,
    pub events: Option<Events>,
    pub report: Arc<Report>,
    pub intake: Intake,
    pub deliveries: Deliveries,
    /// Why the other side accepts no more lines.
    pub broken: Option<String>,
}

/// What to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Did {
    Pass,
    Mark,
    Refuse(Kind),
}

impl Gate {
    fn take(&mut self, piece: &Piece<'_>, out: &mut Out) {
        match (self.intake.read(piece), piece) {
            // The parts of an over-long line may be a call, so by default none of them passes.
            (_, Piece::Part { .. }) if self.settings.mode == Mode::Observe => out.pass(Side::Far, piece),
            (Read::Refused(kind, error), _) => self.refuse_line(piece, kind, &error, out),
            (Read::Record(body), _) => {
                if let Some(why) = not_the_callers(body) {
                    let refused = Unreadable::new(why).in_form_of(body.as_bytes());
                    return self.refuse_line(piece, Kind::Denied, &refused, out);
                }
                self.annotations.observe_request(body);
                if let Some(id) = cancelled_id(body) {
                    self.builtin.snapshot.cancelled(id.get());
                }
                out.pass(Side::Far, piece);
                if let Some(discovery) = &mut self.discovery {
                    discovery.observe_record(body, &mut self.annotations, out);
                }
            }
            (Read::Call(body, call), Piece::Line(line)) => self.judge(&call, line, body, out),
            (Read::Blank, _) => out.pass(Side::Far, piece),
            // A call is a line.
            (Read::Call(..) | Read::Skipped, _) => {}
        }
    }

    fn judge(&mut self, call: &Call<'_>, line: &Line<'_>, body: &str, out: &mut Out) {
        if let Some(discovery) = self.discovery.as_mut().filter(|_| call.form != Form::JsonRpc) {
            discovery.observe_call(&mut self.annotations, out);
        }
        let hint = self.annotations.hint(&call.tool);
        let Judged { decision, acts, .. } = judge(call, &self.builtin, self.rules.as_ref(), hint);
        if self.settings.mode == Mode::Observe {
            self.summary.count(&call.tool, decision.verdict);
        }
        let mut did = self.what_to_do(call, &decision);
        let mut decision = decision;
        if let Err(failed) = self.audit_verdict(|| Subject::of(call), Some(call.form), &decision, did) {
            (did, decision) = (Did::Refuse(Kind::Denied), failed);
        }
        if self.settings.explain {
            self.explain(call, line.number(), &decision);
        }
        match did {
            Did::Refuse(kind) => self.refuse(call, &decision, kind, line.number(), out),
            Did::Pass | Did::Mark => {
                self.builtin.passes(call, &acts, did == Did::Mark || call.requires_approval);
                if did == Did::Mark {
                    self.request(call, &decision, acts.target.as_ref(), out);
                }
                self.pass_marked(call, line, body, &decision, acts.target.as_ref(), did, out);
            }
        }
    }

    fn what_to_do(&self, call: &Call<'_>, decision: &Decision) -> Did {
        let confirm = self.settings.confirm.unwrap_or(match call.form {
            // A foreign server would carry out marked calls.
            Form::JsonRpc => Confirm::Refuse,
            _ => Confirm::Mark,
        });
        match (self.settings.mode, decision.verdict, confirm) {
            (Mode::Observe, ..) | (_, Verdict::Allow, _) => Did::Pass,
            (_, Verdict::Deny, _) => Did::Refuse(Kind::Denied),
            (_, Verdict::Confirm, Confirm::Refuse) => Did::Refuse(Kind::NeedsApproval),
            (_, Verdict::Confirm, Confirm::Mark) => Did::Mark,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn pass_marked(
        &mut self,
        call: &Call<'_>,
        line: &Line<'_>,
        body: &str,
        decision: &Decision,
        target: Option<&Target>,
        did: Did,
        out: &mut Out,
    ) {
        let is_marked = call.policy.is_some() || call.requires_approval || call.target.is_some();
        if self.settings.mode == Mode::Observe || (did == Did::Pass && call.form == Form::JsonRpc && !is_marked) {
            return self.deliveries.pass(line, call, false, out);
        }
        let (policy, target) = (decision.json(), target.map(Target::json));
        let is_foreign = did == Did::Pass && call.form == Form::JsonRpc;
        let marks = Marks {
            target: target.as_deref().filter(|_| !is_foreign),
            policy: Some(policy.as_str()).filter(|_| !is_foreign),
            requires_approval: did == Did::Mark,
        };
        match mark(call, body, &marks) {
            Ok(marked) => {
                let marked = [line.before(), marked.as_bytes(), line.after()].concat();
                self.deliveries.pass(&Line::new(&marked, line.number()), call, did == Did::Mark, out);
            }
            // A recognised call is an object; if it were not, it would not pass.
            Err(error) => {
                let error = Unreadable::new(error).in_form_of(line.body());
                self.refuse_line(&Piece::Line(*line), Kind::BadInput, &error, out);
            }
        }
    }

    fn receive(&mut self, piece: &Piece<'_>, out: &mut Out) {
        let discovery = self.discovery.as_mut();
        let is_ours = discovery.is_some_and(|discovery| discovery.observe_answer(piece, &mut self.annotations, out));
        if self.annotations.take_changed() {
            self.builtin.learn_tools(self.annotations.names());
        }
        if is_ours {
            return;
        }
        match piece {
            Piece::Line(line) => self.builtin.snapshot.observe(line.body()),
            // Its content is not known.
            Piece::Part { .. } => self.builtin.snapshot.forget(),
        }
        out.pass(Side::Near, piece);
    }

    /// Answers the calls that passed and were not delivered, since the other side accepts no more lines.
    fn answer_undelivered(&mut self, out: &mut Out) {
        let Some(why) = self.broken.clone() else { return };
        let why = format!("it was not delivered: {why}");
        for passed in self.deliveries.take_undelivered(out) {
            let call = passed.call.call();
            self.audit_undelivered(&call, passed.marked);
            self.report.fault(format_args!("stdin:{}", passed.number), format_args!("{}: {why}", call.tool));
            self.settings.refuse_as.refuse(&call, &Refusal::new(Kind::Lost, &why), out);
        }
    }

    fn reload(&mut self) {
        match self.rules.as_ref().map(|rules| rules.again(&self.report)) {
            Some(Ok(rules)) => {
                self.rules = Some(rules);
                self.report.note_again("the rules were read again");
            }
            Some(Err(failure)) => self.report.fault("--rules", format_args!("{failure}; the former rules stay")),
            None => {}
        }
    }
}

/// Why a record must not come from the caller: it answers for a person, or reports for a gate.
fn not_the_callers(body: &str) -> Option<&'static str> {
    match crate::record::type_of(body).as_deref() {
        Some("hitl_response") => Some("the caller cannot approve: answers go to hitl-gate's own channel"),
        Some("input_response") if !declines(body) => {
            Some("the caller cannot accept a server's request to a person; `decline` and `cancel` pass")
        }
        _ if is_decision(body) => Some("only a gate may report the outcome of a call, not the caller"),
        _ => None,
    }
}

/// Whether an `input_response` declines or cancels. One that can't be read for certain does not.
fn declines(body: &str) -> bool {
    matches!(InputResponse::read(body), Ok(Some(response)) if response.action != "accept")
}

impl Stage for Gate {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::Near, piece) => self.take(&piece, out),
            Event::Piece(Side::Far, piece) => self.receive(&piece, out),
            Event::Closed(Side::Near) if self.settings.wraps => out.close_far(),
            Event::Exited(status) => {
                self.broken.get_or_insert_with(|| format!("the other side has ended ({})", describe(status)));
                out.stop(crate::io::report::Status::Child(exit_code(status)));
            }
            Event::Reopen => self.reload(),
            Event::Broken(Side::Far, error) => {
                self.broken = Some(format!("the other side accepts no more lines ({error})"));
                // As in a pipe: the next write to our stdin fails.
                out.close_near();
            }
            _ => {}
        }
        self.answer_undelivered(out);
        Ok(())
    }

    fn end(&mut self, out: &Out) {
        for passed in self.deliveries.take_undelivered(out) {
            self.audit_undelivered(&passed.call.call(), passed.marked);
        }
        if self.settings.mode == Mode::Observe {
            self.summary.say(&self.report);
        }
        if let Some(Err(error)) = self.audit.take().map(Audit::end) {
            self.report.fault("--audit", error);
        }
    }
}
