"""The measuring part of scripts/bench: PROGRAMS FIXTURES SCRATCH (three folders) DOCUMENT, and the names of groups.

Prints one table with the goals, our figures, and those of a rival in the same run. Writes it to the file DOCUMENT, unless that is
empty. Exits 1 if something could not be measured; a missed goal is only printed.
"""

import importlib
import os
import subprocess
import sys
import time

import live
from bench import Bench, print_table
from document import document, with_section
from processes import pin


def main():
    load = os.getloadavg()[0]
    conditions = (f"Everything runs on core {pin()}, unless stated otherwise. The load average before the run was {load:.1f}; other load slows the"
                  " measurements, round trips most of all.")
    print(conditions + "\n", flush=True)
    programs, fixtures, scratch, path, *groups = sys.argv[1:]
    bench, began_all = Bench(programs, fixtures, scratch), time.monotonic()
    for bench.group in groups:
        began = time.monotonic()
        for measure in importlib.import_module(bench.group).MEASUREMENTS:
            try:
                measure(bench)
            except (OSError, subprocess.SubprocessError, LookupError, ValueError) as error:
                bench.skip(f"{bench.group}, {measure.__name__.replace('_', ' ')}: {error}")
        print(f"bench: {bench.group} took {time.monotonic() - began:.0f} s", file=sys.stderr)
    print_table(bench.rows)
    for note in dict.fromkeys(note for notes in bench.notes.values() for note in notes):
        print(f"  {note}")
    for skipped in bench.skipped:
        print(f"\nNOT MEASURED: {skipped}", file=sys.stderr)
    if path:
        # Made before the file is emptied: otherwise the named commit would count as changed.
        if groups == ["live"]:
            with open(path, encoding="utf-8") as file:
                text = with_section(file.read(), bench, "live")
        else:
            bench.group = "live"
            live.report(bench)
            text = document(bench, conditions, (time.monotonic() - began_all) / 60)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 1 if bench.skipped else 0


if __name__ == "__main__":
    sys.exit(main())
