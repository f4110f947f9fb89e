#!/usr/bin/env bash
# An agent on this machine whose world, a browser, runs on another one. The model's key and the person who is asked stay on this machine.
#
# usage: world-over-ssh.sh [HOST [GOAL]]
#
# HOST is a name for ssh; our commands must be in the PATH of `ssh HOST COMMAND`. The gates run on this machine, because they ask here.
# If the connection is lost, ssh ends after 15 s (ServerAlive...), and mcp-pipe connects again and starts the world again. The result of the
# call that was in progress is `lost`, with maybe_executed. Connecting is tried for a minute. The variables LLM and WORLD replace the model
# and the world. Do not add -t: a terminal on the other machine would echo the lines. The world ends when its stdin ends. If it must also end
# when this machine is lost, the sshd of the other machine needs ClientAliveInterval.
set -euo pipefail
host=${1:-host1} goal=${2:-What is on the front page?}
llm=${LLM:-llm-pipe -m gemini/gemini-3-flash}
world=${WORLD:-browser-bridge --headless https://example.com}
agent-loop --profile browser --llm "$llm" --goal "$goal" --session world.session --start-timeout 90 -- policy-check -- hitl-gate -- \
    mcp-pipe --start-timeout 90 -- ssh -o BatchMode=yes -o ServerAliveInterval=5 -o ServerAliveCountMax=2 -o ConnectTimeout=5 \
    -o ConnectionAttempts=12 "$host" "mcp-serve -- $world"
