#!/usr/bin/env bash
# An agent in the shell: it makes a call, reads the result, and decides what to call next. Here it looks for the warmest city.
#
# Needs jq. A recorded MCP server takes the place of a real one: put your own after `mcp-pipe --`.
# Ends with 1 if a call fails.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# It writes calls to stdout and reads their results from stdin; messages for people go to stderr.
agent() {
    local city degrees warmest='' most=-274
    for city in Bern Cairo; do
        jq -nc --arg city "$city" '{tool: "weather", args: {$city}}'
        read -r result
        degrees=$(jq -r '.data.content[0].text | capture("(?<degrees>-?[0-9]+)").degrees' <<<"$result")
        if [ "$degrees" -gt "$most" ]; then warmest=$city most=$degrees; fi
    done
    printf 'go to %s: %s degrees\n' "$warmest" "$most" >&2
}

# A named pipe carries the results back to the agent.
mkfifo "$folder/results"
# shellcheck disable=SC2094 # it is a pipe
agent <"$folder/results" |
    mcp-pipe -- replay --as world --any-order tests/fixtures/mcp/weather.jsonl >"$folder/results"
