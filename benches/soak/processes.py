"""What all processes of the soak hold, looked at from outside: memory, descriptors, threads, and whether one is left behind."""

import glob
import os
import signal
import statistics
from collections import defaultdict, namedtuple

MARK = "PIPEWRIGHT_SOAK"
# So much the median of the last third may be above that of the first.
MORE_MEMORY, MORE_KIB = 1.1, 1024
# Thirds of what comes after this share of the time. It is long: what a process holds at most is set by rare things that come together
# (several results of a megabyte, a server that dies), and it takes some of them until no more is added.
WARM_UP = 1 / 3

Process = namedtuple("Process", "lane role name pid parent state kib descriptors threads ticks")
# By which one is known, whatever its number: its lane, role and name.
KEY = slice(3)


def environment_of(folder, role):
    """Of a process that is started. By the mark, what it starts itself is known as well, whoever that belongs to then. What it gives
    back goes back to the kernel: left to itself, the C library keeps the more, the longer the lines were that a killed server left."""
    return {**os.environ, MARK: f"{folder}:{role}", "MALLOC_MMAP_THRESHOLD_": str(128 << 10)}


def processes(folder):
    """Those that were started by us, or by whom we started, or that stayed when these had ended."""
    for path in glob.glob("/proc/[0-9]*"):
        if process := marked(path, folder):
            yield process


def marked(path, folder):
    """The process there, if it has our mark and hasn't just ended."""
    mark = os.fsencode(f"{MARK}={folder}/")
    try:
        with open(f"{path}/environ", "rb") as environment:
            own = next((one for one in environment.read().split(b"\0") if one.startswith(mark)), None)
        return None if own is None else look(path, *own[len(mark):].decode().split(":"))
    except (OSError, ValueError, IndexError):
        return None


def look(path, lane, role):
    with open(f"{path}/stat", encoding="utf-8", errors="replace") as stat:
        pid, _, rest = stat.read().partition(" (")
    name, _, rest = rest.rpartition(") ")
    fields = rest.split()
    with open(f"{path}/statm", encoding="ascii") as memory:
        kib = int(memory.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    descriptors = len(os.listdir(f"{path}/fd"))
    return Process(lane, role, name, int(pid), int(fields[1]), fields[0], kib, descriptors, int(fields[17]), int(fields[11]) + int(fields[12]))


def send(number, process, folder):
    """Sends a signal, if the process is still the one that was seen: its pid may be another's by now."""
    try:
        held = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        now = marked(f"/proc/{process.pid}", folder)
        if now and now[KEY] == process[KEY]:
            signal.pidfd_send_signal(held, number)
    except ProcessLookupError:
        pass
    finally:
        os.close(held)


def zombies(parents):
    """Children of these that have ended and that nobody has asked for; they have no environment any more."""
    found = set()
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as stat:
                text = stat.read()
        except OSError:
            continue
        fields = text.rpartition(") ")[2].split()
        if fields[0] == "Z" and int(fields[1]) in parents:
            found.add(int(text.split(" ")[0]))
    return found


class Watch:
    """`ours` are those whose memory is judged, by lane, role and name; each is there from the beginning to the end."""

    def __init__(self, folder, ours, findings):
        self.folder, self.ours, self.findings = folder, ours, findings
        # By lane, role and name: (share of the time, process).
        self.seen = defaultdict(list)
        # By lane, how many there are.
        self.numbers = defaultdict(list)
        self.zombies, self.ticks, self.ended_ticks = {}, {}, 0
        self.now = []

    def look(self, share):
        self.now = now = list(processes(self.folder))
        counted, keys = defaultdict(int), {process.pid: process[KEY] for process in now}
        for process in now:
            self.ticks[process.pid] = process.ticks
            counted[process.lane] += 1
            # A child has its parent's name until it is another program.
            if process[KEY] in self.ours and keys.get(process.parent) != process[KEY]:
                self.seen[process[KEY]].append((share, process))
        for lane, number in counted.items():
            self.numbers[lane].append((share, number))
        alive = {process.pid for process in now}
        self.ended_ticks += sum(self.ticks.pop(pid) for pid in list(self.ticks) if pid not in alive)
        dead = zombies(alive)
        self.zombies = {pid: self.zombies.get(pid, 0) + 1 for pid in dead}
        for pid, times in self.zombies.items():
            if times == 3:
                self.findings.add(f"process {pid} has ended and stays a zombie")

    def cpu_seconds(self):
        return (self.ended_ticks + sum(self.ticks.values())) / os.sysconf("SC_CLK_TCK")

    def rows(self):
        """What each holds now, and held in the first third and in the last."""
        for (lane, role, name), seen in sorted(self.seen.items()):
            first, last = thirds([(share, process.kib) for share, process in seen])
            latest = seen[-1][1]
            yield lane, name, latest.kib, first, last, latest.descriptors, latest.threads

    def judge(self, is_long):
        for (lane, role, name), seen in sorted(self.seen.items()):
            if len({process.pid for _, process in seen}) > 1:
                self.findings.add(f"{lane}: {name} was not one process all the while")
            first, last = thirds([(share, process.kib) for share, process in seen])
            if is_long and last > max(first * MORE_MEMORY, first + MORE_KIB):
                self.findings.add(f"{lane}: {name} had {first} KiB in the first third, and {last} in the last")
            for what in ("descriptors", "threads"):
                before, after = thirds([(share, getattr(process, what)) for share, process in seen])
                if before and after > before:
                    self.findings.add(f"{lane}: {name} had {before} {what} in the first third, and {after} in the last")
        for lane, numbers in self.numbers.items():
            before, after = thirds(numbers)
            if before and after > before:
                self.findings.add(f"{lane}: there were {before} processes in the first third, and {after} in the last")

    def left(self):
        return [process for process in processes(self.folder) if process.state != "Z"]


def thirds(seen):
    """The medians of the first and of the last third of what was seen after the warm-up."""
    size = (1 - WARM_UP) / 3
    first = [value for share, value in seen if WARM_UP <= share < WARM_UP + size]
    last = [value for share, value in seen if share >= 1 - size]
    return (round(statistics.median(first)) if first else 0, round(statistics.median(last)) if last else 0)
