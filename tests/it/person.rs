//! `sts-proxy` with a person: a real pseudo-terminal, scripted keys, and a game that the test plays through pipes.

use crate::log::Log;
use crate::process::{binary, command, example, pipe, text, with_a_person};
use crate::spire::{ERROR, Step, demo_session, fight, rest_site, the, tutorial};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use pipewright_log::Direction;
use rexpect::session::PtySession;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const PROMPT: &str = "action> ";

/// A person at a terminal, and the mod at the other end.
struct Table {
    person: PtySession,
    to_proxy: File,
    from_proxy: BufReader<File>,
    folder: TempDir,
}

impl Table {
    /// `before` precedes the proxy in the command line, `options` follow it, and the shell then runs `after`.
    fn lay(before: &str, options: &str, after: &str) -> Table {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["states", "commands"] {
            mkfifo(&at(name), Mode::S_IRWXU).unwrap();
        }
        let script = format!(
            "{before} {} --watchdog 0 --data-dir {} {options} <{} >{} 2>{}; {after}",
            binary("sts-proxy").display(),
            at("records").display(),
            at("states").display(),
            at("commands").display(),
            at("stderr").display(),
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("TERM", "xterm").env_remove("NO_COLOR").env_remove("PIPEWRIGHT_FOREGROUND");
        let person = with_a_person(shell);
        // In the order in which the shell opens them: each waits for the other end.
        let to_proxy = OpenOptions::new().write(true).open(at("states")).unwrap();
        let from_proxy = BufReader::new(File::open(at("commands")).unwrap());
        let mut table = Table { person, to_proxy, from_proxy, folder };
        assert_eq!(table.command(), "ready");
        table
    }

    fn state(&mut self, message: &str) {
        self.to_proxy.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// The next line that the mod gets.
    fn command(&mut self) -> String {
        let mut line = String::new();
        self.from_proxy.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The text on the terminal up to the next prompt.
    fn menu(&mut self) -> String {
        self.person.exp_string(PROMPT).unwrap()
    }

    fn types(&mut self, line: &str) {
        self.person.send_line(line).unwrap();
    }

    fn stderr(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).unwrap()
    }
}

#[test]
fn a_person_is_shown_the_state_and_chooses() {
    let mut table = Table::lay("", "--color never", "echo status $?");
    table.state(&the("targets index the full array"));
    let menu = table.menu();
    for shown in [
        "THE_SILENT A20  act 1 floor 4  hp 52/70  gold 120  combat",
        "block 0  energy 3  turn 1",
        "Louse #2  hp 20/20  attack 6",
        "Strike (1), Wound (unplayable), Skewer (X)",
        "potions  Fire Potion, -, -",
        "relics  Ring of the Snake",
        "[ 20] play Strike (1) -> Louse #2 (20/20)",
        "[170] end the turn",
    ] {
        assert!(menu.contains(shown), "{shown} is missing from\n{menu}");
    }
    assert!(!menu.contains("Louse #1  hp"), "an enemy that is gone is not shown");
    table.types("20");
    assert_eq!(table.command(), "play 1 1");
    table.state(&rest_site(1, 5));
    table.menu();
    table.types("CHOOSE 0");
    assert_eq!(table.command(), "choose 0");
    table.types("quit");
    table.person.exp_string("status 0").unwrap();
    let names: Vec<_> =
        std::fs::read_dir(table.folder.path().join("records")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name.to_string_lossy().starts_with("Silent_A20_HUMAN_PROXY_")), "{names:?}");
    assert_eq!(names.len(), 2, "two seeds, two runs");
}

#[test]
fn a_person_leaves_a_screen_without_actions_by_a_command() {
    let mut table = Table::lay("", "--color never", "");
    table.state(&tutorial().to_string());
    let menu = table.menu();
    assert!(menu.contains("tutorial") && menu.contains("the game takes: key, click, wait, state"), "{menu}");
    table.types("key confirm");
    assert_eq!(table.command(), "key confirm");
    table.state(&fight("oooooooo", &[]).to_string());
    assert!(
        table.menu().contains("monster 7, Slime #8, has no action id, since six others live; use the command: play")
    );
    table.types("play 1 7");
    assert_eq!(table.command(), "play 1 7");
}

#[test]
fn the_documentation_shows_the_real_screen() {
    let mut states = demo_session().into_iter().filter_map(|step| match step {
        Step::Mod(state) => Some(state),
        Step::Command(_) => None,
    });
    let mut table = Table::lay("", "--color never", "");
    table.state(&states.nth(5).unwrap());
    let menu = table.menu().replace('\r', "");
    let page = include_str!("../../docs/spire.md");
    let blocks: Vec<&str> = page
        .split("```text\n")
        .skip(1)
        .filter_map(|block| block.split_once(PROMPT.trim_end()))
        .map(|(shown, _)| shown)
        .collect();
    assert_eq!(blocks.last(), Some(&menu.as_str()));
}

#[test]
fn wrong_input_is_explained_and_asked_again() {
    let mut table = Table::lay("", "", "");
    table.state(&rest_site(1, 5));
    table.menu();
    for (typed, expected) in [
        ("111", "is not legal here: 111 (choose 1); legal are 110"),
        ("500", "ids are 0 to 172"),
        ("rest", "is not understood: rest"),
    ] {
        table.types(typed);
        let shown = table.menu();
        assert!(shown.contains(expected), "{typed}: {shown}");
    }
    table.types("");
    table.menu();
    table.types("?");
    assert!(table.menu().contains("state, q"));
    for typed in ["state", "q"] {
        table.types(typed);
        assert_eq!(table.command(), "state");
        table.state(&rest_site(1, 5));
        assert!(table.menu().contains("rest"), "the same state is shown again");
    }
    table.types("110");
    assert_eq!(table.command(), "choose 0", "nothing else reached the mod");
    table.types("110");
    table.person.exp_string("nothing to choose now").unwrap();
}

#[test]
fn a_new_state_replaces_the_menu_under_the_prompt_trap_4() {
    let mut table = Table::lay("", "", "");
    table.state(&rest_site(1, 5));
    table.menu();
    table.state(&rest_site(1, 5)); // the same frame is no news
    table.state(&the("COMPLETE"));
    let shown = table.menu();
    assert!(shown.contains("replaces the one above") && shown.contains("[171]"), "{shown}");
    assert_eq!(shown.matches("replaces the one above").count(), 1);
    table.types("110");
    assert!(table.menu().contains("not legal here"), "a choice of the stale menu");
    table.types("171");
    assert_eq!(table.command(), "proceed");

    table.state(&rest_site(1, 6));
    table.menu();
    table.state(&rest_site(1, 6).replace("\"ready_for_command\":true", "\"ready_for_command\":false"));
    table.person.exp_string("the game moved on by itself").unwrap();
    table.types("110");
    table.person.exp_string("nothing to choose now").unwrap();
    table.state(&rest_site(1, 7));
    table.menu();
    table.types("110");
    assert_eq!(table.command(), "choose 0");
}

#[test]
fn a_refused_command_is_asked_again() {
    let mut table = Table::lay("", "", "");
    table.state(&the("an open chest"));
    table.menu();
    table.types("105");
    assert_eq!(table.command(), "potion discard 0");
    table.state(ERROR);
    table.person.exp_string("the game refused that: Invalid command: choose.").unwrap();
    assert_eq!(table.command(), "state");
    table.state(&the("an open chest"));
    assert!(!table.menu().contains("[105]"));
    table.types("171");
    assert_eq!(table.command(), "proceed");
    assert!(table.stderr().contains("the mod refused `potion discard 0`"));
}

#[test]
fn a_person_can_answer_through_three_wrappers() {
    let wrap = example("wrap");
    let wrap = wrap.display();
    let mut table =
        Table::lay(&format!("{wrap} -- {wrap} -- {wrap} --"), "", "read -r word </dev/tty; echo the shell read $word");
    for floor in 1..4 {
        table.state(&rest_site(1, floor));
        table.menu();
        table.types("110");
        assert_eq!(table.command(), "choose 0");
    }
    table.types("quit");
    // The foreground is back at the shell, which may read the terminal.
    table.types("hello");
    table.person.exp_string("the shell read hello").unwrap();
}

#[test]
fn a_person_can_answer_through_two_recorders() {
    let logs = tempfile::tempdir().unwrap();
    let recorder = binary("jsonl-record");
    let [outer, inner] = ["outer", "inner"].map(|name| logs.path().join(name));
    let before = format!("{0} {1} -- {0} {2} --", recorder.display(), outer.display(), inner.display());
    let mut table = Table::lay(&before, "", "read -r word </dev/tty; echo the shell read $word");
    for floor in 1..4 {
        table.state(&rest_site(1, floor));
        table.menu();
        table.types("110");
        assert_eq!(table.command(), "choose 0");
    }
    table.types("quit");
    table.types("hello");
    table.person.exp_string("the shell read hello").unwrap();
    for file in [outer, inner] {
        let log = Log::read(&file).clean();
        assert_eq!(text(&log.stream(Direction::Out)), "ready\nchoose 0\nchoose 0\nchoose 0\n");
        assert_eq!(log.end(), ("exit status 0", Some(0)));
    }
}

#[test]
fn half_an_answer_to_the_old_menu_is_discarded() {
    let mut table = Table::lay("stty echo;", "", "");
    table.state(&rest_site(1, 5));
    table.menu();
    table.person.send("11").unwrap();
    table.person.flush().unwrap();
    // The terminal's echo: it is in its line buffer, without a line feed.
    table.person.exp_string("11").unwrap();
    table.state(&rest_site(1, 6));
    table.menu();
    table.types("0");
    assert!(table.menu().contains("not legal here: 0 "), "the 11 is forgotten");
    table.types("110");
    assert_eq!(table.command(), "choose 0");
    table.person.send("11").unwrap();
    table.person.flush().unwrap();
    table.person.exp_string("11").unwrap();
    table.state(&rest_site(1, 7));
    table.menu();
    table.types("0");
    assert!(table.menu().contains("not legal here: 0 "), "nor what was typed before there was a menu");
}

#[test]
fn in_the_background_it_reports_so_and_is_not_stopped() {
    let mut shell = Command::new("bash");
    let proxy = binary("sts-proxy");
    // A shell with job control puts commands that end in & into the background.
    shell.args(["-c", &format!("set -m; {} --no-record </dev/null & wait $!; echo status $?", proxy.display())]);
    let mut person = with_a_person(shell);
    person.exp_string("in the background of this terminal").unwrap();
    person.exp_string("status 3").unwrap();
}

#[test]
fn the_foreground_comes_back_from_a_killed_wrapper() {
    let wrap = example("wrap");
    let wrap = wrap.display();
    let mut table =
        Table::lay(&format!("{wrap} -- {wrap} --"), "", "read -r word </dev/tty; echo the shell read $word");
    table.state(&rest_site(1, 5));
    table.menu();
    let folder = table.folder.path().display().to_string();
    let killed = Command::new("pkill").args(["-9", "-f", &format!("^[^ ]*sts-proxy.*{folder}")]).status().unwrap();
    assert!(killed.success());
    table.types("hello");
    table.person.exp_string("the shell read hello").unwrap();
}

#[test]
fn ctrl_c_and_ctrl_d_end_it() {
    for (key, status) in [('c', "status 130"), ('d', "status 0")] {
        // The trap keeps the shell, which Ctrl-C reaches, too.
        let mut table = Table::lay("trap : INT;", "", "echo status $?");
        table.state(&rest_site(1, 5));
        table.menu();
        table.person.send_control(key).unwrap();
        table.person.exp_string(status).unwrap();
    }
}

#[test]
fn ctrl_c_reaches_the_innermost_of_three_and_ends_all() {
    let wrap = example("wrap");
    let wrap = wrap.display();
    let mut table = Table::lay(&format!("trap : INT; {wrap} -- {wrap} --"), "", "echo status $?");
    table.state(&rest_site(1, 5));
    table.menu();
    table.person.send_control('c').unwrap();
    table.person.exp_string("status 130").unwrap();
}

#[test]
fn game_text_cannot_control_the_terminal() {
    let mut table = Table::lay("", "--color always", "");
    table.state(&the("targets index the full array").replace("\"Slaver\"", r#""\u001b[2J\u0007Slaver\u202e""#));
    let menu = table.menu();
    assert!(menu.contains("?[2J?Slaver?"), "{menu:?}");
    assert!(!menu.contains("\x1b[2J") && menu.contains("\x1b[33m"), "our own colour is there: {menu:?}");
}

#[test]
fn colour_follows_the_conventions() {
    for (setting, colour) in [("", true), ("NO_COLOR=1", false), ("NO_COLOR=", true), ("TERM=dumb", false)] {
        let mut table = Table::lay(setting, "", "");
        table.state(&rest_site(1, 5));
        assert_eq!(table.menu().contains("\x1b["), colour, "{setting:?}");
    }
}

#[test]
fn without_a_terminal_it_gives_advice_and_the_mod_does_not_wait() {
    let output = pipe(Command::new("setsid").arg("-w").arg(binary("sts-proxy")).arg("--no-record"), b"");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(text(&output.stdout), "ready\n", "the game would stand still for ten seconds");
    let stderr = text(&output.stderr);
    assert!(stderr.contains("no terminal to ask at: /dev/tty") && stderr.contains("--tty"), "{stderr}");
    let output = pipe(command("sts-proxy").args(["--no-record", "--tty", "/dev/null"]), b"");
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("/dev/null: it is not a terminal"), "{}", text(&output.stderr));
}

#[test]
fn another_terminal_can_be_named() {
    // The person's terminal is not the one from which the game was started.
    let mut elsewhere = Command::new("sh");
    elsewhere.args(["-c", "tty; sleep 30"]);
    let mut elsewhere = with_a_person(elsewhere);
    let path = elsewhere.read_line().unwrap();
    assert!(Path::new(&path).exists());
    let mut proxy = Command::new("setsid");
    proxy.args(["-w"]).arg(binary("sts-proxy")).args(["--no-record", "--tty", &path]);
    let mut proxy = crate::process::Talk::start(&mut proxy);
    assert_eq!(proxy.receive(), "ready");
    proxy.say(&rest_site(1, 5));
    elsewhere.exp_string(PROMPT).unwrap();
    elsewhere.send_line("110").unwrap();
    assert_eq!(proxy.receive(), "choose 0");
}

/// A recorded game, played again by keys: each choice is the recorded one. Now and then the state changes under
/// the prompt, as when the person also clicks in the game.
#[test]
fn a_whole_recorded_game_is_played_at_the_terminal() {
    let mut table = Table::lay("", "--start SILENT 20 --games 1", "echo status $?");
    let (mut chosen, mut state) = (0, String::new());
    for step in demo_session() {
        let recorded = match step {
            Step::Mod(message) => {
                state = message;
                table.state(&state);
                continue;
            }
            Step::Command(command) => command,
        };
        if !recorded.starts_with("start") {
            table.menu();
            if chosen % 10 == 9 {
                table.state(&state.replacen("\"gold\":", "\"gold\":1", 1));
                assert!(table.menu().contains("replaces the one above"));
            }
            table.types(&recorded);
            chosen += 1;
        }
        assert_eq!(table.command(), recorded);
    }
    table.person.exp_string("status 0").unwrap();
    assert!(chosen > 50);
}
