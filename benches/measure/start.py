"""How long the commands take to start, and to end again at once."""

import functools
import statistics

import inputs
from processes import run, turns

STARTS = 200


def start_up(bench):
    log = bench.file("one-line.jsonl")
    inputs.repeat([next(inputs.observations())], 0, log)
    # A log on a disk would be waited for.
    commands = {
        "/bin/true": ["/bin/true"],
        "valid-actions, empty input": [bench.program("valid-actions")],
        "sts-proxy --version": [bench.program("sts-proxy"), "--version"],
        "jsonl-record, empty input": [bench.program("jsonl-record"), "/dev/null"],
        "replay, one line": [bench.program("replay"), "--speed", "max", log],
        "jsonl-log check, one line": [bench.program("jsonl-log"), "check", log],
    }
    runs = turns({name: functools.partial(run, command) for name, command in commands.items()}, STARTS)
    median = {name: statistics.median(used.wall for used in tried) * 1e3 for name, tried in runs.items()}
    rival = median.pop("/bin/true")
    for name, ours in median.items():
        bench.added(f"start-up: {name}", ours, "/bin/true", rival, "ms", goal=2, digits=2)


MEASUREMENTS = (start_up,)
