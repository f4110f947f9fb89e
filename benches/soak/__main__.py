"""The measuring half of scripts/soak: PROGRAMS FIXTURES FOLDER MINUTES LANES, and the command of a real MCP server if there is one.

The lanes (names with commas between them) run side by side under a hostile caller while processes are killed and signals sent. Every
line, and what every process holds, is checked all the while. Prints tables; the exit status is 1 if something was found.
"""

import glob
import os
import random
import signal
import subprocess
import sys
import threading
import time
import traceback

import caller
from agents import Agents
from followed import check_log
from lane import QUESTION_TIMEOUT, Lane
from processes import Watch, send
from streams import Bytes, Games

SAMPLES_EVERY, TABLES = 2, 12
# A shorter run shows nothing about memory: buffers first grow to the size of the longest lines.
LONG_ENOUGH = 600
LINES_PER_SECOND, BYTES_PER_SECOND = 50, 200_000
LIMITS = ["--max-line", str(caller.MAX_LINE)]
LOG = ["--rotate", "8M", "--keep", "9"]
# The limit of a call, and no limit for restarts of the server.
SESSION = ["--timeout", "3", "--start-timeout", "30", "--restart", "1000000", "--max-result", "1M", "--probe", "5"]
AGENT = 'while read -r state; do ids=${state##*\\"valid_actions\\":?{\\"action_id\\":}; echo "${ids%%,*}"; done'
# The exit statuses of each lane if all went well. Gates and worlds have refused and failed calls; agent-serve dies of SIGTERM.
ENDS = {"gated": [1, 1, 0, 1], "wrapped": [1], "bytes": [0, 1], "games": [], "agents": [-signal.SIGTERM]}
OURS = {"policy-check", "hitl-gate", "jsonl-record", "mcp-pipe"}


class Findings:
    """Prints each finding, until there are too many."""

    MOST = 50

    def __init__(self):
        self.number = 0

    def add(self, why):
        self.number += 1
        if self.number <= self.MOST:
            print(f"FOUND: {why}", flush=True)


def main():
    programs, fixtures, folder, minutes, lanes, *server = sys.argv[1:]
    # Deeply nested results are read, too.
    sys.setrecursionlimit(20_000)
    threading.stack_size(256 << 20)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # With nohup it is ignored, also by what we start; a handler is not inherited.
    signal.signal(signal.SIGHUP, lambda *_: None)
    soak = Soak(programs, fixtures, folder, float(minutes) * 60, lanes.split(","), server)
    try:
        soak.run()
    except KeyboardInterrupt:
        print("\nInterrupted: these are the results until now.", flush=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    soak.end()
    return 1 if soak.findings.number else 0


class Soak:
    def __init__(self, programs, fixtures, folder, seconds, lanes, server):
        self.programs, self.fixtures, self.folder, self.seconds, self.server = programs, fixtures, folder, seconds, server
        self.findings, self.began, self.kills, self.hangups = Findings(), time.monotonic(), 0, 0
        # A check that fails itself is a finding.
        threading.excepthook = lambda failed: self.findings.add("an error in the soak itself: "
                                                                + "".join(traceback.format_exception(failed.exc_value)))
        seed = int(time.time())
        self.random = random.Random(seed)
        print(f"seed {seed}, files in {folder}", flush=True)
        make = {
            "gated": lambda *lane: Lane(*lane, self.gated, seed, LINES_PER_SECOND, self.findings, faults=True, in_order=True),
            "wrapped": lambda *lane: Lane(*lane, self.wrapped, seed, LINES_PER_SECOND, self.findings, faults=not server, in_order=False),
            "bytes": lambda *lane: Bytes(*lane, self.bytes, seed, BYTES_PER_SECOND, self.findings),
            "games": lambda *lane: Games(*lane, self.game, self.findings, pause=10),
            "agents": lambda *lane: Agents(*lane, programs, seconds, seed, self.findings),
        }
        self.lanes = {name: make[name](name, os.path.join(folder, name)) for name in lanes}
        ours = {("gated", name, name) for name in OURS} | {("wrapped", "wrapped", name) for name in OURS}
        ours |= {("bytes", name, name) for name in ("jsonl-record", "valid-actions")}
        self.watch = Watch(folder, ours, self.findings)

    def program(self, name):
        return os.path.join(self.programs, name)

    # The pipelines.

    def policy_check(self, lane):
        return [self.program("policy-check"), "--rules", lane.file("rules.toml"), "--audit", lane.file("judged.jsonl"), *LIMITS]

    def hitl_gate(self, lane):
        return [self.program("hitl-gate"), "--answers", lane.file("answers"), "--events", lane.file("events.jsonl"), "--audit",
                lane.file("asked.jsonl"), "--timeout", str(QUESTION_TIMEOUT), *LIMITS]

    def recorder(self, lane, name):
        return [self.program("jsonl-record"), *LOG, lane.file(name)]

    def stand_in(self, lane):
        return [os.path.join(self.programs, "examples", "stand-in-server"), "noisy", f"count={lane.file('count')}"]

    def gated(self, lane):
        """Four commands in a pipe, and another recorder before the server, which is a hostile stand-in."""
        world = [self.program("mcp-pipe"), *SESSION, "-j", "4", "--events", "-", *LIMITS, "--"]
        return [("policy-check", self.policy_check(lane)), ("hitl-gate", self.hitl_gate(lane)),
                ("jsonl-record", self.recorder(lane, "passed.jsonl")),
                ("mcp-pipe", [*world, *self.recorder(lane, "server.jsonl"), "--", *self.stand_in(lane)])]

    def wrapped(self, lane):
        """Each command wraps the next; the last one is a real server if there is one."""
        server = self.server or self.stand_in(lane)
        world = [self.program("mcp-pipe"), *SESSION, "-j", "4", "--no-check", *LIMITS, "--", *server]
        return [("wrapped", [*self.policy_check(lane), "--confirm", "mark", "--", *self.hitl_gate(lane), "--",
                             *self.recorder(lane, "passed.jsonl"), "--", *world])]

    def bytes(self, lane):
        return self.recorder(lane, "passed.jsonl"), [self.program("valid-actions"), *LIMITS]

    def game(self, lane):
        proxy = [self.program("sts-proxy"), "--data-dir", lane.file("runs"), "--start", "SILENT", "20", "--games", "1", "--", "sh", "-c",
                 AGENT]
        replay = [self.program("replay"), "--quiet", "--as", "world", os.path.join(self.fixtures, "demo_session.jsonl"), "--"]
        return [*replay, *self.recorder(lane, "passed.jsonl"), "--child", "agent", "--", *proxy]

    # What happens to them.

    def run(self):
        next_sample = next_table = 0.0
        next_kill, next_signal = self.soon(20, 60), self.soon(5, 15)
        while (elapsed := time.monotonic() - self.began) < self.seconds:
            if elapsed >= next_sample:
                self.sample(elapsed / self.seconds)
                next_sample = elapsed + SAMPLES_EVERY
            if elapsed >= next_table:
                self.print_tables(elapsed)
                next_table += self.seconds / TABLES
            if elapsed >= next_kill:
                self.kill_a_server()
                next_kill = self.soon(20, 120)
            if elapsed >= next_signal:
                self.hang_up()
                next_signal = self.soon(5, 30)
            time.sleep(0.2)

    def sample(self, share):
        self.watch.look(share)
        if agents := self.lanes.get("agents"):
            agents.look(share, self.watch.now)

    def soon(self, least, most):
        return time.monotonic() - self.began + self.random.uniform(least, most)

    def kill_a_server(self):
        """The MCP server of a lane."""
        lane = self.random.choice(["gated", "wrapped"])
        servers = [process for process in self.watch.now if process.lane == lane and process.name not in {*OURS, "sh", "sleep"}]
        for process in servers:
            send(signal.SIGKILL, process)
        self.kills += bool(servers)

    def hang_up(self):
        """SIGHUP: rules are read again, and a log, which may have been renamed, is opened again."""
        lane, name = self.random.choice([("gated", "policy-check"), ("wrapped", "policy-check"), ("gated", "jsonl-record"),
                                         ("wrapped", "jsonl-record"), ("bytes", "jsonl-record")])
        where = self.lanes.get(lane)
        if where is None:
            return
        self.hangups += 1
        if name == "policy-check":
            where.write_rules()
        elif self.random.random() < 0.5:
            try:
                os.rename(where.file("passed.jsonl"), where.file("passed.jsonl.renamed"))
            except FileNotFoundError:
                self.findings.add(f"{lane}: the log is not there, though {name} was to open it again")
        for process in self.watch.now:
            if process.lane == lane and process.name == name and process.role != "mcp-pipe":
                send(signal.SIGHUP, process)

    # Results.

    def print_tables(self, elapsed):
        cpu = self.watch.cpu_seconds() / max(elapsed, 1)
        print(f"\n{elapsed / 60:.1f} of {self.seconds / 60:g} minutes; {self.findings.number} findings; {self.kills} servers killed,"
              f" {self.hangups} SIGHUPs; {cpu:.2f} cores")
        rows = [("lane", "process", "KiB", "first third", "last third", "descriptors", "threads")]
        rows += [tuple(map(str, row)) for row in self.watch.rows()]
        if agents := self.lanes.get("agents"):
            rows += [tuple(map(str, row)) for row in agents.rows()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        for row in rows:
            print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        for name, lane in self.lanes.items():
            counts = ", ".join(f"{what} {count}" for what, count in sorted(lane.counts.items(), key=lambda one: str(one[0])))
            print(f"  {name}: {counts}")
        sys.stdout.flush()

    def end(self):
        """Samples go on while the lanes end."""
        is_over = threading.Event()

        def samples():
            while not is_over.wait(SAMPLES_EVERY):
                self.sample(1)

        sampling = threading.Thread(target=samples)
        sampling.start()
        is_long = time.monotonic() - self.began >= LONG_ENOUGH
        for name, lane in self.lanes.items():
            statuses = lane.end()
            if statuses != ENDS[name]:
                self.findings.add(f"{name}: ended with {statuses}, not {ENDS[name]}")
        is_over.set()
        sampling.join()
        self.judge_left()
        self.watch.judge(is_long)
        self.judge_files()
        if agents := self.lanes.get("agents"):
            agents.judge_memory(is_long)
        self.print_tables(min(time.monotonic() - self.began, self.seconds))
        number = self.findings.number
        memory = "and nothing grew." if is_long else "but less than ten minutes show nothing about memory."
        print(f"\n{number} findings; the files are in {self.folder}" if number else f"\nNothing was lost, {memory}", flush=True)

    def judge_left(self):
        time.sleep(1)
        for process in self.watch.left():
            self.findings.add(f"{process.lane}: {process.name} ({process.pid}) was left behind")
            send(signal.SIGKILL, process)

    def judge_files(self):
        for lane in self.lanes.values():
            for name in ("passed.jsonl", "server.jsonl"):
                for log in sorted(glob.glob(lane.file(name) + "*"), key=os.path.getmtime):
                    self.judge_log(lane, log)
            if os.path.exists(lane.file("judged.jsonl")):
                self.judge_audits(lane)
            for path in glob.glob(lane.file("*.stderr")):
                if os.path.getsize(path) > 1 << 20:
                    self.findings.add(f"{path} has {os.path.getsize(path)} bytes")
        if lane := self.lanes.get("bytes"):
            lane.judge_log(self.programs)

    def judge_log(self, lane, log):
        result, faults, status = check_log(self.programs, log)
        if status != 0 or faults or not result["messages"]:
            self.findings.add(f"{lane.name}: jsonl-log check {log}: status {status}, {result}")

    def judge_audits(self, lane):
        audits = [lane.file("judged.jsonl"), lane.file("asked.jsonl")]
        verified = subprocess.run([self.program("policy-check"), "verify", *audits], capture_output=True, text=True)
        print(f"  {lane.name}: policy-check verify: status {verified.returncode}\n    " + verified.stdout.replace("\n", "\n    ").rstrip())
        if verified.returncode != 0:
            self.findings.add(f"{lane.name}: policy-check verify: {verified.stderr[-500:]}")


if __name__ == "__main__":
    sys.exit(main())
