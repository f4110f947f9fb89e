//! Which harness an input belongs to.

use super::places::{exact, string};
use super::{Fields, HARNESSES, Harness, HookEvent, Unreadable, unreadable};

/// Keys by which an input is recognised.
#[derive(Debug)]
pub(super) struct Marks {
    /// All of these are there.
    pub(super) has: &'static [&'static str],
    /// None of these is there.
    pub(super) lacks: &'static [&'static str],
}

/// Events have one of these keys.
const EVENT_KEYS: [&str; 3] = ["hook_event_name", "hookName", "hookEventName"];

/// An input has one key of each kind: harnesses name them differently.
const KINDS: [&[&str]; 3] =
    [&EVENT_KEYS, &["tool_name", "toolName", "tool_call"], &["tool_input", "toolInput", "toolArgs", "tool_call"]];

/// Refuses an input that has the event, the tool or the arguments twice, of which a harness would take either.
pub(super) fn check(fields: &Fields<'_>) -> Result<(), Unreadable> {
    for kind in KINDS {
        let mut there = kind.iter().filter(|key| fields.get(key).is_some());
        if let (Some(one), Some(other)) = (there.next(), there.next()) {
            return unreadable(format_args!("it has both {one:?} and {other:?}"));
        }
    }
    Ok(())
}

/// The harness to which the keys belong; none if they belong to none.
pub(super) fn recognised(fields: &Fields<'_>) -> Result<Option<&'static Harness>, Unreadable> {
    let of_two = |one: &Harness, other: &Harness| {
        unreadable(format_args!("it may be the input of {} or {}: name the harness", one.name, other.name))
    };
    match (&owners(fields)[..], &fitting(fields)[..]) {
        ([one, other, ..], _) | ([], [one, other, ..]) => of_two(one, other),
        ([one], _) if one.has_own_event(fields) => Ok(Some(*one)),
        ([], [one]) => Ok(Some(*one)),
        ([owner], [one, rest @ ..]) => match std::iter::once(one).chain(rest).find(|one| one.name != owner.name) {
            Some(other) => of_two(owner, other),
            None => Ok(Some(*owner)),
        },
        (_, []) => Ok(None),
    }
}

/// The harnesses of which an input has what no other has.
fn owners(fields: &Fields<'_>) -> Vec<&'static Harness> {
    let has = |key: &&str| fields.get(key).is_some();
    HARNESSES.iter().filter(|harness| harness.has_own_event(fields) || harness.own_keys.iter().any(has)).collect()
}

fn fitting(fields: &Fields<'_>) -> Vec<&'static Harness> {
    HARNESSES.iter().filter(|harness| harness.fits(fields)).collect()
}

/// Whether a harness has an event of this name, in any case, that asks for a decision.
pub(super) fn is_judged(name: &str) -> bool {
    HARNESSES.iter().flat_map(|harness| harness.events).any(|event| name.trim().eq_ignore_ascii_case(event.name))
}

pub(super) fn event_name(fields: &Fields<'_>) -> Result<Option<String>, Unreadable> {
    for key in EVENT_KEYS {
        if let Some(value) = exact(fields, key)? {
            return string(key, value).map(Some);
        }
    }
    Ok(None)
}

impl Harness {
    /// Another harness to which the input of a call belongs.
    pub(super) fn other_owner(&self, fields: &Fields<'_>) -> Option<&'static Harness> {
        // The harness does not wait for what is said about other events.
        if event_name(fields).is_ok_and(|name| name.is_some_and(|name| !is_judged(&name))) {
            return None;
        }
        let is_other = |harness: &&&'static Harness| harness.name != self.name;
        let (owners, fitting) = (owners(fields), fitting(fields));
        match owners.iter().find(is_other) {
            None if owners.is_empty() && fitting.iter().all(|harness| is_other(&harness)) => fitting.first().copied(),
            other => other.copied(),
        }
    }

    /// Whether the event's name is one that no other harness has.
    fn has_own_event(&self, fields: &Fields<'_>) -> bool {
        self.event_keys.iter().any(|key| {
            let name = fields.text(key);
            self.events.iter().any(|event| name.as_deref() == Some(event.name) && event.is_only_of(self))
        })
    }

    fn fits(&self, fields: &Fields<'_>) -> bool {
        let has = |key: &&str| fields.get(key).is_some();
        self.marks.iter().any(|marks| marks.has.iter().all(has) && !marks.lacks.iter().any(has))
    }
}

impl HookEvent {
    /// Whether only this harness has an event of the name.
    fn is_only_of(&self, harness: &Harness) -> bool {
        let others = HARNESSES.iter().filter(|other| other.name != harness.name);
        !self.name.is_empty() && !others.flat_map(|other| other.events).any(|event| event.name == self.name)
    }
}
