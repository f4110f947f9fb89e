#!/usr/bin/env python3
"""A loop between a model and a world: it asks the model for a turn, makes the calls of that turn, and asks again with their results.

usage: agent_loop.py --model COMMAND --goal TEXT [--steps N] -- WORLD ARGS...

The model reads `model_request` records and answers each with a `model_turn`, the world reads calls (pipewright(7) describes both); gates
and recorders stand before either. Prints the model's last text. Ends with 1 if there is none, or if the model or the world ended with
an error.
"""

import argparse
import json
import shlex
import subprocess
import sys

# What a turn cost is no part of the conversation.
LEFT_OUT = ("usage", "latency_ms", "retries")


class Peer:
    """A command that reads and writes one JSON object a line."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, record, answer, key):
        """Sends a record, and returns the record of the type `answer` that has the same value under `key`."""
        self.process.stdin.write(json.dumps(record) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            received = json.loads(line)
            if received.get("type") == answer and received.get(key) == record[key]:
                return received
        sys.exit(f"agent_loop: {self.name} ended without a {answer} for {record[key]}")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.read()
        return self.process.wait()


def make(world, call):
    """Makes a call of a turn, and returns the message with its result."""
    message = {"role": "tool", "call_id": call["call_id"]}
    if "arguments" not in call:
        text = "the arguments are not JSON: " + call["arguments_text"]
        return message | {"content": [{"text": text}], "is_error": True}
    result = world.ask({"type": "tool_call"} | call, "tool_result", "call_id")
    if result["status"] == "ok":
        return message | {"content": [{"text": json.dumps(result["result"])}]}
    return message | {"content": [{"text": result["error"]}], "is_error": True}


def run(model, world, goal, steps):
    """Returns the model's last text; None if a step failed, or there are too many."""
    tools = world.ask({"type": "list_tools", "request_id": "tools"}, "tool_list", "request_id")["tools"]
    messages = [{"role": "user", "content": [{"text": goal}]}]
    for step in range(1, steps + 1):
        # Counted ids and no times: the same run makes the same requests.
        request = {"type": "model_request", "request_id": f"m{step}", "messages": messages, "tools": tools}
        turn = model.ask(request, "model_turn", "request_id")
        if turn["status"] != "ok":
            print(f"agent_loop: step {step}: {turn['kind']}: {turn['error']}", file=sys.stderr)
            return None
        messages.append({"role": "assistant", "turn": {key: turn[key] for key in turn if key not in LEFT_OUT}})
        if turn["stop"] != "call":
            return turn["text"]
        messages += [make(world, call) for call in turn["calls"]]
    print(f"agent_loop: not done after {steps} steps", file=sys.stderr)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, type=shlex.split, metavar="COMMAND")
    parser.add_argument("--goal", required=True, metavar="TEXT")
    parser.add_argument("--steps", type=int, default=20, metavar="N")
    parser.add_argument("world", nargs="+", metavar="WORLD")
    arguments = parser.parse_args()
    model, world = Peer("the model", arguments.model), Peer("the world", arguments.world)
    text = run(model, world, arguments.goal, arguments.steps)
    statuses = [model.close(), world.close()]
    if text is not None:
        print(text)
    return int(text is None or any(statuses))


if __name__ == "__main__":
    sys.exit(main())
