"""The person at the other end of --answers: approves, edits, rejects, says nothing, and now and then the wrong thing first."""

import json
import os
import threading
import time

VERDICTS = {"approve": "approved", "edit": "edited", "reject": "rejected"}


def exact(text):
    """JSON whose numbers are compared digit by digit."""
    return json.loads(text, parse_float=str, parse_int=str)


class Answerer:
    """`fifo` is a path."""

    def __init__(self, account, fifo, dice):
        self.account, self.dice = account, dice
        # Kept open for both, so that neither end ever waits for the other.
        self.fifo = os.open(fifo, os.O_RDWR)
        # What is expected of each question that is open.
        self.open = {}

    def hear(self, record):
        """A record of the gate's events."""
        if record.get("status") == "waiting_human":
            self.ask(record)
        elif record.get("type") == "policy_result":
            self.settle(record)

    def ask(self, record):
        account, key = self.account, record["call_id"]
        action = self.dice.choices(["approve", "edit", "reject", None], [60, 20, 17, 3])[0]
        with account.lock:
            account.counts["asked"] += 1
            call = account.calls.get(key)
            if call is None or not call.line.held:
                return account.fail(f"a person was asked about what needs none: {record}")
            if key in self.open:
                account.fail(f"a person was asked twice about {key}")
            self.open[key] = action
            edit = {"message": f"edited {call.mark}", "added": 7}
            # Before it is said: from then on it may pass.
            if action == "approve":
                call.agreed = call.line.arguments
            elif action == "edit":
                call.agreed = {**exact(call.line.arguments), **exact(json.dumps(edit))}
        answer = {"type": "hitl_response", "call_id": key, "nonce": record["nonce"], "action": action}
        if action == "edit":
            answer["edited_arguments"] = edit
        threading.Timer(self.dice.choice([0, 0.01, 0.1, 0.5]), self.answer, [answer]).start()
        return None

    def answer(self, answer):
        if self.dice.random() < 0.1:
            wrong = self.dice.choice([
                {**answer, "nonce": "0" * 32, "action": "approve"}, {**answer, "action": "perhaps"}, {**answer, "call_id": "nobody"},
                "no JSON", {"type": "observation"},
            ])
            self.say(wrong if isinstance(wrong, str) else json.dumps(wrong))
        if answer["action"]:
            line = json.dumps(answer)
            self.say(line)
            if self.dice.random() < 0.1:
                # Again, when it is settled.
                time.sleep(0.1)
                self.say(line)

    def say(self, line):
        os.write(self.fifo, line.encode() + b"\n")

    def settle(self, record):
        account, key = self.account, record["call_id"]
        with account.lock:
            if key not in self.open:
                # It waited behind others when it was cancelled, or all ended.
                return
            action = self.open.pop(key)
            call = account.calls.get(key)
            account.counts[f"{record['verdict']} by {record['by']}"] += 1
            if record["by"] == "caller" and call and call.is_cancelled:
                return
            expected = (VERDICTS[action], "answers") if action else ("rejected", "timeout")
            if (record["verdict"], record["by"]) != expected:
                account.fail(f"a question was settled otherwise than it was answered ({expected}): {record}")
