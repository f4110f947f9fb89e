//! The label of an action, as the player sees it: the card, its cost, the target, the reward, the price.

use super::action::{Action, CANCEL, PROCEED};
use super::choices::{Choice, choices};
use super::message::{Card, EventOption, GameState, Message, Monster, Node, Potion, Reward, ScreenState, Text};
use super::targets::Targets;
use std::fmt::Write;

/// A legal action's label. It adds no control characters, but game text in it may contain some.
pub fn label(message: &Message<'_>, action: Action) -> String {
    let Some(state) = message.game_state.as_ref() else {
        return action.to_string();
    };
    match action {
        Action::Play { card, target } => {
            let hand = state.combat_state.as_ref().map(|combat| combat.hand.as_slice());
            let card = hand.and_then(|hand| hand.get(usize::from(card)));
            with_target(format!("play {}", card.map_or_else(|| "a card".to_owned(), name_and_cost)), state, target)
        }
        Action::UsePotion { slot, target } => with_target(format!("use {}", potion(state, slot)), state, target),
        Action::DiscardPotion { slot } => format!("discard {}", potion(state, slot)),
        Action::Choose { index } => match choices(state).nth(usize::from(index)) {
            Some(choice) => name_choice(state, &choice),
            None => action.to_string(),
        },
        Action::End => "end the turn".to_owned(),
        Action::Proceed => message.offered_word(&PROCEED).unwrap_or("proceed").to_owned(),
        Action::Cancel => message.offered_word(&CANCEL).unwrap_or("cancel").to_owned(),
    }
}

/// A card's name with its cost: `Strike (1)`, `Whirlwind (X)`, `Wound (unplayable)`.
pub fn name_and_cost(card: &Card<'_>) -> String {
    match card.cost {
        Some(-1) => format!("{} (X)", card.name),
        Some(cost) if cost < 0 => format!("{} (unplayable)", card.name),
        Some(cost) => format!("{} ({cost})", card.name),
        None => card.name.to_string(),
    }
}

/// A monster's name, numbered by position if the name is not unique: `Cultist`, `Louse #2`.
pub fn name_monster(monsters: &[Monster<'_>], index: usize) -> String {
    let Some(monster) = monsters.get(index) else {
        return format!("target {index}");
    };
    let doubled = monsters.iter().filter(|other| other.name == monster.name).count() > 1;
    if doubled { format!("{} #{}", monster.name, index + 1) } else { monster.name.to_string() }
}

fn with_target(mut what: String, state: &GameState<'_>, target: Option<u8>) -> String {
    if let (Some(target), Some(combat)) = (target, &state.combat_state) {
        let index = Targets::of(Some(combat)).monster(target);
        let _ = write!(what, " -> {}", name_monster(&combat.monsters, index));
        if let Some(monster) = combat.monsters.get(index) {
            let _ = write!(what, " ({}/{})", monster.current_hp, monster.max_hp);
        }
    }
    what
}

fn potion(state: &GameState<'_>, slot: u8) -> String {
    let held = state.potions.get(usize::from(slot));
    held.map_or_else(|| "a potion".to_owned(), |potion: &Potion| potion.name.to_string())
}

fn name_choice(state: &GameState<'_>, choice: &Choice<'_>) -> String {
    let screen = &state.screen_state;
    match *choice {
        Choice::Option(option) => name_option(option),
        Choice::TakeCard(card) => format!("take {}", name_and_cost(card)),
        Choice::Bowl => "take +2 max hp (Singing Bowl)".to_owned(),
        Choice::Reward(reward) => name_reward(reward),
        Choice::BossRelic(relic) => format!("take {}", relic.name),
        Choice::Node(node) => name_node(node),
        Choice::Boss if state.act_boss.is_empty() => "go to the boss".to_owned(),
        Choice::Boss => format!("go to the boss: {}", state.act_boss),
        Choice::Purge(price) => format!("remove a card: {price} gold"),
        Choice::BuyCard(card) => priced(name_and_cost(card), card.price),
        Choice::BuyRelic(relic) => priced(relic.name.to_string(), relic.price),
        Choice::BuyPotion(potion) => priced(potion.name.to_string(), potion.price),
        Choice::GridCard(card) => name_grid_card(screen, card),
        Choice::HandCard(card) => format!("select {}", name_and_cost(card)),
        Choice::Named(name) => name_other(state, name),
    }
}

fn name_option(option: &EventOption<'_>) -> String {
    let text: &Text = if option.text.is_empty() { &option.label } else { &option.text };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn name_reward(reward: &Reward<'_>) -> String {
    let gold = reward.gold.unwrap_or_default();
    match (&*reward.reward_type, &reward.relic, &reward.potion, &reward.link) {
        ("GOLD", ..) => format!("take {gold} gold"),
        ("STOLEN_GOLD", ..) => format!("take back {gold} stolen gold"),
        (_, Some(relic), ..) => format!("take {}", relic.name),
        (_, _, Some(potion), _) => format!("take {}", potion.name),
        ("CARD", ..) => "choose a card".to_owned(),
        ("SAPPHIRE_KEY", .., Some(relic)) => format!("take the Sapphire Key instead of {}", relic.name),
        ("SAPPHIRE_KEY", ..) => "take the Sapphire Key".to_owned(),
        ("EMERALD_KEY", ..) => "take the Emerald Key".to_owned(),
        (other, ..) => format!("take {}", other.to_lowercase().replace('_', " ")),
    }
}

fn name_node(node: &Node<'_>) -> String {
    let room = match &*node.symbol {
        "M" => "monster",
        "?" => "unknown",
        "$" => "shop",
        "E" => "elite",
        "R" => "rest",
        "T" => "treasure",
        "B" => "boss",
        other => other,
    };
    format!("go to x={} y={}: {room} ({})", node.x, node.y, node.symbol)
}

fn priced(what: String, price: Option<i64>) -> String {
    match price {
        Some(price) => format!("buy {what}: {price} gold"),
        None => format!("buy {what}"),
    }
}

fn name_grid_card(screen: &ScreenState<'_>, card: &Card<'_>) -> String {
    let selected = !card.uuid.is_empty() && screen.selected_cards.iter().any(|other| other.uuid == card.uuid);
    let what = match (selected, screen.for_upgrade, screen.for_transform, screen.for_purge) {
        (true, ..) => "put back",
        (_, true, ..) => "upgrade",
        (_, _, true, _) => "transform",
        (_, _, _, true) => "remove",
        _ => "select",
    };
    format!("{what} {}", name_and_cost(card))
}

/// Choices that are a single word: at a rest site, a chest, the entrance of a shop.
fn name_other(state: &GameState<'_>, name: &Text<'_>) -> String {
    match (&*state.screen_type, &**name) {
        ("CHEST", "open") if !state.screen_state.chest_type.is_empty() => {
            format!("open the {}", state.screen_state.chest_type)
        }
        ("SHOP_ROOM", "shop") => "enter the shop".to_owned(),
        (_, name) => name.to_owned(),
    }
}
