//! Ordinary jq programs, which neither the rewriting nor our own values may break.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use pipewright_jq::{Filter, Input, Limits};

/// Input, filter, and the output as JSON; "" for no output.
const GOLDEN: &[(&str, &str, &str)] = &[
    // Paths.
    (r#"{"a":{"b":[1,2,3]}}"#, ".a.b[1]", "2"),
    (r#"{"a":{"b":[1,2,3]}}"#, ".a.b[-1]", "3"),
    (r#"{"a":{"b":[1,2,3]}}"#, ".a.b[1:]", "[2,3]"),
    (r#"{"a":1}"#, ".b", "null"),
    (r#"{"a":1}"#, ".a.b?", ""),
    (r#"{"a":1,"a":2}"#, ".a", "2"),
    (r#"{"a":1,"b":0,"a":2}"#, ".", r#"{"a":2,"b":0}"#),
    (r#"{"a b":1}"#, r#"."a b""#, "1"),
    (r#"{"a\u0062":1}"#, ".ab", "1"),
    ("\"приве\\u0442 \\ud83d\\ude00\\ud800\"", ".", "\"привет 😀\u{fffd}\""),
    ("[[1,2],[3,4]]", "[.[][0]]", "[1,3]"),
    ("[1,[2,[3]]]", "[..|numbers]", "[1,2,3]"),
    (r#"[1,{"a":2}]"#, "[paths]", r#"[[0],[1],[1,"a"]]"#),
    (r#"{"a":[1,2]}"#, "[path(.a[])]", r#"[["a",0],["a",1]]"#),
    (r#"{"a":[1,2]}"#, r#"getpath(["a",1])"#, "2"),
    ("\"привет\"", ".[1:3]", "\"ри\""),
    // Updates.
    (r#"{"a":1}"#, ".a |= . + 1", r#"{"a":2}"#),
    (r#"{"a":1}"#, ".a += 1 | .b = 3", r#"{"a":2,"b":3}"#),
    ("null", ".a.b = 1", r#"{"a":{"b":1}}"#),
    ("null", ".[2] = 1", "[null,null,1]"),
    ("[1,2,3,4]", "del(.[0,2])", "[2,4]"),
    ("[1,2,3,4]", "del(.[] | select(. > 2))", "[1,2]"),
    (r#"{"a":1,"b":2,"c":3}"#, "del(.a,.c)", r#"{"b":2}"#),
    (r#"{"a":[1,{"b":2}]}"#, "walk(if type == \"number\" then . * 10 else . end)", r#"{"a":[10,{"b":20}]}"#),
    ("[1,2,3]", "map(select(. >= 2))", "[2,3]"),
    ("[1,2,3]", ".[1:] = [9]", "[1,9]"),
    (r#"{"a":1,"b":null}"#, "map_values(values)", r#"{"a":1}"#),
    (r#"{"a":1}"#, r#"setpath(["b","c"]; 2)"#, r#"{"a":1,"b":{"c":2}}"#),
    (r#"{"a":1,"b":2}"#, r#"with_entries(.value += 1)"#, r#"{"a":2,"b":3}"#),
    (r#"[{"name":"a","value":1},{"k":"b","v":2}]"#, "from_entries", r#"{"a":1,"b":2}"#),
    (r#"{"a":1,"b":{"c":2}}"#, "pick(.b.c)", r#"{"b":{"c":2}}"#),
    (r#"{"a":{"b":1}}"#, r#". * {"a":{"c":2}}"#, r#"{"a":{"b":1,"c":2}}"#),
    // Numbers.
    ("[12345678901234567890, 1.10, 1e3, -0]", ".", "[12345678901234567890,1.10,1e3,-0]"),
    ("10", ". / 4 | tostring", r#""2.5""#),
    ("10", ". / 5", "2"),
    ("9007199254740993", ". == 9007199254740992", "false"),
    ("12345678901234567891", ". == 12345678901234567890", "false"),
    ("5", "[. % 3, -. % 3, floor, sqrt > 2]", "[2,-2,5,true]"),
    ("[3,1,2]", "[add, min, max, length]", "[6,1,3,3]"),
    ("\"12\"", "tonumber + 1", "13"),
    ("1.5", "[floor, ceil, round, (. | tojson)]", r#"[1,2,2,"1.5"]"#),
    ("null", "[[range(0;10;3)], [range(3)], [range(2;0;-1)]]", "[[0,3,6,9],[0,1,2],[2,1]]"),
    // Logic and control.
    ("null", ".a // \"none\"", "\"none\""),
    ("[true,false]", "[any, all]", "[true,false]"),
    ("5", "if . > 3 then \"big\" elif . > 1 then \"mid\" else \"small\" end", "\"big\""),
    ("null", "try error(\"x\") catch .", "\"x\""),
    ("[1,2,3]", "reduce .[] as $x (0; . + $x)", "6"),
    ("[1,2,3]", "[foreach .[] as $x (0; . + $x; [$x, .])]", "[[1,1],[2,3],[3,6]]"),
    ("null", "[limit(3; repeat(1))]", "[1,1,1]"),
    ("1", "[recurse(if . < 4 then . + 1 else empty end)]", "[1,2,3,4]"),
    ("1", "[[while(. < 20; . * 3)], until(. > 50; . * 3)]", "[[1,3,9],81]"),
    ("null", "[label $out | 1, break $out, 2]", "[1]"),
    ("null", "def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 6 | fac", "720"),
    ("3", "def f(g): if . > 0 then (. - 1 | f(g)) | g else . end; f(. + 2)", "6"),
    ("[[1,2],[3,4]]", ". as [[$a, $b], $c] | [$a, $b, $c]", "[1,2,[3,4]]"),
    (r#"{"a":1}"#, ". as {a: $x} | $x", "1"),
    ("null", "[first(range(5)), last(range(5)), nth(2; range(5))]", "[0,4,2]"),
    ("null", "[isempty(empty), isempty(1)]", "[true,false]"),
    ("2", "IN(1, 2, 3)", "true"),
    ("[1,[2]]", "[.[] | type]", r#"["number","array"]"#),
    // Arrays and objects.
    (r#"[{"a":2,"b":1},{"a":1,"b":2},{"a":2,"b":3}]"#, "sort_by(.a) | map(.b)", "[2,1,3]"),
    (r#"[{"a":2},{"a":1},{"a":2}]"#, "group_by(.a) | map(length)", "[1,2]"),
    ("[3,1,3,2]", "unique", "[1,2,3]"),
    (r#"[{"a":2,"i":0},{"a":1,"i":1},{"a":2,"i":2}]"#, "[max_by(.a).i, min_by(.a).i]", "[2,1]"),
    (r#"[1,"a"]"#, "reverse", r#"["a",1]"#),
    (r#"[{},[],"a",1,true,null]"#, "sort", r#"[null,true,1,"a",[],{}]"#),
    ("[1,[2,[3]]]", "[flatten, flatten(1)]", "[[1,2,3],[1,2,[3]]]"),
    (r#"{"b":1,"a":2}"#, "[keys, keys_unsorted, to_entries[0].key]", r#"[["a","b"],["b","a"],"b"]"#),
    (r#"{"a":[1,2]}"#, r#"[has("a"), has("b"), (.a | has(1))]"#, "[true,false,true]"),
    (r#"["foobar", ["x","yz"]]"#, r#"[.[0] | contains("bar")] + [.[1] | contains(["y"])]"#, "[true,true]"),
    ("[[1,2],[3]]", "transpose", "[[1,3],[2,null]]"),
    ("[1,2,1]", "[indices(1), index(1), rindex(1)]", "[[0,2],0,2]"),
    ("[1,2,3,4]", ". - [2,4]", "[1,3]"),
    ("[[1,2],[3,4]]", "[combinations]", "[[1,3],[1,4],[2,3],[2,4]]"),
    (r#"[{"id":"a","n":1}]"#, "INDEX(.id)", r#"{"a":{"id":"a","n":1}}"#),
    // Strings.
    (r#"{"a":1}"#, r#""x\(.a + 1)y""#, "\"x2y\""),
    ("\"a,b\"", r#"split(",") | join("-")"#, "\"a-b\""),
    (r#"["a",1,null,true]"#, r#"join("/")"#, "\"a/1//true\""),
    ("\"ÀbC\"", "[ascii_downcase, ascii_upcase, length, utf8bytelength]", r#"["Àbc","ÀBC",3,4]"#),
    ("\" a \"", "[trim, ltrim, rtrim]", r#"["a","a "," a"]"#),
    ("\"abc\"", r#"[ltrimstr("a"), rtrimstr("c"), startswith("ab"), endswith("x")]"#, r#"["bc","ab",true,false]"#),
    ("\"aé\"", "[explode, (explode | implode)]", r#"[[97,233],"aé"]"#),
    ("\"ab\"", ". * 2", "\"abab\""),
    (r#""[1,{\"a\":2}]""#, "fromjson | tojson", r#""[1,{\"a\":2}]""#),
    (r#"[1,"a\"b",null]"#, "[@csv, @tsv, @json]", r#"["1,\"a\"\"b\",","1\ta\"b\t","[1,\"a\\\"b\",null]"]"#),
    ("\"<&'\\\" ü\"", "[@html, @uri, @sh]", r#"["&lt;&amp;&#39;&quot; ü","%3C%26%27%22%20%C3%BC","'<&'\\''\" ü'"]"#),
    ("\"héllo\"", "@base64, 1 | strings | [., @base64d]", r#"["aMOpbGxv","héllo"]"#),
    (r#"["aGk=", "aGk", "aGk==", "/w"]"#, "map(@base64d)", "[\"hi\",\"hi\",\"hi\",\"\u{fffd}\"]"),
    (r#"["a'b", 1.50, null]"#, r#"[@sh, @sh "echo \(.[0])"]"#, r#"["'a'\\''b' 1.50 null","echo 'a'\\''b'"]"#),
    (
        r#"["a\tb\\c\nd", 1.50, false, null, ""]"#,
        "[@tsv, @csv]",
        r#"["a\\tb\\\\c\\nd\t1.50\tfalse\t\t","\"a\tb\\c\nd\",1.50,false,,\"\""]"#,
    ),
    (r#"{"a":"<&apos;>"}"#, "@html", r#""{&quot;a&quot;:&quot;&lt;&amp;apos;&gt;&quot;}""#),
    (r#"[["a",1.50,true,null], [], [null]]"#, r#"map(join("-"))"#, r#"["a-1.50-true-","",""]"#),
    ("5", r#"[ltrimstr("a"), rtrimstr("a")]"#, "[5,5]"),
    ("\"日本語\"", r#"[ltrimstr("日"), rtrimstr("語"), ltrimstr(1)]"#, r#"["本語","日本","日本語"]"#),
    (r#"["\u00a0 é\n"]"#, "map(trim, ltrim, rtrim)", "[\"é\",\"é\\n\",\"\u{a0} é\"]"),
    (r#"[null, "aé", [1,2]]"#, "map(reverse)", r#"[[],"éa",[2,1]]"#),
    (r#"[null, [], {"a":1,"b":2}, ["a",null,"b"]]"#, "map(add)", r#"[null,null,3,"ab"]"#),
    ("[]", "[min, max, min_by(.a)]", "[null,null,null]"),
    (r#"[{"a":1,"i":0},{"a":2,"i":1},{"a":1,"i":2},{"a":2,"i":3}]"#, "[min_by(.a).i, max_by(.a).i]", "[0,3]"),
    ("[1,-1.5,-3,0]", "map(abs)", "[1,1.5,3,0]"),
    ("[1,0,1e-310,2.3e-308]", "map(isnormal)", "[true,false,false,true]"),
    (
        "null",
        "[nan,-infinite,1] | map([isnan, isinfinite, isnormal])",
        "[[true,false,false],[false,true,false],[false,false,true]]",
    ),
    ("\"2015-03-05T23:51:47Z\"", "[fromdate, (fromdate | todate)]", r#"[1425599507,"2015-03-05T23:51:47Z"]"#),
    (
        "1425599621",
        r#"[gmtime, (gmtime | mktime), strftime("%A, %B %d, %Y")]"#,
        r#"[[2015,2,5,23,53,41,4,63],1425599621,"Thursday, March 05, 2015"]"#,
    ),
    ("\"10:20 2024-02-29\"", r#"strptime("%H:%M %Y-%m-%d") | mktime"#, "1709202000"),
    // A sequence longer than the rewriting keeps together.
    (
        "null",
        "{a:1,b:2,c:3,d:4,e:5,f:6,g:7,h:8,i:9,j:10}",
        r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10}"#,
    ),
    ("1", r#""\(1)\(2)\(3)\(4)\(5)\(6)\(7)\(8)\(9)""#, "\"123456789\""),
    (
        "7",
        "if . == 0 then 0 elif . == 1 then 1 elif . == 2 then 2 elif . == 3 then 3 elif . == 4 then 4 elif . == 5 then \
         5 elif . == 6 then 6 elif . == 8 then 8 elif . == 7 then \"here\" else 9 end",
        "\"here\"",
    ),
    ("null", "[1,2,3,4,5,6,7,8,9,10,11,12]", "[1,2,3,4,5,6,7,8,9,10,11,12]"),
];

fn one(input: &str, filter: &str) -> Result<String, Box<dyn std::error::Error>> {
    let filter = Filter::compile(filter, &[], Limits::default())?;
    let mut out = Vec::new();
    filter.one(Input::Json(input.as_bytes()), &[], &mut out)?;
    Ok(String::from_utf8(out)?)
}

#[test]
fn ordinary_filters_give_the_same_as_jq() {
    let mut wrong = Vec::new();
    for &(input, filter, expected) in GOLDEN {
        let found = one(input, filter).unwrap_or_else(|error| format!("error: {error}"));
        if found != expected {
            wrong.push(format!("{input} | {filter}\n  gave     {found}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
