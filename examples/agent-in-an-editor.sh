#!/usr/bin/env bash
# An agent in a few lines of shell, in any editor that supports ACP: it counts the words of your message.
#
# usage: agent-in-an-editor.sh            acts as the editor: sends one prompt and prints the answer
#        agent-in-an-editor.sh --serve    for an editor: name the script as the agent's "command", with "--serve" in "args"
#
# Needs jq. Change `agent`: it reads the person's messages and writes the records of docs/protocol.md. Ends with 1 if the prompt fails.
set -euo pipefail

agent() {
    local line
    jq -nc '{type: "status", status: "idle", pending_kind: "none"}'
    while IFS= read -r line; do
        [[ $(jq -r .type <<<"$line") == user_message ]] || continue
        jq -nc '{type: "status", status: "running", pending_kind: "none"}'
        jq -c '{type: "final", outcome: "done", content: "\(.content | split(" ") | length) words", usage: {}, steps: 0, denied: 0, exit_status: 0}' <<<"$line"
        jq -nc '{type: "status", status: "idle", pending_kind: "none"}'
    done
}
export -f agent
[[ ${1:-} != --serve ]] || exec agent-acp -- bash -c agent

coproc acp { agent-acp -- bash -c agent; }
# Bash does not pass a coprocess's own descriptors to subshells.
exec {to}>&"${acp[1]}" {from}<&"${acp[0]}" {acp[1]}>&-
# Sends a request, shows the messages before its answer, and prints the answer.
ask() {
    local line
    jq -nc --arg method "$1" --argjson params "$2" '{jsonrpc: "2.0", id: 1, $method, $params}' >&"$to"
    while IFS= read -r line <&"$from"; do
        if [[ $(jq 'has("id")' <<<"$line") == true ]]; then
            jq -ce '.result' <<<"$line"
            return
        fi
        jq -r '.params.update | select(.content) | .content.text' <<<"$line" >&2
    done
    return 1
}
ask initialize '{"protocolVersion": 1, "clientCapabilities": {}}' >/dev/null
session=$(ask session/new "$(jq -nc --arg cwd "$PWD" '{$cwd, mcpServers: []}')" | jq .sessionId)
ask session/prompt "{\"sessionId\": $session, \"prompt\": [{\"type\": \"text\", \"text\": \"How many words are these?\"}]}"
exec {to}>&-
wait
