"""replay: its filter compared with the jaq command, how late it plays, and its memory."""

import functools
import os
import random
import shutil

import inputs
from processes import least, on_all_cores, peak_of, ping_pong, report_of, run, turns

# The filter for each input: two fields, one of which rarely matches.
WHERE = {
    "196 B calls": '.tool_name == "browser_click" and .arguments.x > 1500',
    "2 KB snapshots": '.type == "tool_result" and .status == "error"',
    "2 KB observations": '.source == "game" and .data.gold > 400',
}
TIMED_MESSAGES = 2_000
MOST_LATE_US = 1_000


def where(bench):
    jaq = shutil.which("jaq")
    if not jaq:
        return bench.skip("jaq is not available for the comparison")
    for plain in inputs.agent_lines(bench):
        filter = WHERE[plain.name]
        compare(bench, plain, filter, [jaq, "-c", f"select({filter})"])
        # jaq also gets the log fields around the message.
        compare(bench, inputs.recorded(bench, plain), filter, [jaq, "-c", f"select(.msg | {filter})"])


def compare(bench, lines, filter, jaq):
    used = least({
        "ours": lambda: run([bench.program("replay"), "--speed", "max", "--where", filter, lines.whole]),
        "jaq": lambda: run([*jaq, lines.whole]),
    })
    what = f"replay --where, {lines.size / 1e6:.0f} MB of {lines.name}: CPU time"
    bench.faster(what, used["ours"].cpu, "jaq select", used["jaq"].cpu, goal=2)


def lateness(bench):
    """The best of several tries: on a busy machine, lateness depends more on the machine. The same holds for a bare sleep."""
    log = bench.file("timed.jsonl")
    write_timed(log)
    command = [bench.example("lateness"), log]
    commands = {"ours": [*command, bench.program("replay"), "--speed", "1", log], "sleep": command}
    with on_all_cores():
        tries = turns({name: functools.partial(report_of, command) for name, command in commands.items()})
    ours, sleep = (min(tried, key=lambda one: one["p99_us"]) for tried in tries.values())
    for name, key in (("the first", "first_us"), ("median", "p50_us"), ("p99", "p99_us"), ("most", "most_us")):
        goal = MOST_LATE_US if name == "p99" else None
        what = f"replay --speed 1, {ours['lines']} lines 0.2 to 5 ms apart: late, {name}"
        added = f"{ours[key] - sleep[key]:+.0f} us"
        bench.row(what, f"{ours[key]:.0f} us", f"bare sleep {sleep[key]:.0f} us", added,
                  f"<= {goal} us" if goal else "", ours[key] <= goal if goal else None)


def write_timed(path):
    dice, t = random.Random(4), 0
    with open(path, "wb") as log:
        log.write(inputs.line({"format": "pipewright-log", "version": 1, "seq": 0, "start": "2026-11-22T01:00:00.000000Z"}))
        for seq in range(1, TIMED_MESSAGES + 1):
            t += dice.randrange(200, 5_000)
            log.write(inputs.line({"t": t, "seq": seq, "dir": "in", "msg": {"n": seq}}))


def memory(bench):
    plain = inputs.agent_lines(bench)[-1]
    log = inputs.recorded(bench, plain)
    replay = [bench.program("replay")]
    bench.memory(f"replay --speed max, {log.size / 1e6:.0f} MB", peak_of([*replay, "--speed", "max", log.whole]))
    agent = [bench.example("echo-agent"), '{"cmd":"play 1"}']
    conversation = record_conversation(bench, agent)
    peak = peak_of([*replay, "--as", "world", conversation, "--", *agent])
    bench.memory(f"replay --as world, {os.path.getsize(conversation) / 1e6:.0f} MB", peak)


def record_conversation(bench, agent):
    """Observations to an agent, and its answers, up to the usual size of a log."""
    message, log = bench.file("observation.json"), bench.file("conversation.jsonl")
    inputs.repeat([next(inputs.observations())], 0, message)
    recorder = [bench.program("jsonl-record"), "--sync", "never", "--child", "agent", log, "--", *agent]
    ping_pong(bench, message, "n", 0, inputs.SIZE // (os.path.getsize(message) + 100), [recorder])
    return log


MEASUREMENTS = (where, lateness, memory)
