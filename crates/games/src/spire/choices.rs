//! The object behind each entry of `choice_list`: the mod gives only lower-case names, which may repeat, so the rest is
//! taken from the screen. The order is that of CommunicationMod's ChoiceScreenUtils.

use super::message::{Card, EventOption, GameState, Node, Potion, Relic, Reward, ScreenState, Text};

/// A choice with the details known of it.
#[derive(Debug, Clone, Copy)]
pub enum Choice<'a> {
    /// An option of an event that is not disabled.
    Option(&'a EventOption<'a>),
    /// A card to take, from a reward or a discovery.
    TakeCard(&'a Card<'a>),
    /// Two maximum hit points instead of a card.
    Bowl,
    /// A reward after a combat.
    Reward(&'a Reward<'a>),
    /// A relic of a boss.
    BossRelic(&'a Relic<'a>),
    /// A way on the map.
    Node(&'a Node<'a>),
    /// The way to the boss.
    Boss,
    /// A card's removal, at this price.
    Purge(i64),
    /// A card in a shop.
    BuyCard(&'a Card<'a>),
    /// A relic in a shop.
    BuyRelic(&'a Relic<'a>),
    /// A potion in a shop.
    BuyPotion(&'a Potion<'a>),
    /// A card of a grid.
    GridCard(&'a Card<'a>),
    /// A card of the hand.
    HandCard(&'a Card<'a>),
    /// Any other choice: only its name is known (`open`, `shop`, `rest`), or the screen does not match the list.
    Named(&'a Text<'a>),
}

/// The choices of a state, one for each entry of its `choice_list`.
pub fn choices<'a>(state: &'a GameState<'a>) -> impl Iterator<Item = Choice<'a>> {
    let screen = &state.screen_state;
    let found: Vec<Choice> = match &*state.screen_type {
        "EVENT" => options(screen),
        "CARD_REWARD" => {
            let mut found: Vec<_> = screen.cards.iter().map(Choice::TakeCard).collect();
            if state.choice_list.len() == found.len() + 1 {
                found.push(Choice::Bowl);
            }
            found
        }
        "COMBAT_REWARD" => screen.rewards.iter().map(Choice::Reward).collect(),
        "BOSS_REWARD" => screen.relics.iter().map(Choice::BossRelic).collect(),
        "MAP" if screen.boss_available => vec![Choice::Boss],
        "MAP" => screen.next_nodes.iter().map(Choice::Node).collect(),
        "SHOP_SCREEN" => affordable(screen, state.gold),
        "GRID" => screen.cards.iter().map(Choice::GridCard).collect(),
        "HAND_SELECT" => screen.hand.iter().map(Choice::HandCard).collect(),
        _ => Vec::new(),
    };
    // If the two disagree (a modded screen), `choose` goes by the list, so only the names are used.
    let agree = found.len() == state.choice_list.len();
    (0..).zip(state.choice_list.iter()).map(move |(index, name): (usize, _)| match found.get(index) {
        Some(choice) if agree => *choice,
        _ => Choice::Named(name),
    })
}

fn options<'a>(screen: &'a ScreenState<'a>) -> Vec<Choice<'a>> {
    let mut options: Vec<_> = screen.options.iter().filter(|option| !option.disabled).collect();
    // Stable: without an index, the order on the screen is the order of the choices.
    options.sort_by_key(|option| option.choice_index.unwrap_or(usize::MAX));
    options.into_iter().map(Choice::Option).collect()
}

/// The affordable items of a shop, card removal first.
fn affordable<'a>(screen: &'a ScreenState<'a>, gold: i64) -> Vec<Choice<'a>> {
    let pays = |price: Option<i64>| price.is_some_and(|price| price <= gold);
    let mut found = Vec::new();
    if screen.purge_available && screen.purge_cost <= gold {
        found.push(Choice::Purge(screen.purge_cost));
    }
    found.extend(screen.cards.iter().filter(|card| pays(card.price)).map(Choice::BuyCard));
    found.extend(screen.relics.iter().filter(|relic| pays(relic.price)).map(Choice::BuyRelic));
    found.extend(screen.potions.iter().filter(|potion| pays(potion.price)).map(Choice::BuyPotion));
    found
}
