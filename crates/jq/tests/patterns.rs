//! Regular expressions: all scripts, jq's flags, offsets in characters.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use pipewright_jq::{Filter, Input, Limits};

fn one(input: &str, filter: &str) -> Result<String, Box<dyn std::error::Error>> {
    let filter = Filter::compile(filter, &[], Limits::default())?;
    let mut out = Vec::new();
    filter.one(Input::Text(input), &[], &mut out)?;
    Ok(String::from_utf8(out)?)
}

#[test]
fn patterns_support_all_scripts_and_count_characters() {
    for (input, filter, expected) in [
        ("УДАЛИТЬ", r#"test("удалить"; "i")"#, "true"),
        ("УДАЛИТЬ", r#"test(["удалить", "i"])"#, "true"),
        ("УДАЛИТЬ", r#"test("удалить")"#, "false"),
        ("не удалить!", r#"test("\\bудалить\\b")"#, "true"),
        ("неудалить", r#"test("\\bудалить\\b")"#, "false"),
        ("привет", r#"test("^\\w+$") and test("^\\p{L}+$") and test("^\\p{Cyrillic}+$")"#, "true"),
        ("éa", r#"[match("a").offset, match("é").length]"#, "[1,1]"),
        (
            "тест 12",
            r#"match("(?<слово>\\w+) (\\d+)")"#,
            r#"{"offset":0,"length":7,"string":"тест 12","captures":[{"offset":0,"length":4,"string":"тест","name":"слово"},{"offset":5,"length":2,"string":"12","name":null}]}"#,
        ),
        ("ab", r#"[match("(x)?b").captures[0] | .offset, .string]"#, "[-1,null]"),
        ("abab", r#"[match("a"; "g").offset]"#, "[0,2]"),
        ("abab", r#"[match("a").offset]"#, "[0]"),
        ("aXb", r#"[match("x*"; "gi") | .length]"#, "[0,1,0]"),
        ("aXb", r#"[match("x*"; "gin") | .length]"#, "[1]"),
        ("ab", r#"test("a b # letters"; "x")"#, "true"),
        ("a\nb", r#"[test("a.b"), test("a.b"; "s"), test("a.b"; "p"), test("^b")]"#, "[false,false,true,false]"),
        ("k=v", r#"capture("(?<key>\\w)=(?<value>\\w)")"#, r#"{"key":"k","value":"v"}"#),
        ("a1b22", r#"[scan("\\d+")]"#, r#"["1","22"]"#),
        ("a1b2", r#"[scan("(\\w)(\\d)")]"#, r#"[["a","1"],["b","2"]]"#),
        ("a, b,c", r#"split(", *"; null)"#, r#"["a","b","c"]"#),
        ("a1b2c", r#"[splits("\\d")]"#, r#"["a","b","c"]"#),
        (
            "abcb",
            r#"[sub("b"; "x"), gsub("b"; "x"), gsub("(?<l>[bc])"; "<\(.l)>")]"#,
            r#"["axcb","axcx","a<b><c><b>"]"#,
        ),
        ("Привет", r#"gsub("[^а-я]"; "_"; "i")"#, "\"Привет\""),
        ("abc", r#"gsub(""; "-")"#, "\"-a-b-c-\""),
        ("abc", r#"gsub("^"; "> ")"#, "\"> abc\""),
        ("aa", r#"[sub("a"; "1", "2")]"#, r#"["1a","2a"]"#),
        ("aa", r#"[gsub("a"; "1", "2")]"#, r#"["11","12","21","22"]"#),
        ("aa", r#"[gsub("a"; empty)]"#, "[]"),
    ] {
        assert_eq!(one(input, filter).unwrap_or_else(|error| error.to_string()), expected, "{input} | {filter}");
    }
}

#[test]
fn an_invalid_pattern_is_an_error() {
    for (filter, expected) in [
        (r#"test("(")"#, "unclosed group"),
        (r#"test("a"; "q")"#, "\"q\" is not a flag"),
        (r#"test("a"; "l")"#, "flag l is not supported"),
        (r#"test("(a{1000}){1000}")"#, "too large"),
        ("test(1)", "is not a string"),
        (r#"[1] | test("a")"#, "is not a string"),
    ] {
        let error = one("x", filter).expect_err(filter).to_string();
        assert!(error.contains(expected), "{filter}: {error}");
    }
}

/// Uses more patterns than are kept at a time, repeatedly.
#[test]
fn patterns_come_and_go() {
    let filter = Filter::compile("test(.)", &[], Limits::default()).expect("it is a filter");
    for round in 0..3 {
        for number in 0..200 {
            let pattern = format!("\"^\\\\D{{0,2}}{number}\"");
            assert!(!filter.matches(Input::Json(pattern.as_bytes()), &[]).expect("it is a pattern"), "{round}");
        }
    }
}

/// Thousands of matches in a large text are cheap if a pattern searches no further than its matches.
#[test]
fn many_matches_in_a_large_text() {
    let text = "<b>some</b>  text at https://example.com/x ".repeat(if cfg!(debug_assertions) { 500 } else { 20_000 });
    for filter in
        [r#"gsub("\\s+"; " ")"#, r#"gsub("<[^>]*>"; "")"#, r#"[match("https?://\\S+"; "g")]"#, r#"[scan("\\w+")]"#]
    {
        let found = one(&text, &format!("{filter} | length > 0"));
        assert_eq!(found.unwrap_or_else(|error| error.to_string()), "true", "{filter}");
    }
}

/// Patterns that are slow in backtracking engines.
#[test]
fn nothing_backtracks() {
    let text = "a".repeat(5_000);
    for filter in
        [r#"test("(a+)+$b")"#, r#"test("(a|aa)+b")"#, r#"test("(.*)*x")"#, r#"test("^(([a-z])+.)+[A-Z]([a-z])+$")"#]
    {
        assert_eq!(one(&text, filter).expect(filter), "false", "{filter}");
    }
}
