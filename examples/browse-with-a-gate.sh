#!/usr/bin/env bash
# An agent shops in a browser, and a person decides about payments: reading and "Next page" pass, "Pay now" waits until you
# approve, edit or reject it at this terminal. The agent gets your decision as the result of the call.
#
# usage: browse-with-a-gate.sh [URL]     default: shop.html beside this script
#
# Needs jq and Chromium. Replace `agent` by your own: it writes calls to stdout and reads their results from stdin. Without a
# terminal, use hitl-gate --tty PATH, --answers FIFO or --approver.
# Ends with 0 if all was approved, with 1 if something was rejected or failed.
set -euo pipefail
url=${1:-file://$(cd "$(dirname "$0")" && pwd)/shop.html}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

call() { # TOOL ARGUMENTS: makes a call, and sets `result`
    jq -nc --arg tool "$1" --argjson args "$2" '{$tool, $args}'
    read -r result
    # While a call waits for a person, the gate sends status records. The result follows.
    while [[ $result == '{"type":"status",'* ]]; do read -r result; done
}
press() { # NAME: presses the button with this name on the current page
    call browser_find "{\"role\":\"button\",\"text\":\"$1\"}"
    call browser_overlay_act "$(jq -c '{index: .data.items[0].index}' <<<"$result")"
    printf 'pressed "%s": %s\n' "$1" "$(jq -r '.error // "the page is now \(.data.title)"' <<<"$result")" >&2
}
agent() {
    press 'Next page'
    press 'Pay now'
}

# A named pipe carries the results back to the agent.
cd "$folder"
mkfifo results
# shellcheck disable=SC2094 # it is a pipe
agent <results |
    policy-check -- hitl-gate -- browser-bridge --headless "$url" >results
