//! The stage: judges calls, then marks or refuses them; everything else passes, and answers are read for snapshots and
//! tool lists.

use super::discovery::Discovery;
use super::summary::Summary;
use crate::cmd::passage::Passage;
use crate::cmd::rules_file::{JudgedCall, RulesFile, judge};
use crate::cmd::usage;
use crate::cmd::world::intake::IntakeItem;
use pipewright_io::report::Failure;
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Line, Piece};
use pipewright_policy::annotations::Annotations;
use pipewright_policy::audit::{self, Subject};
use pipewright_policy::builtin::Builtin;
use pipewright_policy::marks::{Marks, mark, with_arguments};
use pipewright_policy::snapshot::outcome;
use pipewright_policy::target::Target;
use pipewright_policy::{Decision, Verdict};
use pipewright_record::{
    Call, Fields, Form, InputAction, InputResponse, Kind, Unreadable, cancelled_id, is_decision, recognise,
};

/// What to do with a call that needs a person's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ConfirmAction {
    /// Mark it, for a hitl-gate that follows or a world that refuses marked calls.
    Mark,
    /// Answer it with an error.
    Refuse,
}

/// Whether verdicts take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum GateMode {
    /// Calls are marked or refused as judged.
    Enforce,
    /// Every line passes unchanged, and verdicts are counted.
    Observe,
}

pub struct GateSettings {
    pub confirm: Option<ConfirmAction>,
    pub mode: GateMode,
    /// Each verdict is written to stderr.
    pub explain: bool,
    /// Whether there is a child process.
    pub wraps: bool,
}

pub struct Gate {
    pub settings: GateSettings,
    pub builtin: Builtin,
    pub rules: Option<RulesFile>,
    pub annotations: Annotations,
    /// If there is a child process.
    pub discovery: Option<Discovery>,
    /// What `--mode observe` counts.
    pub summary: Summary,
    pub passage: Passage,
}

/// What to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallAction {
    Pass,
    Mark,
    Refuse(Kind),
}

impl CallAction {
    /// Its word in the audit.
    pub(super) fn audited(self) -> audit::Did {
        match self {
            CallAction::Pass => audit::Did::Passed,
            CallAction::Mark => audit::Did::Marked,
            CallAction::Refuse(_) => audit::Did::Refused,
        }
    }
}

impl Gate {
    fn take(&mut self, piece: &Piece<'_>, out: &mut Out) {
        match (self.passage.read(piece), piece) {
            // The parts of an over-long line may be a call, so by default none of them passes.
            (_, Piece::Part { .. }) if self.settings.mode == GateMode::Observe => out.pass(Side::FAR, piece),
            (IntakeItem::Refused(kind, error), _) => self.refuse_line(piece, kind, &error, out),
            (IntakeItem::Record(body), _) => {
                if let Some(why) = not_the_callers(body) {
                    let refused = Unreadable::new(why).in_form_of(body.as_bytes());
                    return self.refuse_line(piece, Kind::Denied, &refused, out);
                }
                self.annotations.observe_request(body);
                if let Some(id) = cancelled_id(body) {
                    self.builtin.snapshot.cancelled(id.get());
                }
                out.pass(Side::FAR, piece);
                if let Some(discovery) = &mut self.discovery {
                    discovery.observe_record(body, &mut self.annotations, out);
                }
            }
            (IntakeItem::Call(body, call), Piece::Line(line)) => self.take_call(&call, line, body, out),
            (IntakeItem::Blank, _) => out.pass(Side::FAR, piece),
            // A call is a line.
            (IntakeItem::Call(..) | IntakeItem::Skipped, _) => {}
        }
    }

    /// Judges a call. If a person is asked about an order or a payment, it gets the deal that the page has shown.
    fn take_call(&mut self, call: &Call<'_>, line: &Line<'_>, body: &str, out: &mut Out) {
        if self.settings.mode == GateMode::Observe || !self.builtin.may_have_deal(call) {
            return self.judge(call, line, body, out);
        }
        let hint = self.annotations.hint(&call.tool);
        let JudgedCall { decision, acts, .. } = judge(call, &self.builtin, self.rules.as_ref(), hint);
        let is_asked = decision.verdict == Verdict::Confirm || self.annotations.has_changed(&call.tool);
        let changed = match self.builtin.with_deal(call, &acts, is_asked) {
            Ok(None) => return self.judge(call, line, body, out),
            Ok(Some(arguments)) => with_arguments(call, body, &arguments).map_err(Unreadable::new),
            Err(error) => Err(Unreadable::new(error)),
        };
        match changed.as_deref().map(recognise) {
            Ok(Ok(Some(call))) => {
                let text = changed.as_deref().unwrap_or(body);
                let whole = [line.before(), text.as_bytes(), line.after()].concat();
                self.judge(&call, &Line::new(&whole, line.number()), text, out);
            }
            // With another argument, a call is still one; if it were not, it would not pass.
            Ok(Ok(None)) => self.refuse_line(&Piece::Line(*line), Kind::BadInput, &Unreadable::new("not a call"), out),
            Ok(Err(error)) => self.refuse_line(&Piece::Line(*line), Kind::BadInput, &error, out),
            Err(error) => self.refuse_line(&Piece::Line(*line), Kind::BadInput, error, out),
        }
    }

    fn judge(&mut self, call: &Call<'_>, line: &Line<'_>, body: &str, out: &mut Out) {
        if let Some(discovery) = self.discovery.as_mut().filter(|_| call.form != Form::JsonRpc) {
            discovery.observe_call(&mut self.annotations, out);
        }
        let hint = self.annotations.hint(&call.tool);
        let JudgedCall { mut decision, acts, counted, .. } = judge(call, &self.builtin, self.rules.as_ref(), hint);
        if self.annotations.has_changed(&call.tool) {
            decision = decision.of_changed_tool();
        }
        if self.settings.mode == GateMode::Observe {
            self.summary.count(&call.tool, decision.verdict);
        }
        let mut did = self.action_for(call, &decision);
        if let Err(failed) = self.audit_verdict(|| Subject::of(call), Some(call.form), &decision, did) {
            (did, decision) = (CallAction::Refuse(Kind::Denied), failed);
        }
        if self.settings.explain {
            self.explain(call, line.number(), &decision);
        }
        match did {
            CallAction::Refuse(kind) => self.refuse(call, &decision, kind, line.number(), out),
            CallAction::Pass | CallAction::Mark => {
                let is_held = did == CallAction::Mark || call.requires_approval;
                self.builtin.passes(call, &acts, is_held);
                if let Some(rules) = &mut self.rules {
                    rules.passes(call, &counted, !is_held);
                }
                if did == CallAction::Mark {
                    self.request(call, &decision, acts.target.as_ref(), out);
                }
                self.pass_marked(call, line, body, &decision, acts.target.as_ref(), did, out);
            }
        }
    }

    fn action_for(&self, call: &Call<'_>, decision: &Decision) -> CallAction {
        let confirm = self.settings.confirm.unwrap_or(match call.form {
            // A foreign server would carry out marked calls.
            Form::JsonRpc => ConfirmAction::Refuse,
            _ => ConfirmAction::Mark,
        });
        match (self.settings.mode, decision.verdict, confirm) {
            (GateMode::Observe, ..) | (_, Verdict::Allow, _) => CallAction::Pass,
            (_, Verdict::Deny, _) => CallAction::Refuse(Kind::Denied),
            (_, Verdict::Confirm, ConfirmAction::Refuse) => CallAction::Refuse(Kind::NeedsApproval),
            (_, Verdict::Confirm, ConfirmAction::Mark) => CallAction::Mark,
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
        did: CallAction,
        out: &mut Out,
    ) {
        let is_marked = call.policy.is_some() || call.requires_approval || call.target.is_some();
        if self.settings.mode == GateMode::Observe
            || (did == CallAction::Pass && call.form == Form::JsonRpc && !is_marked)
        {
            return self.passage.pass(line, call, did.audited(), out);
        }
        let (policy, target) = (decision.json(), target.map(Target::json));
        let is_foreign = did == CallAction::Pass && call.form == Form::JsonRpc;
        let marks = Marks {
            target: target.as_deref().filter(|_| !is_foreign),
            policy: Some(policy.as_str()).filter(|_| !is_foreign),
            requires_approval: did == CallAction::Mark,
        };
        match mark(call, body, &marks) {
            Ok(marked) => {
                let marked = [line.before(), marked.as_bytes(), line.after()].concat();
                self.passage.pass(&Line::new(&marked, line.number()), call, did.audited(), out);
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
            Piece::Line(line) => {
                self.builtin.snapshot.observe(line.body());
                if let Some(rules) = self.rules.as_mut().filter(|rules| rules.history.has_open())
                    && let Some((id, how)) = outcome(line.body())
                {
                    rules.history.settle(&id, how);
                }
            }
            // Its content is not known.
            Piece::Part { .. } => self.builtin.snapshot.forget(),
        }
        out.pass(Side::NEAR, piece);
    }

    fn reload(&mut self) {
        match self.rules.as_ref().map(|rules| rules.again(&self.passage.report)) {
            Some(Ok(rules)) => {
                self.rules = Some(rules);
                self.passage.report.note_limited("the rules were read again");
            }
            Some(Err(failure)) => {
                self.passage.report.fault("--rules", format_args!("{failure}; the former rules stay"))
            }
            None => {}
        }
    }
}

/// Why a record must not come from the caller: it answers for a person, or reports for a gate.
fn not_the_callers(body: &str) -> Option<&'static str> {
    match pipewright_record::type_of(body).as_deref() {
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
    matches!(InputResponse::read(body), Ok(Some(response)) if response.action != InputAction::Accept)
}

/// Whether the first line is the input of a hook. Some harnesses run the program of a hook without its arguments, and
/// let the call run after any other exit status than 2.
fn is_hook_input(piece: &Piece<'_>) -> bool {
    const EVENT: &str = "hook_event_name";
    let has_text = |bytes: &[u8]| memchr::memmem::find(bytes, EVENT.as_bytes()).is_some();
    match piece {
        Piece::Line(line) if line.number() == 1 && has_text(line.body()) => {
            let fields = std::str::from_utf8(line.body()).ok().and_then(|text| Fields::read(text).ok());
            fields.is_none_or(|fields| fields.get_ignoring_case(EVENT).is_some())
        }
        Piece::Part { bytes, number: 1, .. } => has_text(bytes),
        Piece::Line(_) | Piece::Part { .. } => false,
    }
}

impl Stage for Gate {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::NEAR, piece) if !self.settings.wraps && is_hook_input(&piece) => {
                return Err(usage(
                    "stdin: the input of a harness's hook: its command is `policy-check hook` (see policy-check hooks \
                     install)",
                ));
            }
            Event::Piece(Side::NEAR, piece) => self.take(&piece, out),
            Event::Piece(Side::FAR, piece) => self.receive(&piece, out),
            Event::Closed(Side::NEAR) if self.settings.wraps => out.close_far(0),
            Event::Reopen => self.reload(),
            event => self.passage.take_loss(&event, out),
        }
        self.passage.answer_undelivered(out);
        Ok(())
    }

    fn end(&mut self, out: &Out) {
        if self.settings.mode == GateMode::Observe {
            self.summary.say(&self.passage.report);
        }
        self.passage.end(out);
    }
}
