//! The 173 action ids, and the command that each sends to the mod.

use super::targets::Targets;
use std::fmt;

/// Positions of the hand, targets, potion slots and choices below these bounds have an id.
pub const CARDS: usize = 10;
/// Targets index the full monsters array, see [`Targets`].
pub const TARGETS: usize = 6;
/// A Potion Belt makes five slots.
pub const POTIONS: usize = 5;
/// Decks can be larger: cards after the 60th of a grid have no id.
pub const CHOICES: usize = 60;
/// Ids are below this.
pub const IDS: u8 = 173;

/// Something a player can do. Every index counts from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Plays the card at this position of the hand.
    Play {
        /// Below [`CARDS`].
        card: u8,
        /// Below [`TARGETS`]; `None` if the card takes no target.
        target: Option<u8>,
    },
    /// Uses a potion.
    UsePotion {
        /// Below [`POTIONS`].
        slot: u8,
        /// Below [`TARGETS`]; `None` if the potion takes no target.
        target: Option<u8>,
    },
    /// Throws a potion away.
    DiscardPotion {
        /// Below [`POTIONS`].
        slot: u8,
    },
    /// Takes a choice of the screen, by its index in `choice_list`: names may repeat, and the mod cannot parse every
    /// name.
    Choose {
        /// Below [`CHOICES`].
        index: u8,
    },
    /// Ends the turn.
    End,
    /// Presses the button to continue (`confirm`, `proceed`).
    Proceed,
    /// Presses the button to go back (`cancel`, `skip`, `return`, `leave`).
    Cancel,
}

impl Action {
    /// The action of an id, or `None` above 172.
    pub fn from_id(id: u8) -> Option<Action> {
        Some(match id {
            0..=9 => Action::Play { card: id, target: None },
            10..=69 => Action::Play { card: id % 10, target: Some(id / 10 - 1) },
            70..=74 => Action::UsePotion { slot: id - 70, target: None },
            75..=104 => Action::UsePotion { slot: (id - 75) % 5, target: Some((id - 75) / 5) },
            105..=109 => Action::DiscardPotion { slot: id - 105 },
            110..=169 => Action::Choose { index: id - 110 },
            170 => Action::End,
            171 => Action::Proceed,
            172 => Action::Cancel,
            IDS.. => return None,
        })
    }

    /// Its id, 0 to 172.
    pub fn id(self) -> u8 {
        match self {
            Action::Play { card, target } => card + 10 * target.map_or(0, |target| target + 1),
            Action::UsePotion { slot, target: None } => 70 + slot,
            Action::UsePotion { slot, target: Some(target) } => 75 + slot + 5 * target,
            Action::DiscardPotion { slot } => 105 + slot,
            Action::Choose { index } => 110 + index,
            Action::End => 170,
            Action::Proceed => 171,
            Action::Cancel => 172,
        }
    }

    /// The command for the mod, in a state with these targets.
    pub fn command(self, targets: &Targets) -> String {
        match self {
            Action::Play { card, target: Some(target) } => format!("play {} {}", card + 1, targets.monster(target)),
            Action::UsePotion { slot, target: Some(target) } => {
                format!("potion use {slot} {}", targets.monster(target))
            }
            other => other.to_string(),
        }
    }

    /// Reads a mod command as the mod does: in any case, split at white space, `confirm` for `proceed`, any word for
    /// going back, `play 0` for the tenth card. Choices are read by index only.
    pub fn from_command(command: &str, targets: &Targets) -> Option<Action> {
        let lower = command.to_ascii_lowercase();
        let words: Vec<&str> = lower.split_ascii_whitespace().collect();
        let below =
            |word: &str, most: usize| -> Option<u8> { word.parse().ok().filter(|&index| usize::from(index) < most) };
        let target = |word: Option<&&str>| match word {
            None => Some(None),
            Some(word) => targets.target(word.parse().ok()?).map(Some),
        };
        Some(match words.as_slice() {
            ["play", card, rest @ ..] if rest.len() < 2 => Action::Play {
                card: match below(card, CARDS + 1)? {
                    0 => 9,
                    card => card - 1,
                },
                target: target(rest.first())?,
            },
            ["potion", "use", slot, rest @ ..] if rest.len() < 2 => {
                Action::UsePotion { slot: below(slot, POTIONS)?, target: target(rest.first())? }
            }
            ["potion", "discard", slot] => Action::DiscardPotion { slot: below(slot, POTIONS)? },
            ["choose", index] => Action::Choose { index: below(index, CHOICES)? },
            ["end"] => Action::End,
            [word] if PROCEED.contains(word) => Action::Proceed,
            [word] if CANCEL.contains(word) => Action::Cancel,
            _ => return None,
        })
    }
}

/// Whether a line has the form of a mod command, even one that has no id or that the mod would refuse. (Choices by name
/// depend on the state and are not checked here.)
pub fn is_command(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_ascii_whitespace().collect();
    let are_numbers = |words: &[&str]| words.iter().all(|word| word.parse::<i64>().is_ok());
    match words.as_slice() {
        ["end" | "state"] => true,
        [word] => PROCEED.contains(word) || CANCEL.contains(word),
        ["choose" | "wait", number] => are_numbers(&[*number]),
        ["play", rest @ ..] => rest.len() <= 2 && are_numbers(rest),
        ["potion", "use" | "discard", rest @ ..] => (1..=2).contains(&rest.len()) && are_numbers(rest),
        ["key", name, frames @ ..] => KEYS.contains(name) && frames.len() <= 1 && are_numbers(frames),
        ["click", "left" | "right", rest @ ..] => {
            (2..=3).contains(&rest.len()) && rest.iter().all(|word| word.parse::<f64>().is_ok())
        }
        ["start", class, rest @ ..] => {
            CLASSES.contains(class) && rest.len() <= 2 && are_numbers(&rest[..rest.len().min(1)])
        }
        _ => false,
    }
}

/// The classes as `start` takes them.
const CLASSES: [&str; 5] = ["ironclad", "silent", "the_silent", "defect", "watcher"];
/// The names that `key` takes (CommandExecutor).
const KEYS: [&str; 23] = [
    "confirm",
    "cancel",
    "map",
    "deck",
    "draw_pile",
    "discard_pile",
    "exhaust_pile",
    "end_turn",
    "up",
    "down",
    "left",
    "right",
    "drop_card",
    "card_1",
    "card_2",
    "card_3",
    "card_4",
    "card_5",
    "card_6",
    "card_7",
    "card_8",
    "card_9",
    "card_10",
];

/// The words of the button to continue; the mod lists one of them and takes any.
pub const PROCEED: [&str; 2] = ["proceed", "confirm"];
/// The words of the button to go back; the mod lists one of them and takes any.
pub const CANCEL: [&str; 4] = ["cancel", "skip", "return", "leave"];

/// The command for the mod, in a state without more than six monsters.
impl fmt::Display for Action {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Action::Play { card, target: None } => write!(to, "play {}", card + 1),
            Action::Play { card, target: Some(target) } => write!(to, "play {} {target}", card + 1),
            Action::UsePotion { slot, target: None } => write!(to, "potion use {slot}"),
            Action::UsePotion { slot, target: Some(target) } => write!(to, "potion use {slot} {target}"),
            Action::DiscardPotion { slot } => write!(to, "potion discard {slot}"),
            Action::Choose { index } => write!(to, "choose {index}"),
            Action::End => to.write_str("end"),
            Action::Proceed => to.write_str("proceed"),
            Action::Cancel => to.write_str("cancel"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Every action id with its name, and the command that the mod takes for it.
    const TABLE: &str = include_str!("../../../../tests/fixtures/spire/action_table.tsv");

    #[test]
    fn ids_and_commands_are_the_table() {
        let rows: Vec<(u8, &str)> = TABLE
            .lines()
            .skip(1)
            .map(|row| {
                let mut cells = row.split('\t');
                (cells.next().unwrap().parse().unwrap(), cells.nth(1).unwrap())
            })
            .collect();
        assert_eq!(rows.len(), usize::from(IDS));
        for (id, command) in rows {
            let action = Action::from_id(id).unwrap();
            assert_eq!(action.id(), id);
            assert_eq!(action.to_string(), command);
            assert_eq!(Action::from_command(command, &Targets::default()), Some(action));
        }
        assert_eq!(Action::from_id(IDS), None);
    }

    #[test]
    fn commands_are_read_as_the_mod_reads_them() {
        let read = |command| Action::from_command(command, &Targets::default()).map(Action::id);
        assert_eq!(read("  PLAY  0\t2 "), Some(9 + 30));
        assert_eq!(read("Confirm"), Some(171));
        assert_eq!(read("leave"), Some(172));
        assert_eq!(read("play 2 0"), Some(11), "42 is play 3 3");
        for none in [
            "",
            "play",
            "play 11",
            "play 1 6",
            "play 1 0 0",
            "play -1",
            "potion use 5",
            "choose 60",
            "choose strike",
            "state",
            "end now",
        ] {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
