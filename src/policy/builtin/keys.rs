//! Keys, and where they are typed: Enter submits a form, but in a search it only looks.

use super::{JudgedCall, text};
use crate::policy::target::Target;
use crate::record::Fields;

/// The word for searching that fields bear, in many languages; part of a name is enough.
const SEARCH: &[&str] = &[
    "search",
    "find",
    "filter",
    "such",
    "recherch",
    "buscar",
    "busca",
    "pesquis",
    "procurar",
    "cerca",
    "ricerca",
    "zoek",
    "sök",
    "søg",
    "søk",
    "haku",
    "etsi",
    "szukaj",
    "wyszuk",
    "hled",
    "hľad",
    "keres",
    "caut",
    "căuta",
    "поиск",
    "искать",
    "найти",
    "пошук",
    "търс",
    "претраг",
    "pretra",
    "išči",
    "otsi",
    "meklē",
    "paiešk",
    "αναζήτηση",
    "ara",
    "axtar",
    "بحث",
    "جستجو",
    "חיפוש",
    "חפש",
    "खोज",
    "অনুসন্ধান",
    "ค้นหา",
    "tìm",
    "cari",
    "搜",
    "查找",
    "検索",
    "검색",
    "ძებნა",
    "որոն",
];

/// Whether a field is one to search in.
pub fn searches(target: &Target) -> bool {
    let name = target.name.to_lowercase();
    let is_word = |word: &&str| match word.chars().count() {
        // Short ones are part of too much.
        ..=3 if word.is_ascii() => name.split(|one: char| !one.is_alphanumeric()).any(|own| own == *word),
        _ => name.contains(*word),
    };
    target.role.as_deref() == Some("searchbox") || SEARCH.iter().any(is_word)
}

/// What it types ends with Enter.
pub fn submits(call: &JudgedCall<'_>) -> bool {
    let is_true = |key: &&str| call.arguments.get(key).is_some_and(|value| value.get() == "true");
    let ends_line = |key: &&str| text(&call.arguments, key).is_some_and(|text| text.ends_with(['\n', '\r']));
    ["submit", "enter", "press_enter", "pressEnter", "auto_enter"].iter().any(is_true)
        || ["text", "value"].iter().any(ends_line)
}

/// The key that a call presses.
pub fn key_of(arguments: &Fields<'_>) -> Option<String> {
    ["key", "keys", "combo", "action", "hotkey"].iter().find_map(|key| text(arguments, key))
}

/// Whether a key, or the last of a combination, is one of these.
pub fn is_key(pressed: &str, keys: &[&str]) -> bool {
    let pressed = pressed.to_lowercase();
    let last = pressed.rsplit(['+', '-']).next().filter(|last| !last.is_empty()).unwrap_or(&pressed);
    let last = if last.trim().is_empty() { last } else { last.trim() };
    pressed.split_whitespace().any(|word| keys.contains(&word))
        || keys.contains(&last)
        || keys.contains(&pressed.as_str())
}
