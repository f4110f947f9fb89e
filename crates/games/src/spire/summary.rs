//! A state in a few lines for a person, as on the game's own screen.

use super::label::{name_and_cost, name_monster};
use super::message::{CombatState, GameState, Message, Monster, Player, Power, Text};
use super::targets::without_target;

/// A line of the summary: a title and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `hand`, `relics`, or a monster's place `0`; empty for the headline.
    pub title: String,
    /// The rest of the line.
    pub text: String,
}

fn line(title: impl Into<String>, text: impl Into<String>) -> Line {
    Line { title: title.into(), text: text.into() }
}

/// The summary of a state. For an error, its text; for a menu, that there is no run.
pub fn summary(message: &Message<'_>) -> Vec<Line> {
    if let Some(error) = &message.error {
        return vec![line("error", one_line(error))];
    }
    let Some(state) = message.game_state.as_ref() else {
        return vec![line("", "no run is in progress")];
    };
    let mut lines = vec![line("", headline(state))];
    if let Some(combat) = &state.combat_state {
        add_combat(combat, &mut lines);
    }
    add_screen(state, &mut lines);
    let potions: Vec<&str> =
        state.potions.iter().map(|potion| if potion.is_empty_slot() { "-" } else { &*potion.name }).collect();
    add(&mut lines, "potions", potions.join(", "));
    let relics: Vec<String> = state
        .relics
        .iter()
        .map(|relic| match relic.counter {
            Some(counter) if counter >= 0 => format!("{} ({counter})", relic.name),
            _ => relic.name.to_string(),
        })
        .collect();
    add(&mut lines, "relics", relics.join(", "));
    lines
}

fn add(lines: &mut Vec<Line>, title: &str, text: String) {
    if !text.is_empty() {
        lines.push(line(title, text));
    }
}

fn headline(state: &GameState<'_>) -> String {
    let (hp, max) = state.hit_points();
    let screen = match &*state.screen_type {
        "NONE" if state.is_screen_up == Some(true) => match &*state.screen_name {
            "FTUE" => "tutorial".to_owned(),
            other => other.to_lowercase().replace('_', " "),
        },
        "NONE" if state.combat_state.is_some() => "combat".to_owned(),
        "NONE" => "nothing to choose".to_owned(),
        other => other.to_lowercase().replace('_', " "),
    };
    format!(
        "{} A{}  act {} floor {}  hp {hp}/{max}  gold {}  {screen}",
        state.class, state.ascension_level, state.act, state.floor, state.gold
    )
}

fn add_combat(combat: &CombatState<'_>, lines: &mut Vec<Line>) {
    let player = &combat.player;
    lines.push(line(
        "you",
        format!("block {}  energy {}  turn {}{}", player.block, player.energy, combat.turn, powers(&player.powers)),
    ));
    add(lines, "orbs", orbs(player));
    for (index, monster) in combat.monsters.iter().enumerate() {
        if !monster.is_gone {
            lines.push(line(index.to_string(), describe_monster(&combat.monsters, index, monster)));
        }
    }
    lines.extend(without_target(combat).map(|note| line("", note)));
    let hand: Vec<String> = combat.hand.iter().map(name_and_cost).collect();
    add(lines, "hand", hand.join(", "));
}

fn orbs(player: &Player<'_>) -> String {
    let names: Vec<&str> = player.orbs.iter().map(|orb| &*orb.name).collect();
    names.join(", ")
}

fn describe_monster(monsters: &[Monster<'_>], index: usize, monster: &Monster<'_>) -> String {
    let name = name_monster(monsters, index);
    let block = if monster.block > 0 { format!("  block {}", monster.block) } else { String::new() };
    format!(
        "{name}  hp {}/{}{block}  {}{}",
        monster.current_hp,
        monster.max_hp,
        intent(monster),
        powers(&monster.powers)
    )
}

/// `attack 6 x 2`, `defend buff`; `intent hidden` under a Runic Dome. Until the game has set the intent (DEBUG: in the
/// first turn and when a monster wakes), only its move is known: `attack 11 (base damage)`.
fn intent(monster: &Monster<'_>) -> String {
    let hits = match monster.move_hits {
        Some(hits) if hits > 1 => format!(" x {hits}"),
        _ => String::new(),
    };
    let known = |damage: Option<i64>| damage.filter(|&damage| damage >= 0);
    let (adjusted, base) = (known(monster.move_adjusted_damage), known(monster.move_base_damage));
    let intent = match &*monster.intent {
        "" | "NONE" => return "intent hidden".to_owned(),
        "DEBUG" => {
            return match (adjusted, base) {
                (Some(damage), _) => format!("attack {damage}{hits}"),
                (None, Some(damage)) => format!("attack {damage}{hits} (base damage)"),
                (None, None) => "intent not known yet".to_owned(),
            };
        }
        other => other.to_lowercase().replace('_', " "),
    };
    match adjusted {
        Some(damage) if intent.contains("attack") => format!("{intent} {damage}{hits}"),
        _ => intent,
    }
}

fn powers(powers: &[Power<'_>]) -> String {
    let named: Vec<String> = powers.iter().map(|power| format!("{} {}", power.name, power.amount)).collect();
    if named.is_empty() { String::new() } else { format!("  [{}]", named.join(", ")) }
}

/// The screen's text, apart from its choices, which are listed as actions.
fn add_screen(state: &GameState<'_>, lines: &mut Vec<Line>) {
    let screen = &state.screen_state;
    match &*state.screen_type {
        "EVENT" => {
            add(lines, "event", screen.event_name.to_string());
            add(lines, "", one_line(&screen.body_text));
        }
        "GRID" => {
            let any = if screen.any_number { "any number up to " } else { "" };
            add(lines, "select", format!("{any}{}", screen.num_cards));
            let selected: Vec<String> = screen.selected_cards.iter().map(name_and_cost).collect();
            add(lines, "selected", selected.join(", "));
        }
        "HAND_SELECT" => {
            let zero = if screen.can_pick_zero { ", or none" } else { "" };
            add(lines, "select", format!("up to {}{zero}", screen.max_cards));
            let selected: Vec<String> = screen.selected.iter().map(name_and_cost).collect();
            add(lines, "selected", selected.join(", "));
        }
        "GAME_OVER" => {
            let how = if screen.victory { "victory" } else { "defeat" };
            let score = screen.score.map_or_else(String::new, |score| format!(", score {score}"));
            add(lines, "over", format!("{how}{score}"));
        }
        _ => {}
    }
}

fn one_line(text: &Text<'_>) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
