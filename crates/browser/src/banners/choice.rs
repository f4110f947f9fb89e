//! Decides what to press in a consent dialog.

use super::Strategy;
use serde::Deserialize;

/// The effect of a press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ActionKind {
    /// Declines, or allows only what is necessary.
    Decline,
    /// Saves the current selection.
    Save,
    /// Shows the choices.
    Settings,
    /// Closes the dialog without an answer.
    Close,
    /// `OK`.
    Acknowledge,
    Accept,
    AcceptAll,
    /// Ticks or unticks a purpose.
    Toggle,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Action {
    pub(super) kind: ActionKind,
    pub(super) selector: String,
    /// Its number in its world, until that is scanned again.
    pub(super) number: u32,
}

/// A consent dialog.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Banner {
    pub(super) actions: Vec<Action>,
    /// Ticked purposes that can be unticked.
    pub(super) on: Vec<Action>,
    pub(super) has_toggles: bool,
    /// The dialog has one button, and perhaps links.
    pub(super) is_alone: bool,
}

impl Banner {
    /// What to press next: toggles first, then the button. None if nothing is to be pressed.
    pub(super) fn choose(&self, strategy: Strategy, is_within_settings: bool, is_last: bool) -> Option<Vec<&Action>> {
        let first = |kind: ActionKind| self.actions.iter().find(|action| action.kind == kind);
        let only = |kind: ActionKind| first(kind).map(|action| vec![action]);
        if strategy == Strategy::Accept {
            let order = [
                ActionKind::AcceptAll,
                ActionKind::Accept,
                ActionKind::Acknowledge,
                ActionKind::Save,
                ActionKind::Decline,
                ActionKind::Close,
            ];
            return order.into_iter().find_map(only);
        }
        if let Some(decline) = only(ActionKind::Decline) {
            return Some(decline);
        }
        // A save accepts the ticked purposes.
        if let Some(save) = first(ActionKind::Save).filter(|_| self.has_toggles || is_within_settings) {
            return Some(self.on.iter().chain([save]).collect());
        }
        if is_within_settings {
            return None;
        }
        let is_question = [ActionKind::Accept, ActionKind::AcceptAll, ActionKind::Acknowledge]
            .into_iter()
            .any(|kind| first(kind).is_some());
        if let Some(settings) = only(ActionKind::Settings).filter(|_| is_question && !is_last) {
            return Some(settings);
        }
        // If nothing else is offered, the dialog cannot be closed without accepting.
        let alone = || [ActionKind::Accept, ActionKind::AcceptAll].into_iter().filter(|_| self.is_alone).find_map(only);
        let acknowledge = || only(ActionKind::Acknowledge).filter(|_| first(ActionKind::AcceptAll).is_none());
        only(ActionKind::Close).filter(|_| is_question || self.is_alone).or_else(acknowledge).or_else(alone)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn banner(kinds: &[ActionKind], on: usize, has_toggles: bool) -> Banner {
        let action = |kind: &ActionKind| Action { kind: *kind, selector: String::new(), number: 0 };
        let on = vec![action(&ActionKind::Toggle); on];
        Banner { actions: kinds.iter().map(action).collect(), on, has_toggles, is_alone: kinds.len() == 1 }
    }

    fn chosen(banner: &Banner, is_within_settings: bool, is_last: bool) -> Option<Vec<ActionKind>> {
        let actions = banner.choose(Strategy::Safe, is_within_settings, is_last)?;
        Some(actions.iter().map(|action| action.kind).collect())
    }

    #[test]
    fn safe_accepts_only_if_nothing_else_is_offered() {
        use ActionKind::{Accept, AcceptAll, Acknowledge, Close, Decline, Save, Settings, Toggle};
        for (kinds, expected) in [
            (&[AcceptAll, Settings, Decline][..], Some(Decline)),
            (&[AcceptAll, Settings, Close], Some(Settings)),
            (&[AcceptAll, Close], Some(Close)),
            (&[AcceptAll, Save], None),
            (&[AcceptAll, Acknowledge], None),
            (&[Accept, AcceptAll], None),
            (&[AcceptAll], Some(AcceptAll)),
            (&[Accept], Some(Accept)),
            (&[Acknowledge], Some(Acknowledge)),
            (&[Settings], None),
            (&[], None),
        ] {
            assert_eq!(chosen(&banner(kinds, 0, false), false, false), expected.map(|kind| vec![kind]), "{kinds:?}");
        }
        let ticked = banner(&[AcceptAll, Save], 2, true);
        assert_eq!(chosen(&ticked, false, false), Some(vec![Toggle, Toggle, Save]));
        let settings = banner(&[AcceptAll, Settings], 0, false);
        assert_eq!(chosen(&settings, false, true), None, "no pass is left for the next dialog");
        assert_eq!(chosen(&banner(&[AcceptAll], 0, false), true, false), None, "the settings are still to come");
        assert_eq!(chosen(&banner(&[AcceptAll, Save], 0, false), true, false), Some(vec![Save]));
    }
}
