"""mcp-pipe, with a third-party server: its calls compared with those of a bare loop and of other programs, and its memory."""

import contextlib
import functools
import os
import statistics
import subprocess
import time
from collections import namedtuple

import inputs
import mcp_rivals
from bench import MIB
from processes import TRIES, on_all_cores, peak_of, ping_pong, report_of, run, saying_ready, turns

WARM_UPS = 1_000
ROUND_TRIPS = 5_000
JOBS = 32
CALLS = 20_000
CALLS_BESIDE_PEERS = 5_000
FEW, MANY = 1_000, 10_000
MORE_TRIES = 7

# Milliseconds until the first byte of the answer, and until the command had ended.
Once = namedtuple("Once", "answered ended")


def needs_server(measure):
    """A measurement that is skipped, with a message, if there is no server."""
    @functools.wraps(measure)
    def measured(bench):
        folder, node = os.environ.get("MCP_SERVERS"), mcp_rivals.node()
        if not folder or not node:
            return bench.skip("mcp-pipe: Node and its server are not available")
        server = os.path.realpath(os.path.join(folder, "node_modules", ".bin", "mcp-server-everything"))
        with mcp_rivals.at_home(bench):
            measure(bench, [node, server])
    return measured


def mcp_pipe(bench, server, jobs=1):
    return [bench.program("mcp-pipe"), "-j", str(jobs), "--", *server]


def bare_client(bench, server, calls, jobs=1, warm_ups=0):
    return [bench.example("mcp-client"), str(warm_ups), str(calls), str(jobs), *server]


def calls(bench, count):
    path = bench.file(f"{count}-calls.jsonl")
    if not os.path.exists(path):
        call = {"tool": "echo", "args": {"message": "hi"}}
        inputs.repeat([inputs.line({**call, "id": 100_000 + number}) for number in range(count)], 0, path)
    return path


@needs_server
def round_trips(bench, server):
    """The best of both sides: the server's own pauses are longer than the added time."""
    message, ours = calls(bench, 1), saying_ready(mcp_pipe(bench, server))
    bare = bare_client(bench, server, ROUND_TRIPS, warm_ups=WARM_UPS)
    tries = turns({
        "ours": lambda: ping_pong(bench, message, "id", WARM_UPS, ROUND_TRIPS, [ours])[0],
        "bare": lambda: report_of(bare),
    })
    for key, name, goal in (("p50_us", "median", 40), ("p99_us", "p99", None)):
        best = {player: min(report[key] for report in reports) for player, reports in tries.items()}
        bench.added(f"mcp-pipe: echo in a warm session, {name}", best["ours"], "bare client", best["bare"], "us", goal)


@needs_server
def pipelined(bench, server):
    source, ours = calls(bench, CALLS), mcp_pipe(bench, server, JOBS)
    bare = bare_client(bench, server, CALLS, JOBS)
    with on_all_cores():
        best = best_rates({
            "ours": lambda: CALLS / run(ours, source).wall,
            "bare": lambda: CALLS / run(bare).wall,
            "ours, within": lambda: rate_within(ours, source),
            "bare, within": lambda: (CALLS - 1) / report_of(bare)["seconds"],
        })
    what = f"mcp-pipe -j {JOBS}, {CALLS} calls"
    bench.rate(f"{what}, with start and end", best["ours"], "bare client", best["bare"], goal=0.9, floor=True)
    bench.rate(f"{what}, first answer to last", best["ours, within"], "bare client", best["bare, within"], goal=0.9, floor=True)
    bench.note("mcp-pipe's calls per second, its cold calls and its peers are measured on all cores. \"With start and end\" includes"
               " the server's, on both sides.")


def best_rates(acts, tries=TRIES):
    return {name: max(rates) for name, rates in turns(acts, tries).items()}


def rate_within(command, source):
    """Answers per second, without the time for start and end."""
    first, answers = None, 0
    with open(source, "rb") as stdin, started(command, stdin) as process:
        while said := os.read(process.stdout.fileno(), 1 << 16):
            last = time.perf_counter()
            if first is None:
                first = last
            else:
                answers += said.count(b"\n")
    return answers / (last - first)


@contextlib.contextmanager
def started(command, stdin):
    with subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield process
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)


@needs_server
def cold(bench, server):
    with on_all_cores():
        rivals = {name: command for name, command in mcp_rivals.one_shots(server).items()
                  if mcp_rivals.works(bench, name, command)}
        commands = {"ours": mcp_pipe(bench, server), "bare client": bare_client(bench, server, 1), **rivals}
        tries = turns({name: functools.partial(call_once, command, calls(bench, 1)) for name, command in commands.items()},
                      MORE_TRIES)
    for until, best, name, goal in (("ended", min, "best", 0.6), ("ended", statistics.median, "median", 0.6),
                                    ("answered", statistics.median, "until the answer, median", None)):
        took = {who: best(getattr(once, until) for once in tried) for who, tried in tries.items()}
        for rival in rivals:
            bench.share(f"mcp-pipe: one cold call, {name}", took["ours"], rival, took[rival], goal)
        if until == "ended":
            bench.added(f"mcp-pipe: one cold call, {name}", took["ours"], "bare client", took["bare client"], "ms")


def call_once(command, source):
    began = time.perf_counter()
    with open(source, "rb") as stdin, started(command, stdin) as process:
        os.read(process.stdout.fileno(), 1)
        answered = time.perf_counter()
        process.stdout.read()
    ended = time.perf_counter()
    return Once((answered - began) * 1e3, (ended - began) * 1e3)


@needs_server
def beside_warm_peers(bench, server):
    """Tools that keep a session between commands still start a command for each call."""
    source = calls(bench, CALLS_BESIDE_PEERS)
    with on_all_cores(), contextlib.ExitStack() as stack:
        peers = {name: lambda call=keeper.call: 1 / run(call).wall for name, keeper in mcp_rivals.keepers(bench, server).items()
                 if stack.enter_context(mcp_rivals.kept(bench, name, keeper))}
        if not peers:
            return
        ours = {jobs: functools.partial(rate_within, mcp_pipe(bench, server, jobs), source) for jobs in (1, JOBS)}
        best = best_rates({**ours, **peers}, MORE_TRIES)
    quickest = max(peers, key=best.get)
    for jobs in ours:
        bench.rate(f"mcp-pipe -j {jobs}: calls within a session", best[jobs], quickest, best[quickest], goal=100)
    took = ", ".join(f"{name} {1 / best[name]:.2f} s" for name in peers)
    bench.note(f"The best time of a call with tools that keep a session between commands: {took}.")


@needs_server
def memory(bench, server):
    for jobs in (1, JOBS):
        few, many = (peak_of(mcp_pipe(bench, server, jobs), calls(bench, count)) for count in (FEW, MANY))
        what = f"mcp-pipe -j {jobs}, {MANY} calls"
        bench.memory(what, many)
        bench.added(f"{what}: peak memory", many / MIB, f"after {FEW}", few / MIB, "MiB", goal=1, digits=1)


MEASUREMENTS = (round_trips, pipelined, cold, beside_warm_peers, memory)
