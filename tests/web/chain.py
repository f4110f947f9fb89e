#!/usr/bin/env python3
"""A chain of two agents, of which only the first works: `chain.py AGENT ARGS...` passes on its records, and reports the state of the chain."""

import json
import subprocess
import sys
import threading


def update(first, second):
    agents = [{"agent_id": "refactorer", "role": "refactor", "status": first}, {"agent_id": "tester", "role": "test", "status": second}]
    print(json.dumps({"type": "agent_chain_update", "chain_id": "chain-1", "agents": agents, "current_agent": "refactorer"}), flush=True)


agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def forward():
    for line in sys.stdin:
        agent.stdin.write(line)
        agent.stdin.flush()
    agent.stdin.close()


threading.Thread(target=forward, daemon=True).start()
is_running = False
for line in agent.stdout:
    record = json.loads(line)
    if record.get("status") == "running" and not is_running:
        is_running = True
        update("running", "blocked")
    if record["type"] == "final":
        update("done", "pending")
    print(line, end="", flush=True)
sys.exit(agent.wait())
