//! The person's view: records, or plain text at a terminal.

use crate::io::terminal::printable;
use crate::json::Object;
use crate::record::Fields;

/// The forms of input and output.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    shows_text: bool,
    reads_text: bool,
    /// Whether the run waits for messages instead of ending with one goal.
    takes_messages: bool,
}

/// The longest text of arguments that is shown, in characters.
const SHOWN: usize = 200;

impl Screen {
    /// Records are shown as text if stdout is a terminal, and lines are read as messages if stdin is one.
    pub fn new(shows_text: bool, reads_text: bool, takes_messages: bool) -> Screen {
        Screen { shows_text, reads_text, takes_messages }
    }

    /// Whether lines come from a terminal, where gates may ask, too.
    pub fn reads_text(self) -> bool {
        self.reads_text
    }

    /// A line of stdin as a record; `None` for an empty line.
    pub fn read(self, line: &str) -> Option<String> {
        if line.trim().is_empty() {
            return None;
        }
        let is_text = self.reads_text && !line.trim_start().starts_with('{');
        Some(match is_text {
            true => Object::default().text("type", "user_message").text("content", line.trim()).end(),
            false => line.to_owned(),
        })
    }

    /// A record as it is printed, with its line feed; empty if the person does not need it.
    pub fn show(self, record: &str) -> String {
        if !self.shows_text {
            return format!("{record}\n");
        }
        let Ok(fields) = Fields::read(record) else { return String::new() };
        let text = |key: &str| fields.text(key).unwrap_or_default();
        let shown = match text("type").as_str() {
            "assistant_message" if text("kind") == "thought" => return String::new(),
            "assistant_message" if fields.get("is_final").is_some_and(|value| value.get() == "true") => {
                let mark = if text("kind") == "progress" { "· " } else { "" };
                format!("{mark}{}{}", text("token"), options(&fields))
            }
            "tool_call" => {
                let arguments = fields.get("arguments").map_or("{}", |arguments| arguments.get());
                format!("  {} {}", text("tool_name"), arguments.chars().take(SHOWN).collect::<String>())
            }
            "tool_result" if text("status") == "error" => format!("  failed: {}: {}", text("kind"), text("error")),
            "status" if text("status") == "idle" && self.reads_text && self.takes_messages => {
                "Your message:".to_owned()
            }
            "status" => match text("pending_kind").as_str() {
                // At the same terminal, the gate asks by itself.
                "confirm" if !self.reads_text => "  waiting for an approval".to_owned(),
                "manual" => "Answer when it is done:".to_owned(),
                "question" => "Your answer:".to_owned(),
                _ => return String::new(),
            },
            "plan_update" => plan(&fields),
            "error" => format!("error: {}", text("content")),
            "final" if text("outcome") != "done" => format!("{}: {}", text("outcome"), text("content")),
            _ => return String::new(),
        };
        shown.lines().map(|line| format!("{}\n", printable(line))).collect()
    }
}

/// The answers that a question offers, one per line.
fn options(fields: &Fields<'_>) -> String {
    let options = fields.object("question").and_then(|question| question.list("options").ok()).unwrap_or_default();
    let options = options.iter().filter_map(|option| serde_json::from_str::<String>(option.get()).ok());
    options.map(|option| format!("\n  {}", option.replace('\n', " "))).collect()
}

fn plan(fields: &Fields<'_>) -> String {
    let steps = fields.list("steps").unwrap_or_default();
    let step = |step: &serde_json::value::RawValue| {
        let fields = Fields::read(step.get()).ok()?;
        Some(format!("  [{}] {}", fields.text("status")?, fields.text("desc")?))
    };
    steps.into_iter().filter_map(step).collect::<Vec<_>>().join("\n")
}
