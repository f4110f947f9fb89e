//! Programs and inputs that try to run, grow or recurse without end, or to access something outside.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use pipewright_jq::{Error, ErrorKind, Filter, Input, Limits};
use std::time::{Duration, Instant};

/// Time limit of a run: several times what it needs.
const TIME_LIMIT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 100 });

/// Programs that take more steps or go deeper than allowed.
const ENDLESS: &[&str] = &[
    "def f: f; f",
    "def f: 1+f; f",
    "def f: f | f; f",
    "def f: f, f; f",
    "def f: (1,2) | f; f",
    "def f: [f]; f",
    "def f($x): f($x + 1); f(0)",
    "def f(g): f(g | .); f(.)",
    "def f(g): def h: f(g | .); h; f(.)",
    "def f(g; $n): if $n == 0 then g else f(g | .; $n - 1) end; f(.; 100000)",
    "def f(g; $n): if $n == 0 then . else f(g | . + 1; $n - 1) end; f(.; 100000)",
    "def f: .a | f; path(f)",
    "def f: .a | f; f = 1",
    "def f: def g: f; g; f",
    "[repeat(1)]",
    "[repeat(.)] | length",
    "[range(1e12)]",
    "last(range(1e12))",
    "reduce range(1e12) as $i (0; . + 1)",
    "[limit(1e9; repeat(1))]",
    "[recurse(.)]",
    "[recurse(., .)]",
    "until(false; .)",
    "[while(true; .)]",
    "try (def f: f; f) catch 1",
    "(def f: f; f)?",
    "(def f: f; f) // 1",
    "[.[]?, (def f: f; f)?] | length",
    "try repeat(1) catch 1 | empty",
    "label $x | repeat(1) | empty",
    "first(repeat(empty))",
    "isempty(repeat(empty))",
    "any(repeat(false); .)",
    "[range(1e9)] | sort | first",
    "reduce range(1e5) as $i (.; [.])",
    "reduce range(1e5) as $i (.; {a: .})",
    "reduce range(1e5) as $i (null; {a: [.]}) | tojson",
    "[limit(100000; [[]] | recurse([.]))] | last",
    "reduce range(40) as $i ([]; [., .]) | tojson",
    "reduce range(40) as $i ([]; [., .]) | . == (tojson | fromjson)",
    "reduce range(40) as $i ([]; [., .]) as $x | [$x, $x] | unique",
    "(reduce range(40) as $i ([]; [., .])) == (reduce range(40) as $i ([]; [., .]))",
    "(reduce range(40) as $i ([]; [., .])) as $x | $x | contains($x)",
    "reduce range(40) as $i ([]; [., .]) | [..] | length",
    "reduce range(40) as $i ([]; [., .]) | flatten",
    "reduce range(40) as $i ([]; [., .]) | [paths] | length",
    "reduce range(40) as $i ([]; [., .]) | walk(.)",
    "reduce range(40) as $i ([]; [., .]) | \"\\(.)\"",
    "reduce range(40) as $i ([]; [., .]) | @json",
    "reduce range(60) as $i ({}; {a: ., b: .}) | tostring",
    "\"a\" * 1e9",
    "\"a\" * 1e18",
    "reduce range(60) as $i (\"a\"; . + .)",
    "reduce range(60) as $i ([1]; . + .)",
    "reduce range(1e6) as $i (\"a\" * 10000; . * 2)",
    "[range(1000)] | [combinations(5)] | length",
    "[[range(100)], [range(100)], [range(100)], [range(100)]] | [combinations] | length",
    "[range(1000)] | [.[] as $a | .[] as $b | .[] as $c | 1] | length",
    "[(0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | \
     (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1) | (0,1)] | length",
    "[\"\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\\(0,1)\"] | length",
    "[{} | .[\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"][\"a\",\"b\"]] | length",
    ".[1e9] = 1",
    ".[1e18] = 1",
    "getpath([range(1e6) | \"a\"])",
    "[path(getpath([range(1e5) | \"a\"]))]",
    "path(reduce range(1e5) as $i (.; .a))",
    "(reduce range(1e5) as $i (.; .a)) |= 1",
    "(foreach range(1e5) as $i (.; .a; empty)) |= 1",
    "(def f: .a | f; f) |= 1",
    "path(repeat(.a)) | empty",
    "[path(limit(100000; repeat(.a)))]",
    "getpath([range(2000) | \"a\"]) |= 3",
    "[range(1; 200) as $n | \"x\" | test(\"\\\\w{20}\" + \"a\" * $n)]",
    "setpath([range(100000) | \"a\"]; 1)",
    "[range(100000)] | implode",
    "[range(100000) | tostring] | join(\", \")",
    "\"a\" * 100000 | explode | map([.] | implode) | add",
    "\"a\" * 100000 | gsub(\"\"; \"aaaa\")",
    "[limit(50; repeat(\"a\" * 100000))] | join(\"\")",
    "reduce range(100) as $i (\"a\"; gsub(\"a\"; \"aaaa\"))",
    "(\"a\" * 1000000) as $x | [range(1e5) | $x | ascii_upcase | type]",
    "(\"a\" * 1000000) as $x | [range(1e5) | $x | @base64 | type]",
    "(\"a\" * 1000000) as $x | [range(1e5) | $x | @uri | type]",
    "(\"a\" * 1000000) as $x | [range(1e5) | $x | @html | type]",
    "(\"a\" * 1000000) as $x | [range(1e5) | $x | @sh | type]",
    "[range(10000)] as $x | [range(1e5) | $x | reverse | max]",
    "reduce range(100) as $i (\"&\"; @html + .)",
    "reduce range(100) as $i (\"'\"; @sh + .)",
    "\"a\" * 100000 | __replace(\"a\"; .)",
    "[range(100) | tostring as $p | \"x\" | test($p)] | length",
    "\"x\" * 30000 | [match(\"x*y|x\"; \"g\")] | length",
    "\"x\" * 100000 | test(\"(x{0,60}){0,60}y\")",
];

/// Programs that end, perhaps with an error, without using all their fuel.
const HARMLESS: &[&str] = &[
    "halt",
    "env",
    "$ENV",
    "$ENV.PATH",
    "now",
    "input",
    "inputs",
    "debug",
    "debug(1)",
    "stderr",
    "halt_error",
    "halt_error(1)",
    "input_filename",
    "localtime",
    "strflocaltime(\"%Y\")",
    "input_line_number",
    "get_search_list",
    "include \"a\"; .",
    "import \"a\" as a; .",
    "import \"a\" as $a; .",
    "module {}; .",
    "a::b",
    "\"x\" | test(\"(a{1000}){1000}\")",
    "\"x\" | test(\"\\\\p{L}{1000}{1000}\")",
    "\"x\" | test(\"(((((((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}\")",
    "\"x\" | test(\"(\" * 1000)",
    "\"x\" | test(\"(a\" * 1000 + \")\" * 1000)",
    "jn(2147483647; 1)",
    "[1,2] | .[nan]",
    ".[nan] = 1",
    "[nan, nan, 1] | sort",
    "[nan] | .[0] == .[0]",
    "infinite | floor",
    "nan | tostring",
    "[.] | implode",
    "[1e18] | implode",
    "[2024, 127, 1, 0, 0, 0] | mktime",
    "1e300 | todate",
    "nan | gmtime",
    "0 | strftime(\"%255d%255Y%Q%Z\")",
    "\"Europe/Berlin\" | strptime(\"%Q\")",
    "-9223372036854775808 / -1",
    "-9223372036854775807 - 1 | . % -1",
    "-9223372036854775807 - 1 | abs | -.",
    "9223372036854775807 + 1",
    "1 % 0",
    "1 / 0",
    "[] | first",
    "[range(10)] | .[3:1]",
    "range(1; 0; 0)",
    ".[100000000:] = [1]",
    ".[-1] = 1",
    "{} | .[0]",
    "break",
    "label $a | break $b",
    "ldexp(1; 2147483647)",
    "scalbln(1; -2147483648)",
    "pow(10; 1000)",
    "1e1000",
    "\"\\u0000\" | @base64d",
    "@base32d",
    "$__loc__",
    "limit(-1; 1)",
    "{(1): 2}",
    "error",
    "error(null)",
    "try error catch .",
    "error({a: [1]})",
    "ascii",
    "splits",
    "[1] | join({})",
];

fn run(source: &str, input: &[u8]) -> (Result<bool, Error>, Duration) {
    let filter = Filter::compile(source, &[], Limits::default()).unwrap_or_else(|error| panic!("{source}: {error}"));
    let began = Clock::start();
    let found = filter.matches(Input::Json(input), &[]);
    (found, began.elapsed())
}

/// The CPU time of this thread, or the elapsed time if the system does not report it. A busy machine must not fail the
/// test.
struct Clock {
    began: Instant,
    used: Option<Duration>,
}

impl Clock {
    fn start() -> Clock {
        Clock { began: Instant::now(), used: Clock::used() }
    }

    fn elapsed(&self) -> Duration {
        match (Clock::used(), self.used) {
            (Some(now), Some(then)) => now - then,
            _ => self.began.elapsed(),
        }
    }

    fn used() -> Option<Duration> {
        let status = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        status.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
}

#[test]
fn endless_programs_are_stopped_and_cannot_catch_it() {
    let mut wrong = Vec::new();
    for source in ENDLESS {
        let (found, took) = run(source, b"null");
        let is_stopped =
            found.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfFuel | ErrorKind::TooDeep));
        if !is_stopped || took > TIME_LIMIT {
            wrong.push(format!("{source}: {found:?} in {took:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn odd_programs_do_no_harm() {
    for source in HARMLESS {
        let began = Clock::start();
        if let Ok(filter) = Filter::compile(source, &[], Limits::default()) {
            let mut out = Vec::new();
            let _ = filter.one(Input::Null, &[], &mut out);
        }
        assert!(began.elapsed() < TIME_LIMIT, "{source} took {:?}", began.elapsed());
    }
}

#[test]
fn names_outside_of_the_filter_are_unknown() {
    for name in
        ["env", "now", "input", "inputs", "debug", "stderr", "halt", "halt_error", "localtime", "input_filename"]
    {
        let error = Filter::compile(name, &[], Limits::default()).expect_err(name).to_string();
        let expected = format!(
            "unknown function \"{name}\"/0 at character 1: filters have no environment, clock, input or output"
        );
        assert_eq!(error, expected);
    }
    let error = Filter::compile("1 + $ENV.PATH", &[], Limits::default()).expect_err("$ENV");
    assert!(error.to_string().starts_with("unknown variable $ENV at character 5"), "{error}");
    let error = Filter::compile("import \"a\" as a; .", &[], Limits::default()).expect_err("import");
    assert!(error.to_string().contains("no modules"), "{error}");
}

/// 100,000 brackets are refused before anything recurses over them, in inputs and in filters.
#[test]
fn brackets_in_brackets() {
    let deep = "[".repeat(100_000);
    assert_eq!(run(".", deep.as_bytes()).0.expect_err("input").kind(), ErrorKind::TooDeep);
    let closed = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(run(".", closed.as_bytes()).0.expect_err("input").kind(), ErrorKind::TooDeep);
    for source in [
        "(".repeat(10_000),
        "[".repeat(10_000) + &"]".repeat(10_000),
        "{a:".repeat(10_000),
        "\"\\(".repeat(10_000),
        "-".repeat(50_000) + "1",
        "try ".repeat(10_000) + ".",
        "if . then ".repeat(6_000),
        "def a: ".repeat(9_000),
        ". as $x | ".repeat(6_000) + ".",
        "label $x | ".repeat(5_000) + ".",
        ".|".repeat(30_000) + ".",
        "reduce ".repeat(9_000) + ".",
        ".a".repeat(30_000),
        ".[0]".repeat(15_000),
        ".".to_owned() + &"?".repeat(50_000),
        ". ".to_owned() + &"+ 1 ".repeat(15_000),
        "[1] as [".to_owned() + &"$a,".repeat(2_000) + "$b] | $b",
        "def f(".to_owned() + &"$a;".repeat(2_000) + "$b): 1; 1",
        "f(".to_owned() + &"1;".repeat(2_000) + "1)",
        "1 as [".to_owned() + &"[".repeat(10_000),
        "\"".repeat(60_001),
        "#".repeat(60_000),
        ".".repeat(70_000),
    ] {
        let began = Clock::start();
        let short: String = source.chars().take(20).collect();
        let error = Filter::compile(&source, &[], Limits::default()).err();
        let is_allowed = source.starts_with('#') || source.starts_with(".?");
        assert!(error.is_some() || is_allowed, "{short}… was taken");
        assert!(began.elapsed() < Duration::from_secs(2), "{short}… took {:?}", began.elapsed());
    }
}

/// A filter just small enough to be compiled does not overflow the stack when it runs, even if there is little stack.
#[test]
fn the_longest_filters_run_on_any_stack() {
    let filters = [
        "(".repeat(140) + "." + &")".repeat(140),
        "[".repeat(140) + "." + &"]".repeat(140),
        "-".repeat(900) + "1",
        "try ".repeat(900) + ".",
        ". as $x | ".repeat(450) + ".",
        "label $x | ".repeat(450) + ".",
        ".|".repeat(900) + ".",
        ". ".to_owned() + &"+ 1 ".repeat(2_000),
        "true ".to_owned() + &"and true ".repeat(2_000),
        "[1".to_owned() + &", 1".repeat(4_000) + "] | length",
        "[".to_owned() + &".a?".repeat(30) + "]",
        "if . then 1 ".to_owned() + &"elif . then 2 ".repeat(900) + "else 3 end",
        "def f: ".to_owned() + &".|".repeat(900) + "f; f",
    ];
    for stack in [64 << 10, 256 << 10, 2 << 20, 16 << 20] {
        let filters = filters.clone();
        let ran = std::thread::Builder::new().stack_size(stack).spawn(move || {
            for source in filters {
                let short: String = source.chars().take(20).collect();
                let filter = Filter::compile(&source, &[], Limits::default());
                let filter = filter.unwrap_or_else(|error| panic!("{short}…: {error}"));
                let _ = filter.one(Input::Number(1), &[], &mut Vec::new());
            }
        });
        ran.expect("a thread can be started").join().expect("nothing panics");
    }
}

#[test]
fn hostile_programs_on_small_stacks() {
    for stack in [48 << 10, 512 << 10] {
        let ran = std::thread::Builder::new().stack_size(stack).spawn(|| {
            for source in ENDLESS {
                let filter = Filter::compile(source, &[], Limits::default()).expect(source);
                filter.matches(Input::Null, &[]).expect_err(source);
            }
        });
        ran.expect("a thread can be started").join().expect("nothing panics");
    }
}

/// The deepest possible value is printed, compared, walked and dropped by recursion.
#[test]
fn the_deepest_values_are_handled() {
    let arrays = "[".repeat(512) + &"]".repeat(512);
    let objects = "{\"a\":".repeat(512) + "1" + &"}".repeat(512);
    for input in [&arrays, &objects] {
        for source in [
            ".",
            ". == (tojson | fromjson)",
            "walk(.)",
            "[..] | length",
            "[paths] | length",
            "[leaf_paths?] | length",
            "tojson | length",
            "flatten",
            "[., .] | unique",
            "del(..)",
            "[path(..)] | map(length) | max",
            "sort?",
            "contains(.)",
            "[recurse] | length",
            "[.. | scalars]",
            "map_values(.)?",
            "to_entries?",
            "reduce (.. | select(false)) as $x (.; .)",
            "getpath([path(..)] | last)",
        ] {
            let source = source.replace("leaf_paths?", "paths(scalars)");
            let filter =
                Filter::compile(&source, &[], Limits::default()).unwrap_or_else(|error| panic!("{source}: {error}"));
            let mut out = Vec::new();
            let _ = filter.one(Input::Json(input.as_bytes()), &[], &mut out);
        }
    }
}

#[test]
fn large_outputs_are_refused_and_add_nothing() {
    let limits = Limits { max_output: 10, ..Limits::default() };
    let filter = Filter::compile("\"0123456789\"", &[], limits).expect("it is a filter");
    let mut out = b"before".to_vec();
    let error = filter.one(Input::Null, &[], &mut out).expect_err("twelve bytes");
    assert_eq!((error.kind(), &*out), (ErrorKind::TooLarge, &b"before"[..]));
    assert!(filter.cell(Input::Null, &[], &mut out).expect("ten bytes"));
    assert_eq!(out, b"before0123456789");
}

/// A wide input has many paths, whose charge depends on its length.
#[test]
fn paths_of_a_wide_input() {
    let wide = format!("[{}]", vec!["{\"a\":[1,2]}"; 1_000].join(","));
    assert!(run("[paths] | length == 4000", wide.as_bytes()).0.expect("it is paid for"));
    assert!(run("[paths | tojson] | unique | length == 4000", wide.as_bytes()).0.expect("it is paid for"));
    run("[paths as $a | paths as $b | 1] | length", wide.as_bytes()).0.expect_err("sixteen million");
}
