//! A real Chromium that was started by another program.

use crate::soon;
use pipewright_browser::{ActionError, AddressRules, Browser, Launch, Ready, Routes, Scope};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A browser that is not ours. It ends with the test.
struct Theirs {
    child: Child,
    profile: tempfile::TempDir,
}

impl Theirs {
    fn start(page: &str, title: &str) -> Theirs {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(pipewright_browser::find().unwrap());
        command.args(["--remote-debugging-port=0", "--headless", "--disable-gpu", "--no-sandbox", "--no-first-run"]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg(page);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let last_moment = soon();
        let written = || std::fs::read_to_string(profile.path().join("DevToolsActivePort")).unwrap_or_default();
        while written().lines().count() < 2 {
            assert!(Instant::now() < last_moment);
            thread::sleep(Duration::from_millis(20));
        }
        let theirs = Theirs { child, profile };
        while !theirs.list().contains(&format!("\"title\": \"{title}\"")) {
            assert!(Instant::now() < last_moment);
            thread::sleep(Duration::from_millis(50));
        }
        theirs
    }

    fn place(&self) -> &str {
        self.profile.path().to_str().unwrap()
    }

    /// Its own list of pages.
    fn list(&self) -> String {
        let mut stream = std::net::TcpStream::connect(format!("127.0.0.1:{}", self.address().0)).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        stream.write_all(b"GET /json/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Port and path.
    fn address(&self) -> (String, String) {
        let written = std::fs::read_to_string(self.profile.path().join("DevToolsActivePort")).unwrap();
        let (port, path) = written.split_once('\n').unwrap();
        (port.to_owned(), path.trim().to_owned())
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn evaluate(browser: &mut Browser, expression: &str) -> Value {
    let value: Value = browser.call_page("Runtime.evaluate", &json!({"expression": expression}), soon()).unwrap();
    value["result"]["value"].clone()
}

fn attach(place: &str) -> Browser {
    Browser::attach(place, &[], AddressRules::default(), Routes::default()).unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn open_pages_are_usable_at_once_and_stay_after_we_detach() {
    let theirs =
        Theirs::start("data:text/html,<title>first</title><button onclick='document.title=1'>press</button>", "first");
    let (port, path) = theirs.address();
    let mut browser = attach(theirs.place());
    let page = browser.page().unwrap();
    assert!(page.document.is_parsed && page.document.is_loaded && page.quiet_since().is_some(), "{page:?}");
    assert!(page.document.url.starts_with("data:text/html,") && !page.document.loader.is_empty(), "{page:?}");
    assert_eq!(page.title, "first");
    let index = browser.elements(Scope::Viewport, soon()).unwrap().items[0].index;
    browser.click(index, soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "document.title"), "1");
    let first = browser.page().unwrap().id.clone();
    let second = browser.open(soon()).unwrap();
    browser.navigate("data:text/html,<title>second</title>", Ready::Parsed, soon()).unwrap();
    browser.close();
    // The visible one is active.
    let mut browser = attach(&format!("http://127.0.0.1:{port}"));
    assert_eq!(browser.page().unwrap().id, second);
    browser.switch(&first, soon()).unwrap();
    drop(browser);
    let mut browser = attach(&format!("ws://127.0.0.1:{port}{path}"));
    assert_eq!((browser.page().unwrap().id.as_str(), browser.pages().all().len()), (first.as_str(), 2));
    assert_eq!(evaluate(&mut browser, "document.title"), "1");
    // Addresses are judged there too.
    let denied = browser.navigate(&format!("http://127.0.0.1:{port}/json"), Ready::Parsed, soon());
    assert!(matches!(denied, Err(ActionError::Denied(_))), "{denied:?}");
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_blocked_by_a_dialog_does_not_block_the_others() {
    let theirs = Theirs::start("data:text/html,<title>first</title>", "first");
    let mut one = attach(theirs.place());
    let first = one.page().unwrap().id.clone();
    one.open(soon()).unwrap();
    let asked = one.call_page::<Value>("Runtime.evaluate", &json!({"expression": "alert('held')"}), soon());
    assert!(matches!(asked, Err(ActionError::Dialog(_))), "{asked:?}");
    let mut other = attach(theirs.place());
    assert_eq!(other.pages().all().len(), 2);
    assert!(other.pages().all().iter().all(|page| page.document.is_parsed && page.quiet_since().is_some()));
    other.switch(&first, soon()).unwrap();
    assert_eq!(evaluate(&mut other, "document.title"), "first");
}

#[test]
#[ignore = "needs Chromium"]
fn the_end_of_the_browser_is_a_fault() {
    let mut theirs = Theirs::start("about:blank", "about:blank");
    let mut browser = attach(theirs.place());
    theirs.child.kill().unwrap();
    theirs.child.wait().unwrap();
    let lost = loop {
        match browser.take_next(soon()) {
            Ok(()) => {}
            Err(fault) => break fault,
        }
    };
    assert!(matches!(lost, ActionError::Lost(_)), "{lost:?}");
    let refused =
        Browser::attach(theirs.place(), &[], AddressRules::default(), Routes::default()).unwrap_err().to_string();
    assert!(refused.contains("refused"), "{refused}");
}

#[test]
#[ignore = "needs Chromium"]
fn roles_and_names_are_right_without_the_flag_that_provides_them() {
    let page = "<a href=/x>Ein Link</a><button>Send</button><input type=submit value=Go><label>Name <input></label><input type=checkbox \
        aria-label=Agree><input type=radio title=One><select aria-label=Pick><option>a</select><textarea placeholder=Text></textarea>\
        <input type=range aria-label=Range><input type=number aria-label=Number><input type=search aria-label=Find><input type=password \
        aria-label=Secret><details><summary>More</summary></details><div role=tab tabindex=0>Tab</div><div onclick=0>listens</div>\
        <a href=/y><img alt=Logo width=9 height=9></a><select multiple aria-label=Many><option>b</select><input type=image alt=Picture width=9 \
        height=9><span id=l>Labelled</span><button aria-labelledby=l>x</button><input list=d aria-label=Combo><datalist id=d></datalist>\
        <div contenteditable aria-label=Editor>e</div><input type=file aria-label=File><input type=color aria-label=Colour>\
        <input type=date aria-label=Date><button><svg width=9 height=9><title>Icon</title></svg></button>";
    let page = format!("data:text/html,<!doctype html>{page}");
    let listed = |browser: &mut Browser| -> Vec<String> {
        let elements = browser.elements(Scope::Page, soon()).unwrap().items;
        elements.into_iter().map(|element| format!("{} {}", element.role, element.name)).collect()
    };
    let mut ours = Browser::start(&Launch::default()).unwrap();
    ours.navigate(&page, Ready::Parsed, soon()).unwrap();
    let theirs = Theirs::start("about:blank", "about:blank");
    let mut attached = attach(theirs.place());
    attached.navigate(&page, Ready::Parsed, soon()).unwrap();
    let own: Vec<String> = listed(&mut ours).iter().map(|one| one.replace(": No file chosen", "")).collect();
    assert_eq!(listed(&mut attached), own);
}

#[test]
fn a_failed_attach_says_what_to_do() {
    let refused =
        |place: &str| Browser::attach(place, &[], AddressRules::default(), Routes::default()).unwrap_err().to_string();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().to_str().unwrap();
    assert!(refused(folder).contains("--remote-debugging-port=0"), "{}", refused(folder));
    std::fs::write(Path::new(folder).join("DevToolsActivePort"), "no port\n").unwrap();
    assert!(refused(folder).contains("the file has no port and path"));
    assert!(refused("wss://127.0.0.1:1/devtools/page/AB").contains("one page"));
    assert!(refused("ws://127.0.0.1:1/devtools/page/AB").contains("one page"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    assert!(refused(&format!("http://127.0.0.1:{port}")).contains("attach by the profile folder"));
    assert!(refused(&format!("ws://127.0.0.1:{port}/devtools/browser/x")).contains("404"));
}
