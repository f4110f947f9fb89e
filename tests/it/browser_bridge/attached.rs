//! A browser that was started by another program is used, and stays open.

use super::{Player, serve};
use crate::process::{Talk, command, eventually, pipe, text};
use serde_json::json;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PAGES: &[(&str, &str)] = &[
    ("/", "<!doctype html><title>Mail</title><a href=/next>Next</a>"),
    ("/next", "<!doctype html><title>Next</title><button>There</button>"),
];

/// The person's browser; it ends with the test.
pub struct Theirs(Child);

impl Theirs {
    /// Starts it with this profile, at this page. Returns when it can be attached to.
    pub fn start(profile: &Path, url: &str) -> Theirs {
        let _ = std::fs::remove_file(profile.join("DevToolsActivePort"));
        let mut chromium = Command::new("chromium");
        chromium.args(["--remote-debugging-port=0", "--headless", "--disable-gpu", "--no-sandbox", "--no-first-run"]);
        chromium.arg(format!("--user-data-dir={}", profile.display())).arg(url);
        let child = chromium.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("its port is known", || address(profile).is_some());
        Theirs(child)
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        self.end();
    }
}

/// The port and path of the browser with this profile.
fn address(profile: &Path) -> Option<(String, String)> {
    let written = std::fs::read_to_string(profile.join("DevToolsActivePort")).ok()?;
    written.split_once('\n').map(|(port, path)| (port.to_owned(), path.trim().to_owned()))
}

/// A bridge that may use the pages of this origin.
fn attach(place: &str, origin: &str) -> Command {
    let mut bridge = command("browser-bridge");
    bridge.args(["--attach", place, "--allow-origin", origin]);
    bridge
}

#[test]
#[ignore = "needs Chromium"]
fn an_attached_browser_stays_open_with_its_pages() {
    let (profile, origin) = (tempfile::tempdir().unwrap(), serve(PAGES));
    let mut theirs = Theirs::start(profile.path(), &origin);
    let (port, path) = address(profile.path()).unwrap();
    let folder = profile.path().to_str().unwrap().to_owned();
    let mut title = "Mail";
    for place in [folder, format!("http://127.0.0.1:{port}"), format!("ws://127.0.0.1:{port}{path}")] {
        let mut player = Player::of(&mut attach(&place, &origin));
        eventually("the page is loaded", || player.ok("browser_tabs", json!({}))["tabs"][0]["title"] == title);
        if title == "Mail" {
            assert_eq!(player.click("Next")["title"], "Next");
            title = "Next";
        }
        let ended = player.talk.end_after_close();
        assert_eq!(ended.status.code(), Some(0), "{place}: {}", ended.stderr);
        assert!(theirs.0.try_wait().unwrap().is_none(), "{place}");
    }
}

#[test]
fn a_place_without_a_browser_gives_status_3_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let call = b"{\"tool\":\"browser_tabs\",\"id\":1}\n";
    let folder = folder.path().to_str().unwrap();
    for (place, advice) in [
        (folder, "--remote-debugging-port=0"),
        ("http://127.0.0.1:9", "127.0.0.1:9"),
        ("ws://127.0.0.1:9/devtools/page/A", "one page"),
        ("wss://example.org/devtools/browser/A", "ssh -L"),
    ] {
        let output = pipe(command("browser-bridge").args(["--attach", place]), call);
        assert_eq!(output.status.code(), Some(3), "{place}");
        assert!(text(&output.stderr).contains(advice), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains(r#""kind":"start_failed""#), "{}", text(&output.stdout));
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_that_ends_is_attached_to_again_or_gives_status_4() {
    let (profile, origin) = (tempfile::tempdir().unwrap(), serve(PAGES));
    let mut theirs = Theirs::start(profile.path(), &origin);
    let mut bridge = attach(profile.path().to_str().unwrap(), &origin);
    let mut talk = Talk::start(bridge.args(["--restart", "40"]));
    talk.ask(r#"{"tool":"browser_tabs","id":1}"#);
    talk.say(r#"{"tool":"browser_wait","args":{"ms":30000},"id":2}"#);
    talk.settles();
    theirs.end();
    let lost = talk.receive();
    assert!(lost.contains(r#""kind":"lost""#) && lost.contains(r#""maybe_executed":true"#), "{lost}");
    let mut again = Theirs::start(profile.path(), &format!("{origin}/next"));
    let tabs = talk.ask(r#"{"tool":"browser_tabs","id":3}"#);
    assert!(tabs.contains(r#""status":"ok""#) && !tabs.contains(r#""epoch":0"#), "{tabs}");
    drop(talk);

    let mut talk = Talk::start(attach(profile.path().to_str().unwrap(), &origin).args(["--restart", "1"]));
    talk.ask(r#"{"tool":"browser_tabs","id":1}"#);
    again.end();
    let lost = talk.ask(r#"{"tool":"browser_tabs","id":2}"#);
    assert!(lost.contains(r#""kind":"lost""#), "{lost}");
    // Only by then has attaching failed for good.
    let again = talk.ask(r#"{"tool":"browser_tabs","id":3}"#);
    assert!(again.contains(r#""kind":"lost""#), "{again}");
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    assert!(ended.stderr.contains("--restart"), "{}", ended.stderr);
}
