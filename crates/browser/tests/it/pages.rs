//! Navigation in a real Chromium.

use crate::soon;
use pipewright_browser::{ActionError, AddressRules, Browser, Launch, NavigationResult, Ready};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A server with a few pages. Returns its address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    address
}

fn serve(mut stream: TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap().to_owned();
    lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
    let (status, header, body) = match path.as_str() {
        "/plain" => ("200 OK", "", "<title>Plain</title><p>text"),
        "/missing" => ("404 Not Found", "", "<title>Missing</title>"),
        "/redirect" => ("302 Found", "location: /plain\r\n", ""),
        "/script" => ("200 OK", "", "<script>location.replace('/plain')</script>"),
        "/spa" => {
            ("200 OK", "", "<title>App</title><script>onload = () => history.pushState(0, '', '/spa/next')</script>")
        }
        "/alert" => ("200 OK", "", "<script>alert('stop')</script>"),
        "/late" => {
            ("200 OK", "", "<title>Late</title><script>onload = () => setTimeout(() => fetch('/slow'), 50)</script>")
        }
        "/endless" => ("200 OK", "", "<title>Endless</title><script>setInterval(() => fetch('/plain'), 10)</script>"),
        "/slow" => {
            thread::sleep(Duration::from_millis(400));
            ("200 OK", "", "slow")
        }
        "/never" => {
            thread::sleep(Duration::from_secs(60));
            return;
        }
        _ => ("404 Not Found", "", ""),
    };
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: text/html\r\n{header}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
}

const WHEN_QUIET: Ready = Ready::Quiet(Duration::from_millis(200));

fn browser() -> Browser {
    let allowed = AddressRules::default().origin("127.0.0.1").unwrap();
    Browser::start(&Launch { allowed, ..Launch::default() }).unwrap()
}

fn go(browser: &mut Browser, url: &str) -> NavigationResult {
    browser.navigate(url, WHEN_QUIET, soon()).unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn a_navigation_reports_the_document() {
    let (server, mut browser) = (server(), browser());
    for (path, url, status) in [
        ("/plain", "/plain", 200),
        ("/missing", "/missing", 404),
        ("/redirect", "/plain", 200),
        ("/script", "/plain", 200),
    ] {
        let arrived = go(&mut browser, &format!("{server}{path}"));
        assert_eq!((arrived.document.url, arrived.document.status), (format!("{server}{url}"), Some(status)), "{path}");
        assert!(!arrived.is_late, "{path}");
    }
    let title: Value = browser.call_page("Runtime.evaluate", &json!({"expression": "document.title"}), soon()).unwrap();
    assert_eq!(title["result"]["value"], "Plain");
    let within = go(&mut browser, &format!("{server}/plain#part"));
    assert_eq!((within.navigations.full, within.navigations.within), (0, 1));
    assert_eq!(within.document.url, format!("{server}/plain#part"));
}

#[test]
#[ignore = "needs Chromium"]
fn an_application_that_changes_its_address_keeps_its_document() {
    let (server, mut browser) = (server(), browser());
    let arrived = go(&mut browser, &format!("{server}/spa"));
    assert_eq!((arrived.navigations.full, arrived.navigations.within), (1, 1));
    assert_eq!(arrived.document.url, format!("{server}/spa/next"));
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_is_waited_for_until_it_is_quiet_or_the_time_is_over() {
    let (server, mut browser) = (server(), browser());
    let begun = Instant::now();
    assert!(!go(&mut browser, &format!("{server}/late")).is_late);
    assert!(begun.elapsed() > Duration::from_millis(500), "{:?}", begun.elapsed());
    let begun = Instant::now();
    let until = begun + Duration::from_secs(2);
    let arrived = browser.navigate(&format!("{server}/endless"), WHEN_QUIET, until).unwrap();
    assert!(!arrived.is_late, "{:?}", begun.elapsed());
}

#[test]
#[ignore = "needs Chromium"]
fn back_and_reload_work() {
    let (server, mut browser) = (server(), browser());
    go(&mut browser, &format!("{server}/plain"));
    go(&mut browser, &format!("{server}/plain#part"));
    go(&mut browser, &format!("{server}/missing"));
    let mut step = |steps: i64| browser.go(steps, WHEN_QUIET, soon()).unwrap().map(|arrived| arrived.document.url);
    assert_eq!(step(-1), Some(format!("{server}/plain#part")));
    assert_eq!(step(-1), Some(format!("{server}/plain")));
    assert_eq!(step(2), Some(format!("{server}/missing")));
    assert_eq!(step(1), None);
    let again = browser.reload(WHEN_QUIET, soon()).unwrap();
    assert_eq!((again.document.status, again.navigations.full), (Some(404), 1));
}

#[test]
#[ignore = "needs Chromium"]
fn an_unreachable_page_is_a_fault_and_the_next_page_is_shown() {
    let (server, mut browser) = (server(), browser());
    let refused = browser.navigate("http://127.0.0.1:1/", WHEN_QUIET, soon()).unwrap_err();
    assert!(refused.to_string().contains("net::ERR_"), "{refused}");
    let late = browser.navigate(&format!("{server}/never"), WHEN_QUIET, Instant::now() + Duration::from_millis(500));
    assert!(matches!(late, Err(ActionError::Late)), "{late:?}");
    assert_eq!(go(&mut browser, &format!("{server}/plain")).document.status, Some(200));
}

#[test]
#[ignore = "needs Chromium"]
fn a_dialog_is_a_fault_until_it_is_answered() {
    let (server, mut browser) = (server(), browser());
    let held = browser.navigate(&format!("{server}/alert"), WHEN_QUIET, soon()).unwrap_err();
    assert!(matches!(&held, ActionError::Dialog(dialog) if dialog.message == "stop"), "{held}");
    let held: Result<Value, ActionError> = browser.call_page("Runtime.evaluate", &json!({"expression": "1"}), soon());
    assert!(matches!(held, Err(ActionError::Dialog(_))), "{held:?}");
    let _: Value = browser.call_page("Page.handleJavaScriptDialog", &json!({"accept": true}), soon()).unwrap();
    let one: Value = browser.call_page("Runtime.evaluate", &json!({"expression": "1"}), soon()).unwrap();
    assert_eq!(one["result"]["value"], 1);
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_that_crashes_is_a_fault_and_can_be_loaded_again() {
    let (server, mut browser) = (server(), browser());
    go(&mut browser, &format!("{server}/plain"));
    let crashed: Result<Value, ActionError> = browser.call_page("Page.crash", &json!({}), soon());
    assert!(matches!(crashed, Err(ActionError::Crashed)), "{crashed:?}");
    let crashed: Result<Value, ActionError> =
        browser.call_page("Runtime.evaluate", &json!({"expression": "1"}), soon());
    assert!(matches!(crashed, Err(ActionError::Crashed)), "{crashed:?}");
    assert_eq!(go(&mut browser, &format!("{server}/plain")).document.status, Some(200));
    browser.close();
}

#[test]
#[ignore = "needs Chromium"]
fn a_form_is_sent_once_however_its_answer_is_loaded_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sent, sendings) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sent = sent.clone();
            thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let Some(Ok(first)) = lines.next() else { return };
                lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
                let form = "<title>Form</title><form method=post action=/pay></form><script>const send = () => document.forms[0].submit()</script>";
                let body = if first.starts_with("POST") { "<title>Paid</title>" } else { form };
                let _ = sent.send(first);
                let length = body.len();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncache-control: no-store\r\nconnection: close";
                let _ = write!({ stream }, "{head}\r\ncontent-length: {length}\r\n\r\n{body}");
            });
        }
    });
    let mut browser = browser();
    go(&mut browser, &address);
    assert_eq!(browser.reload(WHEN_QUIET, soon()).unwrap().document.status, Some(200));
    browser.evaluate("setTimeout(send)", soon()).unwrap();
    let is_paid = browser.wait(soon(), |pages| pages.all().iter().any(|page| page.document.url.ends_with("/pay")));
    assert!(is_paid.unwrap());
    let Err(ActionError::Denied(why)) = browser.reload(WHEN_QUIET, soon()) else { panic!("it was loaded again") };
    assert!(why.contains("would send the form again"), "{why}");
    // The page stays, and other ways there and back send nothing either.
    assert!(browser.page().unwrap().document.url.ends_with("/pay"));
    browser.go(-1, WHEN_QUIET, soon()).unwrap();
    let _ = browser.go(1, WHEN_QUIET, soon());
    let _ = browser.reload(WHEN_QUIET, soon());
    assert_eq!(sendings.try_iter().filter(|first| first.starts_with("POST")).count(), 1);
}
