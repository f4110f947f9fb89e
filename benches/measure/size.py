"""The size of the commands, as released."""

import os
import subprocess

from bench import COMMANDS, MIB


def sizes(bench):
    folder = os.environ["PIPEWRIGHT_DIST"]
    total = 0
    for name in COMMANDS:
        size = os.path.getsize(os.path.join(folder, name))
        total += size
        bench.row(f"{name}, profile dist", mebibytes(size), "", "")
    bench.row("all of them, profile dist", mebibytes(total), "", "")
    packed = subprocess.run(["tar", "-C", folder, "-czf", "-", *COMMANDS], stdout=subprocess.PIPE, check=True).stdout
    bench.row("all of them, as a tar.gz", mebibytes(len(packed)), "", "")


def mebibytes(size):
    return f"{size / MIB / MIB:.1f} MiB"


MEASUREMENTS = (sizes,)
