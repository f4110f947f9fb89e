"""Answers the questions of a gate on --answers: approves, edits, rejects or does nothing; sometimes sends a wrong answer first."""

import json
import os
import threading
import time

VERDICTS = {"approve": "approved", "edit": "edited", "reject": "rejected"}


def exact(text):
    """JSON with numbers as strings, so that they are compared digit by digit."""
    return json.loads(text, parse_float=str, parse_int=str)


class Answerer:
    """`fifo` is a path."""

    def __init__(self, account, fifo, random):
        self.account, self.random = account, random
        # Open in both directions, so that opening it does not block.
        self.fifo = os.open(fifo, os.O_RDWR)
        # The action for each open question.
        self.open = {}

    def take(self, record):
        """A record of the gate's events."""
        if record.get("status") == "waiting_human":
            self.ask(record)
        elif record.get("type") == "policy_result":
            self.settle(record)

    def ask(self, record):
        account, key = self.account, record["call_id"]
        action = self.random.choices(["approve", "edit", "reject", None], [60, 20, 17, 3])[0]
        with account.lock:
            account.counts["asked"] += 1
            call = account.calls.get(key)
            if call is None or not call.line.held:
                return account.fail(f"a question about a call that needs no approval: {record}")
            if key in self.open:
                account.fail(f"a second question about {key}")
            self.open[key] = action
            edit = {"message": f"edited {call.mark}", "added": 7}
            # Before it is sent: the call may pass from then on.
            if action == "approve":
                call.approved = call.line.arguments
            elif action == "edit":
                call.approved = {**exact(call.line.arguments), **exact(json.dumps(edit))}
        answer = {"type": "hitl_response", "call_id": key, "nonce": record["nonce"], "action": action}
        if action == "edit":
            answer["edited_arguments"] = edit
        threading.Timer(self.random.choice([0, 0.01, 0.1, 0.5]), self.answer, [answer]).start()
        return None

    def answer(self, answer):
        if self.random.random() < 0.1:
            wrong = self.random.choice([
                {**answer, "nonce": "0" * 32, "action": "approve"}, {**answer, "action": "perhaps"}, {**answer, "call_id": "none"},
                "no JSON", {"type": "observation"},
            ])
            self.send(wrong if isinstance(wrong, str) else json.dumps(wrong))
        if answer["action"]:
            line = json.dumps(answer)
            self.send(line)
            if self.random.random() < 0.1:
                # A second time, after the call is settled.
                time.sleep(0.1)
                self.send(line)

    def send(self, line):
        os.write(self.fifo, line.encode() + b"\n")

    def settle(self, record):
        account, key = self.account, record["call_id"]
        with account.lock:
            if key not in self.open:
                # It waited behind others when it was cancelled, or when the pipeline ended.
                return
            action = self.open.pop(key)
            call = account.calls.get(key)
            account.counts[f"{record['verdict']} by {record['by']}"] += 1
            if record["by"] == "caller" and call and call.is_cancelled:
                return
            expected = (VERDICTS[action], "answers") if action else ("rejected", "timeout")
            if (record["verdict"], record["by"]) != expected:
                account.fail(f"a question was settled otherwise than answered ({expected}): {record}")
