"""The detector of destructive actions on labels of other applications, which no list was tuned to: recall and false positives, by
kind and by language."""

import csv
import json
import os
import subprocess
import sys

LABELS = os.path.join(os.path.dirname(__file__), "..", "labels")
# The goals: recall of all and of each kind, false positives of all and of the hard benign ones.
RECALL, KIND_RECALL, FALSE, HARD_FALSE = 0.9, 0.6, 0.03, 0.1
# The recall of buttons as shops, banks and other services name them (buttons.tsv), written by hand for this measurement.
BUTTON_RECALL = 0.9


def collected(bench):
    path = bench.file("labels.jsonl")
    with open(path, "wb") as file:
        subprocess.run([sys.executable, os.path.join(LABELS, "collect")], stdout=file, check=True)
    return path


def measured(bench, rows, *options):
    command = [sys.executable, os.path.join(LABELS, "measure"), bench.program("policy-check"), rows, "--held-out", "--json", *options]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def buttons(bench):
    rows = bench.file("buttons.jsonl")
    with open(os.path.join(LABELS, "buttons.tsv"), encoding="utf-8", newline="") as table, open(rows, "w", encoding="utf-8") as file:
        for row in csv.DictReader(table, delimiter="\t"):
            file.write(json.dumps(row | {"held_out": True}) + "\n")
    told = measured(bench, rows)["all"]
    bench.row(f"buttons: recall, {told['destructive']} labels", f"{told['recall']:.3f}", "", "", f">= {BUTTON_RECALL}", told["recall"] >= BUTTON_RECALL)
    bench.row(f"buttons: false positives, {told['benign']} labels", f"{told['false']:.3f}", "", "", f"<= {FALSE}", told["false"] <= FALSE)


def detector(bench):
    rows = collected(bench)
    for options, where in (([], ""), (["--no-locale"], ", without a locale")):
        told = measured(bench, rows, *options)
        everything, kinds = told["all"], told["kind"]
        count = f"{everything['destructive']} destructive labels, held out by source"
        bench.row(f"detector{where}: recall, {count}", f"{everything['recall']:.3f}", "", "", f">= {RECALL}", everything["recall"] >= RECALL)
        bench.row(f"detector{where}: false positives, {everything['benign']} labels", f"{everything['false']:.3f}", "", "", f"<= {FALSE}", everything["false"] <= FALSE)
        hard = kinds["hard"]["false"]
        bench.row(f"detector{where}: false positives, hard ones", f"{hard:.3f}", "", "", f"<= {HARD_FALSE}", hard <= HARD_FALSE)
        if where:
            continue
        for kind, counts in sorted(kinds.items()):
            if counts["destructive"]:
                met = counts["recall"] >= KIND_RECALL
                bench.row(f"detector, {kind}: recall, {counts['destructive']} labels", f"{counts['recall']:.3f}", "", "", f">= {KIND_RECALL}", met)
        for language, counts in sorted(told["language"].items()):
            both = [f"{counts[key]:.3f}" if counts[of] else "-" for key, of in (("recall", "destructive"), ("false", "benign"))]
            is_behind = counts["destructive"] > 0 and counts["recall"] < KIND_RECALL
            bench.row(f"detector, {language}: recall, false positives", " ".join(both), "", f"{counts['destructive']}, {counts['benign']} labels",
                      is_behind=is_behind)


MEASUREMENTS = (detector, buttons)
