#!/usr/bin/env bash
# Tests the menu of a Godot game as a player uses it: fills in a name, chooses from a list and from a menu, and starts the game. Each
# `expect` waits until its condition holds. Prints a line for each command, and ends with 1 if one failed, else with 0.
#
# usage: godot-menu-test.sh [PROJECT]     default: the example game Catch
#
# Needs jq and Godot: on PATH, in PIPEWRIGHT_GODOT, or installed into a cache by scripts/install-godot.
set -euo pipefail
here=$(dirname "$0")
project=${1:-$here/../godot/catch}
PIPEWRIGHT_GODOT=$("$here/../scripts/install-godot")
export PIPEWRIGHT_GODOT

godot-bridge --launch "$project" <<'END' | jq -r 'if .ok then "ok" else "failed: \(.error) (\(.code))" end'
{"cmd":"fill","args":{"path":"#Player","text":"Ada"}}
{"cmd":"select","args":{"path":"#Difficulty","item":"Hard"}}
{"cmd":"expect","args":{"path":"#Difficulty","text":"Hard"}}
{"cmd":"set_value","args":{"path":"#Volume","value":80}}
{"cmd":"select","args":{"path":"#Bar","item":"Help/How to play"}}
{"cmd":"expect","args":{"selector":"#Rules","state":"visible"}}
{"cmd":"press_button","args":{"path":"#Rules Button:text(\"OK\")"}}
{"cmd":"press_button","args":{"path":"Button:text(\"Start\")"}}
{"cmd":"expect","args":{"path":"#Score","text":"/10 to come/"}}
{"cmd":"expect","args":{"no_errors":true}}
END
