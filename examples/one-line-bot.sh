#!/usr/bin/env bash
# A Slay the Spire bot that is a pipe of two: valid-actions says what is legal, jq takes the first of it. No proxy, nothing else; a recorded
# game stands in for the game.
#
# Needs jq. In your own game put the line between the quotes into a script, and name that in the mod's config.properties:
# command=/home/me/bot.sh. Want records, a watchdog, refused answers asked for again? spire-bot.sh.
# It starts a run at the first message, the menu's. Ends with 1 if the bot plays otherwise than was recorded.
set -euo pipefail
cd "$(dirname "$0")/.."

bot='echo ready; valid-actions | jq --unbuffered -r '\''if .error then "state"
    elif input_line_number == 1 then "start SILENT 20" else .valid_actions[0].cmd // empty end'\'

replay --as world tests/fixtures/spire/demo_session.jsonl -- sh -c "$bot"
