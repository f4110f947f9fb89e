"""jsonl-mask: its throughput compared with jq's gsub, and its memory."""

import random
import shutil
import subprocess

import inputs
from processes import least, peak_of, run

LENGTH = 308
# The goal: lines per second on one core.
RATE = 100_000
VALUES = (
    "ghp_0123456789abcdefghijABCDEFGHIJ012345", "4111 1111 1111 1111", "ann.smith@example.com", "https://bob:s3cret@db.example.com/x",
    "Bearer abc123def456ghi789", "+44 7700 900123", "GB29 NWBK 6016 1331 9268 19", "AKIAIOSFODNN7EXAMPLE",
)
# Without check digits, lengths by issuer and country, fields by name, and a table: each kind becomes one word.
PATTERNS = (
    (r"(?:ghp_[A-Za-z0-9]{36}|AKIA[A-Z2-7]{16})", "<KEY>"), (r"\\b[0-9](?:[ -]?[0-9]){12,18}\\b", "<CARD>"),
    (r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}", "<EMAIL>"), (r"://[^/@\\s]+:[^/@\\s]+@", "://<CREDENTIALS>@"),
    (r"Bearer [A-Za-z0-9._-]{8,}", "Bearer <TOKEN>"), (r"\\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}\\b", "<IBAN>"),
    (r"\\+[0-9][0-9 -]{7,14}", "<PHONE>"),
)


def calls():
    """Tool calls of the same length; every second one contains a value."""
    dice = random.Random(4)
    for number in range(inputs.DISTINCT):
        arguments = {"element": inputs.phrase(dice, 3), "ref": f"e{dice.randrange(1000)}", "x": dice.randrange(1920), "note": ""}
        call = {"type": "tool_call", "call_id": f"c{number}", "tool_name": "browser_click", "arguments": arguments}
        value = VALUES[number // 2 % len(VALUES)] + " " if number % 2 else ""
        arguments["note"] = (value + inputs.phrase(dice, 60))[: LENGTH - len(inputs.line(call))]
        yield inputs.line(call)


def throughput(bench):
    lines = inputs.make(bench, f"{LENGTH} B calls with personal data", calls)
    runs = {"ours": lambda: run([bench.program("jsonl-mask")], lines.whole)}
    jq = shutil.which("jq")
    if jq:
        changes = " | ".join(f'gsub("{pattern}"; "{to}")' for pattern, to in PATTERNS)
        command = [jq, "-c", f"(.. | strings) |= ({changes})"]
        subprocess.run(command, input=b'{"a":["ann@example.com"]}\n', stdout=subprocess.PIPE, check=True)
        runs["jq"] = lambda: run(command, lines.tenth).scaled(lines.scale)
    else:
        bench.skip("jq is not available for the comparison")
    used = least(runs)
    what = f"jsonl-mask, {lines.size / 1e6:.0f} MB of {lines.name}: CPU time"
    if jq:
        bench.faster(what, used["ours"].cpu, "jq gsub, 7 patterns", used["jq"].cpu)
    rate = lines.size / LENGTH / used["ours"].cpu
    bench.row(f"jsonl-mask, lines of {LENGTH} B on one core", f"{rate:.0f}/s", "", "", f">= {RATE}/s", rate >= RATE)


def memory(bench):
    """Uses more different values than the table holds."""
    path = bench.file("distinct.jsonl")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f'{{"to":"user{number}@example.com"}}\n' for number in range(300_000))
    bench.memory("jsonl-mask, 300,000 different addresses", peak_of([bench.program("jsonl-mask")], path))


MEASUREMENTS = (throughput, memory)
