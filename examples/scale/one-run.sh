#!/usr/bin/env bash
# One run of a batch: an agent with its own goal. Writes its log (jsonl-record) to stdout.
#
# usage: one-run.sh NUMBER
#
# The model is a few lines of shell (needs jq), and the world is a recorded server: replace both with your own.
# The exit status is 0 if the run finished, whether or not the goal was reached (the log has the outcome). Otherwise it is the agent's
# status, such as 4 if the world was lost: then the run can be tried again.
set -euo pipefail
cd "$(dirname "$0")/../.."
cities=(Bern Cairo Berne)
export city=${cities[$1 % 3]}

model() {
    local request call='{tool_name: "weather", arguments: {city: env.city}}'
    while IFS= read -r request; do
        sleep "${MODEL_SECONDS:-0}"
        jq -c '{type: "model_turn", request_id, status: "ok", stop: "call", text: "", provider: "script", model: "turns", raw: {}, latency_ms: 0,
            retries: 0, usage: {input: 900, output: 20, cost: 0.0004}, calls: [{call_id: .request_id} + '"$call"']}' <<<"$request"
        call='{tool_name: "assistant_done", arguments: {reason: "I looked it up."}}'
    done
}
export -f model

agent() {
    agent-loop --session-id "run-$1" --agent-id "$(hostname)" --goal "What is the weather in $city?" --llm 'bash -c model' -- \
        policy-check -- hitl-gate -- mcp-pipe -- replay --as world --any-order tests/fixtures/mcp/weather.jsonl ||
        { status=$? && [[ $status = 1 || $status = 124 ]]; } || return "$status"
}

# jsonl-record writes the log to stdout (descriptor 3); its copy of the agent's records is discarded. `cat` is needed because stdout may be a
# file that is not empty.
{ agent "$1" | jsonl-record /dev/fd/3 3>&1 >/dev/null; } | cat
