#!/usr/bin/env bash
# You play Slay the Spire at this terminal. Records all traffic with the game (session.log), and each accepted decision with
# its state. A recorded game takes the place of the real one: it continues as recorded after any choice of yours.
#
# usage: record-human.sh [FOLDER]     the folder for the recordings; default: a new one
#
# Needs jq. For your own game write into the mod's config.properties: command=jsonl-record --child agent /home/me/session.log -- sts-proxy
set -euo pipefail
folder=$(realpath "${1:-$(mktemp -d)}")
cd "$(dirname "$0")/.."

# replay ends with 1 if you play differently from the recording. It waits up to an hour for each of your decisions.
replay --quiet --timeout 3600 --as world tests/fixtures/spire/demo_session.jsonl -- \
    jsonl-record --child agent "$folder/session.log" -- \
    sts-proxy --data-dir "$folder" --start SILENT 20 --games 1 || [ $? = 1 ]

jsonl-log check "$folder/session.log" | jq -r '"\(.messages) messages, \(.lost) lost"'
jq -r 'select(.cmd) | "floor \(.run.floor): \(.cmd)"' "$folder"/*.jsonl
printf 'recorded in %s\n' "$folder"
