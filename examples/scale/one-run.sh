#!/usr/bin/env bash
# One run of a batch: an agent with a goal of its own. Its log (jsonl-record) goes to stdout, wherever the run is started.
#
# usage: one-run.sh NUMBER
#
# A few lines of shell stand in for the model (needs jq), and a recorded server for the world: put your own in their places.
# Ends with 0 if the run came to an end, whether the goal was reached or not (the log has which), and else with the agent's status, such as
# 4 when the world was lost: then it is worth another try.
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

# The records of the agent go through jsonl-record to nowhere, and its log to stdout; `cat` because stdout may be a file with something in it.
{ agent "$1" | jsonl-record /dev/fd/3 3>&1 >/dev/null; } | cat
