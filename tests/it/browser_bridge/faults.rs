//! Faults of pages and browsers: each is answered within its limit, with a kind, and the next page can be used.

use super::{MORE, Player, serve_with};
use crate::process::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::path::Path;

fn html(body: &str) -> Option<String> {
    Some(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

fn origin() -> String {
    serve_with(|path| {
        match path.split('?').next().unwrap() {
            "/" => html("<title>Home</title><button>Home</button><a href=/endless>Endless</a>"),
            "/never" => Some(String::new()),
            "/redirect" => Some("HTTP/1.1 302 Found\r\nLocation: /redirect\r\nContent-Length: 0\r\n\r\n".to_owned()),
            "/wander" => html("<script>location.href = '/wander?' + Math.random()</script>"),
            "/alerts" => html("<title>Alerts</title><button onclick='for (;;) alert(1)'>Loop</button>"),
            "/leave" => html(
                "<title>Leave</title><button>Touch</button><script>onbeforeunload = (event) => event.preventDefault()</script>",
            ),
            "/hang" => html("<title>Hang</title><button onclick='for (;;);'>Hang</button>"),
            "/tabs" => html(
                "<title>Tabs</title><button onclick='for (let i = 0; i < 100; i++) window.open(\"/?\" + i)'>Open</button>",
            ),
            // Promises more bytes than it sends.
            "/endless" => {
                let file = "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=a.bin";
                Some(format!("HTTP/1.1 200 OK\r\n{file}\r\n{MORE}\r\n\r\n{}", "x".repeat(1 << 20)))
            }
            _ => None,
        }
    })
}

/// The processes below this one, with their arguments.
pub fn below(pid: i32) -> Vec<(i32, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(child) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent = stat.rsplit(')').next().unwrap().split_whitespace().nth(1).and_then(|parent| parent.parse().ok());
        if parent == Some(pid) {
            let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((child, String::from_utf8_lossy(&arguments).replace('\0', " ")));
            found.extend(below(child));
        }
    }
    found
}

fn kill_those(player: &Player, is_meant: impl Fn(&str) -> bool) {
    let meant: Vec<i32> = below(player.talk.pid().as_raw())
        .into_iter()
        .filter(|(_, arguments)| is_meant(arguments))
        .map(|(pid, _)| pid)
        .collect();
    assert!(!meant.is_empty());
    for pid in meant {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// Checks that the browser continues to work.
fn still_works(player: &mut Player, origin: &str) {
    assert_eq!(player.ok("browser_navigate", json!({"url": origin}))["title"], "Home");
    assert!(player.ok("browser_list_interactives", json!({}))["items"][0].as_str().unwrap().ends_with(" button Home"));
}

/// Makes a call with a time limit, much less than a test waits for its answer.
fn limited(player: &mut Player, seconds: u64, tool: &str, arguments: Value) -> Value {
    let call = json!({"tool": tool, "args": arguments, "timeout": seconds, "id": "limited"}).to_string();
    serde_json::from_str(&player.talk.ask(&call)).unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn a_crashed_tab_is_reported_and_can_be_used_again() {
    let origin = origin();
    let mut player = Player::start(&[&origin]);
    player.ok("browser_tabs", json!({}));
    kill_those(&player, |arguments| arguments.contains("--type=renderer"));
    eventually("the crash is reported", || {
        player.call("browser_list_interactives", json!({}))["code"] == "page_crashed"
    });
    still_works(&mut player, &origin);
}

#[test]
#[ignore = "needs Chromium"]
fn a_killed_browser_is_restarted_with_its_first_page() {
    let mut player = Player::start(&[&origin()]);
    player.ok("browser_tabs", json!({}));
    player.talk.say(&json!({"tool": "browser_wait", "args": {"ms": 30_000}, "id": 1}).to_string());
    player.talk.settles();
    kill_those(&player, |arguments| arguments.contains("--remote-debugging-pipe") && !arguments.contains("--type="));
    let lost: Value = serde_json::from_str(&player.talk.receive()).unwrap();
    assert_eq!((&lost["kind"], &lost["maybe_executed"]), (&"lost".into(), &true.into()), "{lost}");
    assert!(lost["error"].as_str().unwrap().contains("SIGKILL"), "{lost}");
    let again = player.call("browser_list_interactives", json!({}));
    assert_eq!(again["epoch"], 1, "{again}");
    assert_eq!(again["data"]["items"][0], "1 button Home", "{again}");
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_that_never_loads_or_always_redirects_times_out() {
    let origin = origin();
    let mut player = Player::start(&[&origin]);
    // The first answer waits for the browser's start, which has its own limit.
    still_works(&mut player, &origin);
    for path in ["never", "wander"] {
        let late = limited(&mut player, 1, "browser_navigate", json!({"url": format!("{origin}/{path}")}));
        assert_eq!(late["kind"], "timeout", "{path}: {late}");
        still_works(&mut player, &origin);
    }
    let redirected = player.call("browser_navigate", json!({"url": format!("{origin}/redirect")}));
    assert_eq!(redirected["code"], "navigation_failed", "{redirected}");
    assert!(redirected["error"].as_str().unwrap().contains("ERR_TOO_MANY_REDIRECTS"), "{redirected}");
    still_works(&mut player, &origin);
}

#[test]
#[ignore = "needs Chromium"]
fn endless_dialogs_block_only_their_own_tab() {
    let origin = origin();
    let mut player = Player::start(&[&format!("{origin}/alerts")]);
    assert_eq!(player.click("Loop")["dialog"]["kind"], "alert");
    for _ in 0..3 {
        assert_eq!(player.ok("browser_dialog", json!({"accept": true}))["dialog"]["message"], "1");
    }
    assert_eq!(player.fails("browser_navigate", json!({"url": origin})).1, "dialog_open");
    player.ok("browser_close_tab", json!({}));
    still_works(&mut player, &origin);
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_that_asks_before_it_is_left_is_answered() {
    let origin = origin();
    let mut player = Player::start(&[&format!("{origin}/leave")]);
    player.click("Touch");
    let asked = player.ok("browser_navigate", json!({"url": origin}));
    assert_eq!(asked["dialog"]["kind"], "beforeunload", "{asked}");
    assert_eq!(player.ok("browser_dialog", json!({"accept": false}))["title"], "Leave");
    player.ok("browser_navigate", json!({"url": origin}));
    eventually("the page is left", || {
        player.call("browser_dialog", json!({"accept": true}));
        player.ok("browser_tabs", json!({}))["tabs"][0]["title"] == "Home"
    });
    still_works(&mut player, &origin);
}

#[test]
#[ignore = "needs Chromium"]
fn a_hanging_page_times_out_and_can_be_left() {
    let origin = origin();
    let mut player = Player::start(&[&format!("{origin}/hang")]);
    let index = player.number("Hang");
    let hung = limited(&mut player, 1, "browser_overlay_act", json!({"index": index}));
    assert_eq!(hung["kind"], "timeout", "{hung}");
    assert_eq!(limited(&mut player, 1, "browser_screenshot", json!({}))["kind"], "timeout");
    still_works(&mut player, &origin);
}

#[test]
#[ignore = "needs Chromium"]
fn a_hundred_tabs_are_listed_and_closed() {
    let origin = origin();
    let mut player = Player::start(&[&format!("{origin}/tabs")]);
    let opened = player.click("Open");
    assert!(!opened["new_tabs"].as_array().unwrap().is_empty(), "{opened}");
    // The browser blocks most windows that a page opens by itself; these are opened by calls.
    player.ok("browser_navigate", json!({"url": origin}));
    let link = player.number("Endless");
    for _ in 0..3 {
        player.call("browser_open_in_new_tab", json!({"id": link}));
        player.ok("browser_switch_tab", json!({"index": 0}));
    }
    assert!(player.ok("browser_tabs", json!({}))["tabs"].as_array().unwrap().len() > 2);
    still_works(&mut player, &origin);
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_ended_during_a_call_leaves_nothing_behind() {
    let (downloads, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut bridge = super::bridge(&[&origin(), "--download-dir", downloads.path().to_str().unwrap()]);
    let talk = crate::process::Talk::start(bridge.env("TMPDIR", temporary.path()));
    let mut player = Player { talk, last: 0 };
    let link = player.number("Endless");
    assert_eq!(player.fails("browser_click_and_wait_download", json!({"id": link, "timeout_ms": 300})).0, "timeout");
    let processes = below(player.talk.pid().as_raw());
    assert!(processes.len() > 2);
    player.talk.say(&json!({"tool": "browser_wait", "args": {"ms": 30_000}, "id": 9}).to_string());
    player.talk.signal(Signal::SIGTERM);
    player.talk.end();
    let files =
        |folder: &Path| std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name()).collect::<Vec<_>>();
    assert_eq!((files(temporary.path()), files(downloads.path())), (Vec::new(), Vec::new()));
    eventually("its processes have ended", || processes.iter().all(|(pid, _)| !crate::process::is_running(*pid)));
}
