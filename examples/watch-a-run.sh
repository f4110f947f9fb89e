#!/usr/bin/env bash
# Watches a bot while it plays, from outside: the log that jsonl-record writes is followed, and the fights are shown as they go. The
# bot and the game notice nothing.
#
# usage: watch-a-run.sh [BOT..]     a bot that takes the first legal action, where none is named
#
# Needs jq. A recorded game stands in for the game; in your own, the mod starts jsonl-record, and what you type in another terminal is
# `replay --follow --dir in LOG | jq ...`. Ends with 1 if the bot plays otherwise than was recorded.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
watcher='' shown=''
# A log may always go on: who follows it says when it is enough, however the bot has ended.
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

# The last of it is shown, too.
sleep 1
kill "$watcher"
wait "$shown"
