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
    /// Approve the call, and all calls that match the offered rule with this index.
    AllowForSession(usize),
    /// Edit its arguments, then approve it.
    Edit,
    /// Reject the call. A closed dialogue also means this.
    Reject,
}

impl PermissionOption {
    /// The options for a question, in their order.
    fn offered(question: &Question, can_edit: bool) -> Vec<PermissionOption> {
        let for_session = (0..question.rule_offers.len()).map(PermissionOption::AllowForSession);
        let edit = (can_edit && EditForm::of(question).is_some()).then_some(PermissionOption::Edit);
        let first = std::iter::once(PermissionOption::Allow).chain(for_session);
        first.chain(edit).chain([PermissionOption::Reject]).collect()
    }

    fn id(self) -> String {
        match self {
            PermissionOption::Allow => "allow".to_owned(),
            PermissionOption::AllowForSession(0) => "allow_session".to_owned(),
            PermissionOption::AllowForSession(index) => format!("allow_session_{}", index + 1),
            PermissionOption::Edit => "edit".to_owned(),
            PermissionOption::Reject => "reject".to_owned(),
        }
    }

    /// The kind and the name of an option; `rules` is what the offered rules allow.
    fn described(self, rules: &[String]) -> (&'static str, String) {
        match self {
            PermissionOption::Allow => ("allow_once", "Allow once".to_owned()),
            PermissionOption::AllowForSession(index) => {
                let rule = rules.get(index).map_or("this rule", String::as_str);
                ("allow_always", format!("Allow {rule} for the session"))
            }
            PermissionOption::Edit => ("allow_once", "Edit the arguments, then allow".to_owned()),
            PermissionOption::Reject => ("reject_once", "Reject".to_owned()),
        }
    }
}

/// The parameters of `session/request_permission`, JSON text. `can_edit` is whether the editor shows forms, `rules` what
/// the offered rules allow.
pub fn permission_request(
    session: &str,
    question: &Question,
    can_edit: bool,
    rules: &[String],
    folder: &Path,
) -> String {
    let options = PermissionOption::offered(question, can_edit).into_iter().map(|choice| {
        let (kind, name) = choice.described(rules);
        Object::default().text("optionId", &choice.id()).text("name", &name).text("kind", kind).end()
    });
    let options = list(&options.collect::<Vec<_>>());
    let params = Object::default().text("sessionId", session).put("toolCall", tool_call(question, folder));
    params.put("options", options).end()
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
            let named = PermissionOption::offered(question, can_edit).into_iter().find(|choice| choice.id() == id);
            named.ok_or_else(|| format!("unknown option {id:?}").into())
        }
        _ => Err("the outcome is neither selected nor cancelled".into()),
    }
}
