//! Whether the model goes in circles.

use std::collections::VecDeque;

/// So many steps are looked at.
const KEPT: usize = 8;

/// The same action with the same outcome, so often in a row.
const SAME: usize = 3;

/// So many actions after which the world shows the same.
const UNCHANGED: u32 = 6;

/// Whether the world is looked at after a call, so that a change would be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Watched {
    #[default]
    No,
    Yes,
    /// It is, and the result says that something has changed.
    Changed,
}

/// A step: what was done, with what outcome.
type Step = (String, String);

#[derive(Debug, Clone, Default)]
pub(super) struct Repetition {
    steps: VecDeque<Step>,
    /// What the world showed last, and after how many actions it has shown nothing else.
    shown: String,
    unchanged: u32,
    /// What the world shows after the last call is still to come.
    watched: Watched,
    /// So often it was reported.
    reports: u32,
}

impl Repetition {
    /// Takes a call and its outcome; where it is watched, [`Repetition::show`] follows. Gives what is repeated, in
    /// words for the model.
    pub(super) fn act(&mut self, action: String, outcome: String, watched: Watched) -> Option<&'static str> {
        self.steps.push_back((action, outcome));
        if self.steps.len() > KEPT {
            self.steps.pop_front();
        }
        self.watched = watched;
        if watched == Watched::No { self.find() } else { None }
    }

    /// Takes what the world shows: it is part of the outcome of the call before. Gives the same.
    pub(super) fn show(&mut self, shown: &str) -> Option<&'static str> {
        let is_same = self.shown == shown;
        if !is_same {
            shown.clone_into(&mut self.shown);
        }
        match std::mem::take(&mut self.watched) {
            Watched::No => return None,
            Watched::Yes if is_same => self.unchanged += 1,
            Watched::Yes | Watched::Changed => self.unchanged = 0,
        }
        if let Some((_, outcome)) = self.steps.back_mut() {
            outcome.push_str(shown);
        }
        self.find()
    }

    fn find(&mut self) -> Option<&'static str> {
        let last = |back: usize| self.steps.len().checked_sub(back).map(|at| &self.steps[at]);
        let is_same = (2..=SAME).all(|back| last(back).is_some() && last(back) == last(1));
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

    /// It was reported once, and goes on.
    pub(super) fn is_hopeless(&self) -> bool {
        self.reports > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes steps: each an action, and what the world shows after it.
    fn take(steps: &[(&str, &str)]) -> Vec<Option<&'static str>> {
        let mut repetition = Repetition::default();
        let act = |(action, shown): &(&str, &str)| {
            assert!(repetition.act((*action).to_owned(), "ok".to_owned(), Watched::Yes).is_none());
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
    fn the_same_action_is_no_circle_where_the_world_changes() {
        let shown: Vec<String> = (0..12).map(|x| x.to_string()).collect();
        let steps: Vec<(&str, &str)> = shown.iter().map(|shown| ("press Right", &**shown)).collect();
        assert!(take(&steps).iter().all(Option::is_none));
    }

    #[test]
    fn a_world_that_shows_the_same_is_found_once_and_then_again() {
        let mut repetition = Repetition::default();
        repetition.show("page");
        let found = (0..13).filter(|step| {
            repetition.act(step.to_string(), String::new(), Watched::Yes);
            repetition.show("page").is_some()
        });
        assert_eq!(found.collect::<Vec<_>>(), [5, 11]);
        assert!(repetition.is_hopeless());
    }

    #[test]
    fn scrolling_changes_what_no_list_shows() {
        let mut repetition = Repetition::default();
        for position in 0..20 {
            assert!(repetition.act("scroll".to_owned(), position.to_string(), Watched::Changed).is_none());
            assert!(repetition.show("the list").is_none());
        }
    }

    #[test]
    fn different_calls_that_are_not_watched_repeat_nothing() {
        let mut repetition = Repetition::default();
        assert!((0..20).all(|row| repetition.act(format!("write_row {row}"), "ok".to_owned(), Watched::No).is_none()));
    }
}
