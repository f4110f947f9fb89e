#!/usr/bin/env python3
"""Plays tasks of MiniWoB++ in a browser, using the tools of browser-bridge: play.py [--seeds N] [--task NAME]... HTML BROWSER-BRIDGE

HTML is the folder printed by scripts/install-miniwob. It is served on this machine, and browser-bridge is allowed to open it. Each task
is played once per seed. browser_evaluate starts it and reads its question and reward; the players do not use that tool. Prints a line for
each lost episode, and a summary; exits 1 if an episode was lost, or a task has neither a player nor a reason in eyes.toml.
"""

import argparse
import functools
import http.server
import sys
import threading
import tomllib
from pathlib import Path

import cards  # noqa: F401 (players)
import clicks  # noqa: F401
import fields  # noqa: F401
import forms  # noqa: F401
import mail  # noqa: F401
import widgets  # noqa: F401
import words  # noqa: F401
from page import PLAYERS, CallFailed, Page, World

# In milliseconds. A busy machine is slow.
LONGEST = 60_000


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    """The address of this folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def evaluate(world, script):
    return world.call("browser_evaluate", script=script)["value"]


def play(world, address, task, seed):
    """Plays a task once. Returns None if it was solved, else the reason."""
    world.call("browser_navigate", url=f"{address}/miniwob/{task}.html")
    seeded = f"Math.seedrandom('{task} {seed}'); core.EPISODE_MAX_TIME = {LONGEST}"
    asked = evaluate(world, f"{seeded}; core.startEpisodeReal(); core.getUtterance()")
    why = "it was not finished"
    try:
        PLAYERS[task](Page(world), asked)
    except CallFailed as error:
        why = str(error)
    except (LookupError, ValueError, TypeError, StopIteration) as error:
        why = f"the player: {error!r}"
    reward = evaluate(world, "WOB_RAW_REWARD_GLOBAL")
    return None if reward >= 0.99 else f"{asked!r}: {why}; worth {reward}"


def without_reason(folder):
    """The tasks that have neither a player nor a reason in eyes.toml, or both, or that are not in this folder."""
    tasks = {page.stem for page in Path(folder, "miniwob").glob("*.html")}
    reasons = tomllib.loads(Path(__file__).with_name("eyes.toml").read_text())
    unsolved = [task for section in reasons.values() for task in section]
    return sorted(tasks.symmetric_difference([*PLAYERS, *unsolved]) | PLAYERS.keys() & set(unsolved))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--task", action="append", choices=sorted(PLAYERS), metavar="NAME")
    parser.add_argument("html")
    parser.add_argument("browser_bridge")
    arguments = parser.parse_args()
    address = serve(arguments.html)
    world = World([arguments.browser_bridge, "--headless", "--allow-evaluate", "--allow-origin", address])
    tasks = arguments.task or sorted(PLAYERS)
    lost = 0
    for task in without_reason(arguments.html):
        lost += 1
        print(f"{task}: give it a player, or a reason in eyes.toml, but not both")
    for task in tasks:
        for seed in range(arguments.seeds):
            why = play(world, address, task, seed)
            if why:
                lost += 1
                print(f"{task} {seed}: {why}", flush=True)
    print(f"{len(tasks)} tasks, {len(tasks) * arguments.seeds} episodes, {lost} lost, {world.calls} calls")
    sys.exit(1 if world.end() or lost else 0)


if __name__ == "__main__":
    main()
