//! Tabs and dialogs of a real Chromium.

use crate::soon;
use pipewright_browser::{ActionError, Browser, Launch, Ready, Scope};
use serde_json::{Value, json};

fn evaluate(browser: &mut Browser, expression: &str) -> Value {
    // A window that a script opens by itself is blocked.
    let asked = json!({"expression": expression, "returnByValue": true, "userGesture": true});
    let value: Value = browser.call_page("Runtime.evaluate", &asked, soon()).unwrap();
    value["result"]["value"].clone()
}

#[test]
#[ignore = "needs Chromium"]
fn pages_are_opened_switched_and_closed() {
    let mut browser = Browser::start(&Launch::default()).unwrap();
    let first = browser.page().unwrap().id.clone();
    browser.navigate("data:text/html,<title>one</title><button>one</button>", Ready::Parsed, soon()).unwrap();
    let second = browser.open(soon()).unwrap();
    browser.navigate("data:text/html,<title>two</title><button>two</button>", Ready::Parsed, soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "document.title"), "two");
    let name = |browser: &mut Browser| browser.elements(Scope::Page, soon()).unwrap().items[0].name.clone();
    assert_eq!(name(&mut browser), "two");
    browser.switch(&first, soon()).unwrap();
    assert_eq!((evaluate(&mut browser, "document.hidden"), name(&mut browser)), (false.into(), "one".to_owned()));
    browser.close_page(&first, soon()).unwrap();
    assert_eq!(browser.page().unwrap().id, second);
    assert!(matches!(browser.switch(&first, soon()), Err(ActionError::NoPage)));
    assert!(matches!(browser.close_page(&first, soon()), Err(ActionError::NoPage)));
    evaluate(&mut browser, "window.open('about:blank') && 1");
    assert!(browser.wait(soon(), |pages| pages.all().len() == 2).unwrap());
    let popup = browser.pages().all()[1].id.clone();
    assert_eq!(browser.pages().all()[1].opener.as_deref(), Some(second.as_str()));
    browser.switch(&popup, soon()).unwrap();
    browser.close_page(&popup, soon()).unwrap();
    assert_eq!(browser.page().unwrap().id, second, "its opener");
    browser.close_page(&second, soon()).unwrap();
    assert!(matches!(browser.page(), Err(ActionError::NoPage)));
    browser.open(soon()).unwrap();
}

#[test]
#[ignore = "needs Chromium"]
fn dialogs_are_answered_one_after_the_other() {
    let mut browser = Browser::start(&Launch::default()).unwrap();
    let asked: Result<Value, ActionError> = browser.call_page(
        "Runtime.evaluate",
        &json!({"expression": "window.said = [prompt('name?', 'nobody'), confirm('sure?')]"}),
        soon(),
    );
    let Err(ActionError::Dialog(dialog)) = asked else { panic!("{asked:?}") };
    assert_eq!((&*dialog.kind, &*dialog.message, &*dialog.default), ("prompt", "name?", "nobody"));
    browser.answer_dialog(true, Some("Ada"), soon()).unwrap();
    assert!(
        browser
            .wait(soon(), |pages| pages.all()[0].dialog.as_ref().is_some_and(|dialog| dialog.kind == "confirm"))
            .unwrap()
    );
    browser.answer_dialog(false, None, soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "said"), json!(["Ada", false]));
    assert!(matches!(browser.answer_dialog(true, None, soon()), Err(ActionError::Refused(_))));
}
