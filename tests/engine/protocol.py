"""The mod's side of the protocol: the state message, and the commands with their error strings.

The checks have the mod's order, so a command with two faults
gets the same error.
"""

import re
from enum import Enum, auto

import shapes
from screens import current_screen
from spire_run import Run, needs_target

CONFIRM_WORDS = ("confirm", "proceed")
CANCEL_WORDS = ("skip", "cancel", "return", "leave")
# The engine supports only this character; any other name gets the error of a name that does not exist.
CHARACTERS = ("silent", "the_silent")
HIGHEST_ASCENSION = 20
# The digits of seeds as players see them: O is not among them, and is read as 0.
SEED_DIGITS = "0123456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
# Far above 2**53: a reader that stores numbers as floats would change the seed.
FIRST_SEED = 2**60


class Reply(Enum):
    STATE_WHEN_SETTLED = auto()
    STATE_AT_ONCE = auto()
    NONE = auto()


class InvalidCommand(Exception):
    """Carries the error string with which the mod rejects a command."""


class Command:
    """One command line, parsed as the mod does."""

    def __init__(self, line):
        self.words = line.lower().split()
        self.verb = self.words[0]

    def __str__(self):
        return " ".join(self.words)

    def invalid_argument(self, argument):
        return InvalidCommand(f'Invalid argument {argument} in command "{self}".')

    def out_of_bounds(self, index):
        return InvalidCommand(f'Index {index} out of bounds in command "{self}"')

    def require(self, count, hint=""):
        if len(self.words) <= count:
            raise InvalidCommand(f'Argument missing in command "{self}".{hint}')

    def number(self, position):
        word = self.words[position]
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", word):
            raise self.invalid_argument(word)
        return int(word)


class Game:
    """The game with the mod: a menu, and the current run if there is one."""

    def __init__(self, seed):
        self._next_seed = FIRST_SEED + seed
        self.run = None
        self.runs_finished = 0
        self.victories = 0

    def screen_type(self):
        return current_screen(self.run).type if self.run else "MENU"

    def available_commands(self):
        if self.run is None:
            return ["start", "state"]
        screen, run = current_screen(self.run), self.run
        can_end = run.is_players_turn()
        can_play = can_end and any(run.is_playable(card) for card in run.hand)
        candidates = [
            (can_play, "play"),
            (screen.choices, "choose"),
            (can_end, "end"),
            (run.player.potions, "potion"),
            (screen.confirm, screen.confirm and screen.confirm.word),
            (screen.cancel, screen.cancel and screen.cancel.word),
        ]
        return [word for is_on, word in candidates if is_on] + ["key", "click", "wait", "state"]

    def message(self, is_ready=True):
        message = {
            "available_commands": self.available_commands(),
            "ready_for_command": is_ready,
            "in_game": self.run is not None,
        }
        if self.run is not None:
            message["game_state"] = self._game_state()
        return message

    def _game_state(self):
        run, screen = self.run, current_screen(self.run)
        phase = run.room.phase.name if run.room.phase else "COMPLETE"
        state = {
            "screen_name": screen.name,
            "is_screen_up": screen.is_up,
            "screen_type": screen.type,
            "screen_state": screen.state,
            "room_phase": phase,
            "action_phase": "EXECUTING_ACTIONS" if screen.interrupts_fight else "WAITING_ON_USER",
            "room_type": type(run.room).__name__,
            **self._run_state(),
        }
        if screen.interrupts_fight:
            any_number = run.request.any_number
            state["current_action"] = "GamblingChipAction" if any_number else "DiscardAction"
        if screen.choices:
            state["choice_list"] = [choice.name.lower() for choice in screen.choices]
        if phase == "COMBAT":
            state["combat_state"] = self._combat_state()
        return state

    def _run_state(self):
        run, player = self.run, self.run.player
        return {
            "current_hp": max(0, player.current_health),
            "max_hp": player.max_health,
            "floor": run.dungeon.floor_num,
            "act": run.dungeon.act_num,
            "act_boss": run.dungeon.boss_key.name.replace("_", " ").title(),
            "gold": player.gold,
            "seed": run.seed,
            "class": "THE_SILENT",
            "ascension_level": run.ascension,
            "relics": [shapes.relic(relic) for relic in player.relics],
            "deck": shapes.cards(player.master_deck),
            "potions": self._potions(),
            "map": shapes.dungeon_map(run.dungeon),
            "keys": {
                "ruby": player.has_ruby_key,
                "emerald": player.has_emerald_key,
                "sapphire": player.has_sapphire_key,
            },
        }

    def _potions(self):
        player, is_usable = self.run.player, self.run.is_players_turn()
        held = [shapes.potion(potion, is_usable) for potion in player.potions]
        return held + [shapes.EMPTY_POTION_SLOT] * (player.potion_slots - len(held))

    def _combat_state(self):
        run, player = self.run, self.run.player
        turn, discarded = run.turn_and_discards()
        return {
            "monsters": [shapes.monster(monster) for monster in run.monsters],
            "hand": [shapes.card(card, run.is_playable(card)) for card in run.hand],
            "draw_pile": shapes.cards(player.draw_pile),
            "discard_pile": shapes.cards(player.discard_pile),
            "exhaust_pile": shapes.cards(player.exhaust_pile),
            "limbo": [],
            "player": {
                "max_hp": player.max_health,
                "current_hp": max(0, player.current_health),
                "block": player.current_block,
                "energy": player.energy_manager.player_current_energy,
                "powers": [shapes.power(power) for power in player.powers],
                "orbs": [],
            },
            "turn": turn,
            "cards_discarded_this_turn": discarded,
            "times_damaged": 0,  # the engine does not count
        }

    # Commands

    def execute(self, line):
        """Carries out one command line and returns the mod's answer."""
        command = Command(line)
        self._check_available(command)
        carry_out = {
            "state": lambda _: Reply.STATE_AT_ONCE,
            "start": self._start,
            "play": self._play,
            "end": lambda _: self.run.end_turn(),
            "potion": self._potion,
            "choose": self._choose,
            "key": lambda command: command.require(1),
            "click": lambda command: command.require(3),
            "wait": lambda command: command.require(1),
            **dict.fromkeys(CONFIRM_WORDS, self._confirm),
            **dict.fromkeys(CANCEL_WORDS, lambda _: current_screen(self.run).cancel.press()),
        }[command.verb]
        return carry_out(command) or Reply.STATE_WHEN_SETTLED

    def _check_available(self, command):
        available = self.available_commands()
        synonyms = [command.verb]
        for words in (CONFIRM_WORDS, CANCEL_WORDS):
            if command.verb in words:
                synonyms = words
        if not set(synonyms) & set(available):
            raise InvalidCommand(
                f"Invalid command: {command.verb}. Possible commands: [{', '.join(available)}]"
            )

    def _start(self, command):
        command.require(1)
        words = command.words
        if words[1] not in CHARACTERS:
            raise command.invalid_argument(words[1])
        ascension = command.number(2) if len(words) > 2 else 0
        if not 0 <= ascension <= HIGHEST_ASCENSION:
            raise command.out_of_bounds(ascension)
        if len(words) > 3 and not re.fullmatch("[a-z0-9]+", words[3]):
            raise command.invalid_argument(words[3])
        seed = seed_number(words[3]) if len(words) > 3 else self._next_seed
        self._next_seed += 1
        self.run = Run(seed, ascension)

    def _play(self, command):
        command.require(1)
        # The tenth card may also be called 0.
        number = command.number(1) or 10
        if not 1 <= number <= len(self.run.hand):
            raise command.out_of_bounds(number)
        target_index = command.number(2) if len(command.words) == 3 else -1
        if target_index != -1 and not 0 <= target_index < len(self.run.monsters):
            raise command.out_of_bounds(target_index)
        card = self.run.hand[number - 1]
        target = self.run.monsters[target_index] if target_index != -1 else None
        if not self.run.is_playable(card, target):
            raise InvalidCommand("Selected card cannot be played with the selected target.")
        if needs_target(card) and target is None:
            raise InvalidCommand("Selected card requires an enemy target.")
        self.run.play(number - 1, target_index if needs_target(card) else None)

    def _potion(self, command):
        command.require(2)
        if command.words[1] not in ("use", "discard"):
            raise command.invalid_argument(command.words[1])
        is_use, slot = command.words[1] == "use", command.number(2)
        slots = self._potions()
        if not 0 <= slot < len(slots):
            raise InvalidCommand("Potion index out of bounds.")
        potion = slots[slot]
        if potion is shapes.EMPTY_POTION_SLOT:
            raise InvalidCommand("No potion in the selected slot.")
        if is_use and not potion["can_use"]:
            raise InvalidCommand("Selected potion cannot be used.")
        if not is_use and not potion["can_discard"]:
            raise InvalidCommand("Selected potion cannot be discarded.")
        if is_use:
            self.run.use_potion(slot, self._potion_target(command, potion))
        else:
            self.run.discard_potion(slot)

    def _potion_target(self, command, potion):
        """A dead monster is a valid target for the mod: the potion is wasted."""
        if not potion["requires_target"]:
            return None
        command.require(3, " Selected potion requires a target.")
        target_index = command.number(3)
        if not 0 <= target_index < len(self.run.monsters):
            raise command.out_of_bounds(target_index)
        return target_index

    def _choose(self, command):
        command.require(1, " A choice is required.")
        choices = current_screen(self.run).choices
        wanted = " ".join(command.words[1:])
        names = [choice.name.lower() for choice in choices]
        if wanted in names:
            position = names.index(wanted)
        elif re.fullmatch(r"[+-]?[0-9]{1,9}", wanted):
            position = int(wanted)
        else:
            raise command.invalid_argument(wanted)
        if not 0 <= position < len(choices):
            raise command.out_of_bounds(wanted)
        if choices[position].take is None:
            return Reply.NONE
        choices[position].take()

    def _confirm(self, _):
        if self.run.victory is None:
            current_screen(self.run).confirm.press()
            return
        self.runs_finished += 1
        self.victories += self.run.victory
        self.run = None


def seed_number(text):
    """The signed 64-bit number of a seed in the players' notation."""
    number = 0
    for digit in text.upper().replace("O", "0"):
        number = number * len(SEED_DIGITS) + SEED_DIGITS.index(digit)
    return (number + 2**63) % 2**64 - 2**63
