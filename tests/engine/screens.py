"""The contents of the screen: its choices, its two buttons, and the mod's description.

One function per screen type. Choices and description are made together, so that `choice_list`
cannot disagree with `screen_state`.
"""

from dataclasses import dataclass, field
from typing import Callable, NamedTuple, Optional

import decapitate_the_spire.game as engine

import shapes

# The game's value for "any number of cards".
ANY_NUMBER_OF_CARDS = 99

REWARD_TYPES = {
    engine.GoldRewardItem: "GOLD",
    engine.StolenGoldRewardItem: "STOLEN_GOLD",
    engine.PotionRewardItem: "POTION",
    engine.RelicRewardItem: "RELIC",
    engine.CardRewardItem: "CARD",
    engine.EmeraldKeyRewardItem: "EMERALD_KEY",
    engine.SapphireKeyRewardItem: "SAPPHIRE_KEY",
}
CAMPFIRE_OPTIONS = {
    engine.RestOption: "rest",
    engine.SmithOption: "smith",
    engine.RecallOption: "recall",
}
EVENT_NAMES = {
    engine.NeowEvent: ("Neow Event", "Neow"),
    engine.BigFishEvent: ("Big Fish", "Big Fish"),
}


class Choice(NamedTuple):
    name: str
    # None: the game lists the choice, but taking it has no effect and is never answered.
    take: Optional[Callable[[], None]]


class Button(NamedTuple):
    word: str
    # None: pressing it leaves the run, which the run itself cannot do.
    press: Optional[Callable[[], None]]


@dataclass
class Screen:
    type: str
    state: dict = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)
    confirm: Optional[Button] = None
    cancel: Optional[Button] = None

    @property
    def name(self):
        """The game's own name of the screen. There is none if nothing covers the room."""
        if self.type == "GAME_OVER":
            return "VICTORY" if self.state["victory"] else "DEATH"
        return self.type if self.is_up else "NONE"

    @property
    def is_up(self):
        return self.type not in ("NONE", "EVENT", "CHEST", "REST")

    @property
    def interrupts_fight(self):
        """The mod shows such a screen while the game still carries out the card that led to it."""
        return self.type == "HAND_SELECT"


def current_screen(run):
    if run.victory is not None:
        return game_over_screen(run)
    if run.has_rested:
        return rested_screen(run)
    return SCREENS[type(run.request)](run)


def game_over_screen(run):
    return Screen(
        "GAME_OVER",
        {"score": 5 * run.dungeon.floor_num, "victory": run.victory},
        confirm=Button("proceed", None),
    )


def fight_screen(run):
    return Screen("NONE")


def hand_screen(run):
    request = run.request
    maximum = ANY_NUMBER_OF_CARDS if request.any_number else request.num_cards
    if request.any_number:
        may_confirm = request.can_pick_zero or bool(run.picked)
    else:
        may_confirm = len(run.picked) == maximum
    can_pick_more = len(run.picked) < maximum
    return Screen(
        "HAND_SELECT",
        {
            "hand": [shapes.card(card, run.is_playable(card)) for card in run.hand],
            "selected": shapes.cards(run.picked),
            "max_cards": maximum,
            "can_pick_zero": bool(request.any_number and request.can_pick_zero),
        },
        choices=pick_choices(run, run.hand) if can_pick_more else [],
        confirm=Button("confirm", run.discard_picked) if may_confirm else None,
    )


def pick_choices(run, cards):
    return [
        Choice(shapes.card_name(card), lambda card=card: run.picked.append(card)) for card in cards
    ]


def event_screen(run):
    event = run.request.event
    event_id, event_name = EVENT_NAMES[type(event)]
    # The engine's events have options, but no texts or effects.
    labels = [f"Option {number + 1}" for number in range(event.num_choices)]
    return Screen(
        "EVENT",
        {
            "event_id": event_id,
            "event_name": event_name,
            "body_text": "",
            "options": [
                {"text": f"[{label}]", "label": label, "disabled": False, "choice_index": number}
                for number, label in enumerate(labels)
            ],
        },
        choices=[
            Choice(label, lambda number=number: run.choose_event_option(number))
            for number, label in enumerate(labels)
        ],
    )


def map_screen(run):
    paths, current_node = run.paths(), run.dungeon.curr_map_node
    has_started = current_node.y >= 0
    here = shapes.map_node(current_node) if has_started else {"x": 0, "y": -1}
    return Screen(
        "MAP",
        {
            "current_node": here,
            "next_nodes": [shapes.map_node(node) for node, _ in paths if node],
            "first_node_chosen": has_started,
            "boss_available": any(node is None for node, _ in paths),
        },
        choices=[
            Choice(f"x={node.x}" if node else "boss", lambda move=move: run.answer(move))
            for node, move in paths
        ],
    )


def rewards_screen(run):
    if isinstance(run.room, engine.TreasureRoom) and run.opened_chest is not run.room:
        return chest_screen(run)
    if run.open_card_reward is not None:
        return card_reward_screen(run)
    every_reward = enumerate(run.request.rewards)
    offered = [(position, reward) for position, reward in every_reward if not reward.ignore_reward]
    return Screen(
        "COMBAT_REWARD",
        {"rewards": [reward_shape(reward) for _, reward in offered]},
        choices=[
            Choice(REWARD_TYPES[type(reward)].lower(), taker_of(run, position, reward))
            for position, reward in offered
        ],
        confirm=Button("proceed", run.leave_rewards),
    )


def taker_of(run, position, reward):
    if isinstance(reward, engine.CardRewardItem):
        return lambda: setattr(run, "open_card_reward", position)
    has_no_slot = len(run.player.potions) >= run.player.potion_slots
    if isinstance(reward, engine.PotionRewardItem) and has_no_slot:
        return None
    return lambda: run.take_reward(position)


def reward_shape(reward):
    shape = {"reward_type": REWARD_TYPES[type(reward)]}
    if isinstance(reward, engine.GoldRewardItem):
        shape["gold"] = reward.total_gold
    elif isinstance(reward, engine.PotionRewardItem):
        shape["potion"] = shapes.potion(reward.potion, is_usable=False)
    elif isinstance(reward, engine.RelicRewardItem):
        shape["relic"] = shapes.relic(reward.relic)
    elif isinstance(reward, engine.SapphireKeyRewardItem):
        shape["link"] = shapes.relic(reward.relic_link.relic)
    return shape


def chest_screen(run):
    # The engine opens chests by itself; the game waits for the player.
    return Screen(
        "CHEST",
        {"chest_type": type(run.dungeon.chest).__name__, "chest_open": False},
        choices=[Choice("open", run.open_chest)],
        confirm=Button("proceed", run.leave_rewards),
    )


def card_reward_screen(run):
    cards = run.request.rewards[run.open_card_reward].cards
    return Screen(
        "CARD_REWARD",
        {"cards": shapes.cards(cards), "bowl_available": False, "skip_available": True},
        choices=[
            Choice(shapes.card_name(card), lambda position=position: run.take_reward_card(position))
            for position, card in enumerate(cards)
        ],
        cancel=Button("skip", run.forget_marks),
    )


def campfire_screen(run):
    if run.smithing is not None:
        return grid_screen(run)
    choices = [
        campfire_choice(run, position, option)
        for position, option in enumerate(run.request.options)
        if option.usable and (not isinstance(option, engine.SmithOption) or smithable_cards(run))
    ]
    rest_options = [choice.name for choice in choices]
    return Screen("REST", {"has_rested": False, "rest_options": rest_options}, choices=choices)


def campfire_choice(run, position, option):
    name = CAMPFIRE_OPTIONS[type(option)]
    if isinstance(option, engine.SmithOption):
        return Choice(name, lambda: setattr(run, "smithing", position))
    return Choice(name, lambda: run.use_campfire(position))


def rested_screen(run):
    leave = Button("proceed", run.leave_campfire)
    return Screen("REST", {"has_rested": True, "rest_options": []}, confirm=leave)


def smithable_cards(run):
    return run.player.master_deck.get_upgradable_cards()


def grid_screen(run):
    cards = smithable_cards(run)
    return Screen(
        "GRID",
        {
            "cards": shapes.cards(cards),
            "selected_cards": shapes.cards(run.picked),
            "num_cards": 1,
            "any_number": False,
            "for_upgrade": True,
            "for_transform": False,
            "for_purge": False,
            "confirm_up": bool(run.picked),
        },
        choices=[] if run.picked else pick_choices(run, cards),
        confirm=Button("confirm", run.smith_picked) if run.picked else None,
        cancel=Button("cancel", run.picked.clear if run.picked else run.forget_marks),
    )


def boss_relic_screen(run):
    rewards = run.request.rewards
    relics = [shapes.relic(reward.relic) for reward in rewards]
    return Screen(
        "BOSS_REWARD",
        {"relics": relics},
        choices=[
            Choice(relic["name"], lambda reward=reward: run.win_with(reward))
            for relic, reward in zip(relics, rewards)
        ],
        cancel=Button("skip", lambda: run.win_with(None)),
    )


SCREENS = {
    engine.CombatActionRequest: fight_screen,
    engine.DiscardRequest: hand_screen,
    engine.SimpleChoiceEventRequest: event_screen,
    engine.FirstPathChoiceRequest: map_screen,
    engine.PathChoiceRequest: map_screen,
    engine.BossPathChoiceRequest: map_screen,
    engine.CombatRewardRequest: rewards_screen,
    engine.CampfireRequest: campfire_screen,
    engine.BossChestRequest: boss_relic_screen,
}
