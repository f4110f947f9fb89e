//! Commands of browsers in a shell's text, judged by the elements that their last snapshots have shown.

use super::nested::short_call;
use super::shell::browser::{BrowserAction, BrowserCommand};
use super::{Builtin, allow};
use crate::annotations::Hint;
use crate::snapshot::Snapshot;
use crate::verdict::{Decision, Verdict};
use pipewright_record::json::raw;

impl Builtin {
    pub(super) fn judge_browsers(&self, commands: &[BrowserCommand]) -> Decision {
        let mut decision = allow("it only looks at a page");
        for (index, command) in commands.iter().enumerate() {
            // After another command a reference may mean another element.
            let is_later = commands[..index].iter().any(BrowserCommand::may_change);
            let page = self.browsers.get(&command.browser).filter(|_| !is_later);
            decision = decision.stricter(judge(command, page));
        }
        decision
    }
}

fn judge(command: &BrowserCommand, page: Option<&Snapshot>) -> Decision {
    match &command.action {
        BrowserAction::Look | BrowserAction::Snapshot => allow("it only looks at a page"),
        BrowserAction::Unknown(why) => Decision::new(Verdict::Confirm, "builtin.browser", why.clone()),
        BrowserAction::Call { tool, arguments, target } => {
            let call = short_call(tool, raw(arguments));
            let call = pipewright_record::Call { target: target.as_deref().map(raw), ..call };
            let builtin = Builtin { snapshot: page.cloned().unwrap_or_default(), ..Builtin::default() };
            builtin.judge(&call, Hint::None).0
        }
    }
}
