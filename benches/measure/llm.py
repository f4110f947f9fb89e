"""llm-pipe, with a server that answers at once: the time it adds to a request and to a token, its batches, and its memory."""

import contextlib
import os
import subprocess

import inputs
import llm_rivals
from bench import MIB
from processes import TRIES, on_all_cores, peak_of, ping_pong, report_of, run, saying_ready, turns

WARM_UPS = 500
REQUESTS = 5_000
TOKENS = 500
JOBS = 64
BATCH = 1_000
FEW, MANY = 10_000, 100_000


def llm_pipe(bench, url, *options):
    return [bench.program("llm-pipe"), "--model", "vllm/m", "--base-url", url, *options]


def prompts(bench, count):
    path = bench.file(f"{count}-prompts.jsonl")
    if not os.path.exists(path):
        inputs.repeat([inputs.line({"prompt": "hi", "id": 100_000 + number}) for number in range(count)], 0, path)
    return path


@contextlib.contextmanager
def serving(bench):
    """The base URL of a server of Chat Completions."""
    with subprocess.Popen([bench.example("model"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        yield server.stdout.readline().decode().strip()
        server.stdin.close()


def requests(bench):
    with serving(bench) as url:
        ours = saying_ready(llm_pipe(bench, url))
        tries = turns({
            "ours": lambda: ping_pong(bench, prompts(bench, 1), "id", WARM_UPS, REQUESTS, [ours])[0],
            "bare": lambda: report_of([bench.example("model"), "ask", url, str(WARM_UPS), str(REQUESTS)]),
        })
    for key, name, goal in (("p50_us", "median", 150), ("p99_us", "p99", None)):
        best = {player: min(report[key] for report in reports) for player, reports in tries.items()}
        bench.added(f"llm-pipe: a request, {name}", best["ours"], "bare client", best["bare"], "us", goal)
    bench.note("The bare client uses the same HTTP library, sends the same bytes, and reads the events without parsing them.")


def first_token(bench):
    command = [bench.example("model"), "first-token", str(WARM_UPS), str(TOKENS), *llm_pipe(bench, "{url}", "--stream")]
    with on_all_cores():
        reports = turns({"ours": lambda: report_of(command)})["ours"]
    for key, name, goal in (("p50_us", "median", 1), ("p99_us", "p99", None)):
        took = min(report[key] for report in reports) / 1e3
        bench.within(f"llm-pipe --stream: from the server's write of a token to its line, {name}", took, goal, digits=3)


def batches(bench):
    with serving(bench) as url, on_all_cores():
        rivals = llm_rivals.rivals(bench, url)
        ours = llm_pipe(bench, url, "-j", str(JOBS))
        source = prompts(bench, BATCH)
        run(ours, source)
        acts = {"ours": lambda: BATCH / run(ours, source).wall}
        for name, rival in rivals.items():
            acts[name] = lambda rival=rival: rival.requests / run(rival.command).wall
        rates = {name: max(tried) for name, tried in turns(acts, TRIES).items()}
    for name in rivals:
        bench.rate(f"llm-pipe -j {JOBS}: {BATCH} requests, start and end included", rates["ours"], name, rates[name], goal=10)


def memory(bench):
    with serving(bench) as url, on_all_cores():
        few, many = (peak_of(llm_pipe(bench, url, "-j", str(JOBS)), prompts(bench, count)) for count in (FEW, MANY))
    what = f"llm-pipe -j {JOBS}, {MANY} requests"
    bench.memory(what, many)
    bench.added(f"{what}: peak memory", many / MIB, f"after {FEW}", few / MIB, "MiB", goal=1, digits=1)


MEASUREMENTS = (requests, first_token, batches, memory)
