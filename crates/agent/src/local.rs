//! The loop's own tools, by which the model ends, asks, plans and hands over. They are offered besides the world's
//! tools.

use pipewright_mask::mentions_secret;
use pipewright_record::{AgentQuestion, Fields, OwnedTool, StepStatus};
use serde_json::value::RawValue;

/// A call of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LocalCall {
    Done {
        reason: String,
        evidence: String,
    },
    Ask {
        question: String,
        options: Vec<String>,
    },
    NeedUser(String),
    Goal(String),
    /// The id and the description of each step.
    Plan(Vec<(String, String)>),
    Progress {
        step_id: String,
        status: StepStatus,
        result: String,
    },
}

/// The name, description and JSON Schema of each tool.
const TOOLS: [(&str, &str, &str); 6] = [
    (
        "assistant_done",
        "The goal is reached: ends the run. `reason` is the answer for the person, `evidence` a short text that stands \
         word for word in the last observation (an address, a title, a line of text, a file name).",
        r#"{"type":"object","properties":{"reason":{"type":"string"},"evidence":{"type":"string"}},"required":["reason","evidence"]}"#,
    ),
    (
        "assistant_ask",
        "Asks the person for something that is needed to go on. Never for a password or a one-time code.",
        r#"{"type":"object","properties":{"question":{"type":"string"},"options":{"type":"array","items":{"type":"string"}}},"required":["question"]}"#,
    ),
    (
        "assistant_need_user",
        "Hands over to the person for what only a person may do: log in, solve a captcha, enter a code, pay. The run \
         goes on when the person has answered, with a new observation.",
        r#"{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}"#,
    ),
    (
        "assistant_goal",
        "Replaces the goal, when the person's last message asks for something else. Not for feedback, nor for `go on`.",
        r#"{"type":"object","properties":{"goal":{"type":"string"}},"required":["goal"]}"#,
    ),
    (
        "assistant_plan",
        "Shows the person the steps of the plan; replaces an earlier plan.",
        r#"{"type":"object","properties":{"steps":{"type":"array","minItems":1,"items":{"type":"object","properties":{"id":{"type":"string"},"desc":{"type":"string"}},"required":["id","desc"]}}},"required":["steps"]}"#,
    ),
    (
        "assistant_progress",
        "Shows the person how far a step of the plan is.",
        r#"{"type":"object","properties":{"step_id":{"type":"string"},"status":{"enum":["pending","running","blocked","error","done"]},"result":{"type":"string"}},"required":["step_id","status"]}"#,
    ),
];

/// The tools, as they are offered.
pub(super) fn tools() -> impl Iterator<Item = OwnedTool> {
    TOOLS.iter().map(|(name, description, schema)| OwnedTool {
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        input_schema: (*schema).to_owned(),
        annotations: None,
    })
}

pub(super) fn is_own(tool: &str) -> bool {
    TOOLS.iter().any(|(name, ..)| *name == tool)
}

/// Reads a call; `None` if the tool belongs to the world.
///
/// # Errors
/// Invalid arguments, as text for the model.
pub(super) fn read(tool: &str, arguments: &RawValue) -> Option<Result<LocalCall, String>> {
    is_own(tool).then(|| {
        let fields = Fields::read(arguments.get()).map_err(|error| error.to_string())?;
        let text = |key: &str| {
            fields
                .text(key)
                .filter(|text| !text.trim().is_empty())
                .ok_or_else(|| format!("{tool} needs {key:?}, a text"))
        };
        Ok(match tool {
            "assistant_done" => {
                LocalCall::Done { reason: text("reason")?, evidence: fields.text("evidence").unwrap_or_default() }
            }
            "assistant_ask" => {
                let question = text("question")?;
                let options = fields.present("options").map(|list| serde_json::from_str(list.get()));
                let options: Option<Vec<String>> = options.transpose().map_err(|_| "\"options\" is a list of texts")?;
                let options = options.unwrap_or_default();
                if mentions_secret(&question) || options.iter().any(|option| mentions_secret(option)) {
                    return Ok(LocalCall::NeedUser(question));
                }
                LocalCall::Ask { question, options }
            }
            "assistant_need_user" => LocalCall::NeedUser(text("what")?),
            "assistant_goal" => LocalCall::Goal(text("goal")?),
            "assistant_plan" => LocalCall::Plan(steps(&fields)?),
            _ => LocalCall::Progress {
                step_id: text("step_id")?,
                status: StepStatus::named(&text("status")?)
                    .ok_or("\"status\" is pending, running, blocked, error or done")?,
                result: fields.text("result").unwrap_or_default(),
            },
        })
    })
}

fn steps(fields: &Fields<'_>) -> Result<Vec<(String, String)>, String> {
    let list = fields.list("steps").map_err(|error| error.to_string())?;
    let mut steps = Vec::new();
    for (index, step) in list.into_iter().enumerate() {
        // A model may also give strings.
        if let Ok(desc) = serde_json::from_str::<String>(step.get()) {
            steps.push(((index + 1).to_string(), desc));
            continue;
        }
        let step = Fields::read(step.get()).map_err(|error| error.to_string())?;
        let id = step.text("id").unwrap_or_else(|| (index + 1).to_string());
        steps.push((id, step.text("desc").ok_or("a step needs \"desc\"")?));
    }
    for (index, (id, _)) in steps.iter().enumerate() {
        if steps[..index].iter().any(|(other, _)| other == id) {
            return Err(format!("two steps have the id {id:?}"));
        }
    }
    if steps.is_empty() { Err("a plan needs at least one step".to_owned()) } else { Ok(steps) }
}

impl LocalCall {
    /// Whether it only tells the person something, so that the turn goes on.
    pub(super) fn is_note(&self) -> bool {
        matches!(self, LocalCall::Goal(_) | LocalCall::Plan(_) | LocalCall::Progress { .. })
    }

    /// The entry in the list of steps.
    pub(super) fn describe(&self) -> String {
        let (name, what) = match self {
            LocalCall::Done { reason, .. } => ("done", reason),
            LocalCall::Ask { question, .. } => ("asked", question),
            LocalCall::NeedUser(what) => ("handed over", what),
            LocalCall::Goal(goal) => ("new goal", goal),
            LocalCall::Plan(_) => return "made a plan".to_owned(),
            LocalCall::Progress { step_id, .. } => ("progress of step", step_id),
        };
        format!("{name}: {what}")
    }

    /// The question to the person.
    pub(super) fn asked(&self) -> &str {
        match self {
            LocalCall::Ask { question, .. } => question,
            LocalCall::NeedUser(what) => what,
            _ => "",
        }
    }

    /// The question for records.
    pub(super) fn question(&self) -> Option<AgentQuestion<'_>> {
        match self {
            LocalCall::Ask { question, options } => {
                let options = options.iter().map(|option| option.as_str().into()).collect();
                Some(AgentQuestion { question: Some(question.as_str().into()), options })
            }
            _ => None,
        }
    }
}
