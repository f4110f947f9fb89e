"""The memory, descriptors and threads of all processes of the soak, read from /proc, and whether one of them stays behind."""

import glob
import os
import signal
import statistics
from collections import defaultdict, namedtuple

MARK = "PIPEWRIGHT_SOAK"
# The median of the last third may be above that of the first by this factor, or by this many KiB.
MORE_MEMORY, MORE_KIB = 1.1, 1024
# The share of the time before the first third begins. It is long: rare events that coincide (several results of a megabyte, a server
# that dies) set the most memory that a process uses, and it takes some of them until it no longer grows.
WARM_UP = 1 / 3
# So many samples in a row may show the same zombie: a busy machine may take some seconds to reap it.
ZOMBIE_SAMPLES = 8

Process = namedtuple("Process", "lane role name pid parent state started kib descriptors threads ticks")
# The fields that identify a process of a pipeline, whatever its pid.
KEY = slice(3)


def environment_of(folder, role):
    """The environment of a process of a lane. The mark is inherited, so that each process is known as well that this one starts. The C
    library returns freed memory at once: by default it keeps the more, the longer the lines were that a killed server left."""
    return {**os.environ, MARK: f"{folder}:{role}", "MALLOC_MMAP_THRESHOLD_": str(128 << 10)}


def stat(pid):
    """The process's name and the fields after it, from the state on."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        name, _, fields = file.read().partition("(")[2].rpartition(") ")
    return name, fields.split()


def read_process(pid, lane, role):
    name, fields = stat(pid)
    with open(f"/proc/{pid}/statm", encoding="ascii") as memory:
        kib = int(memory.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    # A zombie has none that can be listed.
    descriptors = 0 if fields[0] == "Z" else len(os.listdir(f"/proc/{pid}/fd"))
    return Process(lane, role, name, pid, int(fields[1]), fields[0], int(fields[19]), kib, descriptors, int(fields[17]),
                   int(fields[11]) + int(fields[12]))


def send(number, process):
    """Sends a signal, unless the process has ended and another one has its pid. Returns whether it was sent."""
    try:
        held = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        if int(stat(process.pid)[1][19]) != process.started:
            return False
        signal.pidfd_send_signal(held, number)
        return True
    except (ProcessLookupError, FileNotFoundError):
        return False
    finally:
        os.close(held)


class Watch:
    """`ours` are the processes whose memory is judged, by lane, role and name; each of them runs from the beginning to the end."""

    def __init__(self, folder, ours, findings):
        self.mark, self.ours, self.findings = os.fsencode(f"{MARK}={folder}/"), ours, findings
        # By lane, role and name: (share of the time, process).
        self.seen = defaultdict(list)
        # By lane: (share of the time, number of processes).
        self.numbers = defaultdict(list)
        self.zombies, self.ticks, self.ended_ticks = {}, {}, 0
        # By pid: when it was started, its lane and its role. Chromium's helpers overwrite their environment, and are known by their
        # parents; they stay known when these have ended.
        self.known, self.now = {}, []

    def processes(self):
        """All processes that the soak has started, or that these have started."""
        stats, marks = {}, {}
        for path in glob.glob("/proc/[0-9]*"):
            pid = int(os.path.basename(path))
            try:
                stats[pid] = stat(pid)[1]
                with open(f"{path}/environ", "rb") as environment:
                    own = next((one for one in environment.read().split(b"\0") if one.startswith(self.mark)), None)
                if own:
                    marks[pid] = tuple(own[len(self.mark):].decode().split(":"))
            except (OSError, ValueError):
                continue
        known = {}

        def owner(pid):
            """The lane and the role of a process, or None."""
            fields = stats.get(pid)
            if fields is None or pid <= 1:
                return None
            if pid not in known:
                before = self.known.get(pid)
                known[pid] = None
                known[pid] = marks.get(pid) or (before[1] if before and before[0] == fields[19] else owner(int(fields[1])))
            return known[pid]

        found = []
        for pid, fields in stats.items():
            # The soak itself has no mark, so that only what it starts with one is found.
            if of := owner(pid):
                try:
                    found.append(read_process(pid, *of))
                except (OSError, ValueError, IndexError):
                    continue
        self.known = {pid: (stats[pid][19], of) for pid, of in known.items() if of}
        return found

    def look(self, share):
        self.now = now = self.processes()
        counted, keys = defaultdict(int), {process.pid: process[KEY] for process in now}
        for process in now:
            self.ticks[process.pid] = process.ticks
            counted[process.lane] += 1
            # A child has its parent's name until it runs another program.
            if process[KEY] in self.ours and keys.get(process.parent) != process[KEY]:
                self.seen[process[KEY]].append((share, process))
        for lane, number in counted.items():
            self.numbers[lane].append((share, number))
        alive = {process.pid for process in now}
        self.ended_ticks += sum(self.ticks.pop(pid) for pid in list(self.ticks) if pid not in alive)
        dead = {process.pid: process for process in now if process.state == "Z"}
        self.zombies = {pid: self.zombies.get(pid, 0) + 1 for pid in dead}
        for pid, times in self.zombies.items():
            if times == ZOMBIE_SAMPLES:
                process = dead[pid]
                self.findings.add(f"{process.lane}: {process.name} ({pid}) has ended and stays a zombie of process {process.parent}")

    def cpu_seconds(self):
        return (self.ended_ticks + sum(self.ticks.values())) / os.sysconf("SC_CLK_TCK")

    def rows(self):
        """The current values of each process, and its memory in the first third and in the last."""
        for (lane, role, name), seen in sorted(self.seen.items()):
            first, last = thirds([(share, process.kib) for share, process in seen])
            latest = seen[-1][1]
            yield lane, name, latest.kib, first, last, latest.descriptors, latest.threads

    def judge(self, is_long):
        for (lane, role, name), seen in sorted(self.seen.items()):
            if len({process.pid for _, process in seen}) > 1:
                self.findings.add(f"{lane}: {name} was restarted")
            first, last = thirds([(share, process.kib) for share, process in seen])
            if is_long and last > max(first * MORE_MEMORY, first + MORE_KIB):
                self.findings.add(f"{lane}: {name} had {first} KiB in the first third, and {last} in the last")
            for what in ("descriptors", "threads"):
                before, after = thirds([(share, getattr(process, what)) for share, process in seen])
                if before and after > before:
                    self.findings.add(f"{lane}: {name} had {before} {what} in the first third, and {after} in the last")
        for lane in {lane for lane, _, _ in self.ours}:
            before, after = thirds(self.numbers[lane])
            if before and after > before:
                self.findings.add(f"{lane}: there were {before} processes in the first third, and {after} in the last")

    def left(self):
        return [process for process in self.processes() if process.state != "Z"]


def thirds(seen):
    """The medians of the first and of the last third of the samples after the warm-up."""
    size = (1 - WARM_UP) / 3
    first = [value for share, value in seen if WARM_UP <= share < WARM_UP + size]
    last = [value for share, value in seen if share >= 1 - size]
    return (round(statistics.median(first)) if first else 0, round(statistics.median(last)) if last else 0)
