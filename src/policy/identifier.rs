//! The words of an identifier: split at marks, and where small letters turn into capitals.

/// The words of `deleteAccount`, `delete-account`, `DELETE_ACCOUNT` or `HTTPServer`, as they are written.
pub fn split(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_letter = letter.is_alphanumeric();
        let begins = letter.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || before.is_uppercase() && letters.peek().is_some_and(|next| next.is_lowercase()));
        if !is_letter || begins {
            words.push(String::new());
        }
        if let (true, Some(word)) = (is_letter, words.last_mut()) {
            word.push(letter);
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The same words in lower case.
pub fn words(name: &str) -> Vec<String> {
    split(name).into_iter().map(|word| word.to_lowercase()).collect()
}
