//! Rules for the session that allow a tool on one origin, or on the files below one folder.

use super::approvers::{Client, Place, decided, decision, hold, read};
use super::{PROMPT, json};
use crate::process::{Talk, binary};
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::Path;
use tempfile::TempDir;

/// Answers the next question, and gives it.
fn answer(from: &mut BufReader<UnixStream>, to: &mut UnixStream, how: &Value) -> Value {
    let asked = loop {
        let record = read(from);
        if record["status"] == "waiting_human" {
            break record;
        }
    };
    let mut answer = json!({"type": "hitl_response", "call_id": asked["call_id"], "nonce": asked["nonce"]});
    answer.as_object_mut().unwrap().extend(how.as_object().unwrap().clone());
    writeln!(to, "{answer}").unwrap();
    asked
}

fn approve() -> Value {
    json!({"action": "approve"})
}

/// The offered rule that has this text.
fn offer(asked: &Value, part: &str) -> Option<String> {
    let mut offers = asked["rule_offers"].as_array().into_iter().flatten().map(|offer| offer.as_str().unwrap());
    offers.find(|offer| offer.contains(part)).map(str::to_owned)
}

/// Both gates around a world that answers each call that reaches it with the next of these.
fn gates(client: &Client, answers: &[Value]) -> Talk {
    let script = r#"for answer; do read -r call; printf '%s\n' "$answer"; done; exec cat >/dev/null"#;
    let mut gates = client.place.command(&binary("policy-check"));
    gates.args(["--confirm", "mark", "--"]).arg(binary("hitl-gate")).args(["--", "sh", "-c", script, "sh"]);
    gates.args(answers.iter().map(|data| json!({"id": 1, "tool": "t", "status": "ok", "data": data}).to_string()));
    Talk::start(gates.env("PIPEWRIGHT_APPROVALS", client.path()))
}

fn click(index: u32) -> Value {
    json!({"id": 1, "tool": "browser_overlay_act", "args": {"index": index}})
}

#[test]
fn an_origin_is_allowed_as_the_world_tells_it_and_not_as_the_caller_claims() {
    let items = json!(["1 link Next page", "2 button Delete account", "3 button Delete this ad"]);
    let list = |snapshot: &str, origin: &str, others: &Value| json!({"snapshot_id": snapshot, "origin": origin, "other_origins": others, "items": items});
    let same = json!({"changed": false, "nav_type": "none"});
    let client = Client::listen();
    let (shop, evil) = ("https://shop.example", "https://shop.example.evil.example");
    let mut gate = gates(
        &client,
        &[
            list("s1.1", shop, &json!({"https://ads.example": [3]})),
            same.clone(),
            same.clone(),
            same.clone(),
            same.clone(),
            list("s2.2", evil, &json!({})),
            same.clone(),
            list("s3.3", evil, &json!({shop: [1]})),
            same,
        ],
    );
    let look = json!({"id": 1, "tool": "browser_list_interactives"}).to_string();
    gate.ask(&look);
    hold(&mut gate, &click(2).to_string());
    let (mut from, mut to) = client.accept();
    let rule = "tool = \"browser_overlay_act\"\ntarget = { origin = \"https://shop.example\" }";
    let asked = answer(&mut from, &mut to, &json!({"action": "approve", "scope": "session", "rule": rule}));
    assert_eq!(asked["target"]["origin"], shop);
    assert_eq!(offer(&asked, "origin").as_deref(), Some(rule));
    assert_eq!(json(&gate.receive())["status"], "approved");
    gate.receive();
    // The same origin passes.
    assert_eq!(json(&gate.ask(&click(2).to_string()))["status"], "approved");
    gate.receive();
    let mut held = |gate: &mut Talk, call: &Value, origin: &Value| {
        hold(gate, &call.to_string());
        let asked = answer(&mut from, &mut to, &approve());
        assert_eq!(&asked["target"]["origin"], origin, "{asked}");
        assert_eq!(json(&gate.receive())["status"], "approved");
        gate.receive();
    };
    // Nor in a frame of another origin, where the focus is, or between two frames.
    held(&mut gate, &click(3), &"https://ads.example".into());
    let drag = json!({"id": 1, "tool": "browser_drag", "args": {"from": 2, "to": 3}});
    held(&mut gate, &drag, &Value::Null);
    gate.ask(&look);
    held(&mut gate, &click(2), &evil.into());
    gate.ask(&look);
    // The caller names an element and an origin; no list has shown the element.
    let mut claimed = click(99);
    claimed["target"] = json!({"role": "button", "name": "Next page", "origin": shop, "snapshot_id": "s1"});
    held(&mut gate, &claimed, &Value::Null);
}

#[test]
fn no_payment_is_allowed_on_an_origin() {
    let items = json!(["1 button Delete account", "2 button Pay now"]);
    let client = Client::listen();
    let list = json!({"snapshot_id": "s1.1", "origin": "https://shop.example", "items": items});
    let mut gate = gates(&client, &[list, json!({"changed": false, "nav_type": "none"})]);
    gate.ask(&json!({"id": 1, "tool": "browser_list_interactives"}).to_string());
    hold(&mut gate, &click(1).to_string());
    let (mut from, mut to) = client.accept();
    let rule = "tool = \"browser_overlay_act\"\ntarget = { origin = \"https://shop.example\" }";
    answer(&mut from, &mut to, &json!({"action": "approve", "scope": "session", "rule": rule}));
    gate.receive();
    gate.receive();
    hold(&mut gate, &click(2).to_string());
    assert_eq!(answer(&mut from, &mut to, &approve())["rule_offers"], Value::Null);
}

#[test]
fn in_a_pipe_nothing_tells_the_origin() {
    let call = json!({"id": 1, "tool": "browser_click", "args": {"ref": "e1"},
        "target": {"role": "button", "name": "Delete account", "origin": "https://shop.example"}});
    let output = crate::process::pipe(&mut crate::process::command("policy-check"), format!("{call}\n").as_bytes());
    let marked = json(crate::process::text(&output.stdout).lines().last().unwrap());
    assert_eq!(marked["target"], json!({"role": "button", "name": "Delete account"}));
}

/// A project with a folder of sources, in which links lead out of it.
fn project() -> TempDir {
    let folder = tempfile::Builder::new().prefix("project").tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["src/ui", "secret", "srcs"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    symlink(at("secret"), at("src/link")).unwrap();
    symlink(at("secret/none"), at("src/nowhere")).unwrap();
    symlink("loop", at("src/loop")).unwrap();
    folder
}

fn write(id: u64, arguments: &Value) -> String {
    json!({"id": id, "tool": "write_file", "args": arguments, "requires_approval": true}).to_string()
}

#[test]
fn a_folder_is_allowed_and_nothing_that_leads_out_of_it() {
    let project = project();
    let at = |name: &str| project.path().join(name).display().to_string();
    let client = Client::listen();
    let mut gate = client.gate(&[]);
    hold(&mut gate, &write(1, &json!({"path": at("src/a.rs"), "content": "/etc"})));
    let (mut from, mut to) = client.accept();
    let rule = format!("tool = \"write_file\"\nfolder = {:?}", at("src"));
    let asked = answer(&mut from, &mut to, &json!({"action": "approve", "scope": "session", "rule": rule}));
    assert_eq!(offer(&asked, "folder"), Some(rule));
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    gate.receive();
    let mut id = 1;
    for name in ["src/b.rs", "src/new/deep/c.rs", "src/./ui//[id].ts", "src/new/../d.rs", "src/ui/../e.rs"] {
        id += 1;
        gate.say(&write(id, &json!({"path": at(name), "content": "../x", "encoding": "utf-8", "append": true})));
        assert_eq!(decision(&mut gate), decided("approved", "session"), "{name}");
        gate.receive();
    }
    let inside = at("src/b.rs");
    let outside = [
        "src",
        "src/",
        "srcs/a",
        "secret/a",
        "src/../secret/a",
        "src/ui/../../secret/a",
        "src/link/a",
        "src/link",
        "src/link/../a",
        "src/nowhere",
        "src/loop/a",
        "src/.env",
        "src/.git/hooks/pre-commit",
        "SRC/a",
        "src/GIT~1/config",
        "src/..\\..\\x",
        "src/a:b",
        "src/.. /a",
        "src/a\u{200b}b",
        "src/\u{0}a",
    ];
    let paths = outside.iter().map(|name| json!({"path": at(name), "content": ""}));
    let others = [
        json!({"path": "src/b.rs", "content": ""}),
        json!({"path": "~/b.rs", "content": ""}),
        json!({"path": inside, "output": "/etc/passwd"}),
        json!({"path": inside, "output": "passwd"}),
        json!({"path": inside, "unknown": "x"}),
        json!({"paths": [inside, "/etc/passwd"]}),
        json!({"files": [{"path": inside, "content": ""}, {"path": at("secret/a"), "content": ""}]}),
        json!({"path": inside, "options": {"cwd": "/etc"}}),
        json!({"content": "x"}),
        json!({}),
    ];
    for arguments in paths.chain(others) {
        id += 1;
        hold(&mut gate, &write(id, &arguments));
        answer(&mut from, &mut to, &approve());
        assert_eq!(decision(&mut gate), decided("approved", "approver"), "{arguments}");
        gate.receive();
    }
    // Nor another tool, nor a payment.
    for call in [
        write(100, &json!({"path": inside})).replace("write_file", "delete_file"),
        write(101, &json!({"path": inside})).replace("write_file", "pay_invoice"),
    ] {
        hold(&mut gate, &call);
        answer(&mut from, &mut to, &approve());
        decision(&mut gate);
        gate.receive();
    }
}

#[test]
fn no_wide_or_hidden_folder_is_offered() {
    let client = Client::listen();
    let mut gate = client.gate(&[]);
    let home = std::env::var("HOME").unwrap();
    let mut streams = None;
    for (id, path) in (1..).zip([
        "/a.rs",
        "/etc/passwd",
        "/srv/p/.git/config",
        "/srv/.hidden/a",
        "a.rs",
        "",
        &format!("{home}/a.rs"),
        "/srv/p/../../etc/x/y",
    ]) {
        hold(&mut gate, &write(id, &json!({"path": path})));
        let (from, to) = streams.get_or_insert_with(|| client.accept());
        let asked = answer(from, to, &approve());
        assert_eq!(offer(&asked, "folder"), None, "{path}");
        decision(&mut gate);
        gate.receive();
    }
}

#[test]
fn a_person_chooses_what_is_allowed_and_revokes_it() {
    let (project, place) = (project(), Place::new());
    let at = |name: &str| project.path().join(name).display().to_string();
    let audit = place.folder.path().join("audit");
    let mut gate = Talk::start(&mut place.gate(&["--approver", "--audit", audit.to_str().unwrap()]));
    let mut person = place.attach();
    hold(&mut gate, &write(1, &json!({"path": at("src/a.rs")})));
    let shown = person.exp_string(PROMPT).unwrap();
    let folder = format!("a 2  this tool on files below {}", at("src"));
    assert!(shown.contains("a 1  this tool\r\n") && shown.contains(&folder), "{shown}");
    person.send_line("a 9").unwrap();
    person.exp_string("the rules have the numbers 1 to 3").unwrap();
    person.exp_string(PROMPT).unwrap();
    person.send_line("A 2").unwrap();
    person.exp_string(&format!("  | folder = {:?}", at("src"))).unwrap();
    // What is typed before the question stands is no answer to it.
    person.exp_string("back to the call [b]\r\n> ").unwrap();
    person.send_line("b").unwrap();
    person.exp_string(PROMPT).unwrap();
    person.send_line("a 2").unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    gate.receive();
    gate.say(&write(2, &json!({"path": at("src/ui/b.rs")})));
    assert_eq!(decision(&mut gate), decided("approved", "session"));
    gate.receive();
    person.send_line("rules").unwrap();
    person.exp_string("session-1: tool = \"write_file\"  folder = ").unwrap();
    person.send_line("revoke 1").unwrap();
    person.exp_string("revoked: session-1").unwrap();
    hold(&mut gate, &write(3, &json!({"path": at("src/ui/b.rs")})));
    let written = crate::schemas::written(&audit);
    for event in ["\"event\":\"allowed\",\"rule_id\":\"session-1\"", "\"event\":\"revoked\",\"rule_id\":\"session-1\""]
    {
        assert!(written.contains(event), "{written}");
    }
}

#[test]
fn a_hook_knows_the_folder_of_relative_paths() {
    let (project, place) = (project(), Place::new());
    let input = |path: &str| {
        json!({"session_id": "s", "transcript_path": "/t", "cwd": project.path(), "prompt_id": "p",
            "permission_mode": "default", "hook_event_name": "PermissionRequest", "tool_name": "Write",
            "tool_input": {"file_path": path, "content": "x"}})
        .to_string()
    };
    let mut person = place.attach();
    let ask = |path: &str| crate::process::pipe(&mut place.gate(&["hook"]), input(path).as_bytes());
    let is_allowed = |output: &std::process::Output| crate::process::text(&output.stdout).contains("\"allow\"");
    let mut asked = |path: &str, line: &str| {
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| ask(path));
            person.exp_string(PROMPT).unwrap();
            person.send_line(line).unwrap();
            is_allowed(&asked.join().unwrap())
        })
    };
    assert!(asked("src/a.rs", "a 2"));
    assert!(is_allowed(&ask("src/ui/b.rs")) && is_allowed(&ask(Path::new("./src/c.rs").to_str().unwrap())));
    for path in ["a.rs", "src/../a.rs", "src/link/a", "/etc/passwd"] {
        assert!(!asked(path, "n"), "{path}");
    }
}
