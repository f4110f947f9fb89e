#!/usr/bin/env bash
# A person's chat with an agent, from a script: a call by hand, a message, one call that is rejected and one that is approved.
#
# usage: chat.sh [MODEL [OPTIONS OF llm-pipe]]
#
# MODEL is a model such as gemini/gemini-3-flash; by default a script takes its place. The world is a few lines of shell: replace
# `bash -c world` by your own. At a terminal, run agent-chat without the printf, and type. Needs jq.
# Ends with 1, because a call is rejected.
set -euo pipefail
ask='bash -c model'
[ $# -eq 0 ] || ask="llm-pipe --model $*"

model() {
    local request number=0 turns=(
        '{"text": "I pay invoice 7.", "calls": [{"call_id": "c1", "tool_name": "pay_invoice", "arguments": {"number": 7}}]}'
        '{"text": "Then invoice 8.", "calls": [{"call_id": "c2", "tool_name": "pay_invoice", "arguments": {"number": 8}}]}'
        '{"calls": [{"call_id": "c3", "tool_name": "assistant_done", "arguments": {"reason": "Invoice 8 is paid."}}]}')
    while IFS= read -r request; do
        jq -c --argjson turn "${turns[number++]}" '{type: "model_turn", request_id, status: "ok", stop: "call", text: "", usage: {},
            provider: "script", model: "turns", raw: $turn, latency_ms: 0, retries: 0} + $turn' <<<"$request"
    done
}

world() {
    local line
    while IFS= read -r line; do
        jq -c 'if .type == "list_tools" then {type: "tool_list", request_id, world: "invoices", tools: [
                {name: "list_invoices", description: "Lists open invoices.", input_schema: {type: "object"}},
                {name: "pay_invoice", description: "Pays an invoice.", input_schema: {type: "object", required: ["number"]}}]}
            elif .tool_name == "list_invoices" then {type: "tool_result", call_id, status: "ok", result: "open: 7, 8"}
            else {type: "tool_result", call_id, status: "ok", result: "paid"} end' <<<"$line"
    done
}
export -f model world

printf '%s\n' list_invoices /chat 'Pay an invoice.' '/no not 7, pay 8' /yes /steps |
    agent-chat -- agent-loop --llm "$ask" -- policy-check -- hitl-gate -- bash -c world
