//! Measures the nesting of a line without recursion, as a check before every recursive parser.

use super::tokens::string_end;

/// Whether arrays and objects nest deeper than `limit`. Linear, iterative, and ignores brackets in
/// strings. For a line that is not JSON, false only means that no parser would nest deeper than that.
///
/// ```
/// use pipewright_lines::deeper_than;
/// assert!(!deeper_than(br#"{"a":["[[[["]}"#, 2));
/// assert!(deeper_than(br#"{"a":[[]]}"#, 2));
/// ```
pub fn deeper_than(body: &[u8], limit: usize) -> bool {
    // Most lines have fewer brackets than the limit allows levels, and counting is faster than tracking the depth.
    body.len() > limit && openers(body) > limit && deepest_beyond(body, limit)
}

/// The number of opening brackets. `[` and `{` differ in one bit; in blocks of less than 256 bytes the count fits in a
/// byte, so that the compiler can vectorize it.
fn openers(body: &[u8]) -> usize {
    let in_block = |block: &[u8]| block.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>();
    body.chunks(192).map(|block| usize::from(in_block(block))).sum()
}

fn deepest_beyond(body: &[u8], limit: usize) -> bool {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(body, at),
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_strings() {
        assert!(!deeper_than(b"[]", 1));
        assert!(deeper_than(b"[]", 0));
        assert!(deeper_than(b"[[[]]]", 2));
        assert!(!deeper_than(br#"["\"[[[[\\", "["]"#, 1));
        assert!(deeper_than(br#"["\\",["]"]]"#, 1));
        assert!(!deeper_than(br#"["\"#, 1), "a torn escape is no panic");
        assert!(!deeper_than(b"", 0));
    }

    #[test]
    fn a_hundred_thousand_brackets_are_measured_without_recursion() {
        assert!(deeper_than(&[b'['; 100_000], 512));
        assert!(!deeper_than(&[b'['; 100_000], 100_000));
    }

    #[test]
    fn siblings_do_not_add_depth() {
        let wide = b"[],".repeat(1000);
        assert!(!deeper_than(&wide, 1));
    }
}
