"""Two more lanes: bytes that must pass unchanged, and recorded games, one after the other."""

import glob
import os
import random
import subprocess
import threading
import time

from account import PATIENCE
from caller import Caller
from processes import environment_of

# More than a log holds before it is rotated (8M).
KEPT = 10 << 20
GAME_TIMEOUT = 120


class Bytes:
    """Input that has no message of the game passes a recorder and a filter byte for byte, in pieces of any size."""

    def __init__(self, name, folder, commands, seed, rate, findings):
        self.name, self.folder, self.rate, self.findings = name, folder, rate, findings
        os.makedirs(folder)
        self.random = random.Random(f"{seed}-{name}")
        self.caller = Caller(name, self.random, False)
        self.lock, self.waiting = threading.Lock(), bytearray()
        self.counts = {"written": 0, "bytes in": 0, "bytes out": 0}
        self.kept = bytearray()
        self.is_ending = False
        first, second = commands(self)
        self.processes = [self.start(first, subprocess.PIPE)]
        self.processes.append(self.start(second, self.processes[0].stdout))
        self.processes[0].stdout.close()
        self.threads = [threading.Thread(target=act, daemon=True) for act in (self.write, self.read)]
        for thread in self.threads:
            thread.start()

    def file(self, name):
        return os.path.join(self.folder, name)

    def start(self, command, source):
        role = os.path.basename(command[0])
        environment = environment_of(self.folder, role)
        with open(self.file(f"{role}.stderr"), "wb") as errors:
            return subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=errors, env=environment, start_new_session=True)

    def some(self):
        """A few lines, complete or torn, or random bytes."""
        if self.random.random() < 0.05:
            return self.random.randbytes(self.random.randrange(1, 5000))
        data = b"".join(self.caller.next().data for _ in range(self.random.randrange(1, 40)))
        return data[: self.random.randrange(1, len(data) + 1)] if self.random.random() < 0.3 else data

    def write(self):
        stdin = self.processes[0].stdin
        try:
            while not self.is_ending:
                data = self.some()
                with self.lock:
                    self.waiting += data
                    self.kept += data
                    if len(self.kept) > 2 * KEPT:
                        del self.kept[:-KEPT]
                    self.counts["written"] += 1
                    self.counts["bytes in"] += len(data)
                stdin.write(data)
                stdin.flush()
                time.sleep(len(data) / self.rate)
            stdin.close()
        except OSError as error:
            self.findings.add(f"{self.name}: the pipeline takes no more bytes: {error}")

    def read(self):
        while data := self.processes[1].stdout.read1(1 << 16):
            with self.lock:
                if self.waiting[: len(data)] != data:
                    at = self.counts["bytes out"]
                    return self.findings.add(f"{self.name}: other bytes came out than went in, after {at}: {data[:200]!r}")
                del self.waiting[: len(data)]
                self.counts["bytes out"] += len(data)
        return None

    def end(self):
        self.is_ending = True
        for process in self.processes:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.findings.add(f"{self.name}: {process.args[0]} did not end")
        for thread in self.threads:
            thread.join(10)
        if self.waiting:
            self.findings.add(f"{self.name}: {len(self.waiting)} bytes were lost")
        return [process.returncode for process in self.processes]

    def judge_log(self, programs):
        """Replaying the newest file of the log gives the last bytes that were written."""
        replayed = subprocess.run([os.path.join(programs, "replay"), "--speed", "max", self.file("passed.jsonl")], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=PATIENCE)
        if not replayed.stdout or not self.kept.endswith(replayed.stdout):
            self.findings.add(f"{self.name}: the log gives other bytes than were written: {replayed.stderr[-300:]!r}")


class Games:
    """A recorded game that an agent plays through the proxy, again and again. Each must be like the first."""

    def __init__(self, name, folder, command, findings, pause):
        self.name, self.folder, self.command, self.findings, self.pause = name, folder, command, findings, pause
        os.makedirs(os.path.join(folder, "runs"))
        self.counts = {"games": 0, "records": 0}
        self.first, self.is_ending = None, False
        self.processes = []
        self.threads = [threading.Thread(target=self.play, daemon=True)]
        self.threads[0].start()

    def file(self, name):
        return os.path.join(self.folder, name)

    def play(self):
        while not self.is_ending:
            environment = environment_of(self.folder, "game")
            with open(self.file("game.stderr"), "wb") as errors:
                try:
                    status = subprocess.run(self.command(self), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, env=environment,
                                            start_new_session=True, timeout=GAME_TIMEOUT).returncode
                except subprocess.TimeoutExpired:
                    return self.findings.add(f"{self.name}: a game did not end within {GAME_TIMEOUT} s")
            records = 0
            for path in glob.glob(self.file("runs/*")):
                with open(path, "rb") as lines:
                    records += sum(1 for _ in lines)
                os.unlink(path)
            self.counts["games"] += 1
            self.counts["records"] += records
            self.first = self.first or (status, records)
            if (status, records) != self.first or records == 0:
                self.findings.add(f"{self.name}: a game ended with status {status} and {records} records, the first with {self.first}")
            until = time.monotonic() + self.pause
            while time.monotonic() < until and not self.is_ending:
                time.sleep(0.1)
        return None

    def end(self):
        self.is_ending = True
        self.threads[0].join(GAME_TIMEOUT)
        return []
