//! The usage of a request, as OpenAI's APIs report it.

use pipewright_record::{Fields, Usage};

/// Reads `{INPUT,"INPUT_details":{"cached_tokens"},OUTPUT,"OUTPUT_details":{"reasoning_tokens"}}`; the APIs have
/// different names for the two.
pub(crate) fn usage(fields: &Fields<'_>, [input, output]: [&str; 2]) -> Usage {
    let detail = |key: &str, name| fields.object(&format!("{key}_details"))?.count(name);
    Usage {
        input: fields.count(input),
        output: fields.count(output),
        cached: detail(input, "cached_tokens"),
        reasoning: detail(output, "reasoning_tokens"),
        cost: None,
    }
}
