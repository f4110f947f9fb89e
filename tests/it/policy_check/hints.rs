//! The wrapped server's hints about its own tools: the gate reads the list itself, and trusts a read-only hint only with `--trust-hints`.

use crate::process::{Talk, command, pipe, text};
use std::process::Command;

/// An MCP server that lists its tools on two pages, reports a changed list on `relist`, and sends everything else back.
const SERVER: &str = r#"
tools='{"name":"read_once","annotations":{"destructiveHint":true}},{"name":"frobnicate","annotations":{"readOnlyHint":true}},{"name":"set_password","annotations":{"readOnlyHint":true}},{"name":"run_command","annotations":{"readOnlyHint":true}}'
more='{"name":"delete_all","annotations":{"readOnlyHint":true}},{"name":"browser_type","annotations":{"destructiveHint":true}}'
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":\("[^"]*"\).*/\1/')
    case $line in
    *'"cursor":"next"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}\n' "$id" "$more" ;;
    *tools/list*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s],"nextCursor":"next"}}\n' "$id" "$tools" ;;
    *relist*)
        tools='{"name":"frobnicate"}'
        printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' ;;
    *) printf '%s\n' "$line" ;;
    esac
done"#;

fn wrapped(options: &[&str], server: &str) -> Command {
    let mut gate = command("policy-check");
    gate.args(options).args(["--", "sh", "-c", server]);
    gate
}

fn call(tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

/// Sends a client's first messages; afterwards the gate has read both pages, and the client has received none of them.
fn initialize(talk: &mut Talk) {
    for line in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ] {
        assert_eq!(talk.ask(line), line);
    }
    settle(talk);
}

/// The first line sent answers the requests made before it, the second one the next page.
fn settle(talk: &mut Talk) {
    for line in [r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#] {
        assert_eq!(talk.ask(line), line);
    }
}

#[test]
fn the_gate_reads_the_list_itself() {
    let mut talk = Talk::start(&mut wrapped(&[], SERVER));
    initialize(&mut talk);
    for tool in ["read_once", "browser_type"] {
        assert!(talk.ask(&call(tool)).contains("builtin.annotation"), "{tool}");
    }
    assert!(talk.ask(&call("frobnicate")).contains("builtin.unknown"));
    talk.end_after_close();
}

#[test]
fn a_trusted_servers_hints_count_unless_the_name_contradicts() {
    let mut talk = Talk::start(&mut wrapped(&["--trust-hints"], SERVER));
    initialize(&mut talk);
    assert_eq!(talk.ask(&call("frobnicate")), call("frobnicate"));
    for (tool, rule) in
        [("delete_all", "builtin.tool"), ("set_password", "builtin.unknown_effect"), ("run_command", "builtin.run")]
    {
        assert!(talk.ask(&call(tool)).contains(rule), "{tool}");
    }
    // The new list has no hint about it.
    let changed = talk.ask(r#"{"jsonrpc":"2.0","id":2,"method":"relist"}"#);
    assert!(changed.contains("list_changed"), "{changed}");
    settle(&mut talk);
    assert!(talk.ask(&call("frobnicate")).contains("the effect of frobnicate is not known"));
    talk.end_after_close();
}

#[test]
fn the_list_of_a_trusted_world_of_ours_is_requested() {
    let world = r#"
        while read -r line; do
            case $line in
            *list_tools*)
                id=$(printf '%s' "$line" | sed 's/.*"request_id":\("[^"]*"\).*/\1/')
                printf '{"type":"tool_list","request_id":%s,"tools":[{"name":"frobnicate","annotations":{"readOnlyHint":true}}]}\n' "$id" ;;
            *) printf '%s\n' "$line" ;;
            esac
        done"#;
    let look = r#"{"tool":"look","id":1}"#;
    for (options, verdict) in [(&["--trust-hints"][..], r#""verdict":"allow""#), (&[], "requires_approval")] {
        let mut talk = Talk::start(&mut wrapped(options, world));
        // The first call is judged before the list arrives.
        assert!(talk.ask(look).contains(r#""tool":"look""#));
        let judged = talk.ask(r#"{"tool":"frobnicate","id":2}"#);
        assert!(judged.contains(verdict), "{options:?}: {judged}");
        talk.end_after_close();
    }
    // A program that sends every line back is not a world, and its caller does not get our request either.
    let output = pipe(&mut wrapped(&["--trust-hints"], "exec cat"), look.as_bytes());
    assert!(!text(&output.stdout).contains("list_tools"), "{}", text(&output.stdout));
}

#[test]
fn in_a_pipe_there_is_no_server_to_trust() {
    let output = pipe(command("policy-check").arg("--trust-hints"), b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--trust-hints needs -- CMD"));
}
