//! Profiles: how the loop observes and uses a kind of world around the model's calls. They are data, and none is for a
//! single site or game.

use pipewright_record::{Reason, glob, toml_error};
use serde::Deserialize;
use std::time::Duration;

/// A call by the loop itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileCall {
    /// The world's tool.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
    /// The result's field with the path of an image; the model gets the image.
    pub image: Option<String>,
    /// The result's fields that the model gets; all if empty.
    #[serde(default)]
    pub fields: Vec<String>,
    /// Whether the model does not get the result.
    #[serde(default)]
    pub is_silent: bool,
    /// Whether the result changes by itself, as that of a page with a clock: then it does not tell whether an action has changed anything. The
    /// model does not get it twice in a row.
    #[serde(default)]
    pub is_restless: bool,
    /// The result's field with the actions that fit: a small model chooses one of these.
    pub choices: Option<String>,
}

/// How long an action may take to settle.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettleRule {
    /// `events`: `wait` is called after an action whose result matches one of `when`, or after every action if `when`
    /// is empty; `fixed`: the loop waits for `pause_ms` after every action.
    pub mode: SettleMode,
    /// The longest time.
    #[serde(default = "four_seconds")]
    pub pause_ms: u64,
    /// The call that waits; it gets `pause_ms` as its argument `limit_argument`.
    pub wait: Option<ProfileCall>,
    /// The argument of `wait` for its limit in milliseconds.
    pub limit_argument: Option<String>,
    /// `FIELD=VALUE` conditions on a result. If empty, every action matches.
    #[serde(default)]
    pub when: Vec<String>,
}

/// Longer waits need a call.
const MAX_PAUSE: Duration = Duration::from_secs(600);

fn four_seconds() -> u64 {
    4000
}

/// How actions settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettleMode {
    /// The world reports when.
    Events,
    /// After a pause.
    Fixed,
}

/// A call after successful actions, within a time budget.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FollowUp {
    /// The call.
    pub call: ProfileCall,
    /// Its argument for the time that it may take, in milliseconds.
    pub budget_argument: Option<String>,
    /// The most time for one step.
    pub budget_ms: u64,
    /// The most time for all steps of a message.
    pub total_ms: u64,
    /// The result's field with the time that it took, in milliseconds.
    pub spent: Option<String>,
}

/// A profile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The text that it was read from.
    #[serde(skip)]
    pub text: String,
    /// The model's instructions before the rules for all profiles.
    #[serde(default)]
    pub system: String,
    /// The instructions of a small model, which chooses actions by names.
    #[serde(default)]
    pub small_system: String,
    /// Goals with such a model's plans, as examples.
    #[serde(default)]
    pub small_plan_example: String,
    /// Answers to questions by such a model, as examples.
    #[serde(default)]
    pub small_answer_example: String,
    /// Actions of such a model, as examples.
    #[serde(default)]
    pub small_example: String,
    /// Calls before each decision, if anything has changed.
    #[serde(default)]
    pub observe: Vec<ProfileCall>,
    /// Globs for the tools that are described to a small model, in this order; it gets the others by name. If empty, all are described.
    /// `GLOB(argument, argument?)` describes only these arguments; those without `?` are required of it.
    #[serde(default)]
    pub core: Vec<String>,
    /// Tools that change nothing, as globs.
    #[serde(default)]
    pub looks: Vec<String>,
    /// `FIELD=VALUE` conditions on results that mean a change even if the observations are equal.
    #[serde(default)]
    pub changes: Vec<String>,
    /// How actions settle.
    pub settle: Option<SettleRule>,
    /// Calls after actions.
    #[serde(default)]
    pub after: Vec<FollowUp>,
    /// Calls after an action that failed.
    #[serde(default)]
    pub on_error: Vec<ProfileCall>,
    /// The advice to the model after that.
    #[serde(default)]
    pub advice: String,
    /// Whether `assistant_done` needs evidence that was observed.
    #[serde(default)]
    pub needs_evidence: bool,
    /// The longest result that the model gets, in bytes.
    #[serde(default = "result_bytes")]
    pub max_result: usize,
}

fn result_bytes() -> usize {
    16_000
}

/// The built-in profiles: name and text.
pub const BUILT_IN: [(&str, &str); 4] = [
    ("browser", include_str!("profiles/browser.toml")),
    ("playwright", include_str!("profiles/playwright.toml")),
    ("godot", include_str!("profiles/godot.toml")),
    ("mcp", include_str!("profiles/mcp.toml")),
];

impl Profile {
    /// Reads a profile, TOML text.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn read(text: &str) -> Result<Profile, Reason> {
        let mut profile: Profile = toml::from_str(text).map_err(|error| toml_error::describe(text, &error))?;
        text.clone_into(&mut profile.text);
        if let Some(settle) = &profile.settle {
            match (settle.mode, &settle.wait) {
                (SettleMode::Events, None) => {
                    return Err("[settle] with mode = \"events\" needs wait, the call that waits".into());
                }
                (SettleMode::Fixed, Some(_)) => return Err("[settle] with mode = \"fixed\" has no wait".into()),
                _ => {}
            }
            if settle.pause() > MAX_PAUSE {
                return Err(format!("[settle] pause_ms: at most {}", MAX_PAUSE.as_millis()).into());
            }
        }
        if let Some(entry) = profile.core.iter().find(|entry| entry.contains('(') != entry.ends_with(')')) {
            return Err(format!("core: {entry:?} is not NAME or NAME(argument, argument?)").into());
        }
        let conditions = profile.settle.iter().flat_map(|settle| &settle.when).chain(&profile.changes);
        if let Some(condition) = conditions.into_iter().find(|condition| !condition.contains('=')) {
            return Err(format!("{condition:?} is not FIELD=VALUE").into());
        }
        Ok(profile)
    }

    /// Whether it says that a tool changes nothing.
    pub(super) fn is_look(&self, tool: &str) -> bool {
        self.looks.iter().any(|glob| glob::matches(glob, tool))
    }

    /// The tools that the profile calls itself.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let settle = self.settle.iter().filter_map(|settle| settle.wait.as_ref());
        let steps = self.observe.iter().chain(settle).chain(self.after.iter().map(|after| &after.call));
        steps.chain(&self.on_error).map(|step| &*step.tool)
    }
}

impl SettleRule {
    pub(super) fn pause(&self) -> Duration {
        Duration::from_millis(self.pause_ms)
    }
}
