//! The destination of an address, parsed as browsers do (WHATWG's URL standard).

use super::lexicon::{NounPosition, WordSense, look_up};
use super::names::{self, Class};
use super::{JudgedCall, allow, found, found_text};
use crate::detector::ActionKind;
use crate::lists::address::{
    ENDINGS, FETCHING, HOOKS, KEYS, LOCAL_PAGES, LOCAL_PLACES, LOCAL_VERBS, LOCAL_VERBS_AT_END, SECRETS, SENDING_KEYS,
    STORE_SCHEMES,
};
use crate::verdict::{Decision, Verdict};
use percent_encoding::percent_decode_str;
use pipewright_record::identifier::words;
use serde_json::Value;
use url::{Host, Url};

/// Judges a call that opens an address.
pub fn judge_address(call: &JudgedCall<'_>) -> Decision {
    let mut decision = allow("it only opens a page");
    for (key, raw) in call.arguments.iter() {
        let is_address = may_be_key(key) || is_key(key);
        decision = decision.stricter(match serde_json::from_str(raw.get()) {
            Ok(value) => judge_value(&value, is_address),
            Err(_) => unreadable(),
        });
    }
    decision
}

/// Whether a key is for an address: `url`, `callbackUrl`.
pub fn is_key(key: &str) -> bool {
    let plain = super::plain_key(key);
    plain == "address" || ENDINGS.iter().any(|ending| plain.ends_with(ending))
}

/// Whether a key may be for an address, or for something else.
pub fn may_be_key(key: &str) -> bool {
    KEYS.contains(&&*super::plain_key(key))
}

/// Whether an argument of a tool that only reads is an address.
pub fn is_address(key: &str, text: &str) -> bool {
    is_key(key) || may_be_key(key) && text.contains("://")
}

fn unreadable() -> Decision {
    Decision::new(Verdict::Confirm, "builtin.address", "its address cannot be read")
}

fn judge_value(value: &Value, is_address: bool) -> Decision {
    match value {
        Value::String(text) if is_address => judge_text(text),
        // Under any other key, only a text that is certainly an address.
        Value::String(text) => match Url::parse(text) {
            Ok(url) if is_program(&url) || url.has_host() => judge_url(&url),
            _ => allow("it only opens a page"),
        },
        Value::Array(items) => items
            .iter()
            .fold(allow("it only opens a page"), |decision, item| decision.stricter(judge_value(item, is_address))),
        Value::Object(fields) => fields
            .values()
            .fold(allow("it only opens a page"), |decision, item| decision.stricter(judge_value(item, is_address))),
        Value::Null | Value::Bool(_) | Value::Number(_) => allow("it only opens a page"),
    }
}

fn judge_text(text: &str) -> Decision {
    if text.is_empty() {
        return allow("it only opens a page");
    }
    let url = match Url::parse(text) {
        // A person who types `example.org:8080` or `localhost:8080` means a host.
        Ok(url) if is_host_and_port(&url) => Url::parse(&format!("http://{}", text.trim())),
        Err(url::ParseError::RelativeUrlWithoutBase) => Url::parse(&format!("http://{}", text.trim())),
        url => url,
    };
    url.map_or_else(|_| unreadable(), |url| disclosed(text, &url).unwrap_or_else(|| judge_url(&url)))
}

/// Judges what a web address tells its host besides the page: a key, a password, or another host than the one that some
/// readers see in it (`https://one.example\@other.example`).
fn disclosed(text: &str, url: &Url) -> Option<Decision> {
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let authority = text.split_once("//").map_or(text, |(_, behind)| behind).split(['/', '?', '#']).next();
    let why = if authority.is_some_and(|host| host.contains('\\')) {
        "readers differ about the host of the address"
    } else if url.password().is_some() {
        "the address has a password for its host"
    } else if holds_secret(text) {
        "the address has a secret in it"
    } else {
        return None;
    };
    Some(found(ActionKind::Send, "builtin.address", why.to_owned()))
}

/// Whether a text has a key in one of the forms of well-known services.
fn holds_secret(text: &str) -> bool {
    const FEWEST: usize = 12;
    let is_of_key = |one: &char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
    let is_key = |behind: &str| behind.chars().take_while(is_of_key).count() >= FEWEST;
    text.contains("-----BEGIN") || SECRETS.iter().any(|begin| text.split(begin).skip(1).any(is_key))
}

fn is_host_and_port(url: &Url) -> bool {
    let port: String = url.path().chars().take_while(char::is_ascii_digit).collect();
    let is_name = url.scheme() == "localhost" || url.scheme().contains('.');
    is_name
        && url.cannot_be_a_base()
        && !port.is_empty()
        && matches!(url.path()[port.len()..].chars().next(), None | Some('/'))
}

fn is_program(url: &Url) -> bool {
    matches!(url.scheme(), "javascript" | "vbscript")
}

/// Whether a text is a program in the form of an address.
pub fn runs(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| is_program(&url))
}

fn judge_url(url: &Url) -> Decision {
    match url.scheme() {
        _ if is_program(url) => found_text(ActionKind::Run, "builtin.address", "the address is a program".to_owned()),
        // `sendMessage`, but not `/login` or `/share`, which show a page first.
        "http" | "https" => sent_by(url, 2).unwrap_or_else(|| judge_path(url, false)),
        "about" if url.path() == "blank" => allow("it only opens a page"),
        scheme => unknown_scheme(scheme),
    }
}

fn unknown_scheme(scheme: &str) -> Decision {
    let why = format!("the effect of {scheme}: addresses is not known");
    Decision::new(Verdict::Confirm, "builtin.address", why)
}

/// Judges an argument that is an address, for a tool that only reads.
pub fn judge_read(tool: &[String], key: &str, text: &str) -> Option<Decision> {
    let url = Url::parse(text).ok().filter(|url| !is_host_and_port(url));
    let scheme = url.as_ref().map_or("", Url::scheme);
    let is_page = matches!(scheme, "" | "http" | "https");
    // `uri` is often the name of a resource or of a file.
    let is_sure = is_key(key) && !super::plain_key(key).trim_end_matches('s').ends_with("uri");
    let is_name = !is_sure && !tool.iter().any(|word| FETCHING.contains(&word.as_str()));
    if STORE_SCHEMES.contains(&scheme) || is_name && !is_page && !runs(text) {
        return None;
    }
    // `view-source:https://host`.
    let has_another = url.as_ref().is_some_and(|url| !is_page && url.path().contains("://"));
    if has_another { Some(unknown_scheme(scheme)) } else { judge_fetched(text) }
}

/// Judges an address that is only fetched; gives the decision if it needs approval.
pub fn judge_fetched(text: &str) -> Option<Decision> {
    let url = match Url::parse(text) {
        Ok(url) if !is_host_and_port(&url) => url,
        _ => Url::parse(&format!("http://{text}")).ok()?,
    };
    if let Some(decision) = disclosed(text, &url) {
        return Some(decision);
    }
    match url.scheme() {
        "http" | "https" if is_near(&url) => judge_service(&url),
        "http" | "https" => sent_by(&url, 1)
            .or_else(|| Some(judge_path(&url, true)).filter(|decision| decision.verdict != Verdict::Allow)),
        // Any word before a colon looks like a scheme.
        scheme if url.has_host() || scheme == "file" || scheme == "data" && url.path().contains(',') => {
            Some(unknown_scheme(scheme))
        }
        _ => None,
    }
}

/// Whether an address is on this machine or in a network at home, where services and devices act on a GET.
fn is_near(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost") || name.ends_with(".local"),
        Some(Host::Ipv4(host)) => host.is_loopback() || host.is_private() || host.is_link_local(),
        Some(Host::Ipv6(host)) => host.is_loopback() || host.is_unique_local() || host.is_unicast_link_local(),
        None => false,
    }
}

/// Judges an address of a service near by; gives the decision if it needs approval. There, a verb is a command rather
/// than a title.
pub fn judge_service(url: &Url) -> Option<Decision> {
    let path = decoded(url.path());
    let parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_lowercase).collect();
    let at_end = parts.last().map(|last| words(last)).unwrap_or_default();
    let acts = |word: &String| acts_on_service(word);
    let verb = words(&path).into_iter().find(acts);
    let verb = verb.or_else(|| at_end.into_iter().find(|word| LOCAL_VERBS_AT_END.contains(&word.as_str())));
    match verb.or_else(|| place_of_service(&parts)) {
        Some(said) => Some(found(ActionKind::Run, "builtin.address", format!("the address says {said:?}"))),
        None => Some(judge_path(url, false)).filter(|decision| decision.verdict != Verdict::Allow),
    }
}

/// Whether a word is a command in the path of a service.
fn acts_on_service(word: &str) -> bool {
    let is_verb = matches!(look_up(word), Some((_, WordSense::Effect(_, NounPosition::Never))));
    LOCAL_VERBS.contains(&word) || is_verb && !LOCAL_PAGES.contains(&word)
}

/// The part of a service's path that shows secrets, runs a program or opens a page: Docker shows the variables of a
/// container, and Chrome opens what is behind `/json/new`.
fn place_of_service(parts: &[String]) -> Option<String> {
    let is = |part: &String, known: &str| part == known;
    let is_container = |three: &[String]| is(&three[0], "containers") && is(&three[2], "json");
    let opens = |two: &[String]| is(&two[0], "json") && is(&two[1], "new");
    let place = parts.iter().find(|part| LOCAL_PLACES.contains(&part.as_str()));
    let three = || parts.windows(3).find(|three| is_container(three)).map(|three| three.join("/"));
    let two = || parts.windows(2).find(|two| opens(two)).map(|two| two.join("/"));
    place.cloned().or_else(three).or_else(two)
}

/// The verb of an interface that sends on a GET: `/bot1/sendMessage?chat_id=2&text=hi`, `chat.postMessage?token=...`, and
/// any address of a host for hooks. The verb has at least so many words.
fn sent_by(url: &Url, fewest_words: usize) -> Option<Decision> {
    let has_message = url.query_pairs().any(|(key, _)| SENDING_KEYS.contains(&&*super::plain_key(&key)));
    let sent = || {
        url.path().split(['/', '.']).find_map(|piece| match names::class(piece) {
            Class::Destroy(kind, _) if words(piece).len() >= fewest_words => Some((kind, piece.to_owned())),
            _ => None,
        })
    };
    let hook =
        || url.host_str()?.split('.').find(|label| HOOKS.contains(label)).map(|it| (ActionKind::Send, it.to_owned()));
    let (kind, said) = if has_message { sent().or_else(hook)? } else { hook()? };
    Some(found(kind, "builtin.address", format!("the address says {said:?}")))
}

/// Judges an address by its words: some sites delete on a GET. A page that is fetched without a person's session is
/// only text to read, even with a verb in its title: `/docs/delete-bucket`.
fn judge_path(url: &Url, is_only_fetched: bool) -> Decision {
    let reads_titles = is_only_fetched && url.query().is_none_or(str::is_empty);
    let fragment = if is_only_fetched { None } else { url.fragment() };
    // The article "Purge".
    let path = Some(url.path()).filter(|path| !reads_titles || !path.starts_with("/wiki/"));
    let parts = [path, url.query(), fragment].into_iter().flatten().map(decoded);
    for part in parts {
        // Encoded text may have further parts.
        for piece in part.split(['/', '\\', '&', ';', '?', '!', '#', ':']) {
            let said = match piece.split_once('=') {
                Some((key, _)) if SEARCH_KEYS.contains(&&*super::plain_key(key)) => None,
                Some((key, value)) => kind_of_name(key, reads_titles)
                    .or_else(|| value.split('=').find_map(|value| kind_of_name(value, reads_titles)))
                    .or_else(|| kind_of_action(key, value)),
                None => kind_of_file(piece, reads_titles),
            };
            if let Some(kind) = said {
                return found(kind, "builtin.address", format!("the address says {piece:?}"));
            }
        }
    }
    allow("it only opens a page")
}

/// Keys for text to search for.
const SEARCH_KEYS: &[&str] = &["keyword", "keywords", "q", "query", "search", "searchterm", "term", "terms"];
/// Keys for an action in a query.
const ACTION_KEYS: &[&str] =
    &["act", "action", "cmd", "command", "do", "func", "method", "op", "operation", "task", "verb"];
/// Verbs that begin the name of an action: `delete_account`, `remove-item`.
const ACTION_VERBS: &[&str] =
    &["deactivate", "delete", "destroy", "erase", "logout", "purge", "remove", "signout", "unsubscribe"];
/// What a page orders at once: `one-click-buy`.
const BUYING: &[&str] = &["buy", "checkout", "order", "pay", "purchase"];
/// Extensions of files that servers send unchanged.
const FILES: &[&str] = &[
    "c", "cpp", "css", "csv", "gif", "go", "gz", "h", "ico", "java", "jpeg", "jpg", "js", "kt", "map", "md", "mjs",
    "mp3", "mp4", "pdf", "png", "py", "rb", "rs", "rst", "sh", "sql", "svg", "swift", "toml", "ts", "tsx", "txt",
    "webm", "webp", "woff", "woff2", "yaml", "yml", "zip",
];

/// The kind of action in a piece of a path: `delete`, `user.delete`, `logout.php`.
fn kind_of_file(piece: &str, reads_titles: bool) -> Option<ActionKind> {
    let said = |name: &str| names::verb_alone(name).filter(acts_on_open).or_else(|| kind_of_name(name, reads_titles));
    match piece.trim_end_matches('.').rsplit_once('.') {
        Some((_, ending)) if FILES.contains(&ending.to_lowercase().as_str()) => None,
        Some((name, method)) => said(method).or_else(|| kind_of_file(name, reads_titles)),
        None => said(piece),
    }
}

/// The kind of the verb at the beginning of a name with several words. A title has articles, or hyphens between its
/// words.
fn kind_of_name(name: &str, reads_titles: bool) -> Option<ActionKind> {
    let words = words(name);
    let is_title =
        words.iter().any(|word| ["a", "an", "the"].contains(&word.as_str())) || reads_titles && name.contains('-');
    let buys = |words: &[String]| {
        ["1", "one"].contains(&words[0].as_str()) && words[1] == "click" && BUYING.contains(&words[2].as_str())
    };
    if !is_title && words.windows(3).any(buys) {
        return Some(ActionKind::Order);
    }
    let verb = words.first().filter(|first| !is_title && ACTION_VERBS.contains(&first.as_str()))?;
    names::verb_alone(verb)
}

fn kind_of_action(key: &str, value: &str) -> Option<ActionKind> {
    match names::class(value) {
        Class::Destroy(kind, word) if ACTION_KEYS.contains(&&*super::plain_key(key)) => {
            let shows_form = ["login", "signin"].contains(&word);
            Some(kind).filter(|kind| acts_on_open(kind) || *kind == ActionKind::Grant && !shows_form)
        }
        _ if super::plain_key(key) == "confirm" && ["1", "true", "yes"].contains(&value) => Some(ActionKind::Confirm),
        _ => None,
    }
}

/// Whether opening an address with a verb of this kind carries it out: `/login`, `/publish` and `/pay` show a page
/// first.
fn acts_on_open(kind: &ActionKind) -> bool {
    use ActionKind as Kind;
    matches!(kind, Kind::Delete | Kind::Confirm | Kind::CancelOrder | Kind::Revoke | Kind::Run)
}

/// Decoded as often as a server and its proxies may decode it.
fn decoded(segment: &str) -> String {
    let mut text = segment.to_owned();
    for _ in 0..3 {
        text = percent_decode_str(&text).decode_utf8_lossy().into_owned();
    }
    text
}
