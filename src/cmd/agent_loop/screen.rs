//! The person's view: records, or plain text at a terminal.

use pipewright_io::printable::printable;
use pipewright_record::{AssistantMessage, CallResult, PlanUpdate, Record, SessionRecord, UserMessage};

/// The forms of input and output.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    shows_text: bool,
    reads_text: bool,
    /// Whether the run waits for messages instead of ending with one goal.
    takes_messages: bool,
}

/// The longest text of arguments that is shown, in characters.
const MAX_SHOWN: usize = 200;

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
            true => UserMessage::without_role(line.trim()).json(),
            false => line.to_owned(),
        })
    }

    /// A record as it is printed, with its line feed; empty if the person does not need it.
    pub fn show(self, record: &str) -> String {
        if !self.shows_text {
            return format!("{record}\n");
        }
        let Ok(record) = SessionRecord::read(record) else { return String::new() };
        let shown = match &record {
            SessionRecord::AssistantMessage(message) if message.is_final && message.kind != "thought" => {
                let mark = if message.kind == "progress" { "· " } else { "" };
                format!("{mark}{}{}", message.token, options(message))
            }
            SessionRecord::ToolCall(call) => {
                let arguments = call.call.arguments.map_or("{}", |arguments| arguments.get());
                format!("  {} {}", call.call.tool_name, arguments.chars().take(MAX_SHOWN).collect::<String>())
            }
            SessionRecord::ToolResult(CallResult { is_ok: false, kind, error, .. }) => {
                let [kind, error] = [kind, error].map(|text| text.as_deref().unwrap_or_default());
                format!("  failed: {kind}: {error}")
            }
            SessionRecord::Status(status) => match (&*status.status, status.pending_kind.as_deref()) {
                ("idle", _) if self.reads_text && self.takes_messages => "Your message:".to_owned(),
                // At the same terminal, the gate asks by itself.
                (_, Some("confirm")) if !self.reads_text => "  waiting for an approval".to_owned(),
                (_, Some("manual")) => "Answer when it is done:".to_owned(),
                (_, Some("question")) => "Your answer:".to_owned(),
                _ => return String::new(),
            },
            SessionRecord::PlanUpdate(update) => plan(update),
            SessionRecord::Error(error) => format!("error: {}", error.content),
            SessionRecord::Final(end) if end.outcome != "done" => format!("{}: {}", end.outcome, end.content),
            _ => return String::new(),
        };
        shown.lines().map(|line| format!("{}\n", printable(line))).collect()
    }
}

/// The answers that a question offers, one per line.
fn options(message: &AssistantMessage<'_>) -> String {
    let options = message.question.iter().flat_map(|question| &question.options);
    options.map(|option| format!("\n  {}", option.replace('\n', " "))).collect()
}

fn plan(update: &PlanUpdate<'_>) -> String {
    update.steps.iter().map(|step| format!("  [{}] {}", step.status, step.desc)).collect::<Vec<_>>().join("\n")
}
