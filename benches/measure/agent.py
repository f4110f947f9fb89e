"""agent-loop: the time it adds to a step, by the length of the conversation; and, with a real model, the goals reached."""

import json
import os
import statistics
import subprocess

from processes import on_all_cores

# A step adds 15 KB: the last requests have 8 MB.
STEPS = 540
SHORT = 1_000_000
LONG = 2_000_000


def steps(bench, name, *options):
    """The length of each request, in bytes, and the time of the loop between the two sides, in milliseconds."""
    log = bench.file(f"{name}-sides")
    sides = bench.example("agent-sides")
    command = [bench.program("agent-loop"), "--llm", f"{sides} model {log} {STEPS}", "--goal", "Look.", "--max-steps", str(STEPS + 1),
               *options, "--", sides, "world", log]
    with on_all_cores():
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    with open(log, encoding="ascii") as file:
        events = sorted((line.split() for line in file), key=lambda event: int(event[2]))
    took, found = 0, []
    # The request for the tools, and the first request, do not follow an answer.
    for sent, got in zip(events, events[1:]):
        if sent[1] == "sent" and got[1] == "got" and sent[0] != got[0]:
            took += int(got[2]) - int(sent[2])
            if got[0] == "model":
                found.append((int(got[3]), took / 1e6))
                took = 0
    if len(found) < STEPS:
        raise ValueError(f"{len(found)} steps of {STEPS} were measured")
    return found[2:]


def added(bench):
    for name, options in (("", ()), (" --session", ("--session", bench.file("session")))):
        found = steps(bench, name.strip() or "plain", *options)
        short = statistics.median(took for length, took in found if length <= SHORT)
        bench.within(f"agent-loop{name}: added to a step, history to 1 MB, median", short, 2, digits=2)
        longer = statistics.median(took / (length / 1e6) for length, took in found if length >= LONG)
        bench.within(f"agent-loop{name}: added to a step, history of 2 to 8 MB, median for a MB", longer, 3, digits=2)
    bench.note("The time from one side's answer until the other side has read the resulting line: from the model's turn to the world's call, and"
               " from the call's result to the next request.")


def live(bench):
    """With the model of --model: the sites of the tests, in Chromium."""
    model = os.environ.get("AGENT_MODEL")
    if not model:
        return
    command = ["cargo", "test", "--quiet", "--test", "it", "--", "--exact", "agent_loop::live::goals", "--ignored", "--nocapture"]
    with on_all_cores():
        said = subprocess.run(command, env={**os.environ, "PIPEWRIGHT_MODEL": model}, stderr=subprocess.PIPE, text=True, check=True).stderr
    report = next(json.loads(line) for line in said.splitlines() if line.startswith('{"reached"'))
    reached, goals, numbered, acted = (report[key] for key in ("reached", "goals", "by_number", "element_actions"))
    bench.row(f"agent-loop with {model}: goals reached", f"{reached} of {goals}", "", "", f"{goals} of {goals}", reached == goals)
    share = numbered / max(acted, 1)
    bench.row(f"agent-loop with {model}: element actions by number", f"{share:.0%} of {acted}", "", "", "> 90 %", share > 0.9)


MEASUREMENTS = (added, live)
