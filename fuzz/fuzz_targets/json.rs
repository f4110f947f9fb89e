//! We accept the same text as JSON as serde_json does, unless it nests too deeply.
//!
//! Input: the maximum depth (a byte), the number of spaces before the text (a byte, so its parts fall on every position of a
//! block), and the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_lines::{deeper_than, is_json};
use serde::de::IgnoredAny;

fuzz_target!(|input: &[u8]| {
    let [max_depth, spaces, text @ ..] = input else {
        return;
    };
    let max_depth = usize::from(*max_depth);
    let mut body = vec![b' '; usize::from(spaces % 64)];
    body.extend_from_slice(text);
    let valid = std::str::from_utf8(&body).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    assert_eq!(is_json(&body, max_depth), valid && !deeper_than(&body, max_depth), "at most {max_depth} deep");
});
