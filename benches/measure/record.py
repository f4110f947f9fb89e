"""jsonl-record: in a pipe beside tee and ts, around a child, and its memory."""

import itertools
import json
import os
import shutil

import inputs
from processes import least, on_all_cores, peak_of, ping_pong, run, run_in_pipe

# Short runs, which other load disturbs much.
PIPE_TRIES = 7
TEE_GOALS = {"196 B calls": 0.5, "2 KB snapshots": 1, "2 KB observations": 1}
WARM_UPS = 300
# Enough to take longer than the second after which the log is synced.
ROUND_TRIPS = 20_000
MOST_ADDED_US = 30


def with_file(command, path, source, runner=run_in_pipe):
    """Writes to a new file, which is removed before the kernel writes much of it during the next measurement."""
    used = runner([*command, path], source)
    os.unlink(path)
    return used


def pipe(bench):
    ours, tee, ts = [bench.program("jsonl-record")], [shutil.which("tee")], shutil.which("ts")
    log, copy = bench.file("pipe.log"), bench.file("pipe.copy")
    if not ts:
        bench.skip("ts (moreutils) is not available for the comparison")
    for lines in inputs.agent_lines(bench):
        runs = {
            "ours": lambda: with_file(ours, log, lines.whole),
            "unsynced": lambda: with_file([*ours, "--sync", "never"], log, lines.whole),
            "tee": lambda: with_file(tee, copy, lines.whole),
        }
        if ts:
            runs["ts"] = lambda: run_in_pipe([ts], lines.tenth).scaled(lines.scale)
            # Without pipes at either end, reading a file.
            runs["ours, file"] = lambda: with_file(ours, log, lines.whole, run)
            runs["ts, file"] = lambda: run([ts], lines.tenth).scaled(lines.scale)
        with on_all_cores():
            judge_pipe(bench, lines, least(runs, PIPE_TRIES))
    bench.note("In a pipe, the goals apply to the CPU time of the command alone: it is the stricter measure, and")
    bench.note("the same on any number of cores. The wall time of the pipe (on all cores) is largely that of its two")
    bench.note("cats, and depends on other load. tee does not sync to the disk, and neither does --sync never. ts writes no file.")


def judge_pipe(bench, lines, used):
    what = f"jsonl-record, {lines.size / 1e6:.0f} MB of {lines.name}"
    ours, unsynced, tee = used["ours"], used["unsynced"], used["tee"]
    bench.faster(f"{what}: CPU time", ours.cpu, "tee", tee.cpu, TEE_GOALS[lines.name])
    bench.faster(f"{what}, --sync never: CPU time", unsynced.cpu, "tee", tee.cpu)
    bench.faster(f"{what}, --sync never: wall time of the pipe", unsynced.wall, "tee", tee.wall)
    if "ts" in used:
        bench.faster(f"{what}: CPU time", ours.cpu, "ts", used["ts"].cpu)
        bench.faster(f"{what}: wall time of the pipe", ours.wall, "ts", used["ts"].wall)
        bench.faster(f"{what}, FILE to /dev/null: CPU time", used["ours, file"].cpu, "ts", used["ts, file"].cpu, 5)
        bench.row(f"tee, {what.split(', ')[1]}: CPU time", f"{tee.cpu:.2f} s", "ts", f"{used['ts'].cpu / tee.cpu:.2f} x")


def observation_of(size):
    """Has a number that can be counted up."""
    value, *others = map(json.loads, itertools.islice(inputs.observations(), size // 1000 + 2))
    elements = [element for other in others for element in other["data"]["elements"]]
    value["data"] = {"elements": [], "note": ""}
    while len(inputs.line(value)) + len(inputs.line(elements[-1])) < size:
        value["data"]["elements"].append(elements.pop())
    value["data"]["note"] = "-" * (size - len(inputs.line(value)))
    return inputs.line(value)


def round_trips(bench):
    """Each line comes back unchanged."""
    echo = [bench.example("echo-agent")]
    for name, size in (("200 B", 200), ("10 KB", 10_000)):
        path = bench.file(f"round-trip-{size}.json")
        inputs.repeat([observation_of(size)], 0, path)
        for sync in ("never", "1"):
            log = bench.file(f"round-trips-{size}-{sync}.log")
            wrapped = [bench.program("jsonl-record"), "--sync", sync, log, "--", *echo]
            alone, ours = ping_pong(bench, path, "n", WARM_UPS, ROUND_TRIPS, [echo, wrapped])
            what = f"jsonl-record --sync {sync} --: round trip of {name}"
            bench.added(f"{what}, median", ours["p50_us"], "no recorder", alone["p50_us"], "us", MOST_ADDED_US)
            bench.added(f"{what}, p99", ours["p99_us"], "no recorder", alone["p99_us"], "us")


def memory(bench):
    lines = inputs.agent_lines(bench)[-1]
    command = [bench.program("jsonl-record"), bench.file("memory.log")]
    bench.memory(f"jsonl-record, {lines.size / 1e6:.0f} MB from a pipe", peak_of(command, lines.whole))


MEASUREMENTS = (pipe, round_trips, memory)
