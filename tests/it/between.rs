//! Running between two sides, tested with the smallest wrapper (`examples/wrap.rs`).

use crate::process::{Talk, eventually, example, is_running, pipe, state, text};
use nix::sys::signal::Signal;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// `wrap -- sh -c SCRIPT`.
fn wrap(script: &str) -> Command {
    let mut command = Command::new(example("wrap"));
    command.args(["--", "sh", "-c", script]);
    command
}

/// So many wrappers in each other, without the command.
fn nested(depth: usize) -> Command {
    let mut command = Command::new(example("wrap"));
    (1..depth).for_each(|_| _ = command.arg("--").arg(example("wrap")));
    command.arg("--");
    command
}

#[test]
fn both_sides_can_flood_each_other() {
    const SIZE: usize = 64 << 20;
    let mut child =
        Command::new(example("wrap")).args(["--", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let block: Vec<u8> =
        (0..1 << 20).map(|index| if index % 1000 == 999 { b'\n' } else { (index % 251) as u8 }).collect();
    let sent = block.clone();
    let writer = std::thread::spawn(move || {
        for _ in 0..SIZE / sent.len() {
            stdin.write_all(&sent).unwrap();
        }
    });
    let mut back = vec![0; block.len()];
    for _ in 0..SIZE / block.len() {
        stdout.read_exact(&mut back).unwrap();
        assert!(back == block, "bytes changed on the way");
    }
    writer.join().unwrap();
    assert_eq!(stdout.read(&mut back).unwrap(), 0);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_child_that_floods_before_it_reads_does_not_deadlock() {
    let input = "x\n".repeat(1 << 20);
    let output = pipe(&mut wrap("head -c 4000000 /dev/zero; cat"), input.as_bytes());
    assert_eq!(output.stdout.len(), 4_000_000 + input.len());
    assert!(output.status.success());
}

#[test]
fn after_half_close_the_rest_is_relayed() {
    let output = pipe(&mut wrap("cat; sleep 0.3; echo late"), b"one\ntwo");
    assert_eq!(text(&output.stdout), "one\ntwolate\n");
}

#[test]
fn a_slow_reader_receives_everything() {
    // First as much as fits into the pipes and one read: the child ends while its output waits for our reader. Then more than
    // that. Lines are passed on as they come, a long one at its end.
    let start = |(size, source): (usize, &str)| {
        let mut wrap = wrap(&format!("{source} | head -c {size}"));
        (size, wrap.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
    };
    let (lines, line) = ("yes", "cat /dev/zero");
    let children = [(150_000, lines), (190_000, lines), (300_000, lines), (150_000, line), (300_000, line)].map(start);
    std::thread::sleep(Duration::from_millis(1200));
    for (size, mut child) in children {
        let mut all = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), size);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_closed_stdout_loses_no_input_of_the_child() {
    // The child writes nothing; it must get its input although our stdout is closed.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let mut child =
        wrap(&format!("cat >{}", file.display())).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(&[b'x'; 3_000_000]).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::metadata(file).unwrap().len(), 3_000_000);
}

#[test]
fn the_child_receives_signals_that_we_block() {
    let script = "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.02; done";
    for depth in 1..=2 {
        let mut talk = Talk::start(nested(depth).args(["sh", "-c", script]));
        assert_eq!(talk.receive(), "up");
        talk.signal(Signal::SIGTERM);
        let ended = talk.end();
        assert_eq!(ended.lines.len(), 0, "we end: the remaining output of the child is dropped");
        // Some shells clear their signal mask themselves. This program does not.
        let blocked = pipe(nested(depth).args(["grep", "SigBlk", "/proc/self/status"]), b"");
        assert_eq!(text(&blocked.stdout), format!("SigBlk:\t{:016}\n", 0));
    }
    assert_eq!(text(&pipe(&mut wrap("sleep 600 & kill $!; wait $!; echo $?"), b"").stdout), "143\n");
}

#[test]
fn a_child_has_time_to_save_at_the_end_of_its_input_in_nested_wrappers() {
    let wrapper = example("wrap");
    let mut command = Command::new(&wrapper);
    command.arg("--").arg(&wrapper).arg("--").arg(&wrapper).args(["--", "sh", "-c", "cat; sleep 0.4; echo saved"]);
    assert_eq!(text(&pipe(&mut command, b"x\n").stdout), "x\nsaved\n");
}

#[test]
fn a_grandchild_that_keeps_writing_does_not_delay_the_end() {
    let output = pipe(&mut wrap("(while :; do echo x; sleep 0.05; done) & exit 3"), b"");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_second_signal_ends_it_at_once_with_its_child() {
    // SIGINT is ignored as after a shell's `&`.
    for (depth, ignored) in [(1, ""), (2, ""), (3, ""), (2, "INT QUIT"), (3, "INT QUIT")] {
        // A busy machine delays some of the ends, a fault all.
        eventually("the second does not take as long as the first alone", || {
            let script = "exec 2>/dev/null; trap '' TERM INT; echo $$; while :; do sleep 0.05; done";
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("[ -z '{ignored}' ] || trap '' {ignored}; exec \"$@\""), "sh"]);
            let wraps = nested(depth);
            let mut talk =
                Talk::start(shell.arg(wraps.get_program()).args(wraps.get_args()).args(["sh", "-c", script]));
            let child: i32 = talk.receive().parse().unwrap();
            talk.signal(Signal::SIGTERM);
            talk.settles();
            talk.signal(Signal::SIGTERM);
            let ended = talk.end();
            assert_eq!(ended.status.signal(), Some(15));
            // On a busy machine, a wrapper may be killed before it has killed its own child.
            let is_gone = (0..100).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                !is_running(child)
            });
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(child), Signal::SIGKILL);
            is_gone && ended.took < Duration::from_millis(500)
        });
    }
}

#[test]
fn nested_wrappers_end_the_innermost_first() {
    let script = "trap '' TERM; echo $$; while :; do sleep 0.05; done";
    let mut talk = Talk::start(nested(3).args(["sh", "-c", script]));
    let child: i32 = talk.receive().parse().unwrap();
    talk.signal(Signal::SIGTERM);
    let ended = talk.end();
    assert_eq!(ended.status.signal(), Some(15));
    eventually("the innermost child is gone", || !is_running(child));
}

#[test]
fn an_unreadable_stdin_is_reported() {
    let folder = std::fs::File::open("/").unwrap();
    let output = wrap("cat").stdin(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "the child did well, and we didn't");
    assert!(text(&output.stderr).contains("wrap: stdin: Is a directory"), "{}", text(&output.stderr));
}

#[test]
fn the_childs_exit_status_is_ours() {
    assert_eq!(pipe(&mut wrap("exit 7"), b"").status.code(), Some(7));
    let output = pipe(&mut wrap("kill -9 $$"), b"");
    assert_eq!((output.status.code(), output.status.signal()), (Some(137), None));
}

#[test]
fn a_child_that_cannot_be_started_exits_3() {
    let output = pipe(Command::new(example("wrap")).args(["--", "/no/such/program"]), b"");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).starts_with("wrap: cannot start /no/such/program: No such file"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_grandchild_that_holds_the_pipe_does_not_delay_the_end() {
    let output = pipe(&mut wrap("sleep 600 & echo $!"), b"");
    let grandchild: i32 = text(&output.stdout).trim().parse().unwrap();
    eventually("the grandchild is ended too", || !is_running(grandchild));
}

#[test]
fn a_signal_ends_the_child_and_all_processes_it_started() {
    for script in ["sleep 600 & echo $!; wait", "trap '' TERM; sleep 600 & echo $!; while :; do sleep 0.1; done"] {
        let mut talk = Talk::start(&mut wrap(script));
        let grandchild: i32 = talk.receive().parse().unwrap();
        talk.signal(Signal::SIGTERM);
        let ended = talk.end();
        assert_eq!(ended.status.signal(), Some(15), "{script}");
        eventually("the grandchild is ended too", || !is_running(grandchild));
    }
}

#[test]
fn a_stopped_child_is_ended() {
    let mut talk = Talk::start(&mut wrap("echo $$; kill -STOP $$; sleep 600"));
    let child: i32 = talk.receive().parse().unwrap();
    eventually("the child is stopped", || state(format!("/proc/{child}")) == Some('T'));
    talk.signal(Signal::SIGTERM);
    assert_eq!(talk.end().status.signal(), Some(15));
    eventually("the child is gone", || !is_running(child));
}

#[test]
fn a_child_that_never_reads_does_not_delay_the_end() {
    let mut child = wrap("sleep 600").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || while stdin.write_all(&[b'x'; 4096]).is_ok() {});
    // On a slow machine, it waits for less.
    std::thread::sleep(Duration::from_millis(200));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    writer.join().unwrap();
}

#[test]
fn three_nested_wrappers_behave_like_one() {
    let wrapper = example("wrap");
    let mut command = Command::new(&wrapper);
    command.arg("--").arg(&wrapper).arg("--").arg(&wrapper).args(["--", "sh", "-c", "cat; exit 5"]);
    let output = pipe(&mut command, b"a\r\nb");
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("a\r\nb", Some(5)));
    assert!(output.stderr.is_empty());
}

#[test]
fn the_child_of_a_killed_wrapper_gets_the_end_of_its_input() {
    let mut talk = Talk::start(&mut wrap("echo $$; cat >/dev/null"));
    let child: i32 = talk.receive().parse().unwrap();
    talk.signal(Signal::SIGKILL);
    assert_eq!(talk.end().status.signal(), Some(9));
    eventually("the child saw its stdin close", || !is_running(child));
}

/// `two-children SCRIPT SCRIPT`.
fn two(first: &str, second: &str) -> Command {
    let mut command = Command::new(example("two-children"));
    command.args([first, second]);
    command
}

/// Reads lines until `last`, in any order.
fn receive_until(talk: &mut Talk, last: &str) -> Vec<String> {
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line| line != last) {
        lines.push(talk.receive());
    }
    lines
}

#[test]
fn two_children_flood_each_other_while_one_dies() {
    // Each sends the other more than a pipe can hold before it reads; then the first dies of a signal.
    let flood = "read -r go; yes '>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' | head -n 100000";
    let first = format!("{flood}; echo $(head -n 100000 | wc -l) lines; kill -9 $$");
    let second = format!("{flood}; echo $(head -n 100000 | wc -l) lines; head -n 1");
    let mut talk = Talk::start(&mut two(&first, &second));
    // Lines for a child that has not been started yet are lost.
    receive_until(&mut talk, "1 start");
    talk.say("0 go");
    talk.say("1 go");
    let mut lines = receive_until(&mut talk, "0 end 137");
    while !lines.iter().any(|line| line == "1 100000 lines") {
        lines.push(talk.receive());
    }
    assert!(lines.iter().any(|line| line == "0 100000 lines"), "{lines:?}");
    // The other keeps running.
    talk.say("1 hello");
    assert_eq!(receive_until(&mut talk, "1 end 0")[0], "1 hello");
    talk.close();
    assert_eq!(talk.end().status.code(), Some(0));
}

#[test]
fn a_child_that_does_not_read_blocks_no_other_child() {
    let mut talk = Talk::start(&mut two("exec sleep 600", "while read -r line; do echo \"$line\"; done"));
    talk.receive();
    talk.receive();
    let long = "x".repeat(100_000);
    for _ in 0..30 {
        talk.say(&format!("0 {long}"));
    }
    talk.say("1 cancel");
    assert_eq!(talk.receive(), "1 cancel");
    talk.signal(Signal::SIGTERM);
    assert_eq!(talk.end().status.signal(), Some(15));
}

#[test]
fn one_child_is_restarted_while_the_other_keeps_running() {
    // The first ends slowly.
    let slow = "trap 'sleep 1.5; exit 3' TERM; echo ready; while :; do sleep 0.1; done";
    let mut talk = Talk::start(&mut two(slow, "while read -r line; do echo \"$line\"; done"));
    let begun = receive_until(&mut talk, "0 ready");
    if !begun.iter().any(|line| line == "1 start") {
        receive_until(&mut talk, "1 start");
    }
    // A busy machine may take as long for the answer of the other as the first to its end, but not each time.
    eventually("the other answers before the first has ended", || {
        talk.say("0 again");
        talk.say("1 meanwhile");
        let mut lines = receive_until(&mut talk, "1 meanwhile");
        let is_before = lines == ["1 meanwhile"];
        if !lines.iter().any(|line| line == "0 ready") {
            lines.append(&mut receive_until(&mut talk, "0 ready"));
        }
        assert_eq!(lines.iter().filter(|line| *line != "1 meanwhile").collect::<Vec<_>>(), ["0 start", "0 ready"]);
        is_before
    });
    talk.signal(Signal::SIGTERM);
    talk.end();
}

#[test]
fn a_child_that_is_added_works_beside_the_others_until_it_is_ended() {
    let echo = "while read -r line; do echo \"$line\"; done";
    let mut talk = Talk::start(&mut two(echo, echo));
    receive_until(&mut talk, "1 start");
    // It does not read, and leaves a process behind.
    talk.say("+ sleep 600 & echo $!; exec sleep 600");
    talk.say("+ true");
    let mut lines = receive_until(&mut talk, "3 end 0");
    let left = loop {
        if let Some(left) = lines.iter().find_map(|line| line.strip_prefix("2 ")?.parse::<i32>().ok()) {
            break left;
        }
        lines.push(talk.receive());
    };
    talk.say(&format!("2 {}", "x".repeat(100_000)));
    talk.say("2 stop");
    talk.say("0 meanwhile");
    receive_until(&mut talk, "0 meanwhile");
    eventually("all of it is ended", || !is_running(left));
    talk.close();
    let ended = talk.end();
    assert!(!ended.lines.iter().any(|line| line.starts_with("2 end")), "its end is not reported: {:?}", ended.lines);
    assert_eq!(ended.status.code(), Some(0));
}

#[test]
fn children_are_ended_at_the_same_time() {
    let stubborn = "trap '' TERM; while :; do sleep 0.2; done";
    // Each takes 1.2 s. A busy machine delays some of the ends, a fault all.
    eventually("both end within the time of one", || {
        let mut talk = Talk::start(&mut two(stubborn, stubborn));
        talk.receive();
        talk.receive();
        talk.signal(Signal::SIGTERM);
        talk.end().took < Duration::from_millis(1700)
    });
}
