//! Who is let in. A server on loopback is within reach of every page that this machine's browser shows and of every user of the machine,
//! so each request has to name us in `Host`, may come from no page but our own (`Origin`), and has to know the token.

use axum::http::{HeaderMap, StatusCode, header};
use std::net::SocketAddr;
use subtle::ConstantTimeEq;

/// What a request is held against.
#[derive(Clone)]
pub struct Access {
    token: String,
    hosts: Vec<String>,
}

impl Access {
    /// For a server that listens at `address`: it is called by that address, and by `localhost` where it is on loopback;
    /// clients leave out port 80, which is the scheme's own (RFC 9110, section 4.2.1).
    pub fn new(token: String, address: SocketAddr) -> Access {
        const SCHEME_PORT: &str = ":80";
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() {
            hosts.push(format!("localhost:{}", address.port()));
        }
        if address.port() == 80 {
            let without = |host: &String| host.strip_suffix(SCHEME_PORT).map(ToOwned::to_owned);
            hosts.extend(hosts.iter().filter_map(without).collect::<Vec<_>>());
        }
        Access { token, hosts }
    }

    /// Checks a request by its headers.
    ///
    /// # Errors
    /// 403 for a `Host` or an `Origin` that is not ours, 401 without the token.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        let is_ours = |value: &[u8], scheme: &str| {
            let value = value.strip_prefix(scheme.as_bytes());
            value.is_some_and(|value| self.hosts.iter().any(|host| host.as_bytes().eq_ignore_ascii_case(value)))
        };
        let all = |name| headers.get_all(name).iter().map(|value| value.as_bytes()).collect::<Vec<_>>();
        let (hosts, origins) = (all(header::HOST), all(header::ORIGIN));
        let is_called_by_name = matches!(hosts[..], [host] if is_ours(host, ""));
        if !is_called_by_name || !origins.into_iter().all(|origin| is_ours(origin, "http://")) {
            return Err(StatusCode::FORBIDDEN);
        }
        match all(header::AUTHORIZATION)[..] {
            [value] if self.has_token(value) => Ok(()),
            _ => Err(StatusCode::UNAUTHORIZED),
        }
    }

    /// RFC 6750, section 2.1; the scheme's case does not count.
    fn has_token(&self, value: &[u8]) -> bool {
        const SCHEME: &[u8] = b"bearer ";
        let Some((scheme, token)) = value.split_at_checked(SCHEME.len()) else { return false };
        scheme.eq_ignore_ascii_case(SCHEME) && bool::from(token.ct_eq(self.token.as_bytes()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use axum::http::HeaderName;

    fn check_at(address: &str, pairs: &[(HeaderName, &str)]) -> u16 {
        let access = Access::new("s3cret".to_owned(), address.parse().unwrap());
        let headers = pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        access
            .check(&headers.fold(HeaderMap::new(), |mut headers, (name, value)| {
                headers.append(name, value);
                headers
            }))
            .map_or_else(|status| status.as_u16(), |()| 200)
    }

    #[test]
    fn only_who_calls_us_by_name_from_our_own_pages_and_knows_the_token_is_let_in() {
        let (host, token) = ((header::HOST, "127.0.0.1:81"), (header::AUTHORIZATION, "Bearer s3cret"));
        let origin = |value| (header::ORIGIN, value);
        for (expected, headers) in [
            (200, vec![host.clone(), token.clone()]),
            (200, vec![(header::HOST, "LOCALHOST:81"), (header::AUTHORIZATION, "bearer s3cret")]),
            (200, vec![host.clone(), token.clone(), origin("http://127.0.0.1:81")]),
            (403, vec![token.clone()]),
            (403, vec![host.clone(), host.clone(), token.clone()]),
            (403, vec![(header::HOST, "127.0.0.1"), token.clone()]),
            (403, vec![(header::HOST, "127.0.0.1:8180"), token.clone()]),
            (403, vec![(header::HOST, "evil.example:81"), token.clone()]),
            (403, vec![(header::HOST, "127.0.0.1:81.evil.example"), token.clone()]),
            (403, vec![host.clone(), token.clone(), origin("http://127.0.0.1:81.evil.example")]),
            (403, vec![host.clone(), token.clone(), origin("https://127.0.0.1:81")]),
            (403, vec![host.clone(), token.clone(), origin("null")]),
            (403, vec![host.clone(), token.clone(), origin("http://127.0.0.1:81"), origin("http://evil.example")]),
            (401, vec![host.clone()]),
            (401, vec![host.clone(), (header::AUTHORIZATION, "Bearer s3cre")]),
            (401, vec![host.clone(), (header::AUTHORIZATION, "Bearer s3cret ")]),
            (401, vec![host.clone(), (header::AUTHORIZATION, "Basic s3cret")]),
            (401, vec![host.clone(), token.clone(), token.clone()]),
        ] {
            assert_eq!(check_at("127.0.0.1:81", &headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn the_port_of_the_scheme_is_left_out() {
        let token = (header::AUTHORIZATION, "Bearer s3cret");
        let origin = |value| (header::ORIGIN, value);
        for (expected, address, headers) in [
            (200, "127.0.0.1:80", vec![(header::HOST, "127.0.0.1"), origin("http://localhost")]),
            (200, "127.0.0.1:80", vec![(header::HOST, "127.0.0.1:80"), origin("http://127.0.0.1:80")]),
            (200, "[::1]:80", vec![(header::HOST, "[::1]")]),
            (403, "127.0.0.1:80", vec![(header::HOST, "127.0.0.1:8000")]),
            (403, "127.0.0.1:80", vec![(header::HOST, "127.0.0.1"), origin("https://localhost")]),
            (403, "127.0.0.1:8080", vec![(header::HOST, "127.0.0.1")]),
        ] {
            assert_eq!(check_at(address, &[headers.clone(), vec![token.clone()]].concat()), expected, "{headers:?}");
        }
    }
}
