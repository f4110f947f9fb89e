//! Who is let in. A server on loopback is within reach of every page that this machine's browser shows and of every user of the machine,
//! so each request has to name us in `Host`, may come from no page but our own (`Origin`), and has to know the token.

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use std::net::SocketAddr;
use subtle::ConstantTimeEq;

/// What a request is held against.
#[derive(Clone)]
pub struct Access {
    token: String,
    /// What `Host` may be.
    hosts: Vec<String>,
    /// What `Origin` may be.
    origins: Vec<String>,
    cookie: Option<Cookie>,
}

/// What a browser sends in place of the token, once it has shown that.
#[derive(Clone)]
struct Cookie {
    name: String,
    secret: String,
    /// It goes over https only.
    is_secure: bool,
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
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        Access { token, hosts, origins, cookie: None }
    }

    /// The same, also for who calls us by a public origin, `https://HOST` or `https://HOST:PORT`: a proxy there has TLS.
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

    /// The same, also for a browser that sends a cookie of this name with this secret, which [`Access::cookie_for`] gives it.
    #[must_use]
    pub fn with_cookie(mut self, name: String, secret: String) -> Access {
        self.cookie = Some(Cookie { name, secret, is_secure: false });
        self
    }

    /// Checks where a request is sent to, and from which page.
    ///
    /// # Errors
    /// 403 for a `Host` or an `Origin` that is not ours.
    pub fn check_place(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        let is_one = |value: &[u8], ours: &[String]| ours.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(value));
        let is_called_by_name = matches!(all(headers, header::HOST)[..], [host] if is_one(host, &self.hosts));
        let is_from_us = all(headers, header::ORIGIN).into_iter().all(|origin| is_one(origin, &self.origins));
        if is_called_by_name && is_from_us { Ok(()) } else { Err(StatusCode::FORBIDDEN) }
    }

    /// Checks a request by its headers.
    ///
    /// # Errors
    /// 403 for a `Host` or an `Origin` that is not ours, 401 without the token.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        self.check_place(headers)?;
        match all(headers, header::AUTHORIZATION)[..] {
            [value] if self.has_token(value) => Ok(()),
            [] if self.has_cookie(headers) => Ok(()),
            _ => Err(StatusCode::UNAUTHORIZED),
        }
    }

    /// The `Set-Cookie` for a browser that shows this token; `None` where it is another one, or there are no cookies.
    pub fn cookie_for(&self, token: &str) -> Option<String> {
        let Cookie { name, secret, is_secure } = self.cookie.as_ref()?;
        let secure = if *is_secure { "; Secure" } else { "" };
        self.is_token(token.as_bytes()).then(|| format!("{name}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}"))
    }

    /// RFC 6750, section 2.1; the scheme's case does not count.
    fn has_token(&self, value: &[u8]) -> bool {
        const SCHEME: &[u8] = b"bearer ";
        let Some((scheme, token)) = value.split_at_checked(SCHEME.len()) else { return false };
        scheme.eq_ignore_ascii_case(SCHEME) && self.is_token(token)
    }

    fn is_token(&self, token: &[u8]) -> bool {
        token.ct_eq(self.token.as_bytes()).into()
    }

    /// RFC 6265, section 5.4. A page of another port of this machine is of the same site, so the browser has to say that it is none of
    /// these, if it says where a request comes from (`Sec-Fetch-Site`).
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
    fn a_browser_that_has_shown_the_token_sends_a_cookie() {
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
    fn a_proxy_with_a_public_name_is_let_in_by_it() {
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
