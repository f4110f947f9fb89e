"""A small model without eyes, on this machine, works on tasks of MiniWoB++: through agent-loop and browser-bridge, and through its peers.

The results are kept in benches/live/results.jsonl, one line for an episode; a second start plays what is missing. LIVE_TASKS=tuning plays the tasks for
development instead, from the beginning, and keeps nothing.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import urllib.request

import browser_players
import document
from live_pages import Pages
from live_players import Bridge, BrowserUse, Playwright
from processes import on_all_cores

PLACE = pathlib.Path(__file__).resolve().parents[1] / "live"
RESULTS = PLACE / "results.jsonl"
EPISODE_SECONDS = 300
GOAL = 24


def tasks():
    return tomllib.loads((PLACE / "tasks.toml").read_text())


def results():
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


@contextlib.contextmanager
def model_server():
    """The address of a server with the model."""
    process = subprocess.Popen([os.environ["LIVE_SERVER"], "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise OSError("the server of the model has not started")
        wait_until(lambda: ask(f"{address}/health") == {"status": "ok"}, 120, "the server has not loaded its model")
        yield address
    finally:
        process.terminate()
        process.wait()


def ask(url):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return json.load(answer)
    except OSError:
        return None


def wait_until(condition, seconds, why):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise OSError(why)
        time.sleep(0.1)


def goal_of(pages, task):
    """What the page asks for. The seed makes it the same each time."""
    chromium = [shutil.which(browser_players.CHROMIUM), "--headless=new", "--dump-dom", *["--no-sandbox"] * browser_players.IS_ROOT]
    subprocess.run([*chromium, pages.begin(task)], capture_output=True, check=True, timeout=60)
    return pages.goal()


def play(player, pages, server, task):
    """One episode; returns its result."""
    goal = goal_of(pages, task)
    url = pages.begin(task)
    began = time.monotonic()
    with player.play(task, url, goal) as process:
        try:
            why = pages.follow(process, EPISODE_SECONDS)
            seconds = time.monotonic() - began
        finally:
            process.terminate()
            process.wait()
    if pages.goals[:1] != [goal]:
        raise OSError(f"{player.name}: {task}: the page did not open with the same goal: {pages.goals}")
    # The next episode would wait for what this one has left.
    wait_until(lambda: not any(slot["is_processing"] for slot in ask(f"{server}/slots") or []), 120, "the server does not stop to generate")
    account = player.account(task)
    conditions = {"threads": int(os.environ.get("LLAMA_THREADS", 2)), "load": round(os.getloadavg()[0], 1), "commit": document.commit()}
    return {"player": player.name, "task": task, "result": why, **account, "seconds": round(seconds, 1), "goal": goal, **conditions}


def session(bench):
    """Plays what is missing."""
    # What it has started ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    html, home = os.environ["LIVE_PAGES"], os.environ["LIVE_HOME"]
    is_tuning = os.environ.get("LIVE_TASKS") == "tuning"
    done = set() if is_tuning else {(one["player"], one["task"]) for one in results()}
    chosen = tasks()
    with on_all_cores(), model_server() as address, Pages(html) as pages:
        server = f"{address}/v1"
        names = {player.name: player(bench, server, os.path.join(home, "tuning" if is_tuning else "measured")) for player in (Bridge, Playwright, BrowserUse)}
        bridge = names[Bridge.name]
        wanted = [(bridge, chosen["tuning"])] if is_tuning else [(player, chosen["measured" if player is bridge else "peers"]) for player in names.values()]
        for player, task in ((player, task) for player, each in wanted for task in each if (player.name, task) not in done):
            if player.name == BrowserUse.name and not os.environ.get("BROWSER_USE_PYTHON"):
                continue
            result = play(player, pages, address, task)
            print(json.dumps({key: result[key] for key in ("player", "task", "result", "steps", "input", "output", "seconds")}), flush=True)
            if not is_tuning:
                with open(RESULTS, "a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")


def total(of, *keys):
    return sum(one[key] for one in of for key in keys)


def solved(of):
    return sum(one["result"] == "solved" for one in of)


def conditions(of):
    """On what kind of a machine the results came about."""
    threads, load = {one["threads"] for one in of}, [one["load"] for one in of]
    return (f"The server had {' or '.join(map(str, sorted(threads)))} threads, on a machine with a load average of {min(load)} to {max(load)}:"
            " seconds do not carry over to an idle machine, on which fewer episodes would end by the clock.")


def report(bench):
    """The rows, from the results so far."""
    of = {}
    for one in results():
        of.setdefault(one["player"], {})[one["task"]] = one
    ours = of.pop(Bridge.name, {})
    own, measured = list(ours.values()), len(tasks()["measured"])
    if not own:
        return
    won = solved(own)
    bench.row(f"MiniWoB++, {len(own)} tasks: solved", f"{won}", "", f"{won / len(own):.0%}", f">= {GOAL} of {measured}", won >= GOAL)
    for what, keys in (("turns of the model", ("steps",)), ("tokens in", ("input",)), ("tokens out", ("output",)), ("seconds", ("seconds",))):
        bench.row(f"MiniWoB++, {len(own)} tasks: {what} a task", f"{total(own, *keys) / len(own):.1f}", "", "")
    for name, theirs in of.items():
        both = [task for task in theirs if task in ours]
        we, they = [ours[task] for task in both], [theirs[task] for task in both]
        if not both:
            continue
        what = f"MiniWoB++, {len(both)} tasks"
        bench.row(f"{what}: solved", f"{solved(we)}", f"{name} {solved(they)}", "", "more", solved(we) > solved(they), solved(we) < solved(they))
        for part, keys, goal in (("turns of the model", ("steps",), None), ("tokens in and out", ("input", "output"), 0.5), ("seconds", ("seconds",), None)):
            us, them = total(we, *keys) / len(both), total(they, *keys) / len(both)
            ratio = us / them if them else 1
            bench.row(f"{what}: {part} a task", f"{us:.1f}", f"{name} {them:.1f}", f"{ratio:.2f} x", f"<= {goal} x" if goal else "",
                      ratio <= goal if goal else None, ratio > 1)
    missing = [f"{len(tasks()['peers']) - len(of.get(peer.name, {}))} of {peer.name}" for peer in (Playwright, BrowserUse)]
    missing = [f"{measured - len(own)} of browser-bridge", *missing]
    missing = [one for one in missing if not one.startswith("0 ")]
    bench.note("A task is solved if the page itself gives the reward 1. An episode has at most 6 turns of the model (and, in browser-bridge, one in"
               " which it only plans) and 5 minutes; it ends with the page's reward. Tokens are as the server counts them, without the turn that was under way at the end. All players have the same server, and none can"
               f" leave the page. {conditions(results())}")
    if missing:
        bench.note(f"Episodes that were not played: {', '.join(missing)}.")


MEASUREMENTS = (session, report)
