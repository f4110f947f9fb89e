//! The policy that is there without any rules: what only looks, moves or types passes, and what is destructive is asked about, as
//! far as the tool's name, its arguments and the element that it acts on tell. It is a whitelist: what isn't
//! known is asked about as well.

mod actions;
mod address;
mod element;
mod files;
mod flags;
mod keys;
mod lexicon;
mod names;
mod nested;
mod phrase;
mod request;
mod run;
mod shell;
mod sql;
mod typing;

use super::annotations::Hint;
use super::detector::{ActionKind, Finding};
use super::snapshot::godot::is_short;
use super::snapshot::{Named, Snapshot};
use super::target::Target;
use super::verdict::{Decision, Verdict};
use crate::identifier::words;
use crate::json::Object;
use crate::record::{Call, Fields};
use address::judge_address;
use element::{judge_description, judge_element, judge_target};
use keys::{Key, judge_key, pressed};
use names::Class;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;
use typing::{judge_action, judge_entering, judge_item, judge_submit, submits};

/// Where the keyboard's focus is, as far as the calls tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Focus {
    #[default]
    Unknown,
    /// Something was typed there.
    Text(Target),
    /// Keys have moved it: a space may press a button.
    Moved,
}

/// The built-in policy, with what it has seen.
#[derive(Debug, Default)]
pub struct Builtin {
    /// What the names of most of the server's tools begin with, where its list was read; else empty.
    shared_prefix: String,
    /// The tools whose names others have with a verb behind them.
    changed_by_others: HashSet<String>,
    /// What the world has shown. Empty where only calls are seen; then the caller's own word of what it acts on counts.
    pub snapshot: Snapshot,
    /// Whether the world's answers are seen.
    sees_answers: bool,
    /// The calls are of a client, whose own tools have no server's name.
    is_of_client: bool,
    focus: Focus,
}

/// What a call does, as far as it was found out.
#[derive(Debug, Clone)]
pub struct Acts {
    /// What it acts on, where the call itself or what was seen tells.
    pub target: Option<Target>,
    class: Class,
}

impl Acts {
    /// Whether the tool's name says all: neither arguments nor an element would change the decision.
    pub fn are_decided_by_name(&self) -> bool {
        matches!(self.class, Class::Observe | Class::Own | Class::Destroy(..) | Class::Change(_) | Class::Unknown)
    }
}

/// A call's part that counts here.
struct JudgedCall<'a> {
    tool: &'a str,
    /// JSON text: an object.
    raw: &'a str,
    arguments: Fields<'a>,
    named: Named,
    /// What is named has the focus, or gets it by this call, as the world itself says.
    is_focused: bool,
}

const ALLOW: &str = "builtin.allow";
const READ_ONLY: &str = "its server, which is trusted, says that it only reads";
const NOUNS: &str =
    "its name says what it shows, and its server, which is trusted, does not say that it changes anything";

fn allow(reason: &'static str) -> Decision {
    Decision::new(Verdict::Allow, ALLOW, reason)
}

fn found(kind: ActionKind, rule: &'static str, because: String) -> Decision {
    Decision::confirm(rule, Finding { kind, severity: kind.severity(), because })
}

impl Builtin {
    /// One that has seen nothing yet, and that will see the world's answers, or only calls.
    pub fn new(sees_answers: bool) -> Builtin {
        Builtin { sees_answers, ..Builtin::default() }
    }

    /// One that judges a client's calls, also those of tools that the client has itself.
    pub fn of_client() -> Builtin {
        Builtin { is_of_client: true, ..Builtin::default() }
    }

    /// The names of the server's tools are known: a prefix that most of them share says nothing of what one does.
    pub fn learn_tools<'a>(&mut self, tools: impl Iterator<Item = &'a str>) {
        let tools: HashSet<&str> = tools.collect();
        self.shared_prefix = names::shared_prefix(tools.iter().copied());
        self.changed_by_others = names::changed_by_others(&tools).into_iter().map(str::to_owned).collect();
    }

    /// Judges a call. What the server says of the tool may add a question, and takes one away only where the name says nothing in
    /// particular.
    pub fn judge(&self, call: &Call<'_>, hint: Hint) -> (Decision, Acts) {
        let mut class = names::class_of_server(&call.tool, &self.shared_prefix);
        if self.is_of_client && names::is_of_client(&call.tool) {
            class = Class::Own;
        }
        // A server that is trusted says in which way its own language is asked: what is certainly SQL is judged all the same.
        if class == Class::Run && hint == Hint::ReadOnly && names::queries(&call.tool) {
            class = Class::Observe;
        }
        let raw = call.arguments.map_or("{}", RawValue::get);
        let arguments = match Fields::read_deep(raw) {
            Ok(arguments) => arguments,
            Err(why) => {
                let why = format!("two readers could read its arguments differently: {why}");
                return (Decision::new(Verdict::Deny, "builtin.ambiguous", why), Acts { target: None, class });
            }
        };
        let (named, is_focused) = match (&class, self.snapshot.focused(), self.named(call, raw, &arguments)) {
            (Class::Press, Some(focused), Named::Nothing) => (Named::Element(focused.clone()), true),
            (_, _, named) => (named, self.snapshot.is_numbered() && arguments.get("id").is_some()),
        };
        let call = JudgedCall { tool: &call.tool, raw, arguments, named, is_focused };
        let mut decision = self.judge_class(&class, &call, hint);
        if let Some(item) = judge_item(&call) {
            decision = decision.or_stricter(item);
        }
        if matches!(class, Class::Activate | Class::Unknown) && decision.kind.is_none() {
            decision = judge_description(&call, decision);
        }
        if let Some(said) = actions::judge(&call, &class, &|inner| self.judge(inner, Hint::None).0) {
            decision = decision.or_stricter(said);
        }
        // Of clicking, typing and opening a page, the element, the key or the address says more than a hint that all tools have.
        let is_judged = matches!(class, Class::Navigate | Class::Activate | Class::Enter | Class::Press);
        if hint == Hint::Destructive || hint == Hint::DestructiveAsAll && !is_judged {
            let why = "its server says that it is destructive";
            decision = decision.or_stricter(Decision::new(Verdict::Confirm, "builtin.annotation", why));
        }
        decision.pays |= names::pays(call.tool, &class);
        let target = match call.named {
            Named::Element(target) => Some(target),
            _ => None,
        };
        (decision, Acts { target, class })
    }

    /// What the call acts on.
    fn named(&self, call: &Call<'_>, raw: &str, arguments: &Fields<'_>) -> Named {
        let seen = self.snapshot.target(&call.tool, raw);
        // Whoever sees the answers knows better than the caller.
        if self.sees_answers {
            return seen;
        }
        if let Some(own) = call.target.and_then(|target| Target::read(target.get())) {
            return Named::Element(own);
        }
        match (seen, text(arguments, "element")) {
            (Named::Unknown(_), Some(said)) => Named::Element(Target { name: said, ..Target::default() }),
            (seen, _) => seen,
        }
    }

    /// Takes note of a call that passes, which was judged. One that `is_held` somebody may still reject, or change.
    pub fn passes(&mut self, call: &Call<'_>, acts: &Acts, is_held: bool) {
        if self.sees_answers {
            let arguments = call.arguments.map_or("{}", RawValue::get);
            self.snapshot.passes(call.id.map(RawValue::get), &call.tool, arguments);
        }
        match (&acts.class, &acts.target) {
            (Class::Observe, _) if words(&call.tool).iter().any(|word| word == "focus") => self.focus = Focus::Moved,
            (Class::Observe, _) => {}
            (Class::Enter, Some(target)) if !is_held => self.focus = Focus::Text(target.clone()),
            (Class::Press, _) => {
                if serde_json::from_str(call.arguments_text()).ok().and_then(|own| pressed(&own)) == Some(Key::Move) {
                    self.focus = Focus::Moved;
                }
            }
            _ => self.focus = Focus::Unknown,
        }
    }

    fn judge_class(&self, class: &Class, call: &JudgedCall<'_>, hint: Hint) -> Decision {
        match class {
            Class::Observe => allow("it only looks"),
            Class::Navigate if call.named != Named::Nothing => {
                judge_address(call).or_stricter(judge_element(&call.named))
            }
            Class::Navigate => judge_address(call),
            Class::Activate => judge_action(call).unwrap_or_else(|| self.judge_drop(call, judge_element(&call.named))),
            Class::Enter if submits(call) => judge_submit(match &call.named {
                Named::Element(target) => Some(target),
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
            Class::Run => run::judge_run(call),
            Class::Refs => judge_refs(call),
            Class::Own => allow("what it notes or starts is judged call by call"),
            Class::Destroy(kind, word) => found(*kind, "builtin.tool", format!("the tool's name says {word:?}")),
            // A slider or a box of a game's that was seen.
            Class::Change("set") if sets_seen_value(call) => judge_entering(call),
            // As with what is not known, a rule may allow it.
            Class::Change(word) => {
                Decision::new(Verdict::Confirm, "builtin.unknown_effect", format!("the tool's name says {word:?}"))
            }
            Class::Unknown if hint == Hint::ReadOnly => match &call.named {
                Named::Element(target) => allow(READ_ONLY).or_stricter(judge_target(target)),
                _ => allow(READ_ONLY),
            },
            // Servers of this kind name what changes something with a verb, and what shows something by it alone.
            Class::Unknown if hint == Hint::Unsaid && self.names_what_it_shows(call.tool) => match &call.named {
                Named::Element(target) => allow(NOUNS).or_stricter(judge_target(target)),
                _ => allow(NOUNS),
            },
            Class::Unknown => {
                let why = format!("what {} does isn't known", call.tool);
                let unknown = Decision::new(Verdict::Confirm, "builtin.unknown", why);
                match &call.named {
                    Named::Element(target) => unknown.or_stricter(judge_target(target)),
                    _ => unknown,
                }
            }
        }
    }

    fn names_what_it_shows(&self, tool: &str) -> bool {
        names::has_only_nouns(tool) || self.changed_by_others.contains(tool)
    }

    /// What is dragged is dropped somewhere.
    fn judge_drop(&self, call: &JudgedCall<'_>, decision: Decision) -> Decision {
        if !words(call.tool).iter().any(|word| ["drag", "drop", "swipe", "move"].contains(&word.as_str())) {
            return decision;
        }
        let named = |text: &str| {
            let key = if text.starts_with("/root") || is_short(text) { "path" } else { "ref" };
            self.snapshot.target("browser_click", &Object::default().text(key, text).end())
        };
        let dropped = serde_json::from_str::<Value>(call.raw).ok().and_then(|own| element::judge_drop(&own, named));
        match dropped {
            Some(dropped) => decision.or_stricter(dropped),
            None => decision,
        }
    }
}

/// Whether a call sets the value of an element that was seen.
fn sets_seen_value(call: &JudgedCall<'_>) -> bool {
    words(call.tool) == ["set", "value"]
        && matches!(&call.named, Named::Element(target) if target.snapshot_id.is_some())
}

/// A question that the page asks. Where it has too few words to say what about ("Really?"), it is asked about.
fn judge_dialog(call: &JudgedCall<'_>) -> Decision {
    let asked = |answer: &Target| answer.context.as_deref().unwrap_or_default().split_whitespace().count();
    match (call.arguments.get("accept").map(RawValue::get), &call.named) {
        (Some("false"), _) => allow("it says no to the page's question"),
        (_, Named::Element(answer)) if asked(answer) > 2 || element::find(answer).is_some() => judge_target(answer),
        _ => found(ActionKind::Confirm, "builtin.dialog", "it agrees to what the page asks".to_owned()),
    }
}

/// Only what chooses among the branches, tags or remotes of a repository.
fn judge_refs(call: &JudgedCall<'_>) -> Decision {
    const CHOOSING: &[&str] = &[
        "all",
        "branchtype",
        "contains",
        "cwd",
        "directory",
        "limit",
        "notcontains",
        "path",
        "pattern",
        "remotes",
        "repo",
        "repopath",
        "repository",
        "sort",
        "verbose",
        "workingdir",
        "workingdirectory",
    ];
    let lists = |key: &str| {
        let does = ["action", "mode", "operation"].contains(&key)
            && text(&call.arguments, key).is_some_and(|verb| verb == "list");
        does || CHOOSING.contains(&&*plain_key(key))
    };
    match call.arguments.iter().find(|(key, _)| !lists(key)) {
        None => allow("it lists what the repository has"),
        Some((key, _)) => {
            let why = format!("what {} does with {key:?} isn't known", call.tool);
            Decision::new(Verdict::Confirm, "builtin.unknown", why)
        }
    }
}

/// A key without capitals and marks: `saveTo` and `save_to` are one.
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
