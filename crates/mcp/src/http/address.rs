//! Where a server is, and what every request to it carries. Neither is ever shown whole: both may hold secrets.

use percent_encoding::percent_decode_str;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use std::fmt;
use std::time::Duration;

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// From this length on, a part of the path may be a token.
const TOKEN: usize = 8;

/// Headers that are the transport's own.
const RESERVED: [&str; 5] = ["accept", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id"];

/// A server's address, with the headers that it wants.
#[derive(Clone)]
pub struct Address {
    url: Url,
    headers: HeaderMap,
}

impl Address {
    /// Reads an http or https URL, and headers by name.
    ///
    /// # Errors
    /// What is wrong, without any value.
    pub fn read(url: &str, headers: &[(String, String)]) -> Result<Address, String> {
        let url = Url::parse(url).map_err(|error| format!("the URL can't be read: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err("a URL is http://... or https://...".to_owned());
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let key = HeaderName::try_from(name.trim()).map_err(|_| "a header's name is no name".to_owned())?;
            if RESERVED.contains(&key.as_str()) {
                return Err(format!("the header {name} is set by the protocol itself"));
            }
            let mut value = HeaderValue::try_from(value.trim()).map_err(|_| {
                format!("the value of the header {name} can't be sent: it holds a line feed, or its like")
            })?;
            value.set_sensitive(true);
            map.append(key, value);
        }
        Ok(Address { url, headers: map })
    }

    pub(super) fn url(&self) -> Url {
        self.url.clone()
    }

    /// A client that keeps its connections, and follows nobody to another place: headers go to whom they are meant for.
    pub(super) fn client(&self) -> Result<Client, reqwest::Error> {
        let provider = rustls::crypto::ring::default_provider();
        // It fails where there is one already, and that is as good.
        let _ = provider.install_default();
        let origin = self.url.origin();
        let follow = redirect::Policy::custom(move |attempt| {
            if attempt.url().origin() == origin && attempt.previous().len() < 5 {
                attempt.follow()
            } else {
                attempt.stop()
            }
        });
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .redirect(follow)
            .user_agent(concat!("mcp-pipe/", env!("CARGO_PKG_VERSION")))
            .default_headers(self.headers.clone());
        // A proxy knows another machine by this name.
        let is_here = matches!(self.url.host_str(), Some("localhost" | "[::1]")) || self.is_loopback();
        if is_here { client.no_proxy().build() } else { client.build() }
    }

    fn is_loopback(&self) -> bool {
        self.url.host_str().is_some_and(|host| host.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback()))
    }

    /// `text` without what our headers, a password, a query or the path hold: a server may repeat it.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let headers = self.headers.values().filter_map(|value| value.to_str().ok()).map(str::to_owned);
        let query = self.url.query_pairs().map(|(_, value)| value.into_owned());
        let path = self.url.path().to_owned();
        // A server that repeats a part of the path has decoded it.
        let decoded = |segment| percent_decode_str(segment).decode_utf8_lossy().into_owned();
        let segments = path.split('/').filter(|segment| segment.len() >= TOKEN);
        let segments: Vec<String> = segments.flat_map(|segment| [segment.to_owned(), decoded(segment)]).collect();
        let values = headers.chain(query).chain(self.url.password().map(str::to_owned));
        let values = values.chain([path.clone()]).chain(segments);
        // `Bearer` and the like aren't secret, what stands behind them is; a short word is found everywhere.
        let words = values.flat_map(|value| [value.split(' ').next_back().unwrap_or_default().to_owned(), value]);
        words.filter(|word| word.len() > 5).fold(text.to_owned(), |text, secret| text.replace(&secret, "***"))
    }
}

impl fmt::Display for Address {
    /// Without names, passwords, queries and the path, which are or may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.url.scheme(), self.url.host_str().unwrap_or_default())?;
        if let Some(port) = self.url.port() {
            write!(f, ":{port}")?;
        }
        f.write_str(if self.url.path() == "/" { "/" } else { "/..." })
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_shown() {
        let headers = [("Authorization".to_owned(), "Bearer s3cret-token".to_owned())];
        let url = "https://me:passw0rd@example.org:8443/s/t0ken-of%20mine/mcp?key=k3y-of-all";
        let address = Address::read(url, &headers).unwrap();
        assert_eq!(address.to_string(), "https://example.org:8443/...");
        assert_eq!(format!("{address:?}"), "Address(https://example.org:8443/...)");
        for (text, shown) in [
            ("you said s3cret-token, passw0rd, k3y-of-all", "you said ***, ***, ***"),
            ("Cannot POST /s/t0ken-of%20mine/mcp", "Cannot POST ***"),
            ("t0ken-of mine is over its limit of mcp", "*** is over its limit of mcp"),
        ] {
            assert_eq!(address.without_secrets(text), shown);
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused_without_its_value() {
        let header = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
        for (url, headers) in [
            ("ftp://x/", header("A", "s3cret")),
            ("s3cret", header("A", "s3cret")),
            ("http://x/", header("A", "s3cret\nB: c")),
            ("http://x/", header("a b", "s3cret")),
            ("http://x/", header("Accept", "s3cret")),
        ] {
            let error = Address::read(url, &headers).unwrap_err();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
