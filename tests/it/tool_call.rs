//! `tool-call`: one call from a shell, to a world that is started for it or to one that a session keeps running. The world is
//! `mcp-pipe` with the stand-in server.

#[cfg(feature = "browser")]
mod browser;
mod isolation;

use crate::process::{PATIENCE, binary, command, eventually, example, is_running, pipe, text, with_a_person};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder for the sessions of one test, and the files of its server. Processes that still run at the end are ended.
struct Home(TempDir);

/// A finished run.
#[derive(Debug)]
struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    #[track_caller]
    fn record(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"))
    }

    #[track_caller]
    fn assert_refused(&self, status: i32, expected: &str) {
        assert_eq!((self.status, self.stdout.as_str()), (Some(status), ""), "{self:?}");
        assert!(self.stderr.starts_with("tool-call: ") && self.stderr.contains(expected), "{self:?}");
    }
}

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut call = command("tool-call");
        let path = format!("{}:{}", binary("").display(), std::env::var("PATH").unwrap());
        call.args(arguments).env("XDG_RUNTIME_DIR", self.0.path()).env("PATH", path).current_dir(self.0.path());
        call.stdin(Stdio::null());
        call
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> Ran {
        let output = pipe(&mut self.command(arguments), b"");
        Ran { status: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// The same with the stand-in server.
    #[track_caller]
    fn run_world(&self, arguments: &[&str], server: &[&str]) -> Ran {
        let program = example("stand-in-server");
        let world = ["--", "mcp-pipe", "--", program.to_str().unwrap()];
        self.run(&[arguments, &world, server].concat())
    }

    fn call(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["--session", "shop"], arguments].concat())
    }

    #[track_caller]
    fn start(&self, options: &[&str], server: &[&str]) {
        let started = self.run_world(&[&["--start", "shop", "--detach"], options].concat(), server);
        assert_eq!(started.status, Some(0), "{started:?}");
        assert!(started.stderr.starts_with("tool-call: session 'shop' is running; tools: "), "{started:?}");
    }

    /// What a server with `log=` has received.
    fn server_log(&self) -> String {
        std::fs::read_to_string(self.0.path().join("server.log")).unwrap_or_default()
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("pipewright/tool-call-shop")
    }

    /// Its process, which is written down a moment after the session accepts calls.
    fn pid(&self) -> i32 {
        let mut pid = None;
        eventually("its process is known", || {
            let about = std::fs::read(self.folder().join("about.json")).unwrap_or_default();
            pid = serde_json::from_slice(&about).ok().and_then(|about: Value| about["pid"].as_i64());
            pid.is_some()
        });
        pid.unwrap() as i32
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for line in text(&self.command(&["--sessions"]).output().unwrap().stdout).lines() {
            let _ = self.command(&["--stop", line.split('\t').next().unwrap()]).output();
        }
    }
}

#[test]
fn one_call_prints_its_record_in_a_pipe_and_its_text_on_request() {
    let home = Home::new();
    let ran = home.run_world(&["echo", "message=hi", "n=1.10"], &["echo"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.contains(r#""structuredContent":{"message":"hi","n":1.10}"#), "{ran:?}");
    assert_eq!(ran.record()["type"], "tool_result");
    let ran = home.run_world(&["--text", "echo", "message=hi"], &["echo"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), "echo\n"));
    let ran = home.run_world(&["image", "--text"], &["echo"]);
    assert_eq!(ran.stdout, "[image image/png: 3000 bytes]\n");
}

#[test]
fn a_terminal_gets_text_without_control_characters() {
    let home = Home::new();
    let line = r#"line={"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\u001b[2Jb\nc"}]}}"#;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", r#""$@"; echo status $?"#, "sh"])
        .arg(binary("tool-call"))
        .args(["say", line, "--", "mcp-pipe", "--"]);
    shell.arg(example("stand-in-server")).arg("echo").env("XDG_RUNTIME_DIR", home.0.path());
    let path = format!("{}:{}", binary("").display(), std::env::var("PATH").unwrap());
    shell.env("PATH", path).env("TERM", "xterm");
    let mut terminal = with_a_person(shell);
    let shown = terminal.exp_eof().unwrap();
    assert!(shown.contains("a?[2Jb\r\nc\r\nstatus 0"), "{shown:?}");
}

#[test]
fn arguments_come_from_files_stdin_and_json() {
    let home = Home::new();
    std::fs::write(home.0.path().join("page.html"), "<p>\n\"3\"").unwrap();
    let mut call = home.command(&["echo", "html=@page.html", "text=@-", "--", "mcp-pipe", "--"]);
    let output = pipe(call.arg(example("stand-in-server")).arg("echo"), b"from stdin\n");
    let given = r#""structuredContent":{"html":"<p>\n\"3\"","text":"from stdin\n"}"#;
    assert!(text(&output.stdout).contains(given), "{}", text(&output.stdout));
    let ran = home.run_world(&["echo", "--json", "{\"n\":1.10,\n\"names\": [\"x\"]}"], &["echo"]);
    assert!(ran.stdout.contains(r#""structuredContent":{"n":1.10,"names":["x"]}"#), "{ran:?}");
}

#[test]
fn wrong_usage_starts_nothing() {
    let home = Home::new();
    for (arguments, expected) in [
        (&["echo", "a=@missing", "--", "touch", "started"][..], "a=@missing: No such file"),
        (&["echo", "--json", "{\"a\":", "--", "touch", "started"], "--json: not JSON"),
        (&["echo", "--json", "[1]", "--", "touch", "started"], "--json: arguments are a JSON object"),
        (&["echo", "--json", r#"{"a":1,"a":2}"#, "--", "touch", "started"], "twice"),
        (&["echo", "cat", "--", "touch", "started"], "'cat' is not KEY=VALUE"),
        (&["echo", "a=@-", "b=@-", "--", "touch", "started"], "stdin can be read only once"),
        (&["echo"], "which world?"),
        (&["--list"], "which world?"),
    ] {
        home.run(arguments).assert_refused(2, expected);
    }
    for arguments in [
        &["--start", "a/b", "--", "touch", "started"][..],
        &["--start", "..", "--", "touch", "started"],
        &["--start", "", "--", "touch", "started"],
        &["--start", "shop"],
        &["--session", "shop", "echo", "--", "touch", "started"],
        &["--list", "echo", "--", "touch", "started"],
        &["--idle-timeout", "1m", "echo", "--", "touch", "started"],
        &["--list", "--json", "{}", "--", "touch", "started"],
        &["--detach", "echo", "--", "touch", "started"],
        &["--stop", "a/b"],
        &["echo", "--json", "{}", "a=1", "--", "touch", "started"],
        &[],
    ] {
        assert_eq!(home.run(arguments).status, Some(2), "{arguments:?}");
    }
    assert!(!home.0.path().join("started").exists() && !home.folder().exists());
}

#[test]
fn a_call_that_fails_is_1_and_a_world_that_does_not_answer_3_or_4() {
    let home = Home::new();
    let ran = home.run_world(&["fail"], &["echo"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(1), "tool-call: tool_error: no such page\n"));
    assert_eq!(ran.record()["kind"], "tool_error");
    let ran = home.run_world(&["--text", "fail"], &["echo"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    home.run(&["x", "--", "no-such-program"]).assert_refused(3, "cannot start no-such-program");
    home.run(&["x", "--", "cat"]).assert_refused(3, "it echoes its input");
    home.run(&["x", "--", "sh", "-c", "exit 3"]).assert_refused(3, "the world did not start: exit status 3");
    home.run(&["x", "--", "sh", "-c", "read -r line; exit 5"]).assert_refused(4, "the world ended: exit status 5");
    let script = r#"read -r line; echo '{"type":"status","status":"running","call_id":1}'; exit 3"#;
    home.run(&["x", "--", "sh", "-c", script]).assert_refused(4, "the world ended: exit status 3");
    home.run(&["x", "--", "sh", "-c", "exec >&-; sleep 60"]).assert_refused(4, "closed its stdout");
    let ran = home.run(&["x", "--", "mcp-pipe", "--", "no-such-program"]);
    assert!(ran.status == Some(3) && ran.stderr.contains("tool-call: start_failed: "), "{ran:?}");
}

#[test]
fn a_full_disk_is_1_and_a_reader_that_goes_a_quiet_end() {
    let home = Home::new();
    home.start(&[], &["echo"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = home.command(&["--session", "shop", "echo"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(
        (output.status.code(), text(&output.stderr).starts_with("tool-call: stdout: No space left")),
        (Some(1), true)
    );
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = home.command(&["--session", "shop", "echo"]).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn the_world_is_ended_by_a_signal_too() {
    let home = Home::new();
    let mut call = home.spawn(&["x", "--", "sh", "-c", "echo $$ >pid; read -r line; sleep 60"]);
    let mut world = 0;
    eventually("the world runs", || {
        world = std::fs::read_to_string(home.0.path().join("pid"))
            .ok()
            .and_then(|pid| pid.trim().parse().ok())
            .unwrap_or(0);
        world > 0
    });
    kill(Pid::from_raw(call.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&call.wait().unwrap()), Some(15));
    assert!(!is_running(world));
}

#[test]
fn the_list_is_a_table_with_arguments() {
    let home = Home::new();
    let ran = home.run_world(&["--list"], &["echo"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let row = "\necho            Says it again\n                [message=string] [names=string[]]\n";
    assert!(ran.stdout.contains(row), "{}", ran.stdout);
    home.start(&[], &["echo"]);
    assert_eq!(home.call(&["--list"]).stdout, ran.stdout, "a session has the same");
    let list = home.call(&["--list", "--json-out"]).record();
    assert_eq!((&list["type"], &list["tools"][0]["name"]), (&Value::from("tool_list"), &Value::from("ask")));
}

#[test]
fn a_session_keeps_its_state_between_calls_and_ends_once() {
    let home = Home::new();
    let count = format!("count={}", home.0.path().join("count").display());
    home.start(&[], &["echo", &count]);
    for expected in 1..4 {
        assert_eq!(home.call(&["count"]).record()["result"]["structuredContent"]["count"], expected);
    }
    let sessions = home.run(&["--sessions"]).stdout;
    assert!(
        sessions.starts_with(&format!("shop\t{}\t", home.pid())) && sessions.contains("\tmcp-pipe -- "),
        "{sessions}"
    );
    let again = home.run(&["--start", "shop", "--", "mcp-pipe", "--", "x"]);
    again.assert_refused(2, "session 'shop' is already running");
    let pid = home.pid();
    let stopped = home.run(&["--stop", "shop"]);
    assert_eq!((stopped.status, stopped.stderr.as_str()), (Some(0), ""));
    assert!(!is_running(pid) && !home.folder().exists(), "it waits for the end");
    home.run(&["--stop", "shop"]).assert_refused(3, "session 'shop' is not running");
    home.call(&["count"]).assert_refused(3, "session 'shop' is not running");
    assert_eq!(home.run(&["--sessions"]).stdout, "");
}

#[test]
fn several_shells_call_one_session_and_each_has_its_own_answer() {
    let home = Home::new();
    let program = example("stand-in-server");
    let world = ["--", "mcp-pipe", "-j", "8", "--unordered", "--", program.to_str().unwrap(), "echo"];
    assert_eq!(home.run(&[&["--start", "shop", "--detach"], &world[..]].concat()).status, Some(0));
    std::thread::scope(|scope| {
        for shell in 0..8 {
            let home = &home;
            scope.spawn(move || {
                for call in 0..10 {
                    let message = format!("message=\"{shell}-{call}\"");
                    let record = home.call(&["echo", &message]).record();
                    assert_eq!(record["result"]["structuredContent"]["message"], format!("{shell}-{call}"));
                    assert_eq!(record["call_id"], 1, "the caller's own id");
                }
            });
        }
    });
}

#[test]
fn lines_of_any_form_pass_through_the_socket_with_their_own_ids() {
    use std::io::{BufRead, BufReader, Write};
    let home = Home::new();
    home.start(&[], &["echo"]);
    let mut socket = UnixStream::connect(home.folder().join("socket")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let lines = [
        (r#"{"tool":"echo","id":"a"}"#, r#"{"tool":"echo","status":"ok""#, r#""id":"a""#),
        (
            r#"{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"echo"}}"#,
            r#"{"jsonrpc":"2.0","#,
            r#""id":1.0"#,
        ),
        (r#"{"type":"tool_call","tool_name":"echo"}"#, r#"{"type":"tool_result","status":"ok""#, ""),
        (r#"{"tool":"echo","tool":"fail"}"#, "{", r#""kind":"bad_input""#),
        (r#"{"type":"list_tools","request_id":{"x":1}}"#, r#"{"type":"tool_list","#, r#""request_id":{"x":1}"#),
    ];
    let mut answers = BufReader::new(socket.try_clone().unwrap()).lines();
    for (line, begins, has) in lines {
        socket.write_all(format!("{line}\n").as_bytes()).unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.contains(has), "{line}: {answer}");
        let fields = |json: &str| json.trim_start_matches('{').split(',').next().unwrap_or_default().to_owned();
        assert!(answer.contains(&fields(begins)), "{line}: {answer}");
    }
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(answers.next().is_none(), "who has everything is disconnected");
}

#[test]
fn the_calls_of_a_killed_client_are_cancelled_and_others_continue() {
    let home = Home::new();
    let log = format!("log={}", home.0.path().join("server.log").display());
    home.start(&[], &["echo", &log]);
    let mut killed = home.spawn(&["--session", "shop", "sleep", "seconds=600"]);
    eventually("the server has the call", || home.server_log().contains("\"sleep\""));
    killed.kill().unwrap();
    killed.wait().unwrap();
    eventually("it is cancelled", || home.server_log().contains("notifications/cancelled"));
    assert_eq!(home.call(&["echo"]).status, Some(0));
}

#[test]
fn a_killed_session_is_detected_and_its_name_can_be_used_again() {
    let home = Home::new();
    let log = format!("log={}", home.0.path().join("server.log").display());
    home.start(&[], &["echo", &log]);
    let mut waiting = home.spawn(&["--session", "shop", "sleep", "seconds=600"]);
    eventually("the server has the call", || home.server_log().contains("\"sleep\""));
    kill(Pid::from_raw(home.pid()), Signal::SIGKILL).unwrap();
    let status = waiting.wait().unwrap();
    assert_eq!(status.code(), Some(4));
    home.call(&["echo"]).assert_refused(3, "session 'shop'");
    home.start(&[], &["echo"]);
    assert_eq!(home.call(&["echo"]).status, Some(0));
    kill(Pid::from_raw(home.pid()), Signal::SIGKILL).unwrap();
    eventually("it is no longer listed", || home.run(&["--sessions"]).stdout.is_empty());
    assert!(!home.folder().exists(), "what it left is removed");
}

#[test]
fn a_world_that_dies_ends_the_session_and_the_next_call_says_why() {
    let home = Home::new();
    let script = r#"while read -r line; do case $line in *list_tools*)
        echo '{"type":"tool_list","request_id":1,"tools":[{"name":"x"}]}';; *) echo out of memory >&2; exit 7;; esac; done"#;
    assert_eq!(home.run(&["--start", "shop", "--detach", "--", "sh", "-c", script]).status, Some(0));
    home.call(&["x"]).assert_refused(4, "ended before it answered");
    eventually("it says why", || {
        let ran = home.call(&["x"]);
        ran.status == Some(3) && ran.stderr.contains("has ended: tool-call: the world ended: exit status 7")
    });
    assert!(std::fs::read_to_string(home.folder().join("log")).unwrap().starts_with("out of memory\n"));
    home.start(&[], &["echo"]);
}

#[test]
fn a_world_that_closes_its_stdout_ends_the_session() {
    let home = Home::new();
    let script = r#"read -r line; echo '{"type":"tool_list","request_id":1,"tools":[{"name":"x"}]}'; read -r line; exec >&-; sleep 60"#;
    assert_eq!(home.run(&["--start", "shop", "--detach", "--", "sh", "-c", script]).status, Some(0));
    let pid = home.pid();
    home.call(&["x"]).assert_refused(4, "ended before it answered");
    eventually("it has ended", || !is_running(pid));
    home.call(&["x"]).assert_refused(3, "the world closed its stdout but did not end");
}

#[test]
fn a_world_that_does_not_start_is_reported_with_its_log() {
    let home = Home::new();
    for (world, status, expected) in [
        (&["no-such-program"][..], 3, "cannot start no-such-program"),
        (&["mcp-pipe", "--no-such-option"], 3, "unexpected argument '--no-such-option'"),
        (&["mcp-pipe", "--", "no-such-program"], 3, "shop: mcp-pipe: cannot start no-such-program"),
        (&["sh", "-c", "echo no licence >&2; exit 9"], 4, "shop: no licence"),
        (&["cat"], 3, "it echoes its input"),
    ] {
        home.run(&[&["--start", "shop", "--detach", "--"], world].concat()).assert_refused(status, expected);
        assert!(!home.folder().exists(), "{world:?}");
    }
}

#[test]
fn an_interrupted_start_leaves_nothing() {
    let home = Home::new();
    let mut start = home.spawn(&["--start", "shop", "--detach", "--", "sh", "-c", "sleep 600"]);
    eventually("it has begun", || home.folder().join("about.json").exists());
    let pid = home.pid();
    kill(Pid::from_raw(start.id() as i32), Signal::SIGINT).unwrap();
    start.wait().unwrap();
    eventually("the background process has ended", || !is_running(pid));
    assert!(!home.folder().exists());
}

#[test]
fn an_idle_session_ends_by_itself_but_not_in_the_middle_of_a_call() {
    let home = Home::new();
    home.start(&["--idle-timeout", "3s"], &["echo"]);
    let pid = home.pid();
    let begun = Instant::now();
    assert_eq!(home.call(&["--text", "sleep", "seconds=4"]).stdout, "rested\n");
    assert!(begun.elapsed() >= Duration::from_secs(4));
    eventually("it ends", || !is_running(pid));
    assert!(!home.folder().exists());
}

#[test]
fn a_session_ends_with_the_session_of_its_owner_unless_it_is_detached() {
    let home = Home::new();
    let server = example("stand-in-server");
    for (option, stays) in [("--idle-timeout=1h", false), ("--detach", true)] {
        let script = format!("tool-call --start shop {option} -- mcp-pipe -- {} echo; read -r line", server.display());
        let mut owner = Command::new("setsid");
        owner.args(["--wait", "sh", "-c", &script]).env("XDG_RUNTIME_DIR", home.0.path()).stdin(Stdio::piped());
        let path = format!("{}:{}", binary("").display(), std::env::var("PATH").unwrap());
        let mut owner = owner.env("PATH", path).stderr(Stdio::null()).spawn().unwrap();
        eventually("it runs", || home.call(&["echo"]).status == Some(0));
        let pid = home.pid();
        drop(owner.stdin.take());
        owner.wait().unwrap();
        if stays {
            std::thread::sleep(Duration::from_millis(1500));
            assert_eq!(home.call(&["echo"]).status, Some(0));
        } else {
            eventually("it ends with its owner", || !is_running(pid) && !home.folder().exists());
        }
    }
}

#[test]
fn a_gate_in_a_session_decides_without_asking() {
    let home = Home::new();
    let program = example("stand-in-server");
    let world = ["--", "policy-check", "--", "hitl-gate", "--", "mcp-pipe", "--", program.to_str().unwrap(), "echo"];
    assert_eq!(home.run(&[&["--start", "shop", "--detach"], &world[..]].concat()).status, Some(0));
    let ran = home.call(&["run_command", "command=rm -rf /tmp/x"]);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert_eq!(ran.record()["kind"], "rejected", "{ran:?}");
}

#[test]
fn everything_is_accessible_to_its_owner_only() {
    let home = Home::new();
    let script = format!(
        "umask 000; exec {} --start shop --detach -- mcp-pipe -- {} echo",
        binary("tool-call").display(),
        example("stand-in-server").display()
    );
    let mut shell = Command::new("sh");
    let path = format!("{}:{}", binary("").display(), std::env::var("PATH").unwrap());
    shell.args(["-c", &script]).env("XDG_RUNTIME_DIR", home.0.path()).env("PATH", path);
    assert_eq!(pipe(&mut shell, b"").status.code(), Some(0));
    for (name, mode) in [("", 0o700), ("socket", 0o600), ("log", 0o600), ("about.json", 0o600)] {
        let found = std::fs::metadata(home.folder().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{name}");
    }
    std::fs::set_permissions(home.0.path().join("pipewright"), std::fs::Permissions::from_mode(0o755)).unwrap();
    home.call(&["echo"]).assert_refused(3, "is not a folder that only you can access");
    std::fs::set_permissions(home.0.path().join("pipewright"), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_path_that_is_too_long_for_a_socket_is_reported() {
    let home = Home::new();
    let name = "n".repeat(100);
    home.run(&["--start", &name, "--", "cat"]).assert_refused(2, "has at most 107 bytes");
}
