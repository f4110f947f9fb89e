//! Uploads to and downloads from pages of a real Chromium.

use crate::soon;
use pipewright_browser::{ActionError, Browser, DownloadState, InputRefusal, Launch, Ready, Scope};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A browser that shows this page, and the numbers of its elements by their names.
fn show(page: &str) -> (Browser, impl Fn(&mut Browser, &str) -> u32) {
    let mut browser = Browser::start(&Launch::default()).unwrap();
    browser.navigate(&format!("data:text/html,{page}"), Ready::Parsed, soon()).unwrap();
    let number = |browser: &mut Browser, name: &str| {
        let elements = browser.elements(Scope::Page, soon()).unwrap().items;
        elements
            .iter()
            .find(|element| element.name.starts_with(name))
            .unwrap_or_else(|| panic!("{name}: {elements:?}"))
            .index
    };
    (browser, number)
}

#[test]
#[ignore = "needs Chromium"]
fn a_download_gets_a_clean_name_and_replaces_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (mut browser, number) =
        show("<a href='data:application/x;base64,aGVsbG8=' download='..%252Freport.txt'>get</a>");
    browser.set_downloads(Some(place.path()), soon()).unwrap();
    let get = number(&mut browser, "get");
    for expected in ["report.txt", "report (2).txt"] {
        browser.click(get, soon()).unwrap();
        let (download, path) = browser.download(&[], soon()).unwrap();
        let path = path.unwrap();
        assert_eq!((download.state, download.received), (DownloadState::Done, 5));
        assert!(path.starts_with(place.path()) && path.to_string_lossy().ends_with(expected), "{path:?}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "hello");
    }
    let none = browser.download(&[], Instant::now() + Duration::from_millis(200));
    assert!(matches!(none, Err(ActionError::Late)), "{none:?}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);
}

#[test]
#[ignore = "needs Chromium"]
fn files_are_selected_only_in_file_inputs() {
    let place = tempfile::tempdir().unwrap();
    let path: PathBuf = place.path().join("a.txt");
    std::fs::write(&path, "content").unwrap();
    let (mut browser, number) =
        show("<label>file<input type=file onchange='files[0].text().then(t=>window.got=t)'></label><button>b</button>");
    let (file, button) = (number(&mut browser, "file"), number(&mut browser, "b"));
    browser.upload(file, std::slice::from_ref(&path), soon()).unwrap();
    let asked = json!({"expression": "new Promise((go) => { const id = setInterval(() => window.got && (clearInterval(id), go(got))) })", "awaitPromise": true});
    let got: Value = browser.call_page("Runtime.evaluate", &asked, soon()).unwrap();
    assert_eq!(got["result"]["value"], "content");
    let refused = browser.upload(button, &[path], soon());
    assert!(matches!(&refused, Err(InputRefusal::Unfit(why)) if why.starts_with("it is no file input")), "{refused:?}");
}
