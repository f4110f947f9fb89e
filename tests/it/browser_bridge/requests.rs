//! The requests of a page, as a list and as a file.

use super::traps::html;
use super::{Player, serve_with};
use crate::process::eventually;
use serde_json::{Value, json};

#[test]
#[ignore = "needs Chromium"]
fn requests_are_listed_read_and_written_as_har_without_secrets() {
    let origin = serve_with(|path| match path {
        "/" => Some(html(
            r#"<title>Shop</title><link rel=icon href="data:,"><script>fetch("/api?token=abcd1234efgh5678", { method: "POST", body: '{"password":"hunter22"}',
            headers: { authorization: "Bearer abcdefghijklmnop" } }).then(() => fetch("/none")).then(() => { document.title = "Done" })</script>"#,
        )),
        "/moved" => Some("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".to_owned()),
        path if path.starts_with("/api") => {
            let body = r#"{"mail":"ann@example.com","price":10}"#;
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: session=abcdef0123456789";
            Some(format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
        }
        _ => None,
    });
    let folder = tempfile::tempdir().unwrap();
    let har = folder.path().join("shop.har");
    let mut player = Player::start(&[&format!("{origin}/moved"), "--har", har.to_str().unwrap()]);
    let mut items = Vec::new();
    eventually("all requests have ended", || {
        items = player.ok("browser_requests", json!({}))["items"].as_array().unwrap().clone();
        items.len() == 4
    });
    let items: Vec<&str> = items.iter().map(|item| item.as_str().unwrap()).collect();
    let begins = ["1 GET 302 document ", "2 GET 200 document ", "3 POST 200 fetch ", "4 GET 404 fetch "];
    assert!(items.iter().zip(begins).all(|(item, begin)| item.starts_with(begin)), "{items:?}");
    assert!(items[3].ends_with("/none") && !items[2].contains("abcd1234"), "{items:?}");
    assert_eq!(player.ok("browser_requests", json!({"failed": true}))["total"], 1);
    assert_eq!(player.ok("browser_requests", json!({"kind": "document", "url": "moved"}))["total"], 1);
    let request = player.ok("browser_requests", json!({"number": 3}));
    let body: Value = serde_json::from_str(request["response_body"].as_str().unwrap()).unwrap();
    assert_eq!((&request["status"], &body["price"]), (&200.into(), &10.into()), "{request}");
    assert_eq!(player.fails("browser_requests", json!({"number": 99})), ("not_found".into(), "no_request".into()));
    let ended = player.talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    let written = std::fs::read_to_string(&har).unwrap();
    for secret in ["hunter22", "abcd1234efgh5678", "abcdefghijklmnop", "ann@example.com", "abcdef0123456789"] {
        assert!(!written.contains(secret) && !request.to_string().contains(secret), "{secret}: {request} {written}");
    }
    let written: Value = serde_json::from_str(&written).unwrap();
    let entries = written["log"]["entries"].as_array().unwrap();
    let told: Vec<(&Value, &Value)> =
        entries.iter().map(|entry| (&entry["request"]["method"], &entry["response"]["status"])).collect();
    let expected = [("GET", 302), ("GET", 200), ("POST", 200), ("GET", 404)]
        .map(|(method, status)| (json!(method), json!(status)));
    assert_eq!(told, expected.iter().map(|(method, status)| (method, status)).collect::<Vec<_>>());
    assert!(entries.iter().all(|entry| entry["startedDateTime"].as_str().unwrap().starts_with("20")), "{written}");
}

#[test]
#[ignore = "needs Chromium"]
fn requests_are_answered_from_a_file() {
    let page = r#"<title>Shop</title><script>fetch("https://api.example.org/prices?day=1").then((answer) => answer.json())
        .then((prices) => { document.title = prices.kettle })</script>"#;
    let origin = serve_with(move |_| Some(html(page)));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("routes.jsonl");
    let lines = [
        json!({"url": "https://api.example.org/*", "body": {"kettle": "10 EUR"}}),
        json!({"url": "https://shop.example.org/", "headers": {"content-type": "text/html"}, "body": "<title>Routed</title>"}),
        json!({"url": "http://10.0.0.1/", "body": "<title>Private</title>"}),
    ];
    std::fs::write(&file, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let mut player = Player::start(&[&origin, "--route", file.to_str().unwrap()]);
    eventually("the script has the answer", || player.ok("browser_tabs", json!({}))["tabs"][0]["title"] == "10 EUR");
    assert_eq!(player.ok("browser_navigate", json!({"url": "https://shop.example.org/"}))["title"], "Routed");
    // A route does not allow an address.
    assert_eq!(player.fails("browser_navigate", json!({"url": "http://10.0.0.1/"})).1, "address_not_allowed");
    std::fs::write(&file, "{").unwrap();
    let refused = crate::process::pipe(&mut super::bridge(&[&origin, "--route", file.to_str().unwrap()]), b"");
    assert_eq!(refused.status.code(), Some(2), "{}", crate::process::text(&refused.stderr));
}
