"""One run of the game on the engine: the Silent, act 1.

The engine (decapitate-the-spire, GPL-3, test-time only) asks for one answer at a time through an
"outstanding request". A Run gives those answers. It also keeps what a player has marked on a
screen until it is confirmed, because answers to the engine cannot be taken back.
"""

import random
import types
import uuid

import decapitate_the_spire.game as engine
import decapitate_the_spire.rng as engine_rng

Moves = engine.ActionGenerator
START_HEALTH, START_GOLD, ENERGY_PER_TURN = 70, 99, 3


class EngineFailure(Exception):
    """The engine failed, or refused an action that a message offered. Never the child's fault."""


class EngineDice(random.Random):
    """All of the engine's randomness, so a run depends only on its seed and the answers."""

    def shuffle(self, items, _source=None):
        # The engine passes the second argument that Python 3.11 removed. It would have the same effect.
        super().shuffle(items)

    def uuid4(self):
        return uuid.UUID(int=self.getrandbits(128), version=4)


DICE = EngineDice()
engine.random = DICE
engine_rng.random = DICE
engine.uuid = types.SimpleNamespace(uuid4=DICE.uuid4)
# The engine sets this only in rest rooms, and fails in a fight before the first one.
engine.AncientTeaSet.is_armed = False


class Silent(engine.TheSilent):
    def obtain_potion(self, potion):
        # In the game, a potion brewed with full slots is lost; the engine fails an assertion.
        if len(self.potions) < self.potion_slots:
            super().obtain_potion(potion)


class ActOne(engine.Exordium):
    chest = None

    def return_random_potion(self, limited=False):
        # The engine has two potions but drops only one. The other, Fire Potion, needs a target.
        drops_fire = self.ctx.potion_rng.random_boolean()
        return engine.FirePotion(self.ctx) if drops_fire else engine.EnergyPotion(self.ctx)

    def get_random_chest(self):
        # The engine forgets the chest once it is open, but the mod reports its kind.
        self.chest = super().get_random_chest()
        return self.chest

    def set_emerald_elite(self, mapp):
        # The engine draws from an empty list on a map without elites.
        if any(isinstance(node.room, engine.MonsterRoomElite) for row in mapp for node in row):
            super().set_emerald_elite(mapp)


class Run:
    def __init__(self, seed, ascension):
        self.seed = seed
        self.ascension = ascension
        # None while the run continues.
        self.victory = None
        self.opened_chest = None
        self.has_rested = False
        self.forget_marks()
        self._turn_mark = (None, 0, 0, 0)

        DICE.seed(seed)
        engine.AscensionManager._ascension_level = ascension
        try:
            self._game = engine.Game(
                lambda context: Silent(context, START_HEALTH, ENERGY_PER_TURN), ActOne
            )
        except Exception as error:
            raise EngineFailure(f"the engine cannot start seed {seed}: {error!r}") from error
        self.player.gold = START_GOLD

    def forget_marks(self):
        self.picked = []
        self.open_card_reward = None
        self.smithing = None

    @property
    def player(self):
        return self._game.ctx.player

    @property
    def dungeon(self):
        return self._game.ctx.d

    @property
    def room(self):
        return self.dungeon.get_curr_room()

    @property
    def monsters(self):
        return list(self.room.monster_group or [])

    @property
    def request(self):
        return self._game.ctx.action_manager.outstanding_request

    @property
    def hand(self):
        """The hand as the mod shows it: without the cards picked on the hand screen."""
        return [card for card in self.player.hand if card not in self.picked]

    def answer(self, move):
        """Answers the engine's request and lets it continue until the next one."""
        if not self._game.is_action_valid(move):
            raise EngineFailure(f"the engine refuses {move} at {self.request}")
        try:
            self._game.step(move)
        except Exception as error:
            raise EngineFailure(f"the engine failed on {move}: {error!r}") from error
        self.forget_marks()
        if self.player.is_dead:
            self.victory = False

    # Fights

    def is_players_turn(self):
        return self.victory is None and isinstance(self.request, engine.CombatActionRequest)

    def is_playable(self, card, target=None):
        """Whether the card can be played on the target or, if none is named, on any monster."""
        if self.victory is not None:
            return False
        if not needs_target(card):
            return card.can_use(None)
        targets = self.monsters if target is None else [target]
        return any(card.can_use(monster) for monster in targets)

    def play(self, hand_index, target_index):
        self.answer(Moves.play_card(hand_index, target_index))

    def end_turn(self):
        self.answer(Moves.end_turn())

    def use_potion(self, slot, target_index):
        self.answer(Moves.use_potion(slot, target_index))

    def discard_potion(self, slot):
        self.answer(Moves.discard_potion(slot))

    def turn_and_discards(self):
        """This fight's turn and this turn's discards. The engine counts both over all fights."""
        manager = self._game.ctx.action_manager
        room, turn, first_turn, discarded = self._turn_mark
        if (room, turn) != (self.room, manager.turn_count):
            first_turn = first_turn if room is self.room else manager.turn_count
            discarded = manager.total_discarded_this_turn
            self._turn_mark = (self.room, manager.turn_count, first_turn, discarded)
        return manager.turn_count - first_turn + 1, manager.total_discarded_this_turn - discarded

    def discard_picked(self):
        whole_hand, may_stop = list(self.player.hand), self.request.any_number
        for card in list(self.picked):
            self.answer(Moves.pick_discard_from_hand(whole_hand.index(card)))
        if may_stop:
            self.answer(Moves.done_picking_discards())

    # Between fights

    def choose_event_option(self, option):
        self.answer(Moves.pick_simple_event_choice(option))

    def take_reward(self, position):
        self.answer(Moves.pick_simple_combat_reward(position))

    def take_reward_card(self, card_position):
        self.answer(Moves.pick_card_combat_reward(self.open_card_reward, card_position))

    def leave_rewards(self):
        self.answer(Moves.end_combat_reward())

    def open_chest(self):
        self.opened_chest = self.room

    def use_campfire(self, option):
        self.answer(Moves.play_card(option, None))
        self.has_rested = True

    def leave_campfire(self):
        self.has_rested = False

    def smith_picked(self):
        """Smithing is passed to the engine only here, when the player cannot go back any more."""
        option, card = self.smithing, self.picked[0]
        self.answer(Moves.play_card(option, None))
        self.answer(Moves.pick_grid_select_index(self.request.cards.index(card)))
        self.has_rested = True

    def paths(self):
        """The map nodes that can be reached next, each with the engine's move. Node None: boss."""
        request = self.request
        if isinstance(request, engine.BossPathChoiceRequest):
            return [(None, Moves.go_to_boss())]
        if isinstance(request, engine.FirstPathChoiceRequest):
            first_row = self.dungeon.mapp[0]
            return [
                (first_row[column], Moves.pick_first_path(column))
                for column, is_open in enumerate(request.rooms_available)
                if is_open
            ]
        edges = (request.left_edge, request.center_edge, request.right_edge)
        return [
            (self.dungeon.mapp[edge.dst_y][edge.dst_x], Moves.play_card(direction, None))
            for direction, edge in enumerate(edges)
            if edge
        ]

    def win_with(self, boss_relic_reward):
        # The engine ends here: it counts the run as won, and fails if it is asked to continue.
        if boss_relic_reward is not None:
            boss_relic_reward.claim_reward(engine.MAX_NUM_MONSTERS_IN_GROUP)
        self.victory = True


def needs_target(card):
    return card.card_target in (engine.CardTarget.ENEMY, engine.CardTarget.SELF_AND_ENEMY)
