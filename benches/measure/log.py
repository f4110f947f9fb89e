"""jsonl-log: its tables compared with those of jq and Miller, and its memory."""

import re
import shutil

import inputs
from processes import least, peak_of, run

# In the notation that we share with jq.
COLUMNS = {
    "196 B calls": [".call_id", ".tool_name", ".arguments.ref", ".arguments.x"],
    "2 KB snapshots": [".type", ".call_id", ".status", ".result.content[0].type"],
    "2 KB observations": [".ts", ".source", ".data.gold", ".data.elements[3].name"],
}


def for_miller(path):
    """Miller flattens nested values, and counts from 1."""
    return re.sub(r"\[(\d+)\]", lambda index: f".{int(index[1]) + 1}", path.lstrip("."))


def csv(bench):
    jq, miller = shutil.which("jq"), shutil.which("mlr")
    for name, found in (("jq", jq), ("Miller", miller)):
        if not found:
            bench.skip(f"{name} is not available for the comparison")
    for lines in inputs.agent_lines(bench):
        columns = ",".join(COLUMNS[lines.name])
        cut = ["--ijsonl", "--ocsv", "cut", "-f", ",".join(map(for_miller, COLUMNS[lines.name]))]
        runs = {"ours": lambda: run([bench.program("jsonl-log"), "csv", columns, lines.whole])}
        if jq:
            runs["jq"] = lambda: run([jq, "-r", f"[{columns}] | @csv", lines.tenth]).scaled(lines.scale)
        if miller:
            runs["mlr"] = lambda: run([miller, *cut, lines.tenth]).scaled(lines.scale)
        judge_csv(bench, lines, least(runs))


def judge_csv(bench, lines, used):
    what = f"jsonl-log csv, {lines.size / 1e6:.0f} MB of {lines.name}: CPU time"
    for name, called, goal in (("jq", "jq @csv", 8), ("mlr", "mlr cut", 20)):
        if name in used:
            bench.faster(what, used["ours"].cpu, called, used[name].cpu, goal)


def memory(bench):
    log = inputs.recorded(bench, inputs.agent_lines(bench)[-1])
    for task in (["csv", ".ts,.source,.data.gold,.data.step"], ["summary"], ["check"]):
        peak = peak_of([bench.program("jsonl-log"), *task, log.whole])
        bench.memory(f"jsonl-log {task[0]}, {log.size / 1e6:.0f} MB", peak)


MEASUREMENTS = (csv, memory)
