#!/usr/bin/env bash
# A smoke test of a Godot game, for its CI: starts it without a window, plays the first level to its end, presses "Next level", and
# asserts that every command succeeded, that the game reported the level as completed, and that there was no script or engine error.
#
# usage: godot-smoke-test.sh [PROJECT]     default: the example game
#
# Needs jq and Godot 4.5 or later: on PATH, in PIPEWRIGHT_GODOT, or installed into a cache by scripts/install-godot. Your own game
# needs the addon (godot-bridge install PROJECT). Replace submit_permutation by commands of your game; press_button and wait_for work in every game.
# Ends with 0 if all checks pass, with 1 if one fails, with 3 if the game does not start, with 4 if it crashes or hangs.
set -euo pipefail
here=$(dirname "$0")
project=${1:-$here/../godot/example}
PIPEWRIGHT_GODOT=$("$here/../scripts/install-godot")
export PIPEWRIGHT_GODOT

results=$(
    godot-bridge --launch "$project" <<'END'
{"cmd":"wait_for","args":{"selector":"Button:text(\"Reset\")","state":"enabled"}}
{"cmd":"submit_permutation","args":{"mapping":[0,1,2]}}
{"cmd":"submit_permutation","args":{"mapping":[1,2,0]}}
{"cmd":"submit_permutation","args":{"mapping":[2,0,1]}}
{"cmd":"press_button","args":{"path":"Button:text(\"Next level\")"}}
{"cmd":"wait_for","args":{"selector":"Label:text(/Symmetries: 0/)"}}
END
) || {
    status=$?
    jq -r 'select(.ok | not) | "failed: \(.error) (\(.code))"' <<<"$results" >&2
    exit "$status"
}

jq -rs '
    def check(what; holds): if holds then "ok: \(what)" else "failed: \(what)\n" | halt_error(1) end;
    map(.events[]) as $events |
    "ok: \(length) commands",
    check("the level was completed"; any($events[]; .type == "completed")),
    check("no error of a script or the engine"; all($events[]; .type != "engine_error"))' <<<"$results"
