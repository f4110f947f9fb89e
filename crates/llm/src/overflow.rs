//! How servers report that a conversation is too long for the model. There are as many wordings as servers, so the message is read for
//! what it is about and for the excess, not for whole sentences.

/// Parts of codes, in lower case without `_` and `-`.
const CODES: [&str; 6] =
    ["contextlength", "contextsize", "contextwindow", "tokenslimitreached", "prompttoolong", "inputtoolong"];

/// GLM has a number instead of a word.
const GLM_CODE: &str = "1261";

/// The window of the model, or a limit of all tokens.
const WINDOW: [&str; 14] = [
    "context length",
    "context window",
    "context size",
    "context limit",
    "context_length",
    "contextwindow",
    "model length",
    "max_model_len",
    "max_seq_len",
    "n_ctx",
    "token limit",
    "tokens limit",
    "tokens_limit",
    "\u{4e0a}\u{4e0b}\u{6587}", // "context", in Chinese
];

/// What was sent.
const SENT: [&str; 9] = [
    "prompt",
    "input",
    "messages",
    "conversation",
    "tokens in total",
    "total tokens",
    "number of tokens",
    "too many tokens",
    "\u{8f93}\u{5165}", // "input", in Chinese
];

/// Words for too much of it.
const EXCESS: [&str; 20] = [
    "exceed",
    "too long",
    "too large",
    "too many",
    "too big",
    "greater than",
    "longer than",
    "larger than",
    "more than",
    "over the limit",
    "beyond the",
    "reduce the length",
    "shorten",
    "shorter",
    "overflow",
    "not enough",
    "does not fit",
    "doesn't fit",
    "\u{8d85}", // "over", in Chinese
    "maximum prompt length",
];

/// Comparisons, which count only if they are about tokens or a length.
const COMPARED: [&str; 6] = ["<=", " > ", "at most", "less than", "should be [", "maximum context length"];

/// Other things that may be too large.
const OTHER: [&str; 12] = [
    "image",
    "picture",
    "pixel",
    "dimension",
    "audio",
    "video",
    "pdf",
    "file",
    "function",
    "tool",
    "schema",
    "stop seq",
];

/// Whether the server reports that the conversation exceeds the model's context window.
pub(super) fn is_overflow(code: Option<&str>, message: &str) -> bool {
    let code = code.unwrap_or_default().to_lowercase();
    let plain: String = code.chars().filter(|character| !"_-".contains(*character)).collect();
    if CODES.iter().any(|part| plain.contains(part)) || code == GLM_CODE {
        return true;
    }
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let is_compared = has(&COMPARED) && (message.contains("token") || message.contains("length"));
    if !has(&EXCESS) && !is_compared {
        return false;
    }
    if has(&WINDOW) {
        // The limit of the output may be larger than the window although the conversation is not.
        return !is_only_output(&message);
    }
    has(&SENT) && !is_only_output(&message) && (!has(&OTHER) || message.contains("token"))
}

/// The context window in tokens that a message about an overlong conversation names.
pub fn context_window(message: &str) -> Option<u64> {
    const LEAST: u64 = 256;
    const NAMES: [&str; 4] = ["maximum number of tokens", "maximum prompt length", "limit of", " > "];
    let message = message.to_lowercase();
    let numbers = |text: &str| {
        let words = text.split(|each: char| !each.is_ascii_digit() && each != ',').map(|word| word.replace(',', ""));
        words.filter_map(|word| word.parse().ok()).filter(|number| *number >= LEAST).collect::<Vec<u64>>()
    };
    let names = NAMES.iter().rev().chain(&WINDOW);
    let (at, name) = names.filter_map(|name| Some((message.find(name)?, name))).next()?;
    let (before, behind) = (numbers(&message[..at]), numbers(&message[at + name.len()..]));
    behind.first().or(before.last()).copied()
}

/// Whether a message (in lower case) is about the limit of the output alone.
pub(super) fn is_only_output(message: &str) -> bool {
    let names = ["max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "maxoutputtokens"];
    let Some(at) = names.iter().filter_map(|name| message.find(name)).min() else {
        return message.contains("output tokens") && !message.contains("context");
    };
    let before = &message[..at];
    !["input", "prompt", "context"].iter().any(|word| before.contains(word))
        && !["input length", "inputs`", "reduce the length", "shorten"].iter().any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlong_conversation_is_recognised_in_any_words() {
        for message in [
            "prompt is too long: 213462 tokens > 200000 maximum",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
            "Your input exceeds the context window of this model",
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
            "request (9 tokens) exceeds the available context size (8 tokens), try increasing it",
            "Please reduce the length of the messages or completion.",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            "Prompt contains 9 tokens and 0 draft tokens, too large for model with 8 maximum context length",
            "the prompt to keep is greater than the context length",
            "loaded with context length of only 4096 tokens, which is not enough",
            "Prompt exceeds max length",
            "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens",
            "`inputs` must have less than 4096 tokens. Given: 5000",
            "Range of input length should be [1, 129024]",
            "Context size has been exceeded.",
            "Your request exceeded model token limit: 262144",
            "tokens_limit_reached: Request body too large",
            "litellm.ContextWindowExceededError: too many tokens",
            "too many tokens: total number of tokens in the prompt cannot exceed 4081",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            "prompt token count of 130000 exceeds the limit of 128000",
            "Prompt length 5000 is greater than max_seq_len 4096",
            "the conversation does not fit",
            "\u{8f93}\u{5165}\u{957f}\u{5ea6}\u{8d85}\u{8fc7}\u{6700}\u{5927}\u{9650}\u{5236}",
            "Invalid 'input[2].content': string too long. Expected a string with maximum length 10485760",
        ] {
            assert!(is_overflow(None, message), "{message}");
        }
        for code in ["context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded", "1261"] {
            assert!(is_overflow(Some(code), ""), "{code}");
        }
    }

    #[test]
    fn the_context_window_is_read_from_the_message() {
        for (message, window) in [
            ("prompt is too long: 213462 tokens > 200000 maximum", Some(200_000)),
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000.",
                Some(128_000),
            ),
            ("The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)", Some(1_048_575)),
            ("request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it", Some(8192)),
            ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", Some(200_000)),
            ("Prompt contains 9000 tokens, too large for model with 8192 maximum context length", Some(8192)),
            ("prompt token count of 130000 exceeds the limit of 128000", Some(128_000)),
            ("Prompt length 5000 is greater than max_seq_len 4096", Some(4096)),
            ("Context size has been exceeded.", None),
            ("Prompt exceeds max length", None),
        ] {
            assert_eq!(context_window(message), window, "{message}");
        }
    }

    #[test]
    fn another_limit_is_no_overflow() {
        for message in [
            "max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens for the model",
            "max_tokens exceeds the limit of 8192",
            "max_tokens is too large: 100000. This model's maximum context length is 32768 tokens",
            "image exceeds 5 MB maximum",
            "messages.3.content.1.image.source: image dimensions exceed max allowed size: 8000 pixels",
            "Input should be less than or equal to 2",
            "Input should be a valid string",
            "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
            "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64",
            "messages: at least one message is required",
            "Conversation roles must alternate user/assistant/user/assistant/...",
            "CUDA out of memory",
        ] {
            assert!(!is_overflow(Some("invalid_request_error"), message), "{message}");
        }
    }
}
