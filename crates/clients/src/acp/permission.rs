//! A gate's question about a call, as a permission request to an editor.

use super::edit_form::EditForm;
use super::markdown::{content, fenced, id_text, list, text_block};
use super::tool::ToolCallView;
use crate::approvals::Question;
use pipewright_record::json::{Object, one_line};
use pipewright_record::{Fields, Reason};
use serde_json::value::RawValue;
use std::path::Path;

/// The person's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionOption {
    /// Approve the call.
    Allow,
    /// Approve the call, and all calls that match the first offered rule.
    AllowForSession,
    /// Edit its arguments, then approve it.
    Edit,
    /// Reject the call. A closed dialogue also means this.
    Reject,
}

/// Each option with its id, kind and name. The one for the session names in place of RULE what the rule allows.
const OPTIONS: [(PermissionOption, &str, &str, &str); 4] = [
    (PermissionOption::Allow, "allow", "allow_once", "Allow once"),
    (PermissionOption::AllowForSession, "allow_session", "allow_always", "Allow RULE for the session"),
    (PermissionOption::Edit, "edit", "allow_once", "Edit the arguments, then allow"),
    (PermissionOption::Reject, "reject", "reject_once", "Reject"),
];

/// The parameters of `session/request_permission`, JSON text. `can_edit` is whether the editor shows forms, `rule` what
/// the first rule allows.
pub fn permission_request(session: &str, question: &Question, can_edit: bool, rule: &str, folder: &Path) -> String {
    let offered = OPTIONS.iter().filter(|(choice, ..)| is_offered(*choice, question, can_edit));
    let options = offered.map(|(_, id, kind, name)| {
        Object::default().text("optionId", id).text("name", &name.replace("RULE", rule)).text("kind", kind).end()
    });
    let options = list(&options.collect::<Vec<_>>());
    let params = Object::default().text("sessionId", session).put("toolCall", tool_call(question, folder));
    params.put("options", options).end()
}

fn is_offered(choice: PermissionOption, question: &Question, can_edit: bool) -> bool {
    match choice {
        PermissionOption::Allow | PermissionOption::Reject => true,
        PermissionOption::AllowForSession => !question.rule_offers.is_empty(),
        PermissionOption::Edit => can_edit && EditForm::of(question).is_some(),
    }
}

/// The editor's id for the call, as JSON text.
pub(super) fn call_id(question: &Question) -> String {
    // A call without an id gets the nonce, which is also unique.
    question.call.call().id.map_or_else(|| id_text(&question.nonce), |id| id_text(id.get()))
}

fn tool_call(question: &Question, folder: &Path) -> String {
    let call = question.call.call();
    let arguments = call.arguments_text();
    let shown = ToolCallView::of(&call.tool, arguments, call.target.map(RawValue::get), folder);
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

/// The choice in the result of `session/request_permission` (JSON text): one of the offered options.
///
/// # Errors
/// What is wrong with the result.
pub fn chosen(result: &str, question: &Question, can_edit: bool) -> Result<PermissionOption, Reason> {
    let fields = Fields::read(result).map_err(|why| why.to_string())?;
    let outcome = fields.object("outcome").ok_or("\"outcome\" is missing")?;
    match outcome.text("outcome").as_deref() {
        Some("cancelled") => Ok(PermissionOption::Reject),
        Some("selected") => {
            let id = outcome.text("optionId").unwrap_or_default();
            let named = OPTIONS.iter().find(|(choice, own, ..)| *own == id && is_offered(*choice, question, can_edit));
            named.map(|(choice, ..)| *choice).ok_or_else(|| format!("unknown option {id:?}").into())
        }
        _ => Err("the outcome is neither selected nor cancelled".into()),
    }
}
