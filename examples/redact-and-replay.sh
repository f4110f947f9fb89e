#!/usr/bin/env bash
# Records a session without its secrets, checks that none is in the log, and replays it: does today's agent
# still make the same calls?
#
# Needs jq, which is the world here: any program that answers a line with a line can take its place, such as
# `godot-bridge --launch GAME` or `mcp-pipe -- SERVER`. Replace `calls` by your agent.
# The world gets its secret in the environment, because every user of a machine can read command lines.
# Ends with 1 if a secret got into the log, or if the agent makes other calls.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/run.jsonl
export SHOP_TOKEN=c0ffee
without_secrets='del(.. | .password?, .token?)'

calls() {
    echo '{"id":1,"tool":"log_in","args":{"user":"ann","password":"hunter2"}}'
    printf '{"id":2,"tool":"list_orders","args":{"token":"%s"}}\n' "$SHOP_TOKEN"
}

calls | jsonl-record --child world --redact "$without_secrets" "$log" -- \
    jq --unbuffered -c '{id, tool, status: "ok", data: (if .tool == "log_in" then {token: env.SHOP_TOKEN} else ["a lamp"] end)}'

if grep -e hunter2 -e "$SHOP_TOKEN" "$log"; then
    echo 'a secret is in the log' >&2
    exit 1
fi

# The comparison leaves out what the log left out.
calls | replay --as world --normalise "$without_secrets" "$log"
