//! Which addresses pages may be at. Addresses are parsed as browsers parse them (WHATWG's URL standard), so every
//! spelling of an IP address counts as the same one. Public addresses are allowed; files, private addresses and the
//! browser's own pages are not, unless listed.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use url::{Host, Url};

/// What pages may show besides public addresses: origins and files. Empty by default.
#[derive(Debug, Clone, Default)]
pub struct AddressRules {
    origins: Vec<Origin>,
    files: Vec<PathBuf>,
}

/// A pattern for origins.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// Scheme, host and port.
    Exact(String, Host<String>, u16),
    /// Either scheme; any port if none is given.
    Host(Host<String>, Option<u16>),
    /// `*.example.org`, stored with the dot.
    Below(String),
}

/// The judgement of an address from its text alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// A page may be there.
    Allowed,
    /// A page may be there if the name resolves to a public address.
    Named,
    /// No page may be there; the reason, and what would allow it.
    Refused(String),
}

/// Names that are for private networks only (RFC 6761, 6762 and 8375, and ICANN's resolution 2024.07.29.06).
const PRIVATE_NAMES: [&str; 4] = ["localhost", "local", "internal", "home.arpa"];

/// Why a page may not be at an address, or an address cannot be allowed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AddressError(String);

impl AddressRules {
    /// Allows an origin: `http://HOST:PORT`, a host with or without a port, or `*.DOMAIN` for the names below a domain.
    ///
    /// # Errors
    /// The text is none of these.
    pub fn origin(mut self, text: &str) -> Result<AddressRules, AddressError> {
        let origin = Origin::read(text);
        self.origins.push(origin.ok_or_else(|| {
            AddressError(format!(
                "{text:?} is not an origin: write http://HOST:PORT, a host, or *.DOMAIN for all names below a domain"
            ))
        })?);
        Ok(self)
    }

    /// Allows a file, or everything in a folder. Links are resolved: now for this path, later for the files that pages
    /// open.
    ///
    /// # Errors
    /// The path does not exist, or cannot be read.
    pub fn file(mut self, path: &Path) -> io::Result<AddressRules> {
        self.files.push(path.canonicalize()?);
        Ok(self)
    }

    /// Allows the address that a person named: its origin, or its file.
    ///
    /// # Errors
    /// A page cannot be at this address.
    pub fn first(self, address: &str) -> Result<AddressRules, AddressError> {
        let url =
            Url::parse(address).map_err(|error| AddressError(format!("{address:?} is not an address: {error}")))?;
        match (url.scheme(), url.to_file_path()) {
            ("file", Ok(path)) => {
                self.file(&path).map_err(|error| AddressError(format!("{}: {error}", path.display())))
            }
            ("http" | "https", _) => self.origin(&url.origin().ascii_serialization()),
            _ => self.check(address).map(|()| self),
        }
    }

    /// Whether a page may be at an address, judged from its text.
    ///
    /// # Errors
    /// The reason why no page may be there, and what would allow it.
    pub fn check(&self, address: &str) -> Result<(), AddressError> {
        match self.judge(address) {
            Judgement::Allowed | Judgement::Named => Ok(()),
            Judgement::Refused(why) => Err(AddressError(why)),
        }
    }

    pub(crate) fn judge(&self, address: &str) -> Judgement {
        let Ok(url) = Url::parse(address) else {
            return Judgement::Refused("it is not a complete address such as https://example.org/".to_owned());
        };
        match url.scheme() {
            "http" | "https" => self.judge_host(&url),
            "file" if self.has_file(&url) => Judgement::Allowed,
            "file" => Judgement::Refused("it is a local file: allow the file or its folder".to_owned()),
            // Its origin is opaque: it cannot read other pages.
            "data" => Judgement::Allowed,
            "about" if url.path() == "blank" => Judgement::Allowed,
            // A blob belongs to the page that created it.
            "blob" if !url.path().starts_with("http") => Judgement::Allowed,
            "blob" => self.judge(url.path()),
            "javascript" => Judgement::Refused("it is a script, not a page".to_owned()),
            scheme => Judgement::Refused(format!(
                "{scheme}: addresses are not web pages; only http, https, data and allowed files are"
            )),
        }
    }

    fn judge_host(&self, url: &Url) -> Judgement {
        let (Some(host), Some(port)) = (host(url), url.port_or_known_default()) else {
            return Judgement::Refused("it has no host".to_owned());
        };
        if self.origins.iter().any(|origin| origin.is_of(url.scheme(), &host, port)) {
            return Judgement::Allowed;
        }
        let is_private = match &host {
            Host::Domain(name) => is_private_name(name),
            Host::Ipv4(address) => is_private(IpAddr::V4(*address)),
            Host::Ipv6(address) => is_private(IpAddr::V6(*address)),
        };
        match host {
            _ if is_private => Judgement::Refused(format!("{host} is private: allow its origin")),
            Host::Domain(_) => Judgement::Named,
            Host::Ipv4(_) | Host::Ipv6(_) => Judgement::Allowed,
        }
    }

    fn has_file(&self, url: &Url) -> bool {
        let Ok(path) = url.to_file_path() else { return false };
        // If the file does not exist, the browser reports it.
        let path = path.canonicalize().unwrap_or(path);
        self.files.iter().any(|allowed| path.starts_with(allowed))
    }
}

/// The host of an address. A dot at the end of a name does not change the host.
fn host(url: &Url) -> Option<Host<String>> {
    Some(match url.host()? {
        Host::Domain(name) => Host::Domain(name.trim_end_matches('.').to_owned()),
        Host::Ipv4(address) => Host::Ipv4(address),
        Host::Ipv6(address) => Host::Ipv6(address),
    })
}

impl Origin {
    fn read(text: &str) -> Option<Origin> {
        let is_bare = |url: &Url| {
            !url.host_str().is_some_and(|host| host.contains('*'))
                && url.path() == "/"
                && url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty()
                && url.password().is_none()
        };
        if text.contains("://") {
            let url = Url::parse(text).ok().filter(is_bare)?;
            let is_web = matches!(url.scheme(), "http" | "https");
            return Some(Origin::Exact(url.scheme().to_owned(), host(&url)?, url.port_or_known_default()?))
                .filter(|_| is_web);
        }
        if let Some(domain) = text.strip_prefix("*.") {
            let url =
                Url::parse(&format!("http://{domain}")).ok().filter(|url| is_bare(url) && !domain.contains(':'))?;
            return match host(&url)? {
                Host::Domain(name) => Some(Origin::Below(format!(".{name}"))),
                Host::Ipv4(_) | Host::Ipv6(_) => None,
            };
        }
        let plain = Url::parse(&format!("http://{text}")).ok().filter(is_bare)?;
        // A scheme's default port is left out of an address. Parsing with two schemes shows the port with one of them.
        let other = Url::parse(&format!("https://{text}")).ok()?;
        Some(Origin::Host(host(&plain)?, plain.port().or(other.port())))
    }

    fn is_of(&self, scheme: &str, host: &Host<String>, port: u16) -> bool {
        match (self, host) {
            (Origin::Exact(own_scheme, own_host, own_port), _) => {
                own_scheme == scheme && own_host == host && *own_port == port
            }
            (Origin::Host(own, own_port), _) => own == host && own_port.is_none_or(|own_port| own_port == port),
            (Origin::Below(end), Host::Domain(name)) => name.ends_with(end.as_str()),
            (Origin::Below(_), _) => false,
        }
    }
}

/// Whether a name can only be that of a host in a private network. The local resolver completes a name without a dot.
fn is_private_name(name: &str) -> bool {
    let is_below =
        |suffix: &&str| name.strip_suffix(*suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    !name.contains('.') || PRIVATE_NAMES.iter().any(is_below)
}

/// Whether an IP address belongs to this machine, its links or a private network, or to no host at all (IANA's
/// registries of special-purpose addresses).
pub(crate) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    match address.octets() {
        // "This network": 0.0.0.0 reaches this machine.
        [0 | 10 | 127, ..] => true,
        // Carrier-grade NAT (RFC 6598).
        [100, 64..=127, ..] => true,
        [169, 254, ..] | [192, 168, ..] | [172, 16..=31, ..] => true,
        // Protocol assignments, and benchmarks.
        [192, 0, 0, _] | [198, 18 | 19, ..] => true,
        // Multicast, reserved, broadcast.
        [224..=255, ..] => true,
        _ => false,
    }
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, .., seventh, eighth] = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // Unspecified, loopback, and IPv4 in its compatible and mapped forms.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] => embedded(seventh, eighth),
        // IPv4 in its translated form (RFC 2765).
        [0, 0, 0, 0, 0xffff, 0, ..] => embedded(seventh, eighth),
        // Translation prefixes (RFC 6052 and 8215), and 6to4 (RFC 3056).
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => embedded(seventh, eighth),
        [0x64, 0xff9b, 1, ..] => true,
        [0x2002, ..] => embedded(second, third),
        // Unique local, link-local, the former site-local, multicast.
        _ => matches!(first, 0xfc00..=0xfdff | 0xfe80..=0xfeff | 0xff00..=0xffff),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_refused(allowed: &AddressRules, address: &str) -> bool {
        allowed.check(address).is_err()
    }

    #[test]
    fn private_addresses_are_refused_in_every_spelling() {
        let none = AddressRules::default();
        for address in [
            "http://127.0.0.1/",
            "http://127.1:8080",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://017700000001/",
            "http://0/",
            "http://127.0.0.1./",
            "http://１２７.0.0.1/",
            "https://localhost",
            "http://LOCALHOST.:3000/",
            "http://app.localhost/",
            "http://user@10.0.0.1/",
            "http://172.16.5.4/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://100.100.100.200/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:192.168.0.1]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[fd00::1]/",
            "http://[fe80::1]/",
            "http://[64:ff9b::10.0.0.1]/",
            "http://[2002:7f00:1::]/",
            "http://router/",
            "http://printer.local/",
            "http://metadata.google.internal/",
            "blob:http://127.0.0.1/9a",
        ] {
            assert!(is_refused(&none, address), "{address}");
        }
        for address in [
            "http://example.org/",
            "https://8.8.8.8/",
            "http://[2606:4700::1111]/",
            "http://[::ffff:8.8.8.8]/",
            "http://172.32.0.1/",
            "http://localhost.example.org/",
            "http://notlocal/x".replace("notlocal", "not-local.example").as_str(),
            "about:blank",
            "data:text/html,x",
            "blob:https://example.org/9a",
            "blob:null/9a",
        ] {
            assert!(!is_refused(&none, address), "{address}");
        }
    }

    #[test]
    fn addresses_that_are_not_web_pages_are_refused() {
        let all = AddressRules::default().origin("*.example.org").unwrap();
        for address in [
            "file:///etc/passwd",
            "chrome://settings",
            " chrome://version",
            "CHROME:version",
            "devtools://devtools/x",
            "about:version",
            "chrome-extension://a/b",
            "view-source:http://example.org",
            "java\nscript:alert(1)",
            "filesystem:http://example.org/t/x",
            "ftp://example.org/",
            "example.org",
            "/path",
            "",
            "http://",
            "chrome-untrusted://print/",
        ] {
            assert!(is_refused(&all, address), "{address:?}");
        }
    }

    #[test]
    fn an_origin_is_allowed_exactly_as_written() {
        for (origin, allowed, refused) in [
            ("http://127.0.0.1:8080", "http://127.1:8080/x", "http://127.0.0.1/"),
            ("http://localhost", "http://localhost:80/", "https://localhost/"),
            ("localhost", "https://localhost:8443/", "http://127.0.0.1/"),
            ("localhost:80", "http://localhost/", "http://localhost:8080/"),
            ("localhost:443", "https://localhost/", "http://localhost/"),
            ("[::1]", "http://[0::1]:3/", "http://[::2]/"),
            ("*.corp.internal", "https://wiki.corp.internal/", "https://corp.internal/"),
            ("*.corp.internal", "https://a.b.corp.internal./", "https://evilcorp.internal/"),
        ] {
            let list = AddressRules::default().origin(origin).unwrap();
            assert!(!is_refused(&list, allowed), "{origin} {allowed}");
            assert!(is_refused(&list, refused), "{origin} {refused}");
        }
        for none in
            ["", "*", "*.", "*.127.0.0.1", "http://a/path", "ftp://a", "http://u@a", "a b", "file:///x", "*.a:80"]
        {
            assert!(AddressRules::default().origin(none).is_err(), "{none:?}");
        }
    }

    #[test]
    fn links_do_not_lead_out_of_an_allowed_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("in.html"), "").unwrap();
        std::fs::write(place.path().join("out.html"), "").unwrap();
        std::os::unix::fs::symlink(place.path().join("out.html"), folder.join("link.html")).unwrap();
        let allowed = AddressRules::default().file(&folder).unwrap();
        let address = |name: &str| format!("file://{}/{name}", folder.display());
        for (name, expected) in [
            ("in.html", false),
            ("none.html", false),
            ("link.html", true),
            ("../out.html", true),
            ("%2e%2e/out.html", true),
            ("..%2fout.html", true),
        ] {
            assert_eq!(is_refused(&allowed, &address(name)), expected, "{name}");
        }
        assert!(is_refused(&allowed, &address("in.html").replace("file://", "file://server")));
        assert!(AddressRules::default().file(&folder.join("none")).is_err());
    }

    proptest! {
        #[test]
        fn every_spelling_of_an_ip_address_is_judged_the_same(address: u32) {
            let (none, plain) = (AddressRules::default(), Ipv4Addr::from(address));
            let [a, b, c, d] = plain.octets();
            let rest = address & 0x00ff_ffff;
            let expected = is_refused(&none, &format!("http://{plain}/"));
            for spelling in [
                format!("{address}"), format!("{address:#x}"), format!("0{address:o}"), format!("{a:#x}.0{b:o}.{c}.{d}"), format!("{a}.{rest}"),
                format!("[::ffff:{plain}]"), format!("[64:ff9b::{plain}]"), format!("[::{plain}]"), format!("[2002:{a:02x}{b:02x}:{c:02x}{d:02x}::]"),
            ] {
                prop_assert_eq!(is_refused(&none, &format!("http://{}/", spelling)), expected, "{}", spelling);
            }
        }

        #[test]
        fn no_text_panics_and_only_few_schemes_pass(text in "(http|file|about|blob|[a-z]{0,8})?:?/{0,3}.{0,30}") {
            if AddressRules::default().check(&text).is_ok() {
                let url = Url::parse(&text).unwrap();
                prop_assert!(["http", "https", "data", "about", "blob"].contains(&url.scheme()), "{}", url);
            }
            let _ = AddressRules::default().origin(&text);
        }
    }
}
