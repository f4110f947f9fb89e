#!/usr/bin/env bash
# A Slay the Spire bot in one line of jq: it takes the first legal action. A recorded game takes the place of the real one.
# sts-proxy records each accepted decision; the last line counts them by floor.
#
# Needs jq. For your own game put the command `sts-proxy ... -- jq ...` into a script, with a permanent --data-dir, and name
# the script in the mod's config.properties (which does not support quotes): command=/home/me/bot.sh
# Ends with 1 if the bot plays differently from the recording.
set -euo pipefail
cd "$(dirname "$0")/.."
records=$(mktemp -d)
trap 'rm -rf "$records"' EXIT

replay --as world tests/fixtures/spire/demo_session.jsonl -- \
    sts-proxy --data-dir "$records" --start SILENT 20 --games 1 -- \
    jq --unbuffered '.valid_actions[0].action_id'

jq -rs 'map(select(.cmd)) | group_by(.run.floor)[] | "floor \(.[0].run.floor): \(length) decisions"' "$records"/*.jsonl
