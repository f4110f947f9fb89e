//! The effects of actions on pages in a real Chromium.

use crate::soon;
use pipewright_browser::{ActionEffects, Browser, Navigation, Scope, WaitFor};
use std::time::{Duration, Instant};

/// A browser that shows this page, with `other.html` next to it.
fn show(page: &str) -> (Browser, tempfile::TempDir) {
    let (browser, place) = crate::show(&format!("<title>One</title>{page}"));
    let other = "<!doctype html><title>Other</title><button>there</button>";
    std::fs::write(place.path().join("other.html"), other).unwrap();
    (browser, place)
}

/// Clicks the element with this name.
fn click(browser: &mut Browser, name: &str, settle: WaitFor) -> ActionEffects {
    let elements = browser.elements(Scope::Page, soon()).unwrap().items;
    let found = elements.iter().find(|element| element.name == name);
    let index = found.unwrap_or_else(|| panic!("{name}: {elements:?}")).index;
    let before = browser.state_before(soon()).unwrap();
    browser.click(index, soon()).unwrap();
    browser.after(&before, settle, soon()).unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn the_effects_of_a_click_are_reported() {
    let (mut browser, _place) = show(
        r#"<button>nothing</button><button onclick="setTimeout(() => document.title = 'Two', 30)">title</button>
        <button onclick="history.pushState(0, '', '#next')">within</button><input aria-label=field>
        <a href=other.html target=_blank>tab</a><a href=other.html>away</a>"#,
    );
    let done = click(&mut browser, "nothing", WaitFor::Dom);
    assert_eq!((done.navigation, done.state.title.as_str()), (Navigation::None, "One"));
    // The button now has the focus, so a second click changes nothing at all.
    assert!(!click(&mut browser, "nothing", WaitFor::Dom).is_changed);
    let done = click(&mut browser, "title", WaitFor::Dom);
    assert_eq!((done.is_changed, done.state.title.as_str()), (true, "Two"));
    let done = click(&mut browser, "within", WaitFor::Dom);
    assert_eq!((done.navigation, done.state.url.ends_with("#next")), (Navigation::Within, true));
    let done = click(&mut browser, "field", WaitFor::None);
    let focus = done.state.focus.unwrap();
    assert_eq!((focus.role.as_str(), focus.name.as_str()), ("textbox", "field"));
    let done = click(&mut browser, "tab", WaitFor::Dom);
    assert_eq!((done.opened.len(), done.navigation, done.is_closed), (1, Navigation::None, false));
    let done = click(&mut browser, "away", WaitFor::Dom);
    assert_eq!((done.navigation, done.state.title.as_str()), (Navigation::Full, "Other"));
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_that_never_settles_is_waited_for_at_most_the_limit() {
    let (mut browser, _place) =
        show(r#"<button>b</button><p id=p></p><script>setInterval(() => p.textContent += 'x', 10)</script>"#);
    let elements = browser.elements(Scope::Page, soon()).unwrap().items;
    let before = browser.state_before(soon()).unwrap();
    browser.click(elements[0].index, soon()).unwrap();
    let done = browser.after(&before, WaitFor::Dom, Instant::now() + Duration::from_secs(1)).unwrap();
    assert!(done.is_changed, "{done:?}");
}
