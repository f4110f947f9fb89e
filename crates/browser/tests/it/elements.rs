//! The elements of pages in a real Chromium.

use crate::{serve, show, soon};
use pipewright_browser::{AddressRules, Browser, Element, InputRefusal, Launch, MousePlace, Ready, Scope};
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
    assert_eq!(all.items.len(), 7);
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
    assert!(matches!(browser.click(1, soon()), Err(InputRefusal::Stale)), "it was removed");
    browser.click(2, soon()).unwrap();
    assert!(matches!(browser.click(9, soon()), Err(InputRefusal::Stale)));
    browser.navigate("about:blank", Ready::Parsed, soon()).unwrap();
    assert!(matches!(browser.click(2, soon()), Err(InputRefusal::Stale)), "its document has gone");
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
    let allowed = AddressRules::default().origin("127.0.0.1").unwrap().origin("localhost").unwrap();
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
        r#"listitem "one""#,
        r#"listitem "two""#,
        r#"link "three""#,
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

#[test]
#[ignore = "needs Chromium"]
fn a_transparent_control_is_listed_by_what_a_person_sees_and_pressed_there() {
    let (mut browser, _place) = show(
        r#"<style>.box { position: relative; width: 160px; height: 30px } .box > * { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0 }</style>
        <div class=box>Upload photo<input type=file></div><div class=box>Any size<select><option>Any<option>Small</select></div>
        <div class=box>Remember<input type=checkbox onchange="document.title = 'remembered'"></div>
        <div onmousedown="document.title = 'opened'" style="width:200px;padding:9px"><span>Apple</span><input role=combobox aria-label=Fruit
            style="opacity:0;width:1px;position:relative;left:-100px;transform:scale(.01)"></div>
        <div><div role=combobox tabindex=0 aria-label=Age>Ten</div><input value=10 aria-hidden=true tabindex=-1 style="opacity:0;pointer-events:none"></div>
        <input style="opacity:0;position:fixed;left:-9px;width:1px;height:1px" aria-hidden=true>"#,
    );
    let listed = list(&mut browser, Scope::Page);
    let expected = [
        r#"button "Upload photo""#,
        r#"combobox "Any size""#,
        r#"checkbox "Remember""#,
        r#"combobox "Fruit""#,
        r#"combobox "Age""#,
    ];
    assert_eq!(read(&listed), expected);
    let values: Vec<Option<&str>> = listed.iter().map(|one| one.value.as_deref()).collect();
    assert_eq!(values, [None, Some("Any"), None, Some("Apple"), Some("Ten")]);
    for (number, title) in [(2, "remembered"), (3, "opened")] {
        browser.click(listed[number].index, soon()).unwrap();
        assert_eq!(crate::evaluate(&mut browser, "document.title"), title);
    }
}

#[test]
#[ignore = "needs Chromium"]
fn what_a_page_hears_elsewhere_is_listed_if_the_pointer_is_a_hand() {
    let (mut browser, _place) = show(
        r#"<style>.row, .day { cursor: pointer }</style><div id=list><div class=row><b>Ada</b> Invoice 7</div><div class=row><b>Bob</b> Lunch</div></div>
        <div id=days><span class=day>1</span><span class=day>2</span></div><label class=row><input type=checkbox> Agree</label>
        <button class=row><i class=row>Save</i></button><div class=row>Card <button>Delete</button></div>
        <script>for (const one of [list, days]) one.addEventListener("click", (event) => { document.title = event.target.textContent })</script>"#,
    );
    let listed = list(&mut browser, Scope::Page);
    let expected = [
        r#"clickable "Ada Invoice 7""#,
        r#"clickable "Bob Lunch""#,
        r#"clickable "1""#,
        r#"clickable "2""#,
        r#"checkbox "Agree""#,
        r#"button "Save""#,
        r#"clickable "Card Delete""#,
        r#"button "Delete""#,
    ];
    assert_eq!(read(&listed), expected);
    browser.click(listed[3].index, soon()).unwrap();
    assert_eq!(crate::evaluate(&mut browser, "document.title"), "2");
}

#[test]
#[ignore = "needs Chromium"]
fn what_only_the_mouse_pointer_shows_and_parts_of_pictures_are_listed() {
    let (mut browser, _place) = show(
        r##"<style>.menu { display: none } li:hover > .menu { display: block } .row { width: 300px; height: 20px } .row .x { visibility: hidden }
            .row { &:hover .x { visibility: visible } } .card:hover .glow { opacity: 1 } .glow { opacity: 0 }</style>
        <ul><li>Products<ul class=menu><li><a href="#a">Laptops</a></ul><li>About</ul><div class=row>Mail <button class=x>Delete</button></div>
        <p class=card>Plain<span class=glow></span></p><div id=tip>More</div>
        <svg width=100 height=50><g id=map><path id=North d="M0 0h20v20h-20z"/><path data-name=South d="M0 25h20v20h-20z"/><path d="M50 0h9v9h-9z"/><text id=x1 x=60 y=20><tspan>East</tspan></text></g></svg>
        <img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>" width=200 height=50 usemap="#m" style="display:block"><map name=m>
        <area shape=rect coords="0,0,100,50" href="#left" alt=Left><area shape=circle coords="150,25,20" href="#right" alt=Right></map>
        <div role=button tabindex=0 aria-label=Tag style="width:90px">Tag <svg id=x style="cursor:pointer" width=9 height=9><path d="M0 0h9v9h-9z"/></svg></div>
        <script>map.onclick = (event) => { document.title = event.target.id }; tip.onmouseenter = () => 0; x.addEventListener("click", () => { document.title = "removed" })</script>"##,
    );
    let listed = list(&mut browser, Scope::Page);
    let expected = [
        r#"listitem "Products" hover"#,
        r#"clickable "Mail" hover"#,
        r#"clickable "More" hover"#,
        r#"graphics-symbol "North""#,
        r#"graphics-symbol "South""#,
        r#"clickable "East""#,
        r#"link "Left""#,
        r#"link "Right""#,
        r#"button "Tag""#,
        r#"image "x""#,
    ];
    assert_eq!(read(&listed), expected);
    browser.hover(MousePlace::Element(listed[0].index), soon()).unwrap();
    assert!(list(&mut browser, Scope::Page).iter().any(|one| one.name == "Laptops"));
    for (number, told, expected) in [
        (3, "document.title", "North"),
        (6, "location.hash", "#left"),
        (7, "location.hash", "#right"),
        (9, "document.title", "removed"),
    ] {
        browser.click(listed[number].index, soon()).unwrap();
        assert_eq!(crate::evaluate(&mut browser, told), expected);
    }
}

#[test]
#[ignore = "needs Chromium"]
fn nothing_is_listed_twice() {
    let (mut browser, _place) = show(
        r##"<div id=root><h1>Shop</h1><div role=tablist id=tabs><div role=tab><a role=presentation href="javascript:void 0" tabindex=-1>First</a></div><div role=tab>Second</div></div>
        <div role=combobox id=outer><input role=combobox aria-label=City></div><label onclick="1">Name <input></label>
        <div role=listbox tabindex=0><div role=option>Red</div><div role=option>Blue</div></div>
        <div style="height:0;overflow:hidden"><div role=listbox><div role=option>Red</div></div></div>
        <form style="cursor:pointer"><input name=matches hidden><input name=querySelector hidden><p>Text</p></form>
        <span onclick="1"><span onclick="1">Once</span></span><div tabindex=0><button>Go</button></div></div>
        <script>for (const one of [root, tabs, outer, ...document.querySelectorAll("[role=presentation]")]) one.addEventListener("click", () => 0)</script>"##,
    );
    let expected = [
        r#"tab "First""#,
        r#"tab "Second""#,
        r#"combobox "City""#,
        r#"textbox "Name""#,
        r#"option "Red""#,
        r#"option "Blue""#,
        r#"clickable "Once""#,
        r#"button "Go""#,
    ];
    assert_eq!(read(&list(&mut browser, Scope::Page)), expected);
}

#[test]
#[ignore = "needs Chromium"]
fn the_body_of_a_control_and_its_label_are_not_listed_beside_it() {
    let (mut browser, _place) = show(
        r#"<x-radio role=radio tabindex=0>One</x-radio>
        <div role=tab style="position:relative;width:200px;height:40px">Tab <i style="cursor:pointer;position:absolute;right:0;width:20px;height:20px"></i></div>
        <div style="position:relative;width:60px;height:30px"><input type=checkbox role=switch aria-label=Wifi style="opacity:0;position:absolute;inset:0;width:100%;height:100%;margin:0;z-index:1">
        <span style="cursor:pointer;position:absolute;inset:0">Off</span></div><x-select></x-select>
        <div style="position:relative;width:60px;height:30px"><input type=checkbox aria-label=Below style="opacity:0;position:absolute;inset:0;width:100%;height:100%;margin:0">
        <span style="cursor:pointer;position:absolute;inset:0">Above</span></div>
        <script>
        const shadow = (name, html) => document.querySelector(name).attachShadow({mode: "open"}).innerHTML = html;
        shadow("x-radio", '<span style="cursor:pointer;display:block"><svg width=10 height=10></svg><slot></slot></span>');
        shadow("x-select", '<label id=label>Size</label><input role=combobox aria-labelledby=label>');
        document.querySelector("x-select").shadowRoot.firstChild.addEventListener("click", () => 0);
        </script>"#,
    );
    let expected = [
        r#"radio "One""#,
        r#"tab "Tab""#,
        r#"clickable """#,
        r#"switch "Wifi""#,
        r#"combobox "Size""#,
        r#"checkbox "Below" covered"#,
        r#"clickable "Above""#,
    ];
    assert_eq!(read(&list(&mut browser, Scope::Page)), expected);
}

#[test]
#[ignore = "needs Chromium"]
fn an_item_keeps_its_number_while_the_pointer_is_over_it() {
    let (mut browser, _place) = show(
        "<style>.day { width: 40px; height: 30px } .day:hover span { cursor: pointer }</style>
        <table><tr><td role=gridcell class=day><span>20</span><td role=gridcell class=day><span>21</span></table>",
    );
    let before = list(&mut browser, Scope::Page);
    browser.hover(MousePlace::Element(before[0].index), soon()).unwrap();
    assert_eq!(list(&mut browser, Scope::Page), before);
}

/// The name, place, value and marks of an item.
fn told(one: &Element) -> String {
    let parts = [Some(one.name.as_str()), one.place.as_deref(), one.value.as_deref()];
    let parts = parts.into_iter().flatten().chain(one.marks.iter().map(String::as_str));
    parts.collect::<Vec<_>>().join(" | ")
}

#[test]
#[ignore = "needs Chromium"]
fn an_element_says_its_state_and_equal_ones_where_they_are() {
    let (mut browser, _place) = show(
        r#"<table><tr><td>Anna<td><button>Edit</button><tr><td>Bob<td><button>Edit</button></table>
        <div><div><h3>Kettle</h3><button>Add</button></div><div><h3>Lamp</h3><button>Add</button></div></div>
        <input aria-label=Mail required value=a@b.c><input aria-label=Key type=password value=s3cret><input aria-label=Code autocomplete=one-time-code value=77>
        <select aria-label=Size><option>Small<option selected>Large</select><button aria-expanded=true>More</button>
        <div contenteditable role=textbox aria-label=Text>Hello</div><input aria-label=Age aria-invalid=true><div role=checkbox tabindex=0 aria-checked=mixed>All</div>
        <a href="/2" aria-current=page>2</a><div role=slider tabindex=0 aria-label=Volume aria-valuenow=30 style="width:20px;height:20px"></div><summary aria-expanded=false tabindex=0 role=button>Part</summary>
        <input aria-label=Day readonly value=Monday><table><tr><th aria-sort=ascending tabindex=0>Price<th aria-sort=descending><button>Age</button></table>"#,
    );
    let expected = [
        r#"Edit | row "Anna""#,
        r#"Edit | row "Bob""#,
        r#"Add | in "Kettle""#,
        r#"Add | in "Lamp""#,
        "Mail | a@b.c | required",
        "Key",
        "Code",
        "Size | Large",
        "More | expanded",
        "Text | Hello",
        "Age | invalid",
        "All | mixed",
        "2 | current",
        "Volume | 30",
        "Part | collapsed",
        "Day | Monday | readonly",
        "Price | ascending",
        "Age | descending",
    ];
    assert_eq!(list(&mut browser, Scope::Page).iter().map(told).collect::<Vec<_>>(), expected);
}

#[test]
#[ignore = "needs Chromium"]
fn drawn_lists_and_rows_without_boxes_say_what_they_show() {
    let (mut browser, _place) = show(
        r#"<div role=separator tabindex=0 aria-label=Width aria-valuenow=40 style="width:9px;height:9px"></div><label for=f>Fruit</label><div role=combobox tabindex=0><div><select id=f
        style="position:absolute;opacity:0;clip-path:inset(50%);width:1px;height:1px"><option>Fig<option>Plum</select><div role=listbox><i role=option>Plum</i><i style="visibility:hidden">Fig</i></div></div><div><div role=listbox></div></div></div>
        <div><p role=row><span style="display:contents">Figs</span><a href="/f">Buy</a><p role=row><span style="display:contents">Plums</span><a href="/p">Buy</a></div>
        <table><tr><td>Eve<td><button></button><button></button><tr><td>Dan<td><button></button><button></button></table>"#,
    );
    let expected = [
        "Width | 40",
        "Fruit | Plum",
        "Plum",
        r#"Buy | row "Figs""#,
        r#"Buy | row "Plums""#,
        r#" | row "Eve""#,
        r#" | row "Eve""#,
        r#" | row "Dan""#,
        r#" | row "Dan""#,
    ];
    assert_eq!(list(&mut browser, Scope::Page).iter().map(told).collect::<Vec<_>>(), expected);
}

#[test]
#[ignore = "needs Chromium"]
fn a_control_without_a_name_says_what_its_picture_is_called_and_equal_ones_as_much_text_as_it_takes() {
    let post = |who: &str, text: &str| {
        format!(
            "<article><b>Ada</b> <i>{who}</i> <span>{text}</span> <button><i class='fa fa-fw fa-reply'></i></button></article>"
        )
    };
    let (mut browser, _place) = show(&format!(
        r##"<style>button {{ width: 30px; height: 30px }} #css {{ background: url(img/mark-as-read.9f3c2d1a.svg) }} #sprite {{ background: url(icons.png) }}</style>
        <button><svg width=9 height=9><use href="#icon-shopping-cart-24"></use></svg></button>
        <button><svg data-testid=DeleteOutlineIcon width=9 height=9></svg></button><button><img src="/a/trash_2x.png?v=3" width=9 height=9></button>
        <button id=css></button><button id=sprite></button><button aria-label=Close><i class="bi bi-x-lg"></i></button>
        <button><i class="bi bi-box-arrow-up">Send</i></button><input class=icon-user>{}{}"##,
        post("@one", "Hi"),
        post("@two", "Ho"),
    ));
    let said = |element: &Element| format!("{} | {}", element.name, element.place.as_deref().unwrap_or_default());
    let expected = [
        r#" | icon "shopping cart""#,
        r#" | icon "delete""#,
        r#" | icon "trash""#,
        r#" | icon "mark as read""#,
        " | ",
        "Close | ",
        "Send | ",
        " | ",
        r#" | icon "reply" in "Ada @one Hi""#,
        r#" | icon "reply" in "Ada @two Ho""#,
    ];
    assert_eq!(list(&mut browser, Scope::Page).iter().map(said).collect::<Vec<_>>(), expected);
}
