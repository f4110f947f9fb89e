//! `agent-chat` at a terminal: the line editor, the lines that change in place, Ctrl-C.

use super::{DONE, ECHO, Place};
use crate::process::with_a_person;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use rexpect::session::PtySession;

/// The chat at a pseudoterminal.
struct Seat {
    person: PtySession,
}

/// What the line editor prints when it has taken a line.
const TAKEN: &str = "\u{1b}[?2004l\r\n";

impl Seat {
    fn take(place: &Place, options: &[&str]) -> Seat {
        let mut chat = place.chat(options, &[]);
        chat.env("TERM", "xterm").env_remove("VISUAL").env("EDITOR", "sed -i s/1/42/");
        let mut person = with_a_person(chat);
        person.exp_string("> ").unwrap();
        Seat { person }
    }

    fn types(&mut self, keys: &str) {
        self.person.send(keys).unwrap();
        self.person.flush().unwrap();
    }

    /// Answers a question after reading it.
    fn answers(&mut self, keys: &str) {
        std::thread::sleep(std::time::Duration::from_millis(600));
        self.types(keys);
    }

    /// The terminal's text up to this text.
    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        let shown = self.person.exp_string(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        // All records of the agent are in order.
        assert!(!shown.contains("agent:"), "{shown}");
        shown
    }
}

/// Turns that the model gives once the test has written the file `go` or `on`.
const GO: &str = r#"{"text":"I look at **it**.","until":"go","calls":[{"tool_name":"assistant_plan","arguments":{"steps":["Look","Pay"]}}]}"#;
const ON: &str = r#"{"text":"I look at **it**.","until":"on","calls":[{"tool_name":"assistant_plan","arguments":{"steps":["Look","Pay"]}}]}"#;
const SLOW: &str = r#"{"text":"I look at **it**.","sleep_ms":600,"calls":[{"tool_name":"assistant_plan","arguments":{"steps":["Look","Pay"]}}]}"#;

#[test]
fn a_person_calls_completes_approves_edits_and_talks() {
    let on = r#"{"until":"on","calls":[{"tool_name":"echo","arguments":{"n":1}}]}"#;
    let place = Place::new(&[SLOW, on, ECHO, DONE]);
    let mut seat = Seat::take(&place, &[]);
    // The prompt appears once the agent has listed its tools, which completion uses.
    seat.types("ech\tn=5\r");
    seat.sees("may this call pass?");
    seat.sees("(approve?)> ");
    seat.answers("/yes\r");
    seat.sees("{\"n\":5}");
    seat.types("/chat\r");
    seat.sees("chat> ");
    seat.types("Look, please.\r");
    // Drawn in place while the agent works.
    seat.sees("thinking");
    seat.sees("[>] Look");
    place.write("on");
    seat.sees("(approve?)> ");
    seat.answers("/edit\r");
    seat.sees("+ .n: 42");
    seat.answers("/yes\r");
    seat.sees("may this call pass?");
    seat.sees("(approve?)> ");
    seat.answers("/no that is enough\r");
    seat.sees("It is \u{1b}[1mdone\u{1b}[0m.");
    seat.sees("chat> ");
    seat.types("/exit\r");
    seat.sees("cmd> ");
    seat.types("/exit\r");
    seat.person.exp_eof().unwrap();
    assert!(place.requests().contains("that is enough"));
    let history = std::fs::read_to_string(place.path("pipewright/agent-chat.history")).unwrap();
    assert!(history.contains("Look, please.") && history.contains("/no that is enough"), "{history}");
}

#[test]
fn ctrl_c_stops_the_turn_and_a_second_one_ends() {
    let place = Place::new(&[r#"{"sleep_ms":60000}"#]);
    let mut seat = Seat::take(&place, &["--chat"]);
    seat.types("Think.\r");
    seat.sees("thinking");
    seat.types("\u{3}");
    seat.sees("cancelled: ");
    seat.sees("chat> ");
    seat.types("\u{3}");
    seat.person.exp_eof().unwrap();
    // If nothing can be stopped, the first Ctrl-C only prints a hint.
    let mut seat = Seat::take(&place, &[]);
    seat.types("\u{3}");
    seat.sees("press Ctrl-C again to end");
    seat.types("\u{3}");
    seat.person.exp_eof().unwrap();
}

#[test]
fn keys_begin_a_line_while_the_agent_works_and_the_message_reaches_it() {
    let place = Place::new(&[GO, ON, SLOW, DONE]);
    let mut seat = Seat::take(&place, &["--chat"]);
    seat.types("Go.\r");
    seat.sees("thinking");
    seat.types("be qu");
    seat.sees("chat> be qu");
    place.write("go");
    // Reports in the meantime are printed above the line.
    seat.sees("I look at");
    seat.types("ick\r");
    seat.sees(TAKEN);
    place.write("on");
    seat.sees("It is ");
    assert!(place.requests().contains("The person says: be quick"));
    seat.types("\u{4}");
    seat.person.exp_eof().unwrap();
}

#[test]
fn secrets_and_answers_stay_out_of_the_history_and_several_lines_are_one_message() {
    let place = Place::new(&[DONE]);
    let mut seat = Seat::take(&place, &["--chat"]);
    seat.types("my password is: password=hunter2secret\r");
    seat.sees("It is ");
    seat.sees("chat> ");
    seat.answers("/answer zip=1234\r");
    seat.sees("no tool has asked a question");
    seat.sees("chat> ");
    seat.types("\u{1b}[200~first\nsecond\u{1b}[201~");
    seat.types("\r");
    seat.sees("It is ");
    seat.sees("chat> ");
    seat.types("/exit\r/exit\r");
    seat.person.exp_eof().unwrap();
    let history = std::fs::read_to_string(place.path("pipewright/agent-chat.history")).unwrap();
    assert!(!history.contains("hunter2secret") && !history.contains("1234") && history.contains("first"), "{history}");
    assert!(place.requests().contains(r"first\nsecond"), "{}", place.requests());
}

#[test]
fn without_colour_there_are_no_colours_and_a_dumb_terminal_has_plain_lines() {
    let place = Place::new(&[DONE]);
    let mut chat = place.chat(&["--chat"], &[]);
    chat.env("TERM", "xterm").env("NO_COLOR", "1");
    let mut person = with_a_person(chat);
    person.exp_string("chat> ").unwrap();
    person.send_line("Go.").unwrap();
    assert!(!person.exp_string("It is done.").unwrap().contains("\u{1b}[2m"));
    let mut chat = place.chat(&["--chat"], &[]);
    chat.env("TERM", "dumb");
    let mut person = with_a_person(chat);
    person.send_line("Go.").unwrap();
    person.exp_string("It is **done**.").unwrap();
}

#[test]
fn the_terminal_is_restored_when_the_agent_ends() {
    let folder = tempfile::tempdir().unwrap();
    mkfifo(&folder.path().join("go"), Mode::S_IRWXU).unwrap();
    let chat = crate::process::binary("agent-chat");
    let script = format!(
        "stty -g >before; {} -- sh -c 'read -r line <go; exit 5'; echo status $?; stty -g >after",
        chat.display()
    );
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path()).env("TERM", "xterm").env("XDG_DATA_HOME", folder.path());
    let mut person = with_a_person(shell);
    person.exp_string("cmd> ").unwrap();
    std::fs::write(folder.path().join("go"), "\n").unwrap();
    person.exp_string("the agent ended: exit status 5").unwrap();
    person.exp_string("status 5").unwrap();
    person.exp_eof().unwrap();
    let [before, after] = ["before", "after"].map(|name| std::fs::read_to_string(folder.path().join(name)).unwrap());
    assert_eq!(before, after);
}

#[test]
fn an_answer_is_shown_while_it_is_written_and_then_once_completely() {
    let folder = tempfile::tempdir().unwrap();
    let token = |text: &str| {
        format!(r#"{{"type":"assistant_message","request_id":"m1","token":"{text}","is_final":false,"kind":"answer"}}"#)
    };
    let records = [
        r#"{"type":"status","status":"running","pending_kind":"none"}"#.to_owned(),
        token("# Lamps\\nIt is **do"),
        token("ne**, \\u001b[2J and"),
    ];
    let whole = r##"{"type":"assistant_message","token":"# Lamps\nIt is **done**, \u001b[2J and paid.","is_final":true,"kind":"answer"}
{"type":"status","status":"idle","pending_kind":"none"}"##;
    let script = format!(
        "read -r tools; echo '{{\"type\":\"tool_list\",\"tools\":[]}}'; read -r message; cat <<'END'\n{}\nEND\nsleep 1; cat <<'END'\n{whole}\nEND\ncat >/dev/null",
        records.join("\n")
    );
    let mut chat = crate::process::command("agent-chat");
    chat.args(["--chat", "--", "sh", "-c", &script]).env("TERM", "xterm").env("XDG_DATA_HOME", folder.path());
    let mut person = with_a_person(chat);
    person.exp_string("chat> ").unwrap();
    person.send("Go.\r").unwrap();
    person.flush().unwrap();
    let before = person.exp_string("It is done, ?[2J and\r\n").unwrap();
    assert!(!before.contains("\u{1b}[2J"), "{before}");
    let after = person.exp_string("It is \u{1b}[1mdone\u{1b}[0m, ?[2J and paid.").unwrap();
    assert!(after.contains("\u{1b}[1;36mLamps\u{1b}[0m"), "{after}");
    let rest = person.exp_string("chat> ").unwrap();
    assert!(!rest.contains("It is"), "{rest}");
}

#[test]
fn input_before_a_question_does_not_answer_it() {
    let place = Place::new(&[r#"{"until":"go","calls":[{"tool_name":"echo","arguments":{"n":1}}]}"#, DONE]);
    let mut seat = Seat::take(&place, &["--chat"]);
    // In a single write: the line is handled first, before the question, and so is the beginning of the next line.
    seat.types("Go.\r/yes\r/yes");
    seat.sees("no call is held");
    seat.sees("chat> /yes");
    place.write("go");
    seat.sees("may this call pass?");
    seat.answers("\r");
    seat.sees("ignored: typed before the question was shown");
    // Begun while the agent works, and submitted long after the question is shown.
    seat.answers("/no\r");
    seat.sees("rejected");
    let place = Place::new(&[r#"{"until":"go","calls":[{"tool_name":"echo","arguments":{"n":1}}]}"#, DONE]);
    let mut seat = Seat::take(&place, &["--chat"]);
    seat.types("Go.\r");
    seat.sees("thinking");
    seat.types("/y");
    seat.sees("chat> /y");
    place.write("go");
    seat.sees("may this call pass?");
    seat.answers("es\r");
    seat.sees("ignored: typed before the question was shown");
    seat.sees("(approve?)> ");
    seat.answers("/yes\r");
    seat.sees("It is ");
}

#[test]
fn complete_lines_blanks_and_split_characters_reach_the_agent_while_it_works() {
    let place = Place::new(&[GO, SLOW, DONE, DONE]);
    let mut seat = Seat::take(&place, &["--chat"]);
    seat.types("Go.\r");
    seat.sees("thinking");
    seat.types("first line\r");
    seat.sees("chat> first line");
    seat.types(" /yes is a word\r");
    seat.sees("chat>  /yes is a word");
    // Half a character, an invalid byte, and a sequence in the same write as text.
    seat.person.send("caf\u{1b}[A").unwrap();
    seat.person.flush().unwrap();
    seat.sees("chat> caf");
    seat.types("\u{e9}\r");
    seat.sees(TAKEN);
    place.write("go");
    seat.sees("It is ");
    for said in ["The person says: first line", "The person says: /yes is a word", "The person says: caf\u{e9}"] {
        assert!(place.requests().contains(said), "{said}: {}", place.requests());
    }
}

#[test]
fn a_call_without_an_answer_does_not_hold_the_person() {
    let place = Place::new(&[DONE]);
    let mut seat = Seat::take(&place, &[]);
    seat.types("wait\r");
    seat.sees("step 1");
    std::thread::sleep(std::time::Duration::from_millis(300));
    seat.types("\u{3}");
    std::thread::sleep(std::time::Duration::from_millis(300));
    seat.types("\u{3}");
    seat.person.exp_eof().unwrap();
}

#[test]
fn input_typed_ahead_is_handled_in_order() {
    let place = Place::new(&[GO, SLOW, DONE, SLOW, DONE, SLOW, DONE, SLOW, DONE, DONE, DONE]);
    let mut seat = Seat::take(&place, &["--chat"]);
    seat.types("one\rtwo\rthr");
    seat.sees("chat> thr");
    seat.types("ee\r");
    seat.sees(TAKEN);
    place.write("go");
    seat.sees("It is ");
    let requests = place.requests();
    let at = |text: &str| requests.find(text).unwrap_or_else(|| panic!("{text}: {requests}"));
    assert!(at("one") < at("The person says: two"), "{requests}");
    assert!(at("The person says: two") < at("The person says: three"), "{requests}");
    // Ctrl-C after a line, and after an Esc.
    seat.sees("chat> ");
    seat.types("four\r\u{1b}\u{3}");
    seat.sees("cancelled: ");
    seat.sees("chat> ");
    // Ctrl-C clears an unfinished line, and stops nothing.
    seat.types("abc");
    seat.sees("abc");
    seat.types("\u{3}");
    seat.types("/status\r");
    seat.sees("mode: chat");
    seat.types("\u{4}");
    seat.person.exp_eof().unwrap();
}
