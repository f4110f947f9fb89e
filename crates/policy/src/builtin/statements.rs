//! Whether a query begins like a statement of SQL with effects, and unlike a sentence: for tools whose name says nothing of
//! a database, which may as well search for words.

use super::actions::words_of;
use super::database::behind_comments;
use crate::lists::actions::OBJECTS;

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
    match first.as_str() {
        "delete" => ["from", "low_priority", "top"].contains(&second),
        "insert" | "replace" => ["ignore", "into"].contains(&second) || has("values"),
        "merge" => second == "into" || has("using"),
        "update" => has("set"),
        "alter" | "create" | "drop" => OBJECTS.contains(&second),
        "truncate" => OBJECTS.contains(&second) || words.len() == 2,
        "grant" | "revoke" => has("on") && (has("to") || has("from")),
        "execute" => second == "immediate",
        "explain" => ["analyze", "analyse", "verbose"].contains(&second),
        "export" => second == "data",
        "rename" => second == "table",
        "kill" => !second.is_empty() && second.bytes().all(|one| one.is_ascii_digit()),
        "shutdown" => rest.is_empty(),
        "do" => text.contains("$$"),
        "begin" => ["delete", "drop", "insert", "merge", "update"].contains(&second),
        "select" => has("from") || text.contains('('),
        _ => false,
    }
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
        ("call", procedure) => procedure.contains('('),
        ("exec" | "execute", procedure) => ["@", "sp_", "xp_"].iter().any(|begin| procedure.starts_with(begin)),
        (first, _) => first.starts_with("/*!") || first.starts_with("/*m!"),
    }
}
