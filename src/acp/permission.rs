//! What a gate asks about a call, as a permission that an editor asks for.

use super::edit_form::EditForm;
use super::markdown::{content, fenced, id_text, list, text_block};
use super::tool::Shown;
use crate::approvals::Question;
use crate::json::{Object, one_line};
use crate::record::Fields;
use serde_json::value::RawValue;
use std::path::Path;

/// What a person can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The call passes.
    Allow,
    /// It passes, and so do calls that the widest rule on offer means.
    AllowForSession,
    /// Its arguments are to be edited; then it passes.
    Edit,
    /// It does not pass; so does a dialogue that was closed.
    Reject,
}

/// Each choice with its id, its kind and its name.
const OPTIONS: [(Choice, &str, &str, &str); 4] = [
    (Choice::Allow, "allow", "allow_once", "Allow once"),
    (Choice::AllowForSession, "allow_session", "allow_always", "Allow this tool for the session"),
    (Choice::Edit, "edit", "allow_once", "Edit the arguments, then allow"),
    (Choice::Reject, "reject", "reject_once", "Reject"),
];

/// The parameters of `session/request_permission`, JSON text. `can_edit`: whether the editor shows forms.
pub fn permission_request(session: &str, question: &Question, can_edit: bool, folder: &Path) -> String {
    let offered = OPTIONS.iter().filter(|(choice, ..)| is_offered(*choice, question, can_edit));
    let options = offered
        .map(|(_, id, kind, name)| Object::default().text("optionId", id).text("name", name).text("kind", kind).end());
    let options = list(&options.collect::<Vec<_>>());
    let params = Object::default().text("sessionId", session).put("toolCall", tool_call(question, folder));
    params.put("options", options).end()
}

fn is_offered(choice: Choice, question: &Question, can_edit: bool) -> bool {
    match choice {
        Choice::Allow | Choice::Reject => true,
        Choice::AllowForSession => !question.rule_offers.is_empty(),
        Choice::Edit => can_edit && EditForm::of(question).is_some(),
    }
}

/// JSON text of the id that an editor has for the call.
pub(super) fn call_id(question: &Question) -> String {
    // A call without an id has none in a session; the nonce is unique, too.
    question.call.call().id.map_or_else(|| id_text(&question.nonce), |id| id_text(id.get()))
}

fn tool_call(question: &Question, folder: &Path) -> String {
    let call = question.call.call();
    let arguments = call.arguments_text();
    let shown = Shown::of(&call.tool, arguments, call.target.map(RawValue::get), folder);
    let reason = call.policy.and_then(|policy| Fields::read(policy.get()).ok()?.text("reason"));
    let mut blocks = shown.diffs;
    blocks.extend(reason.map(|reason| content(&text_block(&fenced(&reason)))));
    let beside = question.beside_arguments.as_ref();
    blocks.extend(beside.map(|beside| content(&text_block(&fenced(&format!("beside the arguments: {beside}"))))));
    Object::default()
        .put("toolCallId", call_id(question))
        .text("title", &shown.title)
        .text("name", &call.tool)
        .text("kind", shown.kind)
        .text("status", "pending")
        .put("content", list(&blocks))
        .put("locations", shown.locations)
        .put("rawInput", one_line(arguments))
        .end()
}

/// The choice in the result of `session/request_permission`, JSON text: one that was offered.
///
/// # Errors
/// What is wrong with the result.
pub fn chosen(result: &str, question: &Question, can_edit: bool) -> Result<Choice, String> {
    let fields = Fields::read(result).map_err(|why| why.to_string())?;
    let outcome = fields.object("outcome").ok_or("it has no outcome")?;
    match outcome.text("outcome").as_deref() {
        Some("cancelled") => Ok(Choice::Reject),
        Some("selected") => {
            let id = outcome.text("optionId").unwrap_or_default();
            let named = OPTIONS.iter().find(|(choice, own, ..)| *own == id && is_offered(*choice, question, can_edit));
            named.map(|(choice, ..)| *choice).ok_or_else(|| format!("there is no option {id:?}"))
        }
        _ => Err("its outcome is neither selected nor cancelled".to_owned()),
    }
}
