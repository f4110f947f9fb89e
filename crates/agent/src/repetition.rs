//! Detects that the model repeats itself.

use std::collections::VecDeque;

/// What counts as a repetition; 0 means nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepetitionLimits {
    /// The same action with the same outcome so often in a row, or two actions that alternate. At least 2.
    pub repeats: u32,
    /// Actions that change nothing visible.
    pub unchanged: u32,
}

impl Default for RepetitionLimits {
    fn default() -> RepetitionLimits {
        RepetitionLimits { repeats: 3, unchanged: 6 }
    }
}

/// The most steps that are kept: a higher limit of repeats is never reached.
const MAX_STEPS: usize = 1000;

/// Whether the world is observed after a call, so that a change would be visible.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Visibility {
    #[default]
    No,
    Yes,
    /// The world is observed, and the result reports a change.
    Changed,
}

/// An action and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ActionStep {
    action: String,
    result: String,
    /// What the world showed after it.
    shown: String,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Repetition {
    steps: VecDeque<ActionStep>,
    /// What the world showed last, and the number of actions since it changed.
    shown: String,
    unchanged: u32,
    /// The observation after the last call is still to come.
    watched: Visibility,
    /// How often a repetition was reported.
    reports: u32,
}

impl Repetition {
    /// Takes a call and its result; if it is observed, [`Repetition::show`] follows. Gives the repetition, as text for
    /// the model.
    pub(super) fn record(
        &mut self,
        action: String,
        result: String,
        watched: Visibility,
        limits: RepetitionLimits,
    ) -> Option<String> {
        // A call whose answer changes shows a change, even if nothing else does: it may wait for something.
        let is_same_answer =
            self.steps.iter().rev().find(|step| step.action == action).map(|step| step.result == result);
        self.steps.push_back(ActionStep { action, result, shown: String::new() });
        if self.steps.len() > MAX_STEPS {
            self.steps.pop_front();
        }
        self.watched = match watched {
            Visibility::Yes if is_same_answer == Some(false) => Visibility::Changed,
            watched => watched,
        };
        if watched == Visibility::No { self.repetition(limits) } else { None }
    }

    /// Takes the observation after the last call, as part of that call's outcome. Gives the repetition.
    pub(super) fn show(&mut self, shown: &str, limits: RepetitionLimits) -> Option<String> {
        let is_same = self.shown == shown;
        if !is_same {
            shown.clone_into(&mut self.shown);
        }
        match std::mem::take(&mut self.watched) {
            Visibility::No => return None,
            Visibility::Yes if is_same => self.unchanged += 1,
            Visibility::Yes | Visibility::Changed => self.unchanged = 0,
        }
        if let Some(step) = self.steps.back_mut() {
            shown.clone_into(&mut step.shown);
        }
        self.repetition(limits)
    }

    fn repetition(&mut self, limits: RepetitionLimits) -> Option<String> {
        let RepetitionLimits { repeats, unchanged } = limits;
        // Whether each of the last steps equals the one that is so many steps before it.
        let repeats_after = |distance: usize, steps: usize| {
            let latest = self.steps.iter().rev();
            latest.clone().skip(distance).zip(latest).take(steps).filter(|(before, step)| before == step).count()
                == steps
        };
        let most = repeats.saturating_sub(1) as usize;
        let why = if repeats > 1 && repeats_after(1, most) {
            format!("the same action had the same outcome {repeats} times")
        } else if repeats > 1 && repeats_after(2, (2 * most).saturating_sub(2).max(2)) {
            "two actions alternate, each with the same outcome as before".to_owned()
        } else if unchanged > 0 && self.unchanged >= unchanged {
            format!("nothing has changed for {unchanged} actions")
        } else {
            return None;
        };
        self.reports += 1;
        self.steps.clear();
        self.unchanged = 0;
        Some(why)
    }

    /// Whether the last action changed nothing visible.
    pub(super) fn is_unchanged(&self) -> bool {
        self.unchanged > 0
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
    fn take(steps: &[(&str, &str)]) -> Vec<Option<String>> {
        take_within(RepetitionLimits::default(), steps)
    }

    fn take_within(limits: RepetitionLimits, steps: &[(&str, &str)]) -> Vec<Option<String>> {
        let mut repetition = Repetition::default();
        let act = |(action, shown): &(&str, &str)| {
            assert!(repetition.record((*action).to_owned(), "ok".to_owned(), Visibility::Yes, limits).is_none());
            repetition.show(shown, limits)
        };
        steps.iter().map(act).collect()
    }

    #[test]
    fn repetitions_are_found() {
        let same = |action| (action, action);
        assert!(take(&["a", "a", "b", "a", "a"].map(same)).iter().all(Option::is_none));
        assert!(take(&["a", "a", "a"].map(same))[2].as_ref().is_some_and(|why| why.contains("3 times")));
        assert!(take(&["x", "a", "b", "a", "b"].map(same))[4].as_ref().is_some_and(|why| why.contains("alternate")));
    }

    #[test]
    fn the_same_action_is_not_a_repetition_if_the_world_changes() {
        let shown: Vec<String> = (0..12).map(|x| x.to_string()).collect();
        let steps: Vec<(&str, &str)> = shown.iter().map(|shown| ("press Right", &**shown)).collect();
        assert!(take(&steps).iter().all(Option::is_none));
    }

    #[test]
    fn an_unchanged_world_is_reported_once_and_then_again() {
        let (mut repetition, limits) = (Repetition::default(), RepetitionLimits::default());
        repetition.show("page", limits);
        let found = (0..13).filter(|step| {
            repetition.record(step.to_string(), String::new(), Visibility::Yes, limits);
            repetition.show("page", limits).is_some()
        });
        assert_eq!(found.collect::<Vec<_>>(), [5, 11]);
        assert!(repetition.has_persisted());
    }

    #[test]
    fn scrolling_counts_as_a_change() {
        let (mut repetition, limits) = (Repetition::default(), RepetitionLimits::default());
        for position in 0..20 {
            assert!(
                repetition.record("scroll".to_owned(), position.to_string(), Visibility::Changed, limits).is_none()
            );
            assert!(repetition.show("the list", limits).is_none());
        }
    }

    #[test]
    fn different_unobserved_calls_are_not_a_repetition() {
        let (mut repetition, limits) = (Repetition::default(), RepetitionLimits::default());
        assert!((0..20).all(|row| {
            repetition.record(format!("write_row {row}"), "ok".to_owned(), Visibility::No, limits).is_none()
        }));
    }

    #[test]
    fn a_poll_whose_answers_change_is_no_repetition() {
        let (mut repetition, limits) = (Repetition::default(), RepetitionLimits::default());
        repetition.show("page", limits);
        for percent in 0..20 {
            assert!(repetition.record("wait".to_owned(), percent.to_string(), Visibility::Yes, limits).is_none());
            assert!(repetition.show("page", limits).is_none(), "{percent}");
        }
    }

    #[test]
    fn the_limits_are_those_that_are_set() {
        let a = ("a", "page");
        let found = |limits, steps: &[(&str, &str)]| {
            take_within(limits, steps).iter().position(Option::is_some).map(|step| step + 1)
        };
        for repeats in [2, 3, 5] {
            let limits = RepetitionLimits { repeats, unchanged: 0 };
            assert_eq!(found(limits, &[a; 9]), Some(repeats as usize));
        }
        let none = RepetitionLimits { repeats: 0, unchanged: 0 };
        assert_eq!(found(none, &[a; 40]), None);
        let alternating: Vec<(&str, &str)> =
            (0..12).map(|step| if step % 2 == 0 { a } else { ("b", "page") }).collect();
        for (repeats, step) in [(2, 4), (3, 4), (5, 8)] {
            assert_eq!(found(RepetitionLimits { repeats, unchanged: 0 }, &alternating), Some(step));
        }
        // The first of these shows the page.
        assert_eq!(found(RepetitionLimits { repeats: 0, unchanged: 2 }, &[a; 9]), Some(3));
    }
}
