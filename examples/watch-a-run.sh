#!/usr/bin/env bash
# Watches a bot while it plays: follows the log that jsonl-record writes, and shows the fights. The bot and the game are not affected.
#
# usage: watch-a-run.sh [BOT ARGS...]     default: a bot that takes the first legal action
#
# Needs jq. A recorded game takes the place of the real one. For your own game let the mod start jsonl-record, and run
# `replay --follow --dir in LOG | jq ...` in another terminal. Ends with 1 if the bot plays differently from the recording.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
watcher='' shown=''
# A log may always grow, so `replay --follow` does not end by itself: end it whenever the bot has ended.
trap 'kill $watcher $shown 2>/dev/null || :; rm -rf "$folder"' EXIT
log=$folder/run.jsonl
touch "$log"
(($# > 0)) || set -- jq --unbuffered '.valid_actions[0].action_id'

mkfifo "$folder/states"
replay --follow --dir in "$log" >"$folder/states" &
watcher=$!
jq --unbuffered -r '.game_state // empty | select(.combat_state) | "floor \(.floor), hp \(.current_hp): " +
    ([.combat_state.monsters[] | select(.is_gone | not) | "\(.name) \(.current_hp)"] | join(", "))' <"$folder/states" &
shown=$!

replay --quiet --speed 1 --as world tests/fixtures/spire/demo_session.jsonl -- \
    jsonl-record --child agent "$log" -- \
    sts-proxy --quiet --no-record --start SILENT 20 --games 1 -- "$@"

# Leave time to show the last lines.
sleep 1
kill "$watcher"
wait "$shown"
