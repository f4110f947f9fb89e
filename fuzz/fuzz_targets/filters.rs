//! For any text as a filter and any input: nothing panics, and every run ends. Readable input comes back unchanged.
//!
//! Input: the filter, a zero byte, and the JSON it is run on.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_jq::{Filter, Input, Limits};
use std::sync::LazyLock;

/// Small, so libFuzzer's own time limit finds anything that these limits do not bound.
const LIMITS: Limits = Limits { fuel: 20_000, fuel_per_byte: 8, max_depth: 64, max_output: 1 << 20 };

static SAME: LazyLock<Filter> = LazyLock::new(|| Filter::compile(".", &[], LIMITS).expect("it is a filter"));

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |&byte| byte == 0);
    let (Some(source), Some(json)) = (parts.next(), parts.next()) else {
        return;
    };
    let Ok(source) = std::str::from_utf8(source) else {
        return;
    };
    let json = Input::Json(json);
    if let Ok(filter) = Filter::compile(source, &["v"], LIMITS) {
        let mut out = b"before".to_vec();
        let _ = filter.matches(json, &[json]);
        if filter.one(json, &[Input::Null], &mut out).is_err() {
            assert_eq!(out, b"before", "an error left output");
        }
        let _ = filter.cell(json, &[Input::Number(1)], &mut out);
    }
    let mut once = Vec::new();
    if SAME.one(json, &[], &mut once) == Ok(true) {
        let mut twice = Vec::new();
        assert_eq!(SAME.one(Input::Json(&once), &[], &mut twice), Ok(true), "the output cannot be read");
        assert_eq!(once, twice, "the output is read as another value");
    }
});
