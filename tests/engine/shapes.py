"""Converts the engine's objects to the form they have in the mod's messages."""

import re

from spire_run import needs_target

# Cards whose id in the game is not simply their name.
REAL_IDS = {
    "Strike": "Strike_G",
    "Defend": "Defend_G",
    "Alchemize": "Venomology",
    "SneakyStrike": "Underhanded Strike",
    "SnakeRing": "Ring of the Snake",
    "WeakPower": "Weakened",
}

EMPTY_POTION_SLOT = {
    "id": "Potion Slot",
    "name": "Potion Slot",
    "can_use": False,
    "can_discard": False,
    "requires_target": False,
}


def name_of(subject):
    """`PoisonedStab` reads `Poisoned Stab`, `AcidSlimeS` reads `Acid Slime (S)`."""
    class_name = type(subject).__name__.removesuffix("Power")
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", class_name)
    spaced = re.sub(r" ([SML])$", r" (\1)", spaced)
    return re.sub(r" (And|Of|The) ", lambda word: word[0].lower(), spaced)


def id_of(subject):
    return REAL_IDS.get(type(subject).__name__, name_of(subject))


def card_name(card):
    return name_of(card) + "+" * bool(card.upgraded)


def card(card, is_playable=None):
    """`is_playable` is left out for cards that are not in the hand, as the mod may do."""
    shape = {
        "name": card_name(card),
        "id": id_of(card),
        "uuid": str(card.uuid),
        "type": card.card_type.name,
        "rarity": card.rarity.name if card.rarity else "SPECIAL",
        "cost": card.cost_for_turn,
        "upgrades": card.times_upgraded,
        "has_target": needs_target(card),
        "exhausts": bool(card.exhaust),
        "ethereal": bool(card.is_ethereal),
    }
    if is_playable is not None:
        shape["is_playable"] = is_playable
    return shape


def cards(cards):
    return [card(each) for each in cards]


def potion(potion, is_usable):
    return {
        "id": id_of(potion),
        "name": name_of(potion),
        "can_use": is_usable,
        "can_discard": is_usable and potion.can_discard(),
        "requires_target": bool(potion.target_required),
    }


def relic(relic):
    return {"id": id_of(relic), "name": id_of(relic), "counter": relic.counter}


def power(power):
    shape = {
        "id": id_of(power),
        "name": name_of(power),
        "amount": -1 if power.amount is None else power.amount,
    }
    if hasattr(power, "just_applied"):
        shape["just_applied"] = bool(power.just_applied)
    return shape


def monster(monster):
    return {
        "id": type(monster).__name__,
        "name": name_of(monster),
        "current_hp": max(0, monster.current_health),
        "max_hp": monster.max_health,
        "block": monster.current_block,
        "half_dead": monster.half_dead,
        "is_gone": monster.is_dead_or_escaped(),
        "powers": [power(each) for each in monster.powers],
        **planned_move(monster),
    }


def planned_move(monster):
    move = monster.next_move
    damage = getattr(move, "damage_info", None)
    shape = {
        "intent": move.get_intent().name if move else "UNKNOWN",
        "move_id": monster.next_move_name.value,
        "move_base_damage": damage.base if damage else -1,
        "move_adjusted_damage": damage.output if damage else -1,
        "move_hits": getattr(move, "multiplier", None) or 1,
    }
    past_moves = zip(("last_move_id", "second_last_move_id"), reversed(monster.move_history))
    shape.update((key, past_move.value) for key, past_move in past_moves)
    return shape


def map_node(node):
    return {"x": node.x, "y": node.y, "symbol": node.get_room_symbol(True)}


def dungeon_map(dungeon):
    """The boss has no node; the mod shows it as a child far above the top row."""
    nodes = [node for row in dungeon.mapp for node in row if node.has_edges()]
    return [
        {
            **map_node(node),
            "children": [{"x": edge.dst_x, "y": edge.dst_y} for edge in node.edges],
            "parents": [],
        }
        for node in nodes
    ]
