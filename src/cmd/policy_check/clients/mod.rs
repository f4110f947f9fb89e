//! The settings of harnesses that run `policy-check hook`: a row for each harness.

pub mod doctor;
mod faults;
pub mod install;
mod settings;

use super::NAME;
use pipewright_record::hook::Harness;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where a harness has its hooks, and how they are written there.
pub struct Client {
    /// The name of the harness.
    pub name: &'static str,
    /// The user's file, below the home folder.
    user_file: Option<&'static str>,
    /// The environment variable that names another folder for the user's file.
    folder_variable: Option<&'static str>,
    /// A project's file, below its folder.
    project_file: &'static str,
    layout: Layout,
    /// The event with which it asks, if its dialog stays open meanwhile: it gets `hitl-gate hook` as well.
    asks: Option<&'static str>,
    /// An input of the hook: a shell call whose text is `COMMAND`.
    sample: &'static str,
    /// What is needed besides the settings.
    note: &'static str,
    /// What the hook does not get.
    blind: &'static str,
}

/// How a file names hooks.
enum Layout {
    /// `hooks.EVENT` has groups, each with a list of hooks.
    Groups { events: &'static [&'static str], hook: fn(&str) -> Value },
    /// `hooks.EVENT` has hooks.
    Flat { events: &'static [&'static str], hook: fn(&str) -> Value, has_version: bool },
    /// The file is a program.
    Program(fn(&str) -> String),
}

/// The command that asks an approver.
const ASKER: &str = "hitl-gate";
/// Every harness lets a hook wait this long, if its settings say so.
const HOOK_TIMEOUT: u64 = 600;

const NESTED: &str = r#"{"session_id":"doctor","transcript_path":"/dev/null","cwd":"/","hook_event_name":"PreToolUse","permission_mode":"default","tool_use_id":"doctor","prompt_id":"doctor","tool_name":"Bash","tool_input":{"command":"COMMAND"}}"#;

/// The settings of all harnesses.
pub static CLIENTS: &[Client] = &[
    Client {
        name: "claude",
        user_file: Some(".claude/settings.json"),
        folder_variable: Some("CLAUDE_CONFIG_DIR"),
        project_file: ".claude/settings.json",
        layout: Layout::Groups {
            events: &["PreToolUse", "PostToolUse"],
            // One command: a harness that loads these settings may append its input to the text.
            hook: |program| json!({"type": "command", "command": format!("{program} hook"), "timeout": HOOK_TIMEOUT, "onFailure": "block"}),
        },
        asks: Some("PermissionRequest"),
        sample: NESTED,
        note: "versions before 2.1.295 ignore onFailure",
        blind: "sessions with --bare or disableAllHooks",
    },
    Client {
        name: "codex",
        user_file: Some(".codex/hooks.json"),
        folder_variable: Some("CODEX_HOME"),
        project_file: ".codex/hooks.json",
        layout: Layout::Groups {
            events: &["PreToolUse"],
            hook: |program| json!({"type": "command", "command": failing_closed(program, "codex"), "timeout": HOOK_TIMEOUT}),
        },
        asks: None,
        sample: r#"{"session_id":"doctor","turn_id":"doctor","transcript_path":"/dev/null","cwd":"/","hook_event_name":"PreToolUse","model":"doctor","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"COMMAND"},"tool_use_id":"doctor"}"#,
        note: "Codex skips new and changed hooks until you trust them: run /hooks in Codex",
        blind: "whether Codex trusts the hook, hosted web search, and a hook that runs into its timeout",
    },
    Client {
        name: "gemini",
        user_file: Some(".gemini/settings.json"),
        folder_variable: None,
        project_file: ".gemini/settings.json",
        layout: Layout::Groups {
            events: &["BeforeTool"],
            // In milliseconds.
            hook: |program| {
                let command = failing_closed(program, "gemini");
                json!({"type": "command", "name": "policy-check", "command": command, "timeout": HOOK_TIMEOUT * 1000})
            },
        },
        asks: None,
        sample: r#"{"session_id":"doctor","transcript_path":"/dev/null","cwd":"/","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00.000Z","tool_name":"run_shell_command","tool_input":{"command":"COMMAND"}}"#,
        note: "a run without a terminal waits at a question: add --unattended to the command there",
        blind: "folders that Gemini does not trust (a project's hooks do not run there), and a hook that runs into its timeout",
    },
    Client {
        name: "qwen",
        user_file: Some(".qwen/settings.json"),
        folder_variable: None,
        project_file: ".qwen/settings.json",
        layout: Layout::Groups {
            events: &["PreToolUse"],
            hook: |program| json!({"type": "command", "name": "policy-check", "command": failing_closed(program, "qwen"), "timeout": HOOK_TIMEOUT}),
        },
        asks: None,
        sample: r#"{"session_id":"doctor","transcript_path":"/dev/null","cwd":"/","hook_event_name":"PreToolUse","timestamp":"2026-01-01T00:00:00.000Z","permission_mode":"default","tool_name":"run_shell_command","tool_input":{"command":"COMMAND"},"tool_use_id":"doctor","tool_call_id":"doctor"}"#,
        note: "of several hooks the last one decides: add none behind it",
        blind: "hooks in other settings files behind this one, and a hook that runs into its timeout",
    },
    Client {
        name: "copilot",
        user_file: Some(".copilot/settings.json"),
        folder_variable: None,
        project_file: ".github/hooks/policy-check.json",
        layout: Layout::Flat {
            events: &["preToolUse"],
            hook: |program| json!({"type": "command", "bash": format!("{program} hook --for copilot"), "timeoutSec": HOOK_TIMEOUT}),
            has_version: true,
        },
        asks: None,
        sample: r#"{"sessionId":"doctor","timestamp":1767225600000,"cwd":"/","toolName":"bash","toolArgs":{"command":"COMMAND"}}"#,
        note: "a project's hooks run only in trusted folders (with -p: --trust-folder)",
        blind: "whether the folder is trusted, and a hook that runs into its timeout",
    },
    Client {
        name: "opencode",
        user_file: None,
        folder_variable: None,
        project_file: ".opencode/plugins/policy-check.js",
        layout: Layout::Program(plugin),
        asks: None,
        sample: r#"{"hook_event_name":"tool.execute.before","tool_name":"bash","tool_input":{"command":"COMMAND"},"sessionID":"doctor","callID":"doctor","cwd":"/"}"#,
        note: "calls that would be asked about are denied",
        blind: "whether OpenCode loads the plugin",
    },
    Client {
        name: "cline",
        user_file: Some(".cline/hooks/PreToolUse"),
        folder_variable: None,
        project_file: ".clinerules/hooks/PreToolUse",
        layout: Layout::Program(script),
        asks: None,
        sample: r#"{"clineVersion":"doctor","hookName":"tool_call","taskId":"doctor","workspaceRoots":["/"],"tool_call":{"id":"doctor","name":"run_commands","input":{"commands":["COMMAND"]}}}"#,
        note: "a denial ends the whole run, and calls that would be asked about are denied",
        blind: "the editor's extension, which was not tried",
    },
    Client {
        name: "cursor",
        user_file: Some(".cursor/hooks.json"),
        folder_variable: None,
        project_file: ".cursor/hooks.json",
        layout: Layout::Flat {
            events: &["preToolUse", "beforeShellExecution", "beforeMCPExecution"],
            hook: |program| json!({"command": format!("{program} hook --for cursor"), "timeout": HOOK_TIMEOUT, "failClosed": true}),
            has_version: true,
        },
        asks: None,
        sample: r#"{"conversation_id":"doctor","generation_id":"doctor","cursor_version":"doctor","workspace_roots":["/"],"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"COMMAND","cwd":"/"},"tool_use_id":"doctor"}"#,
        note: "preToolUse cannot ask: calls that would be asked about are denied. Built from documents, not yet tried in Cursor",
        blind: "whether this version of Cursor runs the hooks",
    },
];

impl Client {
    /// Its harness.
    fn harness(&self) -> Option<&'static Harness> {
        Harness::named(self.name)
    }

    /// Its files, the user's first.
    fn files(&self, home: Option<&Path>, project: &Path) -> Vec<PathBuf> {
        self.user_path(home).into_iter().chain([project.join(self.project_file)]).collect()
    }

    /// The user's file.
    fn user_path(&self, home: Option<&Path>) -> Option<PathBuf> {
        let file = Path::new(self.user_file?);
        let folder = self.folder_variable.and_then(std::env::var_os).filter(|folder| !folder.is_empty());
        match (folder, file.file_name()) {
            (Some(folder), Some(name)) => Some(Path::new(&folder).join(name)),
            _ => Some(home?.join(file)),
        }
    }

    /// The events that have the hook.
    fn events(&self) -> &'static [&'static str] {
        match self.layout {
            Layout::Groups { events, .. } | Layout::Flat { events, .. } => events,
            Layout::Program(_) => &[],
        }
    }

    /// The hook of the settings, if they have lists of hooks.
    fn hook(&self, program: &str) -> Option<Value> {
        match self.layout {
            Layout::Groups { hook, .. } | Layout::Flat { hook, .. } => Some(hook(program)),
            Layout::Program(_) => None,
        }
    }

    /// Whether a text, a hook's command or a whole program, is what install writes, for this program at any place.
    fn is_written_by_us(&self, text: &str) -> bool {
        const MARK: &str = "PROGRAM";
        let own = match (&self.layout, self.hook(MARK)) {
            (Layout::Program(own), _) => own(MARK),
            (_, Some(hook)) => settings::command(&hook).unwrap_or_default().to_owned(),
            (_, None) => return false,
        };
        own.split_once(MARK).is_some_and(|(before, after)| runs(NAME, text, before, after))
    }
}

/// Whether a text names a program, at any place, between two parts.
fn runs(name: &str, text: &str, before: &str, after: &str) -> bool {
    let program = text.strip_prefix(before).and_then(|text| text.strip_suffix(after));
    program.is_some_and(|program| match shlex::split(program).as_deref() {
        Some([word]) => Path::new(word).file_stem().is_some_and(|stem| stem == name),
        _ => false,
    })
}

/// The hook that asks an approver. It denies before the harness ends it; if it fails, the harness's dialog stays.
fn asking(program: &str) -> Value {
    let command = format!("{program} hook --timeout {}s", HOOK_TIMEOUT - 10);
    json!({"type": "command", "command": command, "timeout": HOOK_TIMEOUT})
}

/// A shell's text that blocks the call if the program fails or is missing.
fn failing_closed(program: &str, harness: &str) -> String {
    format!("{program} hook --for {harness} || {{ echo 'policy-check hook failed' >&2; exit 2; }}")
}

/// For Cline, only an answer blocks.
fn script(program: &str) -> String {
    format!(
        "#!/bin/sh\n# Written by policy-check hooks install.\n{program} hook --for cline || echo \
         '{{\"cancel\":true,\"errorMessage\":\"policy-check hook failed\"}}'\n"
    )
}

/// OpenCode has no hooks that are commands.
fn plugin(program: &str) -> String {
    let program = Value::from(program.trim_matches('\''));
    format!(
        r#"// Written by policy-check hooks install.
import {{ spawn }} from "node:child_process"

function judge(input) {{
  return new Promise((resolve, reject) => {{
    const gate = spawn({program}, ["hook", "--for", "opencode"])
    let answer = ""
    let errors = ""
    gate.stdout.on("data", (data) => (answer += data))
    gate.stderr.on("data", (data) => (errors += data))
    gate.stdin.on("error", () => {{}})
    gate.on("error", (error) => reject(new Error("policy-check hook: " + error.message)))
    gate.on("close", (status) =>
      status === 0 ? resolve(answer) : reject(new Error(errors.trim() || "policy-check hook failed")),
    )
    gate.stdin.end(JSON.stringify(input))
  }})
}}

export const PolicyCheck = async ({{ directory }}) => ({{
  "tool.execute.before": async (call, output) => {{
    const answer = await judge({{
      hook_event_name: "tool.execute.before",
      tool_name: call.tool,
      tool_input: output.args ?? {{}},
      sessionID: call.sessionID,
      callID: call.callID,
      cwd: directory,
    }})
    const decision = answer.trim() ? JSON.parse(answer) : {{}}
    if (decision.permission === "deny") throw new Error(decision.reason)
  }},
}})
"#
    )
}
