#!/usr/bin/env bash
# A Slay the Spire bot behind a proxy: it takes the first legal action. A recorded game stands in for the game; every decision
# that it accepted is recorded, and counted here by floor.
#
# Needs jq. In your own game the mod starts sts-proxy: put the two lines from `sts-proxy` on into a script, with a --data-dir that stays,
# and name that in the mod's config.properties (it knows no quotes): command=/home/me/bot.sh
# Ends with 1 if the bot plays otherwise than was recorded.
set -euo pipefail
cd "$(dirname "$0")/.."
records=$(mktemp -d)
trap 'rm -rf "$records"' EXIT

replay --as world tests/fixtures/spire/demo_session.jsonl -- \
    sts-proxy --data-dir "$records" --start SILENT 20 --games 1 -- \
    jq --unbuffered '.valid_actions[0].action_id'

jq -rs 'map(select(.cmd)) | group_by(.run.floor)[] | "floor \(.[0].run.floor): \(length) decisions"' "$records"/*.jsonl
