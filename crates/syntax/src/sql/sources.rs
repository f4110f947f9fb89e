//! Addresses in the place of a table, and tables that ask other machines: DuckDB and others fetch what is written as `FROM 'https://host/a.csv'`, in either
//! kind of quotes.

use sqlparser::tokenizer::{Token, Word};

/// Tables that ask other machines when they are read: osquery's, Steampipe's.
const ACTING: [&str; 4] = ["carves", "curl", "curl_certificate", "net_http_request"];
/// Words before a table.
const BEFORE: [&str; 8] = ["desc", "describe", "from", "join", "pivot", "summarize", "table", "unpivot"];
/// Words that end a list of tables.
const BEHIND: [&str; 13] = [
    "except",
    "group",
    "having",
    "intersect",
    "limit",
    "on",
    "order",
    "qualify",
    "select",
    "set",
    "union",
    "values",
    "where",
];

/// Whether a query reads an address in the place of a table. The name of a file is no address.
pub(super) fn has_address(tokens: &[Token]) -> bool {
    // For each open bracket, whether a table may be in it.
    let mut places = vec![false];
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let is_place = places.last() == Some(&true);
        match token {
            // No other name of a column, a table or another name for it has these signs.
            Token::Word(word) if word.quote_style.is_some() && is_address(&word.value) => return true,
            Token::Word(word) if is_place && ACTING.iter().any(|table| word.value.eq_ignore_ascii_case(table)) => {
                return true;
            }
            Token::SingleQuotedString(text)
            | Token::DoubleQuotedString(text)
            | Token::EscapedStringLiteral(text)
            | Token::NationalStringLiteral(text)
                if is_place && is_address(text) =>
            {
                return true;
            }
            Token::LParen => places.push(is_place && begins_table(before)),
            Token::RParen if places.len() > 1 => _ = places.pop(),
            Token::SemiColon => places = vec![false],
            Token::Word(word) if is_one(word, &BEFORE) => set(&mut places, !before.is_some_and(is_distinct)),
            Token::Word(word) if is_one(word, &BEHIND) => set(&mut places, false),
            _ => {}
        }
    }
    false
}

/// Whether a query of Oracle's table without columns names anything with a package: `SELECT jobs.cancel_all FROM dual`
/// calls a function.
pub(super) fn may_call_by_name(tokens: &[Token]) -> bool {
    let is_dual = |pair: &[Token]| matches!(pair, [Token::Word(from), Token::Word(dual)] if is_one(from, &["from"]) && dual.value.eq_ignore_ascii_case("dual"));
    let is_member = |three: &[Token]| matches!(three, [Token::Word(_), Token::Period, Token::Word(_)]);
    tokens.windows(2).any(is_dual) && tokens.windows(3).any(is_member)
}

fn set(places: &mut [bool], is_place: bool) {
    if let Some(last) = places.last_mut() {
        *last = is_place;
    }
}

/// Whether a table may follow this token; what follows a name is another name for it.
fn begins_table(before: Option<&Token>) -> bool {
    match before {
        Some(Token::Comma | Token::LParen) => true,
        Some(Token::Word(word)) => is_one(word, &BEFORE),
        _ => false,
    }
}

fn is_one(word: &Word, words: &[&str]) -> bool {
    word.quote_style.is_none() && words.iter().any(|one| word.value.eq_ignore_ascii_case(one))
}

/// `a IS DISTINCT FROM 'b'` compares.
fn is_distinct(token: &Token) -> bool {
    matches!(token, Token::Word(word) if is_one(word, &["distinct"]))
}

fn is_address(text: &str) -> bool {
    text.contains("://") || text.starts_with("//")
}
