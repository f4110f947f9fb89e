#!/usr/bin/env python3
"""Plays the Triangle Vault until all symmetries are found, using only list_actions and get_tree.

    play_vault.py [COMMAND...]

COMMAND starts the world; by default it is godot-bridge with the example game:

    play_vault.py jsonl-record --child world vault.jsonl -- godot-bridge --launch godot/example
    play_vault.py replay --as world vault.jsonl

It sends the same commands each time, and reports its progress on standard error. Ends with 0 when the vault is open, else with 1.
"""

import re
import sys
from collections import deque

from agent_client import AgentClient, AgentError


def say(text):
    print(text, file=sys.stderr, flush=True)


def nodes(tree):
    yield tree
    for child in tree.get("children", []):
        yield from nodes(child)


class Player:
    """Walks through all arrangements by swaps. An arrangement has the position of each crystal. When a swap shows a symmetry (the counter
    rises, or the crystals jump back), the game itself restores the initial arrangement."""

    def __init__(self, client):
        self.client = client
        self.swaps = [action for action in client.list_actions() if action["cmd"] == "swap"]
        self.look()
        # For each arrangement tried so far, the one that followed: itself, or the initial one.
        self.outcome = {}
        say(f"crystals {' '.join(self.labels.values())}, {len(self.swaps)} swaps, {self.counter!r}")

    def look(self):
        """Reads from the tree what a person reads from the screen."""
        found = list(nodes(self.client.get_tree()))
        crystals = sorted((node for node in found if "swap_to" in node.get("actions", [])), key=lambda node: node["crystal_id"])
        self.ids = [crystal["crystal_id"] for crystal in crystals]
        self.labels = {crystal["crystal_id"]: crystal["label"] for crystal in crystals}
        self.arrangement = tuple(tuple(crystal["position"]) for crystal in crystals)
        self.counter = next(node["text"] for node in found if node["name"] == "CounterLabel")

    def is_complete(self):
        found, total = map(int, re.findall(r"\d+", self.counter))
        return found == total

    def swapped(self, arrangement, swap):
        first, second = (self.ids.index(swap["args"][end]) for end in ("from", "to"))
        places = list(arrangement)
        places[first], places[second] = places[second], places[first]
        return tuple(places)

    def way_to_something_new(self):
        """The shortest sequence of swaps to an arrangement that was not tried yet, or None if there is none."""
        ways = {self.arrangement: []}
        queue = deque(ways)
        while queue:
            here = queue.popleft()
            for swap in self.swaps:
                there = self.swapped(here, swap)
                if there not in self.outcome:
                    return ways[here] + [swap]
                there = self.outcome[there]
                if there not in ways:
                    ways[there] = ways[here] + [swap]
                    queue.append(there)
        return None

    def do(self, swap):
        tried = self.swapped(self.arrangement, swap)
        counter = self.counter
        self.client.call(swap["cmd"], **swap["args"])
        self.look()
        self.outcome[tried] = self.arrangement
        names = [self.labels[swap["args"][end]] for end in ("from", "to")]
        say(f"swap {' '.join(names)}" + (f": {self.counter}" if self.counter != counter else ""))

    def play(self):
        while not self.is_complete():
            way = self.way_to_something_new()
            if way is None:
                return say("nothing is left to try")
            for swap in way:
                self.do(swap)


def main(command):
    try:
        with AgentClient(command) if command else AgentClient() as client:
            player = Player(client)
            player.play()
            completed = any(event["type"] == "completed" for event in client.get_events())
    except (AgentError, OSError) as error:
        say(f"play_vault: {error}")
        return 1
    if not (completed and player.is_complete()):
        say(f"play_vault: the vault stays shut: {player.counter!r}, {'a' if completed else 'no'} completed event")
        return 1
    say(f"the vault is open: {player.counter}")
    # If a replay differed, its exit status is not 0.
    if client.process.returncode != 0:
        say(f"play_vault: the world ended with status {client.process.returncode}")
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
    else:
        sys.exit(main(sys.argv[1:]))
