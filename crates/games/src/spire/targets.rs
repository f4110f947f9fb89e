//! Which monster each target of the action table is. Six targets have ids, and a fight can have more monsters: gone
//! ones keep their index, and split or summoned ones come after them.

use super::action::TARGETS;
use super::label::name_monster;
use super::message::CombatState;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The index in the monsters array for each target. Without more than six monsters they are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Targets([usize; TARGETS]);

impl Default for Targets {
    fn default() -> Targets {
        Targets(std::array::from_fn(|target| target))
    }
}

impl Targets {
    /// The targets of a state. A living monster past the sixth takes the lowest target whose own monster is gone.
    pub fn of(combat: Option<&CombatState<'_>>) -> Targets {
        let mut targets = Targets::default();
        if let Some(combat) = combat {
            for (target, index) in gone(combat).zip(late(combat)) {
                targets.0[target] = index;
            }
        }
        targets
    }

    /// The index of a target's monster.
    pub fn monster(&self, target: u8) -> usize {
        self.0.get(usize::from(target)).copied().unwrap_or_else(|| target.into())
    }

    /// The target that is the monster with this index; `None` if the table has no id for it.
    pub fn target(&self, monster: usize) -> Option<u8> {
        self.0.iter().position(|&index| index == monster).and_then(|target| u8::try_from(target).ok())
    }

    /// Whether each target is the monster with its own number.
    pub fn is_identity(&self) -> bool {
        *self == Targets::default()
    }
}

/// `{"2":6}`: the targets that are another monster.
impl Serialize for Targets {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (target, index) in self.0.iter().enumerate().filter(|(target, index)| target != *index) {
            map.serialize_entry(&target, index)?;
        }
        map.end()
    }
}

/// A sentence for each living monster for which no target is free.
pub fn without_target(combat: &CombatState<'_>) -> impl Iterator<Item = String> {
    late(combat).skip(gone(combat).count()).map(|index| {
        let name = name_monster(&combat.monsters, index);
        format!("monster {index}, {name}, has no action id, since six others live; use the command: play CARD {index}")
    })
}

/// The targets whose own monster is gone.
fn gone(combat: &CombatState<'_>) -> impl Iterator<Item = usize> {
    (0..).zip(combat.monsters.iter().take(TARGETS)).filter(|(_, monster)| monster.is_gone).map(|(index, _)| index)
}

/// The living monsters past the sixth.
fn late(combat: &CombatState<'_>) -> impl Iterator<Item = usize> {
    (0..).zip(combat.monsters.iter()).skip(TARGETS).filter(|(_, monster)| !monster.is_gone).map(|(index, _)| index)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A fight with these monsters: `x` is gone, `o` lives. The text for [`with`].
    fn fight(monsters: &str) -> String {
        let monsters: Vec<String> =
            monsters.chars().map(|monster| format!(r#"{{"is_gone":{}}}"#, monster == 'x')).collect();
        format!(r#"{{"monsters":[{}]}}"#, monsters.join(","))
    }

    /// The targets that moved, and the monsters without one.
    fn moved(monsters: &str) -> (String, String) {
        let text = fight(monsters);
        let combat: CombatState = serde_json::from_str(&text).unwrap();
        let targets = Targets::of(Some(&combat));
        let without: Vec<String> = without_target(&combat).collect();
        let without: Vec<&str> = without.iter().filter_map(|note| note.split([' ', ',']).nth(1)).collect();
        (serde_json::to_string(&targets).unwrap(), without.join(" "))
    }

    #[test]
    fn a_late_monster_takes_the_lowest_target_of_a_gone_one() {
        for (monsters, expected, without) in [
            ("", "{}", ""),
            ("oxo", "{}", ""),
            ("xxooxo", "{}", ""),
            ("xxxooxx", "{}", ""),
            ("xxxooxo", r#"{"0":6}"#, ""), // Slime Boss, when it and both large slimes have split
            ("oxoxoxoxo", r#"{"1":6,"3":8}"#, ""),
            ("ooooooo", "{}", "6"),
            ("oooooxxooo", r#"{"5":7}"#, "8 9"),
        ] {
            assert_eq!(moved(monsters), (expected.to_owned(), without.to_owned()), "{monsters}");
        }
    }

    #[test]
    fn a_target_that_was_taken_is_no_longer_the_gone_monster() {
        let text = fight("oxoooooo");
        let combat: CombatState = serde_json::from_str(&text).unwrap();
        let targets = Targets::of(Some(&combat));
        assert_eq!((targets.monster(1), targets.target(6), targets.target(1)), (6, Some(1), None));
        assert_eq!((targets.target(7), targets.target(2), targets.monster(2)), (None, Some(2), 2));
        assert!(!targets.is_identity() && Targets::of(None).is_identity());
    }
}
