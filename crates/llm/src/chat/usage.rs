//! The usage of a request, as OpenAI's APIs report it.

use pipewright_record::{Fields, Usage};

/// Reads `{INPUT,"INPUT_details":{"cached_tokens"},OUTPUT,"OUTPUT_details":{"reasoning_tokens"}}`; the APIs have
/// different names for the two.
pub(crate) fn usage(fields: &Fields<'_>, [input, output]: [&str; 2]) -> Usage {
    let detail = |key: &str, name| fields.object(&format!("{key}_details"))?.count(name);
    // DeepSeek and Moonshot have fields of their own.
    let own = || fields.count("prompt_cache_hit_tokens").or_else(|| fields.count("cached_tokens"));
    // OpenRouter
    let cost = fields.present("cost").and_then(|cost| cost.get().parse().ok()).filter(|cost: &f64| *cost >= 0.0);
    Usage {
        input: fields.count(input),
        output: fields.count(output),
        cached: detail(input, "cached_tokens").or_else(own),
        reasoning: detail(output, "reasoning_tokens"),
        cost,
    }
}
