#!/usr/bin/env bash
# An agent shops in a browser, and a person has the last word: looking and "Next page" go through, "Pay now" waits until you, at
# this terminal, approve, edit or reject it. The agent is told what you said.
#
# usage: browse-with-a-gate.sh [URL]     shop.html beside this script, where none is named
#
# Needs jq and Chromium. Put your own agent in the place of `agent`: its stdout are calls, its stdin their results. From where there
# is no terminal: hitl-gate --tty PATH, or --answers FIFO.
# Ends with 0 if all was approved, with 1 if something was rejected or failed.
set -euo pipefail
url=${1:-file://$(cd "$(dirname "$0")" && pwd)/shop.html}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

call() { # TOOL ARGUMENTS: makes a call, and sets `said` to its result
    jq -nc --arg tool "$1" --argjson args "$2" '{$tool, $args}'
    read -r said
    # A gate gives notice that the call waits for a person; what came of it follows.
    while [[ $said == '{"type":"status",'* ]]; do read -r said; done
}
press() { # NAME: the button that is called so on the page as it is now
    call browser_find "{\"role\":\"button\",\"text\":\"$1\"}"
    call browser_overlay_act "$(jq -c '{index: .data.items[0].index}' <<<"$said")"
    printf 'pressed "%s": %s\n' "$1" "$(jq -r '.error // "the page is now \(.data.title)"' <<<"$said")" >&2
}
agent() {
    press 'Next page'
    press 'Pay now'
}

# A named pipe leads the results back to where the calls come from.
cd "$folder"
mkfifo results
# shellcheck disable=SC2094 # it is a pipe
agent <results |
    policy-check -- hitl-gate -- browser-bridge --headless "$url" >results
