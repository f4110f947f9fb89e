#!/usr/bin/env bash
# Sends each line of a file to a language model, eight at a time, and writes one answer per line, in the order of the input.
#
# usage: classify-lines.sh FILE ANSWERS MODEL [OPTIONS OF llm-pipe]     such as: classify-lines.sh titles.txt topics.jsonl gemini/gemini-3-flash
#
# If it is interrupted, run it again: existing answers come from the folder ANSWERS.cache and cost nothing.
# Needs jq and the model's key (docs/models.md). Ends with 1 if a line has no answer; its record in ANSWERS says why.
set -euo pipefail
file=${1:?"usage: classify-lines.sh FILE ANSWERS MODEL [OPTIONS OF llm-pipe]"} answers=${2:?ANSWERS} model=${3:?MODEL}

mkdir -p -m 700 "$answers.cache"
status=0
jq -Rc '{prompt: .}' "$file" |
    llm-pipe --model "$model" -j 8 --cache "$answers.cache" --system 'Answer with one word: the topic of this line.' "${@:4}" >"$answers" || status=$?
jq -rs '"\(length) lines: \(map(select(.status == "ok")) | length) answered (\(map(select(.from_cache)) | length) from the cache), " +
    "\(map(select(.status != "ok")) | length) failed; \(map(.usage.output // 0) | add) tokens of output"' "$answers"
exit "$status"
