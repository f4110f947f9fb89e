//! Compares the check with serde_json, which reads byte by byte: for all input that is not too deep, both must agree.

use super::*;
use crate::deeper_than;
use proptest::prelude::*;
use serde::de::IgnoredAny;

/// The verdicts of the check, which must be the same with all vectors that this processor has, and of serde_json.
fn verdict(body: &[u8], max_depth: usize) -> bool {
    let valid = std::str::from_utf8(body).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    let expected = valid && !deeper_than(body, max_depth);
    for level in levels() {
        let verdict = is_json_at(level, body, max_depth);
        assert_eq!(verdict, expected, "{level:?}, at most {max_depth} deep: {:?}", String::from_utf8_lossy(body));
    }
    expected
}

#[cfg(target_arch = "x86_64")]
fn levels() -> Vec<Level> {
    let best = Level::new();
    let lesser = [best.as_avx2().map(Simd::level), best.as_sse4_2().map(Simd::level), best.as_sse2().map(Simd::level)];
    [Some(best)].into_iter().chain(lesser).flatten().collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn levels() -> Vec<Level> {
    vec![Level::new()]
}

#[rustfmt::skip]
const VALID: &[&str] = &[
    "0", "-0", "1", "-1", "10", "1234567890", "0.0", "-0.5", "1.10", "1e5", "1E+05", "1e-0", "0e0", "1.5e300",
    "1e999", "-1e-999", "123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
    "0.12345678901234567890123456789012345678901234567890123456789012345678901234567890", "true", "false", "null",
    "[]", "{}", "[[]]", "[{}]", "[[],[]]", "[[],{},1,\"\"]", "[1]", "[1,2]", "[-1,0,0.5,true,false,null]",
    "[\"a\",\"b\"]", "[0,0]", "{\"a\":0}", "{\"\":\"\"}", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":[]},\"c\":[{}]}",
    "[{\"a\":[1,2]},[{}],3]", "{\"a\":[],\"b\":{},\"c\":\"d\"}", "[[1,2],[3,4]]", "[{\"a\":1},{\"a\":2}]",
    "{\"a\":[1,2],\"b\":[\"c\",\"d\"]}", "\"\"", "\"a\"", "\"\\\"\"", "\"\\\\\"", "\"\\\\\\\"\"",
    "\"\\/\\b\\f\\n\\r\\t\"", "\"\\u0041\\uaBcD\"", "\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"\\udc00\\ud800x\"",
    "\"\\u0000\"", "\"\u{7f}\"", "\"é€😀\"", "{\"é\":\"\u{2028}\"}", "\"{}[],:\"",
    "[\"{\",\"}\",\"[\",\"]\",\",\",\":\"]", "{\"{\":\"}\"}", " 1 ", "\t[\n1\r,\t2 ]\n",
    " { \"a\" : 1 , \"b\" : [ ] } ", "{ }", "[ ]", "[ [ ] , { } ]", "{\"a\": 1, \"b\": [2, 3], \"c\": {}}",
    "{\r\n\t\"a\": \"b\"\r\n}",
];

#[rustfmt::skip]
const INVALID: &[&str] = &[
    "", " ", "\n", "\u{feff}1", "\u{feff}{}", "+1", "01", "-01", "00", "-", "--1", "1.", ".5", "-.5", "1.e1", "1e",
    "1e+", "1e1.5", "1.2.3", "1e5e5", "1-1", "0x10", "1_000", "1a", "1 2", "Infinity", "NaN", "-NaN", "tru", "truE",
    "True", "truee", "true1", "1true", "nul", "nulll", "fals", "falsee", "truefalse", "t", "'a'", "a", "é", "[é]",
    "[", "]", "{", "}", "[1", "1]", "[1}", "{\"a\":1]", "[[]", "[]]", "{}}", "[}", "{]", "[](", "[1,]", "[,1]", "[,]",
    "[1,,2]", "[1 2]", "[1:2]", "[\"a\":1]", "[1,\"a\":2]", "[[],\"a\":2]", "[{},\"a\":[]]", "{,}", "{\"a\"}",
    "{\"a\":}", "{:1}", "{\"a\":1,}", "{,\"a\":1}", "{\"a\":1,,\"b\":2}", "{\"a\",\"b\"}", "{\"a\":1,\"b\"}",
    "{\"a\":1 \"b\":2}", "{\"a\":1:2}", "{\"a\"::1}", "{\"a\":\"b\":1}", "{1:2}", "{a:1}", "{true:1}", "{[]:1}",
    "{{}:1}", "{\"a\" 1}", "{\"a\" \"b\":1}", "{\"a\"1:2}", "{1\"a\":2}", "{[1]}", "{[]}", "{\"a\":{},[]}",
    "{\"a\":[],1}", "{\"a\":{},1:2}", "{\"a\":[]\"b\":1}", "{\"a\":1},", ",{}", ":", ",", "1,2", "1,[2]", "[1],2",
    "[1],[2]", "[][]", "{}{}", "{} {}", "[]1", "1[]", "\"a\"[]", "[]\"a\"", "\"a\":1", "\"a\" \"b\"", "\"a\"\"b\"",
    "\"a\"1", "1\"a\"", "[\"a\"\"b\"]", "[\"a\" \"b\"]", "[1\"a\"]", "[\"a\"1]", "[[]1]", "[1[]]", "[[][]]", "[{}{}]",
    "[\"a\"[]]", "[[]\"a\"]", "\"", "\"a", "a\"", "\"\"\"", "\"\\\"", "\"\\", "\"\\a\"", "\"\\'\"", "\"\\x41\"",
    "\"\\u\"", "\"\\u123\"", "\"\\u12g4\"", "\"\\u 123\"", "\"\\U0041\"", "\"\\u12\\\"34\"", "\\n", "\\\"a\"",
    "[\\\"a\"]", "{\"a\"\\:1}", "\"\t\"", "\"\n\"", "\"\r\"", "\"\0\"", "\"\u{1f}\"", "\0", "[\0]", "[1\0]", "\u{b}1",
    "1\u{c}", "\u{c}[]", "[\u{a0}1]", "/**/1", "1//", "#", "[1;2]", "(1)", "<1>", "[1]\u{feff}", "\u{7f}",
];

#[test]
fn every_production_is_accepted_and_everything_else_refused() {
    for text in VALID {
        assert!(verdict(text.as_bytes(), 512), "refused: {text:?}");
    }
    for text in INVALID {
        assert!(!verdict(text.as_bytes(), 512), "taken: {text:?}");
    }
}

#[test]
fn the_edges_of_blocks_change_nothing() {
    for (texts, valid) in [(VALID, true), (INVALID, false)] {
        for text in texts {
            for size in 34..=65 {
                assert_eq!(verdict(format!("{}{text}", " ".repeat(size)).as_bytes(), 512), valid);
                assert_eq!(verdict(format!("{text}{}", " ".repeat(size)).as_bytes(), 512), valid);
                let filler = "x".repeat(size);
                verdict(format!("[\"{filler}\",{text}]").as_bytes(), 512);
                verdict(format!("{{\"{filler}\":{text},\"b\":{text}}}").as_bytes(), 512);
                verdict(format!("{{{text}:\"{filler}\"}}").as_bytes(), 512);
                verdict(format!("[\"{filler}{text}{filler}\",1]").as_bytes(), 512);
            }
        }
    }
}

#[test]
fn torn_texts_are_refused() {
    let whole =
        r#"{"key \" \\ é":[1,-2.50,3e+7,{"a":true,"b":false,"c":null}],"other":{},"text":"\u00e9\n, and so on"}"#;
    for shift in 0..70 {
        let whole = format!("{}{whole}", " ".repeat(shift));
        assert!(verdict(whole.as_bytes(), 512));
        for end in 0..whole.len() {
            assert!(!verdict(&whole.as_bytes()[..end], 512));
        }
    }
}

#[test]
fn in_a_run_of_backslashes_every_second_is_escaped() {
    for length in 1..=130 {
        for shift in 0..64 {
            let (filler, run) = ("x".repeat(shift), "\\".repeat(length));
            assert_eq!(verdict(format!("\"{filler}{run}\"").as_bytes(), 512), length % 2 == 0);
            assert_eq!(verdict(format!("\"{filler}{run}\"\"").as_bytes(), 512), length % 2 == 1);
        }
    }
}

#[test]
fn nesting_is_tracked_at_any_depth() {
    for depth in (1..=200).chain([512, 100_000]) {
        // Every third is an object.
        let kinds: Vec<bool> = (0..depth).map(|level| level % 3 == 1).collect();
        let opening: String = kinds.iter().map(|&object| if object { "{\"a\":" } else { "[" }).collect();
        let closing: String = kinds.iter().rev().map(|&object| if object { '}' } else { ']' }).collect();
        let text = format!("{opening}0{closing}");
        assert!(verdict(text.as_bytes(), depth) && !verdict(text.as_bytes(), depth - 1), "{depth}");
        assert!(!verdict(&text.as_bytes()[..text.len() - 1], depth));
        assert!(!verdict(format!("{text}]").as_bytes(), depth + 1));
        for wrong in (0..depth.min(200)).step_by(7).filter(|_| depth <= 200) {
            let mut text = text.clone().into_bytes();
            let at = text.len() - 1 - wrong;
            text[at] ^= b']' ^ b'}';
            assert!(!verdict(&text, depth), "{depth}: bracket {wrong} from the end is of the other kind");
        }
    }
    assert!(verdict(b"1", 0) && !verdict(b"[]", 0));
    assert!(verdict(format!("[{}[]]", "[[]],".repeat(1000)).as_bytes(), 3), "siblings are not depth");
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    for bad in [
        &b"\xff"[..],
        b"\xc3",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xf5\x80\x80\x80",
        b"\x80",
        b"\xa2",
        b"\xdb",
    ] {
        for shift in 0..70 {
            let mut body = format!("[\"{}", "x".repeat(shift)).into_bytes();
            body.extend_from_slice(bad);
            body.extend_from_slice(b"\"]");
            assert!(!verdict(&body, 512));
        }
        assert!(!verdict(bad, 512));
    }
}

/// Usually none, so that tokens occur both adjacent and separated.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just(String::new()), 2 => Just(" ".to_owned()), 1 => "[ \t\n\r]{1,3}", 1 => " {60,70}"]
}

fn string() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        8 => "[a-zA-Z0-9 {}\\[\\],:.]{0,12}", 2 => r#"\\["\\/bfnrt]"#, 1 => r"\\u[0-9a-fA-F]{4}", 1 => "\\PC{0,3}".prop_map(|text| {
            text.replace(['"', '\\'], "é")
        }), 1 => r"(\\\\){1,40}",
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| format!("\"{}\"", parts.concat()))
}

fn json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        3 => "[1-9][0-9]{0,3}", 1 => r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?",
        2 => prop::sample::select(vec!["true", "false", "null", "0", "[]", "{}"]).prop_map(str::to_owned), 3 => string(),
    ];
    let spaced = (space(), scalar, space()).prop_map(|(before, text, after)| before + &text + &after);
    spaced.prop_recursive(6, 60, 6, |inner| {
        let members = prop::collection::vec((space(), string(), space(), inner.clone()), 0..6).prop_map(|members| {
            let members: Vec<_> =
                members.iter().map(|(before, key, after, value)| format!("{before}{key}{after}:{value}")).collect();
            format!("{{{}}}", members.join(","))
        });
        let list = prop::collection::vec(inner, 0..6).prop_map(|values| format!("[{}]", values.join(",")));
        (space(), prop_oneof![list, members], space()).prop_map(|(before, text, after)| before + &text + &after)
    })
}

/// The tokens of texts that are almost JSON.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "0", "1", "12", "-", ".", "e", "+", "true", "null", "\"a\"",
    "\"a\":", "{\"a\":", "\"a\":1,", "[1,", "[]", "{}", "],[", "},{", "],", "},", "\\n", "\\\"", "\\u00e9", "\t", "é",
    "x", "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
];

proptest! {
    #[test]
    fn json_is_accepted(text in json()) {
        prop_assert!(verdict(text.as_bytes(), 512), "refused: {}", text);
        for max_depth in 0..8 {
            verdict(text.as_bytes(), max_depth);
        }
    }

    #[test]
    fn a_changed_byte_gets_the_same_verdict(
        text in json(), at in any::<prop::sample::Index>(), how in 0..3, any in any::<u8>(),
        token in prop::sample::select(TOKENS), with_token in any::<bool>(),
    ) {
        let mut body = text.into_bytes();
        let at = at.index(body.len());
        let with = if with_token { token.as_bytes() } else { &[any] };
        match how {
            0 => drop(body.remove(at)),
            1 => drop(body.splice(at..=at, with.iter().copied())),
            _ => drop(body.splice(at..at, with.iter().copied())),
        }
        verdict(&body, 512);
    }

    #[test]
    fn tokens_in_any_order_get_the_same_verdict(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60), shift in 0usize..70) {
        let text = tokens.concat();
        verdict(text.as_bytes(), 512);
        verdict(format!("{}{text}", " ".repeat(shift)).as_bytes(), 512);
        verdict(format!("[\"{}\",{text}]", "x".repeat(shift)).as_bytes(), 512);
        verdict(format!("{{\"{}\":{text}}}", "x".repeat(shift)).as_bytes(), 4);
    }

    #[test]
    fn few_tokens_in_any_order_get_the_same_verdict(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..7)) {
        verdict(tokens.concat().as_bytes(), 512);
    }
}
