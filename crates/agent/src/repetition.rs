//! Detects that the model repeats itself.

use std::collections::VecDeque;

/// The number of steps that are compared.
const MAX_STEPS: usize = 8;

/// How often in a row the same action must have the same outcome.
const REPETITIONS: usize = 3;

/// The number of actions without a visible change.
const UNCHANGED: u32 = 6;

/// Whether the world is observed after a call, so that a change would be visible.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Visibility {
    #[default]
    No,
    Yes,
    /// The world is observed, and the result reports a change.
    Changed,
}

/// A step: the action and its outcome.
type ActionAndOutcome = (String, String);

#[derive(Debug, Clone, Default)]
pub(super) struct Repetition {
    steps: VecDeque<ActionAndOutcome>,
    /// What the world showed last, and the number of actions since it changed.
    shown: String,
    unchanged: u32,
    /// The observation after the last call is still to come.
    watched: Visibility,
    /// How often a repetition was reported.
    reports: u32,
}

impl Repetition {
    /// Takes a call and its outcome; if it is observed, [`Repetition::show`] follows. Gives the repetition, as text for
    /// the model.
    pub(super) fn record(&mut self, action: String, outcome: String, watched: Visibility) -> Option<&'static str> {
        self.steps.push_back((action, outcome));
        if self.steps.len() > MAX_STEPS {
            self.steps.pop_front();
        }
        self.watched = watched;
        if watched == Visibility::No { self.repetition() } else { None }
    }

    /// Takes the observation after the last call, as part of that call's outcome. Gives the repetition.
    pub(super) fn show(&mut self, shown: &str) -> Option<&'static str> {
        let is_same = self.shown == shown;
        if !is_same {
            shown.clone_into(&mut self.shown);
        }
        match std::mem::take(&mut self.watched) {
            Visibility::No => return None,
            Visibility::Yes if is_same => self.unchanged += 1,
            Visibility::Yes | Visibility::Changed => self.unchanged = 0,
        }
        if let Some((_, outcome)) = self.steps.back_mut() {
            outcome.push_str(shown);
        }
        self.repetition()
    }

    fn repetition(&mut self) -> Option<&'static str> {
        let last = |back: usize| self.steps.len().checked_sub(back).map(|at| &self.steps[at]);
        let is_same = (2..=REPETITIONS).all(|back| last(back).is_some() && last(back) == last(1));
        let is_alternating = last(4).is_some() && last(1) == last(3) && last(2) == last(4) && last(1) != last(2);
        let why = if is_same {
            "the same action had the same outcome three times"
        } else if is_alternating {
            "two actions alternate, each with the same outcome as before"
        } else if self.unchanged >= UNCHANGED {
            "nothing has changed for six actions"
        } else {
            return None;
        };
        self.reports += 1;
        self.steps.clear();
        self.unchanged = 0;
        Some(why)
    }

    /// Whether the repetition continues after it was reported.
    pub(super) fn has_persisted(&self) -> bool {
        self.reports > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes steps: each is an action, and what the world shows after it.
    fn take(steps: &[(&str, &str)]) -> Vec<Option<&'static str>> {
        let mut repetition = Repetition::default();
        let act = |(action, shown): &(&str, &str)| {
            assert!(repetition.record((*action).to_owned(), "ok".to_owned(), Visibility::Yes).is_none());
            repetition.show(shown)
        };
        steps.iter().map(act).collect()
    }

    #[test]
    fn repetitions_are_found() {
        let same = |action| (action, action);
        assert!(take(&["a", "a", "b", "a", "a"].map(same)).iter().all(Option::is_none));
        assert!(take(&["a", "a", "a"].map(same))[2].is_some_and(|why| why.contains("three times")));
        assert!(take(&["x", "a", "b", "a", "b"].map(same))[4].is_some_and(|why| why.contains("alternate")));
    }

    #[test]
    fn the_same_action_is_not_a_repetition_if_the_world_changes() {
        let shown: Vec<String> = (0..12).map(|x| x.to_string()).collect();
        let steps: Vec<(&str, &str)> = shown.iter().map(|shown| ("press Right", &**shown)).collect();
        assert!(take(&steps).iter().all(Option::is_none));
    }

    #[test]
    fn an_unchanged_world_is_reported_once_and_then_again() {
        let mut repetition = Repetition::default();
        repetition.show("page");
        let found = (0..13).filter(|step| {
            repetition.record(step.to_string(), String::new(), Visibility::Yes);
            repetition.show("page").is_some()
        });
        assert_eq!(found.collect::<Vec<_>>(), [5, 11]);
        assert!(repetition.has_persisted());
    }

    #[test]
    fn scrolling_counts_as_a_change() {
        let mut repetition = Repetition::default();
        for position in 0..20 {
            assert!(repetition.record("scroll".to_owned(), position.to_string(), Visibility::Changed).is_none());
            assert!(repetition.show("the list").is_none());
        }
    }

    #[test]
    fn different_unobserved_calls_are_not_a_repetition() {
        let mut repetition = Repetition::default();
        assert!(
            (0..20).all(|row| repetition.record(format!("write_row {row}"), "ok".to_owned(), Visibility::No).is_none())
        );
    }
}
