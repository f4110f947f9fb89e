#!/usr/bin/env bash
# An agent shops in a browser, and a person has the last word: looking and "Next page" go through, "Pay now" waits until you, at
# this terminal, approve, edit or reject it. The agent is told what you said.
#
# usage: browse-with-a-gate.sh [URL]     shop.html, served from here, where none is named
#
# Needs jq, python3 and a browser, and npx for Playwright's MCP server. Put your own agent in the place of `agent`: its stdout are
# calls, its stdin their results. From where there is no terminal: hitl-gate --tty PATH, or --answers FIFO.
# Ends with 0 if all was approved, with 1 if something was rejected or failed.
set -euo pipefail
here=$(dirname "$0")
folder=$(mktemp -d)
exec 3< <(exec python3 -um http.server --bind 127.0.0.1 --directory "$here" 0 2>/dev/null)
server=$!
trap 'kill "$server" 2>/dev/null || :; rm -rf "$folder"' EXIT
read -r _ _ _ _ _ port _ <&3
url=${1:-http://127.0.0.1:$port/shop.html}

call() { # TOOL ARGUMENTS: makes a call, and sets `said` to what came of it
    jq -nc --arg tool "$1" --argjson args "$2" '{$tool, $args}'
    read -r said
    # A gate gives notice that the call waits for a person; what came of it follows.
    while [[ $said == '{"type":"status",'* ]]; do read -r said; done
    said=$(jq -r '.error // .data.content[0].text' <<<"$said")
}
press() { # NAME: the button that is called so on the page as it is now
    call browser_snapshot '{}'
    ref=$(sed -nE "s/.*button \"$1\".*\[ref=([^]]*)\].*/\1/p" <<<"$said")
    call browser_click "{\"target\":\"${ref:?the page has no button $1}\"}"
    printf 'pressed "%s": %s\n' "$1" "$(grep -oE -m 1 'Page Title: .*|.*rejected.*' <<<"$said")" >&2
}
agent() {
    call browser_navigate "{\"url\":\"$url\"}"
    press 'Next page'
    press 'Pay now'
}

# A named pipe leads the results back to where the calls come from. The server leaves its files in the folder it is started in.
cd "$folder"
mkfifo results
# shellcheck disable=SC2094 # it is a pipe
agent <results |
    policy-check -- hitl-gate -- mcp-pipe -- npx -y @playwright/mcp --headless --isolated >results
