//! A built-in pattern, compiled when it is first needed.

use regex::Regex;
use std::ops::Deref;
use std::sync::OnceLock;

#[derive(Debug)]
pub(super) struct Pattern {
    source: &'static str,
    compiled: OnceLock<Regex>,
}

impl Pattern {
    pub(super) const fn new(source: &'static str) -> Pattern {
        Pattern { source, compiled: OnceLock::new() }
    }
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        // The sources are constants, and a test compiles each. Masking without one of them would let values through.
        #[allow(clippy::expect_used)]
        self.compiled.get_or_init(|| Regex::new(self.source).expect("a built-in pattern compiles"))
    }
}
