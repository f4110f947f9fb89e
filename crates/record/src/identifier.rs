//! The words of an identifier: split at separators, and where lower case turns into upper case.

/// The words of `deleteAccount`, `delete-account`, `DELETE_ACCOUNT` or `HTTPServer`, in their original case.
pub fn split(name: &str) -> Vec<&str> {
    if name.is_ascii() { split_ascii(name) } else { split_letters(name) }
}

/// As [`split_letters`], for most names: every call is split several times.
fn split_ascii(name: &str) -> Vec<&str> {
    let bytes = name.as_bytes();
    let mut begun = 0;
    let mut pieces = Vec::with_capacity(8);
    for (at, letter) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
        let begins = letter.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || before.is_ascii_uppercase() && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        let is_mark = !letter.is_ascii_alphanumeric();
        if is_mark || begins {
            pieces.push(&name[begun..at]);
            begun = if is_mark { at + 1 } else { at };
        }
    }
    pieces.push(&name[begun..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn split_letters(name: &str) -> Vec<&str> {
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
    let lower = if name.is_ascii() { str::to_ascii_lowercase } else { str::to_lowercase };
    split(name).into_iter().map(lower).collect()
}

/// A name without its spelling, for comparison: its words in lower case, without separators. `api_key`, `API-Key` and `apiKey`
/// are the same.
pub fn unspelled(name: &str) -> String {
    let unspelled = split(name).concat().to_lowercase();
    if unspelled.is_empty() { name.to_lowercase() } else { unspelled }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_splitting_agree() {
        for name in
            ["", "_", "deleteAccount", "HTTPServer2Go", "a__b-C", "DELETE_ACCOUNT", "x1Y2z", "ABc", "aB C.d", "9A"]
        {
            assert_eq!(split_ascii(name), split_letters(name), "{name}");
        }
        assert_eq!(words("löscheKonto"), ["lösche", "konto"]);
    }
}
