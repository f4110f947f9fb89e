"""The logs of recorders on both sides of a gate, compared: nothing may be lost, changed or added between them.

A recorder writes a line to its log before it passes it on, and a gate reads it after that. So the log behind a gate has only lines that
the log before it has, in the same order. A line of the log before it may be missing behind it
- if it is a call that was answered without passing (refused, rejected or cancelled), or a cancel of a call that was held (a cancel that
  passes overtakes calls that are held);
- at the end of a run, if a process of the session was killed: those lines were in a pipe or in the memory of the process. The same
  holds if agent-serve closed a session whose browser was still busy: it sends SIGTERM then.
A log may end within a line only where its recorder was killed.
"""

import json
import os
from collections import Counter, namedtuple

DECODER = json.JSONDecoder()


class Run:
    """What one process of a recorder has logged: (direction, line), and how its run ended, if it says so."""

    def __init__(self, start):
        self.start, self.end, self.messages = start, None, []

    def lines(self, direction):
        return [line for way, line in self.messages if way == direction]


class Edge:
    """A log of jsonl-record: its runs, by the time of their start."""

    def __init__(self, path):
        self.path, self.runs = path, []
        if not os.path.exists(path):
            return
        with open(path, "rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except ValueError:
                    # Torn: `jsonl-log check` counts it.
                    continue
                if "format" in record:
                    self.runs.append(Run(record["start"]))
                elif "dir" in record:
                    self.runs[-1].messages.append((record["dir"], content(record, line)))
                elif "end" in record:
                    self.runs[-1].end = record["end"]

    def lines(self, direction):
        return [line for run in self.runs for line in run.lines(direction)]


def content(record, line):
    """The message as it was passed on."""
    if "msg" not in record:
        return json.dumps({name: value for name, value in record.items() if name not in ("t", "seq", "dir")})
    text = line.decode()
    start = text.index('"msg":') + len('"msg":')
    return text[start : DECODER.raw_decode(text, start)[1]]


Call = namedtuple("Call", "id tool arguments is_held")


def call_of(line):
    """The call that a line is, or None."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    is_held = record.get("requires_approval") is True
    if record.get("type") == "tool_call":
        return Call(str(record.get("call_id")), record["tool_name"], record.get("arguments"), is_held)
    if "tool" in record and "status" not in record:
        return Call(str(record.get("id")), record["tool"], record.get("args"), is_held)
    return None


def is_same(line, behind):
    """Whether a line is the one behind the gate. policy-check adds marks to calls; hitl-gate removes them, and only for a call that is
    held it may have other arguments, which a person has edited."""
    if line == behind:
        return True
    call, other = call_of(line), call_of(behind)
    return bool(call and other) and call[:2] == other[:2] and (call.is_held or call.arguments == other.arguments)


def answered(run):
    """The ids of calls that have a result."""
    found = set()
    for line in run.lines("out"):
        record = json.loads(line)
        if record.get("type") == "tool_result" or "tool" in record and "status" in record:
            found.add(str(record.get("call_id", record.get("id"))))
    return found


def is_cancel(line):
    return '"cancel"' in line and json.loads(line).get("type") == "cancel"


def compare(before, behind, was_killed, fail):
    """Compares the edges on both sides of a gate, run by run. Returns how many lines were lost at the ends of runs."""
    lost = 0
    for number, run in enumerate(before.runs):
        # A recorder is started by the gate that the recorder before it has started.
        next_start = before.runs[number + 1].start if number + 1 < len(before.runs) else "9"
        others = [other for other in behind.runs if run.start <= other.start < next_start]
        there = Run(run.start)
        for other in others:
            there.messages += other.messages
        # Answers of the gate itself.
        results = answered(run) - answered(there)
        was_stopped = was_killed or (run.end or "").startswith("SIG")
        settled = lambda line: (call := call_of(line)) is not None and call.id in results
        calls = follow(*([line for line in one.lines("in") if not is_cancel(line)] for one in (run, there)), settled)
        cancels = [line for line in there.lines("in") if is_cancel(line)]
        if added := Counter(cancels) - Counter(run.lines("in")):
            fail(f"{os.path.basename(behind.path)}: a gate has added {added}")
        answers = follow(there.lines("out"), run.lines("out"), lambda _: False)
        for what, (within, at_end, added) in (("calls", calls), ("answers", answers)):
            name = f"{what} between {os.path.basename(before.path)} and {os.path.basename(behind.path)}, from {run.start}"
            for line in within:
                fail(f"{name}: a line was lost between others: {line[:300]}")
            # A gate adds answers of its own.
            for line in added if what == "calls" else ():
                fail(f"{name}: a line was added or changed: {line[:300]}")
            if at_end and not was_stopped:
                fail(f"{name}: {len(at_end)} lines were lost at the end, though nothing was stopped: {at_end[0][:300]}")
            lost += len(at_end)
    return lost


def follow(lines, there, is_settled):
    """The lines that are not `there`, between others and at the end; and what is there besides the lines."""
    within, missing, added, place = [], [], [], 0
    for line in lines:
        found = next((at for at in range(place, len(there)) if is_same(line, there[at])), None)
        if found is not None:
            within += missing
            missing = []
            added += there[place:found]
            place = found + 1
        elif not is_settled(line):
            missing.append(line)
    return within, missing, added + there[place:]
