"""What becomes of each line that was fed: that it is answered once, in its turn, and passes only as it may."""

import json
import re
import threading
import time
from collections import Counter, deque

import fed
from answerer import exact

# What has not been answered after so long is lost; a question that nobody answers, and a server that is started anew, take their time.
PATIENCE = 180
# For so long an answered call is still known, since the logs are read a little later.
REMEMBERED = 60
LINE_NUMBER = re.compile(r"^line (\d+): ")
# What becomes of a harmless call when its server dies or hangs.
UNLUCKY = {"lost", "timeout", "start_failed"}


class Call:
    def __init__(self, line, number, mark):
        self.line, self.number, self.mark = line, number, mark
        self.fed, self.answered, self.passed, self.carried_out = time.monotonic(), None, 0, 0
        self.is_cancelled, self.agreed = False, None

    def is_due(self):
        """Who takes back a call of JSON-RPC's hears no more of it, where it hasn't passed yet."""
        is_over = self.is_cancelled and not self.passed and b"jsonrpc" in self.line.data
        return not self.answered and not is_over


class Account:
    """`in_order` says whether answers come in the order of the calls (beside a wrapped server, a gate's own answers overtake)."""

    def __init__(self, name, in_order, findings):
        self.name, self.in_order, self.findings = name, in_order, findings
        self.lock = threading.RLock()
        self.calls, self.refused, self.passing, self.logged = {}, {}, deque(), deque()
        self.counts, self.last_answered = Counter(), 0

    def fail(self, why):
        self.findings.add(f"{self.name}: {why}")

    def waiting(self):
        return len(self.calls) - self.counts["remembered"]

    def is_settled(self):
        with self.lock:
            return not any(call.is_due() for call in self.calls.values())

    def expect(self, line, number, mark):
        """Before it is: from then on everything may be seen of it."""
        with self.lock:
            self.counts["fed"] += 1
            self.counts[line.fate] += 1
            if line.fate == fed.ANSWERED:
                self.counts["held"] += line.held
                self.calls[line.id] = Call(line, number, mark)
            elif line.fate == fed.REFUSED:
                self.refused[number] = time.monotonic()
            elif line.fate == fed.PASSES:
                self.passing.append(line.data)
                self.logged.append(line.data)
            elif line.id in self.calls:
                self.calls[line.id].is_cancelled = True

    # What comes out at the end.

    def take(self, line):
        with self.lock:
            self.take_line(line)

    def take_line(self, line):
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
        """`ok`, or the kind of the error; that of a gate's refusal in JSON-RPC is in the result."""
        result = said.get("result")
        if isinstance(result, dict) and result.get("isError") and "kind" in (result.get("_meta") or {}):
            return result["_meta"]["kind"], result["content"][0]["text"]
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

    def close(self):
        """Nothing comes any more."""
        with self.lock:
            for call in self.calls.values():
                if call.is_due():
                    self.fail(f"never answered: {call.line.data[:300]!r}")
            for number in self.refused:
                self.fail(f"line {number} was never refused")
            if self.passing or self.logged:
                self.fail(f"{len(self.passing)} records never came out, {len(self.logged)} never reached the log: {self.due()!r}")
            lucky, answers = self.counts["harmless, ok"], self.counts["answers"]
            if lucky < answers / 3:
                self.fail(f"only {lucky} of {answers} answered calls were harmless and carried out")
