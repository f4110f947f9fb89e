//! A pattern that is built in, compiled where it is needed first.

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
        // The sources are constants, each of which a test compiles. Masking without one of them would let values through.
        #[allow(clippy::expect_used)]
        self.compiled.get_or_init(|| Regex::new(self.source).expect("a built-in pattern compiles"))
    }
}
