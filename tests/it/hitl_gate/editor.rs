//! The arguments in a person's editor; shell scripts play the editor.

use super::{Desk, MARKED};
use crate::process::{eventually, is_running};
use std::os::unix::fs::PermissionsExt;

/// A desk whose editor is this script; the file is its `$1`, and `$FOLDER` its folder.
fn desk(script: &str, options: &str) -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let editor = folder.path().join("an editor");
    std::fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o700)).unwrap();
    let before = format!("VISUAL=\"'{}' --wait\" ", editor.display());
    Desk::lay_in(folder, &before, options, "read -r word </dev/tty; echo the shell read $word; stty -a")
}

/// The text that a script has left in a file.
fn left(desk: &Desk, name: &str) -> String {
    let path = desk.folder.path().join(name);
    eventually("the editor has run", || std::fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n')));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_edited_arguments_are_shown_and_approved() {
    let mut desk = desk(
        r#"cp "$2" "$FOLDER/seen"; { stat -c '%a' "$2" "$(dirname "$2")"; echo "$1"; } > "$FOLDER/mode"
        printf '{\n  "path": "b",\n  "big": 12345678901234567890123, "x": [1.10,\n {} ] }\n' > "$2""#,
        "",
    );
    desk.hold(MARKED);
    desk.types("e");
    let shown = desk.question();
    assert_eq!(left(&desk, "seen"), "{\n  \"path\": \"a.txt\",\n  \"n\": 1.10\n}\n");
    assert_eq!(left(&desk, "mode"), "600\n700\n--wait\n", "only its owner may read them");
    for line in ["- .path: \"a.txt\"", "+ .path: \"b\"", "- .n: 1.10", "+ .big: 12345678901234567890123", "+ .x[1]: {}"]
    {
        assert!(shown.contains(line), "{line} is missing from {shown}");
    }
    desk.types("y");
    assert_eq!(desk.receive_decision(), ("edited_by_human".into(), "terminal".into()));
    assert_eq!(
        desk.receive(),
        r#"{"id":1,"tool":"rm","args":{"path":"b","big":12345678901234567890123,"x":[1.10,{}]}}"#
    );
    desk.calls = None;
    desk.types("hello");
    desk.person.exp_string("the shell read hello").unwrap();
    let folders = std::fs::read_dir(desk.folder.path().join("pipewright")).unwrap();
    assert_eq!(folders.count(), 0, "the file is gone");
}

#[test]
fn text_that_is_not_json_can_be_edited_again() {
    let mut desk = desk(
        r#"echo x >> "$FOLDER/runs"
        if [ "$(wc -l < "$FOLDER/runs")" = 1 ]; then echo '{"path": oops' > "$2"; else cp "$2" "$FOLDER/again"; echo '{"path": "c"}' > "$2"; fi"#,
        "",
    );
    desk.hold(MARKED);
    desk.types("e");
    assert!(desk.question().contains("not JSON"));
    desk.types("e");
    assert!(desk.question().contains("+ .path: \"c\""));
    assert_eq!(left(&desk, "again"), "{\"path\": oops\n", "the text is kept for the next edit");
    desk.types("e n=2");
    assert!(desk.question().contains("+ .n: 2"));
    desk.types("y");
    desk.receive_decision();
    assert_eq!(desk.receive(), r#"{"id":1,"tool":"rm","args":{"path":"c","n":2}}"#);
}

#[test]
fn an_editor_that_fails_or_changes_nothing_changes_nothing() {
    for (script, message) in [("echo '{}' > \"$2\"; exit 3", "exit status 3"), ("touch \"$2\"", "nothing is changed")] {
        let mut desk = desk(script, "");
        desk.hold(MARKED);
        desk.types("e");
        assert!(desk.question().contains(message), "{script}");
        desk.types("y");
        assert_eq!(desk.receive_decision().0, "approved");
        assert_eq!(desk.receive(), super::SETTLED);
    }
}

#[test]
fn an_editor_has_the_terminal_even_if_it_is_borrowed() {
    let wrap = crate::process::example("wrap");
    let folder = tempfile::tempdir().unwrap();
    let before = format!(
        r#"EDITOR='f() {{ echo "edit:"; read -r answer; kill -STOP $$; echo "{{\"path\": \"$answer\"}}" > "$1"; }}; f' {} -- "#,
        wrap.display()
    );
    let mut desk = Desk::lay_in(folder, &before, "-- cat", "read -r word </dev/tty; echo the shell read $word");
    desk.hold(MARKED);
    desk.types("e");
    desk.person.exp_string("edit:").unwrap();
    desk.types("typed");
    // It stopped itself, and no other process would have continued it.
    assert!(desk.question().contains("+ .path: \"typed\""));
    desk.types("y");
    let notice = desk.receive_json();
    assert_eq!((&notice["status"], &notice["edited_arguments"]["path"]), (&"edited_by_human".into(), &"typed".into()));
    assert_eq!(desk.receive(), r#"{"id":1,"tool":"rm","args":{"path":"typed"}}"#);
    desk.calls = None;
    desk.types("hello");
    desk.person.exp_string("the shell read hello").unwrap();
}

#[test]
fn an_editor_that_never_ends_is_ended_at_the_timeout() {
    let mut desk = desk("trap '' TERM HUP; echo $$ > \"$FOLDER/pid\"; while :; do sleep 1; done", "--timeout 1.5");
    desk.hold(MARKED);
    desk.types("e");
    let editor: i32 = left(&desk, "pid").trim().parse().unwrap();
    assert_eq!(desk.receive_decision(), ("rejected".into(), "timeout".into()));
    desk.person.exp_string("withdrawn").unwrap();
    eventually("the editor has ended", || !is_running(editor));
    desk.calls = None;
    desk.types("hello");
    desk.person.exp_string("the shell read hello").unwrap();
}

#[test]
fn a_signal_ends_the_editor_too_and_the_terminal_is_put_back() {
    let mut desk = desk("stty -echo -icanon; echo $$ > \"$FOLDER/pid\"; while :; do sleep 1; done", "");
    desk.hold(MARKED);
    desk.types("e");
    let editor: i32 = left(&desk, "pid").trim().parse().unwrap();
    // There may be a shell in between.
    let mut gate = editor;
    while !std::fs::read_to_string(format!("/proc/{gate}/comm")).unwrap().starts_with("hitl-gate") {
        gate = parent(gate);
    }
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(gate), nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(desk.receive_decision(), ("rejected".into(), "end".into()));
    eventually("both have ended", || !is_running(editor) && !is_running(gate));
    desk.types("hello");
    desk.person.exp_string("the shell read hello").unwrap();
    assert!(desk.person.exp_eof().unwrap().contains(" icanon "), "the editor had left it in raw mode");
}

fn parent(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap()
}
