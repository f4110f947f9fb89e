#!/usr/bin/env python3
"""Plays a game in lockstep: the game waits while this program decides, and the same decisions give the same game each time.

usage: play_catch.py [COMMAND]...     default: godot-bridge with the example game Catch

It reads the positions of the ball and the paddle, holds the key that moves towards the ball, and lets five frames pass, until the game ends.
"""

import sys
from pathlib import Path

from agent_client import AgentClient

CATCH = Path(__file__).resolve().parent.parent / "godot" / "catch"
COMMAND = ["godot-bridge", "--lockstep", "--launch", str(CATCH)]


def position(client, path):
    return client.call("get_property", path=path, property="position:x")["value"]


with AgentClient(sys.argv[1:] or COMMAND).start() as client:
    client.call("press_button", path="#Start")
    client.call("wait_for", selector="#Paddle")
    finished = None
    while not finished:
        distance = position(client, "#Ball") - position(client, "#Paddle")
        if abs(distance) > 20:
            client.call("press_action", action="move_right" if distance > 0 else "move_left", frames=5)
        finished = client.call("step", frames=5, until={"signal": "finished"})["met"]
    state = client.call("get_state")
    print(f"caught {finished['args'][0]} of 10, in frame {state['frame']}")
