//! Keys and tokens with a provider's fixed form, JSON Web Tokens, and the Authorization header.

use super::finding::{Finding, Kind};
use super::pattern::Pattern;
use super::{base64_text, private_key};

/// The length of the shortest of them.
const MIN_LEN: usize = 14;

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
    r"|AT(?:ATT|CTT|BB)[A-Za-z0-9_=-]{20,}|figd_[A-Za-z0-9_-]{30,}|(?:fm[12]|fo1)_[A-Za-z0-9_+/=-]{30,}", // Atlassian, Figma, Fly.io
    r"|sb(?:p|_secret)_[A-Za-z0-9_-]{20,}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}", // Supabase, PlanetScale
    r"|ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}|NR(?:AK|JS|AA|II|RA)-[A-Za-z0-9_-]{19,}", // Notion, New Relic
    r"|sntry[su]_[A-Za-z0-9_=+/-]{40,}|gl(?:sa|c)_[A-Za-z0-9_=+/-]{30,}|hv[br]\.[A-Za-z0-9_-]{24,}", // Sentry, Grafana, Vault
    r"|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}|pul-[a-f0-9]{40}|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}", // Terraform, Pulumi, Doppler
    r"|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|[a-f0-9]{32}-us[0-9]{1,2}|SK[a-f0-9]{32}", // Brevo, Mailchimp, Twilio
    r"|CFPAT-[A-Za-z0-9_-]{40,}|dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}|ph[cx]_[A-Za-z0-9]{40,}", // Contentful, Dynatrace, PostHog
    r"|LTAI[A-Za-z0-9]{12,}|AKID[A-Za-z0-9]{32}|1//0[A-Za-z0-9_-]{30,}|amzn\.(?:mws|oa2-cs\.v1)\.[A-Za-z0-9.-]{30,}", // Alibaba, Tencent, Google, Amazon
    r"|fw_[A-Za-z0-9]{20,}|tgp_v1_[A-Za-z0-9_-]{30,}|csk-[A-Za-z0-9]{40,}|tvly-[A-Za-z0-9-]{20,}|fc-[a-f0-9]{32}|jina_[A-Za-z0-9_-]{40,}|sess-[A-Za-z0-9]{30,}", // models and search
    r"|nfp_[A-Za-z0-9]{36}|HRKU-[A-Za-z0-9_-]{36,}|CLOJARS_[a-z0-9]{60}|cio[A-Za-z0-9]{32}|oy2[a-z0-9]{43}|dckr_oat_[A-Za-z0-9_-]{20,}", // hosts, registries
    r"|AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{50,}|sq[apu]_[a-f0-9]{40}|sgp_(?:[A-Za-z0-9-]+_)?[a-f0-9]{40}|pnu_[A-Za-z0-9]{36}", // JFrog, SonarQube, Sourcegraph, Prefect
    r"|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|[12]/[0-9]{10,}(?:/[0-9]+)?:[a-f0-9]{32}|rdme_[a-z0-9]{60,}|shippo_(?:live|test)_[a-f0-9]{40}|EZ[AT]K[A-Za-z0-9]{54}", // Airtable, Asana, ReadMe, Shippo, EasyPost
    r"|[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}|EAA[A-Za-z0-9]{60,}|sha256~[A-Za-z0-9_-]{43}", // Discord, Meta, OpenShift
    r"|access-(?:sandbox|development|production)-[a-f0-9]{8}-[a-f0-9-]{27}|[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}|v1\.0-[a-f0-9]{24}-[a-f0-9]{146}", // Plaid, Azure, Cloudflare
    r"|(?:ico-|vc[apikr]_|rnd_|ops_eyJ|A3-[A-Z0-9]{6}-)[A-Za-z0-9_-]{26,}|FLWSEC(?:K|K_TEST)-[a-z0-9]{12,}", // Infracost, Vercel, Render, 1Password, Flutterwave
    r"|eyJ[A-Za-z0-9_-]{8,}(?:(?:\.[A-Za-z0-9_-]*){2,4}|\.eyJ[A-Za-z0-9_-]*)", // JSON Web Tokens (RFC 7515, RFC 7516), also cut off
    r")"
));

/// `Bearer` and `Basic` with what follows (RFC 6750, RFC 7617).
static SCHEMES: Pattern = Pattern::new(r"(?i)(?-u:\b)(?:(bearer)|basic) +([A-Za-z0-9._~+/-]{8,}=*)");

/// The signature in an address that gives access to a file.
static SIGNED: Pattern = Pattern::new(r"(?i)[?&](?:sig|signature)=([A-Za-z0-9%+/=_-]{30,})");

/// Finds all of these.
pub(super) fn find(text: &str, found: &mut Vec<Finding>) {
    if text.len() < MIN_LEN {
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
    for matched in SIGNED.captures_iter(text).filter_map(|groups| groups.get(1)) {
        found.push(Finding::new(text, matched.range(), Kind::SECRET));
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
    const MAX_LEN: usize = 9;
    let length = value.bytes().take(MAX_LEN + 1).position(|byte| byte == b' ').unwrap_or(0);
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

/// Whether it may be a path from the root, or from the home folder.
pub(super) fn is_path(value: &str) -> bool {
    let is_drive = matches!(value.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    value.starts_with(['/', '~', '\\']) || is_drive
}

/// Whether it is the path of a file, which cannot be a secret: the path begins like one from a known folder.
pub(super) fn is_file(value: &str) -> bool {
    const ROOTS: &[&str] = &[
        "/Library/",
        "/Users/",
        "/app/",
        "/bin/",
        "/data/",
        "/dev/",
        "/etc/",
        "/home/",
        "/mnt/",
        "/opt/",
        "/private/",
        "/proc/",
        "/root/",
        "/run/",
        "/srv/",
        "/sys/",
        "/tmp/",
        "/usr/",
        "/var/",
        "/workspace/",
        "~/",
        "./",
        "../",
    ];
    let is_drive = value.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
    is_drive && is_path(value) || ROOTS.iter().any(|root| value.starts_with(root))
}
