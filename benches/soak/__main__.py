"""The working half of scripts/soak: PROGRAMS FIXTURES FOLDER MINUTES RATE, and the command of a real MCP server, where there is one.

Four pipelines run side by side under a hostile caller while their servers are killed and signals come; what is held and what is lost
is looked at all the while. Prints tables; the exit status is 1 where something was found.
"""

import glob
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import traceback

import fed
from lane import QUESTION_TIMEOUT, Lane
from processes import Watch, send
from streams import Bytes, Games

SAMPLES_EVERY, TABLES = 2, 12
# A shorter run says nothing about memory: buffers first have to meet the longest of what comes.
LONG_ENOUGH = 600
BYTES_PER_SECOND = 200_000
LIMITS = ["--max-line", str(fed.MAX_LINE)]
LOG = ["--rotate", "8M", "--keep", "9"]
# A call may take so long, and a server is started again for ever.
SESSION = ["--timeout", "3", "--start-timeout", "30", "--restart", "1000000", "--max-result", "1M", "--probe", "5"]
AGENT = 'while read -r state; do ids=${state##*\\"valid_actions\\":?{\\"action_id\\":}; echo "${ids%%,*}"; done'
# Statuses of the programs in a pipe that did all that they should: a gate and a world have refused and failed calls.
ENDS = {"gated": [1, 1, 0, 1], "wrapped": [1], "bytes": [0, 1], "games": []}


class Findings:
    """Each is told when it is found, until there are too many."""

    MOST = 50

    def __init__(self):
        self.number = 0

    def add(self, why):
        self.number += 1
        if self.number <= self.MOST:
            print(f"FOUND: {why}", flush=True)


def main():
    programs, fixtures, folder, minutes, rate, *server = sys.argv[1:]
    # Results that are nested deep are read, too.
    sys.setrecursionlimit(20_000)
    threading.stack_size(256 << 20)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Started with nohup, it would be ignored by what we start as well. A handler of ours isn't handed on.
    signal.signal(signal.SIGHUP, lambda *_: None)
    soak = Soak(programs, fixtures, folder, float(minutes) * 60, float(rate), server)
    try:
        soak.run()
    except KeyboardInterrupt:
        print("\nInterrupted: what was found until now.", flush=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    soak.end()
    return 1 if soak.findings.number else 0


class Soak:
    def __init__(self, programs, fixtures, folder, seconds, rate, server):
        self.programs, self.fixtures, self.folder, self.seconds, self.server = programs, fixtures, folder, seconds, server
        self.findings, self.began, self.kills, self.hangups = Findings(), time.monotonic(), 0, 0
        # What looks must not go blind unnoticed.
        threading.excepthook = lambda failed: self.findings.add("a fault of the soak's own: "
                                                                + "".join(traceback.format_exception(failed.exc_value)))
        seed = int(time.time())
        self.dice = random.Random(seed)
        print(f"seed {seed}, files in {folder}", flush=True)
        server_is_real = bool(server)
        self.lanes = [
            Lane("gated", self.file("gated"), self.gated, seed, rate, self.findings, faults=True, in_order=True),
            Lane("wrapped", self.file("wrapped"), self.wrapped, seed, rate, self.findings, faults=not server_is_real, in_order=False),
            Bytes("bytes", self.file("bytes"), self.bytes, seed, BYTES_PER_SECOND, self.findings),
            Games("games", self.file("games"), self.game, self.findings, pause=10),
        ]
        ours = {("gated", name, name) for name in ("policy-check", "hitl-gate", "jsonl-record", "mcp-pipe")}
        ours |= {("wrapped", "wrapped", name) for name in ("policy-check", "hitl-gate", "jsonl-record", "mcp-pipe")}
        ours |= {("bytes", name, name) for name in ("jsonl-record", "valid-actions")}
        self.watch = Watch(folder, ours, self.findings)

    def file(self, name):
        return os.path.join(self.folder, name)

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
        """Four in a pipe, and before the server, which is the worst that can be had, another recorder."""
        world = [self.program("mcp-pipe"), *SESSION, "-j", "4", "--events", "-", *LIMITS, "--"]
        return [("policy-check", self.policy_check(lane)), ("hitl-gate", self.hitl_gate(lane)),
                ("jsonl-record", self.recorder(lane, "passed.jsonl")),
                ("mcp-pipe", [*world, *self.recorder(lane, "server.jsonl"), "--", *self.stand_in(lane)])]

    def wrapped(self, lane):
        """Each around the next, and a real server where there is one."""
        server = self.server or self.stand_in(lane)
        world = [self.program("mcp-pipe"), *SESSION, "-j", "4", "--no-check", *LIMITS, "--", *server]
        return [("wrapped", [*self.policy_check(lane), "--confirm", "mark", "--", *self.hitl_gate(lane), "--",
                             *self.recorder(lane, "passed.jsonl"), "--", *world])]

    def bytes(self, lane):
        return self.recorder(lane, "passed.jsonl"), [self.program("valid-actions"), *LIMITS]

    def game(self, lane):
        proxy = [self.program("sts-proxy"), "--data-dir", lane.file("runs"), "--start", "SILENT", "20", "--games", "1", "--", "sh", "-c", AGENT]
        replay = [self.program("replay"), "--quiet", "--as", "world", os.path.join(self.fixtures, "demo_session.jsonl"), "--"]
        return [*replay, *self.recorder(lane, "passed.jsonl"), "--child", "agent", "--", *proxy]

    # What happens to them.

    def run(self):
        next_sample = next_table = 0.0
        next_kill, next_signal = self.soon(20, 60), self.soon(5, 15)
        while (elapsed := time.monotonic() - self.began) < self.seconds:
            if elapsed >= next_sample:
                self.watch.look(elapsed / self.seconds)
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

    def soon(self, least, most):
        return time.monotonic() - self.began + self.dice.uniform(least, most)

    def of(self, lane, names):
        return [process for process in self.watch.now if process.lane == lane and process.name in names]

    def kill_a_server(self):
        lane = self.dice.choice(["gated", "wrapped"])
        ours = {"policy-check", "hitl-gate", "jsonl-record", "mcp-pipe", "sh", "sleep"}
        servers = [process for process in self.watch.now if process.lane == lane and process.name not in ours]
        for process in servers:
            send(signal.SIGKILL, process, self.folder)
        self.kills += bool(servers)

    def hang_up(self):
        """Rules are read again, logs opened anew; in the meantime somebody may have renamed a log."""
        self.hangups += 1
        lane, name = self.dice.choice([("gated", "policy-check"), ("wrapped", "policy-check"), ("gated", "jsonl-record"),
                                       ("wrapped", "jsonl-record"), ("bytes", "jsonl-record")])
        where = next(one for one in self.lanes if one.name == lane)
        if name == "policy-check":
            where.write_rules()
        elif self.dice.random() < 0.5:
            try:
                os.rename(where.file("passed.jsonl"), where.file("passed.jsonl.renamed"))
            except FileNotFoundError:
                self.findings.add(f"{lane}: the log isn't there, though {name} was to open it anew")
        for process in self.of(lane, {name}):
            if process.role != "mcp-pipe":
                send(signal.SIGHUP, process, self.folder)

    # What is told.

    def print_tables(self, elapsed):
        cpu = self.watch.cpu_seconds() / max(elapsed, 1)
        print(f"\n{elapsed / 60:.1f} of {self.seconds / 60:g} minutes; {self.findings.number} findings; {self.kills} servers killed,"
              f" {self.hangups} SIGHUPs; {cpu:.2f} cores")
        rows = [("pipeline", "process", "KiB", "first third", "last third", "descriptors", "threads")]
        rows += [tuple(map(str, row)) for row in self.watch.rows()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        for row in rows:
            print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        for lane in self.lanes:
            counts = ", ".join(f"{name} {count}" for name, count in sorted(lane.counts.items(), key=lambda one: str(one[0])))
            print(f"  {lane.name}: {counts}")
        sys.stdout.flush()

    def end(self):
        for lane in self.lanes:
            statuses = lane.end()
            if statuses != ENDS[lane.name]:
                self.findings.add(f"{lane.name}: ended with {statuses}, not {ENDS[lane.name]}")
        self.judge_left()
        is_long = time.monotonic() - self.began >= LONG_ENOUGH
        self.watch.judge(is_long)
        self.judge_files()
        self.print_tables(min(time.monotonic() - self.began, self.seconds))
        number = self.findings.number
        told = "and nothing grew." if is_long else "which says nothing about memory: it was less than ten minutes."
        print(f"\n{number} findings; the files are in {self.folder}" if number else f"\nNothing was lost, {told}", flush=True)

    def judge_left(self):
        time.sleep(1)
        for process in self.watch.left():
            self.findings.add(f"{process.lane}: {process.name} ({process.pid}) was left behind")
            send(signal.SIGKILL, process, self.folder)

    def judge_files(self):
        for lane in self.lanes:
            for name in ("passed.jsonl", "server.jsonl"):
                logs = sorted(glob.glob(lane.file(name) + "*"), key=os.path.getmtime)
                for log in logs:
                    self.judge_log(lane, log)
            if os.path.exists(lane.file("judged.jsonl")):
                self.judge_audits(lane)
            for path in glob.glob(lane.file("*.stderr")):
                if os.path.getsize(path) > 1 << 20:
                    self.findings.add(f"{path} has {os.path.getsize(path)} bytes")
        self.lanes[2].judge_log(self.programs)

    def judge_log(self, lane, log):
        checked = subprocess.run([self.program("jsonl-log"), "check", log], capture_output=True, text=True)
        said = json.loads(checked.stdout)
        wrong = {name: said[name] for name in ("missing", "lost", "torn", "unreadable", "fused", "out_of_order", "backwards") if said[name]}
        if checked.returncode != 0 or wrong or not said["messages"]:
            self.findings.add(f"{lane.name}: jsonl-log check {log}: status {checked.returncode}, {said} {checked.stderr[-500:]}")

    def judge_audits(self, lane):
        audits = [lane.file("judged.jsonl"), lane.file("asked.jsonl")]
        verified = subprocess.run([self.program("policy-check"), "verify", *audits], capture_output=True, text=True)
        print(f"  {lane.name}: policy-check verify: status {verified.returncode}\n    " + verified.stdout.replace("\n", "\n    ").rstrip())
        if verified.returncode != 0:
            self.findings.add(f"{lane.name}: policy-check verify: {verified.stderr[-500:]}")


if __name__ == "__main__":
    sys.exit(main())
