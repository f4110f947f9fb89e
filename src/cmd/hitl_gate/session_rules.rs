//! Rules for the session: how a person adds and revokes them, and which calls they allow.

use super::decide::ApprovedCall;
use super::gate::{Gate, PendingQuestion};
use super::held::HeldCall;
use super::remember::remember;
use crate::cmd::rules_file::JudgedCall;
use pipewright_clients::approvals::{RuleInForce, RulesInForce};
use pipewright_io::printable::printable;
use pipewright_io::stage::Out;
use pipewright_policy::Decision;
use pipewright_policy::audit::{Event, SettledBy, Settlement, digest};
use pipewright_policy::detector::ActionKind;
use pipewright_policy::marks::settle;
use pipewright_policy::rules::{Facts, SessionRules, proposals};
use pipewright_record::{Call, Fields, HitlResponse, Record};
use serde_json::Value;

impl Gate {
    /// The rules that a person may add for the first call, the widest first; none for a payment.
    pub(super) fn rule_offers(&self) -> Vec<String> {
        let Some(first) = self.calls.first() else { return Vec::new() };
        let call = first.call.call();
        match self.check_policy(&call) {
            Ok(judged) if may_have_rule(first, &judged.decision) => {
                proposals(&self.facts(&call, &judged), &judged.decision)
            }
            _ => Vec::new(),
        }
    }

    /// Passes the first held call if a rule of the session allows it. Gives whether it does.
    pub(super) fn pass_by_rule(&mut self, out: &mut Out) -> bool {
        let Some(first) = self.calls.first() else { return false };
        let held = first.call.clone();
        let call = held.call();
        let Ok(judged) = self.check_policy(&call) else { return false };
        if !may_have_rule(first, &judged.decision) {
            return false;
        }
        let rule = self.session_rules.find(&self.facts(&call, &judged), &judged.decision);
        let Some(rule) = rule else { return false };
        let Ok(text) = settle(&call, &first.text()) else { return false };
        let (id, agreed) = (rule.id.clone(), ApprovedCall { text, call: held.clone() });
        self.close_first(Settlement::Approved, SettledBy::Session, Some(&id), Some(&agreed), "", out);
        true
    }

    /// Adds the rule that comes with an approval of the first call.
    ///
    /// # Errors
    /// Why there can be no such rule; the call is not approved then.
    pub(super) fn add_session_rule(
        &mut self,
        call: &Call<'_>,
        answer: &HitlResponse<'_>,
        by: SettledBy,
    ) -> Result<(), String> {
        let offers = self.rule_offers();
        let Some(text) = answer.rule.as_deref().or(offers.first().map(String::as_str)).filter(|_| !offers.is_empty())
        else {
            return Err("calls such as this one cannot be allowed for the session".to_owned());
        };
        let judged = self.check_policy(call)?;
        SessionRules::check(text, &self.facts(call, &judged), &judged.decision)?;
        match (&self.settings.remember, answer.remember) {
            (Some(path), true) => remember(path, text)?,
            (None, true) => return Err("the gate has no rules file to write to (--remember FILE)".to_owned()),
            (_, false) => {}
        }
        let id = self.session_rules.next_id();
        let digest = digest(text);
        self.audit(|| Event::Allowed { rule_id: &id, digest: &digest, by }).map_err(|failure| failure.to_string())?;
        self.session_rules.add(text)?;
        self.send_to_approvers(&self.rules_record());
        Ok(())
    }

    /// Revokes a rule.
    pub(super) fn revoke_rule(&mut self, place: &str, id: &str) {
        if !self.session_rules.revoke(id) {
            return self.passage.report.fault(place, format_args!("no rule {id:?} is in force"));
        }
        self.passage.note(|| Event::Revoked { rule_id: id });
        self.send_to_approvers(&self.rules_record());
    }

    /// Ends the rules for tools that the server has changed: a person has allowed them as they were.
    pub(super) fn end_rules_of_changed_tools(&mut self) {
        for tool in self.lists.take_changed_tools() {
            let ended = self.session_rules.end_for(&tool);
            for id in &ended {
                self.passage.note(|| Event::Revoked { rule_id: id });
            }
            if !ended.is_empty() {
                let tool = printable(&tool);
                let why = format_args!("the server has changed the tool {tool}: its rules for the session have ended");
                self.passage.report.note_limited(why);
                self.send_to_approvers(&self.rules_record());
            }
        }
    }

    /// The facts about a call that rules for the session use.
    fn facts<'a>(&'a self, call: &'a Call<'_>, judged: &'a JudgedCall) -> Facts<'a> {
        Facts::new(call, judged.acts.target.as_ref(), None).in_place(self.policy.builtin.place())
    }

    fn rules_record(&self) -> String {
        let rules = self.session_rules.iter();
        let rules = rules.map(|rule| RuleInForce { rule_id: rule.id.clone(), rule: rule.text.clone() });
        RulesInForce { caller: self.settings.caller.as_deref(), rules: rules.collect() }.json()
    }

    /// The records for an approver that connects: the rules in force, and the open question.
    pub(super) fn standing(&self) -> Vec<String> {
        let rules = self.session_rules.iter().next().map(|_| self.rules_record());
        let question = self.pending.as_ref().map(PendingQuestion::record);
        rules.into_iter().chain(question).collect()
    }
}

/// Whether a rule for the session may allow a held call.
fn may_have_rule(held: &HeldCall, decision: &Decision) -> bool {
    // Rules do not compare these fields; the world may read a folder there.
    let has_more = held.beside_arguments.as_deref().is_some_and(|beside| !has_only_meta(beside));
    !(is_payment(&held.call.call(), decision) || decision.runs_text && has_more)
}

/// Whether the fields besides the arguments are only the `_meta` of MCP, in which clients number their calls.
fn has_only_meta(beside: &str) -> bool {
    let fields = |value: &Value, key: &str| value.as_object().is_some_and(|own| own.keys().all(|own| own == key));
    let beside: Value = serde_json::from_str(beside).unwrap_or_default();
    fields(&beside, "params") && fields(&beside["params"], "_meta")
}

/// Whether a part of a call pays or orders, according to this gate or the one before it.
fn is_payment(call: &Call<'_>, decision: &Decision) -> bool {
    let fields = call.policy.and_then(|policy| Fields::read(policy.get()).ok());
    let marked = fields.and_then(|fields| serde_json::from_str::<ActionKind>(fields.get("kind")?.get()).ok());
    decision.pays || marked.is_some_and(ActionKind::is_payment)
}
