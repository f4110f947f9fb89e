"""How long the commands take to start, and to end again at once."""

import functools
import re
import statistics

import inputs
from bench import COMMANDS
from processes import run, turns

STARTS = 200


def start_up(bench):
    log = bench.file("one-line.jsonl")
    inputs.repeat([next(inputs.observations())], 0, log)
    # Each the cheapest start that does its work; a log on a disk would be waited for.
    commands = {
        "godot-bridge --version": ["--version"],
        "hitl-gate, empty input": [],
        "jsonl-log check, one line": ["check", log],
        "jsonl-record, empty input": ["/dev/null"],
        "mcp-pipe --version": ["--version"],
        "mcp-serve --version": ["--version"],
        "policy-check, empty input": [],
        "replay, one line": ["--speed", "max", log],
        "sts-proxy --version": ["--version"],
        "valid-actions, empty input": [],
    }
    programs = {what: re.split("[ ,]", what)[0] for what in commands}
    if sorted(programs.values()) != COMMANDS:
        raise LookupError(f"these are started: {sorted(programs.values())}; src/bin has {COMMANDS}")
    acts = {what: functools.partial(run, [bench.program(programs[what]), *arguments]) for what, arguments in commands.items()}
    tries = turns({"/bin/true": functools.partial(run, ["/bin/true"]), **acts}, STARTS)
    median = {what: statistics.median(used.wall for used in tried) * 1e3 for what, tried in tries.items()}
    rival = median.pop("/bin/true")
    for what, ours in median.items():
        bench.added(f"start-up: {what}", ours, "/bin/true", rival, "ms", goal=2, digits=2)


MEASUREMENTS = (start_up,)
