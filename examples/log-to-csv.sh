#!/usr/bin/env bash
# A log as a table, for a spreadsheet: floor, hit points, gold and the screen type, for each message in which the game accepted a command.
#
# usage: log-to-csv.sh [LOG] >FILE.csv
#
# LOG is any log of jsonl-record, or other NDJSON; the columns are paths into its messages.
set -euo pipefail
log=${1:-$(dirname "$0")/../tests/fixtures/spire/demo_session.jsonl}

# shellcheck disable=SC2016 # $time and $dir are the filters' own
jsonl-log csv '$time,.game_state.floor,.game_state.current_hp,.game_state.gold,.game_state.screen_type' \
    --where '$dir == "in" and .in_game and .ready_for_command' "$log"
