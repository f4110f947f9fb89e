//! Access control. A server on loopback can be reached from every page in this machine's browsers and by every user of
//! the machine. Each request must therefore name the server in `Host`, come from no other page (`Origin`), and carry
//! the token.

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use std::net::SocketAddr;
use subtle::ConstantTimeEq;

/// The allowed values for requests.
#[derive(Clone)]
pub struct Access {
    token: String,
    /// The allowed values of `Host`.
    hosts: Vec<String>,
    /// The allowed values of `Origin`.
    origins: Vec<String>,
    cookie: Option<Cookie>,
}

/// The cookie that a browser sends instead of the token, after it has shown the token once.
#[derive(Clone)]
struct Cookie {
    name: String,
    secret: String,
    /// Whether it is sent over https only.
    is_secure: bool,
}

impl Access {
    /// For a server that listens at `address`. It is called by that address, and on loopback also by `localhost`;
    /// clients omit port 80, the scheme's default (RFC 9110, section 4.2.1).
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
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        Access { token, hosts, origins, cookie: None }
    }

    /// Also allows a public origin, `https://HOST` or `https://HOST:PORT`, where a proxy terminates TLS.
    #[must_use]
    pub fn with_public(mut self, origin: &str) -> Access {
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        self.hosts.push(host.to_owned());
        self.origins.push(origin.to_owned());
        if let Some(cookie) = &mut self.cookie {
            cookie.is_secure = origin.starts_with("https://");
        }
        self
    }

    /// Also allows a browser that sends a cookie of this name with this secret, which it gets from
    /// [`Access::cookie_for`].
    #[must_use]
    pub fn with_cookie(mut self, name: String, secret: String) -> Access {
        self.cookie = Some(Cookie { name, secret, is_secure: false });
        self
    }

    /// Checks the target of a request, and the page that it comes from.
    ///
    /// # Errors
    /// 403 for a foreign `Host` or `Origin`.
    pub fn check_place(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        let is_one = |value: &[u8], ours: &[String]| ours.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(value));
        let is_called_by_name = matches!(all(headers, header::HOST)[..], [host] if is_one(host, &self.hosts));
        let is_from_us = all(headers, header::ORIGIN).into_iter().all(|origin| is_one(origin, &self.origins));
        if is_called_by_name && is_from_us { Ok(()) } else { Err(StatusCode::FORBIDDEN) }
    }

    /// Checks a request by its headers.
    ///
    /// # Errors
    /// 403 for a foreign `Host` or `Origin`, 401 without the token.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        self.check_place(headers)?;
        match all(headers, header::AUTHORIZATION)[..] {
            [value] if self.has_token(value) => Ok(()),
            [] if self.has_cookie(headers) => Ok(()),
            _ => Err(StatusCode::UNAUTHORIZED),
        }
    }

    /// The `Set-Cookie` for a browser that shows this token; `None` for a wrong token, or without cookies.
    pub fn cookie_for(&self, token: &str) -> Option<String> {
        let Cookie { name, secret, is_secure } = self.cookie.as_ref()?;
        let secure = if *is_secure { "; Secure" } else { "" };
        self.is_token(token.as_bytes()).then(|| format!("{name}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}"))
    }

    /// RFC 6750, section 2.1; the scheme is case-insensitive.
    fn has_token(&self, value: &[u8]) -> bool {
        const SCHEME: &[u8] = b"bearer ";
        let Some((scheme, token)) = value.split_at_checked(SCHEME.len()) else { return false };
        scheme.eq_ignore_ascii_case(SCHEME) && self.is_token(token)
    }

    fn is_token(&self, token: &[u8]) -> bool {
        token.ct_eq(self.token.as_bytes()).into()
    }

    /// RFC 6265, section 5.4. Pages of another port of this machine belong to the same site, so if the browser reports
    /// where a request comes from (`Sec-Fetch-Site`), it must not come from one of these.
    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let Some(cookie) = &self.cookie else { return false };
        let sites = all(headers, HeaderName::from_static("sec-fetch-site"));
        let is_from_us = sites.iter().all(|site| [&b"same-origin"[..], b"none"].contains(site));
        let pairs =
            headers.get_all(header::COOKIE).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
        let values = pairs.filter_map(|pair| {
            let value = pair.trim_ascii().strip_prefix(cookie.name.as_bytes())?;
            value.strip_prefix(b"=")
        });
        let is_known = |value: &[u8]| bool::from(value.ct_eq(cookie.secret.as_bytes()));
        is_from_us && values.fold(false, |known, value| known | is_known(value))
    }
}

fn all(headers: &HeaderMap, name: HeaderName) -> Vec<&[u8]> {
    headers.get_all(name).iter().map(|value| value.as_bytes()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn check_at(address: &str, pairs: &[(HeaderName, &str)]) -> u16 {
        check(&Access::new("s3cret".to_owned(), address.parse().unwrap()), pairs)
    }

    fn check(access: &Access, pairs: &[(HeaderName, &str)]) -> u16 {
        let headers = pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        access
            .check(&headers.fold(HeaderMap::new(), |mut headers, (name, value)| {
                headers.append(name, value);
                headers
            }))
            .map_or_else(|status| status.as_u16(), |()| 200)
    }

    #[test]
    fn only_requests_by_name_from_our_own_pages_with_the_token_are_accepted() {
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
    fn a_browser_that_has_shown_the_token_uses_a_cookie() {
        let access = Access::new("s3cret".to_owned(), "127.0.0.1:81".parse().unwrap());
        assert_eq!(access.cookie_for("s3cret"), None);
        let access = access.with_cookie("id-81".to_owned(), "c00kie".to_owned());
        assert_eq!(access.cookie_for("s3cret").unwrap(), "id-81=c00kie; Path=/; HttpOnly; SameSite=Strict");
        assert_eq!(access.cookie_for("s3cre"), None);
        let (host, cookie) = ((header::HOST, "127.0.0.1:81"), (header::COOKIE, "a=b; id-81=c00kie"));
        let site = |value| (HeaderName::from_static("sec-fetch-site"), value);
        for (expected, headers) in [
            (200, vec![host.clone(), cookie.clone()]),
            (200, vec![host.clone(), cookie.clone(), site("same-origin")]),
            (200, vec![host.clone(), (header::COOKIE, "id-81=old; id-81=c00kie")]),
            (401, vec![host.clone(), cookie.clone(), site("same-site")]),
            (401, vec![host.clone(), cookie.clone(), site("cross-site")]),
            (401, vec![host.clone(), (header::COOKIE, "id-81=c00ki")]),
            (401, vec![host.clone(), (header::COOKIE, "id-8=c00kie; xid-81=c00kie")]),
            (401, vec![host.clone(), cookie.clone(), (header::AUTHORIZATION, "Bearer wrong")]),
            (403, vec![host.clone(), cookie.clone(), (header::ORIGIN, "http://127.0.0.1:82")]),
            (403, vec![cookie.clone()]),
        ] {
            assert_eq!(check(&access, &headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn requests_through_a_proxy_are_accepted_by_its_public_name() {
        let access = Access::new("s3cret".to_owned(), "127.0.0.1:81".parse().unwrap());
        let access = access.with_cookie("id-81".to_owned(), "c00kie".to_owned()).with_public("https://a.example");
        assert!(access.cookie_for("s3cret").unwrap().ends_with("; Secure"));
        let (token, origin) = ((header::AUTHORIZATION, "Bearer s3cret"), |value| (header::ORIGIN, value));
        for (expected, headers) in [
            (200, vec![(header::HOST, "a.example"), origin("https://a.example")]),
            (200, vec![(header::HOST, "127.0.0.1:81"), origin("http://127.0.0.1:81")]),
            (403, vec![(header::HOST, "a.example"), origin("http://a.example")]),
            (403, vec![(header::HOST, "a.example:443")]),
            (403, vec![(header::HOST, "b.a.example"), origin("https://a.example")]),
        ] {
            assert_eq!(check(&access, &[headers.clone(), vec![token.clone()]].concat()), expected, "{headers:?}");
        }
    }

    #[test]
    fn the_default_port_of_the_scheme_is_omitted() {
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
