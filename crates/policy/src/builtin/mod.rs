//! The policy without any rules. Calls that only look, move or type pass. Destructive calls, judged by the tool's name,
//! its arguments and the element that it acts on, need approval. It is a whitelist: unknown calls need approval, too.

mod acting_key;
mod actions;
mod address;
mod argument_key;
mod bare;
pub mod browsers;
mod database;
mod deal;
mod described;
mod disclosure;
mod disguise;
mod element;
mod files;
mod flags;
mod folder_use;
mod keys;
mod known;
mod lexicon;
mod names;
mod nested;
mod own_tools;
mod parts;
mod phrase;
pub(crate) mod powershell;
mod queries;
mod refs;
mod request;
mod run;
mod secret_files;
pub mod shell;
mod sql;
mod statements;
mod typing;

pub use disclosure::may_disclose;

use super::annotations::Hint;
use super::detector::{ActionKind, Finding};
use super::snapshot::godot::is_short;
use super::snapshot::{NamedElement, Snapshot};
use super::target::Target;
use super::verdict::{Decision, Verdict};
use super::working_folder::WorkingFolder;
use address::judge_address;
use database::SqlUse;
use deal::has_deal;
use element::{judge_description, judge_dialog, judge_element, judge_target};
use keys::{KeyEffect, judge_key, pressed};
use known::Known;
use names::Class;
use pipewright_record::hook::{Harness, OwnToolUse};
use pipewright_record::identifier::words;
use pipewright_record::json::Object;
use pipewright_record::{Call, Fields};
use refs::judge_refs;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use typing::{judge_action, judge_entering, judge_item, judge_submit, submits, types_into_focus};

/// The keyboard's focus, as far as the calls tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Focus {
    #[default]
    Unknown,
    /// In a field, into which text was typed.
    Text(Target),
    /// Moved by keys: a space may press a button.
    Moved,
}

/// The built-in policy, with its state.
#[derive(Debug, Default)]
pub struct Builtin {
    /// The common prefix of most of the server's tools, if its list was read; else empty.
    shared_prefix: String,
    /// The tools whose names others have with a verb after them.
    changed_by_others: HashSet<String>,
    classes: Known<Class>,
    /// The elements that the world has shown. Empty if only calls are read; then the target that the caller names
    /// counts.
    pub snapshot: Snapshot,
    /// Whether the world's answers are read.
    sees_answers: bool,
    /// Whether the marks of a call are those of a gate before this one.
    is_behind_gate: bool,
    /// The client that makes the calls, whose own tools have no server's name.
    client: Option<&'static Harness>,
    /// Where calls run that do not say it themselves.
    place: WorkingFolder,
    /// What the browsers that a client drives from a shell have shown, by the browser.
    browsers: HashMap<String, Snapshot>,
    focus: Focus,
}

/// The effect of a call, as far as it is known.
#[derive(Debug, Clone)]
pub struct CallEffect {
    /// The element that it acts on, if the call itself or the snapshot tells.
    pub target: Option<Target>,
    class: Class,
}

impl CallEffect {
    /// Whether the tool's name decides: neither arguments nor an element would change the decision.
    pub fn are_decided_by_name(&self) -> bool {
        matches!(self.class, Class::Observe | Class::Own | Class::Destroy(..) | Class::Change(_) | Class::Unknown)
    }

    /// Whether a call that the policy allows only reads: it neither opens a page, nor enters text, nor starts anything.
    pub fn is_read_only(&self) -> bool {
        matches!(self.class, Class::Observe | Class::Run | Class::Refs)
    }
}

/// The parts of a call that count here.
struct JudgedCall<'a> {
    tool: &'a str,
    /// The words of the tool's name.
    words: Vec<String>,
    /// JSON text: an object.
    raw: &'a str,
    arguments: Fields<'a>,
    named: NamedElement,
    /// Whether the named element has the focus, or gets it by this call, according to the world.
    is_focused: bool,
    /// What it does, if it is a client's own.
    own_tool: Option<OwnToolUse>,
}

const ALLOW: &str = "builtin.allow";
const READ_ONLY: &str = "its server, which is trusted, marks it as read-only";
const NOUNS: &str = "its name has no verb, and its server, which is trusted, does not mark it as changing anything";

fn allow(reason: &'static str) -> Decision {
    Decision::new(Verdict::Allow, ALLOW, reason)
}

fn found(kind: ActionKind, rule: &'static str, because: String) -> Decision {
    Decision::confirm(rule, Finding { kind, severity: kind.severity(), because })
}

/// The decision to ask about text that is run.
fn found_text(kind: ActionKind, rule: &'static str, because: String) -> Decision {
    Decision { runs_text: true, ..found(kind, rule, because) }
}

impl Builtin {
    /// Without any state. It reads the world's answers, or only calls.
    pub fn new(sees_answers: bool) -> Builtin {
        Builtin { sees_answers, ..Builtin::default() }
    }

    /// For calls that a gate has marked: it tells the origin of their targets.
    pub fn behind_gate() -> Builtin {
        Builtin { is_behind_gate: true, ..Builtin::default() }
    }

    /// For a client's calls, including those of the client's own tools.
    pub fn of_client(client: &'static Harness) -> Builtin {
        Builtin { client: Some(client), ..Builtin::default() }
    }

    /// Where calls run that do not say it themselves, and what is looked for there.
    pub fn with_place(self, place: WorkingFolder) -> Builtin {
        Builtin { place, ..self }
    }

    /// Where calls run that do not say it themselves.
    pub fn place(&self) -> &WorkingFolder {
        &self.place
    }

    /// Takes the last snapshot of a browser that is driven from a shell, as [`printed_page`] gives it.
    pub fn with_browser(mut self, browser: String, page: &str) -> Builtin {
        self.browsers.insert(browser, Snapshot::of_part(page));
        self
    }

    /// Takes the names of the server's tools. A prefix that most of them share tells nothing about a single tool.
    pub fn learn_tools<'a>(&mut self, tools: impl Iterator<Item = &'a str>) {
        let tools: HashSet<&str> = tools.collect();
        self.shared_prefix = names::shared_prefix(tools.iter().copied());
        self.changed_by_others = names::changed_by_others(&tools).into_iter().map(str::to_owned).collect();
        self.classes = Known::default();
    }

    /// Judges a call. The server's hint about the tool may add a question. It removes one only if the name tells
    /// nothing specific.
    pub fn judge(&self, call: &Call<'_>, hint: Hint) -> (Decision, CallEffect) {
        let mut class = self.classes.of(&call.tool, || names::class_of_server(&call.tool, &self.shared_prefix));
        let own_tool = self.client.and_then(|client| client.own_tool(&call.tool));
        match own_tool {
            Some(own) => class = own_tools::class(own),
            None if self.client.is_some() && names::is_of_client(&call.tool) => class = Class::Own,
            None => {
                let mark = self.client.and_then(|client| client.server_mark);
                class = mark.and_then(|mark| names::class_behind_server(&call.tool, mark)).unwrap_or(class);
            }
        }
        // A trusted server tells how its own query language is used; arguments that are SQL are still judged.
        if class == Class::Run && hint == Hint::ReadOnly && names::queries(&call.tool) {
            class = Class::Observe;
        }
        // `docs_query` takes words.
        if class == Class::Run && names::queries(&call.tool) && actions::is_prose(&call.tool) {
            class = Class::Observe;
        }
        let raw = call.arguments.map_or("{}", RawValue::get);
        let arguments = match Fields::read_deep(raw) {
            Ok(arguments) => arguments,
            Err(why) => {
                let why = format!("two readers could read its arguments differently: {why}");
                return (Decision::new(Verdict::Deny, "builtin.ambiguous", why), CallEffect { target: None, class });
            }
        };
        let own_words = words(&call.tool);
        class = bare::class_with(class, &call.tool, &own_words, &arguments);
        let (named, is_focused) = match (&class, self.snapshot.focused(), self.named(call, &own_words, raw, &arguments))
        {
            (Class::Press, Some(focused), NamedElement::Nothing) => (NamedElement::Element(focused), true),
            (Class::Activate, Some(focused), NamedElement::Nothing) if types_into_focus(&call.tool, &arguments) => {
                (NamedElement::Element(focused), true)
            }
            (_, _, named) => (named, self.snapshot.is_numbered() && arguments.get("id").is_some()),
        };
        let call = JudgedCall { tool: &call.tool, words: own_words, raw, arguments, named, is_focused, own_tool };
        let sql = database::judge(&call, &class, hint);
        // `sql_select` selects no element of a page.
        if matches!(class, Class::Activate | Class::Unknown)
            && sql == Some(SqlUse::Read)
            && call.named == NamedElement::Nothing
        {
            class = Class::Run;
        }
        let mut decision = self.judge_class(&class, &call, hint, sql);
        if own_tool == Some(OwnToolUse::Fetches) {
            decision = own_tools::judge_fetched(&call).into_iter().fold(decision, Decision::stricter);
        }
        if let Some(item) = judge_item(&call) {
            decision = decision.stricter(item);
        }
        if matches!(class, Class::Activate | Class::Unknown) && decision.kind.is_none() {
            decision = judge_description(&call, decision);
        }
        if let Some(said) = actions::judge(&call, &class, &|inner| self.judge(inner, Hint::None).0) {
            decision = decision.stricter(said);
        }
        // For clicking, typing and opening a page, the element, the key or the address tells more than a hint that all
        // tools have. A tool that runs SQL can destroy something, but not with text that only reads.
        let is_judged = matches!(class, Class::Navigate | Class::Activate | Class::Enter | Class::Press);
        let reads_sql = sql == Some(SqlUse::Read) && decision.verdict == Verdict::Allow;
        if (hint == Hint::Destructive || hint == Hint::DestructiveAsAll && !is_judged) && !reads_sql {
            let why = "its server marks it as destructive";
            decision = decision.stricter(Decision::new(Verdict::Confirm, "builtin.annotation", why));
        }
        decision.pays |= names::is_payment(call.tool, &class) || has_deal(call.tool, &call.arguments);
        decision.runs_text |= takes_text(&call.words)
            || class == Class::Run
            || sql == Some(SqlUse::MayWrite)
            || class == Class::Unknown && run::takes_arguments(&call.arguments);
        let target = match call.named {
            NamedElement::Element(target) => Some(target),
            _ => None,
        };
        (decision, CallEffect { target, class })
    }

    /// The element that the call acts on.
    fn named(&self, call: &Call<'_>, words: &[String], raw: &str, arguments: &Fields<'_>) -> NamedElement {
        let seen = self.snapshot.target_in((&call.tool, words), raw, arguments);
        // The world's answers are more reliable than the caller.
        if self.sees_answers {
            return seen;
        }
        if let Some(own) = call.target.and_then(|target| Target::read(target.get())) {
            // A caller may claim any origin.
            let origin = own.origin.filter(|_| self.is_behind_gate);
            return NamedElement::Element(Target { origin, ..own });
        }
        match (seen, text(arguments, "element")) {
            (NamedElement::Unknown(_), Some(said)) => NamedElement::Element(Target { name: said, ..Target::default() }),
            (seen, _) => seen,
        }
    }

    /// Records a judged call that passes. A call that `is_held` may still be rejected or changed.
    pub fn passes(&mut self, call: &Call<'_>, acts: &CallEffect, is_held: bool) {
        if self.sees_answers {
            let arguments = call.arguments.map_or("{}", RawValue::get);
            let has_effect = matches!(acts.class, Class::Destroy(..) | Class::Change(_));
            self.snapshot.passes(call.id.map(RawValue::get), &call.tool, arguments, has_effect);
        }
        match (&acts.class, &acts.target) {
            (Class::Observe, _) if words(&call.tool).iter().any(|word| word == "focus") => self.focus = Focus::Moved,
            (Class::Observe, _) => {}
            (Class::Enter, Some(target)) if !is_held => self.focus = Focus::Text(target.clone()),
            (Class::Press, _) => {
                if Fields::read(call.arguments_text()).ok().and_then(|own| pressed(&own)) == Some(KeyEffect::Move) {
                    self.focus = Focus::Moved;
                }
            }
            _ => self.focus = Focus::Unknown,
        }
    }

    fn judge_class(&self, class: &Class, call: &JudgedCall<'_>, hint: Hint, sql: Option<SqlUse>) -> Decision {
        match class {
            Class::Observe | Class::Unknown if sql == Some(SqlUse::MayWrite) => {
                let because = "the SQL in its arguments may do more than read".to_owned();
                found(ActionKind::Run, "builtin.argument", because).with_parts(&database::causes(call))
            }
            Class::Observe => allow("it only looks"),
            Class::Navigate if call.named != NamedElement::Nothing => {
                judge_address(call).stricter(judge_element(&call.named))
            }
            Class::Navigate => judge_address(call),
            Class::Activate => judge_action(call).unwrap_or_else(|| self.judge_drop(call, judge_element(&call.named))),
            Class::Enter if submits(call) => judge_submit(match &call.named {
                NamedElement::Element(target) => Some(target),
                _ => None,
            }),
            Class::Enter => judge_entering(call),
            Class::Press => judge_key(call, &self.focus),
            Class::Dialog => judge_dialog(call),
            Class::Change(_) | Class::Destroy(ActionKind::Overwrite | ActionKind::Run, _)
                if hint == Hint::ReadOnly && !names::is_grave(call.tool, class) =>
            {
                allow(READ_ONLY)
            }
            Class::Run => {
                // Only a client's own shell is certain to run what its text says.
                let is_shell = self.client.is_none() || matches!(call.own_tool, Some(OwnToolUse::Runs(_)));
                run::judge_run(call, sql, &self.place, |browsers| is_shell.then(|| self.judge_browsers(&browsers)))
            }
            Class::Refs => judge_refs(call),
            Class::Own => allow("it only makes notes, or starts an agent whose calls are judged one by one"),
            Class::Destroy(kind, word) => found(*kind, "builtin.tool", format!("the tool's name says {word:?}")),
            // A slider or a box of a game, which was shown.
            Class::Change("set") if sets_seen_value(call) => judge_entering(call),
            // As with unknown calls, a rule may allow it.
            Class::Change(word) => {
                Decision::new(Verdict::Confirm, "builtin.unknown_effect", format!("the tool's name says {word:?}"))
            }
            Class::Unknown if hint == Hint::ReadOnly => match &call.named {
                NamedElement::Element(target) => allow(READ_ONLY).stricter(judge_target(target)),
                _ => allow(READ_ONLY),
            },
            // Servers of this kind name tools that change something with a verb, and tools that show something without
            // one.
            Class::Unknown if hint == Hint::Unsaid && self.names_what_it_shows(call.tool) => match &call.named {
                NamedElement::Element(target) => allow(NOUNS).stricter(judge_target(target)),
                _ => allow(NOUNS),
            },
            Class::Unknown => {
                let why = format!("the effect of {} is not known", call.tool);
                let unknown = Decision::new(Verdict::Confirm, "builtin.unknown", why);
                match &call.named {
                    NamedElement::Element(target) => unknown.stricter(judge_target(target)),
                    _ => unknown,
                }
            }
        }
    }

    fn names_what_it_shows(&self, tool: &str) -> bool {
        names::has_only_nouns(tool) || self.changed_by_others.contains(tool)
    }

    /// Judges the place on which a dragged element is dropped.
    fn judge_drop(&self, call: &JudgedCall<'_>, decision: Decision) -> Decision {
        if !call.words.iter().any(|word| ["drag", "drop", "swipe", "move"].contains(&word.as_str())) {
            return decision;
        }
        let named = |text: &str| {
            let key = if text.starts_with("/root") || is_short(text) { "path" } else { "ref" };
            self.snapshot.target("browser_click", &Object::default().text(key, text).end())
        };
        let dropped = serde_json::from_str::<Value>(call.raw).ok().and_then(|own| element::judge_drop(&own, named));
        match dropped {
            Some(dropped) => decision.stricter(dropped),
            // It ends at a point, where anything may be.
            None if call.words.iter().any(|word| word == "drag") => {
                decision.stricter(element::judge_element(&NamedElement::Nothing))
            }
            None => decision,
        }
    }
}

/// Whether a tool, by its name, passes a text or another call on to something that carries it out: `write_query`,
/// `write_to_terminal`.
fn takes_text(tool: &[String]) -> bool {
    use crate::lists::builtin::TAKING;
    tool.iter().any(|word| TAKING.contains(&word.as_str()))
}

/// Whether a call sets the value of an element that was shown.
fn sets_seen_value(call: &JudgedCall<'_>) -> bool {
    call.words == ["set", "value"]
        && matches!(&call.named, NamedElement::Element(target) if target.snapshot_id.is_some())
}

/// A key without capitals and punctuation: `saveTo` and `save_to` are the same.
fn plain_key(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Cow::Borrowed(key);
    }
    Cow::Owned(key.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect())
}

fn text(arguments: &Fields<'_>, key: &str) -> Option<String> {
    arguments.get(key).and_then(|value| serde_json::from_str(value.get()).ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
