"""browser-bridge as a process, with a page of MiniWoB++, and one player for each task."""

import json
import re
import subprocess
from collections import namedtuple

# A task's name, and the function that plays it, which gets a Page and the task's question.
PLAYERS = {}

Item = namedtuple("Item", "index role marks name")


def player(*tasks):
    """The function below plays these tasks."""

    def add(play):
        PLAYERS.update(dict.fromkeys(tasks, play))
        return play

    return add


def quoted(text):
    return re.search(r'"(.*)"', text)[1]


class CallFailed(Exception):
    """A call that failed."""

    def __init__(self, call, answer):
        super().__init__(f"{call['tool']} {json.dumps(call['args'])}: {answer.get('kind')}: {answer.get('error')}")


class World:
    """A child process that carries out calls, one per line."""

    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.calls = 0

    def call(self, tool, **arguments):
        self.calls += 1
        call = {"tool": tool, "args": arguments, "id": self.calls}
        self.child.stdin.write(json.dumps(call) + "\n")
        self.child.stdin.flush()
        answer = {}
        while answer.get("id") != self.calls:
            line = self.child.stdout.readline()
            if not line:
                raise EOFError(f"the child process has ended: {call}")
            answer = json.loads(line)
        if answer["status"] != "ok":
            raise CallFailed(call, answer)
        return answer["data"]

    def end(self):
        self.child.stdin.close()
        return self.child.wait()


class Page:
    """The player's view: lists, texts and actions of browser-bridge, but not the page's own structure."""

    def __init__(self, world):
        self.call = world.call

    def items(self, role=None, name=None):
        """The elements of the page, in order; only those with this role and name, if given."""
        listed = self.call("browser_list_interactives", scope="page", limit=500)["items"]
        found = [Item(*read(line)) for line in listed]
        return [one for one in found if role in (None, one.role) and name in (None, one.name)]

    def boxes(self, role):
        """The elements with this role, including their positions."""
        listed = self.call("browser_list_interactives", scope="page", limit=500, view="full")["items"]
        return [one for one in listed if one["role"] == role]

    def one(self, role=None, name=None):
        found = self.items(role, name)
        if not found:
            raise LookupError(f"the list has no {role or 'element'} {name or ''}: {self.items()}")
        return found[0]

    def near(self, role, place, name=""):
        """The first element with this role and name, in the row or part of the page that has this text (a pattern)."""
        there = re.compile(rf'{re.escape(name)} *\((row|in) ".*({place})')
        return next(one for one in self.items(role) if there.match(one.name))

    def copy(self, source, answer):
        """Copies the content of one field into another; both are from `boxes`."""
        self.call("browser_press", key="Control+a", id=source["id"])
        self.press("Control+c")
        self.call("browser_press", key="Control+v", id=answer["id"])

    def text(self):
        return self.call("browser_extract", mode="text")["text"]

    def act(self, action, item, **arguments):
        return self.call("browser_overlay_act", index=item.index, action=action, **arguments)

    def click(self, role=None, name=None):
        return self.act("click", self.one(role, name))

    def type(self, text, role="textbox", at=0):
        """Types into the nth field with this role."""
        return self.act("type", self.items(role)[at], text=text)

    def press(self, key, item=None):
        return self.call("browser_press", key=key, **({"id": str(item.index)} if item else {}))

    def drag(self, item, onto):
        return self.call("browser_drag", **{"from": item.index, "to": onto.index})

    def drag_by(self, by_x, by_y, **start):
        """Drags what is at `start` (from, x, y) to the right and down."""
        return self.call("browser_drag", by_x=by_x, by_y=by_y, **start)

    def wait(self, milliseconds):
        return self.call("browser_wait", ms=milliseconds)

    def wait_for(self, text):
        """Waits until the page shows it."""
        return self.call("browser_wait", text=text, timeout_ms=5000)

    def until(self, condition):
        """The first answer of this function that is something."""
        for _ in range(100):
            found = condition()
            if found:
                return found
            self.wait(50)
        raise LookupError("what was waited for did not come")

    def submit(self):
        return self.click("button", "Submit")


def read(line):
    """An item of a compact list: `7 button(disabled) Pay now`."""
    number, _, rest = line.partition(" ")
    kind, _, name = rest.partition(" ")
    role, _, marks = kind.rstrip(")").partition("(")
    return int(number), role, marks.split(",") if marks else [], name
