"""policy-check: how it judges the tools of public servers by their names and hints; its throughput compared with the jq command,
and its memory; the time that both gates add to a round trip."""

import itertools
import json
import os
import random
import shutil
import subprocess
import sys

import inputs
from processes import least, peak_of, ping_pong, run

CALLS = 100_000
LONG_CALLS = 4_000
LISTS = os.path.join(os.path.dirname(__file__), "..", "tools")
# The goals: the share of tools with effects that pass; the share of reading tools that are asked about, without and with trusted hints.
EFFECTS_PASSED, READS_ASKED, TRUSTED_READS_ASKED = 0.002, 0.05, 0.02
# The goals for lines of shell and for calls with arguments: the share of dangerous ones that pass, of harmless ones that are asked about.
LINE_GOALS = {"shell": (0, 0.1), "calls": (0.002, 0.05)}
WARM_UPS = 500
ROUND_TRIPS = 10_000
SEPARATORS = (",", ":")

# The same six rules for both.
FILTERS = (
    '.tool | test("delete|remove|drop"; "i")',
    '.arguments.element // "" | test("pay|order|buy"; "i")',
    '(.arguments.amount // 0) > 100',
    '.tool == "send_email" and (.arguments.to // "" | endswith("@example.org") | not)',
    '.arguments.path // "" | startswith("/etc/")',
    '(.arguments.text // "" | length) > 2000',
)
DECLARED = """
[[rule]]
id = "delete"
verdict = "confirm"
tool = ["*delete*", "*remove*", "*drop*"]
[[rule]]
id = "pay"
verdict = "confirm"
arguments = { ".element" = ["*pay*", "*order*", "*buy*"] }
[[rule]]
id = "amount"
verdict = "confirm"
arguments = { ".amount" = { min = 100.01 } }
[[rule]]
id = "mail"
verdict = "confirm"
tool = "send_email"
arguments = { ".to" = { not = "*@example.org" } }
[[rule]]
id = "path"
verdict = "deny"
arguments = { ".path" = "/etc/*" }
[[rule]]
id = "page"
verdict = "confirm"
arguments = { ".url" = "*checkout*" }
"""


def calls(length):
    """Calls as an agent makes them, of about so many bytes: different elements, texts and tools."""
    chance = random.Random(7)
    tools = ["browser_click", "browser_type", "browser_navigate", "browser_snapshot", "read_file", "delete_file", "browser_press_key"]
    for number in itertools.count():
        words = " ".join(chance.choices(inputs.WORDS, k=3))
        arguments = {"element": words, "ref": f"e{number % 500}", "key": "ArrowDown", "text": ""}
        call = {"type": "tool_call", "call_id": f"c{number}", "tool_name": tools[number % len(tools)], "arguments": arguments}
        call |= {"session_id": "s-2026-11-22", "step_id": number}
        arguments["text"] = "x" * max(0, length - len(json.dumps(call, separators=SEPARATORS)) - 1)
        yield json.dumps(call, separators=SEPARATORS) + "\n"


def written(bench, name, length, count):
    path = bench.file(name)
    if not os.path.exists(path):
        with open(path, "w", encoding="ascii") as file:
            file.writelines(itertools.islice(calls(length), count))
    return path


def rules(bench, name, text):
    path = bench.file(name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def throughput(bench):
    jq = shutil.which("jq")
    if not jq:
        return bench.skip("jq is not available for the comparison")
    short, long = written(bench, "calls-300.jsonl", 300, CALLS), written(bench, "calls-20k.jsonl", 20_000, LONG_CALLS)
    gate = bench.program("policy-check")
    filtered = "builtin = false\ndefault = \"allow\"\n" + "".join(
        f"[[rule]]\nid = \"r{number}\"\nverdict = \"confirm\"\nwhen = '{when}'\n" for number, when in enumerate(FILTERS)
    )
    filtered = rules(bench, "filters.toml", filtered)
    declared = rules(bench, "declared.toml", "builtin = false\ndefault = \"allow\"\n" + DECLARED)
    # A typical jq program: the form of the call is known, and the verdict is set as a field.
    any_of = " or ".join(f"({when})" for when in FILTERS).replace(".tool", ".tool_name")
    command = [jq, "-c", f".requires_approval = ({any_of})"]
    runs = {
        "built in": lambda: run([gate], short),
        "filters": lambda: run([gate, "--rules", filtered], short),
        "jq": lambda: run(command, short),
        "declared": lambda: run([gate, "--rules", declared], long),
        "jq long": lambda: run(command, long),
    }
    used = least(runs)
    bench.faster(f"policy-check, built in, {CALLS} calls of 300 B: CPU time", used["built in"].cpu, "jq, six rules", used["jq"].cpu, goal=5)
    bench.faster("policy-check, the six as jq filters", used["filters"].cpu, "jq, six rules", used["jq"].cpu, goal=1.3)
    bench.faster(f"policy-check, six declared, {LONG_CALLS} calls of 20 KB", used["declared"].cpu, "jq, six rules", used["jq long"].cpu, goal=3)


def latency(bench):
    path = bench.file("one-call.json")
    with open(path, "w", encoding="ascii") as file:
        file.write(next(calls(300)))
    world = ["/bin/sh", "-c", "echo ready; exec cat"]
    gates = {name: [bench.program(name), "--", *world] for name in ("policy-check", "hitl-gate")}
    direct, *measured = ping_pong(bench, path, "step_id", WARM_UPS, ROUND_TRIPS, [world, *gates.values()])
    for gate, ours in zip(gates, measured):
        for key, name in (("p50_us", "median"), ("p99_us", "p99")):
            what = f"{gate} before a world: a call and its answer, {name}"
            bench.added(what, ours[key], "no gate", direct[key], "us", 30 if name == "median" else None)


def memory(bench):
    bench.memory(f"policy-check, {CALLS} calls", peak_of([bench.program("policy-check")], written(bench, "calls-300.jsonl", 300, CALLS)))


def judgement(bench):
    command = [sys.executable, os.path.join(LISTS, "measure"), bench.program("policy-check"), bench.scratch, "--json"]
    counts = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    for part, spelling, is_trusted, passed, effects, asked, reads in counts:
        where = f"tools, {part}, {spelling}" + (", hints trusted" if is_trusted else "")
        asked_goal = TRUSTED_READS_ASKED if is_trusted else READS_ASKED
        for what, wrong, count, goal in (("effects that pass", passed, effects, EFFECTS_PASSED), ("reads asked about", asked, reads, asked_goal)):
            bench.row(f"{where}: {what}, of {count}", f"{wrong / count:.2%}", "", f"{wrong}", f"<= {goal:.1%}", wrong <= goal * count)


def lines(bench):
    command = [sys.executable, os.path.join(LISTS, "measure_calls"), bench.program("policy-check"), "--json"]
    for what, part, kind, wrong, count in json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout):
        is_harmless = kind == "harmless"
        goal = LINE_GOALS[what][1 if is_harmless else 0]
        told = f"{what}, {part}: {kind} lines {'asked about' if is_harmless else 'that pass'}, of {count}"
        bench.row(told, f"{wrong / count:.2%}", "", f"{wrong}", f"<= {goal:.1%}", wrong <= goal * count)


MEASUREMENTS = (judgement, lines, throughput, latency, memory)
