"""Bots that use the mod's own protocol, modelled on three public ones.

mod_bots.py named    acts when the game is ready, chooses by name, asks for the state after an error
mod_bots.py counted  sends a command for each message, of any kind, and waits if it has no better move
mod_bots.py loud     in upper case, gives every card a target, ignores errors; ends itself after 40 commands with --mortal
"""

import json
import random
import sys

style = sys.argv[1]
left = 40 if "--mortal" in sys.argv else -1
random.seed(5)


def say(command):
    global left
    print(command.upper() if style == "loud" else command, flush=True)
    left -= 1
    if left == 0:
        sys.exit(1)


def fight(state):
    combat = state["combat_state"]
    alive = [index for index, monster in enumerate(combat["monsters"]) if not monster["is_gone"]]
    cards = [(place, card) for place, card in enumerate(combat["hand"], 1) if card["is_playable"]]
    if not cards or not alive or random.random() < 0.1:
        return "end"
    place, card = random.choice(cards)
    aims = card["has_target"] or style == "loud"
    return f"play {place} {random.choice(alive)}" if aims else f"play {place}"


def choose(state):
    choices = list(enumerate(state["choice_list"]))
    if all(potion["id"] != "Potion Slot" for potion in state["potions"]):
        choices = [(place, name) for place, name in choices if name != "potion"]
    if not choices:
        return None
    place, name = random.choice(choices)
    return f"choose {name.title()}" if style == "named" else f"choose {place}"


def answer(message):
    if "error" in message:
        return None if style == "loud" else "state"
    if style != "counted" and not message["ready_for_command"]:
        return None
    commands = message["available_commands"]
    if not message["in_game"]:
        return "start silent 0"
    state = message["game_state"]
    if style != "loud" and random.random() < 0.05:
        return random.choice(["state", "wait 10", "key map"])
    if "play" in commands or "end" in commands:
        return fight(state) if "play" in commands else "end"
    ways = [word for word in ("confirm", "proceed", "skip", "cancel", "leave") if word in commands]
    if "choose" in commands and (not ways or random.random() < 0.7):
        return choose(state) or (random.choice(ways) if ways else None)
    return random.choice(ways) if ways else "wait 30"


say("ready")
for line in sys.stdin:
    command = answer(json.loads(line))
    if command:
        say(command)
