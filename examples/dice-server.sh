#!/usr/bin/env bash
# An MCP server in a few lines of shell: a world that rolls dice, which mcp-serve offers to any MCP client.
#
# Needs jq. To use it, name this script as the "command" of a server in your client's configuration; change the tools and what they do.
# Ends with 1 if the client sent a line that is not a message.
set -euo pipefail

# A world reads records, one per line, and answers them: `list_tools` with its tools, each `tool_call` with its result.
world() {
    local line sides
    while IFS= read -r line; do
        case $(jq -r .type <<<"$line") in
        list_tools)
            jq -c '{type: "tool_list", request_id, world: "dice", tools: [{name: "roll", description: "Rolls a die",
                input_schema: {type: "object", properties: {sides: {type: "integer", minimum: 2}}}}]}' <<<"$line"
            ;;
        tool_call)
            sides=$(jq '.arguments.sides // 6' <<<"$line")
            jq -c --argjson rolled "$((RANDOM % sides + 1))" '{type: "tool_result", call_id, status: "ok", result: {$rolled}}' <<<"$line"
            ;;
        esac
    done
}
export -f world
exec mcp-serve -- bash -c world
