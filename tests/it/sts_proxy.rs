//! `sts-proxy` with an agent, against a game played by the test itself.

use crate::process::{Ended, Talk, command, eventually, is_running, pipe, text};
use crate::spire::{ERROR, game_over, menu, neow, rest_site, the};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// An agent that takes the first choice of every screen, and proceeds if there is none.
const FIRST: &str = r#"while read -r line; do case $line in *'"action_id":110'*) echo 110;; *) echo 171;; esac; done"#;

/// The proxy, and its record folder.
struct Game {
    proxy: Talk,
    folder: TempDir,
}

impl Game {
    fn start(options: &[&str], agent: &str) -> Game {
        Game::start_in(tempfile::tempdir().unwrap(), options, agent)
    }

    fn start_in(folder: TempDir, options: &[&str], agent: &str) -> Game {
        let mut proxy = command("sts-proxy");
        proxy.arg("--data-dir").arg(folder.path()).args(options).args(["--", "sh", "-c", agent]);
        let mut proxy = Talk::start(&mut proxy);
        assert_eq!(proxy.receive(), "ready");
        Game { proxy, folder }
    }

    fn end(self) -> (Ended, TempDir) {
        (self.proxy.end_after_close(), self.folder)
    }
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// All records, file by file.
fn records(folder: &Path) -> Vec<Vec<Value>> {
    let read = |name: &String| {
        let lines = crate::schemas::written(folder.join(name));
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    files(folder).iter().filter(|name| name.ends_with(".jsonl")).map(read).collect()
}

#[test]
fn a_decision_is_asked_sent_and_recorded_when_accepted() {
    let seed = -8_301_534_427_382_183_567;
    let mut game = Game::start(&["--quiet"], FIRST);
    assert_eq!(game.proxy.ask(&rest_site(seed, 5)), "choose 0");
    assert!(files(game.folder.path()).is_empty(), "not yet: the mod may refuse it");
    assert_eq!(game.proxy.ask(&rest_site(seed, 6)), "choose 0");
    // The record is on the disk before the next command is sent.
    let recorded = records(game.folder.path());
    assert_eq!(recorded.concat().len(), 1);
    let record = &recorded[0][0];
    assert_eq!(record["action_id"], 110);
    assert_eq!(record["cmd"], "choose 0");
    assert_eq!(record["confirmed"], true);
    assert_eq!(record["label"], "rest");
    assert_eq!(record["legal_ids"], json!([110]));
    let state = json!({"choice_list":["rest"],"screen_type":"REST","hp":50,"max_hp":70,"gold":99,"floor":5,"act":1});
    assert_eq!(record["state"], state);
    assert_eq!(record["run"], json!({"seed":seed,"class":"THE_SILENT","ascension":20,"floor":5}));
    let ts = record["ts"].as_str().unwrap();
    assert!(ts.len() == "2026-02-02T20:06:23.218194Z".len() && ts.ends_with('Z'), "{ts}");
    let (ended, folder) = game.end();
    assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
    let name = &files(folder.path())[0];
    assert!(name.starts_with("Silent_A20_AGENT_PROXY_2") && name.ends_with("Z.jsonl"), "{name}");
    let last = records(folder.path()).concat().pop().unwrap();
    assert_eq!((&last["confirmed"], &last["error"]), (&json!(false), &json!("no message followed")));
}

#[test]
fn the_agent_gets_valid_actions_output_with_the_decision_number() {
    let message = rest_site(1, 5);
    let printed = pipe(&mut command("valid-actions"), format!("{message}\n").as_bytes()).stdout;
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let agent = format!("read -r line; printf '%s\\n' \"$line\" > {}; echo 110; sleep 9", seen.display());
    let mut game = Game::start(&[], &agent);
    game.proxy.ask(&message);
    let numbered = text(&printed).replace("}\n", ",\"decision\":1}\n");
    assert_eq!(std::fs::read_to_string(seen).unwrap(), numbered);
}

#[test]
fn an_answer_may_be_an_id_an_object_or_a_command() {
    let mut game = Game::start(
        &[],
        r#"for a in 110 '{"action_id":110}' 'Choose 0' ready; do read -r line; echo "$a"; done; read -r line"#,
    );
    for floor in 0..3 {
        assert_eq!(game.proxy.ask(&rest_site(1, floor)), "choose 0");
    }
}

#[test]
fn programs_written_for_the_mod_may_say_ready() {
    let mut game = Game::start(&[], &format!("echo ready; {FIRST}"));
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    assert_eq!(game.end().0.status.code(), Some(0));
}

#[test]
fn an_illegal_answer_never_reaches_the_mod_and_is_asked_again() {
    let mut game =
        Game::start(&[], "for a in 0 173 end '{}' 'choose 1' 110; do read -r line; echo $a; done; read -r line");
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    let (ended, _) = game.end();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.lines.is_empty());
    let reported: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("not sent")).collect();
    assert_eq!(reported.len(), 5, "{}", ended.stderr);
    assert_eq!(reported[0], "sts-proxy: agent:1: not sent, the answer is not legal here: 0 (play 1); legal are 110");
}

#[test]
fn an_agent_without_a_legal_answer_is_given_up() {
    for (attempts, asked) in [("1", 1), ("3", 3)] {
        let mut game = Game::start(&["--attempts", attempts], "while read -r line; do echo 0; done");
        game.proxy.say(&rest_site(1, 1));
        let ended = game.proxy.end();
        assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
        assert_eq!(ended.stderr.matches("not sent").count(), asked);
        assert!(ended.stderr.contains(&format!("no legal answer in {attempts} attempts")), "{}", ended.stderr);
    }
}

#[test]
fn a_missing_answer_is_asked_for_again_until_attempts_are_used_up() {
    let silent = "while read -r line; do :; done";
    let mut game = Game::start(&["--agent-timeout", "300ms", "--attempts", "3"], silent);
    game.proxy.say(&rest_site(1, 1));
    let ended = game.proxy.end();
    assert_eq!((ended.status.code(), ended.lines.len()), (Some(4), 0));
    assert_eq!(ended.stderr.matches("no answer within 0.3 s").count(), 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("gave no legal answer in 3 attempts (--attempts); --restart N"), "{}", ended.stderr);
}

#[test]
fn an_agent_that_was_given_up_is_restarted() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let agent = format!("[ -e {0} ] || {{ : > {0}; read -r line; echo 0; }}; {FIRST}", mark.display());
    let mut game = Game::start(&["--attempts", "1", "--restart", "1"], &agent);
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    let (ended, _) = game.end();
    assert!(ended.stderr.contains("agent: gave no legal answer in 1 attempts"), "{}", ended.stderr);
}

#[test]
fn a_late_answer_is_not_sent_but_the_answer_to_the_second_question_is() {
    // The first answer differs from those that follow.
    let agent = "read -r line; sleep 1.5; echo 105; while read -r line; do echo 171; done";
    let mut game = Game::start(&["--agent-timeout", "1"], agent);
    assert_eq!(game.proxy.ask(&the("an open chest")), "proceed");
    let (ended, _) = game.end();
    assert!(
        ended.stderr.contains("agent:1: not sent, the answer came late, it was asked again: 105"),
        "{}",
        ended.stderr
    );
    assert_eq!((ended.status.code(), ended.lines.len()), (Some(1), 0));
}

#[test]
fn a_late_answer_never_counts_for_another_decision() {
    // It answers the first state only after it has read the second.
    let mut game = Game::start(&[], "read -r a; read -r b; echo 110; sleep 0.2; echo 171; read -r c");
    game.proxy.say(&rest_site(1, 1));
    assert_eq!(game.proxy.ask(&the("COMPLETE")), "proceed");
    let (ended, _) = game.end();
    assert!(
        ended.stderr.contains("agent:1: not sent, the answer came late, the game has gone on: 110"),
        "{}",
        ended.stderr
    );
    assert_eq!((ended.lines.len(), ended.status.code()), (0, Some(1)));
}

#[test]
fn an_agent_that_never_reads_is_given_up() {
    let mut game = Game::start(&["--agent-timeout", "0.3", "--attempts", "2"], "sleep 60");
    let long = rest_site(1, 1).replace("\"deck\":[]", &format!("\"deck\":[\"{}\"]", "x".repeat(300_000)));
    let started = Instant::now();
    game.proxy.say(&long);
    let ended = game.proxy.end();
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}

#[test]
fn an_agent_that_never_reads_does_not_cost_a_thread_per_question() {
    let mut game = Game::start(&["--agent-timeout", "0.005", "--attempts", "1000"], "sleep 60");
    game.proxy.say(&rest_site(1, 1).replace("\"deck\":[]", &format!("\"deck\":[\"{}\"]", "x".repeat(100_000))));
    std::thread::sleep(Duration::from_millis(700));
    let status = std::fs::read_to_string(format!("/proc/{}/status", game.proxy.pid())).unwrap();
    let threads: u32 = status.lines().find_map(|line| line.strip_prefix("Threads:")?.trim().parse().ok()).unwrap();
    assert!(threads < 20, "{threads} threads");
}

#[test]
fn an_agent_that_dies_ends_the_run_or_is_restarted() {
    let once = "read -r line; echo 110; read -r line; exit 3";
    let mut game = Game::start(&[], once);
    game.proxy.ask(&rest_site(1, 1));
    game.proxy.say(&rest_site(1, 2));
    let ended = game.proxy.end();
    assert_eq!(ended.status.code(), Some(4));
    assert_eq!(records(game.folder.path()).concat().len(), 1);
    assert!(
        ended.stderr.contains("the agent ended with exit status 3; --restart N starts it again"),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("allows"), "{}", ended.stderr);

    let mut game = Game::start(&["--restart", "1"], once);
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    assert_eq!(
        game.proxy.ask(&rest_site(1, 2)),
        "choose 0",
        "the new agent is asked the question that the old one could not answer"
    );
    game.proxy.say(&rest_site(1, 3));
    let ended = game.proxy.end();
    assert_eq!(ended.status.code(), Some(4));
    assert!(ended.stderr.contains("agent: ended with exit status 3; restarting it"), "{}", ended.stderr);
    let used_up = "the agent ended with exit status 3; it was started again as often as --restart 1 allows";
    assert!(ended.stderr.contains(used_up), "{}", ended.stderr);
    assert!(!ended.stderr.contains("--restart N"), "{}", ended.stderr);
}

#[test]
fn a_command_is_recorded_even_if_the_agent_dies_before_the_game_answers() {
    let mut game = Game::start(&[], "read -r line; echo 110; exit 3");
    game.proxy.ask(&rest_site(1, 1));
    assert_eq!(game.proxy.end().status.code(), Some(4));
    assert_eq!(records(game.folder.path()).concat()[0]["error"], "no message followed");
}

#[test]
fn a_closed_stdout_is_noticed_while_the_agent_thinks() {
    let mut child = command("sts-proxy")
        .args(["--no-record", "--", "sleep", "60"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{}\n", rest_site(1, 1)).as_bytes()).unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    let closed = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(closed.elapsed() < Duration::from_secs(2), "{:?}", closed.elapsed());
}

#[test]
fn the_end_of_the_game_is_noticed_while_the_agent_does_not_read() {
    let mut game = Game::start(&[], "sleep 60");
    let long = rest_site(1, 1).replace("\"deck\":[]", &format!("\"deck\":[\"{}\"]", "x".repeat(300_000)));
    game.proxy.say(&long);
    game.proxy.close();
    let ended = game.proxy.end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.took < Duration::from_secs(2), "{:?}", ended.took);
}

#[test]
fn a_terminated_agent_has_time_to_save() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    let agent = format!("trap 'echo x >{}; exit' TERM; {FIRST}; while :; do sleep 0.02; done", saved.display());
    let mut game = Game::start(&[], &agent);
    game.proxy.ask(&rest_site(1, 1));
    game.proxy.signal(Signal::SIGTERM);
    assert!(game.proxy.end().took < Duration::from_millis(1100));
    assert!(saved.exists());
}

#[test]
fn the_last_messages_are_read_after_the_game_closed_the_connection() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command("sts-proxy")
            .arg("--data-dir")
            .arg(folder.path())
            .args(["--quiet", "--", "sh", "-c", FIRST])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        stdin.write_all(format!("{}\n", rest_site(1, 1)).as_bytes()).unwrap();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\nchoose 0\n");
        stdin.write_all(format!("{}\n", menu()).as_bytes()).unwrap();
        drop((stdout, stdin));
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert_eq!(records(folder.path()).concat()[0]["confirmed"], true);
    }
}

#[test]
fn a_closed_socket_is_noticed_while_the_agent_does_not_read() {
    let (game, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let stdin = std::os::fd::OwnedFd::from(theirs.try_clone().unwrap());
    let mut proxy = command("sts-proxy");
    proxy.args(["--no-record", "--", "sleep", "60"]).stdin(stdin).stdout(std::os::fd::OwnedFd::from(theirs));
    let mut child = proxy.spawn().unwrap();
    drop(proxy); // it holds their end
    let long = rest_site(1, 1).replace("\"deck\":[]", &format!("\"deck\":[\"{}\"]", "x".repeat(300_000)));
    (&game).write_all(format!("{long}\n").as_bytes()).unwrap();
    game.shutdown(std::net::Shutdown::Write).unwrap();
    eventually("it ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_unread_stderr_does_not_delay_the_end() {
    let flood = |proxy: &mut std::process::Command| {
        let (_unread, full) = std::io::pipe().unwrap();
        nix::fcntl::fcntl(&full, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).unwrap();
        while (&full).write(&[b'x'; 4096]).is_ok() {}
        nix::fcntl::fcntl(&full, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::empty())).unwrap();
        let mut child =
            proxy.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).stderr(full).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"garbage\n").unwrap();
        std::thread::sleep(Duration::from_millis(200));
        (child, stdin, _unread)
    };
    let agent = ["--no-record", "--", "sleep", "60"];
    let started = Instant::now();
    let (mut child, stdin, _unread) = flood(command("sts-proxy").args(agent));
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let (mut child, _stdin, _unread) = flood(command("sts-proxy").args(agent));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
}

#[test]
fn a_repeated_state_does_not_restart_the_answer_timeout() {
    let mut game = Game::start(&["--agent-timeout", "0.5", "--attempts", "1"], "sleep 60");
    let ready = rest_site(1, 1);
    game.proxy.say(&ready);
    // However often the state comes.
    for _ in 0..20 {
        game.proxy.say(&ready.replace(r#""ready_for_command":true"#, r#""ready_for_command":false"#));
        game.proxy.say(&ready);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(game.proxy.end().status.code(), Some(4));
}

#[test]
fn a_signal_during_an_agent_restart_starts_no_further_agent() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let agent = format!("trap '' TERM; echo x >> {}; exec >&-; while :; do sleep 0.05; done", starts.display());
    let mut game = Game::start(&["--restart", "9"], &agent);
    game.proxy.say(&rest_site(1, 1));
    eventually("it has started", || starts.exists());
    // It has closed its stdout, so it is terminated after half a second and restarted.
    std::thread::sleep(Duration::from_millis(800));
    game.proxy.signal(Signal::SIGTERM);
    let ended = game.proxy.end();
    assert_eq!(ended.status.signal(), Some(15));
    assert!(ended.took < Duration::from_secs(2), "{:?}", ended.took);
    assert_eq!(std::fs::read_to_string(starts).unwrap().lines().count(), 1);
}

#[test]
fn unreported_faults_are_counted_at_every_kind_of_end() {
    let mut game = Game::start(&["--attempts", "30"], "while read -r line; do echo 0; done");
    game.proxy.say(&rest_site(1, 1));
    let ended = game.proxy.end();
    assert_eq!((ended.status.code(), ended.stderr.matches("not sent").count()), (Some(4), 20));
    assert!(ended.stderr.contains("and 10 more"), "{}", ended.stderr);
}

#[test]
fn an_agent_that_only_closes_its_stdout_counts_as_lost() {
    let mut game = Game::start(&[], "exec >&-; sleep 60");
    game.proxy.say(&rest_site(1, 1));
    let ended = game.proxy.end();
    assert_eq!(ended.status.code(), Some(4));
    assert!(ended.stderr.contains("closed its stdin or stdout"), "{}", ended.stderr);
}

#[test]
fn an_agent_that_cannot_be_started_gives_status_3_after_ready() {
    let output = pipe(command("sts-proxy").args(["--no-record", "--", "/no/such/agent"]), b"");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(3), "ready\n"));
    assert!(text(&output.stderr).contains("cannot start /no/such/agent"));
}

#[test]
fn a_state_is_decided_once_trap_2() {
    let mut game = Game::start(&[], FIRST);
    let ready = rest_site(1, 1);
    let not_ready = ready.replace(r#""ready_for_command":true"#, r#""ready_for_command":false"#);
    game.proxy.say(&not_ready);
    game.proxy.receive_nothing_for(100);
    assert_eq!(game.proxy.ask(&ready), "choose 0");
    game.proxy.say(&ready); // the same frame again, sent while we answered
    game.proxy.receive_nothing_for(200);
    assert!(records(game.folder.path()).is_empty(), "a repeated frame confirms nothing");
    assert_eq!(game.proxy.ask(&rest_site(1, 2)), "choose 0");
    assert_eq!(records(game.folder.path()).concat().len(), 1);
}

#[test]
fn a_refused_command_is_marked_and_not_offered_again() {
    let mut game = Game::start(&[], FIRST);
    let state = the("an open chest").replace(r#""potion","proceed""#, r#""choose","potion","proceed""#);
    let state = state.replacen("\"screen_type\"", "\"choice_list\":[\"open\"],\"screen_type\"", 1);
    assert_eq!(game.proxy.ask(&state), "choose 0");
    assert_eq!(game.proxy.ask(ERROR), "state");
    assert_eq!(game.proxy.ask(&state), "proceed", "a refused command is no longer legal in this state");
    assert_eq!(game.proxy.ask(&rest_site(1, 2)), "choose 0");
    let (ended, folder) = game.end();
    assert!(ended.stderr.contains("stdin:2: the mod refused `choose 0`: Invalid command: choose."), "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(1));
    let records = records(folder.path()).concat();
    assert_eq!((&records[0]["legal_ids"], &records[1]["legal_ids"]), (&json!([105, 110, 171]), &json!([105, 171])));
    let first = &records[0];
    assert_eq!(first["confirmed"], false);
    assert_eq!(first["error"], "Invalid command: choose. Possible commands: [state]");
}

#[test]
fn blank_lines_and_errors_are_answered_with_state() {
    let mut game = Game::start(&[], FIRST);
    assert_eq!(game.proxy.ask(""), "state");
    assert_eq!(game.proxy.ask(ERROR), "state");
    assert_eq!(game.proxy.ask("\r"), "state");
}

#[test]
fn other_lines_are_reported_and_ignored() {
    let mut game = Game::start(&[], FIRST);
    for line in ["ready", "{\"torn\":", "[]", r#"{"type":"observation"}"#] {
        game.proxy.say(line);
    }
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    let (ended, _) = game.end();
    assert_eq!(ended.stderr.matches("not acted on").count(), 4, "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(1));
}

#[test]
fn the_idle_option_sets_what_is_sent_without_a_decision_trap_3() {
    let not_ready = the("not ready");
    let mut silent = Game::start(&[], FIRST);
    silent.proxy.say(&not_ready);
    silent.proxy.say(&menu());
    silent.proxy.receive_nothing_for(200);
    let mut waits = Game::start(&["--idle", "wait"], FIRST);
    assert_eq!(waits.proxy.ask(&not_ready), "wait 30");
    waits.proxy.say(&menu()); // `wait` exists only in a run
    waits.proxy.receive_nothing_for(200);
    let mut asks = Game::start(&["--idle", "state"], FIRST);
    assert_eq!(asks.proxy.ask(&not_ready), "state");
    assert_eq!(asks.proxy.ask(&menu()), "state");
}

#[test]
fn the_watchdog_asks_and_then_waits_trap_9() {
    let mut game = Game::start(&["--watchdog", "0.2"], FIRST);
    assert_eq!(game.proxy.receive(), "state", "nothing came at all");
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
    assert_eq!(game.proxy.receive(), "state", "the command got no reply");
    let stuck = rest_site(1, 1).replace(r#""ready_for_command":true"#, r#""ready_for_command":false"#);
    game.proxy.say(&stuck);
    assert_eq!(game.proxy.receive(), "wait 30", "asking again would give the same answer forever");
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0", "the same state is asked again");
}

#[test]
fn runs_start_from_the_menu_and_end_after_the_given_number_of_games() {
    let mut game = Game::start(&["--start", "SILENT", "20", "ABC", "--games", "2", "--quiet"], FIRST);
    game.proxy.say(&the("the menu while the game is loading"));
    for _ in 0..2 {
        assert_eq!(game.proxy.ask(&menu()), "start SILENT 20 ABC");
        game.proxy.say(&menu()); // again, while the run begins
        assert_eq!(game.proxy.ask(&neow(7)), "choose 0");
        assert_eq!(game.proxy.ask(&game_over(7, 3)), "proceed");
    }
    game.proxy.say(&menu());
    let ended = game.proxy.end();
    assert_eq!((ended.status.code(), ended.lines.len(), ended.stderr.as_str()), (Some(0), 0, ""));
    let runs = records(game.folder.path());
    assert_eq!(runs.len(), 2, "one file a run, though the seed is the same");
    assert!(
        runs.iter().all(|run| run.len() == 3 && run[2]["run_over"] == json!({"victory":false,"floor":3,"score":12}))
    );
}

#[test]
fn a_screen_after_the_end_hides_neither_the_end_nor_the_menu() {
    let mut game = Game::start(&["--games", "1"], FIRST);
    assert_eq!(game.proxy.ask(&game_over(7, 3)), "proceed");
    game.proxy.say(&rest_site(7, 3).replace("REST", "NONE").replace(":true,\"in_game", ":false,\"in_game"));
    game.proxy.say(&menu());
    assert_eq!(game.proxy.end().status.code(), Some(0));
    assert_eq!(records(game.folder.path()).len(), 1);
}

#[test]
fn a_proxy_restarted_at_neow_continues_the_file_of_the_run() {
    let mut game = Game::start(&[], FIRST);
    game.proxy.ask(&neow(5));
    let (_, folder) = game.end();
    let mut game = Game::start_in(folder, &[], FIRST);
    game.proxy.ask(&neow(5));
    let (_, folder) = game.end();
    assert_eq!(records(folder.path()).iter().map(Vec::len).collect::<Vec<_>>(), [2]);
    let mut game = Game::start_in(folder, &[], FIRST);
    game.proxy.ask(&rest_site(5, 6));
    let (_, folder) = game.end();
    let mut game = Game::start_in(folder, &[], FIRST);
    game.proxy.ask(&neow(5));
    let (_, folder) = game.end();
    assert_eq!(records(folder.path()).len(), 2, "a run that was on floor 6 is not the one at Neow");
}

/// The proxy's system calls, as seen by strace.
#[test]
#[ignore = "needs strace: scripts/test installs it"]
fn every_record_is_forced_to_the_disk_before_the_next_command() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("strace");
    let mut traced = std::process::Command::new("strace");
    traced
        .args(["-f", "-e", "trace=fdatasync,write", "-s", "12", "-o"])
        .arg(&log)
        .arg(crate::process::binary("sts-proxy"));
    let mut proxy =
        Talk::start(traced.arg("--data-dir").arg(folder.path().join("records")).args(["--", "sh", "-c", FIRST]));
    assert_eq!(proxy.receive(), "ready");
    // Two runs: the last record of the first is forced as well.
    for (seed, floor) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        proxy.ask(&rest_site(seed, floor));
    }
    proxy.close();
    proxy.end();
    let log = std::fs::read_to_string(log).unwrap();
    let steps: Vec<&str> = log
        .lines()
        .filter_map(|line| match line {
            _ if line.contains("fdatasync(") => Some("sync"),
            _ if line.contains(r#""choose 0\n""#) => Some("command"),
            _ if line.contains(r#""{\"ts\":"#) => Some("record"),
            _ => None,
        })
        .collect();
    let expected = [
        "command", "record", "sync", "command", "record", "sync", "command", "record", "sync", "command", "record",
        "sync",
    ];
    assert_eq!(steps, expected, "{log}");
}

#[test]
fn a_start_that_the_mod_refuses_ends_the_run() {
    let mut game = Game::start(&["--start", "NOBODY"], FIRST);
    assert_eq!(game.proxy.ask(&menu()), "start NOBODY");
    game.proxy.say(r#"{"error":"Invalid argument nobody in command \"start nobody\".","ready_for_command":true}"#);
    let ended = game.proxy.end();
    assert_eq!(ended.status.code(), Some(2));
    assert!(ended.stderr.contains("the mod refused --start: Invalid argument nobody"), "{}", ended.stderr);
}

#[test]
fn an_abandoned_run_gets_a_file_of_its_own_trap_15() {
    let mut game = Game::start(&[], FIRST);
    for (seed, floor) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        game.proxy.ask(&rest_site(seed, floor));
    }
    let (_, folder) = game.end();
    let floors: Vec<usize> = records(folder.path()).iter().map(Vec::len).collect();
    assert_eq!(floors, [2, 2]);
}

#[test]
fn a_continued_run_keeps_its_file_and_sets_a_torn_tail_aside() {
    let mut game = Game::start(&[], FIRST);
    game.proxy.ask(&rest_site(5, 1));
    game.proxy.ask(&rest_site(5, 2));
    let (_, folder) = game.end();
    let name = files(folder.path()).pop().unwrap();
    let path = folder.path().join(&name);
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{before}{{\"ts\":\"half a rec")).unwrap();

    let mut game = Game::start_in(folder, &[], FIRST);
    game.proxy.ask(&rest_site(5, 3));
    game.proxy.ask(&game_over(5, 4));
    game.proxy.say(&menu());
    let (ended, folder) = game.end();
    assert!(ended.stderr.contains("17 bytes of a torn last line were set aside"), "{}", ended.stderr);
    let after = std::fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(&before), "earlier records are kept");
    assert_eq!(after.lines().count(), 5, "with how the run ended");
    assert_eq!(std::fs::read_to_string(path.with_extension("jsonl.torn")).unwrap(), "{\"ts\":\"half a rec\n");

    let mut game = Game::start_in(folder, &[], FIRST);
    game.proxy.ask(&rest_site(5, 1));
    let (_, folder) = game.end();
    assert_eq!(records(folder.path()).len(), 2, "that run was over: this is another");
}

#[test]
fn full_state_records_the_complete_state_trap_16() {
    let mut game = Game::start(&["--full-state"], FIRST);
    game.proxy.ask(&rest_site(5, 1));
    let (_, folder) = game.end();
    let message: Value = serde_json::from_str(&rest_site(5, 1)).unwrap();
    assert_eq!(records(folder.path()).concat()[0]["state"], message["game_state"]);
}

#[test]
fn the_record_folder_comes_from_option_environment_or_xdg() {
    let folder = tempfile::tempdir().unwrap();
    let input = format!("{}\n", rest_site(5, 1));
    let play = |set: &dyn Fn(&mut std::process::Command)| {
        let mut proxy = command("sts-proxy");
        set(&mut proxy);
        let mut talk = Talk::start(proxy.args(["--", "sh", "-c", FIRST]));
        assert_eq!((talk.receive(), talk.ask(input.trim())), ("ready".into(), "choose 0".into()));
        talk.close();
        assert_eq!(talk.end().status.code(), Some(0));
    };
    let at = |name: &str| folder.path().join(name);
    play(&|proxy| _ = proxy.env("AI_STS_PROXY_DATA_DIR", at("environment")).arg("--data-dir").arg(at("option")));
    assert_eq!((at("option").exists(), at("environment").exists()), (true, false));
    play(&|proxy| _ = proxy.env("AI_STS_PROXY_DATA_DIR", at("environment")));
    assert_eq!(files(&at("environment")).len(), 1);
    // Set but empty counts as unset.
    play(&|proxy| {
        _ = proxy.env("AI_STS_PROXY_DATA_DIR", "").env("AI_STS_PROXY_NO_RECORD", "").env("XDG_DATA_HOME", at("empty"))
    });
    assert_eq!(files(&at("empty/pipewright/spire")).len(), 1);
    play(&|proxy| _ = proxy.env("XDG_DATA_HOME", at("xdg")));
    assert_eq!(files(&at("xdg/pipewright/spire")).len(), 1);
    play(&|proxy| _ = proxy.env_remove("XDG_DATA_HOME").env("HOME", at("home")));
    assert_eq!(files(&at("home/.local/share/pipewright/spire")).len(), 1);
    play(&|proxy| _ = proxy.env("AI_STS_PROXY_NO_RECORD", "1").env("XDG_DATA_HOME", at("none")));
    assert!(!at("none").exists());
    play(&|proxy| _ = proxy.env("AI_STS_PROXY_NO_RECORD", "0").env("XDG_DATA_HOME", at("recorded")));
    assert!(at("recorded").exists());
}

#[test]
fn a_folder_that_cannot_be_created_gives_status_2() {
    let output = pipe(command("sts-proxy").args(["--data-dir", "/dev/null/x", "--", "cat"]), b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("/dev/null/x: Not a directory"), "{}", text(&output.stderr));
}

#[test]
fn a_full_disk_loses_records_but_not_the_game() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} --data-dir {} --full-state -- sh -c '{}'",
        crate::process::binary("sts-proxy").display(),
        folder.path().display(),
        FIRST.replace('\'', r"'\''")
    );
    let mut proxy = Talk::start(std::process::Command::new("sh").args(["-c", &script]));
    proxy.receive();
    for floor in 0..8 {
        assert_eq!(proxy.ask(&rest_site(1, floor)), "choose 0");
    }
    proxy.close();
    let ended = proxy.end();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("a record was lost: File too large"), "{}", ended.stderr);
    let whole = records(folder.path()).concat().len();
    assert!((1..8).contains(&whole), "{whole} complete records, and no partial one");
}

#[test]
fn a_signal_ends_the_proxy_and_its_agent_with_all_records_on_disk() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let agent = format!("trap '' TERM; echo $$ > {}; {FIRST}; while :; do sleep 0.1; done", pid.display());
        let mut game = Game::start(&[], &agent);
        game.proxy.ask(&rest_site(1, 1));
        game.proxy.ask(&rest_site(1, 2));
        game.proxy.signal(signal);
        let ended = game.proxy.end();
        assert_eq!(ended.status.signal(), Some(signal as i32), "{}", ended.stderr);
        assert!(ended.took < Duration::from_secs(2), "{:?}", ended.took);
        let outcomes: Vec<Value> =
            records(game.folder.path()).concat().iter().map(|record| record["confirmed"].clone()).collect();
        assert_eq!(outcomes, [true, false], "the last command's answer never came");
        let agent: i32 = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
        eventually("the agent is ended", || !is_running(agent));
    }
}

#[test]
fn a_killed_proxy_loses_only_the_unanswered_record() {
    let mut game = Game::start(&[], FIRST);
    for floor in 0..20 {
        game.proxy.ask(&rest_site(1, floor));
    }
    game.proxy.signal(Signal::SIGKILL);
    let _ = game.proxy.end();
    let recorded = records(game.folder.path()).concat();
    assert_eq!(recorded.len(), 19);
    assert!(recorded.iter().all(|record| record["confirmed"] == true));
}

#[test]
fn match_and_keep_choices_are_delayed_trap_14() {
    let mut game = Game::start(&[], FIRST);
    let started = Instant::now();
    assert_eq!(game.proxy.ask(&the("Match and Keep")), "choose 0");
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
}

#[test]
fn the_first_state_may_come_late() {
    let mut game = Game::start(&["--watchdog", "0"], FIRST);
    game.proxy.receive_nothing_for(300);
    assert_eq!(game.proxy.ask(&rest_site(1, 1)), "choose 0");
}
