"""godot-bridge: round trips and the tree compared with godot-e2e, a thousand commands at once, and the cost of an idle game."""

import contextlib
import functools
import json
import os
import statistics
import subprocess
import threading
import time

import godot_game
import inputs
from processes import cpu_time, on_all_cores, ping_pong, saying_ready

TRANSPORTS = ("file", "tcp", "unix")
WARM_UPS = 300
ROUND_TRIPS = 5_000
RIVAL_WARM_UPS = 20
RIVAL_ROUND_TRIPS = 200
PIPELINED = 1_000
BURSTS = 15
TREES = 20
# A game needs a moment before it is idle.
SETTLING = 2
IDLE = 10
GET_NODE = {"id": 100_000, "cmd": "get_node", "args": {"path": godot_game.LABEL}}


def needs_godot(measure):
    """A measurement that is skipped, with a message, if there is no engine."""
    @functools.wraps(measure)
    def measured(bench):
        if os.environ.get("PIPEWRIGHT_GODOT"):
            # The game's own data folder.
            os.environ["XDG_DATA_HOME"] = bench.file("user-data")
            with on_all_cores():
                measure(bench)
        else:
            bench.skip("godot-bridge: Godot is not available")
    return measured


def bridge_command(bench, transport):
    return [bench.program("godot-bridge"), "--launch", godot_game.bridged(bench), "--transport", transport]


def warm(bench, transport="file"):
    """A bridge whose game has been answering for a while."""
    bridge = Bridge(bench, transport)
    for _ in range(WARM_UPS):
        bridge.ask("get_node", path=godot_game.LABEL)
    return contextlib.closing(bridge)


class Bridge:
    """godot-bridge with a game, and the pipes to it."""

    def __init__(self, bench, transport):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(bridge_command(bench, transport), **pipes)
        self.game = json.loads(self.ask("hello"))["data"]["pid"]

    def ask(self, command, **arguments):
        """The answer's line."""
        self.process.stdin.write(inputs.line({"id": 1, "cmd": command, "args": arguments}))
        self.process.stdin.flush()
        return self.receive()

    def receive(self):
        answer = self.process.stdout.readline()
        if not answer.startswith(b'{"ok":true'):
            raise OSError(f"godot-bridge answered {answer!r}")
        return answer

    def timed(self, command, **arguments):
        """The answer, and its time in milliseconds."""
        began = time.perf_counter()
        answer = self.ask(command, **arguments)
        return answer, (time.perf_counter() - began) * 1e3

    def burst(self, lines, count):
        """The milliseconds from the first byte of a batch of commands to the last byte of their answers."""
        began = time.perf_counter()
        writer = threading.Thread(target=self.process.stdin.write, args=(lines,))
        writer.start()
        for _ in range(count):
            self.receive()
        took = (time.perf_counter() - began) * 1e3
        writer.join()
        return took

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@needs_godot
def round_trips(bench):
    message = bench.file("get-node.json")
    with open(message, "wb") as file:
        file.write(inputs.line(GET_NODE))
    echo = [bench.example("echo-agent")]
    for transport in TRANSPORTS:
        bridge = saying_ready(bridge_command(bench, transport))
        alone, ours = ping_pong(bench, message, "id", WARM_UPS, ROUND_TRIPS, [echo, bridge])
        what = f"godot-bridge --transport {transport}: round trip of get_node"
        bench.within(f"{what}, median", ours["p50_us"] / 1e3, 0.5, digits=2)
        bench.within(f"{what}, p99", ours["p99_us"] / 1e3, digits=2)
        if transport == "file":
            bench.memory(f"godot-bridge, {ROUND_TRIPS} round trips", ours["peak_kib"])
    bench.note(f"{alone['p50_us'] / 1e3:.3f} ms of godot-bridge's round trips are the pipes and the measuring program: the time of a program"
               " that only echoes.")


@needs_godot
def pipelined(bench):
    """Commands sent without waiting for each answer."""
    lines = b"".join(inputs.line({**GET_NODE, "id": number}) for number in range(PIPELINED))
    for transport in TRANSPORTS:
        with warm(bench, transport) as bridge:
            took = statistics.median(bridge.burst(lines, PIPELINED) for _ in range(BURSTS))
        bench.within(f"godot-bridge --transport {transport}: {PIPELINED} get_node at once", took, 100)


@needs_godot
def tree(bench):
    with warm(bench) as bridge:
        took = statistics.median(bridge.timed("get_tree")[1] for _ in range(TREES))
        whole = bridge.ask("get_tree")
        about = json.loads(whole)["data"]
        bridge.ask("rename", to="Name 7a")
        changes, changes_took = bridge.timed("get_tree", since=about["revision"])
    if len(json.loads(changes)["data"]["changed"]) != 1:
        raise OSError(f"one change is answered with {changes!r}")
    what = f"godot-bridge: get_tree of {about['nodes']} nodes"
    bench.within(what, took, 150)
    bench.within(f"{what}, since one change", changes_took)
    share = len(changes) / len(whole)
    bench.row(f"{what}, since one change: bytes", f"{len(changes)} B", f"all of it {len(whole)} B", f"{share:.1%}", "<= 10%",
              share <= 0.1)


@needs_godot
def beside_godot_e2e(bench):
    """The operations that both support, in the same game: one property, and the tree."""
    python, addon = (os.environ.get(name) for name in ("GODOT_E2E_PYTHON", "GODOT_E2E_ADDON"))
    if not python or not addon:
        return bench.skip("godot-e2e is not available for the comparison")
    project = godot_game.with_godot_e2e(bench, addon)
    counts = map(str, (RIVAL_WARM_UPS, RIVAL_ROUND_TRIPS, TREES))
    client = [python, "-B", os.path.join(os.path.dirname(__file__), "godot_rival.py")]
    command = [*client, os.environ["PIPEWRIGHT_GODOT"], project, godot_game.LABEL, "text", *counts]
    theirs = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    with warm(bench) as bridge:
        reads = [bridge.timed("get_property", path=godot_game.LABEL, property="text")[1] for _ in range(RIVAL_ROUND_TRIPS)]
        walks = [bridge.timed("get_tree")[1] for _ in range(TREES)]
    bench.quicker("godot-bridge: round trip of get_property, median", statistics.median(reads), "godot-e2e", theirs["read_ms"])
    bench.quicker("godot-bridge: get_tree of the same game", statistics.median(walks), "godot-e2e", theirs["tree_ms"])
    bench.note("godot-e2e's tree has the name, class and path of each node; ours also has its contents and actions.")


@needs_godot
def idle(bench):
    """All games at the same time, so a slowdown of the machine affects all of them."""
    with contextlib.ExitStack() as games:
        plain = [os.environ["PIPEWRIGHT_GODOT"], "--headless", "--path", godot_game.plain(bench)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        alone = games.enter_context(subprocess.Popen(plain, **quiet))
        games.callback(alone.terminate)
        bridges = {transport: games.enter_context(warm(bench, transport)) for transport in TRANSPORTS}
        time.sleep(SETTLING)
        processes = {"alone": alone.pid, **{transport: bridge.game for transport, bridge in bridges.items()}}
        before = {name: cpu_time(process) for name, process in processes.items()}
        time.sleep(IDLE)
        used = {name: (cpu_time(process) - before[name]) / IDLE * 100 for name, process in processes.items()}
    for transport in TRANSPORTS:
        added = used[transport] - used["alone"]
        bench.row(f"godot-bridge --transport {transport}: CPU of the idle game", f"{used[transport]:.1f} %",
                  f"without the addon {used['alone']:.1f} %", f"{added:+.1f} points", "<= +1", added <= 1)


MEASUREMENTS = (round_trips, pipelined, tree, beside_godot_e2e, idle)
