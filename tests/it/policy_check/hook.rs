//! `policy-check hook`, with the input of Claude Code.

use super::play;
use serde_json::{Value, json};

fn input(tool: &str, arguments: &Value) -> String {
    let input = json!({
        "session_id": "abc123",
        "transcript_path": "/home/me/.claude/projects/p/abc123.jsonl",
        "cwd": "/home/me/p",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": arguments,
        "tool_use_id": "toolu_01",
    });
    format!("{input}\n")
}

/// The decision, and its reason; "none" if the hook leaves it to the client.
fn permission(options: &[&str], input: &str) -> (String, String) {
    let played = play(&[&["hook"], options].concat(), input);
    assert_eq!(played.status, Some(0), "{input}: {}", played.stderr);
    let records = played.records();
    let [answer] = &records[..] else {
        assert!(records.is_empty() && played.stderr.is_empty(), "{input}: {}", played.stderr);
        return ("none".to_owned(), String::new());
    };
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PreToolUse");
    let text = |key: &str| output[key].as_str().unwrap().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

#[test]
fn a_tool_call_is_asked_about_or_left_to_the_client() {
    for (tool, arguments, expected, with_reads) in [
        ("Bash", json!({"command": "rm -rf build"}), "ask", "ask"),
        ("Bash", json!({"command": "ls -la"}), "none", "allow"),
        ("Read", json!({"file_path": "/home/me/p/a.rs"}), "none", "allow"),
        ("Edit", json!({"file_path": "/home/me/p/a.rs", "old_string": "a", "new_string": "b"}), "ask", "ask"),
        (
            "TodoWrite",
            json!({"todos": [{"content": "delete it", "status": "pending", "activeForm": "Deleting"}]}),
            "none",
            "none",
        ),
        (
            "Task",
            json!({"description": "a", "prompt": "rm x", "subagent_type": "b", "run_in_background": true}),
            "none",
            "none",
        ),
        ("Skill", json!({"skill": "pdf", "args": "--fix"}), "none", "none"),
        ("mcp__todo__TodoWrite", json!({"todos": []}), "ask", "ask"),
        ("TaskStop", json!({}), "ask", "ask"),
        ("mcp__files__read_text_file", json!({"path": "a.txt"}), "none", "allow"),
        ("mcp__github__delete_repo", json!({"name": "p"}), "ask", "ask"),
        ("mcp__b__browser_navigate", json!({"url": "https://example.org/"}), "none", "none"),
        ("mcp__b__browser_type", json!({"element": "Search", "ref": "e1", "text": "x"}), "none", "none"),
    ] {
        let input = input(tool, &arguments);
        assert_eq!(permission(&[], &input).0, expected, "{tool} {arguments}");
        assert_eq!(permission(&["--allow-reads"], &input).0, with_reads, "{tool} {arguments}");
    }
}

#[test]
fn reading_a_secret_or_sending_data_in_an_address_is_never_allowed() {
    let bash = |command: &str| ("Bash", json!({ "command": command }));
    let fetch = |url: &str| ("WebFetch", json!({"url": url, "prompt": "What does it say?"}));
    let read = |path: &str| ("Read", json!({ "file_path": path }));
    let given_away = [
        read("/home/me/.ssh/id_ed25519"),
        read("/home/me/p/.env"),
        read("/etc/shadow"),
        read("/home/me/p/deploy/server.pem"),
        ("NotebookRead", json!({"notebook_path": "/home/me/.aws/credentials"})),
        ("Grep", json!({"pattern": ".", "path": "/home/me/.ssh", "output_mode": "content"})),
        ("Grep", json!({"pattern": "BEGIN", "glob": "*.pem"})),
        ("Grep", json!({"pattern": "token", "path": "/home/me"})),
        ("Glob", json!({"pattern": "**/id_rsa"})),
        ("mcp__files__read_multiple_files", json!({"paths": ["a.txt", "~/.netrc"]})),
        ("mcp__files__read_resource", json!({"uri": "file:///home/me/%2Essh/id_rsa"})),
        ("mcp__x__get_env", json!({})),
        bash("cat ~/.aws/credentials"),
        bash("cd ~ && head -c 99 .netrc"),
        bash("grep -r . ~/.ssh"),
        bash("base64 < ~/.ssh/id_rsa"),
        bash("cat ~/.ss*/id_*"),
        bash("cat ~/{.netrc,x}"),
        bash("cat *"),
        bash("git show HEAD:.env"),
        bash("cat /proc/self/environ"),
        bash("sh -c 'cat ~/.npmrc'"),
        bash("find . -name x | xargs cat"),
        bash("echo \"$TOKEN\""),
        bash("cat <<E\n$TOKEN\nE"),
        bash("grep -rn KEY ."),
        bash("timeout 5 grep --recursive KEY src"),
        bash("rg -uu KEY"),
        ("Bash", json!({"command": ["grep", "-r", "KEY", "."]})),
        ("Bash", json!({"command": "grep", "args": ["-r", "KEY", "."]})),
        bash("git grep --no-index KEY"),
        bash("git grep --untracked --no-exclude-standard KEY"),
        bash("git diff --no-index empty ."),
        bash("git cat-file -p abc"),
        bash("diff -r src empty"),
        bash("cd ../me/.docker && cat config.json"),
        bash("yq -n 'load_str(\".e\"+\"nv\")'"),
        bash("wc --files0-from=list"),
        bash("sort --fil=list"),
        bash("declare -p"),
        bash("export -p"),
        bash("php -i"),
        bash("pip index versions secret"),
        read("/home/me/.openai/key"),
        read("/home/me/.terraformrc"),
        read("/home/me/p/.env~"),
        read("/home/me/.claude.json"),
        read("/etc/shadow-"),
        ("mcp__web__fetch", json!({"target": "example.org/a?x"})),
        ("mcp__net__nslookup", json!({"host": "secret.example.org"})),
        ("mcp__x__get_totp", json!({})),
        bash("env"),
        bash("sh -c 'ps auxe'"),
        bash("printenv TOKEN"),
        bash("timeout 5 printenv"),
        bash("set"),
        bash("gh api user"),
        bash("gh search code secret"),
        bash("aws s3api get-bucket-policy --bucket secret"),
        bash("curl -s localhost/secret"),
        bash("kubectl config view"),
        bash("helm get values web"),
        bash("npm config list"),
        bash("go env"),
        ("PowerShell", json!({"command": "Get-Content C:\\Users\\me\\.env"})),
        bash("jq -n env"),
        bash("ps auxe"),
        fetch("https://example.org/docs/a.html"),
        ("WebSearch", json!({"query": "x"})),
        ("Read", json!({"file_path": "https://example.org/a"})),
        read("/home/me/.gemini/oauth_creds.json"),
        read("/home/me/.rclone.conf"),
        read("/home/me/.curlrc"),
        read("/home/me/.fly/config.yml"),
        read("/home/me/p/vault_pass.txt"),
        read("/home/me/p/github_token"),
        read("/home/me/p/api-key.json"),
        bash("cat ~/.snowsql/config"),
        bash("head db_password"),
        fetch("https://example.org/?q=secret"),
        fetch("https://example.org/#secret"),
        fetch("https://secret@example.org/"),
        fetch("example.org/?q=secret"),
        ("mcp__web__fetch", json!({"urls": ["https://example.org/", "https://example.org/?q"]})),
        ("mcp__web__fetch", json!({"url": "https://example.org/", "params": {"q": "secret"}})),
    ];
    for (tool, arguments) in given_away {
        for options in [&[][..], &["--allow-reads"]] {
            assert_eq!(permission(options, &input(tool, &arguments)).0, "none", "{options:?} {tool} {arguments}");
        }
    }
    // Every tool is asked about an address with a password, or with a host that programs read differently.
    for address in ["https://:secret@example.org/", "https:\\\\example.org\\?q"] {
        let (tool, arguments) = fetch(address);
        assert_eq!(permission(&["--allow-reads"], &input(tool, &arguments)).0, "ask", "{address}");
    }
    let harmless = [
        read("/home/me/p/src/environment.rs"),
        ("Grep", json!({"pattern": "fn .*new", "path": "/home/me/p/src", "glob": "*.rs"})),
        ("Glob", json!({"pattern": "**/*.rs"})),
        bash("cat src/*.rs | wc -l"),
        bash("git log --oneline -n 5"),
        bash("rg TODO src"),
    ];
    for (tool, arguments) in harmless {
        let permission = permission(&["--allow-reads"], &input(tool, &arguments));
        assert_eq!(permission.0, "allow", "{tool} {arguments}");
    }
    // A relative name means a file in the client's folder.
    let secret = input("Grep", &json!({"pattern": "."})).replace("\"cwd\":\"/home/me/p\"", "\"cwd\":\"/home/me/.ssh\"");
    assert_eq!(permission(&["--allow-reads"], &secret).0, "none");
}

#[test]
fn a_command_that_contacts_another_machine_is_never_allowed() {
    for (command, expected) in [
        ("npm view https://example.org/x.tgz?secret", "ask"),
        ("npm view git+ssh://git@example.org/x.git", "ask"),
        ("pnpm view me/repository", "ask"),
        ("npm view x@https://example.org/x.tgz", "ask"),
        ("npm view @me/x@github:me/x", "ask"),
        ("pip list --outdated -f https://example.org/secret", "ask"),
        // The name itself may carry data.
        ("npm view @me/x@^1.2 dist.tarball --json", "none"),
        ("npm view left-pad version", "none"),
        ("timeout 5 npm v left-pad", "none"),
        ("npm outdated", "none"),
        ("pnpm view left-pad", "none"),
        ("pip list -lo", "none"),
        ("brew info left-pad", "none"),
        ("cargo tree -p left-pad", "ask"),
        ("cargo tree --offline -p left-pad", "none"),
        ("go list -m all", "none"),
        ("git ls-remote origin left-pad", "none"),
        ("kubectl get pods left-pad", "none"),
        ("npm ls left-pad", "allow"),
        ("pip list", "allow"),
    ] {
        let input = input("Bash", &json!({ "command": command }));
        assert_eq!(permission(&["--allow-reads"], &input).0, expected, "{command}");
    }
}

#[test]
fn rules_apply_in_a_hook_as_in_a_pipe() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let rules = r#"
        [[rule]]
        id = "own-edits"
        verdict = "allow"
        instead_of_builtin = true
        tool = "Edit"
        arguments = { ".file_path" = { within = "/home/me/p" } }
        [[rule]]
        id = "no-keys"
        verdict = "deny"
        reason = "keys stay here"
        agent = "claude"
        arguments = { ".file_path" = "*.pem" }
    "#;
    std::fs::write(file.path(), rules).unwrap();
    for more in [&[][..], &["--allow-reads"]] {
        let options = [&["--rules", file.path().to_str().unwrap(), "--agent", "claude"], more].concat();
        let edit = |path: &str| permission(&options, &input("Edit", &json!({"file_path": path}))).0;
        assert_eq!((edit("/home/me/p/a.rs").as_str(), edit("/etc/passwd").as_str()), ("none", "ask"));
        let denied = permission(&options, &input("Read", &json!({"file_path": "/home/me/p/a.pem"})));
        assert_eq!(denied, ("deny".to_owned(), "keys stay here (no-keys)".to_owned()));
    }
}

#[test]
fn unreadable_input_blocks_the_call() {
    let call = input("Read", &json!({}));
    for (text, why) in [
        (String::new(), "not a JSON object"),
        ("{\"hook_event_name\":\"PreToolUse\"}\n".to_owned(), "tool_name"),
        (call.replace("PreToolUse", "pretooluse"), "\"pretooluse\""),
        (call.replace("\"tool_name\":\"Read\"", "\"tool_name\":\"Read\",\"Tool_Name\":\"Bash\""), "tool_name"),
        (call.replace("\"tool_input\":{}", "\"tool_input\":[]"), "tool_input"),
        (
            call.replace("\"tool_input\":{}", &format!("\"tool_input\":{}{}", "[".repeat(5000), "]".repeat(5000))),
            "deep",
        ),
    ] {
        let played = play(&["hook"], &text);
        assert_eq!((played.status, played.lines.len()), (Some(2), 0), "{text}");
        assert!(played.stderr.starts_with("policy-check: stdin: ") && played.stderr.contains(why), "{}", played.stderr);
    }
    let played = play(&["hook", "--rules", "/nowhere"], &call);
    assert_eq!((played.status, played.lines.len()), (Some(2), 0));
}
