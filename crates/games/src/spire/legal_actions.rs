//! The legal actions: the mod's own rules, checked against hundreds of real messages. (The original design's mask is
//! exact for a quarter of them.)

use super::action::{Action, CANCEL, CARDS, CHOICES, POTIONS, PROCEED, TARGETS};
use super::choices::{Choice, choices};
use super::message::{CombatState, GameState, Message};
use super::targets::Targets;

/// The legal actions, ordered by id. Empty if the game is not ready, in menus, and for errors.
pub fn legal_actions(message: &Message<'_>) -> Vec<Action> {
    if message.is_ready() { actions_when_ready(message) } else { Vec::new() }
}

/// The actions that are legal in a state once the game is ready.
pub fn actions_when_ready(message: &Message<'_>) -> Vec<Action> {
    let mut actions = Vec::new();
    let Some(state) = message.game_state.as_ref().filter(|_| message.in_game) else {
        return actions;
    };
    if message.offers("play")
        && let Some(combat) = &state.combat_state
    {
        add_cards(combat, &mut actions);
    }
    if message.offers("potion") {
        add_potions(state, &mut actions);
    }
    if message.offers("choose") {
        add_choices(state, &mut actions);
    }
    if message.offers("end") {
        actions.push(Action::End);
    }
    if message.offered_word(&PROCEED).is_some() {
        actions.push(Action::Proceed);
    }
    if message.offered_word(&CANCEL).is_some() {
        actions.push(Action::Cancel);
    }
    actions.sort_unstable_by_key(|action| action.id());
    actions
}

/// Whether the game waits where none of these legal actions leads on (a tutorial, a view of the deck, a screen of
/// another mod): only a command without an id does, unless the game itself is about to go on.
pub fn needs_a_command(message: &Message<'_>, legal: &[Action]) -> bool {
    let stays = |action: &Action| matches!(action, Action::UsePotion { .. } | Action::DiscardPotion { .. });
    message.is_ready() && message.in_game && message.game_state.is_some() && legal.iter().all(stays)
}

fn add_cards(combat: &CombatState<'_>, actions: &mut Vec<Action>) {
    for (card, held) in (0..).zip(combat.hand.iter().take(CARDS)) {
        if !held.is_playable {
            continue;
        }
        if held.has_target {
            actions.extend(targets(combat).map(|target| Action::Play { card, target: Some(target) }));
        } else {
            actions.push(Action::Play { card, target: None });
        }
    }
}

/// The targets whose monster lives.
fn targets(combat: &CombatState<'_>) -> impl Iterator<Item = u8> {
    let targets = Targets::of(Some(combat));
    let lives = move |target: u8| combat.monsters.get(targets.monster(target)).is_some_and(|monster| !monster.is_gone);
    (0..).take(TARGETS).filter(move |&target| lives(target))
}

/// An available `potion` command only means that there is a potion; each potion has its own flags for use and discard.
fn add_potions(state: &GameState<'_>, actions: &mut Vec<Action>) {
    for (slot, potion) in (0..).zip(state.potions.iter().take(POTIONS)) {
        if potion.is_empty_slot() {
            continue;
        }
        match &state.combat_state {
            Some(combat) if potion.can_use && potion.takes_target() => {
                actions.extend(targets(combat).map(|target| Action::UsePotion { slot, target: Some(target) }));
            }
            _ if potion.can_use && !potion.takes_target() => {
                actions.push(Action::UsePotion { slot, target: None });
            }
            _ => {}
        }
        if potion.can_discard {
            actions.push(Action::DiscardPotion { slot });
        }
    }
}

fn add_choices(state: &GameState<'_>, actions: &mut Vec<Action>) {
    let legal = (0..)
        .zip(choices(state).take(CHOICES))
        .filter(|(_, choice)| !has_no_effect(state, choice))
        .map(|(index, _)| Action::Choose { index });
    actions.extend(legal);
}

/// Whether the game would do nothing, so that the mod would never answer: a potion without a free slot. With Sozu a
/// potion reward can be taken (and vanishes), but a shop sells none.
fn has_no_effect(state: &GameState<'_>, choice: &Choice<'_>) -> bool {
    let full = !state.potions.iter().any(|potion| potion.is_empty_slot());
    let sozu = || state.relics.iter().any(|relic| &*relic.id == "Sozu");
    match choice {
        Choice::Reward(reward) => &*reward.reward_type == "POTION" && full && !sozu(),
        Choice::BuyPotion(_) => full || sozu(),
        _ => false,
    }
}
