#!/usr/bin/env bash
# An agent in a few lines of shell, in a web page and for AG-UI clients: it counts the words of your message.
#
# usage: agent-in-a-web-page.sh            starts the server, sends one message as an AG-UI client does, and prints the answer
#        agent-in-a-web-page.sh --serve    serves until Ctrl-C: open the address that is printed
#
# Needs curl and jq. Change `agent`: it reads the person's messages and writes the records of docs/protocol.md. Ends with 1 if the run fails.
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
[[ ${1:-} != --serve ]] || exec agent-serve -- bash -c agent

# A free port, and a fixed token.
export AGENT_SERVE_TOKEN=a-token-of-this-example
coproc server { exec agent-serve --listen 127.0.0.1:0 -- bash -c agent 2>&1; }
stop() { kill "$server_PID" && wait "$server_PID" || true; }
trap stop EXIT
read -r line <&"${server[0]}"
address=${line#*open }
address=${address%%/\?*}

curl --silent --no-buffer "$address/ag-ui" -H "Authorization: Bearer $AGENT_SERVE_TOKEN" -H 'Content-Type: application/json' \
    -d '{"threadId": "words", "runId": "run-1", "tools": [], "context": [], "messages": [{"id": "1", "role": "user", "content": "How many words are these?"}]}' |
    sed -n 's/^data: //p' | jq -r 'select(.type == "TEXT_MESSAGE_CONTENT").delta' | grep .
