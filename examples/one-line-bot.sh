#!/usr/bin/env bash
# A Slay the Spire bot of two commands: valid-actions lists the legal actions, jq takes the first. A recorded game takes the
# place of the real one.
#
# Needs jq. For your own game put the line between the quotes into a script, and name the script in the mod's config.properties:
# command=/home/me/bot.sh. For records, a watchdog, and another try after a refused answer, see spire-bot.sh.
# It starts a run at the first message, that of the menu. Ends with 1 if the bot plays differently from the recording.
set -euo pipefail
cd "$(dirname "$0")/.."

bot='echo ready; valid-actions | jq --unbuffered -r '\''if .error then "state"
    elif input_line_number == 1 then "start SILENT 20" else .valid_actions[0].cmd // empty end'\'

replay --as world tests/fixtures/spire/demo_session.jsonl -- sh -c "$bot"
