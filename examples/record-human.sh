#!/usr/bin/env bash
# You play Slay the Spire at this terminal, and all is recorded: what passed between the game and you (session.log), and each
# accepted decision with the state it was made in. A recorded game stands in for the game: it goes on as it went, whatever you choose.
#
# usage: record-human.sh [FOLDER]     where the recordings go; a new folder, where none is named
#
# Needs jq. In your own game the mod starts jsonl-record: command=jsonl-record --child agent /home/me/session.log -- sts-proxy
set -euo pipefail
folder=$(realpath "${1:-$(mktemp -d)}")
cd "$(dirname "$0")/.."

# It says 1 where you play otherwise than was recorded, and waits for you as long as an hour.
replay --quiet --timeout 3600 --as world tests/fixtures/spire/demo_session.jsonl -- \
    jsonl-record --child agent "$folder/session.log" -- \
    sts-proxy --data-dir "$folder" --start SILENT 20 --games 1 || [ $? = 1 ]

jsonl-log check "$folder/session.log" | jq -r '"\(.messages) messages, \(.lost) lost"'
jq -r 'select(.cmd) | "floor \(.run.floor): \(.cmd)"' "$folder"/*.jsonl
printf 'recorded in %s\n' "$folder"
