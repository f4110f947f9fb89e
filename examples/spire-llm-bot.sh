#!/usr/bin/env bash
# A language model plays Slay the Spire: it reads each state as text and answers with the id of a legal action. After an illegal
# answer it is asked again, with the reason.
#
# usage: spire-llm-bot.sh [MODEL [OPTIONS OF llm-pipe]]
#
# With a MODEL it is the mod's command: command=/home/me/pipewright/examples/spire-llm-bot.sh gemini/gemini-3-flash
# Without one it plays a recorded game, and sed takes the place of the model: it takes the first legal action.
# Ends with 1 if it plays differently from the recording.
set -euo pipefail
cd "$(dirname "$0")"

prompt='You play Slay the Spire. Each message is the state of the game. Its last lines are the legal actions, each behind its id in
brackets; "\n" is a line feed. Answer with {"action_id": ID} and nothing else. Look at what the monsters intend, block when they attack,
play cards before you end the turn, and keep your deck small.'

# The command after `bot` reads one prompt per line and writes one answer per line.
# shellcheck disable=SC2016 # the inner shell's arguments
bot=(bash -c 'valid-actions --text --bare | "$@"' bot)
play=(sts-proxy --start SILENT 20 --games 1 --agent-timeout 2m)

if [ $# -gt 0 ]; then
    exec "${play[@]}" -- "${bot[@]}" llm-pipe --bare --system "$prompt" --schema @action.json --model "$@"
fi
replay --as world ../tests/fixtures/spire/demo_session.jsonl -- \
    "${play[@]}" --no-record -- "${bot[@]}" sed -uE 's/\\n\[([0-9]+)\] .*/\r\1/; s/.*\r(.*)/{"action_id":\1}/'
