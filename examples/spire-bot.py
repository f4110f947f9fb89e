#!/usr/bin/env python3
"""A Slay the Spire bot in 30 lines. The mod's command: sts-proxy --start SILENT 0 -- python3 /home/me/spire-bot.py

Each line of stdin is a decision; its answer is the id of one of the legal actions. A pipe is buffered, so each answer is flushed.
A screen without legal actions (a tutorial) is left to a person.
"""
import json
import sys


def choose(message):
    state, actions = message["game_state"], message["valid_actions"]
    ids = [action["action_id"] for action in actions]
    fight = state.get("combat_state")
    if fight and 170 in ids:  # it is our turn
        monsters = [monster for monster in fight["monsters"] if not monster["is_gone"]]
        damage = sum(max(monster.get("move_adjusted_damage", 0), 0) * monster.get("move_hits", 1) for monster in monsters)
        wanted = "SKILL" if damage > fight["player"]["block"] else "ATTACK"
        cards = [number for number in ids if number < 70]  # a card in hand is the last digit of its id
        cards.sort(key=lambda number: fight["hand"][number % 10]["type"] != wanted)
        return (cards or [170])[0]
    if 171 in ids and state["screen_type"] not in ("CHEST", "COMBAT_REWARD", "REST"):
        return 171  # confirm or proceed
    choices = [number for number in ids if number >= 110]  # no potions
    return (choices or ids)[0]


for line in sys.stdin:
    message = json.loads(line)
    choice = {"action_id": choose(message), "decision": message["decision"]} if message["valid_actions"] else None
    print(json.dumps(choice) if choice else "wait 30", flush=True)
