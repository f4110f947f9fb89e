//! SQL that only reads: only queries, with only functions that compute.

use crate::lists::sql::PURE_FUNCTIONS;

/// Whether a text with queries only reads.
pub fn only_reads(text: &str) -> bool {
    pipewright_syntax::sql::functions(text)
        .is_ok_and(|functions| functions.iter().all(|name| PURE_FUNCTIONS.binary_search(&name.as_str()).is_ok()))
}

#[cfg(test)]
mod tests;
