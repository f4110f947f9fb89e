//! Processes of the same user that try to answer for the person. Root may read everything, so under root the gate and the attackers run as
//! another user.
#![cfg(target_os = "linux")]

use super::approvers::Place;
use super::{MARKED, SETTLED, json};
use crate::process::{Talk, binary, eventually, example};
use nix::unistd::{Uid, chown, getuid};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A user id that no user of this machine has: its processes have only the usual rights.
const NOBODY: u32 = 65534;

/// A folder whose owner has no special rights, with copies of the programs, which that user could not reach in ours.
struct Field {
    place: Place,
}

impl Field {
    fn new() -> Field {
        let place = Place::new();
        let folder = place.folder.path();
        for program in [binary("hitl-gate"), example("approver"), example("wrap")] {
            std::fs::copy(&program, folder.join(program.file_name().unwrap())).unwrap();
        }
        if getuid().is_root() {
            std::fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
            chown(folder, Some(Uid::from_raw(NOBODY)), None).unwrap();
        }
        Field { place }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.folder.path().join(name)
    }

    /// A program of this folder, run as its owner.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        self.place.around(&mut command);
        command.current_dir(self.place.folder.path());
        if getuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// A gate around a shell script, which plays an attacking world. The caller is timeout(1), which has started the shell that starts the
    /// gate.
    fn gate(&self, before: &str, options: &str, world: &str) -> Talk {
        self.gate_below(&["setsid"], before, options, world)
    }

    /// The same, started by these words.
    fn gate_below(&self, starter: &[&str], before: &str, options: &str, world: &str) -> Talk {
        let world = format!("{world}\ncat\n");
        std::fs::write(self.path("world"), world).unwrap();
        let script = format!("{before} ./hitl-gate --timeout 5 {options} -- sh ./world; exit $?");
        let mut caller = self.command(starter[0]);
        caller.args(&starter[1..]);
        Talk::start(
            caller.args(["timeout", "600", "sh", "-c", &script]).env("PIPEWRIGHT_APPROVALS", self.path("approvals")),
        )
    }

    fn wait_for(&self, socket: &str) {
        eventually("the attacker listens", || self.path(socket).exists());
    }

    /// An approver that no legitimate process has started, which is asked or connects itself.
    fn approver(&self, socket: &str) -> Killed {
        let approver = self.command(self.path("approver")).arg(socket).spawn().unwrap();
        self.wait_for(socket);
        Killed(approver)
    }
}

/// Killed at the end of the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The line after the notice that the call waits.
#[track_caller]
fn answer_of(gate: &mut Talk) -> String {
    let lines = std::iter::repeat_with(|| gate.receive());
    lines.into_iter().find(|line| !line.contains("waiting_human")).unwrap()
}

/// Checks that a call is rejected, and for which reason.
#[track_caller]
fn is_rejected(mut gate: Talk, why: &str) {
    gate.say(MARKED);
    let answer = json(&answer_of(&mut gate));
    assert_eq!(answer["kind"], "rejected", "{answer}");
    gate.close();
    let stderr = gate.end().stderr;
    assert!(stderr.contains(why), "{why} is missing from {stderr}");
}

#[test]
fn only_a_process_that_started_the_gate_may_approve() {
    let field = Field::new();
    let starter = ["setsid", "./approver", "approvals", "--"];
    let mut gate = field.gate_below(&starter, "", "", "true");
    field.wait_for("approvals");
    gate.say(MARKED);
    assert_eq!(json(&answer_of(&mut gate))["status"], "approved");
    assert_eq!(gate.receive(), SETTLED);
    // Nor may a process that descends neither from the gate nor from its caller, such as one that an earlier world has left behind.
    let field = Field::new();
    let _approver = field.approver("approvals");
    is_rejected(field.gate("", "", "true"), "has not started this command");
}

#[test]
fn the_world_cannot_approve_in_place_of_the_client() {
    for start in
        ["./approver approvals &", "(setsid ./approver approvals &)", "(setsid sh -c './approver approvals & exit' &)"]
    {
        let field = Field::new();
        let gate = field.gate("", "", start);
        field.wait_for("approvals");
        // Its parents may have ended by then.
        std::thread::sleep(std::time::Duration::from_millis(200));
        is_rejected(gate, "descends from this command");
    }
}

#[test]
fn a_legitimate_approver_may_listen_where_one_was_refused() {
    let field = Field::new();
    let starter = ["setsid", "./approver", "approvals", "--after", "late", "--"];
    let mut gate = field.gate_below(&starter, "", "", "./approver approvals &");
    field.wait_for("approvals");
    std::thread::sleep(std::time::Duration::from_millis(200));
    gate.say(MARKED);
    assert_eq!(json(&answer_of(&mut gate))["kind"], "rejected");
    std::fs::remove_file(field.path("approvals")).unwrap();
    std::fs::write(field.path("late"), "").unwrap();
    field.wait_for("approvals");
    std::thread::sleep(std::time::Duration::from_millis(200));
    gate.say(&MARKED.replacen('1', "2", 1));
    let passed = SETTLED.replacen('1', "2", 1);
    assert!(std::iter::repeat_with(|| gate.receive()).take(8).any(|line| line == passed));
}

#[test]
fn the_world_cannot_approve_like_an_attached_person() {
    let field = Field::new();
    let socket = "pipewright/approver-$$-00000000/socket";
    let gate = field.gate("unset PIPEWRIGHT_APPROVALS;", "--approver", &format!("(setsid ./approver {socket} &)"));
    eventually("it listens", || {
        let folders = std::fs::read_dir(field.path("pipewright")).into_iter().flatten().flatten();
        folders.into_iter().any(|folder| folder.path().join("socket").exists())
    });
    is_rejected(gate, "descends from this command");
}

#[test]
fn children_of_the_caller_cannot_approve_even_behind_wrappers() {
    let field = Field::new();
    let gate = field.gate("./approver approvals &", "", "true");
    field.wait_for("approvals");
    is_rejected(gate, "which makes the calls");
    let field = Field::new();
    let gate = field.gate("./approver approvals & ./hitl-gate --", "", "true");
    field.wait_for("approvals");
    is_rejected(gate, "which makes the calls");
}

#[test]
fn children_of_the_client_cannot_approve_when_a_script_starts_the_gate() {
    let field = Field::new();
    // A line for each process that xargs starts as its child.
    let lines = "exec timeout 5 ./approver approvals\n./hitl-gate --timeout 3 -- cat; exit $?\n";
    std::fs::write(field.path("lines"), lines).unwrap();
    let mut client = field.command("setsid");
    client.args(["xargs", "-a", "lines", "-P", "2", "-I{}", "sh", "-c", "{}"]);
    let gate = Talk::start(client.env("PIPEWRIGHT_APPROVALS", field.path("approvals")));
    field.wait_for("approvals");
    is_rejected(gate, "which makes the calls");
}

#[test]
fn an_agent_under_a_wrapper_without_a_parent_cannot_approve() {
    let field = Field::new();
    std::fs::write(field.path("agent"), "./approver approvals & ./hitl-gate --timeout 3 -- cat; exit $?\n").unwrap();
    let mut shell = field.command("setsid");
    shell.args(["sh", "-c", "exec 3<&0; ./wrap -- sh ./agent <&3 & exit 0"]);
    let gate = Talk::start(shell.env("PIPEWRIGHT_APPROVALS", field.path("approvals")));
    field.wait_for("approvals");
    is_rejected(gate, "which makes the calls");
}

#[test]
fn the_variable_of_wrappers_permits_nobody() {
    let field = Field::new();
    let gate = field.gate("export PIPEWRIGHT_FOREGROUND=1,0; ./approver approvals &", "", "true");
    field.wait_for("approvals");
    is_rejected(gate, "which makes the calls");
}

#[test]
fn an_ended_approvers_process_id_is_not_trusted() {
    let field = Field::new();
    // Its socket is still open in another process, which would approve.
    let approver = field.command(field.path("approver")).args(["approvals", "--hand-over"]).spawn();
    let _approver = Killed(approver.unwrap());
    field.wait_for("ready");
    is_rejected(field.gate("", "", "true"), "which listened there, has ended");
}

#[test]
fn the_world_can_read_neither_environment_nor_memory_of_the_gate() {
    let field = Field::new();
    let read = "cat /proc/self/environ >own; cat /proc/$PPID/environ >environ 2>why; cat /proc/$PPID/maps >maps 2>>why; touch done";
    let gate = field.gate("", "", read);
    field.wait_for("done");
    let text = |name: &str| String::from_utf8_lossy(&std::fs::read(field.path(name)).unwrap()).into_owned();
    assert!(text("own").contains("PIPEWRIGHT_APPROVALS"), "it can read its own");
    assert_eq!((text("environ"), text("maps")), (String::new(), String::new()));
    assert_eq!(text("why").matches("Permission denied").count(), 2, "{}", text("why"));
    drop(gate);
}

#[test]
fn orphans_of_the_world_are_reaped() {
    let field = Field::new();
    let mut gate = field.gate("", "", "(sh -c 'echo $$ >orphan; sleep 0.3' &)");
    eventually("it has started", || std::fs::read_to_string(field.path("orphan")).is_ok_and(|pid| pid.ends_with('\n')));
    let pid = std::fs::read_to_string(field.path("orphan")).unwrap();
    eventually("it is there no more", || !Path::new("/proc").join(pid.trim()).exists());
    assert_eq!(gate.ask(r#"{"tool":"look"}"#), r#"{"tool":"look"}"#);
}
