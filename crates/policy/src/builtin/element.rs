//! The element that a call acts on, and its description.

use super::described::labels;
use super::disguise::has_mixed_word;
use super::{JudgedCall, allow, found};
use crate::detector::{ActionKind, Element, Finding, classify};
use crate::lists::element::BINS;
use crate::snapshot::NamedElement;
use crate::target::Target;
use crate::verdict::{Decision, Verdict};
use pipewright_record::identifier::words;
use serde_json::Value;
use serde_json::value::RawValue;

const UNSPACED_BINS: &[&str] = &["ゴミ箱", "ごみ箱", "回收站", "垃圾桶", "垃圾箱", "휴지통", "ถังขยะ"];

pub fn judge_element(named: &NamedElement) -> Decision {
    match named {
        NamedElement::Element(target) => judge_target(target),
        NamedElement::Unknown(reference) => {
            let why = format!(
                "the element {reference:?} is not known: no current snapshot shows it, or its name alone means nothing"
            );
            Decision::new(Verdict::Confirm, "builtin.unknown_target", why)
        }
        NamedElement::Nothing => {
            Decision::new(Verdict::Confirm, "builtin.unknown_target", "it names no element, so its effect is not known")
        }
    }
}

pub fn judge_target(target: &Target) -> Decision {
    match find(target) {
        Some(finding) => Decision::confirm("builtin.detector", finding),
        None if is_cut(&target.name) => {
            let why = "its name is too long to be shown in full, and the rest may say what it does";
            Decision::new(Verdict::Confirm, "builtin.cut_name", why)
        }
        None if has_mixed_word(&target.name) => {
            let why = "its name has letters that look like others";
            Decision::new(Verdict::Confirm, "builtin.disguised_name", why)
        }
        None => allow("nothing says that it is destructive"),
    }
}

/// Whether a name was cut: `browser-bridge` cuts longer ones to 120 characters and an ellipsis.
fn is_cut(name: &str) -> bool {
    const MAX_LEN: usize = 120;
    name.ends_with('…') && name.chars().count() >= MAX_LEN
}

/// What the name says, or a label within it if it describes the element.
pub fn find(target: &Target) -> Option<Finding> {
    let found = |name: &str| {
        classify(&Element {
            role: target.role.as_deref(),
            name,
            value: target.value.as_deref(),
            locale: None,
            context: target.context.as_deref(),
        })
    };
    found(&target.name).or_else(|| labels(&target.name).iter().find_map(|label| found(label)))
}

fn find_name(name: &str) -> Option<Finding> {
    find(&Target { name: name.to_owned(), ..Target::default() })
}

/// The caller's description of the element may add a question.
pub fn judge_description(call: &JudgedCall<'_>, decision: Decision) -> Decision {
    let is_judged = |said: &str| matches!(&call.named, NamedElement::Element(target) if target.name == said);
    let said = ["element", "description"].into_iter().filter_map(|key| super::text(&call.arguments, key));
    match said.filter(|said| !is_judged(said)).find_map(|name| find_name(&name)) {
        Some(found) => decision.stricter(Decision::confirm("builtin.detector", found)),
        None => decision,
    }
}

/// Judges the place on which something is dropped. `named` gives the element of an argument.
pub fn judge_drop(fields: &Value, named: impl Fn(&str) -> NamedElement) -> Option<Decision> {
    use crate::lists::element::ENDS;
    let ends = fields.as_object()?.iter().filter(|(key, _)| ENDS.contains(&&*super::plain_key(key)));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let judge = |text: String| match named(&text) {
        NamedElement::Element(target) => judge_bin(&target.name).unwrap_or_else(|| judge_target(&target)),
        unknown @ NamedElement::Unknown(_) if is_number(&text) => judge_element(&unknown),
        NamedElement::Unknown(_) | NamedElement::Nothing => judge_bin(&text)
            .or_else(|| find_name(&text).map(|finding| Decision::confirm("builtin.detector", finding)))
            .unwrap_or_else(|| allow("nothing says that it is destructive")),
    };
    let reference = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    ends.filter_map(|(_, value)| reference(value)).map(judge).reduce(Decision::stricter)
}

fn judge_bin(name: &str) -> Option<Decision> {
    let is_bin = words(name).iter().any(|word| BINS.contains(&word.as_str()))
        || UNSPACED_BINS.iter().any(|bin| name.contains(bin));
    is_bin.then(|| found(ActionKind::Delete, "builtin.drag", format!("it is dropped on {name:?}")))
}

/// A dialog of the page. If its question has too few words to be judged ("Really?"), agreeing needs approval.
pub(super) fn judge_dialog(call: &JudgedCall<'_>) -> Decision {
    let asked = |answer: &Target| answer.context.as_deref().unwrap_or_default().split_whitespace().count();
    match (call.arguments.get("accept").map(RawValue::get), &call.named) {
        (Some("false"), _) => allow("it says no to the page's question"),
        (_, NamedElement::Element(answer)) if asked(answer) > 2 || find(answer).is_some() => judge_target(answer),
        _ => found(ActionKind::Confirm, "builtin.dialog", "it agrees to what the page asks".to_owned()),
    }
}
