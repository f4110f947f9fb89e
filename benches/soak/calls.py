"""A pipeline that calls go through: what is fed to it, what it answers, and whether everything has its place."""

import json
import os
import random
import re
import subprocess
import threading
import time
from collections import Counter, deque

import fed
from answerer import Answerer, exact
from followed import Log, Records

# What has not been answered after so long is lost; a question that nobody answers, and a server that is started anew, take their time.
PATIENCE = 180
# So much is not yet answered at most: memory is compared, and must not depend on how long a server once took.
WINDOW = 100
# For so long an answered call is still known, since the logs are read a little later.
REMEMBERED = 60
LINE_NUMBER = re.compile(r"^line (\d+): ")
# What becomes of a harmless call when its server dies or hangs.
UNLUCKY = {"lost", "timeout", "start_failed"}
QUESTION_TIMEOUT = 5


class Call:
    def __init__(self, line, number, mark):
        self.line, self.number, self.mark = line, number, mark
        self.fed, self.answered, self.passed, self.carried_out = time.monotonic(), None, 0, 0
        self.is_cancelled, self.agreed = False, None

    def is_due(self):
        """Who takes back a call of JSON-RPC's hears no more of it, where it hasn't passed yet."""
        is_over = self.is_cancelled and not self.passed and b"jsonrpc" in self.line.data
        return not self.answered and not is_over


class Lane:
    """`commands` are given where logs, audits, events and the FIFO for answers lie; `in_order` says whether answers come in the
    order of the calls (beside a wrapped server, a gate's own answers overtake)."""

    def __init__(self, name, folder, commands, seed, rate, findings, faults, in_order):
        self.name, self.folder, self.rate, self.findings, self.in_order = name, folder, rate, findings, in_order
        os.makedirs(folder)
        self.dice = random.Random(f"{seed}-{name}")
        self.caller = fed.Caller(name, self.dice, faults)
        self.write_rules()
        os.mkfifo(self.file("answers"))
        self.lock = threading.RLock()
        self.calls, self.refused, self.passing, self.logged = {}, {}, deque(), deque()
        self.counts, self.line_number, self.last_answered = Counter(), 0, 0
        self.is_ending, self.heard_by_server = False, []
        self.answerer = Answerer(self, random.Random(f"{seed}-{name}-answers"))
        self.followed = [
            # In this order: what the second has stands in the first by the time that it is read.
            Log(self.file("server.jsonl"), lambda *message: self.heard_by_server.append(message), self.fail),
            Log(self.file("passed.jsonl"), self.see_passed, self.fail),
            Records(self.file("events.jsonl"), self.answerer.hear),
        ]
        self.processes = self.start(commands(self))
        self.threads = [threading.Thread(target=act, daemon=True) for act in (self.feed, self.hear, self.follow)]
        for thread in self.threads:
            thread.start()

    def file(self, name):
        return os.path.join(self.folder, name)

    def fail(self, why):
        self.findings.add(f"{self.name}: {why}")

    def write_rules(self):
        """In one step. Now and then they can't be read; then those before must stay."""
        broken = self.dice.random() < 0.2 and os.path.exists(self.file("rules.toml"))
        with open(self.file("rules.new"), "w", encoding="utf-8") as file:
            file.write(f"# {self.dice.random()}\n{fed.RULES}" + ("[[rule\n" if broken else ""))
        os.rename(self.file("rules.new"), self.file("rules.toml"))

    def start(self, commands):
        processes, source = [], subprocess.PIPE
        for role, command in commands:
            # By this, what it starts is known as well, whoever it belongs to then.
            environment = {**os.environ, "PIPEWRIGHT_SOAK": f"{self.folder}:{role}"}
            with open(self.file(f"{role}.stderr"), "wb") as said:
                process = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=said, env=environment,
                                           start_new_session=True)
            if processes:
                source.close()
            processes.append(process)
            source = process.stdout
        self.stdin, self.stdout = processes[0].stdin, source
        return processes

    # What is fed.

    def feed(self):
        try:
            while not self.is_ending:
                burst = self.dice.choice([1, 1, 1, 5, 30])
                for _ in range(burst):
                    self.say(self.caller.next())
                time.sleep(burst / self.rate)
                if self.dice.random() < 0.01:
                    time.sleep(self.dice.random() * 2)
                while len(self.calls) - self.counts["remembered"] > WINDOW and not self.is_ending:
                    time.sleep(0.02)
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until and any(call.is_due() for call in list(self.calls.values())):
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
        with self.lock:
            self.counts["fed"] += 1
            self.counts[line.fate] += 1
            if line.fate == fed.ANSWERED:
                self.counts["held"] += line.held
                self.calls[line.id] = Call(line, self.line_number, self.caller.mark())
            elif line.fate == fed.REFUSED:
                self.refused[self.line_number] = time.monotonic()
            elif line.fate == fed.PASSES:
                self.passing.append(line.data)
                self.logged.append(line.data)
            elif line.id in self.calls:
                self.calls[line.id].is_cancelled = True
        data, torn = line.data, self.dice.random() < 0.03
        if torn:
            cut = self.dice.randrange(len(data) + 1)
            self.write(data[:cut])
            time.sleep(self.dice.choice([0.001, 0.02, 0.3]))
            data = data[cut:]
        self.write(data)

    def write(self, data):
        self.stdin.write(data)
        self.stdin.flush()

    # What comes out at the end.

    def hear(self):
        for line in self.stdout:
            with self.lock:
                self.take(line)

    def take(self, line):
        if line == (self.passing[0] if self.passing else None):
            self.passing.popleft()
            return self.counts.update(came=1)
        try:
            said = json.loads(line)
        except ValueError:
            return self.fail(f"no JSON, and not what was fed: {line[:300]!r}")
        if said.get("type") in ("observation", "error", "policy_request", "policy_result", "status") or "method" in said:
            if b"soak" in line:
                self.fail(f"a record came changed, twice or out of order: {line[:300]!r}, due is {self.due()!r}")
            return None
        return self.take_answer(said, line)

    def due(self):
        return self.passing[0][:300] if self.passing else None

    def take_answer(self, said, line):
        key = said.get("call_id", said.get("id"))
        kind, error = self.kind_of(said)
        self.counts[kind] += 1
        if key is None:
            return self.take_refusal(error, line)
        call = self.calls.get(key)
        if call is None:
            return self.fail(f"a call was answered that nobody made: {line[:300]!r}")
        if call.answered:
            return self.fail(f"a call was answered twice: {line[:300]!r}")
        call.answered = time.monotonic()
        self.counts["remembered"] += 1
        self.counts["answers"] += 1
        return self.judge_answer(call, kind, line)

    @staticmethod
    def kind_of(said):
        """`ok`, or the kind of the error."""
        if said.get("status") == "ok" or said.get("ok") is True or "result" in said and "status" not in said:
            return "ok", ""
        error = said.get("error")
        if isinstance(error, dict):
            return (error.get("data") or {}).get("kind", "server's own"), error.get("message", "")
        return said.get("kind") or said.get("code"), error

    def take_refusal(self, error, line):
        number = LINE_NUMBER.match(error or "")
        if not number or self.refused.pop(int(number[1]), None) is None:
            self.fail(f"a refusal of no line that was to be refused, or a second one: {line[:300]!r}")

    def judge_answer(self, call, kind, line):
        what = call.line
        if what.denied:
            if kind != "denied":
                self.fail(f"what the rules deny was answered with {kind}: {line[:300]!r}")
            return
        if what.held:
            agreed = call.agreed
            if kind == "ok" and agreed is None:
                self.fail(f"a held call was carried out without approval: {line[:300]!r}")
            if kind == "rejected" and agreed is not None and not call.is_cancelled:
                self.fail(f"an approved call was rejected: {line[:300]!r}")
        elif what.harmless:
            self.counts["harmless, ok"] += kind == "ok"
            if kind != "ok" and kind not in UNLUCKY and not (kind == "cancelled" and call.is_cancelled):
                self.fail(f"a harmless call was answered with {kind}: {line[:300]!r}")
        if kind == "cancelled" and not call.is_cancelled:
            self.fail(f"nobody cancelled this: {line[:300]!r}")
        if self.in_order and not call.is_cancelled:
            if call.number < self.last_answered:
                self.fail(f"line {call.number} was answered after line {self.last_answered}")
            self.last_answered = call.number

    # What the logs show.

    def follow(self):
        while not self.is_ending or any(process.poll() is None for process in self.processes):
            self.look()
            time.sleep(0.05)

    def look(self):
        for log in self.followed:
            log.look()
        for direction, raw in self.heard_by_server:
            self.see_carried_out(direction, raw)
        self.heard_by_server.clear()
        self.forget()

    def see_passed(self, direction, raw):
        """Behind the gates. Whatever stands here, they let through."""
        if direction != "in":
            return None
        with self.lock:
            if self.logged and raw == self.logged[0]:
                return self.logged.popleft()
            said = json.loads(raw)
            key = self.id_of_call(said)
            if key is None:
                if b"soak" in raw:
                    self.fail(f"the log has a record that was changed or is out of order: {raw[:300]!r}")
                return None
            call = self.calls.get(key)
            if call is None:
                return self.fail(f"a call passed that nobody made: {raw[:300]!r}")
            call.passed += 1
            if call.passed > 1:
                self.fail(f"a call passed twice: {raw[:300]!r}")
            if b'"requires_approval":true' in raw:
                self.fail(f"a call passed that still requires approval: {raw[:300]!r}")
            return self.judge_passed(call, said, raw)

    @staticmethod
    def id_of_call(said):
        if said.get("type") == "tool_call":
            return said.get("call_id")
        if "tool" in said and "status" not in said or "cmd" in said or said.get("method") == "tools/call":
            return said.get("id")
        return None

    def judge_passed(self, call, said, raw):
        if call.line.denied:
            return self.fail(f"a call passed that the rules deny: {raw[:300]!r}")
        if call.line.held and call.agreed is None:
            return self.fail(f"a held call passed without approval: {raw[:300]!r}")
        if call.agreed is None or call.agreed == call.line.arguments:
            if call.line.arguments.encode() not in raw:
                self.fail(f"its arguments are not those of line {call.number}: {raw[:300]!r}")
            return None
        said = exact(raw)
        arguments = said.get("arguments") or said.get("args") or said.get("params", {}).get("arguments")
        if arguments != call.agreed:
            self.fail(f"other arguments passed than were agreed to ({call.agreed}): {raw[:300]!r}")
        return None

    def see_carried_out(self, direction, raw):
        """What reached the server, which knows nothing of ids of ours: calls are known by the mark in their arguments."""
        if direction != "in" or b"tools/call" not in raw:
            return None
        with self.lock:
            mark = re.search(rf"{self.name}-(\d+)", raw.decode())
            key = mark and next((key for key in (mark[0], fed.BIG_ID + int(mark[1])) if key in self.calls), None)
            if key is None:
                return self.fail(f"the server heard a call that nobody made: {raw[:300]!r}")
            call = self.calls[key]
            call.carried_out += 1
            self.counts["carried out"] += 1
            if call.carried_out > 1 and not call.line.repeatable:
                self.fail(f"the server heard a call twice: {raw[:300]!r}")
            if not call.passed:
                self.fail(f"the server heard a call that the log before it doesn't have: {raw[:300]!r}")
            if call.agreed is None and call.line.arguments.encode() not in raw:
                self.fail(f"the server heard other arguments than those of line {call.number}: {raw[:300]!r}")
            if b"requires_approval" in raw:
                self.fail(f"a mark reached the server: {raw[:300]!r}")
        return None

    def forget(self):
        """Calls that are over; and finds those that never will be."""
        now = time.monotonic()
        with self.lock:
            over = [key for key, call in self.calls.items() if call.answered and now - call.answered > REMEMBERED]
            for key in over:
                del self.calls[key]
            self.counts["remembered"] -= len(over)
            for key, call in list(self.calls.items()):
                if not call.answered and now - call.fed > PATIENCE:
                    if call.is_due():
                        self.fail(f"never answered: {call.line.data[:300]!r}")
                    del self.calls[key]
            for number, since in list(self.refused.items()):
                if now - since > PATIENCE:
                    self.fail(f"line {number} was never refused")
                    del self.refused[number]

    # The end.

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
        with self.lock:
            for call in self.calls.values():
                if call.is_due():
                    self.fail(f"never answered: {call.line.data[:300]!r}")
            for number in self.refused:
                self.fail(f"line {number} was never refused")
            if self.passing or self.logged:
                self.fail(f"{len(self.passing)} records never came out, {len(self.logged)} never reached the log: {self.due()!r}")
            if self.answerer.open:
                self.fail(f"{len(self.answerer.open)} questions were never settled")
            lucky, asked = self.counts["harmless, ok"], self.counts["answers"]
            if lucky < asked / 3:
                self.fail(f"only {lucky} of {asked} answered calls were harmless and carried out")
        return [process.returncode for process in self.processes]


