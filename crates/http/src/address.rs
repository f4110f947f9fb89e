//! A server's address, and the headers of its requests. Neither is ever shown completely: both may contain secrets.

use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::net::Ipv4Addr;

/// A path segment of at least this length may be a token.
const TOKEN: usize = 8;

/// A server's address, and the headers that it needs.
#[derive(Clone)]
pub struct Address {
    url: Url,
    headers: HeaderMap,
}

/// What is wrong with an address, without any of its values.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidAddress(String);

impl Address {
    /// Reads an http or https URL, and headers by name.
    ///
    /// # Errors
    /// What is wrong, without any value.
    pub fn read(url: &str, headers: &[(String, String)]) -> Result<Address, InvalidAddress> {
        let url = Url::parse(url).map_err(|error| InvalidAddress(format!("invalid URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(InvalidAddress("a URL must start with http:// or https://".to_owned()));
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let key = HeaderName::try_from(name.trim())
                .map_err(|_| InvalidAddress("a header's name is invalid".to_owned()))?;
            let mut value = HeaderValue::try_from(value.trim()).map_err(|_| {
                InvalidAddress(format!(
                    "the value of the header {name} cannot be sent: it contains a control character"
                ))
            })?;
            value.set_sensitive(true);
            map.append(key, value);
        }
        Ok(Address { url, headers: map })
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Whether requests are sent over TLS.
    pub fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether the host is this machine: `localhost`, 127.0.0.0/8 or ::1.
    pub fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        matches!(host, "localhost" | "[::1]") || host.parse().is_ok_and(|ip: Ipv4Addr| ip.is_loopback())
    }

    /// The URL without its user name, password and query, for URLs whose path is not secret.
    pub fn shown(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        // Fails for URLs without a host, which are refused.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        url.to_string().trim_end_matches('/').to_owned()
    }

    /// The password and the values of the query in their encoded form: a server may repeat them.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        let values = self.url.query_pairs().map(|(_, value)| value.into_owned());
        self.url.password().map(str::to_owned).into_iter().chain(values)
    }

    /// `text` with `***` in place of the values of headers, password, query and path: a server may repeat them.
    pub fn without_secrets(&self, text: &str) -> String {
        let (url, path) = (&self.url, self.url.path());
        let query = url.query().unwrap_or_default().split('&').filter_map(|pair| Some(pair.split_once('=')?.1));
        let segments = path.split('/').filter(|segment| segment.len() >= TOKEN);
        let in_url =
            [url.username(), url.password().unwrap_or_default(), path].into_iter().chain(query).chain(segments);
        // A server may have decoded the text that it repeats.
        let decoded = |part| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let in_url = in_url.flat_map(|part| [part.to_owned(), decoded(part)]);
        let in_headers = self.headers.values().filter_map(|value| value.to_str().ok()).map(str::to_owned);
        // `Bearer` and the like are not secret, but the word after them is. Short words are not replaced: they occur
        // everywhere.
        let words = in_url.chain(in_headers);
        let words = words.flat_map(|value| [value.split(' ').next_back().unwrap_or_default().to_owned(), value]);
        let mut words: Vec<String> = words.filter(|word| word.len() > 5).collect();
        // The longest first: replacing a part of a secret would leave the rest of it.
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }
}

impl fmt::Display for Address {
    /// Without user name, password, query and path, which are or may be secret.
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
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_shown() {
        let headers = [("Authorization".to_owned(), "Bearer s3cret-token".to_owned())];
        let url = "https://a_long_name:passw0rd@example.org:8443/s/t0ken-of%20mine/mcp?key=k3y%2Dof%2Dall";
        let address = Address::read(url, &headers).unwrap();
        assert_eq!(address.to_string(), "https://example.org:8443/...");
        assert_eq!(format!("{address:?}"), "Address(https://example.org:8443/...)");
        for (text, shown) in [
            ("you said s3cret-token, passw0rd, k3y-of-all", "you said ***, ***, ***"),
            ("Cannot POST /s/t0ken-of%20mine/mcp", "Cannot POST ***"),
            ("k3y%2Dof%2Dall is no key of a_long_name", "*** is no key of ***"),
            ("t0ken-of mine is over its limit of mcp", "*** is over its limit of mcp"),
        ] {
            assert_eq!(address.without_secrets(text), shown);
        }
    }

    #[test]
    fn this_machine_is_recognised() {
        for (url, expected) in [
            ("http://localhost:1/", true),
            ("http://127.8.9.1/", true),
            ("https://[::1]/", true),
            ("http://localhost.example.org/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(Address::read(url, &[]).unwrap().is_loopback(), expected, "{url}");
        }
    }

    #[test]
    fn invalid_values_are_refused_without_being_shown() {
        let header = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
        for (url, headers) in [
            ("ftp://x/", header("A", "s3cret")),
            ("s3cret", header("A", "s3cret")),
            ("http://x/", header("A", "s3cret\nB: c")),
            ("http://x/", header("a b", "s3cret")),
        ] {
            let error = Address::read(url, &headers).unwrap_err();
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
