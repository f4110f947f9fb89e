"""Checks the outcome of each line: it is answered once, in order, and passes only as it may."""

import json
import re
import threading
import time
from collections import Counter, deque

from answerer import exact
from caller import ANSWERED, BIG_ID, PASSES, REFUSED

# A line that has no answer after this time is lost. It includes the timeout of a question and the restart of a server.
PATIENCE = 180
# An answered call is kept for this time, because the logs are read a little later.
REMEMBERED = 60
LINE_NUMBER = re.compile(r"^line (\d+): ")
# The kinds of errors of a harmless call whose server dies or hangs.
SERVER_FAULTS = {"lost", "timeout", "start_failed"}


class Call:
    def __init__(self, line, number, mark):
        self.line, self.number, self.mark = line, number, mark
        self.sent, self.answered, self.passed, self.carried_out = time.monotonic(), None, 0, 0
        self.is_cancelled, self.approved = False, None

    def is_due(self):
        """A JSON-RPC call that is cancelled before it has passed has no answer."""
        is_over = self.is_cancelled and not self.passed and b"jsonrpc" in self.line.data
        return not self.answered and not is_over


class Account:
    """`in_order`: answers come in the order of the calls. (Around a server, answers of a gate overtake those of the server.)"""

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
        """Is called before the line is sent: from then on it may be in any log."""
        with self.lock:
            self.counts["sent"] += 1
            self.counts[line.outcome] += 1
            if line.outcome == ANSWERED:
                self.counts["held"] += line.held
                self.calls[line.id] = Call(line, number, mark)
            elif line.outcome == REFUSED:
                self.refused[number] = time.monotonic()
            elif line.outcome == PASSES:
                self.passing.append(line.data)
                self.logged.append(line.data)
            elif line.id in self.calls:
                self.calls[line.id].is_cancelled = True

    # The output of the pipeline.

    def take(self, line):
        with self.lock:
            self.take_line(line)

    def take_line(self, line):
        if line == (self.passing[0] if self.passing else None):
            self.passing.popleft()
            return self.counts.update({"passed through": 1})
        try:
            record = json.loads(line)
        except ValueError:
            return self.fail(f"a line that is not JSON, and was not sent: {line[:300]!r}")
        if record.get("type") in ("observation", "error", "policy_request", "policy_result", "status") or "method" in record:
            if b"soak" in line:
                self.fail(f"a record was changed, repeated or out of order: {line[:300]!r}, expected: {self.due()!r}")
            return None
        return self.take_answer(record, line)

    def due(self):
        return self.passing[0][:300] if self.passing else None

    def take_answer(self, record, line):
        key = record.get("call_id", record.get("id"))
        kind, error = self.kind_of(record)
        self.counts[kind] += 1
        if key is None:
            return self.take_refusal(error, line)
        call = self.calls.get(key)
        if call is None:
            return self.fail(f"an answer to a call that was not made: {line[:300]!r}")
        if call.answered:
            return self.fail(f"a call was answered twice: {line[:300]!r}")
        call.answered = time.monotonic()
        self.counts["remembered"] += 1
        self.counts["answers"] += 1
        return self.judge_answer(call, kind, line)

    @staticmethod
    def kind_of(record):
        """`ok` or the kind of the error, and its text. A gate's refusal of a JSON-RPC call is a result."""
        result = record.get("result")
        if isinstance(result, dict) and result.get("isError") and "kind" in (result.get("_meta") or {}):
            return result["_meta"]["kind"], result["content"][0]["text"]
        if record.get("status") == "ok" or record.get("ok") is True or "result" in record and "status" not in record:
            return "ok", ""
        error = record.get("error")
        if isinstance(error, dict):
            return (error.get("data") or {}).get("kind", "server's own"), error.get("message", "")
        return record.get("kind") or record.get("code"), error

    def take_refusal(self, error, line):
        number = LINE_NUMBER.match(error or "")
        if not number or self.refused.pop(int(number[1]), None) is None:
            self.fail(f"an unexpected refusal, or a second one of the same line: {line[:300]!r}")

    def judge_answer(self, call, kind, line):
        what = call.line
        if what.denied:
            if kind != "denied":
                self.fail(f"a call that the rules deny was answered with {kind}: {line[:300]!r}")
            return
        if what.held:
            approved = call.approved
            if kind == "ok" and approved is None:
                self.fail(f"a held call was carried out without approval: {line[:300]!r}")
            if kind == "rejected" and approved is not None and not call.is_cancelled:
                self.fail(f"an approved call was rejected: {line[:300]!r}")
        elif what.harmless:
            self.counts["harmless, ok"] += kind == "ok"
            if kind != "ok" and kind not in SERVER_FAULTS and not (kind == "cancelled" and call.is_cancelled):
                self.fail(f"a harmless call was answered with {kind}: {line[:300]!r}")
        if kind == "cancelled" and not call.is_cancelled:
            self.fail(f"answered as cancelled without a cancel: {line[:300]!r}")
        if self.in_order and not call.is_cancelled:
            if call.number < self.last_answered:
                self.fail(f"line {call.number} was answered after line {self.last_answered}")
            self.last_answered = call.number

    # The logs.

    def see_passed(self, direction, raw):
        """A line in the log behind the gates: they have let it pass."""
        if direction != "in":
            return None
        with self.lock:
            if self.logged and raw == self.logged[0]:
                return self.logged.popleft()
            record = json.loads(raw)
            key = self.id_of_call(record)
            if key is None:
                if b"soak" in raw:
                    self.fail(f"a record in the log was changed or is out of order: {raw[:300]!r}")
                return None
            call = self.calls.get(key)
            if call is None:
                return self.fail(f"a call passed that was not made: {raw[:300]!r}")
            call.passed += 1
            if call.passed > 1:
                self.fail(f"a call passed twice: {raw[:300]!r}")
            if b'"requires_approval":true' in raw:
                self.fail(f"a call passed that still requires approval: {raw[:300]!r}")
            return self.judge_passed(call, record, raw)

    @staticmethod
    def id_of_call(record):
        if record.get("type") == "tool_call":
            return record.get("call_id")
        if "tool" in record and "status" not in record or "cmd" in record or record.get("method") == "tools/call":
            return record.get("id")
        return None

    def judge_passed(self, call, record, raw):
        if call.line.denied:
            return self.fail(f"a call passed though the rules deny it: {raw[:300]!r}")
        if call.line.held and call.approved is None:
            return self.fail(f"a held call passed without approval: {raw[:300]!r}")
        if call.approved is None or call.approved == call.line.arguments:
            if call.line.arguments.encode() not in raw:
                self.fail(f"a call passed whose arguments are not those of line {call.number}: {raw[:300]!r}")
            return None
        record = exact(raw)
        arguments = record.get("arguments") or record.get("args") or record.get("params", {}).get("arguments")
        if arguments != call.approved:
            self.fail(f"other arguments passed than the approved ones ({call.approved}): {raw[:300]!r}")
        return None

    def see_carried_out(self, direction, raw):
        """A line that reached the server. Ids are mcp-pipe's there, so calls are found by the mark in their arguments."""
        if direction != "in" or b"tools/call" not in raw:
            return None
        with self.lock:
            mark = re.search(rf"{self.name}-(\d+)", raw.decode())
            key = mark and next((key for key in (mark[0], BIG_ID + int(mark[1])) if key in self.calls), None)
            if key is None:
                return self.fail(f"the server got a call that was not made: {raw[:300]!r}")
            call = self.calls[key]
            call.carried_out += 1
            self.counts["carried out"] += 1
            if call.carried_out > 1 and not call.line.repeatable:
                self.fail(f"the server got a call twice: {raw[:300]!r}")
            if not call.passed:
                self.fail(f"the server got a call that is not in the log before it: {raw[:300]!r}")
            if call.approved is None and call.line.arguments.encode() not in raw:
                self.fail(f"the server got other arguments than those of line {call.number}: {raw[:300]!r}")
            if b"requires_approval" in raw:
                self.fail(f"a gate's mark reached the server: {raw[:300]!r}")
        return None

    def forget(self):
        """Drops answered calls, and finds those without an answer."""
        now = time.monotonic()
        with self.lock:
            over = [key for key, call in self.calls.items() if call.answered and now - call.answered > REMEMBERED]
            for key in over:
                del self.calls[key]
            self.counts["remembered"] -= len(over)
            for key, call in list(self.calls.items()):
                if not call.answered and now - call.sent > PATIENCE:
                    if call.is_due():
                        self.fail(f"never answered: {call.line.data[:300]!r}")
                    del self.calls[key]
            for number, since in list(self.refused.items()):
                if now - since > PATIENCE:
                    self.fail(f"line {number} was never refused")
                    del self.refused[number]

    def close(self):
        """All output has been read."""
        with self.lock:
            for call in self.calls.values():
                if call.is_due():
                    self.fail(f"never answered: {call.line.data[:300]!r}")
            for number in self.refused:
                self.fail(f"line {number} was never refused")
            if self.passing or self.logged:
                self.fail(f"{len(self.passing)} records were lost before the output, {len(self.logged)} before the log: {self.due()!r}")
            harmless, answers = self.counts["harmless, ok"], self.counts["answers"]
            if harmless < answers / 3:
                self.fail(f"only {harmless} of {answers} answered calls were harmless and carried out")
