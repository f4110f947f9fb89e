//! Keys and tokens with a provider's fixed form, JSON Web Tokens, and the Authorization header.

use super::base64_text;
use super::finding::{Finding, Kind};
use super::pattern::Pattern;
use super::private_key;

/// The length of the shortest of them.
const SHORTEST: usize = 14;

/// Prefixes of keys, and the form of the rest. Some of these are also in gitleaks' rules (MIT).
static KEYS: Pattern = Pattern::new(concat!(
    r"(?-u:\b)(?:",
    r"sk-[A-Za-z0-9_-]{20,}", // OpenAI, Anthropic (sk-ant-), OpenRouter (sk-or-)
    r"|(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}", // GitHub
    r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", // AWS
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}", // Google
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}", // Slack
    r"|gl(?:pat|dt|rt|cbt|ptt|ft|agent|oas|soat)-[A-Za-z0-9_-]{20,}", // GitLab
    r"|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,}|rubygems_[a-f0-9]{48}", // registries
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{20,}", // Stripe
    r"|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}|key-[a-f0-9]{32}", // SendGrid, Mailgun
    r"|do[opr]_v1_[a-f0-9]{64}|dapi[a-f0-9]{32}|dckr_pat_[A-Za-z0-9_-]{20,}", // DigitalOcean, Databricks, Docker
    r"|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|pplx-[A-Za-z0-9]{40,}|nvapi-[A-Za-z0-9_-]{40,}", // models
    r"|shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{32}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}", // Shopify, Square
    r"|hvs\.[A-Za-z0-9_-]{24,}|AGE-SECRET-KEY-1[A-Z0-9]{58}|lin_api_[A-Za-z0-9]{40}|PMAK-[A-Za-z0-9-]{40,}", // Vault, age, Linear, Postman
    r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",                                                                     // Telegram
    r"|hooks\.slack\.com/services/[A-Za-z0-9/]{20,}|discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{40,}", // webhooks
    r"|eyJ[A-Za-z0-9_-]{8,}(?:(?:\.[A-Za-z0-9_-]*){2,4}|\.eyJ[A-Za-z0-9_-]*)", // JSON Web Tokens (RFC 7515, RFC 7516), also cut off
    r")"
));

/// `Bearer` and `Basic` with what follows (RFC 6750, RFC 7617).
static SCHEMES: Pattern = Pattern::new(r"(?i)(?-u:\b)(?:(bearer)|basic) +([A-Za-z0-9._~+/-]{8,}=*)");

/// Finds all of these.
pub(super) fn find(text: &str, found: &mut Vec<Finding>) {
    if text.len() < SHORTEST {
        return;
    }
    private_key::find(text, found);
    for matched in KEYS.find_iter(text) {
        let kind = if matched.as_str().starts_with("eyJ") { Kind::JWT } else { Kind::KEY };
        // Names in CSS and the like have neither digits nor capitals.
        let is_random = matched.as_str().bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if is_random {
            found.push(Finding::new(text, matched.range(), kind));
        }
    }
    for matched in SCHEMES.captures_iter(text) {
        let Some(value) = matched.get(2) else { continue };
        let is_token = match matched.get(1) {
            // "Bearer authentication" is not a token.
            Some(_) => value.as_str().bytes().any(|byte| byte.is_ascii_digit()) || value.len() >= 20,
            None => is_basic(value.as_str()),
        };
        if is_token {
            found.push(Finding::new(text, value.range(), Kind::TOKEN));
        }
    }
}

/// Whether it is the base64 of `user:password`.
fn is_basic(value: &str) -> bool {
    base64_text::decoded(value).is_some_and(|bytes| bytes.contains(&b':'))
}

/// The length of the authentication scheme's name at the beginning of `value`, including the blanks after it.
pub(super) fn scheme_length(value: &str) -> usize {
    const LONGEST: usize = 9;
    let length = value.bytes().take(LONGEST + 1).position(|byte| byte == b' ').unwrap_or(0);
    let is_scheme = ["bearer", "basic", "token", "digest", "apikey", "negotiate", "ntlm"]
        .contains(&&*value[..length].to_lowercase());
    if is_scheme { value.len() - value[length..].trim_start_matches(' ').len() } else { 0 }
}

/// Whether it can be a key or a token, that is, not a plain word.
pub(super) fn is_random(value: &str) -> bool {
    value.len() >= 20 || value.len() >= 3 && value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether it is a reference to a variable: `$TOKEN`, `${TOKEN}`.
pub(super) fn is_reference(value: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(belongs);
    value
        .strip_prefix('$')
        .is_some_and(|name| is_name(name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name)))
}
