#!/usr/bin/env bash
# An agent here, its world on another machine: a browser there, the model's key and the person who is asked here.
#
# usage: world-over-ssh.sh [HOST [GOAL]]
#
# HOST is a name for ssh; our commands are in the PATH of `ssh HOST COMMAND`. The gates stand on this side, because they ask here.
# When the connection is lost, ssh ends after 15 s (ServerAlive...), mcp-pipe connects again and starts the world anew, and the model gets the
# call that was under way as lost, with maybe_executed. Connecting is tried for a minute. LLM and WORLD replace the model and the world.
# No -t: a terminal on the other side would give the lines back. The world ends with its stdin; so that it also ends when this machine
# is lost, the other side's sshd needs ClientAliveInterval.
set -euo pipefail
host=${1:-host1} goal=${2:-What is on the front page?}
llm=${LLM:-llm-pipe -m gemini/gemini-3-flash}
world=${WORLD:-browser-bridge --headless https://example.com}
agent-loop --profile browser --llm "$llm" --goal "$goal" --session world.session --start-timeout 90 -- policy-check -- hitl-gate -- \
    mcp-pipe --start-timeout 90 -- ssh -o BatchMode=yes -o ServerAliveInterval=5 -o ServerAliveCountMax=2 -o ConnectTimeout=5 \
    -o ConnectionAttempts=12 "$host" "mcp-serve -- $world"
