//! A world on another machine: the connection is cut, the agent gets a signal.

use super::run;

/// A world that says where it is, after so many seconds; and a model that calls it, at first for `$FIRST` seconds.
const WORLD_AND_MODEL: &str = r#"
cat >world.sh <<'END'
#!/usr/bin/env bash
while IFS= read -r line; do
    case $(jq -r .type <<<"$line") in
    list_tools) jq -c '{type: "tool_list", request_id, world: "clock", tools: [{name: "read_clock", description: "Reads the clock.",
        input_schema: {type: "object", properties: {seconds: {type: "number"}}}}]}' <<<"$line" ;;
    tool_call)
        echo call >>/mnt/calls
        sleep "$(jq .arguments.seconds <<<"$line")"
        jq -c --arg host "$(hostname)" '{type: "tool_result", call_id, status: "ok", result: "it is late on \($host)"}' <<<"$line"
        ;;
    esac
done
END
cat >model.sh <<'END'
call="{tool_name: \"read_clock\", arguments: {seconds: $FIRST}}"
while IFS= read -r request; do
    case $request in *'"cancel"'*) continue ;; esac
    printf '%s\n' "$request" >>/mnt/requests
    case $(grep -c . /mnt/requests) in
    1) ;;
    2) call='{tool_name: "read_clock", arguments: {seconds: 0}}' ;;
    *) call='{tool_name: "assistant_done", arguments: {reason: "It is late.", evidence: "it is late on host1"}}' ;;
    esac
    jq -c '{type: "model_turn", request_id, status: "ok", stop: "call", text: "", provider: "script", model: "turns", raw: {}, latency_ms: 0, retries: 0,
        usage: {}, calls: [{call_id: .request_id} + '"$call"']}' <<<"$request"
done
END
chmod +x world.sh
a_call_is_made() { [ -s calls ]; }
worlds() { ssh -n host1 'ps ax -o args' | grep -cE '[w]orld.sh' || true; }
no_world() { [ "$(worlds)" = 0 ]; }
"#;

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn a_world_behind_a_link_that_was_cut_is_started_again_and_the_call_may_have_been_executed() {
    let script = r#"
        export FIRST=20 LLM='bash /mnt/model.sh' WORLD=/mnt/world.sh
        $E/world-over-ssh.sh host1 'What time is it?' >out 2>err & agent=$!
        wait_for a_call_is_made
        ip link set host1 down
        is_lost() { grep -q 'starting it again' err; }
        wait_for is_lost
        ip link set host1 up
        wait $agent || { cat out err >&2; exit 1; }
        [ "$(wc -l <calls)" = 2 ] || { cat calls out err >&2; exit 1; }
        wait_for no_world
        jq -c 'select(.type == "tool_result") | [.status, .kind, .maybe_executed]' out
        jq -r 'select(.type == "final") | .outcome' out
        sed -n 2p requests | grep -o 'may have been executed' | head -n 1"#;
    let printed = run(1, &[], &format!("{WORLD_AND_MODEL}{script}"));
    assert_eq!(printed, "[\"error\",\"lost\",true]\n[\"ok\",null,null]\ndone\nmay have been executed\n");
}

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn a_run_that_has_lost_its_connection_goes_on_in_its_session() {
    let script = r#"
        export FIRST=60
        agent() { agent-loop --session run.session --goal 'What time is it?' --llm 'bash /mnt/model.sh' -- ssh host1 /mnt/world.sh; }
        agent >out 2>err & agent=$!
        wait_for a_call_is_made
        pkill -9 -f 'sshd: [r]oot@notty'
        wait $agent && exit 1
        echo $?
        agent >out 2>err
        [ "$(wc -l <calls)" = 2 ]
        sed -n 2p requests | grep -o 'may have been executed' | head -n 1
        jq -r 'select(.type == "final") | .outcome' out"#;
    let printed = run(1, &[], &format!("{WORLD_AND_MODEL}{script}"));
    assert_eq!(printed, "4\nmay have been executed\ndone\n");
}

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn a_signal_to_the_agent_ends_the_world_on_the_other_machine() {
    let script = r#"
        # With job control, SIGINT is not ignored by what runs in the background.
        set -m
        ours='mcp-pipe -- mcp-serve -- /mnt/world.sh'
        for signal in TERM INT; do
            rm -f calls requests
            FIRST=60 agent-loop --goal g --llm 'bash /mnt/model.sh' -- ssh host1 "$ours" >out 2>&1 & agent=$!
            wait_for a_call_is_made
            kill -$signal $agent
            wait $agent || echo $?
            # The call was cancelled: the world does not work on it to its end.
            wait_for no_world
        done
        # After a SIGKILL, the world gets only the end of its stdin: it ends when the call has ended.
        rm -f calls requests
        FIRST=3 agent-loop --goal g --llm 'bash /mnt/model.sh' -- ssh host1 "$ours" >out 2>&1 & agent=$!
        wait_for a_call_is_made
        kill -KILL $agent
        wait $agent 2>/dev/null || echo $?
        [ "$(worlds)" != 0 ]
        wait_for no_world
        wc -l <calls
        # A terminal on the other side returns the lines that are sent to it.
        { FIRST=0 agent-loop --goal g --llm 'bash /mnt/model.sh' -- ssh -tt host1 /mnt/world.sh 2>&1 || true; } |
            grep -o 'does not list its tools' | sort -u"#;
    let printed = run(1, &[], &format!("{WORLD_AND_MODEL}{script}"));
    assert_eq!(printed, "143\n130\n137\n1\ndoes not list its tools\n");
}
