#!/usr/bin/env bash
# Records an agent with a model, both gates and a world, on the connections to the model and to the world. Then runs it again offline from these two logs.
#
# usage: replay-an-agent.sh [FOLDER [MODEL [OPTIONS OF llm-pipe]]]
#
# FOLDER keeps the logs and audits; by default they are not kept. MODEL is a model such as gemini/gemini-3-flash; by default a script takes
# its place. The world is a few lines of shell: replace `bash -c world` by your own. Needs jq.
# Ends with 1 if the second run differs from the first.
set -euo pipefail
if [ $# -gt 0 ]; then folder=$1; else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
cd "$folder"
ask='bash -c model'
[ $# -lt 2 ] || ask="llm-pipe --model ${*:2}"

# The model: each request gets the next turn.
cat >turns.jsonl <<'END'
{"stop": "call", "calls": [{"call_id": "c1", "tool_name": "list_invoices", "arguments": {}}]}
{"stop": "call", "calls": [{"call_id": "c2", "tool_name": "pay_invoice", "arguments": {"number": 7, "amount": 40.50}}]}
{"stop": "call", "calls": [{"call_id": "c3", "tool_name": "assistant_done", "arguments": {"reason": "Invoice 7 is paid."}}]}
END
model() {
    local request turn
    while IFS= read -r request && IFS= read -r turn <&3; do
        jq -c --argjson turn "$turn" '{type: "assistant_message", request_id, token: "...", is_final: false, kind: "thought"},
            {type: "model_turn", request_id, status: "ok", text: "", calls: [], usage: {input: (tostring | length)},
            provider: "script", model: "turns", raw: $turn, latency_ms: 0, retries: 0} + $turn' <<<"$request"
    done 3<turns.jsonl
}

# The world. A call of `pay_invoice` gets here only after it is approved.
world() {
    local line
    while IFS= read -r line; do
        jq -c 'if .type == "list_tools" then {type: "tool_list", request_id, world: "invoices", tools: [
                {name: "list_invoices", description: "Lists open invoices.", input_schema: {type: "object"}},
                {name: "pay_invoice", description: "Pays an invoice.", input_schema: {type: "object", required: ["number", "amount"]}}]}
            elif .tool_name == "list_invoices" then {type: "tool_result", call_id, status: "ok", result: [{number: 7, amount: 40.50}]}
            else {type: "tool_result", call_id, status: "ok", result: "paid"} end' <<<"$line"
    done
}
export -f model world

# The approver: a program, with a limit.
decide() {
    jq --unbuffered -c 'select(.status == "waiting_human") | {type: "hitl_response", call_id, nonce,
        action: (if .arguments.amount <= 100 then "approve" else "reject" end)}'
}

agent() {
    agent-loop --goal 'Pay the open invoice.' --llm "$1" -- "${@:2}" | jq -r 'select(.type == "final").content'
}

mkfifo questions answers
decide <questions >answers &
agent "jsonl-record --child world llm.log -- $ask" jsonl-record --child world world.log -- \
    policy-check --confirm mark --audit policy.audit -- hitl-gate --answers answers --events questions --audit approvals.audit -- bash -c world
wait
rm questions answers

agent 'replay --as world llm.log' replay --as world world.log
