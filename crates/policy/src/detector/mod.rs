//! Whether activating an element of a user interface deletes, sends, pays, or does another thing that needs a person's
//! approval, judged by its name in any of seventy languages.
//!
//! The words are in the lists of `crates/words/lists`, one file for each language; its README describes the syntax of
//! patterns. The code has what is common to all languages: the [normal form](normalise) of names, [finding
//! patterns](find) in them, [the languages](languages) that apply, and [which matches count](verdict).

use pipewright_record::named;
use std::fmt;

mod find;
mod grammar;
mod languages;
mod times;
mod verdict;

pub use times::{differ_only_in_time, is_same_but_for_running_time};

use find::{Match, Name};
use verdict::{Verdict, judge};

/// An element that is to be activated.
#[derive(Debug, Clone, Copy, Default)]
pub struct Element<'a> {
    /// Its ARIA role, in any letter case: `button`.
    pub role: Option<&'a str>,
    /// Its accessible name.
    pub name: &'a str,
    /// Its value; the name of an `<input type=submit>` is there.
    pub value: Option<&'a str>,
    /// A BCP 47 tag, or the form of message catalogs: `pt-BR`, `zh_TW`. Without it all languages apply.
    pub locale: Option<&'a str>,
    /// The text around it: a dialog's question. It is read if the name has no meaning of its own ("OK", an icon).
    pub context: Option<&'a str>,
}

named! {
    /// The effect of a destructive call, or of an element.
    #[derive(PartialOrd, Ord, Hash)]
    #[allow(missing_docs)] // the names say it; words/README.md has the verbs of each
    pub enum ActionKind as "action_kind" {
        Delete = "delete",
        Send = "send",
        Pay = "pay",
        Order = "order",
        Confirm = "confirm",
        Submit = "submit",
        Publish = "publish",
        Overwrite = "overwrite",
        Discard = "discard",
        CancelOrder = "cancel_order",
        Revoke = "revoke",
        Grant = "grant",
        Install = "install",
        Run = "run",
    }
}

named! {
    /// How prominently to show the action to the person who is asked.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Severity as "severity" {
        /// Any other action that needs approval.
        Ordinary = "ordinary",
        /// Money, and code that runs: the effects can neither be inspected before nor undone after.
        Strong = "strong",
    }
}

/// An element whose activation needs approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it does.
    pub kind: ActionKind,
    /// How strongly to show it.
    pub severity: Severity,
    /// The words that were found, and their language, for people: `delete: "löschen" (de)`.
    pub because: String,
}

impl ActionKind {
    /// Whether it costs money, now or later.
    pub fn is_payment(self) -> bool {
        matches!(self, ActionKind::Pay | ActionKind::Order)
    }

    fn of_list(list: u8) -> Option<ActionKind> {
        ActionKind::ALL.get(usize::from(list)).copied()
    }

    /// How strongly it is to be shown.
    pub fn severity(self) -> Severity {
        match self {
            ActionKind::Pay | ActionKind::Install | ActionKind::Run => Severity::Strong,
            _ => Severity::Ordinary,
        }
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// Where in a text an action counts.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// The action must be the whole text.
    Whole,
    /// Anywhere in a label; in a sentence, only at its beginning or end.
    Label,
    Anywhere,
}

/// Whether activating an element needs approval, and the kind of action.
///
/// ```
/// use pipewright_policy::detector::{Element, ActionKind, classify};
/// let found = classify(&Element { name: "Zahlungspflichtig bestellen", locale: Some("de"), ..Element::default() });
/// assert_eq!(found.map(|found| found.kind), Some(ActionKind::Order));
/// assert_eq!(classify(&Element { name: "Order history", ..Element::default() }), None);
/// let ok = Element { name: "OK", context: Some("Delete this file?"), ..Element::default() };
/// assert_eq!(classify(&ok).map(|found| found.because).as_deref(), Some("delete: \"delete\" (en), in its context"));
/// ```
pub fn classify(element: &Element<'_>) -> Option<Finding> {
    let scope = scope(element.role)?;
    let languages = languages::of_locale(element.locale);
    let mut name = Name::read(element.name);
    if let (true, Some(value)) = (name.is_blank(), element.value) {
        name = Name::read(value);
    }
    let verdict = if name.is_blank() { Verdict::Generic } else { judge(&name, languages, scope) };
    match (verdict, element.context) {
        (Verdict::Action(found), _) => finding(&name, &found, ""),
        (Verdict::Generic, Some(context)) => {
            // The nearest text is in the first lines.
            let near = context.char_indices().nth(MAX_CONTEXT).map_or(context, |(end, _)| &context[..end]);
            let near = Name::read(near);
            match judge(&near, languages, Scope::Anywhere) {
                Verdict::Action(found) => finding(&near, &found, ", in its context"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// How much of the context is read, in characters.
const MAX_CONTEXT: usize = 400;

fn finding(name: &Name, found: &Match, whence: &str) -> Option<Finding> {
    let kind = ActionKind::of_list(found.pattern.list)?;
    let because = format!("{kind}: {:?} ({}){whence}", name.written(found), found.pattern.language());
    Some(Finding { kind, severity: kind.severity(), because })
}

/// The scope for a role. A click on a button's text or picture is a click on the button, so a passive element counts if
/// its whole name is an action ("Delete"); titles and sentences do not count. An element that is typed or dragged into
/// is never activated. Unknown roles count like buttons.
fn scope(role: Option<&str>) -> Option<Scope> {
    const INPUT_ROLES: [&str; 7] =
        ["textbox", "searchbox", "spinbutton", "slider", "scrollbar", "progressbar", "meter"];
    use crate::lists::detector::PASSIVE;
    let is_in =
        |roles: &[&str]| role.is_some_and(|role| roles.iter().any(|other| role.trim().eq_ignore_ascii_case(other)));
    if is_in(&INPUT_ROLES) {
        None
    } else if is_in(PASSIVE) {
        Some(Scope::Whole)
    } else {
        Some(Scope::Label)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
