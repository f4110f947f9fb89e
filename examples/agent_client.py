"""A client of godot-bridge: commands go to its standard input, answers come from its standard output, one JSON object per line.

    with AgentClient().start("act1_level01") as client:
        client.swap(0, 1)
        print(client.get_state()["arrangement"], client.get_events())
"""

import json
import subprocess
import threading
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent / "godot" / "example"


class AgentError(Exception):
    """A command failed. `code` is the reason: NODE_NOT_FOUND, GAME_CRASHED, ...; BRIDGE_ENDED if the bridge has ended."""

    def __init__(self, code, message, hint=None):
        super().__init__(f"{code}: {message}" + (f" ({hint})" if hint else ""))
        self.code = code


class AgentClient:
    def __init__(self, command=("godot-bridge", "--launch", str(EXAMPLE)), timeout=60):
        """`command` starts the bridge, or a program with the same protocol. It is killed if an answer takes longer than `timeout` seconds."""
        self.command = list(command)
        self.timeout = timeout
        self.events = []
        self.process = None
        self.last_id = 0

    def start(self, level_id=None):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        if level_id is not None:
            self.load_level(level_id)
        return self

    def call(self, command, **arguments):
        """Sends any command, and returns its data. Events that come with the answer are kept for get_events."""
        self.last_id += 1
        # Killing the bridge closes its output, which ends the loop below.
        deadline = threading.Timer(self.timeout, self.process.kill)
        deadline.start()
        try:
            self.process.stdin.write(json.dumps({"cmd": command, "id": self.last_id, "args": arguments}) + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                response = json.loads(line)
                self.events += response.get("events", [])
                if response.get("id") == self.last_id and "ok" in response:
                    break
            else:
                raise EOFError(f"{self.command[0]} has ended")
        except (OSError, EOFError, ValueError) as error:
            raise AgentError("BRIDGE_ENDED", f"no answer to {command}: {error}") from None
        finally:
            deadline.cancel()
        if not response["ok"]:
            raise AgentError(response.get("code"), response.get("error"), response.get("hint"))
        return response.get("data")

    def get_tree(self, **arguments): return self.call("get_tree", **arguments)["tree"]
    def get_state(self): return self.call("get_state")
    def list_actions(self): return self.call("list_actions")["actions"]
    def swap(self, from_id, to_id): return self.call("swap", **{"from": from_id, "to": to_id})
    def submit_permutation(self, mapping): return self.call("submit_permutation", mapping=mapping)
    def press_button(self, path): return self.call("press_button", path=path)
    def reset(self): return self.call("reset")
    def load_level(self, level_id): return self.call("load_level", level_id=level_id)

    def get_events(self):
        """Returns all events since the last call, including those that came with other answers."""
        self.events += self.call("get_events")["events"]
        events, self.events = self.events, []
        return events

    def quit(self):
        """Ends the game and the bridge, also if they hang."""
        if self.process is None:
            return
        try:
            self.call("quit")
        except AgentError as error:
            if error.code == "BRIDGE_ENDED":
                self.process.terminate()
        try:
            self.process.communicate(timeout=self.timeout)
        except (subprocess.TimeoutExpired, OSError, ValueError):
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, *_):
        self.quit()
