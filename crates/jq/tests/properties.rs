//! `.` returns any value unchanged, and no bytes cause a panic.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use pipewright_jq::{Filter, Input, Limits};
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::sync::LazyLock;

static SAME: LazyLock<Filter> = LazyLock::new(|| compile("."));
static THROUGH_TEXT: LazyLock<Filter> = LazyLock::new(|| compile("tojson | fromjson"));
static EQUAL: LazyLock<Filter> = LazyLock::new(|| compile(". == $same and ([., $same] | unique | length == 1)"));
static REBUILT: LazyLock<Filter> = LazyLock::new(|| {
    compile("walk(.) | [paths] as $paths | . as $all | all($paths[]; . as $path | $all | getpath($path) | true)")
});

fn compile(source: &str) -> Filter {
    let variables: &[&str] = if source.contains("$same") { &["same"] } else { &[] };
    Filter::compile(source, variables, Limits::default()).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\"\\\\a-zа-я\u{0}-\u{1f}]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 80, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn one(filter: &Filter, json: &str) -> Result<Value, TestCaseError> {
    let mut out = Vec::new();
    let given = filter.one(Input::Json(json.as_bytes()), &[], &mut out);
    prop_assert_eq!(given, Ok(true));
    serde_json::from_slice(&out)
        .map_err(|error| TestCaseError::fail(format!("{error}: {}", String::from_utf8_lossy(&out))))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_comes_back_unchanged(value in values()) {
        for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            // serde_json rounds some numbers when it reads them.
            let value: Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&one(&SAME, &json)?, &value);
            prop_assert_eq!(&one(&THROUGH_TEXT, &json)?, &value);
            let same = [Input::Json(json.as_bytes())];
            prop_assert_eq!(EQUAL.matches(same[0], &same), Ok(true));
            prop_assert_eq!(REBUILT.matches(same[0], &[]), Ok(true));
        }
    }

    #[test]
    fn numbers_keep_their_notation(number in r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?") {
        let mut out = Vec::new();
        SAME.one(Input::Json(number.as_bytes()), &[], &mut out).unwrap();
        prop_assert_eq!(String::from_utf8(out).unwrap(), number);
    }

    #[test]
    fn the_reader_accepts_the_same_as_serde_json(bytes in prop::collection::vec(prop_oneof![
        prop::sample::select(br#"[]{}:,"\ntruefals0123456789.eE+-u "#.to_vec()), any::<u8>()], 0..24)) {
        let ours = SAME.matches(Input::Json(&bytes), &[]).is_ok();
        let theirs = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok() && std::str::from_utf8(&bytes).is_ok();
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn arbitrary_text_is_safe_as_a_filter(source in any::<String>(), input in any::<Vec<u8>>()) {
        if let Ok(filter) = Filter::compile(&source, &[], Limits::default()) {
            let _ = filter.matches(Input::Json(&input), &[]);
        }
    }

    #[test]
    fn jq_words_in_any_order_are_safe(
        words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 1..16),
        value in values(),
    ) {
        let json = value.to_string();
        for source in [words.concat(), words.join(" "), words.join(" | ")] {
            if let Ok(filter) = Filter::compile(&source, &[], Limits { fuel: 20_000, ..Limits::default() }) {
                let mut out = Vec::new();
                let _ = filter.matches(Input::Json(json.as_bytes()), &[]);
                let _ = filter.one(Input::Json(json.as_bytes()), &[], &mut out);
            }
        }
    }
}

const WORDS: &[&str] = &[
    ".",
    "..",
    ".a",
    ".[]",
    ".[0]",
    ".[-1:]",
    "[.]",
    "[.[]?]",
    "{a: .}",
    "1",
    "-1",
    "0.5",
    "1e9",
    "\"a\"",
    "\"\\(.)\"",
    "null",
    "true",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "<",
    "and",
    "or",
    "not",
    "//",
    "|",
    ",",
    "=",
    "|=",
    "+=",
    "//=",
    "?",
    "(",
    ")",
    "map(.)",
    "map_values(.)",
    "select(.)",
    "sort",
    "sort_by(.)",
    "group_by(.)",
    "unique",
    "add",
    "length",
    "keys",
    "to_entries",
    "from_entries",
    "with_entries(.)",
    "paths",
    "path(..)",
    "del(.[0])",
    "del(..)",
    "walk(.)",
    "tojson",
    "fromjson",
    "tostring",
    "tonumber",
    "split(\"a\")",
    "join(\"-\")",
    "test(\".*\")",
    "gsub(\".\"; \"xx\")",
    "[match(\"\"; \"g\")]",
    "range(5)",
    "[limit(3; repeat(.))]",
    "first(.[]?)",
    "last(.[]?)",
    "until(true; .)",
    "recurse",
    "env",
    "input",
    "halt",
    "error",
    "try error(.) catch .",
    "label $x | break $x",
    "def f: .; f",
    "def f(g): g | g; f(.)",
    "reduce .[]? as $x (.; [., $x])",
    "foreach .[]? as $x (0; . + 1)",
    "if . then . else . end",
    ". as $x | $x",
    ". as [$a, {b: $b}] | $b",
    "flatten",
    "transpose",
    "implode",
    "explode",
    "@csv",
    "@base64d",
    "@sh \"\\(.)\"",
    "todate",
    "gmtime",
    "mktime",
    "strftime(\"%c\")",
    "ltrimstr(\"a\")",
    "indices(1)",
    "contains(\"a\")",
    "inside([])",
    "has(0)",
    "getpath([\"a\",0])",
    "setpath([0]; 1)",
    "delpaths([[0]])",
    "splits(\"a\")",
    "ascii",
    "floor",
    "pow(.; 2)",
    "infinite",
    "nan",
    "tojson|fromjson",
    "min_by(.)",
    "max",
    "reverse",
    "any",
    "all",
    "IN(1)",
    "limit(1; .)",
    "skip(1; .[]?)",
    "combinations",
    "isempty(.)",
    "input_line_number",
    "$__loc__",
];
