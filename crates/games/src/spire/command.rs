//! What a line means to the mod in a state: choices by name, targets that a card does not need, surplus words. Checks
//! and error texts are those of CommunicationMod's CommandExecutor, in its order.

use super::action::{Action, CANCEL, CARDS, CHOICES, POTIONS, PROCEED};
use super::legal_actions::actions_when_ready;
use super::message::{CombatState, GameState, Message};
use super::targets::Targets;

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEffect {
    /// A legal action of the table.
    Action(Action),
    /// Changes the game and has no id: `key`, `click`, a choice past the 60th, a monster without a target, a command of
    /// another version of the mod.
    Other,
    /// Decides nothing and gets a state: `state`, `wait`.
    Ask,
    /// Starts a run.
    Start,
}

/// Why a command is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The mod's error text, or our own if the mod would take the command.
    pub error: String,
    /// The action of the command, if it has one.
    pub action: Option<Action>,
}

impl From<String> for Refusal {
    fn from(error: String) -> Refusal {
        Refusal { error, action: None }
    }
}

/// The words of a command, in lower case.
struct Words(Vec<String>);

/// What a command means that is never checked: it means the same in every state.
pub fn read_without_state(line: &str) -> Option<CommandEffect> {
    match line.split_whitespace().next()?.to_lowercase().as_str() {
        "start" => Some(CommandEffect::Start),
        "state" | "wait" => Some(CommandEffect::Ask),
        "key" | "click" => Some(CommandEffect::Other),
        _ => None,
    }
}

/// Reads a line as the mod would with this message as its latest. Does not check whether the game is ready: the mod
/// takes commands at any time.
///
/// # Errors
/// The mod would refuse it, or the action is not legal.
pub fn read(line: &str, message: &Message<'_>) -> Result<CommandEffect, Refusal> {
    if let Some(meaning) = read_without_state(line) {
        return Ok(meaning);
    }
    let words = Words(line.to_lowercase().split_whitespace().map(str::to_owned).collect());
    let verb = words.get(0).unwrap_or_default();
    words.check_available(message)?;
    let Some(state) = &message.game_state else {
        return Ok(CommandEffect::Other);
    };
    let action = match verb {
        "play" => words.play(state)?,
        "choose" => words.choose(state)?,
        "potion" => words.potion(state)?,
        "end" => Some(Action::End),
        word if PROCEED.contains(&word) => Some(Action::Proceed),
        word if CANCEL.contains(&word) => Some(Action::Cancel),
        _ => None,
    };
    let Some(action) = action else {
        return Ok(CommandEffect::Other);
    };
    if actions_when_ready(message).contains(&action) {
        return Ok(CommandEffect::Action(action));
    }
    let error = match action {
        Action::Play { target: None, card } if needs_target(state, card) => NEEDS_TARGET.to_owned(),
        Action::Play { .. } => NOT_PLAYABLE.to_owned(),
        Action::UsePotion { .. } => NOT_USABLE.to_owned(),
        Action::DiscardPotion { .. } => "Selected potion cannot be discarded.".to_owned(),
        _ => format!("There is no room for a potion, and the game would not answer the command \"{}\".", words.all()),
    };
    Err(Refusal { error, action: Some(action) })
}

const NOT_PLAYABLE: &str = "Selected card cannot be played with the selected target.";
const NEEDS_TARGET: &str = "Selected card requires an enemy target.";
const NOT_USABLE: &str = "Selected potion cannot be used.";

impl Words {
    fn get(&self, index: usize) -> Option<&str> {
        self.0.get(index).map(String::as_str)
    }

    fn all(&self) -> String {
        self.0.join(" ")
    }

    fn required(&self, index: usize, hint: &str) -> Result<&str, String> {
        self.get(index).ok_or_else(|| format!("Argument missing in command \"{}\".{hint}", self.all()))
    }

    fn invalid(&self, argument: &str) -> String {
        format!("Invalid argument {argument} in command \"{}\".", self.all())
    }

    fn out_of_bounds(&self, index: &str) -> String {
        format!("Index {index} out of bounds in command \"{}\"", self.all())
    }

    fn number(&self, word: &str) -> Result<i32, String> {
        word.parse().map_err(|_| self.invalid(word))
    }

    fn check_available(&self, message: &Message<'_>) -> Result<(), String> {
        let verb = self.get(0).unwrap_or_default();
        let is_offered = match verb {
            word if PROCEED.contains(&word) => message.offered_word(&PROCEED).is_some(),
            word if CANCEL.contains(&word) => message.offered_word(&CANCEL).is_some(),
            word => message.offers(word),
        };
        if is_offered {
            return Ok(());
        }
        Err(format!("Invalid command: {verb}. Possible commands: [{}]", message.listed_commands()))
    }

    /// The index of a monster in the array.
    fn monster(&self, word: &str, combat: &CombatState<'_>) -> Result<usize, String> {
        let target = self.number(word)?;
        let index = usize::try_from(target).ok().filter(|&index| index < combat.monsters.len());
        index.ok_or_else(|| self.out_of_bounds(&target.to_string()))
    }

    fn play(&self, state: &GameState<'_>) -> Result<Option<Action>, Refusal> {
        let Some(combat) = &state.combat_state else {
            return Err(NOT_PLAYABLE.to_owned().into());
        };
        let number = match self.number(self.required(1, "")?)? {
            0 => 10,
            number => number,
        };
        let card = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let Some((card, held)) = card.and_then(|card| Some((card, combat.hand.get(card)?))) else {
            return Err(self.out_of_bounds(&number.to_string()).into());
        };
        // With more than three words, the mod ignores all of them; -1 is no target.
        let monster = match self.get(2).filter(|_| self.0.len() == 3) {
            Some(word) if self.number(word)? != -1 => Some(self.monster(word, combat)?),
            _ => None,
        };
        // The mod checks that the monster of a card without a target exists, and no more.
        let monster = monster.filter(|_| held.has_target);
        let target = target_of(monster, combat).ok();
        let action = index(card, CARDS).zip(target).map(|(card, target)| Action::Play { card, target });
        // What has no id is not looked up among the legal actions.
        let misses_target = held.has_target && monster.is_none();
        if is_gone(monster, combat) || action.is_none() && (!held.is_playable || misses_target) {
            return Err(Refusal { error: NOT_PLAYABLE.to_owned(), action });
        }
        Ok(action)
    }

    fn choose(&self, state: &GameState<'_>) -> Result<Option<Action>, Refusal> {
        self.required(1, " A choice is required.")?;
        let choices = &state.choice_list;
        if choices.is_empty() {
            return Err("The choice command is not implemented on this screen.".to_owned().into());
        }
        let choice = self.0[1..].join(" ");
        let place = match choices.iter().position(|name| name.to_lowercase() == choice) {
            Some(named) => named,
            None => {
                let number = self.number(&choice).map_err(|_| self.invalid(&choice))?;
                let place = usize::try_from(number).ok().filter(|&place| place < choices.len());
                place.ok_or_else(|| self.out_of_bounds(&choice))?
            }
        };
        Ok(index(place, CHOICES).map(|index| Action::Choose { index }))
    }

    fn potion(&self, state: &GameState<'_>) -> Result<Option<Action>, Refusal> {
        let slot_word = self.required(2, "")?;
        let use_or_discard = self.get(1).unwrap_or_default();
        if !["use", "discard"].contains(&use_or_discard) {
            return Err(self.invalid(use_or_discard).into());
        }
        let place = usize::try_from(self.number(slot_word)?).ok();
        let Some((place, potion)) = place.and_then(|place| Some((place, state.potions.get(place)?))) else {
            return Err("Potion index out of bounds.".to_owned().into());
        };
        if potion.is_empty_slot() {
            return Err("No potion in the selected slot.".to_owned().into());
        }
        let slot = index(place, POTIONS);
        // What has no id is not looked up among the legal actions, so it is checked here.
        let is_allowed = if use_or_discard == "discard" { potion.can_discard } else { potion.can_use };
        if slot.is_none() && !is_allowed {
            return Err(NOT_USABLE.to_owned().into());
        }
        if use_or_discard == "discard" {
            return Ok(slot.map(|slot| Action::DiscardPotion { slot }));
        }
        let Some(combat) = state.combat_state.as_ref().filter(|_| potion.can_use && potion.takes_target()) else {
            return Ok(slot.map(|slot| Action::UsePotion { slot, target: None }));
        };
        let word = match self.get(3) {
            None if potion.needs_target().is_none() => return Ok(None),
            _ => self.required(3, " Selected potion requires a target.")?,
        };
        let monster = Some(self.monster(word, combat)?);
        let action = slot.zip(target_of(monster, combat).ok()).map(|(slot, target)| Action::UsePotion { slot, target });
        if is_gone(monster, combat) {
            return Err(Refusal { error: NOT_USABLE.to_owned(), action });
        }
        Ok(action)
    }
}

/// The index, if the table has an id for it.
fn index(index: usize, most: usize) -> Option<u8> {
    u8::try_from(index).ok().filter(|_| index < most)
}

/// The table has no id for a monster.
struct NoTargetId;

/// The target that a monster is.
fn target_of(monster: Option<usize>, combat: &CombatState<'_>) -> Result<Option<u8>, NoTargetId> {
    let target = |monster| Targets::of(Some(combat)).target(monster).ok_or(NoTargetId);
    monster.map(target).transpose()
}

fn is_gone(monster: Option<usize>, combat: &CombatState<'_>) -> bool {
    monster.and_then(|monster| combat.monsters.get(monster)).is_some_and(|monster| monster.is_gone)
}

fn needs_target(state: &GameState<'_>, card: u8) -> bool {
    let held = state.combat_state.as_ref().and_then(|combat| combat.hand.get(usize::from(card)));
    held.is_some_and(|card| card.has_target && card.is_playable)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    const COMBAT: &str = r#"{"available_commands":["play","end","potion","key","state"],"ready_for_command":false,"in_game":true,"game_state":{"screen_type":"NONE","potions":[{"id":"Fire Potion","can_use":true,"can_discard":true,"requires_target":true},{"id":"Potion Slot"}],"combat_state":{"hand":[{"name":"Defend","is_playable":true},{"name":"Strike","is_playable":true,"has_target":true},{"name":"Wound","is_playable":false}],"monsters":[{"is_gone":true},{"is_gone":false}]}}}"#;
    const REWARD: &str = r#"{"available_commands":["choose","skip"],"ready_for_command":true,"in_game":true,"game_state":{"screen_type":"CARD_REWARD","choice_list":["blade dance","blade dance","1"]}}"#;

    fn read(message: &str, line: &str) -> Result<CommandEffect, String> {
        super::read(line, &Message::read(message).unwrap().unwrap()).map_err(|refusal| refusal.error)
    }

    fn id(message: &str, line: &str) -> u8 {
        match read(message, line) {
            Ok(CommandEffect::Action(action)) => action.id(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn what_has_no_id_is_checked_too() {
        let slots = r#"{"id":"Potion Slot"}"#;
        let potion = |can: bool| {
            let sixth = format!(r#"{{"id":"Fire Potion","can_use":{can},"can_discard":{can},"requires_target":true}}"#);
            COMBAT.replace(slots, &format!("{slots},{slots},{slots},{slots},{sixth}"))
        };
        let strike = r#"{"name":"Strike","is_playable":true,"has_target":true}"#;
        let hand = COMBAT.replace(strike, &[strike; 10].join(","));
        for (message, line, is_legal) in [
            (&potion(true), "potion use 5 1", true),
            (&potion(true), "potion use 5", false),
            (&potion(true), "potion use 5 9", false),
            (&potion(true), "potion discard 5", true),
            (&potion(false), "potion use 5 1", false),
            (&potion(false), "potion discard 5", false),
            (&hand, "play 11 1", true),
            (&hand, "play 11", false),
            (&hand, "play 11 -1", false),
            (&hand, "play 12", false),
        ] {
            assert_eq!(read(message, line).is_ok(), is_legal, "{line}: {:?}", read(message, line));
        }
    }

    #[test]
    fn a_command_is_read_as_the_mod_reads_it() {
        for (line, expected) in [
            ("play 1", 0),
            ("PLAY 1 1", 0),   // the target of a card that needs none
            ("play 1 0", 0),   // also if it is gone
            ("play 1 -01", 0), // -1 is no target
            ("play 2 1", 21),
            ("potion use 0 1", 80),
            ("potion discard 0 1", 105),
            ("end now", 170),
        ] {
            assert_eq!(id(COMBAT, line), expected, "{line}");
        }
        for (line, expected) in [("choose Blade  Dance", 110), ("choose 1", 112), ("choose 0", 110), ("Leave", 172)] {
            assert_eq!(id(REWARD, line), expected, "{line}");
        }
        assert_eq!(read(COMBAT, "start SILENT"), Ok(CommandEffect::Start));
        assert_eq!(read(REWARD, "wait 30"), Ok(CommandEffect::Ask));
        assert_eq!(read(COMBAT, "key map"), Ok(CommandEffect::Other));
    }

    #[test]
    fn refusals_have_the_wording_of_the_mod() {
        for (line, error) in [
            ("choose 0", r"Invalid command: choose. Possible commands: [play, end, potion, key, state]"),
            ("dance", r"Invalid command: dance. Possible commands: [play, end, potion, key, state]"),
            ("play", r#"Argument missing in command "play"."#),
            ("play x", r#"Invalid argument x in command "play x"."#),
            ("Play 4", r#"Index 4 out of bounds in command "play 4""#),
            ("play -1", r#"Index -1 out of bounds in command "play -1""#),
            ("play 2 7", r#"Index 7 out of bounds in command "play 2 7""#),
            ("play 2", NEEDS_TARGET),
            ("play 2 -1", NEEDS_TARGET),
            ("play 2 0", NOT_PLAYABLE),
            ("play 1 2", r#"Index 2 out of bounds in command "play 1 2""#),
            ("play 1 x", r#"Invalid argument x in command "play 1 x"."#),
            ("play 3", NOT_PLAYABLE),
            ("potion 0", r#"Argument missing in command "potion 0"."#),
            ("potion drink 0", r#"Invalid argument drink in command "potion drink 0"."#),
            ("potion use 2", "Potion index out of bounds."),
            ("potion use 1", "No potion in the selected slot."),
            ("potion use 0", r#"Argument missing in command "potion use 0". Selected potion requires a target."#),
            ("potion use 0 0", "Selected potion cannot be used."),
        ] {
            assert_eq!(read(COMBAT, line), Err(error.to_owned()), "{line}");
        }
        for (line, error) in [
            ("choose", r#"Argument missing in command "choose". A choice is required."#),
            ("choose strike", r#"Invalid argument strike in command "choose strike"."#),
            ("choose 3", r#"Index 3 out of bounds in command "choose 3""#),
            ("proceed", "Invalid command: proceed. Possible commands: [choose, skip]"),
        ] {
            assert_eq!(read(REWARD, line), Err(error.to_owned()), "{line}");
        }
    }

    #[test]
    fn choices_past_the_table_have_no_id() {
        let names: Vec<String> = (0..70).map(|card| format!("\"card {card}\"")).collect();
        let grid = REWARD.replace(r#""blade dance","blade dance","1""#, &names.join(","));
        assert_eq!(id(&grid, "choose card 59"), 169);
        assert_eq!(read(&grid, "choose card 60"), Ok(CommandEffect::Other));
        assert_eq!(read(&grid, "choose 69"), Ok(CommandEffect::Other));
    }
}
