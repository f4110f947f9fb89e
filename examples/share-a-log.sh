#!/usr/bin/env bash
# Makes a copy of a log that you can share: personal data and secrets become placeholders. The copy is still a log, and everything else
# in it is unchanged. Prints the masked messages.
#
# usage: share-a-log.sh [LOG]
#
# Without LOG, it records an agent that types a password into a world that only repeats its calls (`cat`). Give your own log, and in a
# copy of this script rules for your own secrets (`jsonl-mask --rules FILE`).
# Ends with 1 if a line could not be masked; an error record takes its place.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=${1:-$folder/run.jsonl}

calls() {
    echo '{"tool":"browser_type","args":{"element":"E-mail","text":"ann@example.com"}}'
    echo '{"tool":"browser_type","args":{"element":"Password","text":"hunter2"}}'
    echo '{"tool":"pay","args":{"card":"4111 1111 1111 1111","amount":12.50}}'
}

if (($# == 0)); then
    calls | jsonl-record --child world "$log" -- cat >"$folder/passed"
fi
jsonl-mask <"$log" >"$folder/shared.jsonl"
replay --quiet --dir in --speed max "$folder/shared.jsonl"
