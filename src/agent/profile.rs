//! Profiles: what the loop does around the model's calls in a kind of world. They are data, and none is for one site or game.

use crate::toml_error;
use serde::Deserialize;
use std::time::Duration;

/// One call of the loop's own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The tool of the world's.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
    /// The field of the result that is the path of an image; the model gets the image.
    pub image: Option<String>,
    /// The fields of the result that the model gets; all where none are named.
    #[serde(default)]
    pub fields: Vec<String>,
    /// The model does not get the result.
    #[serde(default)]
    pub is_silent: bool,
}

/// What an action may take to come to rest.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settle {
    /// `events`: `wait` is called after an action whose result has one of `when`, or after every action; `fixed`: the loop waits for `pause_ms` after each.
    pub mode: Mode,
    /// At most so long.
    #[serde(default = "four_seconds")]
    pub pause_ms: u64,
    /// The call that waits; its argument `limit_argument` is `pause_ms`.
    pub wait: Option<Step>,
    /// The argument of `wait` that has its limit in milliseconds.
    pub limit_argument: Option<String>,
    /// `FIELD=VALUE` of a result. Where there is none, after every action.
    #[serde(default)]
    pub when: Vec<String>,
}

/// An action that takes longer than this is waited for by a call.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

fn four_seconds() -> u64 {
    4000
}

/// How actions settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The world says when.
    Events,
    /// After a pause.
    Fixed,
}

/// What runs after actions that have worked, within a budget of time.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// The call.
    pub call: Step,
    /// Its argument that has the time it may take, in milliseconds.
    pub budget_argument: Option<String>,
    /// The most for one step.
    pub budget_ms: u64,
    /// The most for all steps of a message.
    pub total_ms: u64,
    /// The field of its result that says how long it took, in milliseconds.
    pub spent: Option<String>,
}

/// A profile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it was read from.
    #[serde(skip)]
    pub text: String,
    /// What the model is told before the rules that hold for all profiles.
    #[serde(default)]
    pub system: String,
    /// What is called before each decision after something has changed.
    #[serde(default)]
    pub observe: Vec<Step>,
    /// Tools after which nothing has changed: globs.
    #[serde(default)]
    pub looks: Vec<String>,
    /// `FIELD=VALUE` of results that say that something has changed, even where the observations are the same.
    #[serde(default)]
    pub changes: Vec<String>,
    /// How actions come to rest.
    pub settle: Option<Settle>,
    /// What runs after them.
    #[serde(default)]
    pub after: Vec<After>,
    /// What is called where one fails.
    #[serde(default)]
    pub on_error: Vec<Step>,
    /// What the model is told then.
    #[serde(default)]
    pub advice: String,
    /// `assistant_done` needs evidence that was observed.
    #[serde(default)]
    pub needs_evidence: bool,
    /// The longest result that the model gets, in bytes.
    #[serde(default = "result_bytes")]
    pub max_result: usize,
}

fn result_bytes() -> usize {
    16_000
}

/// Those that are built in: name and text.
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
    /// Where it is wrong, and why.
    pub fn read(text: &str) -> Result<Profile, String> {
        let mut profile: Profile = toml::from_str(text).map_err(|error| toml_error::describe(text, &error))?;
        text.clone_into(&mut profile.text);
        if let Some(settle) = &profile.settle {
            match (settle.mode, &settle.wait) {
                (Mode::Events, None) => {
                    return Err("[settle] with mode = \"events\" needs wait, the call that waits".to_owned());
                }
                (Mode::Fixed, Some(_)) => return Err("[settle] with mode = \"fixed\" has no wait".to_owned()),
                _ => {}
            }
            if settle.pause() > LONGEST_PAUSE {
                return Err(format!("[settle] pause_ms: at most {}", LONGEST_PAUSE.as_millis()));
            }
        }
        let conditions = profile.settle.iter().flat_map(|settle| &settle.when).chain(&profile.changes);
        if let Some(condition) = conditions.into_iter().find(|condition| !condition.contains('=')) {
            return Err(format!("{condition:?} is not FIELD=VALUE"));
        }
        Ok(profile)
    }

    /// The tools that it calls itself.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let settle = self.settle.iter().filter_map(|settle| settle.wait.as_ref());
        let steps = self.observe.iter().chain(settle).chain(self.after.iter().map(|after| &after.call));
        steps.chain(&self.on_error).map(|step| &*step.tool)
    }
}

impl Settle {
    pub(super) fn pause(&self) -> Duration {
        Duration::from_millis(self.pause_ms)
    }
}
