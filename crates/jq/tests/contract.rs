//! The contract of the three ways to run a filter, and the error messages.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use pipewright_jq::{ErrorKind, Filter, Input, Limits};

fn compile(source: &str) -> Filter {
    Filter::compile(source, &[], Limits::default()).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn matches(source: &str, input: &str) -> bool {
    compile(source).matches(Input::Json(input.as_bytes()), &[]).unwrap_or_else(|error| panic!("{source}: {error}"))
}

#[test]
fn a_predicate_matches_if_its_first_output_is_true() {
    assert!(matches(".a", r#"{"a":0}"#));
    assert!(matches(".a", r#"{"a":""}"#));
    assert!(!matches(".a", r#"{"a":false}"#));
    assert!(!matches(".b", r#"{"a":1}"#));
    assert!(matches("select(.a > 1)", r#"{"a":2}"#));
    assert!(!matches("select(.a > 1)", r#"{"a":1}"#));
    assert!(matches("1, error", "null"));
}

#[test]
fn one_output_as_json_or_as_a_cell() {
    for (source, json, cell) in [
        (".a", "null", ""),
        ("\"a\\nб\"", "\"a\\nб\"", "a\nб"),
        ("1.50", "1.5", "1.5"),
        ("true", "true", "true"),
        ("[1, {a: 2}]", "[1,{\"a\":2}]", "[1,{\"a\":2}]"),
    ] {
        let filter = compile(source);
        let (mut one, mut two) = (b"x".to_vec(), b"x".to_vec());
        assert!(filter.one(Input::Null, &[], &mut one).expect(source));
        assert!(filter.cell(Input::Null, &[], &mut two).expect(source));
        assert_eq!(String::from_utf8_lossy(&one), format!("x{json}"));
        assert_eq!(String::from_utf8_lossy(&two), format!("x{cell}"));
    }
    assert!(!compile("empty").one(Input::Null, &[], &mut Vec::new()).expect("no output is not an error"));
    let mut out = b"x".to_vec();
    let error = compile("1, 2").one(Input::Null, &[], &mut out).expect_err("two outputs");
    assert_eq!((error.kind(), &*out), (ErrorKind::Failed, &b"x"[..]));
    assert!(error.to_string().contains("more than one output"), "{error}");
}

#[test]
fn variables_are_set_for_each_run() {
    let filter =
        Filter::compile("[$dir, $seq, $t, .]", &["dir", "seq", "t"], Limits::default()).expect("it is a filter");
    for seq in 0..3 {
        let mut out = Vec::new();
        let given = [Input::Text("up"), Input::Number(seq), Input::Json(br#"{"a":1.10}"#)];
        filter.one(Input::Null, &given, &mut out).expect("it runs");
        assert_eq!(String::from_utf8_lossy(&out), format!("[\"up\",{seq},{{\"a\":1.10}},null]"));
    }
    let error = filter.matches(Input::Null, &[]).expect_err("no variables");
    assert_eq!(error.to_string(), "0 variables were given, but 3 are declared");
    let error = Filter::compile("$dri", &["dir", "seq"], Limits::default()).expect_err("misspelt");
    assert_eq!(error.to_string(), "unknown variable $dri at character 1; the variables are $dir, $seq");
}

#[test]
fn only_exactly_one_json_value_is_read() {
    let filter = compile(".");
    for input in [
        "",
        " ",
        "NaN",
        "Infinity",
        "-Infinity",
        "nan",
        "# c\n1",
        "1 # c",
        "1 2",
        "1,",
        "[1,]",
        "[,1]",
        "{\"a\":1,}",
        "{a:1}",
        "{1:2}",
        "+1",
        "01",
        "-",
        ".5",
        "1.",
        "1e",
        "1e+",
        "0x1",
        "'a'",
        "\"a",
        "\"\t\"",
        "\"\\x41\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "b\"a\"",
        "tru",
        "nul",
        "truefalse",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":}",
        "[",
        "]",
        "}",
        "{\"a\":1]",
        "[1}",
        "\u{feff}1",
        "\u{a0}1",
        "//\n1",
        "\\",
        "\"\\",
    ] {
        let error = filter.matches(Input::Json(input.as_bytes()), &[]).expect_err(input);
        assert_eq!(error.kind(), ErrorKind::Unreadable, "{input}: {error}");
    }
    for input in [&b"\"\xff\""[..], b"\xff", b"{\"\xc3\":1}", b"\"\xed\xa0\x80\"", b"1\0", b"\0"] {
        let error = filter.matches(Input::Json(input), &[]).expect_err("these bytes are not JSON");
        assert_eq!(error.kind(), ErrorKind::Unreadable, "{error}");
    }
    let error = filter.matches(Input::Json(b"{\"a\":1 \"b\":2}"), &[]).expect_err("a comma is missing");
    assert_eq!(error.to_string(), "not JSON: a comma or } is missing, at byte 8");
    let mut out = Vec::new();
    filter.one(Input::Json(b" \t\r\n{ \"a\" : [ 1 , -0.0e-1 ] } \n"), &[], &mut out).expect("it is JSON");
    assert_eq!(out, br#"{"a":[1,-0.0e-1]}"#);
}

#[test]
fn the_depth_of_the_input_is_limited() {
    let filter = Filter::compile("true", &[], Limits { max_depth: 3, ..Limits::default() }).expect("it is a filter");
    assert!(filter.matches(Input::Json(b"[[[]]]"), &[]).expect("three levels"));
    assert!(filter.matches(Input::Json(br#"[{"a":[1]}]"#), &[]).expect("three levels"));
    let error = filter.matches(Input::Json(b"[[[[]]]]"), &[]).expect_err("four levels");
    assert_eq!(
        (error.kind(), &*error.to_string()),
        (ErrorKind::TooDeep, "the input is nested too deeply; the limit is 3 levels")
    );
    let filter =
        Filter::compile("[[[[.]]]]", &[], Limits { max_depth: 3, ..Limits::default() }).expect("it is a filter");
    assert_eq!(filter.matches(Input::Null, &[]).expect_err("four levels").kind(), ErrorKind::TooDeep);
}

#[test]
fn failures_are_described_in_one_line() {
    for (source, input, expected) in [
        (".a.b", r#"{"a":"x"}"#, "cannot index string with \"b\""),
        (".[]", "5", "cannot iterate over number (5)"),
        (
            ". + 1",
            r#"["a long text, much longer than anybody wants to read in a message that is a line"]"#,
            "array ([\"a long text, much longer",
        ),
        ("error(\"a\\nb\")", "null", "a b"),
        ("error({a: 1})", "null", "{\"a\":1}"),
        ("tonumber", "\"x\"", "\"x\" cannot be read as a number"),
        ("{(.): 1}", "1", "an object's key cannot be number (1)"),
    ] {
        let error = compile(source).matches(Input::Json(input.as_bytes()), &[]).expect_err(source);
        assert_eq!(error.kind(), ErrorKind::Failed);
        assert!(error.to_string().contains(expected), "{source}: {error}");
        assert!(error.to_string().len() < 500 && !error.to_string().contains('\n'), "{source}: {error}");
    }
}

#[test]
fn errors_in_a_filter_are_reported_with_their_place() {
    for (source, expected) in [
        ("", "the filter is empty; . gives its input"),
        (".a ]", "unexpected \"]\" at character 4"),
        (".a | ", "the filter ends where a filter is expected"),
        (".a | foo(1)", "unknown function \"foo\"/1 at character 6"),
        (".a |\n  foo", "unknown function \"foo\"/0 at line 2, character 3"),
        (".a | (1", "the \"(\" at character 6 is never closed"),
        ("if . then 1", "the filter ends where else or end is expected"),
        ("\"\\d\"", "unknown escape in a string at character 3; a backslash is written \\\\"),
        ("\"abc", "the \"\"\" at character 1 is never closed"),
        (".é", "unexpected \"é\" at character 2"),
        ("\"é\" + $x", "unknown variable $x at character 7"),
        ("break $x", "no label $x to break out of at character 7"),
        ("1 1", "unexpected \"1\" at character 3; expected nothing more"),
        ("{a:1,,}", "unexpected \",\" at character 6; expected key"),
    ] {
        let error = Filter::compile(source, &[], Limits::default()).expect_err(source).to_string();
        assert_eq!(error, expected, "{source}");
    }
}

#[test]
fn filters_can_be_sent_to_other_threads_and_shared() {
    fn is_send_and_sync<T: Send + Sync>(_: &T) {}
    let filter = compile(".a");
    is_send_and_sync(&filter);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(filter.matches(Input::Json(br#"{"a":1}"#), &[]).expect("it runs")));
        }
    });
}

/// Rewriting every string of a large message is ordinary work.
#[test]
fn redaction_of_a_large_message_has_enough_fuel() {
    let item = r#"{"id":12345,"name":"a person's name","mail":"someone@example.com","tags":["a","b"],"n":[1,2,3]}"#;
    let count = if cfg!(debug_assertions) { 2_000 } else { 40_000 };
    let message = format!("{{\"items\":[{}]}}", vec![item; count].join(","));
    let filter = compile(r#"walk(if type == "string" then gsub("\\S+@\\S+"; "<mail>") else . end)"#);
    let mut out = Vec::new();
    assert!(filter.one(Input::Json(message.as_bytes()), &[], &mut out).expect("it is ordinary work"));
    assert!(!String::from_utf8_lossy(&out).contains('@'));
}

#[test]
fn in_a_condition_comparisons_with_null_are_false() {
    for source in [
        ".amount < 100",
        ".amount <= 100",
        "100 > .amount",
        "100 >= .amount",
        ".a.b < .c",
        "null < null",
        "def f(x): x < 1; f(.amount)",
        "[1, .amount] | any(. < 0)",
        "if .amount < 1 then true else false end",
    ] {
        let condition = Filter::compile_condition(source, Limits::default()).expect("it is a filter");
        assert!(!condition.matches(Input::Json(b"{}"), &[]).expect("it runs"), "{source}");
    }
    for source in [".n < 2", ".n <= 1", ".n > 0", ".n >= 1", ".none == null", "[.n, 3] | max > 2", "(.none // 0) < 1"] {
        let condition = Filter::compile_condition(source, Limits::default()).expect("it is a filter");
        assert!(condition.matches(Input::Json(br#"{"n":1}"#), &[]).expect("it runs"), "{source}");
    }
    assert!(matches(".amount < 100", "{}"), "a filter that is not a condition orders as jq does");
}
