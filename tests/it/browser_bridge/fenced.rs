//! `--fence all`: everything that pages load is judged.

use super::{Player, serve, serve_with};
use serde_json::json;
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where a page's requests have arrived.
type Paths = Arc<Mutex<BTreeSet<String>>>;

/// A server that answers every path, and keeps the paths.
fn server(page: impl Fn() -> String + Send + Sync + 'static) -> (String, Paths) {
    let paths = Paths::default();
    let seen = Arc::clone(&paths);
    let origin = serve_with(move |path| {
        seen.lock().unwrap().insert(path.to_owned());
        let body = if path == "/" { page() } else { String::new() };
        Some(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    });
    (origin, paths)
}

/// A page that tries every way to reach the private server, and its own one. It shows "loaded" when all but those over UDP have ended,
/// which wait for answers that never come, and "done" at the end.
fn page(private: &str, udp: u16) -> String {
    format!(
        "<!doctype html><title>busy</title><link rel=stylesheet href=/own-style>
<script>
const ended = (object, ...events) => new Promise(go => events.forEach(event => object.addEventListener(event, go)));
const host = {private:?}.slice(7);
const image = address => {{ const image = new Image(); image.src = address; return ended(image, 'load', 'error'); }};
const gathered = async () => {{
    const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{udp}'}}]}});
    peer.createDataChannel('x');
    await peer.setLocalDescription(await peer.createOffer());
    while (peer.iceGatheringState !== 'complete') await ended(peer, 'icegatheringstatechange');
}};
const code = `fetch('http://${{host}}/worker').finally(() => postMessage(1))`;
const worker = new Worker(URL.createObjectURL(new Blob([code])));
const quic = () => new WebTransport('https://127.0.0.1:{udp}/').ready;
onload = async () => {{
    const udp = Promise.allSettled([gathered(), quic()]);
    await Promise.allSettled([
        image('http://' + host + '/image'),
        fetch('http://' + host + '/fetch'),
        fetch('/own-post', {{method: 'POST', body: 'x'.repeat(100000)}}),
        ended(new WebSocket('ws://' + host + '/socket'), 'open', 'error'),
        ended(new WebSocket('ws://' + location.host + '/own-socket'), 'open', 'error'),
        ended(worker, 'message'),
    ]);
    document.body.textContent = 'loaded';
    await udp;
    document.body.textContent = 'done';
}};
</script>"
    )
}

/// Loads that page until it shows `text`. Returns the paths that reached the private server and the page's own, whether
/// anything comes over UDP, and what was refused.
fn visit(fence: &str, text: &str, udp_wait: Duration) -> (BTreeSet<String>, BTreeSet<String>, bool, Vec<String>) {
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (private, reached) = server(String::new);
    let port = udp.local_addr().unwrap().port();
    let (origin, own) = server(move || page(&private, port));
    let mut player = Player::start(&["--fence", fence, "--allow-origin", &origin]);
    let opened = player.call("browser_navigate", json!({"url": origin}));
    player.ok("browser_wait", json!({"text": text}));
    let after = player.call("browser_tabs", json!({}));
    let refused = [opened, after]
        .iter()
        .flat_map(|answer| answer["data"]["refused"].as_array().cloned().unwrap_or_default())
        .collect::<Vec<_>>();
    udp.set_read_timeout(Some(udp_wait)).unwrap();
    let came = udp.recv(&mut [0; 2000]).is_ok();
    let paths = |paths: &Paths| paths.lock().unwrap().clone();
    let refused = refused.iter().map(|denied| denied["why"].to_string()).collect();
    (paths(&reached), paths(&own), came, refused)
}

#[test]
#[ignore = "needs Chromium"]
fn a_fence_around_everything_stops_what_documents_alone_let_pass() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
    let own = names(&["/", "/own-post", "/own-socket", "/own-style"]);
    let (reached, arrived, came, refused) = visit("documents", "loaded", Duration::from_secs(60));
    assert_eq!(reached, names(&["/fetch", "/image", "/socket", "/worker"]));
    assert!(arrived.is_superset(&own) && came && refused.is_empty(), "{arrived:?} {came} {refused:?}");
    let (reached, arrived, came, refused) = visit("all", "done", Duration::from_millis(1));
    assert_eq!(reached, names(&[]));
    assert!(arrived.is_superset(&own) && !came, "{arrived:?} {came}");
    assert!(refused.iter().any(|why| why.contains("private")), "{refused:?}");
}

#[test]
#[ignore = "needs Chromium"]
fn behind_a_fence_pages_work_as_without_one() {
    let origin = serve(&[
        ("/", "<!doctype html><title>One</title><a href=/two>Two</a>"),
        ("/two", "<!doctype html><title>Two</title><p>Here"),
    ]);
    let mut player = Player::start(&[&origin, "--fence", "all"]);
    assert_eq!(player.click("Two")["title"], "Two");
    assert_eq!(player.ok("browser_navigate", json!({"url": origin}))["title"], "One");
    for denied in ["http://10.0.0.1/", "http://127.0.0.1:9/"] {
        assert_eq!(player.fails("browser_navigate", json!({"url": denied})).1, "address_not_allowed", "{denied}");
    }
    let unknown = player.call("browser_navigate", json!({"url": "https://no-such-host.invalid/"}));
    assert!(unknown["error"].as_str().unwrap().contains("no connection to https://no-such-host.invalid"), "{unknown}");
}
