#!/usr/bin/env bash
# The agent's shell in a sandbox, the gates outside: the agent reaches its world only through the pipe, where a call that
# deletes needs a person's approval. It sees neither the processes nor the terminals and sockets outside, so it can neither
# answer a question nor change the gates' files; it writes only in its own folder, and has no network.
#
# Here a few lines of shell take the place of the agent: it tries to reach a gate's approvals from inside, and then makes
# two calls. The world is a line of shell that answers each call that it gets. In a copy, replace both.
#
# Requires bubblewrap (Debian: apt-get install bubblewrap) and user namespaces; with SANDBOX=srt, srt (npm install -g
# @anthropic-ai/sandbox-runtime), socat and ripgrep as well.
# Exit status: that of the gate: 1, since a call was rejected.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/agent"

cat >"$work/agent/agent.sh" <<'AGENT'
try() { if "${@:2}" >/dev/null 2>&1; then echo "agent: $1: it can" >&2; else echo "agent: $1: it cannot" >&2; fi; }
try "to see a process outside" test -e "/proc/$OUTSIDE"
try "to find the socket of an approver" sh -c "ls -d ${XDG_RUNTIME_DIR:-/nowhere}/pipewright*/approver-*"
try "to open a terminal" sh -c 'exec 3<>/dev/tty'
try "to write outside of its folder" touch "$RULES"
try "to reach a host" sh -c 'exec 3<>/dev/tcp/127.0.0.1/80'
try "to write in its folder" touch note
echo '{"tool":"read_file","args":{"path":"a.txt"},"id":1}'
echo '{"tool":"delete_file","args":{"path":"a.txt"},"id":2}'
AGENT
touch "$work/rules.toml"

# srt allows hosts by name, in allowedDomains; what is to be hidden, it has to be told.
cat >"$work/srt.json" <<SETTINGS
{"network": {"allowedDomains": [], "deniedDomains": []},
 "filesystem": {"allowWrite": ["$work/agent"], "denyWrite": [], "denyRead": ["${XDG_RUNTIME_DIR:-/run}"]}}
SETTINGS

in_sandbox() {
    if [ "${SANDBOX:-bwrap}" = srt ]; then
        (cd "$work/agent" && srt --settings "$work/srt.json" -- "$@")
    else
        bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /run --bind "$work/agent" /tmp/agent \
            --chdir /tmp/agent --unshare-all --die-with-parent --new-session "$@"
    fi
}

OUTSIDE=$$ RULES=$work/rules.toml in_sandbox bash agent.sh |
    policy-check --rules "$work/rules.toml" --records errors -- \
        hitl-gate --approver --timeout "${TIMEOUT:-5m}" --records errors -- \
        sh -c 'while read -r call; do echo "{\"id\":1,\"tool\":\"read_file\",\"status\":\"ok\",\"result\":\"the text\"}"; done'
