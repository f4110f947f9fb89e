//! Commands of browsers in a shell's text, judged by the elements that their last snapshots have shown.

use super::nested::short_call;
use super::shell::browser::{BrowserAction, BrowserCommand};
use super::shell::reads_but_browsers;
use super::{Builtin, allow};
use crate::annotations::Hint;
use crate::snapshot::Snapshot;
use crate::verdict::{Decision, Verdict};
use pipewright_record::hook::OwnToolUse;
use pipewright_record::json::raw;
use pipewright_record::{Call, Fields};

const LOOKS: &str = "it only looks at a page";

impl Builtin {
    pub(super) fn judge_browsers(&self, commands: &[BrowserCommand]) -> Decision {
        // After another command a reference may mean another element.
        let page = |command: &BrowserCommand| self.browsers.get(&command.browser).filter(|_| commands.len() == 1);
        let decisions = commands.iter().map(|command| judge(command, page(command)));
        decisions.fold(allow(LOOKS), Decision::stricter)
    }

    /// Whether the pages of browsers that a client drives from a shell, and their references, are the same after a call.
    pub fn keeps_pages(&self, call: &Call<'_>) -> bool {
        match self.client.and_then(|client| client.own_tool(&call.tool)) {
            Some(OwnToolUse::Notes | OwnToolUse::Reads) => true,
            Some(OwnToolUse::Runs(_)) => {
                let browsers = shell_text(call).and_then(|text| reads_but_browsers(&text, &self.place));
                browsers.is_some_and(|browsers| browsers.iter().all(|command| command.action == BrowserAction::Look))
                    && self.judge(call, Hint::None).0.verdict == Verdict::Allow
            }
            // What other tools reach is not known.
            Some(OwnToolUse::Fetches) | None => false,
        }
    }
}

/// The text that a call gives to a shell, or several texts, one after the other.
pub fn shell_text(call: &Call<'_>) -> Option<String> {
    let fields = Fields::read(call.arguments_text()).ok()?;
    fields.text("command").or_else(|| {
        let texts = fields.list("commands").ok()?;
        let texts: Option<Vec<String>> = texts.iter().map(|text| serde_json::from_str(text.get()).ok()).collect();
        Some(texts?.join("\n"))
    })
}

fn judge(command: &BrowserCommand, page: Option<&Snapshot>) -> Decision {
    match &command.action {
        BrowserAction::Look | BrowserAction::Move | BrowserAction::Snapshot => allow(LOOKS),
        BrowserAction::Unknown(why) => Decision::new(Verdict::Confirm, "builtin.browser", why.clone()),
        BrowserAction::Call { tool, arguments } => {
            let builtin = Builtin { snapshot: page.cloned().unwrap_or_default(), ..Builtin::default() };
            builtin.judge(&short_call(tool, raw(arguments)), Hint::None).0
        }
    }
}
