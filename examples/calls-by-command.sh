#!/usr/bin/env bash
# An agent that works by shell commands, as coding agents do: a world runs in the background, and each step is a separate
# command. Here it looks for the warmest city.
#
# A recorded MCP server takes the place of a real one: put your own after `mcp-pipe --`.
# Ends with 1 if a call fails.
set -euo pipefail
cd "$(dirname "$0")/.."
session=weather-$$

tool-call --start "$session" -- mcp-pipe -- replay --as world --any-order tests/fixtures/mcp/weather.jsonl
trap 'tool-call --stop "$session"' EXIT

tool-call --session "$session" --list
warmest='' most=-274
for city in Bern Cairo; do
    weather=$(tool-call --session "$session" --text weather city="$city")
    printf '%s: %s\n' "$city" "$weather"
    degrees=${weather%%[!0-9-]*}
    if [ "$degrees" -gt "$most" ]; then warmest=$city most=$degrees; fi
done
printf 'go to %s\n' "$warmest"
