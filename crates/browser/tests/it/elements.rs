//! The elements of pages in a real Chromium.

use crate::{serve, show, soon};
use pipewright_browser::{Allowed, Browser, Element, Launch, Ready, Refusal, Scope};
use std::time::{Duration, Instant};

fn list(browser: &mut Browser, scope: Scope) -> Vec<Element> {
    browser.elements(scope, soon()).unwrap().items
}

/// The role, name and marks of each element.
fn read(elements: &[Element]) -> Vec<String> {
    elements
        .iter()
        .map(|one| format!("{} {:?} {}", one.role, one.name, one.marks.join(" ")).trim().to_owned())
        .collect()
}

#[test]
#[ignore = "needs Chromium"]
fn elements_are_listed_as_a_person_sees_them() {
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
    assert!(matches!(browser.click(1, soon()), Err(Refusal::Stale)), "it was removed");
    browser.click(2, soon()).unwrap();
    assert!(matches!(browser.click(9, soon()), Err(Refusal::Stale)));
    browser.navigate("about:blank", Ready::Parsed, soon()).unwrap();
    assert!(matches!(browser.click(2, soon()), Err(Refusal::Stale)), "its document has gone");
}

#[test]
#[ignore = "needs Chromium"]
fn a_frame_of_another_site_and_process_is_listed_and_clicked() {
    let inner = serve("<button onclick='this.textContent = \"clicked\"'>inner</button>".to_owned());
    let middle = serve(format!("<p>middle</p><iframe src='http://127.0.0.1:{inner}/'></iframe>"));
    // Another name is another site.
    let outer = serve(format!(
        "<div style='height:2000px'></div><iframe src='http://localhost:{middle}/' style='border:7px solid;height:300px'></iframe><button>own</button>"
    ));
    let allowed = Allowed::default().origin("127.0.0.1").unwrap().origin("localhost").unwrap();
    let mut browser = Browser::start(&Launch { allowed, ..Launch::default() }).unwrap();
    browser.navigate(&format!("http://127.0.0.1:{outer}/"), Ready::Quiet(Duration::from_millis(200)), soon()).unwrap();
    let listed = |browser: &mut Browser| -> Vec<(u32, String)> {
        let elements = browser.elements(Scope::Page, soon()).unwrap().items;
        elements.into_iter().map(|element| (element.index, element.name)).collect()
    };
    assert_eq!(listed(&mut browser), [(1, "own".to_owned()), (2, "inner".to_owned())]);
    browser.click(2, soon()).unwrap();
    // Another process handles the click.
    let last_moment = soon();
    while listed(&mut browser)[1].1 == "inner" && Instant::now() < last_moment {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(listed(&mut browser), [(1, "own".to_owned()), (2, "clicked".to_owned())]);
    let cover = "document.body.insertAdjacentHTML('beforeend', '<div style=\"position:fixed;inset:0\">cover</div>')";
    let _: serde_json::Value =
        browser.call_page("Runtime.evaluate", &serde_json::json!({"expression": cover}), soon()).unwrap();
    let covered = browser.click(2, soon()).unwrap_err().to_string();
    assert_eq!(covered, "something before its frame is in the way");
}

#[test]
#[ignore = "needs Chromium"]
fn items_of_a_list_that_listens_are_listed_and_a_page_that_listens_is_not() {
    let (mut browser, _place) = show(
        r#"<ul id=sorted><li>one<li>two</ul><ul id=menu><li><a href="/a">three</a></ul><table id=mails><tr><td>four</table><ol><li>five</ol>
        <label>Birthday <input type=date></label><label>Alarm <input type=time></label><label>Ink <input type=color></label>
        <script>for (const one of [document, document.documentElement, document.body, sorted, menu, mails]) one.addEventListener("mousedown", () => 0)</script>"#,
    );
    let expected = [
        r#"list "one two""#,
        r#"listitem "one""#,
        r#"listitem "two""#,
        r#"list "three""#,
        r#"link "three""#,
        r#"clickable "four""#,
        r#"clickable "four""#,
        r#"date "Birthday""#,
        r#"time "Alarm""#,
        r#"color "Ink""#,
    ];
    assert_eq!(read(&list(&mut browser, Scope::Viewport)), expected);
}

#[test]
#[ignore = "needs Chromium"]
fn a_shortened_name_is_marked() {
    let (mut browser, _place) = show(&format!(
        "<button>{}</button><button>{}</button><button>{} and pay</button><button>{}</button>",
        "a".repeat(120),
        "🙂".repeat(120),
        "Continue ".repeat(20),
        "🙂".repeat(121),
    ));
    let names: Vec<String> = list(&mut browser, Scope::Page).into_iter().map(|one| one.name).collect();
    assert_eq!(names[..2], ["a".repeat(120), "🙂".repeat(120)]);
    let cut = ["Continue ".repeat(20).chars().take(119).collect(), "🙂".repeat(119)].map(|name: String| name + "…");
    assert_eq!(names[2..], cut);
}
