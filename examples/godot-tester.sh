#!/usr/bin/env bash
# An agent tests a Godot game towards a goal: a model reads the screen, presses and types as a player does, and reports whether the
# game does what it should.
#
# usage: godot-tester.sh [PROJECT [GOAL [MODEL [OPTIONS OF llm-pipe]]]]     such as: godot-tester.sh ~/my-game 'Start a game.' gemini/gemini-3-flash
#
# Without MODEL, a script for the game in godot/catch takes its place. PROJECT needs the addon: godot-bridge install PROJECT.
# Needs jq and Godot 4.5 or later: on PATH, in PIPEWRIGHT_GODOT, or installed into a cache by scripts/install-godot.
# Prints the steps. Ends with 0 if the goal was reached, with 1 if not.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
project=${1:-$repository/godot/catch}
goal=${2:-'Enter a name, choose Hard, start the game, and check that the game counts what is caught.'}
PIPEWRIGHT_GODOT=$("$repository/scripts/install-godot")
export PIPEWRIGHT_GODOT
steps=$(mktemp)
trap 'rm -f "$steps"' EXIT

model() {
    local request number=0 turns=(
        '{"tool_name": "type_text", "arguments": {"path": "LineEdit", "text": "Ada"}}'
        '{"tool_name": "select", "arguments": {"path": "OptionButton", "item": "Hard"}}'
        '{"tool_name": "press_button", "arguments": {"path": "Button:text(\"Start\")"}}'
        '{"tool_name": "wait_for", "arguments": {"selector": "Label:text(/caught/)"}}'
        '{"tool_name": "assistant_done", "arguments": {"reason": "The game starts on Hard and counts.", "evidence": "caught"}}')
    while IFS= read -r request; do
        jq -c --argjson turn "${turns[number++]}" '{type: "model_turn", request_id, status: "ok", stop: "call", text: "", usage: {}, provider: "script",
            model: "turns", raw: {}, latency_ms: 0, retries: 0, calls: [$turn + {call_id: .request_id}]}' <<<"$request"
    done
}
export -f model
ask='bash -c model'
[ $# -lt 3 ] || ask="llm-pipe --model ${*:3}"

status=0
agent-loop --llm "$ask" --profile godot --goal "$goal" --steps "$steps" -- godot-bridge --launch "$project" </dev/null >/dev/null || status=$?
jq -r '"\(.step). \(.call.tool) \(.call.args | tojson): \(.call.status)"' "$steps"
exit "$status"
