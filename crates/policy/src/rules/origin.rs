//! Origins (scheme, host and port), compared as browsers do.

/// The origin that a text names and nothing else, as browsers serialise it: `https://shop.example`. `None` if it is not
/// one of http or https, or has a user, a path or anything else that could be mistaken for the host.
#[cfg(feature = "gates")]
pub fn read(text: &str) -> Option<String> {
    let url = url::Url::parse(text).ok()?;
    let is_plain = !text.contains(|one: char| one.is_whitespace() || one.is_control() || "@\\*".contains(one));
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    (is_plain && is_bare && matches!(url.scheme(), "http" | "https")).then(|| url.origin().ascii_serialization())
}

/// Without the gates, nothing reads addresses.
#[cfg(not(feature = "gates"))]
pub fn read(_: &str) -> Option<String> {
    None
}

/// Whether both are the same origin.
pub fn is_same(one: &str, other: &str) -> bool {
    read(one).is_some_and(|one| read(other) == Some(one))
}

#[cfg(test)]
#[cfg(feature = "gates")]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_its_scheme_its_host_and_its_port() {
        for same in [
            "https://shop.example",
            "https://shop.example/",
            "HTTPS://Shop.Example:443",
            "https://%73hop.example",
            "https://shop\u{3002}example",
        ] {
            assert!(is_same("https://shop.example", same), "{same}");
        }
        assert!(is_same("https://b\u{fc}cher.example", "https://xn--bcher-kva.example"));
        assert!(is_same("http://[0:0::1]:80", "http://[::1]"));
        for other in [
            "http://shop.example",
            "https://shop.example:8443",
            "https://shop.example.evil.example",
            "https://evil.example/https://shop.example",
            "https://shop.example@evil.example",
            "https://shop.example:443@evil.example",
            "https://evil.example\\@shop.example",
            "https://@shop.example",
            "https://shop.example#@evil.example",
            "https://shop.example?",
            "https://shop.example./",
            "https://www.shop.example",
            "https://sh\u{43e}p.example",
            "https://sho p.example",
            "https://shop.exam\nple",
            "https://*",
            "shop.example",
            "//shop.example",
            "file://shop.example",
            "blob:https://shop.example/1",
            "null",
            "",
        ] {
            assert!(!is_same("https://shop.example", other), "{other}");
        }
        assert!(!is_same("null", "null") && !is_same("data:,x", "data:,x"));
    }
}
