//! Waiting for conditions on pages of a real Chromium.

use crate::soon;
use pipewright_browser::{ActionError, Browser, ElementState, Launch, Ready, WaitCondition};
use std::time::{Duration, Instant};

fn show(browser: &mut Browser, page: &str) {
    let page = page.replace('#', "%23");
    browser.navigate(&format!("data:text/html,<!doctype html>{page}"), Ready::Parsed, soon()).unwrap();
}

fn element(selector: &str, presence: ElementState) -> WaitCondition {
    WaitCondition::Element(selector.to_owned(), presence)
}

#[test]
#[ignore = "needs Chromium"]
fn a_condition_is_waited_for_until_it_holds_or_the_time_is_over() {
    let page = r#"<p id=hidden style='display:none'>x</p><p id=going>going</p><x-host></x-host><script>
        setTimeout(() => {
            hidden.style.display = 'block'; going.remove();
            document.querySelector('x-host').attachShadow({mode: 'open'}).innerHTML = '<b class=inner>deep</b>';
            document.body.append('now there is a text'); location.hash = 'next';
        }, 300)</script>"#;
    let mut browser = Browser::start(&Launch::default()).unwrap();
    for condition in [
        element("#hidden", ElementState::Visible),
        element("#going", ElementState::Detached),
        element("#going", ElementState::Hidden),
        element(".inner", ElementState::Attached),
        WaitCondition::Text("there is a text".to_owned()),
        WaitCondition::Address("next".to_owned()),
    ] {
        show(&mut browser, page);
        assert!(browser.wait_until(&condition, soon()).unwrap(), "{condition:?}");
        let never = Instant::now() + Duration::from_millis(300);
        assert!(!browser.wait_until(&element("#never", ElementState::Visible), never).unwrap());
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_wait_continues_in_the_next_document_and_an_invalid_selector_is_a_fault() {
    let mut browser = Browser::start(&Launch::default()).unwrap();
    show(&mut browser, "<script>setTimeout(() => location = 'about:blank', 200)</script>");
    let never = Instant::now() + Duration::from_millis(900);
    assert!(!browser.wait_until(&element("#there", ElementState::Visible), never).unwrap());
    assert!(browser.wait_until(&element("body", ElementState::Attached), soon()).unwrap());
    let wrong = browser.wait_until(&element("p[", ElementState::Visible), soon()).unwrap_err();
    assert!(matches!(&wrong, ActionError::Script(why) if why.contains("not a valid selector")), "{wrong:?}");
    assert!(browser.wait_until(&WaitCondition::Quiet(Duration::from_millis(100)), soon()).unwrap());
}
