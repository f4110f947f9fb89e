//! Addresses that a real Chromium may not show, and the ways that lead to them.

use crate::soon;
use pipewright_browser::{ActionError, AddressRules, Browser, Launch, Ready, Scope, WaitFor};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A server on any loopback address, and the paths requested from it.
#[derive(Clone)]
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Server {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let server = Server { port: listener.local_addr().unwrap().port(), asked: Arc::default() };
        let own = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let own = own.clone();
                thread::spawn(move || own.serve(stream.unwrap()));
            }
        });
        server
    }

    fn serve(&self, mut stream: TcpStream) {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let Some(Ok(first)) = lines.next() else { return };
        let path = first.split(' ').nth(1).unwrap().to_owned();
        lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
        self.asked.lock().unwrap().push(path.clone());
        let secret = self.secret();
        let (status, header, body) = match path.split('?').next().unwrap() {
            "/redirect" => ("302 Found", format!("location: {secret}\r\n"), String::new()),
            "/links" => ("200 OK", String::new(), LINKS.replace("SECRET", &secret)),
            "/meta" => ("200 OK", String::new(), format!("<meta http-equiv=refresh content='0;url={secret}'>")),
            "/kept" => ("200 OK", "cache-control: max-age=1000\r\n".to_owned(), "<title>kept</title>".to_owned()),
            "/speculation" => {
                let rules = json!({"prefetch": [{"urls": [secret], "eagerness": "immediate"}]});
                let page = format!("<script type=speculationrules>{rules}</script><a href='{secret}'>link</a>");
                ("200 OK", String::new(), page)
            }
            "/frame" => {
                let frame = format!("http://localhost:{}/links?frame", self.port);
                ("200 OK", String::new(), format!("<iframe src='{frame}' width=800 height=500></iframe>"))
            }
            path => ("200 OK", String::new(), format!("<title>{path}</title>")),
        };
        let length = body.len();
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-type: text/html\r\n{header}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
    }

    fn page(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Another host, which is not allowed.
    fn secret(&self) -> String {
        format!("http://127.0.0.3:{}/secret", self.port)
    }

    fn times_asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| asked.starts_with(path)).count()
    }
}

const LINKS: &str = "<title>links</title><a href='SECRET'>link</a><a href='SECRET' target=_blank>tab</a>
    <a href='SECRET' target=_blank rel=opener>window</a><a href='/redirect'>redirect</a><a href='SECRET' download>download</a>
    <button onclick='location = \"SECRET\"'>script</button><button onclick='window.open(\"SECRET\")'>open</button>
    <button onclick='document.body.append(Object.assign(document.createElement(\"iframe\"), {src: \"SECRET\"}))'>frame</button>
    <form method=post action='SECRET'><button>form</button></form><a href='/meta'>meta</a>";

fn browser(server: &Server) -> Browser {
    let exact = format!("http://127.0.0.1:{}", server.port);
    let allowed = AddressRules::default().origin(&exact).unwrap().origin("localhost").unwrap();
    let arguments = vec!["--host-resolver-rules=MAP pretend.example 127.0.0.1".into()];
    Browser::start(&Launch { allowed, arguments, ..Launch::default() }).unwrap()
}

fn go(browser: &mut Browser, address: &str) -> Result<String, ActionError> {
    browser.navigate(address, Ready::Parsed, soon()).map(|arrived| arrived.document.url)
}

fn wait_for_a_request(browser: &mut Browser, server: &Server, path: &str) {
    let end = soon();
    while server.times_asked(path) == 0 {
        assert!(Instant::now() < end, "{path} is not requested");
        browser.wait(Instant::now() + Duration::from_millis(10), |_| false).unwrap();
    }
}

fn refused(browser: &mut Browser) -> Vec<String> {
    browser.take_refused().into_iter().map(|denied| denied.address).collect()
}

#[test]
#[ignore = "needs Chromium"]
fn a_refused_navigation_has_a_reason_and_the_page_stays() {
    let server = Server::start();
    let mut browser = browser(&server);
    go(&mut browser, &server.page("/links")).unwrap();
    let secret = server.secret();
    let port = server.port;
    for (address, why) in [
        (secret.clone(), format!("{secret} is not allowed: 127.0.0.3 is private: allow its origin")),
        (server.page("/redirect"), format!("{secret} is not allowed: 127.0.0.3 is private: allow its origin")),
        (format!("http://2130706435:{port}/secret"), "127.0.0.3 is private".to_owned()),
        ("file:///etc/hostname".to_owned(), "it is a local file: allow the file or its folder".to_owned()),
        ("chrome://version".to_owned(), "chrome: addresses are not web pages".to_owned()),
        ("javascript:document.title='run'".to_owned(), "it is a script".to_owned()),
    ] {
        let denied = go(&mut browser, &address).unwrap_err();
        assert!(matches!(&denied, ActionError::Denied(text) if text.contains(&why)), "{address}: {denied}");
    }
    assert_eq!(browser.page().unwrap().document.url, server.page("/links"));
    assert_eq!(server.times_asked("/secret"), 0);
    assert_eq!(go(&mut browser, &server.page("/next")).unwrap(), server.page("/next"));
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_cannot_reach_a_refused_address() {
    let server = Server::start();
    let mut browser = browser(&server);
    let all = ["link", "tab", "window", "redirect", "download", "script", "open", "frame", "form", "meta"];
    // The frame is in another process.
    for (page, names) in [("/links", &all[..]), ("/frame", &all[..5])] {
        for name in names {
            browser.navigate(&server.page(page), Ready::Quiet(Duration::from_millis(100)), soon()).unwrap();
            let elements = browser.elements(Scope::Page, soon()).unwrap().items;
            let found = elements.iter().find(|element| element.name == *name);
            let index = found.unwrap_or_else(|| panic!("{page} {name}: {elements:?}")).index;
            let before = browser.state_before(soon()).unwrap();
            browser.click(index, soon()).unwrap();
            let happened = browser.after(&before, WaitFor::Network, soon()).unwrap();
            let last_moment = Instant::now() + Duration::from_secs(3);
            let mut denied = refused(&mut browser);
            while denied.is_empty() && Instant::now() < last_moment {
                let _ = browser.take_next(Instant::now() + Duration::from_millis(50));
                denied = refused(&mut browser);
            }
            assert_eq!(denied, [server.secret()], "{page} {name}");
            for page in happened.opened {
                browser.close_page(&page, soon()).unwrap();
            }
        }
    }
    assert_eq!(server.times_asked("/secret"), 0);
}

#[test]
#[ignore = "needs Chromium"]
fn a_private_address_with_a_public_name_is_not_shown_even_from_the_cache() {
    let server = Server::start();
    let mut browser = browser(&server);
    let address = format!("http://pretend.example:{}/kept", server.port);
    let why = "pretend.example resolves to a private address: allow its origin";
    for times in 0..2 {
        let denied = go(&mut browser, &address).unwrap_err();
        assert!(matches!(&denied, ActionError::Denied(text) if text.contains(why)), "{times}: {denied}");
    }
    assert_eq!(browser.page().unwrap().document.url, "about:blank");
    assert_eq!(server.times_asked("/kept"), 1, "the name is remembered");
    let unknown = go(&mut browser, "http://none.example/").unwrap_err();
    assert!(
        matches!(&unknown, ActionError::Refused(why) if why.message.contains("net::ERR_NAME_NOT_RESOLVED")),
        "{unknown}"
    );
    // A frame of an allowed page.
    go(&mut browser, &server.page("/plain")).unwrap();
    refused(&mut browser);
    let other = address.replace("pretend", "more.pretend");
    let script = format!("document.body.innerHTML = '<iframe src={address}></iframe><iframe src={other}></iframe>'");
    let _: Value = browser.call_page("Runtime.evaluate", &json!({"expression": script}), soon()).unwrap();
    browser.wait(Instant::now() + Duration::from_millis(500), |_| false).unwrap();
    assert_eq!(refused(&mut browser), [&*address], "the other name does not resolve");
    let allowed = AddressRules::default().origin("*.example").unwrap();
    let arguments = vec!["--host-resolver-rules=MAP pretend.example 127.0.0.1".into()];
    let mut browser = Browser::start(&Launch { allowed, arguments, ..Launch::default() }).unwrap();
    assert_eq!(go(&mut browser, &address).unwrap(), address);
}

#[test]
#[ignore = "needs Chromium"]
fn an_allowed_file_shows_no_other_files() {
    let place = tempfile::tempdir().unwrap();
    let page = place.path().join("page.html");
    std::fs::write(place.path().join("other.html"), "<title>other</title>").unwrap();
    std::fs::write(&page, "<title>page</title><img src=other.html><iframe src=other.html></iframe>").unwrap();
    let allowed = AddressRules::default().file(&page).unwrap();
    let mut browser = Browser::start(&Launch { allowed, ..Launch::default() }).unwrap();
    let address = format!("file://{}", page.display());
    browser.navigate(&address, Ready::Quiet(Duration::from_millis(100)), soon()).unwrap();
    assert_eq!(refused(&mut browser), [address.replace("page.html", "other.html")]);
    assert!(matches!(go(&mut browser, &address.replace("page.html", "other.html")), Err(ActionError::Denied(_))));
}

#[test]
#[ignore = "needs Chromium"]
fn a_prefetched_private_page_is_left_at_once() {
    let server = Server::start();
    let mut browser = browser(&server);
    go(&mut browser, &server.page("/speculation")).unwrap();
    wait_for_a_request(&mut browser, &server, "/secret");
    // The answer still has to reach the browser.
    browser.wait(Instant::now() + Duration::from_millis(500), |_| false).unwrap();
    let index = browser.elements(Scope::Page, soon()).unwrap().items[0].index;
    browser.click(index, soon()).unwrap();
    let is_left = browser.wait(soon(), |pages| pages.all().iter().all(|page| page.document.url == "about:blank"));
    assert!(is_left.unwrap(), "{:?}", browser.page());
    assert_eq!(refused(&mut browser), [server.secret()]);
}
