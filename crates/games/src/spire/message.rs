//! The mod's messages, read without copying: only the fields that decide, that are shown, or that identify a run. Field
//! names and meanings are those of CommunicationMod's GameStateConverter.

pub use super::text::Text;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::ops::Deref;

/// A value together with its original bytes, so that recording it needs no second parse.
#[derive(Debug, Clone, Copy, Default)]
pub struct WithRaw<'a, T> {
    raw: Option<&'a RawValue>,
    value: T,
}

impl<'a, T> WithRaw<'a, T> {
    /// Its bytes; `None` if it was absent.
    pub fn raw(&self) -> Option<&'a RawValue> {
        self.raw
    }
}

impl<T> Deref for WithRaw<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for WithRaw<'a, T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<WithRaw<'a, T>, D::Error> {
        let raw = <&RawValue>::deserialize(from)?;
        let value = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
        Ok(WithRaw { raw: Some(raw), value })
    }
}

/// A line from the mod: a state, or an error that answers a command.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Message<'a> {
    /// The commands that the mod accepts now, one synonym of each.
    #[serde(borrow)]
    pub available_commands: Option<Vec<Text<'a>>>,
    /// Whether the game is stable and waits.
    pub ready_for_command: Option<bool>,
    /// False in menus.
    #[serde(default)]
    pub in_game: bool,
    /// The text of an error message; those have no state.
    #[serde(borrow)]
    pub error: Option<Text<'a>>,
    /// Absent in menus.
    #[serde(borrow)]
    pub game_state: Option<GameState<'a>>,
    /// Written by an earlier `valid-actions`.
    #[serde(borrow, default, deserialize_with = "raw")]
    pub valid_actions: Option<&'a RawValue>,
    /// Why `sts-proxy` asks again, as it wrote it.
    #[serde(borrow, default, deserialize_with = "raw")]
    pub refused: Option<&'a RawValue>,
}

/// Why an answer to this state was not accepted.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct RefusedAnswer<'a> {
    /// `None` if no answer came.
    #[serde(borrow)]
    pub answer: Option<Text<'a>>,
    /// The fault of the answer.
    #[serde(borrow)]
    pub why: Text<'a>,
}

/// Unlike serde's own `Option`, reads a `null` as a value that is present.
fn raw<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// The part of the game's state that is used.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GameState<'a> {
    /// Which screen: EVENT, MAP, NONE (combat) and so on.
    #[serde(borrow)]
    pub screen_type: Text<'a>,
    /// The game's own name of it, such as FTUE (a tutorial) where the type is NONE.
    #[serde(borrow)]
    pub screen_name: Text<'a>,
    /// Whether it covers the room.
    pub is_screen_up: Option<bool>,
    /// The contents of the screen.
    #[serde(borrow)]
    pub screen_state: ScreenState<'a>,
    /// What `choose` takes, in order; absent if there is nothing to choose.
    #[serde(borrow)]
    pub choice_list: WithRaw<'a, Vec<Text<'a>>>,
    /// Absent outside combat.
    #[serde(borrow)]
    pub combat_state: Option<CombatState<'a>>,
    /// All slots; an empty one has the id `Potion Slot`.
    #[serde(borrow)]
    pub potions: Vec<Potion<'a>>,
    /// In the order in which they were found.
    #[serde(borrow)]
    pub relics: Vec<Relic<'a>>,
    /// The run's seed: a Java long, nearly always beyond what a float holds.
    pub seed: Option<i64>,
    /// IRONCLAD, THE_SILENT, DEFECT, WATCHER.
    #[serde(borrow)]
    pub class: Text<'a>,
    /// 0 to 20.
    pub ascension_level: i64,
    /// Counts from 0 (Neow) over all acts.
    pub floor: i64,
    /// 1 to 4.
    pub act: i64,
    /// The name of this act's boss.
    #[serde(borrow)]
    pub act_boss: Text<'a>,
    /// Hit points outside combat; in combat the player has its own.
    pub current_hp: i64,
    /// As `current_hp`.
    pub max_hp: i64,
    /// Gold pieces.
    pub gold: i64,
}

/// The mod's screen types with actions of their own. The only other one is NONE.
const KNOWN_SCREENS: [&str; 13] = [
    "BOSS_REWARD",
    "CARD_REWARD",
    "CHEST",
    "COMBAT_REWARD",
    "COMPLETE",
    "EVENT",
    "GAME_OVER",
    "GRID",
    "HAND_SELECT",
    "MAP",
    "REST",
    "SHOP_ROOM",
    "SHOP_SCREEN",
];

impl GameState<'_> {
    /// Whether the game shows something of which the mod has no type. Without a screen, NONE is a room of which nothing
    /// is to be done; in a fight the turn could be ended then.
    pub fn is_on_unknown_screen(&self) -> bool {
        match &*self.screen_type {
            "NONE" => self.is_screen_up != Some(false) || self.combat_state.is_some(),
            other => !KNOWN_SCREENS.contains(&other),
        }
    }

    /// The player's hit points, and how many they can be: in combat the player's own count.
    pub fn hit_points(&self) -> (i64, i64) {
        match &self.combat_state {
            Some(combat) => (combat.player.current_hp, combat.player.max_hp),
            None => (self.current_hp, self.max_hp),
        }
    }
}

/// The contents of a screen: the fields of all screens together, since each has only a few.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)] // named by the mod
pub struct ScreenState<'a> {
    #[serde(borrow)]
    pub event_id: Text<'a>,
    #[serde(borrow)]
    pub event_name: Text<'a>,
    #[serde(borrow)]
    pub body_text: Text<'a>,
    #[serde(borrow)]
    pub options: WithRaw<'a, Vec<EventOption<'a>>>,
    #[serde(borrow)]
    pub chest_type: Text<'a>,
    #[serde(borrow)]
    pub rest_options: Vec<Text<'a>>,
    #[serde(borrow)]
    pub cards: Vec<Card<'a>>,
    #[serde(borrow)]
    pub rewards: Vec<Reward<'a>>,
    #[serde(borrow)]
    pub next_nodes: Vec<Node<'a>>,
    pub boss_available: bool,
    #[serde(borrow)]
    pub relics: Vec<Relic<'a>>,
    #[serde(borrow)]
    pub potions: Vec<Potion<'a>>,
    pub purge_available: bool,
    pub purge_cost: i64,
    #[serde(borrow)]
    pub selected_cards: Vec<Card<'a>>,
    pub num_cards: i64,
    pub any_number: bool,
    pub for_upgrade: bool,
    pub for_transform: bool,
    pub for_purge: bool,
    #[serde(borrow)]
    pub hand: Vec<Card<'a>>,
    #[serde(borrow)]
    pub selected: Vec<Card<'a>>,
    pub max_cards: i64,
    pub can_pick_zero: bool,
    pub score: Option<i64>,
    pub victory: bool,
}

/// A choice of an event.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct EventOption<'a> {
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub label: Text<'a>,
    pub disabled: bool,
    /// Its index in `choice_list`; absent if disabled.
    pub choice_index: Option<usize>,
}

/// A card in any place.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Card<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub uuid: Text<'a>,
    /// Energy; -1 is X, -2 cannot be played.
    pub cost: Option<i64>,
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Computed by the mod without a target.
    pub is_playable: bool,
    pub has_target: bool,
    /// In a shop.
    pub price: Option<i64>,
}

/// A potion, or an empty slot for one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Potion<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    pub can_use: bool,
    pub can_discard: bool,
    pub requires_target: bool,
    pub price: Option<i64>,
}

/// Potions that are thrown, and whether they are thrown at one monster. The mod's `requires_target` only says that a
/// potion is thrown; its executor goes by the other.
const THROWN_POTIONS: [(&str, bool); 6] = [
    ("Explosive Potion", false),
    ("FearPotion", true),
    ("Fire Potion", true),
    ("Poison Potion", true),
    ("SmokeBomb", false),
    ("Weak Potion", true),
];

impl Potion<'_> {
    /// Whether it is to be used on a monster. The mod ignores a target that is not needed, so a potion of another mod
    /// that is thrown gets one.
    pub fn takes_target(&self) -> bool {
        self.requires_target && self.thrown_at_one() != Some(false)
    }

    /// Whether the mod refuses it without a target; `None` if only the mod knows: it is thrown and belongs to another
    /// mod.
    pub fn needs_target(&self) -> Option<bool> {
        if self.requires_target { self.thrown_at_one() } else { Some(false) }
    }

    fn thrown_at_one(&self) -> Option<bool> {
        THROWN_POTIONS.iter().find(|(id, _)| *id == &*self.id).map(|(_, at_one)| *at_one)
    }

    /// Whether this is a slot without a potion.
    pub fn is_empty_slot(&self) -> bool {
        &*self.id == "Potion Slot"
    }
}

/// A relic.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Relic<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Below 0 if the relic does not count anything.
    pub counter: Option<i64>,
    pub price: Option<i64>,
}

/// One reward after a combat.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Reward<'a> {
    #[serde(borrow)]
    pub reward_type: Text<'a>,
    pub gold: Option<i64>,
    #[serde(borrow)]
    pub relic: Option<Relic<'a>>,
    #[serde(borrow)]
    pub potion: Option<Potion<'a>>,
    /// The relic that is lost when this key is taken.
    #[serde(borrow)]
    pub link: Option<Relic<'a>>,
}

/// A place on the map.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Node<'a> {
    pub x: i64,
    pub y: i64,
    #[serde(borrow)]
    pub symbol: Text<'a>,
}

/// A fight.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct CombatState<'a> {
    #[serde(borrow)]
    pub monsters: WithRaw<'a, Vec<Monster<'a>>>,
    #[serde(borrow)]
    pub hand: WithRaw<'a, Vec<Card<'a>>>,
    #[serde(borrow)]
    pub player: WithRaw<'a, Player<'a>>,
    pub turn: i64,
}

/// The player in a fight.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Player<'a> {
    pub current_hp: i64,
    pub max_hp: i64,
    pub block: i64,
    pub energy: i64,
    #[serde(borrow)]
    pub powers: Vec<Power<'a>>,
    #[serde(borrow)]
    pub orbs: Vec<Relic<'a>>,
}

/// A monster; the array also keeps those that are gone, since targets index it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Monster<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    pub current_hp: i64,
    pub max_hp: i64,
    pub block: i64,
    #[serde(borrow)]
    pub intent: Text<'a>,
    /// Damage of one hit as it would land now; absent under a Runic Dome, below 0 if it does not attack.
    pub move_adjusted_damage: Option<i64>,
    /// Damage of one hit before powers count; known before the intent is.
    pub move_base_damage: Option<i64>,
    pub move_hits: Option<i64>,
    /// Dead, half dead or escaped: not a target.
    pub is_gone: bool,
    #[serde(borrow)]
    pub powers: Vec<Power<'a>>,
}

/// A power of the player's or a monster's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Power<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    pub amount: i64,
}

impl<'a> Message<'a> {
    /// Reads a line's text. `Ok(None)`: not a message of the mod, that is, not a JSON object or one of another shape.
    ///
    /// # Errors
    /// A JSON object that cannot be read: truncated, with a repeated field, or with a field of another type than the
    /// mod's.
    pub fn read(text: &'a str) -> Result<Option<Message<'a>>, serde_json::Error> {
        if !text.trim_start().starts_with('{') {
            return Ok(None);
        }
        let message: Message = serde_json::from_str(text)?;
        Ok(message.is_from_the_mod().then_some(message))
    }

    fn is_from_the_mod(&self) -> bool {
        self.ready_for_command.is_some() && (self.available_commands.is_some() || self.error.is_some())
    }

    /// Whether the game waits for a command.
    pub fn is_ready(&self) -> bool {
        self.ready_for_command == Some(true)
    }

    /// The fight, if there is one.
    pub fn combat_state(&self) -> Option<&CombatState<'a>> {
        self.game_state.as_ref()?.combat_state.as_ref()
    }

    /// The commands that the mod lists.
    pub fn listed_commands(&self) -> String {
        self.available_commands.iter().flatten().map(|word| &**word).collect::<Vec<_>>().join(", ")
    }

    /// Whether the mod would take `command`.
    pub fn offers(&self, command: &str) -> bool {
        self.available_commands.iter().flatten().any(|available| &**available == command)
    }

    /// Why this state is asked again; `None` if it is not, or if the field has another form.
    pub fn refusal(&self) -> Option<RefusedAnswer<'a>> {
        serde_json::from_str(self.refused?.get()).ok()
    }

    /// The one of `words` that the mod lists.
    pub fn offered_word(&self, words: &[&'static str]) -> Option<&'static str> {
        words.iter().copied().find(|word| self.offers(word))
    }
}
