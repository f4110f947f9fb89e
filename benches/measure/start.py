"""The time that the commands take to start, and to end at once."""

import contextlib
import functools
import os
import re
import statistics
import subprocess

import inputs
from bench import COMMANDS
from processes import run, turns

STARTS = 200
SESSION = f"bench-{os.getpid()}"


def start_up(bench):
    log = bench.file("one-line.jsonl")
    inputs.repeat([next(inputs.observations())], 0, log)
    # The cheapest start of each that does its work. Writing a log to a disk would add waiting.
    commands = {
        "agent-acp, empty input": ["--", "true"],
        "agent-chat --version": ["--version"],
        "agent-loop profile mcp": ["profile", "mcp"],
        "agent-serve --version": ["--version"],
        "browser-bridge --version": ["--version"],
        "godot-bridge --version": ["--version"],
        "hitl-gate, empty input": [],
        "jsonl-log check, one line": ["check", log],
        "jsonl-mask, empty input": [],
        "jsonl-record, empty input": ["/dev/null"],
        "llm-pipe, empty input": ["--model", "ollama/m"],
        "mcp-pipe --version": ["--version"],
        "mcp-serve --version": ["--version"],
        "policy-check, empty input": [],
        "replay, one line": ["--speed", "max", log],
        "sts-proxy --version": ["--version"],
        "tool-call, in a session": ["--session", SESSION, "echo", "message=hi"],
        "valid-actions, empty input": [],
    }
    programs = {what: re.split("[ ,]", what)[0] for what in commands}
    if sorted(programs.values()) != COMMANDS:
        raise LookupError(f"these are started: {sorted(programs.values())}; src/bin has {COMMANDS}")
    with running_session(bench):
        measure(bench, programs, commands)


@contextlib.contextmanager
def running_session(bench):
    """A session of tool-call; the server answers its calls at once."""
    call, server = bench.program("tool-call"), bench.example("stand-in-server")
    subprocess.run([call, "--start", SESSION, "--", bench.program("mcp-pipe"), "--", server, "echo"], check=True)
    try:
        yield
    finally:
        subprocess.run([call, "--stop", SESSION], check=True)


def measure(bench, programs, commands):
    acts = {what: functools.partial(run, [bench.program(programs[what]), *arguments]) for what, arguments in commands.items()}
    tries = turns({"/bin/true": functools.partial(run, ["/bin/true"]), **acts}, STARTS)
    median = {what: statistics.median(used.wall for used in tried) * 1e3 for what, tried in tries.items()}
    rival = median.pop("/bin/true")
    for what, ours in median.items():
        # The call is also answered, through three processes in a row. llm-pipe creates an HTTP client.
        goal = 3 if what.startswith(("tool-call", "llm-pipe")) else 2
        bench.added(f"start-up: {what}", ours, "/bin/true", rival, "ms", goal=goal, digits=2)


MEASUREMENTS = (start_up,)
