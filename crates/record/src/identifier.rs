//! The words of an identifier: split at separators, and where lower case turns into upper case.

/// The words of `deleteAccount`, `delete-account`, `DELETE_ACCOUNT` or `HTTPServer`, in their original case.
pub fn split(name: &str) -> Vec<&str> {
    let mut before = ' ';
    let mut begun = 0;
    let mut letters = name.char_indices().peekable();
    let mut pieces = Vec::with_capacity(8);
    while let Some((at, letter)) = letters.next() {
        let begins = letter.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || before.is_uppercase() && letters.peek().is_some_and(|(_, next)| next.is_lowercase()));
        let is_mark = !letter.is_alphanumeric();
        if is_mark || begins {
            pieces.push(&name[begun..at]);
            begun = if is_mark { at + letter.len_utf8() } else { at };
        }
        before = letter;
    }
    pieces.push(&name[begun..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The same words in lower case.
pub fn words(name: &str) -> Vec<String> {
    split(name).into_iter().map(str::to_lowercase).collect()
}

/// A name without its spelling, for comparison: its words in lower case, without separators. `api_key`, `API-Key` and `apiKey`
/// are the same.
pub fn unspelled(name: &str) -> String {
    let unspelled = split(name).concat().to_lowercase();
    if unspelled.is_empty() { name.to_lowercase() } else { unspelled }
}
