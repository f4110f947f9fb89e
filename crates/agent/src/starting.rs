//! Starts the loop: with the tools that the world lists, and, in a continued session, with the interrupted work.

use super::conversation::{Conversation, Part};
use super::repetition::Repetition;
use super::{Activity, Agent, AgentSettings, Effect, MESSAGES, Outcome, RULES, Run, WorldTools, local, profile};
use pipewright_record::{ListTools, OwnedTool, Pending, Record, State, ToolList};
use serde_json::value::RawValue;
use std::time::Duration;

/// The id of the request for the tools.
const TOOLS: &str = "\"tools\"";

impl Agent {
    pub(super) fn ask_for_tools(&mut self) {
        let id = RawValue::from_string(TOOLS.to_owned()).ok();
        self.effects.push(Effect::World(ListTools { request_id: id.as_deref() }.json()));
    }

    /// Takes the goal of a process. A goal that is being worked on, or was reached already, is not started again.
    pub(super) fn take_goal(&mut self, goal: &str) {
        let is_given = self.given.as_deref() == Some(goal);
        let is_idle = matches!(self.then, Activity::Idle);
        if is_given && (!is_idle || self.inbox.iter().any(|message| message == goal)) {
            return;
        }
        if let Some(ended) = self.ended.clone().filter(|ended| is_given && ended.outcome == Outcome::Done) {
            self.report_final(&ended.record, ended.status);
            return self.end(ended.status);
        }
        self.then = Activity::Idle;
        self.question = None;
        self.goal = None;
        self.given = Some(goal.to_owned());
        self.plan.clear();
        self.denied = 0;
        // Precedes messages that were not read yet.
        self.inbox.push_front(goal.to_owned());
    }

    /// A new process continues the session with these options. An interrupted call may have been executed or not.
    pub(super) fn resume(&mut self, settings: &AgentSettings, run: &Run, now: Duration) {
        self.settings = settings.clone();
        self.run = run.clone();
        self.closed = false;
        self.status = 0;
        self.foreign.clear();
        self.effort.repetition = Repetition::default();
        self.effort.spent.clear();
        match std::mem::replace(&mut self.doing, Activity::Starting) {
            // The earlier process had not started.
            Activity::Starting | Activity::Ended => {}
            Activity::Idle => self.then = Activity::Idle,
            Activity::Waiting(pending) => self.then = Activity::Waiting(pending),
            Activity::World(call) => {
                let why =
                    "the run was interrupted: the call may have been executed, or not. Look before you make it again";
                self.budget.restart(now);
                self.answer_abandoned(&call, "interrupted", why);
                self.then = Activity::Working;
            }
            Activity::Model(..) | Activity::Pausing(_) | Activity::Working => self.then = Activity::Working,
        }
        if matches!(self.then, Activity::Working) {
            self.drop_calls();
            self.is_stale = true;
            self.conversation
                .say(&Part::Text("The run was interrupted and goes on. The world was started anew.".to_owned()));
        }
        if let Some(goal) = &run.goal {
            self.take_goal(goal);
        }
        if !matches!(self.doing, Activity::Ended) {
            self.ask_for_tools();
        }
    }

    /// The world has listed its tools.
    pub(super) fn take_tools(&mut self, list: ToolList<'_>, now: Duration) {
        let ToolList { tools, world, error, .. } = list;
        if let Some(error) = error.filter(|_| tools.is_empty()) {
            return self.refuse_world(&error, now);
        }
        self.leave_out(&tools);
        let listed = tools.iter().map(OwnedTool::json).collect();
        self.world = WorldTools { name: world, listed, offered: self.offered(tools) };
        if self.conversation.is_begun() {
            // A conversation keeps its tools: if they differ, a new one begins.
            if !self.conversation.has_beginning_of(&self.new_conversation()) {
                self.compact();
            }
        } else {
            let new = self.new_conversation();
            let unsent = std::mem::replace(&mut self.conversation, new).unsent();
            self.conversation.say_again(unsent);
        }
        self.doing = std::mem::replace(&mut self.then, Activity::Idle);
        match self.doing {
            Activity::Waiting(pending) => {
                let question = self.question.clone().map(|question| Effect::Session(self.with_ids(&question)));
                self.effects.extend(question);
                self.report_status(State::WaitingUser, pending, None);
            }
            Activity::Working => self.report_status(State::Running, Pending::None, None),
            _ => self.report_status(State::Idle, Pending::None, None),
        }
        for request_id in std::mem::take(&mut self.unlisted) {
            self.list_tools(request_id);
        }
    }

    /// Sends the person the world's tools once they are known.
    pub(super) fn list_tools(&mut self, request_id: Option<String>) {
        if self.is_starting() {
            if self.unlisted.len() < MESSAGES {
                self.unlisted.push(request_id);
            }
            return;
        }
        let request_id = request_id.and_then(|id| RawValue::from_string(id).ok());
        let list = ListTools { request_id: request_id.as_deref() }.answer(&self.world.name, &self.world.listed, None);
        self.effects.push(Effect::Session(list));
    }

    /// Removes the profile's steps whose tools the world does not have or that are denied.
    fn leave_out(&mut self, tools: &[OwnedTool]) {
        let AgentSettings { deny, profile, .. } = &mut self.settings;
        let has = |name: &str| tools.iter().any(|tool| tool.name == name) && !is_one_of(deny, name);
        let mut missing: Vec<&str> = profile.tools().filter(|name| !has(name)).collect();
        missing.sort_unstable();
        missing.dedup();
        for tool in missing {
            let why = "which is missing in the world or denied: the step is skipped";
            self.effects.push(Effect::Note(format!("the profile calls {tool}, {why}")));
        }
        let has = |step: &profile::ProfileCall| has(&step.tool);
        profile.observe.retain(has);
        profile.on_error.retain(has);
        profile.after.retain(|after| has(&after.call));
        profile.settle = profile.settle.take().filter(|settle| settle.wait.as_ref().is_none_or(has));
    }

    /// The tools that the model is offered: the allowed tools of the world, and the loop's own.
    fn offered(&mut self, tools: Vec<OwnedTool>) -> Vec<OwnedTool> {
        let AgentSettings { allow, deny, .. } = &self.settings;
        let own: Vec<OwnedTool> = local::tools().collect();
        let mut offered: Vec<OwnedTool> = Vec::new();
        for tool in tools {
            let is_allowed = (allow.is_empty() || is_one_of(allow, &tool.name)) && !is_one_of(deny, &tool.name);
            let has = |tools: &[OwnedTool]| tools.iter().any(|other| other.name == tool.name);
            if has(&own) || has(&offered) {
                let why = format!("the world's tool {} is ignored: another tool has the same name", tool.name);
                self.effects.push(Effect::Note(why));
            } else if is_allowed {
                offered.push(tool);
            }
        }
        offered.extend(own);
        offered
    }

    pub(super) fn new_conversation(&self) -> Conversation {
        let system = [self.settings.profile.system.trim(), RULES].join("\n\n");
        Conversation::begin(system.trim(), &self.world.offered, &self.settings.profile.core)
    }

    /// The world did not start.
    pub(super) fn refuse_world(&mut self, why: &str, now: Duration) {
        if self.is_starting() {
            self.fail_start(&format!("the world does not list its tools: {why}"), now);
        }
    }
}

fn is_one_of(globs: &[String], name: &str) -> bool {
    globs.iter().any(|glob| pipewright_record::glob::matches(glob, name))
}
