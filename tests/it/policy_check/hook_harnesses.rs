//! `policy-check hook` with the inputs of each harness: what it recognises, and what it answers.

use super::{Played, play};
#[cfg(unix)]
use crate::process::{command, pipe};
use serde_json::{Value, json};

/// A harness's input about a call: the marks of this harness, and where the tool and its arguments are.
pub(super) struct Form {
    pub(super) harness: &'static str,
    /// The input; the texts `TOOL` and the object `{}` of the arguments are replaced.
    input: Value,
    /// Pointers to the tool's name and the arguments.
    tool: &'static str,
    arguments: &'static str,
    /// The tool that runs shell text, and the key of the text.
    pub(super) shell: (&'static str, &'static str),
    /// Where the answer has its word and its reason.
    word: &'static str,
    reason: &'static str,
    /// The word for a call that needs approval.
    asks: Value,
    /// The word for a call that a rule denies.
    denies: Value,
    /// The word for a call that `--allow-reads` allows, if there is one.
    allows: Option<Value>,
    /// What is printed without an opinion.
    pub(super) nothing: &'static str,
}

pub(super) fn forms() -> Vec<Form> {
    let nested = |event: &str, more: &Value| {
        let mut input = json!({
            "session_id": "s1", "transcript_path": "/home/me/t.jsonl", "cwd": "/home/me/p", "hook_event_name": event,
            "tool_name": "TOOL", "tool_input": {},
        });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Form {
            harness: "claude",
            input,
            tool: "/tool_name",
            arguments: "/tool_input",
            shell: ("Bash", "command"),
            word: "/hookSpecificOutput/permissionDecision",
            reason: "/hookSpecificOutput/permissionDecisionReason",
            asks: json!("ask"),
            denies: json!("deny"),
            allows: Some(json!("allow")),
            nothing: "",
        }
    };
    let cursor = |event: &str, more: &Value| {
        let common = json!({
            "conversation_id": "c1", "generation_id": "g1", "cursor_version": "2.0", "workspace_roots": ["/home/me/p"],
        });
        let mut form = nested(event, &common);
        form.input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Form {
            harness: "cursor",
            shell: ("Shell", "command"),
            word: "/permission",
            reason: "/agent_message",
            asks: json!("deny"),
            nothing: "{}\n",
            ..form
        }
    };
    let copilot =
        json!({"sessionId": "s1", "timestamp": 1_795_785_475_474_u64, "cwd": "/home/me/p", "toolName": "TOOL"});
    let copilot = |more: Value| {
        let mut input = copilot.clone();
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Form {
            harness: "copilot",
            input,
            tool: "/toolName",
            arguments: "/toolArgs",
            shell: ("bash", "command"),
            word: "/permissionDecision",
            reason: "/permissionDecisionReason",
            ..nested("", &json!({}))
        }
    };
    let claude = json!({"prompt_id": "p1", "permission_mode": "default", "tool_use_id": "toolu_01"});
    let codex = json!({"turn_id": "t1", "model": "m", "permission_mode": "default", "tool_use_id": "call_1"});
    let qwen = json!({
        "timestamp": "2026-11-27T10:00:00Z", "permission_mode": "auto_edit", "prompt_id": "p########0", "tool_use_id": "own", "tool_call_id": "call_1",
    });
    let mut pascal = nested("PreToolUse", &json!({"timestamp": "2026-11-27T10:00:00Z"}));
    pascal.input.as_object_mut().unwrap().remove("transcript_path");
    vec![
        nested("PreToolUse", &claude),
        Form { harness: "codex", asks: json!("deny"), allows: None, ..nested("PreToolUse", &codex) },
        Form {
            harness: "gemini",
            shell: ("run_shell_command", "command"),
            word: "/decision",
            reason: "/reason",
            ..nested("BeforeTool", &json!({"timestamp": "2026-11-27T10:00:00Z"}))
        },
        Form { harness: "qwen", shell: ("run_shell_command", "command"), ..nested("PreToolUse", &qwen) },
        copilot(json!({"toolArgs": {}})),
        Form { harness: "copilot", ..pascal },
        Form {
            word: "/behavior",
            reason: "/message",
            asks: json!("deny"),
            arguments: "/toolInput",
            ..copilot(json!({"hookName": "permissionRequest", "toolInput": {}, "permissionSuggestions": []}))
        },
        Form {
            harness: "opencode",
            shell: ("bash", "command"),
            word: "/permission",
            reason: "/reason",
            asks: json!("deny"),
            allows: None,
            ..nested("tool.execute.before", &json!({"sessionID": "s1", "callID": "c1"}))
        },
        Form {
            harness: "cline",
            input: json!({
                "clineVersion": "3.0.65", "hookName": "tool_call", "taskId": "t1",
                "tool_call": {"id": "c1", "name": "TOOL", "input": {}},
                "preToolUse": {"toolName": "TOOL", "parameters": {"commands": "[]"}},
            }),
            tool: "/tool_call/name",
            arguments: "/tool_call/input",
            shell: ("run_commands", "commands"),
            word: "/cancel",
            reason: "/errorMessage",
            asks: json!(true),
            denies: json!(true),
            allows: None,
            ..nested("", &json!({}))
        },
        cursor("preToolUse", &json!({"tool_use_id": "u1"})),
    ]
}

impl Form {
    pub(super) fn with(&self, tool: &str, arguments: &Value) -> String {
        let mut input = self.input.clone();
        *input.pointer_mut(self.tool).unwrap() = json!(tool);
        *input.pointer_mut(self.arguments).unwrap() = arguments.clone();
        input.to_string()
    }

    pub(super) fn shell(&self, text: &str) -> String {
        let (tool, key) = self.shell;
        let text = if key == "commands" { json!([text]) } else { json!(text) };
        self.with(tool, &json!({ key: text }))
    }

    /// The word of the answer and its reason; `None` for no opinion.
    fn answer(&self, options: &[&str], input: &str) -> Option<(Value, String)> {
        let played = play(&[&["hook"], options].concat(), input);
        assert_eq!((played.status, played.stderr.as_str()), (Some(0), ""), "{}: {input}", self.harness);
        if played.lines.concat() == self.nothing.trim_end() {
            return None;
        }
        let [answer] = &played.records()[..] else { panic!("{}: {:?}", self.harness, played.lines) };
        let reason = answer.pointer(self.reason).or(answer.pointer("/systemMessage")).and_then(Value::as_str);
        Some((answer.pointer(self.word).unwrap().clone(), reason.unwrap_or_default().to_owned()))
    }
}

pub(super) fn refused(played: &Played) -> bool {
    played.status == Some(2) && played.lines.is_empty() && !played.stderr.trim().is_empty()
}

#[test]
fn each_harness_is_recognised_and_answered_in_its_form() {
    let rules = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(rules.path(), "[[rule]]\nid = \"no\"\nverdict = \"deny\"\nreason = \"not here\"\ntool = \"*\"\n")
        .unwrap();
    let rules = rules.path().to_str().unwrap();
    for form in forms() {
        let named = ["--for", form.harness];
        for options in [&[][..], &named] {
            let (dangerous, harmless) = (form.shell("rm -rf build"), form.shell("ls -la"));
            let (word, reason) = form.answer(options, &dangerous).unwrap();
            assert_eq!(word, form.asks, "{}", form.harness);
            assert!(reason.contains("builtin.run"), "{}: {reason}", form.harness);
            assert_eq!(form.answer(options, &harmless), None, "{}", form.harness);
            let denied = form.answer(&[options, &["--rules", rules]].concat(), &harmless).unwrap();
            assert_eq!(denied, (form.denies.clone(), "not here (no)".to_owned()), "{}", form.harness);
            let unattended = form.answer(&[options, &["--unattended"]].concat(), &dangerous).unwrap();
            assert_eq!(unattended.0, form.denies, "{}", form.harness);
            let allowed = form.answer(&[options, &["--allow-reads"]].concat(), &harmless).map(|(word, _)| word);
            assert_eq!(allowed, form.allows, "{}", form.harness);
        }
    }
}

#[test]
fn arguments_that_two_readers_could_read_differently_are_denied() {
    for form in forms() {
        for arguments in [json!({"command": "ls", "COMMAND": "rm x"}), json!({"a": {"b": 1, "B": 2}})] {
            let answer = form.answer(&[], &form.with(form.shell.0, &arguments));
            assert_eq!(answer.map(|(word, _)| word), Some(form.denies.clone()), "{} {arguments}", form.harness);
        }
    }
}

/// Codex takes an answer with any other field for none, and runs the call.
#[test]
fn an_answer_has_only_the_fields_of_its_harness() {
    let keys = |form: &Form| {
        let played = play(&["hook"], &form.shell("rm -rf build"));
        let [answer] = &played.records()[..] else { panic!("{:?}", played.lines) };
        let own = answer.get("hookSpecificOutput").unwrap_or(answer);
        own.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let expected = |form: &Form| match (form.harness, form.word) {
        ("gemini", _) => "decision systemMessage",
        ("copilot", "/behavior") => "behavior message",
        ("copilot", "/permissionDecision") => "permissionDecision permissionDecisionReason",
        ("cline", _) => "cancel errorMessage",
        ("cursor", _) => "permission user_message agent_message",
        ("opencode", _) => "permission reason",
        _ => "hookEventName permissionDecision permissionDecisionReason",
    };
    for form in forms() {
        assert_eq!(keys(&form), expected(&form), "{}", form.harness);
    }
}

#[test]
fn the_own_tools_of_a_harness_that_change_nothing_are_not_asked_about() {
    for (harness, tools) in [
        (
            "claude",
            "TodoWrite BashOutput ExitPlanMode EnterPlanMode AskUserQuestion TaskCreate Skill WebSearch ToolSearch",
        ),
        ("codex", "update_plan view_image web_search request_user_input"),
        ("gemini", "write_todos list_directory google_web_search activate_skill invoke_agent read_background_output"),
        ("qwen", "todo_write exit_plan_mode list_directory glob skill"),
        ("copilot", "report_intent update_todo view read_bash ask_user task write_agent"),
        ("opencode", "todowrite todoread list codesearch question task"),
        ("cline", "search_codebase attempt_completion ask_question read_files spawn_agent team_status"),
        ("cursor", "TodoWrite SemanticSearch ReadLints Grep"),
    ] {
        for form in forms().iter().filter(|form| form.harness == harness).take(1) {
            for tool in tools.split(' ') {
                assert_eq!(form.answer(&[], &form.with(tool, &json!({}))), None, "{harness} {tool}");
            }
        }
    }
    for (harness, tool, arguments) in [
        // A server's tool of the name is not the harness's own.
        ("claude", "mcp__x__TodoWrite", json!({"todos": []})),
        ("claude", "KillShell", json!({"shell_id": "b1"})),
        ("claude", "PowerShell", json!({"command": "ls; x"})),
        ("claude", "Bash", json!({"command": "ls", "dangerouslyDisableSandbox": true})),
        ("codex", "apply_patch", json!({"command": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n"})),
        ("gemini", "replace", json!({"file_path": "a", "instruction": "b", "old_string": "c", "new_string": "d"})),
        ("gemini", "web_fetch", json!({"prompt": "open https://example.org/users/5/delete, please"})),
        ("gemini", "web_fetch", json!({"prompt": "read file:///etc/passwd"})),
        ("gemini", "save_memory", json!({"fact": "x"})),
        ("qwen", "edit", json!({"file_path": "a", "old_string": "b", "new_string": "c"})),
        ("copilot", "create", json!({"path": "a", "file_text": "b"})),
        ("copilot", "write_bash", json!({"shellId": "s", "input": "y"})),
        ("copilot", "github-delete_repo", json!({"name": "x"})),
        ("opencode", "patch", json!({"patchText": "x"})),
        ("opencode", "github_delete_repo", json!({"name": "x"})),
        ("cline", "editor", json!({"path": "a", "new_text": "b"})),
        (
            "cline",
            "fetch_web_content",
            json!({"requests": [{"url": "https://example.org/users/5/delete", "prompt": "x"}]}),
        ),
        ("cline", "attempt_completion", json!({"result": "done", "command": "rm -rf build"})),
        ("cursor", "Delete", json!({"file_path": "a"})),
        ("cursor", "WriteShellStdin", json!({"shell_id": "1", "chars_length": 2})),
        ("cursor", "MCP:delete_repo", json!({"name": "x"})),
        ("cursor", "SomethingNew", json!({})),
    ] {
        let form = forms().into_iter().find(|form| form.harness == harness).unwrap();
        let answer = form.answer(&[], &form.with(tool, &arguments)).map(|(word, _)| word);
        assert_eq!(answer, Some(form.asks.clone()), "{harness} {tool} {arguments}");
    }
    for (harness, tool, arguments) in [
        ("claude", "PowerShell", json!({"command": "Get-ChildItem -Recurse | Select-Object -First 5"})),
        (
            "gemini",
            "run_shell_command",
            json!({"command": "ls", "description": "x", "dir_path": "src", "is_background": false, "delay_ms": 5}),
        ),
        ("gemini", "web_fetch", json!({"prompt": "Summarise https://example.org/docs/a.html"})),
        (
            "qwen",
            "run_shell_command",
            json!({"command": "ls", "description": "x", "directory": "/tmp", "is_background": false, "timeout": 5}),
        ),
        ("copilot", "bash", json!({"command": "ls", "mode": "async", "shellId": "a", "detach": true})),
        ("gemini", "mcp_x_read_file", json!({"path": "a", "wait_for_previous": true})),
        ("opencode", "bash", json!({"command": "ls", "description": "x", "workdir": "/tmp", "timeout": 5})),
        ("cursor", "Shell", json!({"command": "ls", "cwd": "/tmp"})),
        ("cursor", "Fetch", json!({"url": "https://example.org/docs"})),
    ] {
        let form = forms().into_iter().find(|form| form.harness == harness).unwrap();
        assert_eq!(form.answer(&[], &form.with(tool, &arguments)), None, "{harness} {tool} {arguments}");
    }
}

#[test]
fn tools_of_mcp_servers_have_one_name_for_rules() {
    let rules = tempfile::NamedTempFile::new().unwrap();
    let text = "[[rule]]\nid = \"no\"\nverdict = \"deny\"\nreason = \"no\"\ntool = \"mcp__files__read_file\"\n";
    std::fs::write(rules.path(), text).unwrap();
    let options = ["--rules", rules.path().to_str().unwrap()];
    let gemini = forms().into_iter().find(|form| form.harness == "gemini").unwrap();
    let mut input: Value = serde_json::from_str(&gemini.with("mcp_files_read_file", &json!({"path": "a"}))).unwrap();
    input["mcp_context"] = json!({"server_name": "files", "tool_name": "read_file", "command": "x", "args": []});
    assert_eq!(gemini.answer(&options, &input.to_string()).unwrap().0, json!("deny"));
    let cursor = |name: &str, arguments: Value| {
        json!({
            "conversation_id": "c", "generation_id": "g", "cursor_version": "2", "hook_event_name": "beforeMCPExecution",
            "tool_name": name, "tool_input": arguments, "mcp_server_name": "files", "url": "http://x",
        })
        .to_string()
    };
    let form = forms().into_iter().find(|form| form.harness == "cursor").unwrap();
    assert_eq!(form.answer(&options, &cursor("read_file", json!("{\"path\":\"a\"}"))).unwrap().0, json!("deny"));
    assert_eq!(form.answer(&[], &cursor("read_file", json!("{\"path\":\"a\"}"))), None);
    assert_eq!(form.answer(&[], &cursor("delete_file", json!({"path": "a"}))).unwrap().0, json!("deny"));
    for broken in [json!("[1]"), json!("{"), json!(7), json!("{},\"b\":{}")] {
        assert!(refused(&play(&["hook"], &cursor("read_file", broken.clone()))), "{broken}");
    }
}

#[test]
fn cursor_asks_about_shell_commands_in_their_own_event() {
    let input = |command: &str| {
        json!({
            "conversation_id": "c", "generation_id": "g", "cursor_version": "2",
            "hook_event_name": "beforeShellExecution", "command": command, "cwd": "/tmp", "sandbox": false,
        })
        .to_string()
    };
    let form = forms().into_iter().find(|form| form.harness == "cursor").unwrap();
    assert_eq!(form.answer(&[], &input("rm -rf build")).unwrap().0, json!("ask"));
    assert_eq!(form.answer(&[], &input("ls")), None);
    // Claude Code's settings, which Cursor can load: only the exit status is certain to be read.
    let loaded = form.shell("rm -rf build").replace("preToolUse", "PreToolUse");
    assert!(refused(&play(&["hook"], &loaded)));
    let harmless = form.shell("ls").replace("preToolUse", "PreToolUse");
    assert_eq!(form.answer(&[], &harmless), None);
}

#[test]
fn a_harness_that_asks_its_user_itself_is_only_denied() {
    for form in forms().iter().filter(|form| ["claude", "codex", "qwen"].contains(&form.harness)) {
        let mut input: Value = serde_json::from_str(&form.shell("rm -rf build")).unwrap();
        input["hook_event_name"] = json!("PermissionRequest");
        input.as_object_mut().unwrap().remove("tool_use_id");
        let played = play(&["hook"], &input.to_string());
        assert_eq!((played.status, played.lines.len(), played.stderr.as_str()), (Some(0), 0, ""), "{}", form.harness);
        let played = play(&["hook", "--unattended"], &input.to_string());
        let decision = &played.records()[0]["hookSpecificOutput"];
        assert_eq!(
            (&decision["hookEventName"], &decision["decision"]["behavior"]),
            (&json!("PermissionRequest"), &json!("deny"))
        );
    }
}

#[test]
fn other_events_get_no_opinion_and_a_line_on_stderr() {
    let claude = |event: &str| {
        json!({"session_id": "s", "hook_event_name": event, "tool_name": "Bash", "tool_input": {}}).to_string()
    };
    for (input, named) in [
        (claude("PostToolUse"), None),
        (claude("SessionStart"), Some("claude")),
        (claude("SomethingNew"), None),
        (json!({"hook_event_name": "AfterTool", "timestamp": "t", "transcript_path": "x"}).to_string(), Some("gemini")),
        (json!({"hook_event_name": "AfterTool", "timestamp": "t", "transcript_path": "x"}).to_string(), None),
        (json!({"clineVersion": "3", "hookName": "TaskStart"}).to_string(), None),
        (json!({"sessionId": "s", "toolName": "bash", "toolArgs": {}, "toolResult": {}}).to_string(), None),
    ] {
        let options: Vec<&str> = named.into_iter().flat_map(|name| ["--for", name]).collect();
        let played = play(&[&["hook"], &options[..]].concat(), &input);
        assert_eq!((played.status, played.lines.len(), played.stderr.lines().count()), (Some(0), 0, 1), "{input}");
    }
    let cursor = json!({"cursor_version": "2", "hook_event_name": "stop"}).to_string();
    let played = play(&["hook"], &cursor);
    assert_eq!((played.status, played.lines, played.stderr.lines().count()), (Some(0), vec!["{}".to_owned()], 1));
}

#[test]
fn a_failure_blocks_the_call_as_the_harness_can_be_blocked() {
    for form in forms() {
        let whole = form.shell("ls");
        let without = |pointer: &str| {
            let mut input: Value = serde_json::from_str(&whole).unwrap();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            input.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
            input.to_string()
        };
        let huge = form.shell(&"a".repeat(5 << 20));
        let broken = [
            String::new(),
            "{}".to_owned(),
            "null".to_owned(),
            format!("[{whole}]"),
            whole[..whole.len() - 1].to_owned(),
            format!("{whole}{whole}"),
            without(form.tool),
            without(form.arguments),
            form.with(form.shell.0, &json!([])),
            form.with(form.shell.0, &json!(null)),
            form.with("", &json!({})),
            whole.replace(&format!("{:?}", form.shell.0), "7"),
            huge,
        ];
        for input in broken {
            let played = play(&["hook", "--for", form.harness], &input);
            let shown = &input[..input.len().min(200)];
            if form.harness == "cline" {
                let [answer] = &played.records()[..] else { panic!("{shown}: {:?}", played.lines) };
                assert_eq!((played.status, &answer["cancel"]), (Some(0), &json!(true)), "{shown}");
                assert!(!answer["errorMessage"].as_str().unwrap().is_empty());
            } else {
                assert!(refused(&played), "{} {shown}: {:?} {}", form.harness, played.lines, played.stderr);
            }
        }
        let unread = play(&["hook", "--for", form.harness, "--rules", "/nowhere"], &whole);
        assert_eq!(refused(&unread), form.harness != "cline", "{}", form.harness);
    }
}

#[test]
fn an_input_of_no_harness_or_of_two_is_refused() {
    for input in [
        json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
        json!({"hook_event_name": 7, "tool_name": "Bash", "tool_input": {}}),
        json!({
            "hook_event_name": "PreToolUse", "turn_id": "t", "timestamp": "t", "permission_mode": "auto",
            "tool_call_id": "c", "tool_name": "Bash", "tool_input": {"command": "ls"},
        }),
        json!({"Hook_Event_Name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}),
        json!({"hook_event_name": "pretooluse", "tool_name": "Bash", "tool_input": {}}),
    ] {
        let played = play(&["hook"], &input.to_string());
        assert!(refused(&played), "{input}: {:?}", played.lines);
    }
    let played = play(&["hook", "--for", "emacs"], "{}");
    assert!(refused(&played) && played.stderr.contains("cursor"), "{}", played.stderr);
}

#[test]
fn verdicts_of_several_hooks_are_in_one_audit_and_requests_in_the_events() {
    let folder = tempfile::tempdir().unwrap();
    let (audit, events) = (folder.path().join("audit"), folder.path().join("events"));
    let (audit, events) = (audit.to_str().unwrap().to_owned(), events.to_str().unwrap().to_owned());
    let inputs: Vec<String> = forms().iter().map(|form| form.shell("rm -rf build")).collect();
    let broken = "broken".to_owned();
    std::thread::scope(|scope| {
        for input in inputs.iter().chain([&broken]) {
            let (audit, events) = (&audit, &events);
            scope.spawn(move || play(&["hook", "--audit", audit, "--events", events], input));
        }
    });
    let verified = play(&["verify", &audit], "");
    assert_eq!(verified.status, Some(0), "{}", verified.stderr);
    let text = std::fs::read_to_string(&audit).unwrap();
    let dids = |did: &str| text.lines().filter(|line| line.contains(&format!("\"did\":\"{did}\""))).count();
    let denied = forms().iter().filter(|form| form.asks == form.denies).count();
    assert_eq!((dids("marked"), dids("refused")), (inputs.len() - denied, denied + 1), "{text}");
    let requests = std::fs::read_to_string(&events).unwrap();
    assert_eq!(requests.matches("\"policy_request\"").count(), inputs.len(), "{requests}");
    assert!(refused(&play(&["hook", "--events", "-"], &inputs[0])));
    assert!(refused(&play(&["hook", "--audit", "/nowhere/a"], &inputs[0])));
}

/// Each of these would let the call run, if it counted as an event without a decision.
#[test]
fn the_input_of_another_harness_than_the_named_one_blocks_the_call() {
    for form in forms() {
        let input = form.shell("rm -rf build");
        for named in ["claude", "codex", "gemini", "qwen", "copilot", "opencode", "cline", "cursor"] {
            if named == form.harness {
                continue;
            }
            let played = play(&["hook", "--for", named], &input);
            let stopped = match form.harness {
                "cline" => played.records()[0]["cancel"] == true,
                _ => refused(&played),
            };
            assert!(stopped, "{} for {named}: {:?} {}", form.harness, played.lines, played.stderr);
            assert!(played.stderr.contains("--for") || form.harness == "cline", "{}", played.stderr);
        }
    }
    // Nothing but the event's name tells whose it is.
    let bare = json!({"session_id": "s", "transcript_path": "t", "timestamp": "t", "hook_event_name": "PreToolUse"});
    assert!(refused(&play(&["hook", "--for", "gemini"], &bare.to_string())));
}

#[test]
fn an_input_with_the_keys_of_two_harnesses_is_refused() {
    for (harness, key, value) in [
        ("gemini", "turn_id", json!("t")),
        ("gemini", "cursor_version", json!("2")),
        ("gemini", "hookName", json!("tool_call")),
        ("opencode", "toolName", json!("bash")),
        ("cursor", "clineVersion", json!("3")),
        ("claude", "toolArgs", json!({})),
        ("cline", "hook_event_name", json!("PreToolUse")),
        ("cline", "tool_name", json!("Bash")),
        ("copilot", "tool_input", json!({})),
    ] {
        let form = forms().into_iter().find(|form| form.harness == harness).unwrap();
        let mut input: Value = serde_json::from_str(&form.shell("ls")).unwrap();
        input[key] = value;
        let played = play(&["hook"], &input.to_string());
        assert!(refused(&played), "{harness} {key}: {:?}", played.lines);
        let played = play(&["hook", "--for", harness], &input.to_string());
        assert!(refused(&played) || played.lines.concat().contains("cancel"), "{harness} {key}: {:?}", played.lines);
    }
}

#[test]
fn a_long_input_is_not_repeated_in_a_message() {
    let long = "A".repeat(3000);
    let claude = |event: &str, tool: &Value| {
        json!({"session_id": "s", "hook_event_name": event, "tool_name": tool, "tool_input": {}}).to_string()
    };
    for input in [claude(&long, &json!("Bash")), claude("PreToolUse", &json!({ long.clone(): 1 })), {
        format!("{{\"{long}\":1,\"{long}\":2}}")
    }] {
        let played = play(&["hook"], &input);
        assert!(!played.stderr.is_empty() && played.stderr.len() < 400, "{}", played.stderr.len());
    }
    let denied = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {long.clone(): 1, long.to_lowercase(): 2}});
    assert!(play(&["hook"], &denied.to_string()).lines.concat().len() < 600);
    let unknown = claude("PreToolUse", &json!(long));
    assert!(play(&["hook"], &unknown).lines.concat().len() < 600);
}

#[cfg(unix)]
#[test]
fn an_answer_that_is_lost_blocks_the_call() {
    let input = forms()[0].shell("rm -rf build");
    for to in [">/dev/null", ">&-", ">/dev/full"] {
        if to == ">/dev/full" && !std::path::Path::new("/dev/full").exists() {
            continue;
        }
        let program = command("policy-check").get_program().to_owned();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("\"$0\" hook {to}")]).arg(program);
        let output = pipe(&mut shell, input.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{to}");
        assert!(!output.stderr.is_empty(), "{to}");
    }
}

#[test]
fn an_empty_rules_file_blocks_the_call() {
    let rules = tempfile::NamedTempFile::new().unwrap();
    for (text, is_refused) in [("", true), (" \n", true), ("# None.\n", false)] {
        std::fs::write(rules.path(), text).unwrap();
        let played = play(&["hook", "--rules", rules.path().to_str().unwrap()], &forms()[0].shell("ls"));
        assert_eq!(refused(&played), is_refused, "{text:?}: {}", played.stderr);
    }
}

/// A harness that runs only the program of the hook takes any other exit status for a failure that lets the call run.
#[test]
fn the_gate_in_a_pipe_refuses_the_input_of_a_hook() {
    let input = forms()[0].shell("ls");
    let huge = forms()[0].shell(&"a".repeat(5 << 20));
    for input in [input.clone(), format!("{input}\n"), input[..input.len() - 1].to_owned(), huge] {
        let played = play(&[], &input);
        assert!(refused(&played) && played.stderr.contains("policy-check hook"), "{:?}", played.lines);
    }
    let call = json!({"tool": "note", "args": {"text": "hook_event_name"}}).to_string();
    let passed = play(&[], &call);
    assert!(passed.status == Some(0) && passed.lines.concat().contains("hook_event_name"), "{}", passed.stderr);
}
