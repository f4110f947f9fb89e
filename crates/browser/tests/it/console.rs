//! The console and the failed requests of pages in a real Chromium.

use crate::{evaluate, soon};
use pipewright_browser::{AddressRules, Browser, Console, Launch, Ready};
use std::time::Duration;

/// A browser that shows this page.
fn show(page: &str) -> (Browser, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("page.html");
    std::fs::write(&path, format!("<!doctype html><meta charset=utf-8>\n{page}")).unwrap();
    let mut browser =
        Browser::start(&Launch { allowed: AddressRules::default().file(place.path()).unwrap(), ..Launch::default() })
            .unwrap();
    browser.navigate(&format!("file://{}", path.display()), Ready::Quiet(Duration::from_millis(200)), soon()).unwrap();
    (browser, place)
}

fn read(console: &Console) -> Vec<String> {
    let text = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    console.messages.iter().map(|message| format!("{}: {}", message.level, text(&message.text))).collect()
}

#[test]
#[ignore = "needs Chromium"]
fn messages_and_exceptions_are_returned_once_with_their_place() {
    let (mut browser, place) = show(
        r#"<script>console.log('one', 2, {three: 4}, [5, 6], undefined, null);
        console.warn('careful'); console.error(new TypeError('wrong')); console.debug('fine'); console.assert(false, 'not so');
        Promise.reject(new Error('nobody')); </script><script>missing();</script>
        <iframe srcdoc="<script>console.info('framed')</script>"></iframe>"#,
    );
    let console = browser.take_console(soon()).unwrap();
    let mut expected = vec![
        "log: one 2 Object Array(2) undefined null",
        "warning: careful",
        "error: TypeError: wrong",
        "debug: fine",
        "error: not so",
        "error: Uncaught (in promise) Error: nobody",
        "error: Uncaught ReferenceError: missing is not defined",
        "info: framed",
    ];
    let mut given = read(&console);
    expected.sort_unstable();
    given.sort_unstable();
    assert_eq!(given, expected);
    let page = format!("file://{}", place.path().join("page.html").display());
    assert_eq!(console.messages[0].place, format!("{page}:2"));
    assert_eq!(console.dropped, 0);
    assert!(browser.take_console(soon()).unwrap().messages.is_empty(), "they were already returned");
    evaluate(&mut browser, "console.log('x'.repeat(5000))");
    let long = browser.take_console(soon()).unwrap();
    assert_eq!(long.messages[0].text.chars().count(), 1001);
}

#[test]
#[ignore = "needs Chromium"]
fn failed_requests_are_returned_with_the_reason() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
            let head = "HTTP/1.1 404 Not Found\r\naccess-control-allow-origin: *\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = std::io::Write::write_all(&mut stream, head.as_bytes());
        }
    });
    let (mut browser, _place) = show(&format!(
        "<img src=none.png><script>fetch('{server}/a?b=c', {{method: 'POST'}}); const stop = new AbortController();
        fetch('{server}/aborted', {{signal: stop.signal}}).catch(() => 0); stop.abort();</script>"
    ));
    let console = browser.take_console(soon()).unwrap();
    let mut failed: Vec<_> = console
        .requests
        .iter()
        .map(|one| (one.method.as_str(), one.status.as_ref().map(|(status, _)| *status), one.error.as_deref()))
        .collect();
    failed.sort_unstable();
    assert_eq!(failed, [("GET", None, Some("net::ERR_FILE_NOT_FOUND")), ("POST", Some(404), None)]);
    assert!(console.requests.iter().any(|one| one.url == format!("{server}/a?b=c")));
    assert!(browser.take_console(soon()).unwrap().requests.is_empty(), "they were already returned");
}

#[test]
#[ignore = "needs Chromium"]
fn endless_logging_is_cut_to_the_last_messages_and_blocks_nothing() {
    let (mut browser, _place) = show(
        "<script>let n = 0; setInterval(() => { for (let i = 0; i < 100; i++) console.log(n += 1, {list: new Array(1000).fill(n)}) }, 1)</script>",
    );
    let mut last = 0;
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(300));
        let console = browser.take_console(soon()).unwrap();
        assert_eq!(console.messages.len(), 200);
        assert!(console.dropped >= 100, "{}", console.dropped);
        let number = |text: &str| text.split(' ').next().unwrap().parse::<u64>().unwrap();
        let newest = number(&console.messages[199].text);
        assert!(newest > last && number(&console.messages[0].text) > last, "{newest} after {last}");
        last = newest;
    }
}
