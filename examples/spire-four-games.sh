#!/usr/bin/env bash
# Plays four games of Slay the Spire at once, each with its own bot, and prints all decisions as one table (CSV).
#
# Needs python3 with venv. An engine, which scripts/install-engine downloads once, takes the place of the game. To set up several instances of
# the real game, see docs/spire.md. All write their records to the same folder, a file for each run.
# Ends with 1 if a game could not be played to its end; the recorded decisions are printed anyway.
set -euo pipefail
cd "$(dirname "$0")/.."
engine=$(scripts/install-engine)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

games=()
for seed in 1 2 3 4; do
    "$engine" tests/engine/communication_mod.py --seed "$seed" --games 1 --report "$folder/report-$seed" --stderr "$folder/stderr-$seed" -- \
        sts-proxy --data-dir "$folder/runs" --start SILENT 0 --games 1 -- python3 "$PWD/examples/spire-bot.py" &
    games+=($!)
done
failed=0
for game in "${games[@]}"; do
    wait "$game" || failed=1
done
[ $failed = 0 ] || cat "$folder"/stderr-* >&2

cd "$folder/runs"
# shellcheck disable=SC2016 # $file is the table's own
jsonl-log csv '$file,.run.seed,.run.floor,.state.hp,.state.gold,.state.screen_type,.legal_ids,.action_id,.label' --where '.confirmed' -- *.jsonl
exit $failed
