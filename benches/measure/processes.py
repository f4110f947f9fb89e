"""Runs programs, and measures what they use. Started processes inherit the cores that the harness is pinned to."""

import contextlib
import json
import os
import subprocess
import time
from collections import namedtuple

TRIES = 3
ALL_CORES = os.sched_getaffinity(0)
CAT = "/bin/cat"


class Used(namedtuple("Used", "cpu wall")):
    """Seconds."""

    def scaled(self, factor):
        return Used(self.cpu * factor, self.wall * factor)


def pin():
    """To one core."""
    core = min(ALL_CORES)
    os.sched_setaffinity(0, {core})
    return core


@contextlib.contextmanager
def on_all_cores():
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, ALL_CORES)
    try:
        yield
    finally:
        os.sched_setaffinity(0, pinned)


def check(status, command):
    if status != 0:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), command)


def run(command, stdin=os.devnull):
    """The resources used by a command whose output is discarded."""
    out = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    actions = [(os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0), *out]
    began = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - began
    check(status, command)
    return Used(used.ru_utime + used.ru_stime, wall)


def run_in_pipe(command, source):
    """Between `cat source` and a cat that reads: the CPU time of the command alone, the wall time of the whole pipe."""
    began = time.perf_counter()
    with subprocess.Popen([CAT, source], stdout=subprocess.PIPE) as feeder:
        with subprocess.Popen(command, stdin=feeder.stdout, stdout=subprocess.PIPE) as middle:
            feeder.stdout.close()
            with subprocess.Popen([CAT], stdin=middle.stdout, stdout=subprocess.DEVNULL):
                middle.stdout.close()
                _, status, used = os.wait4(middle.pid, 0)
                middle.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    check(status, command)
    return Used(used.ru_utime + used.ru_stime, wall)


def turns(acts, tries=TRIES):
    """The results of each action, in several rounds. The actions take turns, so a slowdown of the machine affects all of them."""
    given = {name: [] for name in acts}
    for _ in range(tries):
        for name, act in acts.items():
            given[name].append(act())
    return given


def least(runs, tries=TRIES):
    """The lowest resources used by each run."""
    return {name: Used(*map(min, zip(*used))) for name, used in turns(runs, tries).items()}


def cpu_time(process):
    """The seconds that a running process has used so far."""
    with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def peak_kib(process):
    """The peak resident memory; 0 for a process that has ended."""
    return of_status(process, "VmHWM")


def resident_kib(process):
    """The current resident memory; 0 for a process that has ended."""
    return of_status(process, "VmRSS")


def of_status(process, key):
    with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as status:
        return next((int(line.split()[1]) for line in status if line.startswith(f"{key}:")), 0)


def processes_below(process):
    """All descendants of a process, each with its command line."""
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as file:
            children = list(map(int, file.read().split()))
        for child in children:
            with open(f"/proc/{child}/cmdline", encoding="utf-8", errors="replace") as command:
                yield child, command.read().replace("\0", " ")
            yield from processes_below(child)


def peak_of(command, source=os.devnull):
    """The peak memory of a command that reads `cat source` from a pipe. It is polled constantly, so only growth within the last
    millisecond can be missed; wait4's ru_maxrss would also count the harness before the exec."""
    peak = 0
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([CAT, source], stdout=subprocess.PIPE) as feeder:
        with subprocess.Popen(command, stdin=feeder.stdout, **quiet) as process:
            feeder.stdout.close()
            while process.poll() is None:
                peak = max(peak, peak_kib(process.pid))
                time.sleep(0.001)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return peak


def report_of(command):
    """The output of a measuring program, which is one JSON object."""
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def saying_ready(command):
    """Makes a command print `ready` first, as ping_pong expects."""
    return ["/bin/sh", "-c", 'echo ready; exec "$@"', "sh", *command]


def ping_pong(bench, message, field, warm_ups, rounds, players):
    """Sends the line in the file `message` to each player in turn, and returns the figures of each."""
    command = [bench.example("ping-pong"), message, field, str(warm_ups), str(rounds)]
    for player in players:
        command += ["::", *player]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in said.splitlines()]
