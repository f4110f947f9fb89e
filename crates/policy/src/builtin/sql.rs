//! SQL that only reads: only queries, with only functions that compute.

use crate::lists::sql::PURE_FUNCTIONS;

/// Whether a text with queries only reads.
pub fn only_reads(text: &str) -> bool {
    pipewright_syntax::sql::functions(text)
        .is_ok_and(|functions| functions.iter().all(|name| PURE_FUNCTIONS.binary_search(&name.as_str()).is_ok()))
}

/// The part of a text that may do more than read, for a person: the first such statement, and its function.
pub fn cause(text: &str) -> String {
    let part = text.split(';').map(str::trim).find(|part| !part.is_empty() && !only_reads(part)).unwrap_or(text.trim());
    match pipewright_syntax::sql::functions(part) {
        Ok(functions) => {
            let unknown = functions.iter().find(|name| PURE_FUNCTIONS.binary_search(&name.as_str()).is_err());
            unknown.map_or_else(|| format!("{part:?}"), |name| format!("{name}() in {part:?}"))
        }
        Err(_) => format!("{part:?}"),
    }
}

#[cfg(test)]
mod tests;
