//! The limits of a run, and what it has used. Clocks stop while a call is held for approval, and while the person is
//! asked.

use super::repetition::RepetitionLimits;
use pipewright_record::{GoalLimit, Usage};
use std::fmt;
use std::time::Duration;

/// The limits of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Turns of the model for a goal; in a session, for a message.
    pub max_steps: u32,
    /// Calls to the world that the model chooses for a message; then the person is asked. `None` is unlimited.
    pub turn_steps: Option<u32>,
    /// The time for a run; in a session, for a message.
    pub deadline: Option<Duration>,
    /// Input and output tokens of all requests together.
    pub max_tokens: Option<u64>,
    /// US dollars of all requests together.
    pub max_cost: Option<f64>,
    /// What counts as a repetition.
    pub repetition: RepetitionLimits,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Limit {
    Steps(u32),
    Time(Duration),
    Tokens(u64),
    /// US dollars.
    Cost(f64),
}

impl Limit {
    /// Its kind, for records.
    pub(super) fn kind(self) -> GoalLimit {
        match self {
            Limit::Steps(_) => GoalLimit::Steps,
            Limit::Time(_) => GoalLimit::Time,
            Limit::Tokens(_) => GoalLimit::Tokens,
            Limit::Cost(_) => GoalLimit::Cost,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Steps(steps) => write!(to, "{steps} steps"),
            Limit::Time(time) => write!(to, "{} s", time.as_secs_f64()),
            Limit::Tokens(tokens) => write!(to, "{tokens} tokens"),
            Limit::Cost(cost) => write!(to, "${cost}"),
        }
    }
}

/// What was used so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Budget {
    /// Turns of the model since the last message.
    pub(super) steps: u32,
    /// Calls that the model chose since the last message.
    pub(super) actions: u32,
    /// Turns of the model in total.
    pub(super) all_steps: u32,
    pub(super) usage: Usage,
    begun: Duration,
    held: Duration,
    held_since: Option<Duration>,
}

impl Budget {
    /// Starts the counts of a new message.
    pub(super) fn begin(&mut self, now: Duration) {
        (self.steps, self.actions, self.begun, self.held, self.held_since) = (0, 0, now, Duration::ZERO, None);
    }

    pub(super) fn hold(&mut self, now: Duration) {
        self.held_since.get_or_insert(now);
    }

    pub(super) fn restart(&mut self, now: Duration) {
        if let Some(since) = self.held_since.take() {
            self.held += now.saturating_sub(since);
        }
    }

    /// The time on the clock.
    pub(super) fn elapsed(&self, now: Duration) -> Duration {
        let held = self.held + self.held_since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        now.saturating_sub(self.begun).saturating_sub(held)
    }

    fn tokens(&self) -> u64 {
        self.usage.input.unwrap_or(0).saturating_add(self.usage.output.unwrap_or(0))
    }

    /// The limit that is reached, if any.
    pub(super) fn reached(&self, limits: &Limits, now: Duration) -> Option<Limit> {
        let time = limits.deadline.filter(|deadline| self.elapsed(now) >= *deadline).map(Limit::Time);
        let tokens = limits.max_tokens.filter(|most| self.tokens() >= *most).map(Limit::Tokens);
        let cost = limits.max_cost.filter(|most| self.usage.cost.unwrap_or(0.0) >= *most).map(Limit::Cost);
        let steps = Some(limits.max_steps).filter(|most| self.steps >= *most).map(Limit::Steps);
        time.or(tokens).or(cost).or(steps)
    }

    /// When the deadline passes; `None` while the clock is stopped.
    pub(super) fn due(&self, limits: &Limits) -> Option<Duration> {
        let deadline = limits.deadline.filter(|_| self.held_since.is_none())?;
        Some(self.begun + self.held + deadline)
    }

    /// The remaining budget, for the model: counts only, no clock time, so that a replay sends the same request.
    pub(super) fn remaining(&self, limits: &Limits) -> String {
        let steps = limits.max_steps.saturating_sub(self.steps);
        match limits.turn_steps {
            Some(turn) => format!("{} actions, {steps} steps", turn.saturating_sub(self.actions)),
            None => format!("{steps} steps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_stop_while_a_call_is_held() {
        let second = Duration::from_secs;
        let limits = Limits { max_steps: 5, deadline: Some(second(10)), ..Limits::default() };
        let mut budget = Budget::default();
        budget.begin(second(100));
        budget.hold(second(104));
        assert_eq!((budget.elapsed(second(300)), budget.due(&limits)), (second(4), None));
        budget.restart(second(500));
        assert_eq!(budget.due(&limits), Some(second(506)));
        assert!(budget.reached(&limits, second(505)).is_none());
        assert!(budget.reached(&limits, second(506)).is_some_and(|limit| limit.to_string() == "10 s"));
    }
}
