#!/usr/bin/env bash
# Records a session without the secrets that pass in it, looks whether none is in the log, and replays it: does today's agent
# still make the same calls?
#
# Needs jq, which plays the world here: any program that answers a line with a line can stand in its place, as
# `godot-bridge --launch GAME` or `mcp-pipe -- SERVER`; `calls` is where your agent stands.
# The world is given its secret in the environment: a command line is seen by every user of a machine.
# Ends with 1 if a secret got into the log, or if the agent calls otherwise.
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

# What was kept out of the log is kept out of the comparison.
calls | replay --as world --normalise "$without_secrets" "$log"
