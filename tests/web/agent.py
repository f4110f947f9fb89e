#!/usr/bin/env python3
"""A scripted agent for the tests of the page: writes session records, and makes its calls through the real gates.

agent.py [session=ID]   a user_message `NAME` plays the scenario of this name
agent.py --world        the world below the gate: answers each call with its arguments
"""
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import zlib

RULES = """
[[rule]]
id = "test.send"
verdict = "confirm"
tool = "send*"
"""


def show(record):
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def emit(type, **fields):
    show({"type": type, **fields})


def png(width, height):
    """A picture of grey and blue stripes."""
    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
    row = b"\0" + b"".join(bytes((90, 120, 200) if x // 20 % 2 else (230, 230, 230)) for x in range(width))
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row * height)) + chunk(b"IEND", b"")


def world():
    for line in sys.stdin:
        call = json.loads(line)
        if call.get("type") == "tool_call":
            emit("tool_result", call_id=call.get("call_id"), status="ok", result={"sent": call.get("arguments")}, duration_ms=3)


class Cancelled(Exception):
    pass


class Agent:
    def __init__(self):
        self.inbox = queue.Queue()
        self.calls = 0
        self.gate = None
        threading.Thread(target=self.read, args=(sys.stdin,), daemon=True).start()

    def read(self, stream):
        for line in stream:
            self.inbox.put(json.loads(line))
        if stream is sys.stdin:
            os._exit(0)

    def start_gate(self):
        rules = tempfile.NamedTemporaryFile("w", suffix=".toml")
        rules.write(RULES)
        rules.flush()
        self.rules = rules
        command = ["policy-check", "--confirm", "mark", "--rules", rules.name, "--", "hitl-gate", "--",
                   sys.executable, os.path.abspath(__file__), "--world"]
        self.gate = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        threading.Thread(target=self.read, args=(self.gate.stdout,), daemon=True).start()

    def wait(self, kind):
        """The next record of this type; other records from below the gate are passed on."""
        while True:
            record = self.inbox.get()
            if record["type"] == "cancel":
                raise Cancelled
            if record["type"] == kind:
                return record
            if record.get("content") == "exit":
                self.play_exit("")
            if record["type"] == "status":
                show(record)

    def call(self, tool, arguments, **fields):
        """Makes a call through the gates."""
        if self.gate is None:
            self.start_gate()
        self.calls += 1
        record = {"type": "tool_call", "call_id": f"c{self.calls}", "tool_name": tool, "arguments": arguments, **fields}
        show(record)
        self.gate.stdin.write(json.dumps(record) + "\n")
        try:
            result = self.wait("tool_result")
        except Cancelled:
            self.gate.stdin.write(json.dumps({"type": "cancel", "call_id": record["call_id"]}) + "\n")
            show(self.wait("tool_result"))
            raise
        show(result)
        return result

    def run(self):
        emit("status", status="idle")
        while True:
            message = self.inbox.get()
            if message["type"] != "user_message":
                continue
            name, _, rest = message["content"].partition(" ")
            scenario = getattr(self, f"play_{name}", self.play_echo)
            emit("status", status="running", current_goal=message["content"][:200])
            try:
                scenario(rest)
                emit("final", outcome="done", content="", usage={"input": 2034, "output": 61, "cost": 0.0102}, steps=3, denied=0, exit_status=0)
            except Cancelled:
                emit("final", outcome="cancelled", content="The person stopped it.", usage={}, steps=1, denied=0, exit_status=0)
            emit("status", status="idle")

    # Scenarios

    def say(self, text, kind="answer", **fields):
        emit("assistant_message", token=text, is_final=True, kind=kind, **fields)

    def play_echo(self, rest):
        self.say(f"You said: {rest}")

    def play_whole(self, _):
        steps = [{"id": str(number), "desc": desc, "status": "pending"} for number, desc in
                 enumerate(["Find the kettle", "Put it into the cart", "Send the order"], 1)]
        steps[0]["status"] = "running"
        emit("plan_update", plan_id="p", steps=steps, current_step="1")
        emit("agent_chain_update", chain_id="k", current_agent="buyer", agents=[
            {"agent_id": "finder", "role": "search", "status": "done"}, {"agent_id": "buyer", "role": "buy", "status": "running"}])
        emit("assistant_message", token="I should look at the shop first.", is_final=True, kind="thought")
        for token in ["I look ", "for the ", "kettle."]:
            emit("assistant_message", token=token, is_final=False, kind="progress", request_id="m1")
            time.sleep(0.1)
        self.say("I look for the kettle.", "progress")
        path = os.path.join(tempfile.gettempdir(), f"page-test-{os.getpid()}.png")
        with open(path, "wb") as file:
            file.write(png(320, 200))
        emit("tool_call", call_id="s1", tool_name="browser_take_screenshot", arguments={}, target={"role": "page", "name": "Shop"})
        emit("tool_result", call_id="s1", status="ok", result={"path": path}, duration_ms=412)
        emit("tool_call", call_id="s2", tool_name="browser_click", arguments={"ref": "e9"})
        emit("tool_result", call_id="s2", status="error", error="e9 is not on the page any more", kind="not_found", duration_ms=1250)
        emit("observation", source="mcp", data={"event": "progress", "data": {"progress": 1, "total": 2}})
        emit("something_new", value=[1, 2, 3])
        emit("plan_progress", plan_id="p", step_id="1", status="done", result="It costs 19.90.")
        steps[0]["status"], steps[1]["status"] = "done", "running"
        emit("plan_update", plan_id="p", steps=steps, current_step="2")
        self.call("send_order", {"item": "kettle", "count": 1, "number": 12345678901234567890},
                  target={"role": "button", "name": "Order now", "context": "Total 19.90"})
        self.say("The kettle is ordered.")

    def play_send(self, rest):
        arguments = json.loads(rest) if rest else {"to": "kim@example.org", "text": "Hello"}
        result = self.call("send_mail", arguments, target={"role": "button", "name": "Send"})
        self.say(f"Result: {json.dumps(result.get('result') or result.get('kind'))}")

    def play_sends(self, rest):
        for number in range(int(rest)):
            self.call("send_mail", {"number": number})

    def play_question(self, _):
        self.say("Which colour?", "question", question={"question": "Which colour?", "options": ["red", "blue"]})
        emit("status", status="waiting_user", pending_kind="question")
        answer = self.wait("user_message")["content"]
        emit("status", status="running")
        self.say(f"It is {answer}.")

    def play_manual(self, _):
        self.say("Please log in at the shop.", "question")
        emit("status", status="waiting_user", pending_kind="manual")
        answer = self.wait("user_message")["content"]
        emit("status", status="running")
        self.say(f"You wrote: {answer}.")

    def play_input(self, _):
        emit("input_request", request_id="q1", source="mcp", tool="order", method="elicitation/create", epoch=0, params={
            "message": "How shall it be sent?", "requestedSchema": {"type": "object", "required": ["count"], "properties": {
                "count": {"type": "integer", "title": "How many"}, "note": {"type": "string", "description": "for the sender"},
                "speed": {"type": "string", "enum": ["slow", "fast"]}, "gift": {"type": "boolean"}}}})
        answer = self.wait("input_response")
        self.say(f"Answer: {json.dumps(answer.get('content'), sort_keys=True)}")

    def play_stream(self, rest):
        for number in range(int(rest or 20)):
            emit("assistant_message", token=f"word{number} ", is_final=False, kind="answer", request_id="m2")
            time.sleep(0.1)
        self.say("".join(f"word{number} " for number in range(int(rest or 20))).strip())

    def play_restarted(self, _):
        emit("assistant_message", token="This is void.", is_final=False, kind="answer", request_id="m3")
        emit("assistant_message", token="", is_final=False, kind="progress", request_id="m3", restarted=True)
        emit("assistant_message", token="This counts.", is_final=False, kind="answer", request_id="m3")
        self.say("This counts.")

    def play_many(self, rest):
        for number in range(int(rest)):
            emit("assistant_message", token=f"entry {number}", is_final=True, kind="answer")

    def play_wait(self, _):
        self.wait("user_message")

    def play_exit(self, rest):
        sys.stdout.flush()
        os._exit(int(rest or 0))

    def play_hostile(self, _):
        html = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
        steering = "pay\u202eknab\u202c \x1b[31mred\x1b[0m \u200bhidden"
        self.say(f"{html} {steering}")
        emit("user_message", content=html)
        emit("plan_update", plan_id=html, steps=[{"id": "1", "desc": html + steering, "status": "<b>"}], current_step="1")
        emit("agent_chain_update", chain_id="k", agents=[{"agent_id": html, "role": steering, "status": "constructor"}])
        emit("tool_call", call_id={"__proto__": 1}, tool_name=html + steering, arguments={"__proto__": html, "a": steering})
        picture = {"type": "image", "mimeType": "image/svg+xml", "data": "AAAA"}
        emit("tool_result", call_id={"__proto__": 1}, status="ok", result={"content": [picture]})
        emit("tool_result", call_id=7, status="error", error=html, kind=html)
        emit("tool_call", call_id=None, tool_name=7, arguments="text")
        emit("error", content=html, context=[])
        emit("constructor", a=1)
        emit("__proto__", a=html)
        emit("assistant_message", token=None, is_final=True, kind="question", question={"options": [html, 7, None]})
        emit("final", outcome="toString", content=html, usage={"input": "x"}, steps=[], denied=None, exit_status=0)
        emit("status", status="running", pending_kind=html)
        emit("input_request", request_id="h", source=html, method=html, params={"message": html + steering, "requestedSchema": {
            "properties": {html: {"type": "string"}, "__proto__": {"enum": [html]}}}}, epoch=0)
        self.wait("input_response")
        arguments = {"to": steering, "html": html, "blanks": "a" + " " * 300 + "b",
                     "long": "x" * 500_000 + "MIDDLE" + "y" * 500_000 + "END"}
        self.call("send_mail", arguments, target={"role": "button", "name": steering + html})


if __name__ == "__main__":
    world() if sys.argv[1:] == ["--world"] else Agent().run()
