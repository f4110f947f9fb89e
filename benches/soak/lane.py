"""A pipeline that calls go through: its processes, who feeds it, and who reads what comes out and what is logged."""

import os
import random
import subprocess
import threading
import time

import fed
from account import PATIENCE, Account
from answerer import Answerer
from followed import Log, Records
from processes import environment_of

# So much is not yet answered at most: memory is compared, and must not depend on how long a server once took.
WINDOW = 100
QUESTION_TIMEOUT = 5


class Lane:
    """`commands` are given where logs, audits, events and the FIFO for answers lie."""

    def __init__(self, name, folder, commands, seed, rate, findings, faults, in_order):
        self.name, self.folder, self.rate = name, folder, rate
        os.makedirs(folder)
        self.dice = random.Random(f"{seed}-{name}")
        self.caller = fed.Caller(name, self.dice, faults)
        self.write_rules()
        os.mkfifo(self.file("answers"))
        self.account = account = Account(name, in_order, findings)
        self.counts, self.fail = account.counts, account.fail
        self.line_number, self.is_ending, self.heard_by_server = 0, False, []
        self.answerer = Answerer(account, self.file("answers"), random.Random(f"{seed}-{name}-answers"))
        self.followed = [
            # In this order: what the second has stands in the first by the time that it is read.
            Log(self.file("server.jsonl"), lambda *message: self.heard_by_server.append(message), self.fail),
            Log(self.file("passed.jsonl"), account.see_passed, self.fail),
            Records(self.file("events.jsonl"), self.answerer.hear),
        ]
        self.processes = self.start(commands(self))
        self.threads = [threading.Thread(target=act, daemon=True) for act in (self.feed, self.hear, self.follow)]
        for thread in self.threads:
            thread.start()

    def file(self, name):
        return os.path.join(self.folder, name)

    def write_rules(self):
        """In one step. Now and then they can't be read; then those before must stay."""
        broken = self.dice.random() < 0.2 and os.path.exists(self.file("rules.toml"))
        with open(self.file("rules.new"), "w", encoding="utf-8") as file:
            file.write(f"# {self.dice.random()}\n{fed.RULES}" + ("[[rule\n" if broken else ""))
        os.rename(self.file("rules.new"), self.file("rules.toml"))

    def start(self, commands):
        processes, source = [], subprocess.PIPE
        for role, command in commands:
            environment = environment_of(self.folder, role)
            with open(self.file(f"{role}.stderr"), "wb") as said:
                process = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=said, env=environment,
                                           start_new_session=True)
            if processes:
                source.close()
            processes.append(process)
            source = process.stdout
        self.stdin, self.stdout = processes[0].stdin, source
        return processes

    def feed(self):
        try:
            while not self.is_ending:
                burst = self.dice.choice([1, 1, 1, 5, 30])
                for _ in range(burst):
                    self.say(self.caller.next())
                time.sleep(burst / self.rate)
                if self.dice.random() < 0.01:
                    time.sleep(self.dice.random() * 2)
                while self.account.waiting() > WINDOW and not self.is_ending:
                    time.sleep(0.02)
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until and not self.account.is_settled():
                time.sleep(0.05)
            # The last one has no end.
            self.caller.number += 1
            last = self.caller.harmless()
            self.say(last._replace(data=last.data.rstrip()))
            self.stdin.close()
        except OSError as error:
            if not self.is_ending:
                self.fail(f"nothing more could be fed: {error}")

    def say(self, line):
        self.line_number += 1
        self.account.expect(line, self.line_number, self.caller.mark())
        data = line.data
        if self.dice.random() < 0.03:
            cut = self.dice.randrange(len(data) + 1)
            self.write(data[:cut])
            time.sleep(self.dice.choice([0.001, 0.02, 0.3]))
            data = data[cut:]
        self.write(data)

    def write(self, data):
        self.stdin.write(data)
        self.stdin.flush()

    def hear(self):
        for line in self.stdout:
            self.account.take(line)

    def follow(self):
        while not self.is_ending or any(process.poll() is None for process in self.processes):
            self.look()
            time.sleep(0.05)

    def look(self):
        for log in self.followed:
            log.look()
        for direction, raw in self.heard_by_server:
            self.account.see_carried_out(direction, raw)
        self.heard_by_server.clear()
        self.account.forget()

    def end(self):
        """What was fed is finished, and every process ends by itself."""
        self.is_ending = True
        until = time.monotonic() + PATIENCE
        for process in self.processes:
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.fail(f"{process.args[0]} didn't end")
        for thread in self.threads:
            thread.join(10)
        self.look()
        self.account.close()
        if self.answerer.open:
            self.fail(f"{len(self.answerer.open)} questions were never settled")
        return [process.returncode for process in self.processes]
