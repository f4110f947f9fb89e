#!/usr/bin/env bash
# Records an MCP server once, and then serves the recording. Tests of the server's clients can so run offline and fast, with the same
# answers each time.
#
# usage: recorded-mcp-server.sh [SERVER ARGS...]     default: npx -y @modelcontextprotocol/server-everything
#
# Needs the server and jq. Commit the log, and put `replay --as world --any-order LOG` into your client's configuration in place of the server.
# Ends with 1 if a call fails, or if the answers of the recording differ from those of the server.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ $# -gt 0 ] || set -- npx -y @modelcontextprotocol/server-everything

# Your tests' calls.
cat >"$folder/calls" <<'END'
{"id":1,"tool":"echo","args":{"message":"hello"}}
{"id":2,"tool":"get-sum","args":{"a":2,"b":40}}
END

# Once, and whenever the server changes:
mcp-pipe -- jsonl-record --child world "$folder/server.jsonl" -- "$@" <"$folder/calls" >"$folder/live"
# In CI:
mcp-pipe -- replay --quiet --as world --any-order "$folder/server.jsonl" <"$folder/calls" >"$folder/recorded"

# The duration of a call differs each time.
diff <(jq -c 'del(.duration_ms)' "$folder/live") <(jq -c 'del(.duration_ms)' "$folder/recorded")
cat "$folder/recorded"
