//! The plan that the model shows the person: `plan_update` and `plan_progress` of seed 003.

use pipewright_record::{PlanStep, PlanUpdate, StepStatus};
use std::borrow::Cow;

#[derive(Debug, Clone)]
struct PlannedStep {
    id: String,
    desc: String,
    status: StepStatus,
}

/// The plan; empty without one.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// The number of plans so far.
    count: u32,
    steps: Vec<PlannedStep>,
}

impl Plan {
    /// Replaces the plan: its first step is running, the others are pending.
    pub(super) fn replace(&mut self, steps: Vec<(String, String)>) {
        self.count += 1;
        let step = |(index, (id, desc)): (usize, (String, String))| {
            let status = if index == 0 { StepStatus::Running } else { StepStatus::Pending };
            PlannedStep { id, desc, status }
        };
        self.steps = steps.into_iter().enumerate().map(step).collect();
    }

    /// Removes the plan.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
    }

    /// Sets the status of a step. If no step is running after one is done, the next pending step is set to running.
    ///
    /// # Errors
    /// There is no such step; the message lists the existing ones.
    pub(super) fn progress(&mut self, id: &str, status: StepStatus) -> Result<(), String> {
        let Some(step) = self.steps.iter_mut().find(|step| step.id == id) else {
            let ids: Vec<&str> = self.steps.iter().map(|step| &*step.id).collect();
            return Err(if ids.is_empty() {
                "there is no plan: make one with assistant_plan".to_owned()
            } else {
                format!("the plan has no step {id:?}, only {}", ids.join(", "))
            });
        };
        step.status = status;
        let is_next_due = status == StepStatus::Done && self.current().is_none();
        if let Some(next) = self.steps.iter_mut().find(|step| is_next_due && step.status == StepStatus::Pending) {
            next.status = StepStatus::Running;
        }
        Ok(())
    }

    /// The plan and its running step, as records name them; neither without a plan.
    pub(super) fn step(&self) -> PlanStep<'_> {
        if self.steps.is_empty() {
            return PlanStep::default();
        }
        PlanStep { plan_id: Some(format!("plan-{}", self.count).into()), step_id: self.current().map(Cow::Borrowed) }
    }

    fn current(&self) -> Option<&str> {
        self.running().map(|step| &*step.id)
    }

    /// What the running step is.
    pub(super) fn current_text(&self) -> Option<&str> {
        self.running().map(|step| &*step.desc)
    }

    fn running(&self) -> Option<&PlannedStep> {
        self.steps.iter().find(|step| step.status == StepStatus::Running)
    }

    /// The running step is done; false if there is none.
    pub(super) fn end_step(&mut self) -> bool {
        let current = self.current().map(str::to_owned);
        current.is_some_and(|id| self.progress(&id, StepStatus::Done).is_ok())
    }

    /// The plan as a record.
    pub(super) fn record(&self) -> PlanUpdate<'_> {
        let steps = self.steps.iter().map(|PlannedStep { id, desc, status }| pipewright_record::Step {
            id: id.into(),
            desc: desc.into(),
            status: (*status).into(),
        });
        PlanUpdate {
            plan_id: self.step().plan_id.unwrap_or_default(),
            steps: steps.collect(),
            current_step: self.current().map(Cow::Borrowed),
            ..PlanUpdate::default()
        }
    }

    /// A line for each step, for a new conversation.
    pub(super) fn text(&self) -> String {
        self.steps.iter().map(|step| format!("- [{}] {}: {}\n", step.status.name(), step.id, step.desc)).collect()
    }
}
