"""A pipeline for calls: its processes, and the threads that write to it, read its output and follow its logs."""

import os
import random
import subprocess
import threading
import time

from account import PATIENCE, Account
from answerer import Answerer
from caller import RULES, Caller
from followed import Log, Records
from processes import environment_of

# The most calls without an answer. Memory is compared, and must not depend on the delay of a server.
WINDOW = 100
QUESTION_TIMEOUT = 5


class Lane:
    """`commands(lane)` gives the commands of the pipeline, each with its role."""

    def __init__(self, name, folder, commands, seed, rate, findings, faults, in_order):
        self.name, self.folder, self.rate = name, folder, rate
        os.makedirs(folder)
        self.random = random.Random(f"{seed}-{name}")
        self.caller = Caller(name, self.random, faults)
        self.write_rules()
        os.mkfifo(self.file("answers"))
        self.account = account = Account(name, in_order, findings)
        self.counts, self.fail = account.counts, account.fail
        self.line_number, self.is_ending, self.server_messages = 0, False, []
        self.answerer = Answerer(account, self.file("answers"), random.Random(f"{seed}-{name}-answers"))
        self.followed = [
            # In this order: every message of the first is in the second by the time that it is compared.
            Log(self.file("server.jsonl"), lambda *message: self.server_messages.append(message), self.fail),
            Log(self.file("passed.jsonl"), account.see_passed, self.fail),
            Records(self.file("events.jsonl"), self.answerer.take),
        ]
        self.processes = self.start(commands(self))
        self.threads = [threading.Thread(target=act, daemon=True) for act in (self.write_lines, self.read_output, self.follow)]
        for thread in self.threads:
            thread.start()

    def file(self, name):
        return os.path.join(self.folder, name)

    def write_rules(self):
        """Replaces the rules in one step. Some cannot be read: then the gate must keep the old ones."""
        broken = self.random.random() < 0.2 and os.path.exists(self.file("rules.toml"))
        with open(self.file("rules.new"), "w", encoding="utf-8") as file:
            file.write(f"# {self.random.random()}\n{RULES}" + ("[[rule\n" if broken else ""))
        os.rename(self.file("rules.new"), self.file("rules.toml"))

    def start(self, commands):
        processes, source = [], subprocess.PIPE
        for role, command in commands:
            environment = environment_of(self.folder, role)
            with open(self.file(f"{role}.stderr"), "wb") as errors:
                process = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=errors, env=environment,
                                           start_new_session=True)
            if processes:
                source.close()
            processes.append(process)
            source = process.stdout
        self.stdin, self.stdout = processes[0].stdin, source
        return processes

    def write_lines(self):
        try:
            while not self.is_ending:
                burst = self.random.choice([1, 1, 1, 5, 30])
                for _ in range(burst):
                    self.send(self.caller.next())
                time.sleep(burst / self.rate)
                if self.random.random() < 0.01:
                    time.sleep(self.random.random() * 2)
                while self.account.waiting() > WINDOW and not self.is_ending:
                    time.sleep(0.02)
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until and not self.account.is_settled():
                time.sleep(0.05)
            # The last line has no line end.
            self.caller.number += 1
            last = self.caller.harmless()
            self.send(last._replace(data=last.data.rstrip()))
            self.stdin.close()
        except OSError as error:
            if not self.is_ending:
                self.fail(f"the pipeline takes no more lines: {error}")

    def send(self, line):
        self.line_number += 1
        self.account.expect(line, self.line_number, self.caller.mark())
        data = line.data
        if self.random.random() < 0.03:
            cut = self.random.randrange(len(data) + 1)
            self.write(data[:cut])
            time.sleep(self.random.choice([0.001, 0.02, 0.3]))
            data = data[cut:]
        self.write(data)

    def write(self, data):
        self.stdin.write(data)
        self.stdin.flush()

    def read_output(self):
        for line in self.stdout:
            self.account.take(line)

    def follow(self):
        while not self.is_ending or any(process.poll() is None for process in self.processes):
            self.look()
            time.sleep(0.05)

    def look(self):
        for log in self.followed:
            log.look()
        for direction, raw in self.server_messages:
            self.account.see_carried_out(direction, raw)
        self.server_messages.clear()
        self.account.forget()

    def end(self):
        """Everything that was sent is answered, and every process ends by itself."""
        self.is_ending = True
        until = time.monotonic() + PATIENCE
        for process in self.processes:
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.fail(f"{process.args[0]} did not end")
        for thread in self.threads:
            thread.join(10)
        self.look()
        self.account.close()
        if self.answerer.open:
            self.fail(f"{len(self.answerer.open)} questions were never settled")
        return [process.returncode for process in self.processes]
