//! Approvals: how a gate asks a person about a held call, and what the clients through which people answer keep of it.
//!
//! A gate connects to each client, and sends lines:
//!
//! - `{"type":"status","status":"waiting_human",...}` asks about a call ([`Question`]). Its nonce is secret: only
//!   recipients can answer. The next question is sent after this one is settled.
//! - `{"type":"policy_result","nonce",...}`: that call is settled, here or elsewhere; the question is closed.
//! - `{"type":"error","context":{"nonce"},"content"}`: the answer cannot be taken, and the question is still open.
//! - `{"type":"session_rules","rules":[{"rule_id","rule"}]}`: the rules by which the gate allows calls until its end,
//!   whenever they change.
//!
//! A client answers with a `hitl_response` that has the nonce, and revokes a rule with
//! `{"type":"revoke_rule","rule_id"}`. Several clients may get the same question; the first answer counts. A question
//! ends with its connection. [`Queue`] keeps the questions and rules of all gates that are connected to a client.

mod question;
mod queue;
mod rules;

pub use question::{Answer, Question, refused, settled};
pub use queue::{PendingQuestion, Queue, QueueChange, Settlement};
pub use rules::{RevokeRule, RuleInForce, RulesInForce, revoked_rule};
