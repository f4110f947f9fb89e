"""The measuring half of scripts/bench: measure.py PROGRAMS FIXTURES SCRATCH (three folders).

Prints one table of what was asked of the programs, what they do, and what a rival does in the same run. The exit status
is 1 where something couldn't be measured; a missed goal is only printed.
"""

import fcntl
import glob
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import termios
import time

SIZE = 200_000_000
# jq is slow: it gets a tenth, and its time is multiplied.
JQ_SHARE = 10
TRIES = 3
STARTS = 200
WARM_UPS = 300
ROUND_TRIPS = 5_000
DECISIONS = 20_000
MIB = 1024


def main():
    programs, fixtures, scratch = sys.argv[1:]
    measure = Measure(programs, scratch, real_messages(fixtures))
    for what in (measure.throughput, measure.start_up, measure.filter_memory, measure.latency):
        try:
            what()
        except (OSError, subprocess.CalledProcessError) as error:
            measure.skipped.append(f"{what.__name__.replace('_', ' ')}: {error}")
    print_table(measure.rows)
    for note in measure.notes:
        print(f"  {note}")
    for skipped in measure.skipped:
        print(f"\nNOT MEASURED: {skipped}", file=sys.stderr)
    return 1 if measure.skipped else 0


def real_messages(fixtures):
    """The fixtures' messages, byte for byte: each is the last field of its line."""
    messages = []
    for path in sorted(glob.glob(os.path.join(fixtures, "real_*.jsonl"))):
        with open(path, "rb") as lines:
            messages += [line.partition(b'"message":')[2].rstrip()[:-1] + b"\n" for line in lines]
    for message in messages:
        json.loads(message)
    return messages


def repeat(messages, size, path):
    """Writes the messages over and over, up to about `size` bytes; gives the exact size."""
    once = b"".join(messages)
    with open(path, "wb") as file:
        for _ in range(max(1, size // len(once))):
            file.write(once)
    return os.path.getsize(path)


def run(command, stdin=os.devnull):
    """CPU and wall seconds of a command, whose output nobody reads."""
    out = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    actions = [(os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0), *out]
    began = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - began
    if status != 0:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), command)
    return used.ru_utime + used.ru_stime, wall


def peak_kib(process):
    """The most memory that was ever resident. Not wait4's ru_maxrss: that counts the harness before the exec, too."""
    with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def wait_until_read(pipe):
    while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0] > 0:
        time.sleep(0.01)
    time.sleep(0.1)


class Measure:
    def __init__(self, programs, scratch, messages):
        self.programs, self.scratch, self.messages = programs, scratch, messages
        self.rows, self.notes, self.skipped = [], [], []
        self.whole = os.path.join(scratch, "messages.jsonl")
        self.size = repeat(messages, SIZE, self.whole)

    def program(self, name):
        return os.path.join(self.programs, name)

    def example(self, name):
        return os.path.join(self.programs, "examples", name)

    def row(self, what, ours, rival, ratio, goal, met):
        self.rows.append((what, ours, rival, ratio, goal, {True: "yes", False: "NO", None: ""}[met]))

    def throughput(self):
        tenth = os.path.join(self.scratch, "tenth.jsonl")
        jq_scale = self.size / repeat(self.messages, SIZE // JQ_SHARE, tenth)
        commands = {
            "ours": ([self.program("valid-actions")], self.whole),
            "scan": ([self.example("ignored-any")], self.whole),
        }
        if jq := shutil.which("jq"):
            commands["jq"] = ([jq, "-c", "."], tenth)
        best = {name: float("inf") for name in commands}
        for _ in range(TRIES):
            for name, (command, stdin) in commands.items():
                best[name] = min(best[name], run(command, stdin)[0])
        self.judge_throughput(best, jq_scale)

    def judge_throughput(self, best, jq_scale):
        what = f"valid-actions, {self.size / 1e6:.0f} MB: CPU time"
        ours = f"{best['ours']:.2f} s"
        if "jq" in best:
            jq = best["jq"] * jq_scale
            ratio = jq / best["ours"]
            self.row(what, ours, f"jq -c . {jq:.1f} s", f"{ratio:.1f} x", ">= 12 x", ratio >= 12)
            self.notes.append(f"jq read a tenth of the file in {best['jq']:.2f} s; its time is scaled to the whole.")
        else:
            self.skipped.append("jq isn't there to be compared with")
        per_second = {name: self.size / 1e6 / best[name] for name in ("ours", "scan")}
        ratio = per_second["ours"] / per_second["scan"]
        self.row("valid-actions: throughput", f"{per_second['ours']:.0f} MB/s",
                 f"IgnoredAny {per_second['scan']:.0f} MB/s", f"{ratio:.2f} x", ">= 0.4 x", ratio >= 0.4)

    def start_up(self):
        commands = {
            "/bin/true": ["/bin/true"],
            "valid-actions, empty input": [self.program("valid-actions")],
            "sts-proxy --version": [self.program("sts-proxy"), "--version"],
        }
        took = {name: [] for name in commands}
        for _ in range(STARTS):
            for name, command in commands.items():
                took[name].append(run(command)[1] * 1e3)
        median = {name: statistics.median(times) for name, times in took.items()}
        rival = median.pop("/bin/true")
        for name, ours in median.items():
            self.row(f"start-up: {name}", f"{ours:.2f} ms", f"/bin/true {rival:.2f} ms",
                     f"{ours / rival:.2f} x, +{ours - rival:.2f} ms", "<= +2 ms", ours - rival <= 2)

    def judge_memory(self, what, kib):
        self.row(what, f"{kib / MIB:.1f} MiB", "", "", "< 20 MB", kib * 1024 < 20e6)

    def filter_memory(self):
        command = [self.program("valid-actions")]
        filter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        with open(self.whole, "rb") as file, filter.stdin as pipe:
            shutil.copyfileobj(file, pipe, 1 << 16)
            pipe.flush()
            wait_until_read(pipe)
            peak = peak_kib(filter.pid)
        if filter.wait() != 0:
            raise subprocess.CalledProcessError(filter.returncode, command)
        self.judge_memory(f"valid-actions, {self.size / 1e6:.0f} MB from a pipe: peak memory", peak)

    def proxied(self, sync, agent):
        data = os.path.join(self.scratch, f"records-{sync}")
        return [self.program("sts-proxy"), "--quiet", "--sync", sync, "--data-dir", data, "--", *agent]

    def ping_pong(self, message, rounds, players):
        command = [self.example("ping-pong"), message, str(WARM_UPS), str(rounds)]
        for player in players:
            command += ["::", *player]
        said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        return [json.loads(line) for line in said.splitlines()]

    def latency(self):
        """With the fight of median size, and an agent that plays its first legal action."""
        fights = sorted((message for message in self.messages if b'"combat_state":' in message), key=len)
        path = os.path.join(self.scratch, "fight.json")
        repeat([fights[len(fights) // 2]], 0, path)
        with open(path, "rb") as fight:
            bare = subprocess.run([self.program("valid-actions"), "--bare"], stdin=fight, stdout=subprocess.PIPE, check=True)
        agent = [self.example("echo-agent"), str(json.loads(bare.stdout)["action_ids"][0])]
        # Apart, so that what the kernel still has to write for one isn't in the other's way.
        for sync in ("never", "each"):
            direct, ours = self.ping_pong(path, ROUND_TRIPS, [agent, self.proxied(sync, agent)])
            self.judge_latency(sync, direct, ours)
        size = os.path.getsize(path)
        self.notes.append(f"A round trip is a state of {size} bytes to the agent and its command back, {ROUND_TRIPS} times.")
        self.notes.append("With --sync each it waits for the disk that the scratch folder is on.")
        (played,) = self.ping_pong(path, DECISIONS - WARM_UPS, [self.proxied("never", agent)])
        self.judge_memory(f"sts-proxy, {DECISIONS} decisions: peak memory", played["peak_kib"])

    def judge_latency(self, sync, direct, ours):
        for key, name in (("p50_us", "median"), ("p99_us", "p99")):
            added = ours[key] - direct[key]
            has_goal = sync == "never" and name == "median"
            self.row(f"sts-proxy --sync {sync}: round trip, {name}", f"{ours[key]:.0f} us",
                     f"no proxy {direct[key]:.0f} us", f"{ours[key] / direct[key]:.1f} x, +{added:.0f} us",
                     "<= +60 us" if has_goal else "", added <= 60 if has_goal else None)


def print_table(rows):
    rows = [("what", "ours", "rival", "ratio", "goal", "met?"), *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print(" | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if row is rows[0]:
            print("-|-".join("-" * width for width in widths))


def pin():
    """To one core, which all that is started inherits."""
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    load = os.getloadavg()[0]
    print(f"Everything runs on core {core}. The load average was {load:.1f} before: what else runs slows this, round trips"
          " most of all.\n", flush=True)


if __name__ == "__main__":
    pin()
    sys.exit(main())
