//! For any line: masking it never panics, JSON is still JSON, its brackets and numbers are kept, and a password in it never
//! passes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_lines::is_json;
use pipewright_mask::{Masker, Rules};

const DEPTH: usize = 64;

fuzz_target!(|line: &[u8]| {
    let mask = |line: &[u8]| Masker::new(Rules::default(), DEPTH).line(line).into_owned();
    let masked = mask(line);
    // Bytes that are not UTF-8 are kept, so such a line is JSON neither before nor after.
    if let Ok(text) = std::str::from_utf8(line) {
        let masked = std::str::from_utf8(&masked).expect("text stays text");
        // Not the reverse: the only wrong byte may be part of a value.
        assert!(!is_json(line, DEPTH) || is_json(masked.as_bytes(), DEPTH), "{text}\n{masked}");
        assert_eq!(Masker::new(Rules::default(), DEPTH).text(text).is_empty(), text.is_empty());
        // In a string, next to the content of the line.
        let quoted = serde_json::to_string(text).expect("text");
        let holding = format!("{{\"a\":{quoted},\"password\":{quoted},\"b\":\"ann@example.com\"}}");
        let masked = mask(holding.as_bytes());
        assert!(!masked.ends_with(b"ann@example.com\"}"), "{holding}");
        assert!(is_json(&masked, DEPTH), "{holding}");
    }
    mask(&mask(&masked));
});
