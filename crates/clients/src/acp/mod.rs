//! The [Agent Client Protocol](https://agentclientprotocol.com), version 1, from the agent's side: reads an editor's
//! requests, and converts the records of a session ([`session`](crate::session)) to updates. Does no I/O.
//!
//! | record | update |
//! |---|---|
//! | `assistant_message` | `agent_message_chunk`, or `agent_thought_chunk` for kind `thought` |
//! | `plan_update`, `plan_progress` | `plan`, always the complete list |
//! | `tool_call`, `tool_result` | `tool_call`, `tool_call_update` |
//! | anything else | `session_info_update` with the record in `_meta` under `pipewright/record` |

mod edit_form;
mod input_form;
mod markdown;
mod permission;
mod prompt;
mod request;
mod result;
mod stop_reason;
mod tool;
mod updates;

pub use edit_form::EditForm;
pub use input_form::input_form;
pub use permission::{PermissionOption, chosen, permission_request};
pub use prompt::prompt_text;
pub use request::{ClientCapabilities, SessionRequest, parameters};
pub use stop_reason::StopReason;
pub use updates::{RecordUpdates, Updates};
