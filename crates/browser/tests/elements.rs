//! The elements of a page, as a real Chromium sees them.
#![allow(clippy::unwrap_used, clippy::panic)]

use pipewright_browser::{Browser, Element, Launch, Ready, Scope};
use std::time::{Duration, Instant};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

/// A browser that shows this page.
fn show(page: &str) -> (Browser, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("page.html");
    std::fs::write(&path, format!("<!doctype html><meta charset=utf-8>{page}")).unwrap();
    let mut browser = Browser::start(&Launch::default()).unwrap();
    browser.navigate(&format!("file://{}", path.display()), Ready::Parsed, soon()).unwrap();
    (browser, place)
}

fn list(browser: &mut Browser, scope: Scope) -> Vec<Element> {
    browser.elements(scope, soon()).unwrap().items
}

/// Role, name and marks of each.
fn read(elements: &[Element]) -> Vec<String> {
    elements
        .iter()
        .map(|one| format!("{} {:?} {}", one.role, one.name, one.marks.join(" ")).trim().to_owned())
        .collect()
}

#[test]
#[ignore = "needs Chromium"]
fn what_can_be_acted_on_is_listed_as_a_person_sees_it() {
    let (mut browser, _place) = show(
        r#"<a href="/x">Ein  Link</a><a>no link</a><button disabled>Отправить</button><input type=hidden><label>Name <input></label>
        <button style="display:none">unseen</button><div id=d>listens</div><label><input type=checkbox checked style="opacity:0">Agree</label>
        <div style="position:relative"><button>under</button><div style="position:absolute;inset:0;background:red"></div></div>
        <div style="height:3000px"></div><button>below</button>
        <script>d.addEventListener('click', () => 0); document.querySelector('input:not([type])').focus()</script>"#,
    );
    let expected = [
        r#"link "Ein Link""#,
        r#"button "Отправить" disabled"#,
        r#"textbox "Name" focused"#,
        r#"clickable "listens""#,
        r#"checkbox "Agree" checked"#,
        r#"button "under" covered"#,
    ];
    assert_eq!(read(&list(&mut browser, Scope::Viewport)), expected);
    let all = browser.elements(Scope::Page, soon()).unwrap();
    assert_eq!((all.items.len(), all.total), (7, 7));
    assert_eq!(read(&all.items)[6], r#"button "below" off-screen"#);
}

#[test]
#[ignore = "needs Chromium"]
fn elements_in_shadow_roots_and_frames_are_listed_too() {
    let (mut browser, _place) = show(
        r#"<x-open></x-open><x-closed></x-closed><x-quiet></x-quiet><iframe srcdoc="<button>framed</button>"></iframe>
        <script>for (const [name, mode] of [['x-open', 'open'], ['x-closed', 'closed']]) {
            const root = document.querySelector(name).attachShadow({mode});
            root.innerHTML = `<button>${mode}</button>`;
            root.firstChild.addEventListener('click', () => 0);
        }
        document.querySelector('x-quiet').attachShadow({mode: 'closed'}).innerHTML = '<a href=/x>quiet</a>'</script>"#,
    );
    let expected = [r#"button "open""#, r#"button "closed""#, r#"link "quiet""#, r#"button "framed""#];
    assert_eq!(read(&list(&mut browser, Scope::Page)), expected);
}

#[test]
#[ignore = "needs Chromium"]
fn an_element_keeps_its_number_and_a_number_never_means_another_element() {
    let (mut browser, _place) = show("<button id=a>a</button><button id=b>b</button>");
    let numbers = |elements: &[Element]| -> Vec<(u32, String)> {
        elements.iter().map(|element| (element.index, element.name.clone())).collect()
    };
    let named = |pairs: &[(u32, &str)]| -> Vec<(u32, String)> {
        pairs.iter().map(|(index, name)| (*index, (*name).to_owned())).collect()
    };
    assert_eq!(numbers(&list(&mut browser, Scope::Page)), named(&[(1, "a"), (2, "b")]));
    let script = "a.remove(); b.insertAdjacentHTML('beforebegin', '<button>c</button>')";
    let _: serde_json::Value =
        browser.call_page("Runtime.evaluate", &serde_json::json!({"expression": script}), soon()).unwrap();
    assert_eq!(numbers(&list(&mut browser, Scope::Page)), named(&[(3, "c"), (2, "b")]));
    assert!(browser.element(1, soon()).unwrap().is_none(), "it was removed");
    assert!(browser.element(2, soon()).unwrap().is_some());
    assert!(browser.element(9, soon()).unwrap().is_none());
    browser.navigate("about:blank", Ready::Parsed, soon()).unwrap();
    assert!(browser.element(2, soon()).unwrap().is_none(), "its document is no more");
}
