//! Whether a query begins like a statement of SQL with effects, and unlike a sentence: for tools whose name says nothing of
//! a database, which may as well search for words.

use super::actions::words_of;
use super::database::behind_comments;
use crate::lists::actions::OBJECTS;
use crate::lists::sql::BEGINNINGS;

/// Whether a text does so; that it does more than read is for its reader to say.
pub fn begins_statement(text: &str) -> bool {
    let text = behind_comments(text);
    has_words(text) || has_signs(text)
}

/// By its words, whatever is between them: `DELETE/**/FROM`.
fn has_words(text: &str) -> bool {
    let words: Vec<String> = words_of(text).filter(|word| !word.is_empty()).collect();
    let has = |word: &str| words.iter().any(|one| one == word);
    let Some((first, rest)) = words.split_first() else { return false };
    let second = rest.first().map_or("", String::as_str);
    if BEGINNINGS.contains(&&*format!("{first} {second}")) {
        return true;
    }
    let at = |place: usize, word: &str| rest.get(place - 1).is_some_and(|one| one == word);
    match first.as_str() {
        // `DELETE t FROM t JOIN u`.
        "delete" => at(2, "from") || at(3, "from") && has("join"),
        "insert" | "replace" | "upsert" => has("values") || has("select") && (at(2, "select") || text.contains('(')),
        "merge" => has("using"),
        "update" => has("set"),
        "create" if second == "function" => text.contains('('),
        "alter" | "create" | "drop" => OBJECTS.contains(&second),
        "truncate" => OBJECTS.contains(&second) || words.len() == 2,
        "deny" | "grant" | "revoke" => changes_rights(&words),
        "kill" => !second.is_empty() && second.bytes().all(|one| one.is_ascii_digit()),
        "load" => has("infile") || has("inpath"),
        "set" => ["global", "password", "persist"].contains(&second) && (text.contains('=') || has("for")),
        "shutdown" => rest.is_empty(),
        "unload" => text.contains('(') && text.contains('\''),
        "do" => text.contains("$$"),
        "select" => has("from") || text.contains('('),
        _ => false,
    }
}

/// Whether the words are those of a statement about rights: `GRANT SELECT ON t TO bob`, `GRANT admin TO bob`,
/// `REVOKE ALL PRIVILEGES, GRANT OPTION FROM bob`.
fn changes_rights(words: &[String]) -> bool {
    let has = |word: &str| words.iter().any(|one| one == word);
    let ends = |place: usize| words.get(place).is_some_and(|word| word == "to" || word == "from");
    (has("to") || has("from")) && (has("on") || has("privileges")) || words.len() == 4 && ends(2)
}

/// By its first words, with their signs.
fn has_signs(text: &str) -> bool {
    let mut words = text.split_whitespace().map(str::to_ascii_lowercase);
    let begins = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match (begins.0.as_str(), begins.1.as_str()) {
        ("explain", options) => options.starts_with('('),
        // The statement is behind the named queries, or in them.
        ("with", _) => text.split('(').rev().skip(1).any(|before| {
            let named = before.trim_end().to_ascii_lowercase();
            named.ends_with(" as") || named.ends_with(" materialized")
        }),
        ("copy", _) => text.contains('\'') && words.any(|word| ["from", "program", "to"].contains(&word.as_str())),
        ("set", variable) => variable.starts_with("@@"),
        ("call", procedure) => procedure.contains('('),
        ("exec" | "execute", procedure) => ["@", "sp_", "xp_"].iter().any(|begin| procedure.starts_with(begin)),
        (first, _) => first.starts_with("/*!") || first.starts_with("/*m!"),
    }
}
