#!/usr/bin/env bash
# A program approves calls instead of a person: a chat, a web page, or as here a rule of three lines. It reads each
# question with its nonce, and answers on a separate channel that the agent cannot reach.
#
# Needs jq. Replace `decide` by your own program and `calls` by your agent, and add the world after the gate:
# `| mcp-pipe -- SERVER`. Here the last jq shows which calls would be carried out, and the errors that the agent gets.
# Ends with 1, because a payment is rejected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

calls() {
    echo '{"id":1,"tool":"list_invoices"}'
    echo '{"id":2,"tool":"pay_invoice","args":{"number":7,"amount":40}}'
    echo '{"id":3,"tool":"pay_invoice","args":{"number":8,"amount":900}}'
}
decide() {
    jq --unbuffered -c 'select(.status == "waiting_human") | {type: "hitl_response", call_id, nonce} +
        if .arguments.amount <= 100 then {action: "approve"} else {action: "reject", feedback: "more than 100"} end'
}

mkfifo "$folder/answers"
calls | policy-check | hitl-gate --answers "$folder/answers" --events >(decide >"$folder/answers") |
    jq -r 'select(.type == null) | "\(.id) \(.tool): \(.error // "carried out")"'
