//! The plan that the model shows the person: `plan_update` and `plan_progress` of seed 003.

use crate::json::Object;

/// The progress of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Pending,
    Running,
    Blocked,
    Error,
    Done,
}

impl Status {
    const ALL: [(Status, &str); 5] = [
        (Status::Pending, "pending"),
        (Status::Running, "running"),
        (Status::Blocked, "blocked"),
        (Status::Error, "error"),
        (Status::Done, "done"),
    ];

    pub(super) fn named(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|(_, written)| *written == name).map(|(status, _)| status)
    }

    fn name(self) -> &'static str {
        Status::ALL.into_iter().find(|(status, _)| *status == self).map_or("", |(_, name)| name)
    }
}

#[derive(Debug, Clone)]
struct Step {
    id: String,
    desc: String,
    status: Status,
}

/// The plan; empty without one.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// The number of plans so far.
    count: u32,
    steps: Vec<Step>,
}

impl Plan {
    /// Replaces the plan: its first step is running, the others are pending.
    pub(super) fn replace(&mut self, steps: Vec<(String, String)>) {
        self.count += 1;
        let step = |(index, (id, desc)): (usize, (String, String))| {
            let status = if index == 0 { Status::Running } else { Status::Pending };
            Step { id, desc, status }
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
    pub(super) fn progress(&mut self, id: &str, status: Status) -> Result<(), String> {
        let Some(step) = self.steps.iter_mut().find(|step| step.id == id) else {
            let ids: Vec<&str> = self.steps.iter().map(|step| &*step.id).collect();
            return Err(if ids.is_empty() {
                "there is no plan: make one with assistant_plan".to_owned()
            } else {
                format!("the plan has no step {id:?}, only {}", ids.join(", "))
            });
        };
        step.status = status;
        let is_next_due = status == Status::Done && self.current().is_none();
        if let Some(next) = self.steps.iter_mut().find(|step| is_next_due && step.status == Status::Pending) {
            next.status = Status::Running;
        }
        Ok(())
    }

    /// The ids of the plan and of its running step.
    pub(super) fn ids(&self) -> Option<(String, Option<&str>)> {
        (!self.steps.is_empty()).then(|| (format!("plan-{}", self.count), self.current()))
    }

    fn current(&self) -> Option<&str> {
        self.steps.iter().find(|step| step.status == Status::Running).map(|step| &*step.id)
    }

    /// Adds `"steps":[{"id","desc","status"}],"current_step"?` to a record.
    pub(super) fn put(&self, record: Object) -> Object {
        let step = |step: &Step| {
            Object::default().text("id", &step.id).text("desc", &step.desc).text("status", step.status.name()).end()
        };
        let steps: Vec<String> = self.steps.iter().map(step).collect();
        record.put("steps", format_args!("[{}]", steps.join(","))).text_some("current_step", self.current())
    }

    /// A line for each step, for a new conversation.
    pub(super) fn text(&self) -> String {
        self.steps.iter().map(|step| format!("- [{}] {}: {}\n", step.status.name(), step.id, step.desc)).collect()
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
