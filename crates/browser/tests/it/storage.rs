//! Cookies and local storage of a real Chromium, in a file.

use crate::{evaluate, soon};
use pipewright_browser::{AddressRules, Browser, Launch, Ready, StorageFault};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A server that sets cookies and storage. Returns its port, and a count of requests.
fn server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, count) = (stream.unwrap(), Arc::clone(&count));
            thread::spawn(move || {
                let mut bytes = [0; 8192];
                let length = stream.read(&mut bytes).unwrap_or(0);
                let request = String::from_utf8_lossy(&bytes[..length]).into_owned();
                count.fetch_add(1, Ordering::SeqCst);
                let header = if request.starts_with("GET /set") {
                    "set-cookie: session=s; HttpOnly\r\nset-cookie: lasting=\"a b\"; Max-Age=1000; SameSite=Strict; Path=/set\r\n"
                } else {
                    ""
                };
                let body = format!(
                    "<script>localStorage.path ||= location.href; localStorage['zweiter Schlüssel'] = '\\u2028\"<'</script><pre>{request}"
                );
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n{header}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
            });
        }
    });
    (port, asked)
}

fn browser() -> Browser {
    let allowed = AddressRules::default().origin("127.0.0.1").unwrap().origin("localhost").unwrap();
    Browser::start(&Launch { allowed, ..Launch::default() }).unwrap()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn saved_storage_is_loaded_in_another_browser() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("state.json");
    let (port, asked) = server();
    let (first, second) = (format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}"));
    let mut one = browser();
    let only = one.page().unwrap().id.clone();
    for address in [format!("{first}/set"), format!("{second}/other"), "data:text/html,x".to_owned()] {
        one.navigate(&address, Ready::Quiet(Duration::from_millis(100)), soon()).unwrap();
    }
    let times = asked.load(Ordering::SeqCst);
    one.save_storage(&path, soon()).unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), times, "nothing is requested for it");
    assert_eq!((one.page().unwrap().id.clone(), one.pages().all().len()), (only, 1));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    let saved = read(&path);
    let items = |address: String| json!([{"name": "path", "value": address}, {"name": "zweiter Schlüssel", "value": "\u{2028}\"<"}]);
    let mut origins = saved["origins"].clone();
    for origin in origins.as_array_mut().unwrap() {
        origin["localStorage"].as_array_mut().unwrap().sort_by_key(|item| item["name"].to_string());
    }
    assert_eq!(
        origins,
        json!([
            {"origin": first, "localStorage": items(format!("{first}/set"))},
            {"origin": second, "localStorage": items(format!("{second}/other"))},
        ])
    );
    let cookie =
        |name: &str| saved["cookies"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone();
    let expected = json!({
        "name": "session", "value": "s", "domain": "127.0.0.1", "path": "/", "expires": -1.0, "httpOnly": true, "secure": false,
        "sameSite": "Lax",
    });
    assert_eq!(cookie("session"), expected);
    assert_eq!((&cookie("lasting")["sameSite"], &cookie("lasting")["path"]), (&json!("Strict"), &json!("/set")));
    let mut other = browser();
    other.load_storage(&path, soon()).unwrap();
    other.navigate(&format!("{first}/set"), Ready::Parsed, soon()).unwrap();
    assert_eq!(evaluate(&mut other, "localStorage.path"), format!("{first}/set"));
    let sent = evaluate(&mut other, "document.body.innerText");
    let sent = sent.as_str().unwrap();
    assert!(sent.contains("session=s") && sent.contains("lasting=\"a b\""), "{sent}");
    // Loaded data is saved again, even if no page was opened there.
    let mut third = browser();
    third.load_storage(&path, soon()).unwrap();
    third.save_storage(&path, soon()).unwrap();
    let again = read(&path);
    assert_eq!((&again["origins"], again["cookies"].as_array().unwrap().len()), (&saved["origins"], 2));
}

#[test]
#[ignore = "needs Chromium"]
fn files_of_playwright_are_loaded_and_faults_are_named() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("state.json");
    let state = json!({
        "cookies": [
            {"name": "__Host-id", "value": "1", "domain": "shop.example", "path": "/", "expires": 4_000_000_000_u64, "httpOnly": true, "secure": true, "sameSite": "None"},
            {"name": "wide", "value": "2", "domain": ".shop.example", "path": "/a", "expires": -1, "httpOnly": false, "secure": false, "sameSite": "Lax"},
            {"name": "part", "value": "3", "domain": "frame.example", "path": "/", "expires": -1, "httpOnly": false, "secure": true, "sameSite": "None",
             "partitionKey": "https://shop.example", "_crHasCrossSiteAncestor": true},
        ],
        "origins": [{"origin": "https://shop.example", "localStorage": [{"name": "cart", "value": "[1]"}], "indexedDB": []}],
    });
    std::fs::write(&path, state.to_string()).unwrap();
    let mut browser = browser();
    browser.load_storage(&path, soon()).unwrap();
    let out = place.path().join("out.json");
    browser.save_storage(&out, soon()).unwrap();
    let saved = read(&out);
    let mut cookies = saved["cookies"].as_array().unwrap().clone();
    cookies.sort_by_key(|cookie| cookie["value"].to_string());
    for (cookie, expected) in cookies.iter().zip(state["cookies"].as_array().unwrap()) {
        for key in [
            "name",
            "value",
            "domain",
            "path",
            "httpOnly",
            "secure",
            "sameSite",
            "partitionKey",
            "_crHasCrossSiteAncestor",
        ] {
            assert_eq!(cookie[key], expected[key], "{key} of {cookie}");
        }
    }
    assert_eq!(cookies.len(), 3);
    assert_eq!(
        saved["origins"],
        json!([{"origin": "https://shop.example", "localStorage": [{"name": "cart", "value": "[1]"}]}])
    );
    for (text, why) in [
        ("{", "state.json: EOF while parsing"),
        (r#"{"cookies":[{"name":"a"}]}"#, "missing field `value`"),
        (
            &state
                .to_string()
                .replace("__Host-id", "__Host- id=\\u0000")
                .replace("\"value\":\"1\"", "\"value\":\"\\u0001\""),
            "the cookie",
        ),
        (
            r#"{"origins":[{"origin":"ftp://x","localStorage":[{"name":"a","value":"b"}]}]}"#,
            "stores nothing for \"ftp://x\"",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let wrong = browser.load_storage(&path, soon()).unwrap_err();
        assert!(matches!(&wrong, StorageFault::File(text) if text.contains(why)), "{why}: {wrong}");
    }
    let missing = browser.save_storage(&place.path().join("none/state.json"), soon()).unwrap_err().to_string();
    assert!(missing.contains("none/state.json: No such file"), "{missing}");
}
