//! The table of harnesses.

use super::answer::{AnswerForm, AskForm};
use super::own_tool::{
    CLAUDE_TOOLS, CLINE_TOOLS, CODEX_TOOLS, COPILOT_TOOLS, CURSOR_TOOLS, GEMINI_TOOLS, OPENCODE_TOOLS, QWEN_TOOLS,
};
use super::{ArgumentsPlace, Harness, HookEvent, Marks, ToolPlace};

/// How a failed hook blocks the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureForm {
    /// By exit status 2, with the reason on stderr.
    ExitStatus,
    /// Only by the answer that denies: any exit status lets the call run.
    Answer,
}

/// Every harness.
pub static HARNESSES: &[Harness] = &[CLAUDE, CODEX, GEMINI, QWEN, COPILOT, OPENCODE, CLINE, CURSOR];

/// The most frequent form: `tool_name` and `tool_input`.
const PRE_TOOL_USE: HookEvent = HookEvent {
    name: "PreToolUse",
    tool: ToolPlace::Key("tool_name"),
    arguments: ArgumentsPlace::Key("tool_input"),
    within: None,
    id: "tool_use_id",
    form: AnswerForm::Nested,
    ask: AskForm::Question,
    has_allow: true,
    has_update: false,
    asks_itself: false,
};

const PERMISSION_REQUEST: HookEvent = HookEvent {
    name: "PermissionRequest",
    form: AnswerForm::NestedBehavior,
    ask: AskForm::Nothing,
    asks_itself: true,
    ..PRE_TOOL_USE
};

const CLAUDE: Harness = Harness {
    name: "claude",
    own_keys: &[],
    marks: &[
        Marks {
            has: &["hook_event_name"],
            lacks: &["turn_id", "timestamp", "cursor_version", "generation_id", "tool_call_id", "clineVersion"],
        },
        Marks {
            has: &["hook_event_name", "prompt_id"],
            lacks: &["turn_id", "cursor_version", "generation_id", "tool_call_id", "clineVersion"],
        },
    ],
    event_keys: &["hook_event_name"],
    events: &[HookEvent { has_update: true, ..PRE_TOOL_USE }, HookEvent { has_update: true, ..PERMISSION_REQUEST }],
    after: Some(("PostToolUse", "Bash")),
    server_mark: None,
    own_tools: CLAUDE_TOOLS,
    failure: FailureForm::ExitStatus,
    limit: 600,
};

const CODEX: Harness = Harness {
    name: "codex",
    own_keys: &["turn_id"],
    marks: &[Marks {
        has: &["hook_event_name", "turn_id"],
        lacks: &["prompt_id", "cursor_version", "generation_id", "tool_call_id", "clineVersion"],
    }],
    event_keys: &["hook_event_name"],
    // With `ask` and with `allow` the hook counts as failed, and the call runs.
    events: &[HookEvent { ask: AskForm::Denial, has_allow: false, ..PRE_TOOL_USE }, PERMISSION_REQUEST],
    after: Some(("PostToolUse", "Bash")),
    server_mark: None,
    own_tools: CODEX_TOOLS,
    failure: FailureForm::ExitStatus,
    limit: 600,
};

const GEMINI: Harness = Harness {
    name: "gemini",
    own_keys: &["mcp_context"],
    marks: &[],
    event_keys: &["hook_event_name"],
    events: &[HookEvent {
        name: "BeforeTool",
        tool: ToolPlace::OfContext { tool: "tool_name", context: "mcp_context" },
        form: AnswerForm::Decision,
        ..PRE_TOOL_USE
    }],
    after: None,
    server_mark: None,
    own_tools: GEMINI_TOOLS,
    failure: FailureForm::ExitStatus,
    limit: 60,
};

const QWEN: Harness = Harness {
    name: "qwen",
    own_keys: &["tool_call_id"],
    marks: &[
        Marks {
            has: &["hook_event_name", "tool_call_id"],
            lacks: &["turn_id", "cursor_version", "generation_id", "clineVersion"],
        },
        Marks {
            has: &["hook_event_name", "timestamp", "permission_mode"],
            lacks: &["turn_id", "prompt_id", "cursor_version", "generation_id", "clineVersion"],
        },
    ],
    event_keys: &["hook_event_name"],
    events: &[PRE_TOOL_USE, PERMISSION_REQUEST],
    after: Some(("PostToolUse", "run_shell_command")),
    server_mark: None,
    own_tools: QWEN_TOOLS,
    failure: FailureForm::ExitStatus,
    limit: 60,
};

const COPILOT: Harness = Harness {
    name: "copilot",
    own_keys: &["toolArgs", "toolName"],
    marks: &[
        Marks { has: &["toolName"], lacks: &["hook_event_name", "tool_name", "clineVersion", "cursor_version"] },
        Marks { has: &["toolArgs"], lacks: &["hook_event_name", "tool_name", "clineVersion", "cursor_version"] },
        Marks {
            has: &["hook_event_name", "timestamp"],
            lacks: &[
                "tool_use_id",
                "tool_call_id",
                "transcript_path",
                "permission_mode",
                "turn_id",
                "prompt_id",
                "cursor_version",
                "generation_id",
                "clineVersion",
            ],
        },
    ],
    event_keys: &["hook_event_name", "hookName"],
    events: &[
        // `preToolUse` comes without its name.
        HookEvent {
            name: "",
            tool: ToolPlace::Key("toolName"),
            arguments: ArgumentsPlace::KeyOrText("toolArgs"),
            form: AnswerForm::PermissionDecision,
            ..PRE_TOOL_USE
        },
        PRE_TOOL_USE,
        // Comes before Copilot's own rules, which may ask nobody.
        HookEvent {
            name: "permissionRequest",
            tool: ToolPlace::Key("toolName"),
            arguments: ArgumentsPlace::KeyOrText("toolInput"),
            form: AnswerForm::Behavior,
            ask: AskForm::Denial,
            asks_itself: true,
            ..PRE_TOOL_USE
        },
    ],
    after: None,
    server_mark: Some('-'),
    own_tools: COPILOT_TOOLS,
    failure: FailureForm::ExitStatus,
    limit: 30,
};

const OPENCODE: Harness = Harness {
    name: "opencode",
    own_keys: &["callID", "sessionID"],
    marks: &[],
    event_keys: &["hook_event_name"],
    // OpenCode runs no commands: the input is that of our own plugin, which can only refuse.
    events: &[
        HookEvent {
            name: "tool.execute.before",
            id: "callID",
            form: AnswerForm::Plugin,
            ask: AskForm::Denial,
            has_allow: false,
            ..PRE_TOOL_USE
        },
        HookEvent {
            name: "",
            id: "callID",
            form: AnswerForm::Plugin,
            ask: AskForm::Denial,
            has_allow: false,
            ..PRE_TOOL_USE
        },
    ],
    after: None,
    server_mark: Some('_'),
    own_tools: OPENCODE_TOOLS,
    failure: FailureForm::ExitStatus,
    limit: 600,
};

const CLINE_EVENT: HookEvent = HookEvent {
    name: "tool_call",
    tool: ToolPlace::Key("name"),
    arguments: ArgumentsPlace::Key("input"),
    within: Some("tool_call"),
    id: "id",
    form: AnswerForm::Cancel,
    // With `review`, a run that approves all tools goes on.
    ask: AskForm::Denial,
    has_allow: false,
    has_update: false,
    asks_itself: false,
};

const CLINE: Harness = Harness {
    name: "cline",
    own_keys: &["clineVersion", "tool_call"],
    marks: &[
        Marks { has: &["clineVersion"], lacks: &["cursor_version"] },
        Marks { has: &["hookName", "tool_call"], lacks: &["cursor_version"] },
    ],
    event_keys: &["hookName"],
    events: &[
        CLINE_EVENT,
        // Of the editor's extension, with nested values as text.
        HookEvent {
            name: "PreToolUse",
            tool: ToolPlace::Key("toolName"),
            arguments: ArgumentsPlace::Key("parameters"),
            within: Some("preToolUse"),
            ..CLINE_EVENT
        },
    ],
    after: None,
    server_mark: None,
    own_tools: CLINE_TOOLS,
    failure: FailureForm::Answer,
    limit: 120,
};

const CURSOR_EVENT: HookEvent = HookEvent {
    name: "preToolUse",
    form: AnswerForm::Permission,
    // Here, only a denial has an effect.
    ask: AskForm::Denial,
    ..PRE_TOOL_USE
};

const CURSOR: Harness = Harness {
    name: "cursor",
    own_keys: &["cursor_version", "generation_id"],
    marks: &[
        Marks { has: &["cursor_version"], lacks: &[] },
        Marks { has: &["conversation_id", "generation_id"], lacks: &["cursor_version"] },
    ],
    event_keys: &["hook_event_name"],
    events: &[
        CURSOR_EVENT,
        HookEvent {
            name: "beforeShellExecution",
            tool: ToolPlace::Always("Shell"),
            arguments: ArgumentsPlace::Fields(&["command", "cwd"]),
            ask: AskForm::Question,
            ..CURSOR_EVENT
        },
        HookEvent {
            name: "beforeMCPExecution",
            tool: ToolPlace::OfServer { tool: "tool_name", server: "mcp_server_name" },
            arguments: ArgumentsPlace::KeyOrText("tool_input"),
            ..CURSOR_EVENT
        },
        HookEvent {
            name: "beforeReadFile",
            tool: ToolPlace::Always("Read"),
            arguments: ArgumentsPlace::Fields(&["file_path"]),
            ..CURSOR_EVENT
        },
        // From Claude Code's settings: whether the answer is read is not certain, the exit status is.
        HookEvent { name: "PreToolUse", form: AnswerForm::ExitStatus, has_allow: false, ..CURSOR_EVENT },
    ],
    after: None,
    server_mark: None,
    own_tools: CURSOR_TOOLS,
    failure: FailureForm::ExitStatus,
    limit: 60,
};
