//! Approvals: what a gate asks a person about a call that it holds, and what the clients through which people answer keep of it.
//!
//! A gate connects to each client, and sends lines:
//!
//! - `{"type":"status","status":"waiting_human",...}` asks about a call ([`Question`]). Its nonce is secret: only who was asked can answer.
//!   The next question comes once this one is settled.
//! - `{"type":"policy_result","nonce",...}`: that call is settled, here or elsewhere; nothing is asked any more.
//! - `{"type":"error","context":{"nonce"},"content"}`: the answer cannot be taken, and the question is still open.
//! - `{"type":"session_rules","rules":[{"rule_id","rule"}]}`: the rules by which the gate allows calls until its end, whenever they change.
//!
//! A client answers with a `hitl_response` that has the nonce, and revokes a rule with `{"type":"revoke_rule","rule_id"}`. Several clients may be asked the same; the first answer counts. A question
//! ends with its connection. [`Queue`] is what a client keeps of all gates that are connected to it.

mod question;
mod queue;
mod rules;

pub use question::{Answer, Question, refused, settled};
pub use queue::{Change, Pending, Queue, Settlement};
pub use rules::{RuleInForce, revocation, revoked_rule, session_rules};
