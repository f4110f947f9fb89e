//! The names of tools: as requests have them, as servers accept them, and as models write them.

use crate::{Failure, Token, TurnReader};
use pipewright_record::json::quoted;
use pipewright_record::{CallForm, ModelRequest, ModelTurn, Usage};
use serde_json::value::RawValue;

/// The longest name that every server accepts.
const LONGEST: usize = 64;

/// What models write before the name of a tool, as in their training.
const BEFORE: [&str; 6] = ["functions.", "function.", "default_api.", "default_api:", "tools.", "tool."];

/// The tools of a request: the own name of each, and the name that is sent.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolNames(Vec<(String, String)>);

impl ToolNames {
    pub(super) fn of(request: &ModelRequest) -> ToolNames {
        let mut names = ToolNames::default();
        for tool in &request.tools {
            let mut sent = accepted(&tool.name);
            let is_taken = |sent: &str| {
                names.0.iter().any(|(_, other)| other == sent)
                    || request.tools.iter().any(|other| other.name == sent && other.name != tool.name)
            };
            for number in 2.. {
                if !is_taken(&sent) {
                    break;
                }
                sent = accepted(&tool.name).chars().take(LONGEST - 4).collect::<String>() + &format!("_{number}");
            }
            names.0.push((tool.name.clone(), sent));
        }
        names
    }

    /// The name that is sent.
    pub(super) fn sent(&self, own: &str) -> String {
        self.0.iter().find(|(name, _)| name == own).map_or_else(|| accepted(own), |(_, sent)| sent.clone())
    }

    /// The tool's own name, and the name that is sent, for a name that the model wrote; `None` if there is no such tool.
    fn meant(&self, written: &str) -> Option<&(String, String)> {
        let exact = |name: &str| {
            let sent = self.0.iter().find(|(_, sent)| sent == name);
            sent.or_else(|| self.0.iter().find(|(own, _)| own == name))
        };
        exact(written).or_else(|| {
            let name = written.split("<|").next().unwrap_or_default().trim();
            let name = BEFORE.iter().find_map(|before| name.strip_prefix(before)).unwrap_or(name);
            let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
            exact(name).or_else(|| exact(name.rsplit_once(':').filter(|(_, rest)| number(rest))?.0))
        })
    }

    /// A reader whose turns have the tools' own names, and this form of calls.
    pub(super) fn reader(self, inner: Box<dyn TurnReader>, form: Option<CallForm>) -> Box<dyn TurnReader> {
        if self.0.is_empty() { inner } else { Box::new(Named { inner, names: self, form }) }
    }
}

/// Letters, digits, `_` and `-`, which every server accepts.
fn accepted(name: &str) -> String {
    let name = name.chars().map(|each| if each.is_ascii_alphanumeric() || each == '-' { each } else { '_' });
    name.take(LONGEST).collect()
}

/// Whether a name is sent as it is.
pub(super) fn is_accepted(name: &str) -> bool {
    accepted(name) == name
}

struct Named {
    inner: Box<dyn TurnReader>,
    names: ToolNames,
    form: Option<CallForm>,
}

impl TurnReader for Named {
    fn take(&mut self, name: &str, data: &[u8], tokens: &mut Vec<Token>) -> Result<(), Failure> {
        self.inner.take(name, data, tokens)
    }

    fn is_complete(&self) -> bool {
        self.inner.is_complete()
    }

    fn is_ending(&self) -> bool {
        self.inner.is_ending()
    }

    fn usage(&self) -> Usage {
        self.inner.usage()
    }

    fn finish(self: Box<Self>) -> Result<ModelTurn, Failure> {
        let mut turn = self.inner.finish()?;
        for call in &mut turn.calls {
            let Some((own, sent)) = self.names.meant(&call.tool_name) else { continue };
            // The turn is sent back: servers refuse marks in names.
            if *sent != call.tool_name {
                let raw = turn.raw.get().replace(&quoted(&call.tool_name), &quoted(sent));
                turn.raw = RawValue::from_string(raw).map_err(Failure::protocol)?;
            }
            call.tool_name.clone_from(own);
        }
        turn.form = self.form;
        Ok(turn)
    }
}
