#!/usr/bin/env bash
# Two bots play the same recorded game. Shows the decisions in which the second differs from the first.
#
# Needs jq. Both bots are jq filters here; a bot may be any program that reads a line and answers with an action's id.
# The game continues as recorded after any answer: this compares decisions, not results.
# Ends with 0, even if the bots differ; leave out the last `|| [ $? = 1 ]` to make a difference fail your CI.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
first='.valid_actions[0].action_id'
# The same, but it plays a Defend first, if it can.
second='first(.valid_actions[] | select(.label | startswith("play Defend"))).action_id // .valid_actions[0].action_id'
under_proxy=(sts-proxy --quiet --no-record --start SILENT 20 --games 1 --)

replay --quiet --as world tests/fixtures/spire/demo_session.jsonl -- \
    jsonl-record --child agent "$folder/first.jsonl" -- "${under_proxy[@]}" jq --unbuffered "$first" || [ $? = 1 ]

replay --as world --report "$folder/report.jsonl" "$folder/first.jsonl" -- \
    "${under_proxy[@]}" jq --unbuffered "$second" || [ $? = 1 ]

jq -r 'select(.type == "summary") | "\(.turns) decisions, \(.different_turns) different"' "$folder/report.jsonl"
