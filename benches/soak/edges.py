"""The logs of recorders on both sides of a gate, compared: nothing may be lost, changed or added between them.

A recorder writes a line to its log before it passes it on, and a gate reads it after that. So the log behind a gate has only lines that
the log before it has, in the same order. A line of the log before it may be missing behind it
- if it is a call that was answered without passing (refused, rejected or cancelled), or a cancel of a call that was held;
- at the end of a run, if a process of the session was killed: those lines were in a pipe or in the memory of the process.
A log may end within a line only where its recorder was killed.
"""

import json
import os

DECODER = json.JSONDecoder()


class Edge:
    """A log of jsonl-record: its runs, each a list of (direction, line), and how many lines were torn."""

    def __init__(self, path):
        self.path, self.runs, self.torn = path, [], 0
        if not os.path.exists(path):
            return
        with open(path, "rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except ValueError:
                    self.torn += 1
                    continue
                if "format" in record:
                    self.runs.append([])
                elif "dir" in record:
                    self.runs[-1].append((record["dir"], content(record, line)))

    def lines(self, direction):
        return [line for run in self.runs for way, line in run if way == direction]


def content(record, line):
    """The message as it was passed on."""
    if "msg" not in record:
        return json.dumps({name: value for name, value in record.items() if name not in ("t", "seq", "dir")})
    text = line.decode()
    start = text.index('"msg":') + len('"msg":')
    return text[start : DECODER.raw_decode(text, start)[1]]


def call_of(line):
    """The id and the tool of a call, or None."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if record.get("type") == "tool_call":
        return str(record.get("call_id")), record["tool_name"]
    if "tool" in record and "status" not in record:
        return str(record.get("id")), record["tool"]
    return None


def answered(edge):
    """The ids of calls that have a result."""
    found = set()
    for line in edge.lines("out"):
        record = json.loads(line)
        if record.get("type") == "tool_result" or "tool" in record and "status" in record:
            found.add(str(record.get("call_id", record.get("id"))))
    return found


def is_cancel(line):
    return '"cancel"' in line and json.loads(line).get("type") == "cancel"


def compare(before, behind, was_killed, fail):
    """Edges on both sides of a gate."""
    results = answered(before)
    inward = follow([[line for way, line in run if way == "in"] for run in before.runs], behind.lines("in"),
                    lambda line: is_cancel(line) or (call := call_of(line)) is not None and call[0] in results)
    outward = follow([[line for way, line in run if way == "out"] for run in behind.runs], before.lines("out"), lambda _: False)
    for what, (within, at_end, added) in (("calls", inward), ("answers", outward)):
        name = f"{what} between {os.path.basename(before.path)} and {os.path.basename(behind.path)}"
        for line in within:
            fail(f"{name}: a line was lost between others: {line[:300]}")
        for line in added if what == "calls" else ():
            fail(f"{name}: a line was added or changed: {line[:300]}")
        if at_end and not was_killed:
            fail(f"{name}: {len(at_end)} lines were lost at the end, though no process was killed: {at_end[0][:300]}")
    return len(inward[1]) + len(outward[1])


def follow(runs, there, is_settled):
    """The lines of the runs that are not `there`, within a run and at the end of one; and what is there besides them."""
    within, at_end, added, place = [], [], [], 0
    for run in runs:
        missing = []
        for line in run:
            call = call_of(line)
            found = next((at for at in range(place, len(there)) if there[at] == line or call and call_of(there[at]) == call), None)
            if found is not None:
                within += missing
                missing = []
                added += there[place:found]
                place = found + 1
            elif not is_settled(line):
                missing.append(line)
        at_end += missing
    return within, at_end, added + there[place:]
