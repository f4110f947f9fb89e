//! Tests of the reader, beside serde_json.

use super::*;
use proptest::prelude::*;
use serde::de::IgnoredAny;

#[test]
fn the_first_special_byte_is_found_whatever_stands_around_it() {
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    for (first, second) in (0..=255).flat_map(|first| (0..=255).map(move |second| (first, second))) {
        for place in 0..7 {
            let mut word = [b'a'; 8];
            word[place] = first;
            word[place + 1] = second;
            let found = (special(u64::from_le_bytes(word)).trailing_zeros() / 8) as usize;
            assert_eq!(found, word.iter().position(is_special).unwrap_or(8), "{word:?}");
        }
    }
}

fn error(json: &str) -> Option<NotJson> {
    let mut tokens = Tokens::new(json);
    while tokens.next().is_some() {}
    tokens.finish().err()
}

#[test]
fn an_error_says_what_and_where() {
    let error = |json: &str| error(json).unwrap().to_string();
    assert_eq!(error(r#"{"a":1 "b":2}"#), "a comma or } is missing, at byte 8");
    assert_eq!(error("[1,]"), "a value is missing or is not JSON, at byte 4");
    assert_eq!(error("{} {}"), "something follows the value, at byte 4");
    assert_eq!(error(""), "a value is missing or is not JSON, at byte 1");
}

#[test]
fn what_is_skipped_is_a_whole_value() {
    let json = r#"{"a":[{"b":"]}\""},[]] , "c": "d" ,"e":{}, "f":-1.5e3 }"#;
    let mut tokens = Tokens::new(json);
    assert_eq!(tokens.next().unwrap().kind, Kind::Object);
    let mut values = Vec::new();
    while let Some(Token { kind: Kind::Key { .. }, .. }) = tokens.next() {
        values.push(&json[tokens.skip_value()]);
    }
    assert_eq!(values, [r#"[{"b":"]}\""},[]]"#, r#""d""#, "{}", "-1.5e3"]);
    assert!(tokens.next().is_none() && tokens.finish().is_ok());
}

proptest! {
    #[test]
    fn it_accepts_what_serde_json_accepts(text in r#"[\[\]{}":,a1.e\\ntrue -]{0,24}"#) {
        let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        prop_assert_eq!(error(&text).is_none(), is_json, "{}", text);
    }

    #[test]
    fn every_item_begins_with_a_token(items in prop::collection::vec("(-?[1-9][0-9]{0,9}(\\.[0-9]{1,3})?|true|null|\"[a-z\u{e9} ]{0,12}\"|\\[\\]|\\{\"k\": ?1\\})", 0..8)) {
        let json = format!("[{}]", items.join(" , "));
        let mut tokens = Tokens::new(&json);
        prop_assert_eq!(tokens.next().unwrap().kind, Kind::Array);
        let mut seen = Vec::new();
        while let Some(first) = tokens.next().filter(|first| first.kind != Kind::End) {
            if first.opens() {
                tokens.skip_rest();
            }
            seen.push(&json[first.outer_start()..tokens.position()]);
        }
        prop_assert_eq!(seen, items);
        prop_assert!(tokens.finish().is_ok());
    }
}
