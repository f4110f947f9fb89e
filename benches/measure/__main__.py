"""The measuring half of scripts/bench: PROGRAMS FIXTURES SCRATCH (three folders), and the names of groups.

Prints one table of what was asked of the programs, what they do, and what a rival does in the same run. The exit status
is 1 where something couldn't be measured; a missed goal is only printed.
"""

import importlib
import os
import subprocess
import sys

from bench import Bench, print_table
from processes import pin


def main():
    programs, fixtures, scratch, *groups = sys.argv[1:]
    bench = Bench(programs, fixtures, scratch)
    for group in groups:
        for measure in importlib.import_module(group).MEASUREMENTS:
            try:
                measure(bench)
            except (OSError, subprocess.CalledProcessError) as error:
                bench.skip(f"{group}, {measure.__name__.replace('_', ' ')}: {error}")
    print_table(bench.rows)
    for note in bench.notes:
        print(f"  {note}")
    for skipped in bench.skipped:
        print(f"\nNOT MEASURED: {skipped}", file=sys.stderr)
    return 1 if bench.skipped else 0


if __name__ == "__main__":
    load = os.getloadavg()[0]
    print(f"Everything runs on core {pin()}, but for what says otherwise. The load average was {load:.1f} before: what else"
          " runs slows this, round trips most of all.\n", flush=True)
    sys.exit(main())
