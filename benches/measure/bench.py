"""The common part of all measurements: the locations of files, and the table of results."""

import os
from collections import namedtuple
from pathlib import Path

MIB = 1024
COMMANDS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "src/bin").glob("*.rs"))
HEADINGS = ("what", "ours", "rival", "ratio", "goal", "met?")

# The cells of a row, and whether the rival is better. A rival that does less by design (a lower bound) never counts as better.
Row = namedtuple("Row", "group what ours rival ratio goal met is_behind")


class Bench:
    def __init__(self, programs, fixtures, scratch):
        self.programs, self.fixtures, self.scratch = programs, fixtures, scratch
        self.group, self.rows, self.notes, self.skipped = "", [], {}, []

    def program(self, name):
        return os.path.join(self.programs, name)

    def example(self, name):
        return os.path.join(self.programs, "examples", name)

    def file(self, name):
        return os.path.join(self.scratch, name)

    def note(self, note):
        notes = self.notes.setdefault(self.group, [])
        if note not in notes:
            notes.append(note)

    def skip(self, why):
        if why not in self.skipped:
            self.skipped.append(why)

    def row(self, what, ours, rival, ratio, goal="", met=None, is_behind=False):
        told = {True: "yes", False: "NO", None: ""}[met]
        self.rows.append(Row(self.group, what, ours, rival, ratio, goal, told, is_behind))

    def faster(self, what, ours, name, rival, goal=None, floor=False):
        """A row of seconds: how many times as fast as the rival."""
        ratio = rival / ours
        wanted = f">= {goal:g} x" if goal else ""
        met = ratio >= goal if goal else None
        self.row(what, f"{ours:.2f} s", f"{name} {rival:.2f} s", f"{ratio:.2f} x", wanted, met, ratio < 1 and not floor)

    def added(self, what, ours, name, rival, unit, goal=None, digits=0):
        """A row of times, with a goal for the time that we add."""
        added = ours - rival
        ratio = f"{ours / rival:.2f} x, {added:+.{digits}f} {unit}"
        wanted = f"<= +{goal} {unit}" if goal else ""
        met = added <= goal if goal else None
        self.row(what, f"{ours:.{digits}f} {unit}", f"{name} {rival:.{digits}f} {unit}", ratio, wanted, met)

    def share(self, what, ours, name, rival, goal=None):
        """A row of milliseconds, with a goal relative to the rival's."""
        ratio = ours / rival
        wanted, met = (f"<= {goal:g} x", ratio <= goal) if goal else ("", None)
        self.row(what, f"{ours:.0f} ms", f"{name} {rival:.0f} ms", f"{ratio:.2f} x", wanted, met, ratio > 1)

    def rate(self, what, ours, name, rival, goal=None, floor=False):
        """A row of rates per second."""
        ratio = ours / rival
        wanted, met = (f">= {goal:g} x", ratio >= goal) if goal else ("", None)
        theirs = f"{name} {rival:.{0 if rival >= 100 else 1}f}/s"
        self.row(what, f"{ours:.0f}/s", theirs, f"{ratio:.2f} x", wanted, met, ratio < 1 and not floor)

    def within(self, what, ours, goal=None, digits=0):
        """A row of milliseconds without a rival."""
        self.row(what, f"{ours:.{digits}f} ms", "", "", f"<= {goal} ms" if goal else "", ours <= goal if goal else None)

    def quicker(self, what, ours, name, rival):
        """A row of milliseconds: how many times as fast as the rival."""
        self.row(what, f"{ours:.2f} ms", f"{name} {rival:.2f} ms", f"{rival / ours:.1f} x", is_behind=ours > rival)

    def memory(self, what, kib):
        self.row(f"{what}: peak memory", f"{kib / MIB:.1f} MiB", "", "", "< 20 MB", kib * 1024 < 20e6)


def print_table(rows):
    rows = [HEADINGS, *(row[1:-1] for row in rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    for row in rows:
        print(" | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if row is rows[0]:
            print("-|-".join("-" * width for width in widths))
