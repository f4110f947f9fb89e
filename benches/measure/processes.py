"""Runs programs, and says what they used. All that is started inherits the cores that the harness is pinned to."""

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
    """What a command used, whose output nobody reads."""
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
    """What each act gives, each time. They take turns: what slows the machine down slows all of them."""
    given = {name: [] for name in acts}
    for _ in range(tries):
        for name, act in acts.items():
            given[name].append(act())
    return given


def least(runs, tries=TRIES):
    """What each run used at its best."""
    return {name: Used(*map(min, zip(*used))) for name, used in turns(runs, tries).items()}


def cpu_time(process):
    """The seconds that a running process has used so far."""
    with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def peak_kib(process):
    """The most memory that was ever resident; 0 for a process that has ended."""
    return of_status(process, "VmHWM")


def resident_kib(process):
    """The memory that is resident now; 0 for a process that has ended."""
    return of_status(process, "VmRSS")


def of_status(process, key):
    with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as status:
        return next((int(line.split()[1]) for line in status if line.startswith(f"{key}:")), 0)


def processes_below(process):
    """The children of a process and theirs, each with its command line."""
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as file:
            children = list(map(int, file.read().split()))
        for child in children:
            with open(f"/proc/{child}/cmdline", encoding="utf-8", errors="replace") as command:
                yield child, command.read().replace("\0", " ")
            yield from processes_below(child)


def peak_of(command, source=os.devnull):
    """The peak of a command that `cat source` is piped into. Looked at all the time, so that what it grew within its last
    millisecond is all that can be missed; wait4's ru_maxrss would count the harness before the exec, too."""
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
    """What a program says that measures something and prints it as one JSON object."""
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def saying_ready(command):
    """For ping_pong, which waits for a player to say that it is ready: a command that doesn't."""
    return ["/bin/sh", "-c", 'echo ready; exec "$@"', "sh", *command]


def ping_pong(bench, message, field, warm_ups, rounds, players):
    """Plays the line in the file `message` to each of the players in turn, and gives what each was like."""
    command = [bench.example("ping-pong"), message, field, str(warm_ups), str(rounds)]
    for player in players:
        command += ["::", *player]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in said.splitlines()]
