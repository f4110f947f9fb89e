//! Hovering and dragging in a real Chromium.

use crate::{evaluate, number, show_notes, soon};
use pipewright_browser::{DragEnd, InputRefusal, MousePlace, Scope};
use serde_json::json;

#[test]
#[ignore = "needs Chromium"]
fn the_mouse_stays_over_the_hovered_element() {
    let (mut browser, _place) = show_notes(
        r#"<style>nav div { display: none } nav:hover div { display: block }</style><div style="height:2000px"></div>
        <nav><button>menu</button><div><button onclick="note('entry')">entry</button></div></nav>
        <div style="position:relative;width:200px"><button>under</button><div style="position:absolute;inset:0">over</div></div>"#,
    );
    let menu = number(&mut browser, "menu");
    browser.hover(MousePlace::Element(menu), soon()).unwrap();
    let entry = number(&mut browser, "entry");
    browser.click(entry, soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "log"), json!(["entry"]));
    let under = number(&mut browser, "under");
    assert!(matches!(browser.hover(MousePlace::Element(under), soon()), Err(InputRefusal::Covered(_))));
}

#[test]
#[ignore = "needs Chromium"]
fn the_mouse_leaves_a_place_before_it_reaches_another() {
    // As jQuery UI's autocomplete does it: what has opened under the mouse counts from the next move on.
    let (mut browser, _place) = show_notes(
        r#"<button>place</button><div style="height:40px"></div><ul id=list hidden style="position:absolute;top:0;left:0;margin:0;padding:0;width:300px">
        <li tabindex=0 style="height:40px">first<li tabindex=0 style="height:40px">second</ul><script>
        let chosen = null, missed = null;
        document.querySelector('button').onclick = () => { list.hidden = false; };
        for (const item of list.children) {
            item.onmouseenter = () => { if (missed) chosen = item; else missed = item; };
            item.onclick = () => note(chosen.textContent);
        }
        document.addEventListener('mousemove', () => { if (missed?.parentElement && !missed.seen) { chosen = missed; missed.seen = true; } });
        </script>"#,
    );
    let place = number(&mut browser, "place");
    browser.click(place, soon()).unwrap();
    while evaluate(&mut browser, "Boolean(missed)") != true {}
    let second = number(&mut browser, "second");
    browser.click(second, soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "log"), json!(["second"]));
}

#[test]
#[ignore = "needs Chromium"]
fn html_drag_and_drop_works_even_far_below() {
    let (mut browser, _place) = show_notes(
        r#"<div draggable=true tabindex=0 role=button aria-label=card ondragstart="event.dataTransfer.setData('text/plain', 'ace')"
            ondragend="note('end ' + event.dataTransfer.dropEffect)">card</div><div style="height:2000px"></div>
        <div tabindex=0 role=button aria-label=pile style="height:60px" ondragover="event.preventDefault()"
            ondrop="event.preventDefault(); note('drop ' + event.dataTransfer.getData('text/plain') + ' ' + event.isTrusted)">pile</div>"#,
    );
    let (card, pile) = (number(&mut browser, "card"), number(&mut browser, "pile"));
    browser.drag(MousePlace::Element(card), DragEnd::Element(pile), soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "log"), json!(["drop ace true", "end copy"]));
    browser.drag(MousePlace::Element(card), DragEnd::Element(pile), soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "log.length"), 4, "a second one works as well");
}

#[test]
#[ignore = "needs Chromium"]
fn a_list_whose_script_follows_the_mouse_is_sorted() {
    // As scripted widgets do it: with a threshold, moves watched on the document, and a gap that opens on the way.
    let (mut browser, _place) = show_notes(
        r#"<ul id=list style="margin:0;padding:0;width:200px"></ul><button>far</button><script>
        for (const name of ['one', 'two', 'three', 'four']) list.insertAdjacentHTML('beforeend', `<li tabindex=0 role=option aria-label=${name} style="height:40px">${name}</li>`);
        let held = null, from = null, moves = 0;
        list.onpointerdown = (event) => { held = event.target.closest('li'); from = event; held.setPointerCapture(event.pointerId); };
        document.onpointermove = (event) => {
            if (!held || !event.buttons || Math.hypot(event.x - from.x, event.y - from.y) < 5) return;
            moves += 1;
            for (const other of list.children) {
                const box = other.getBoundingClientRect();
                if (other === held || event.y < box.top || event.y > box.bottom) continue;
                const isDown = held.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
                if (isDown) other.after(held); else other.before(held);
            }
        };
        document.onpointerup = () => { if (held) note([...list.children].map((item) => item.textContent).join(' ')); held = null; };
        </script>"#,
    );
    let [one, three, four] = ["one", "three", "four"].map(|name| number(&mut browser, name));
    browser.drag(MousePlace::Element(one), DragEnd::Element(three), soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "log.pop()"), "two three one four");
    browser.drag(MousePlace::Element(four), DragEnd::Element(three), soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "log.pop()"), "two four three one");
    assert!(evaluate(&mut browser, "moves").as_u64().unwrap() >= 8);
    let far = number(&mut browser, "far");
    evaluate(&mut browser, "document.querySelector('button').remove()");
    assert!(matches!(browser.drag(MousePlace::Element(one), DragEnd::Element(far), soon()), Err(InputRefusal::Stale)));
    assert_eq!(evaluate(&mut browser, "log"), json!([]), "nothing was pressed");
}

#[test]
#[ignore = "needs Chromium"]
fn a_list_that_takes_no_move_for_a_while_after_each_change_is_sorted_by_its_handles() {
    // The handles take no pointer, so that the items around them are dragged.
    let (mut browser, _place) = show_notes(
        r#"<style>li { height: 40px } button { pointer-events: none }</style><ul id=list style="width:200px"></ul><script>
        for (const name of ['one', 'two', 'three', 'four']) list.insertAdjacentHTML('beforeend', `<li draggable=true><button>${name}</button></li>`);
        let held = null, rests = 0;
        list.ondragstart = (event) => { held = event.target; event.dataTransfer.setData('text/plain', 'x'); };
        list.ondragover = (event) => {
            event.preventDefault();
            const other = event.target.closest('li');
            if (!other || other === held || performance.now() < rests) return;
            rests = performance.now() + 30;
            if (held.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) other.after(held); else other.before(held);
        };
        list.ondrop = () => note([...list.children].map((item) => item.textContent).join(' '));
        </script>"#,
    );
    let [one, four] = ["one", "four"].map(|name| number(&mut browser, name));
    browser.drag(MousePlace::Element(one), DragEnd::Element(four), soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "log.pop()"), "two three four one");
}

#[test]
#[ignore = "needs Chromium"]
fn a_click_waits_for_changes_under_the_mouse_and_finds_a_free_part() {
    let (mut browser, _place) = show_notes(
        r#"<button onclick="note('clicked')">shy</button><div style="position:relative;width:200px;height:40px">
        <button onclick="note('part')" style="position:absolute;left:0;width:200px;height:40px">half</button>
        <div style="position:absolute;left:60px;width:140px;height:40px;background:red"></div></div>
        <script>const shy = document.querySelector("button");
        shy.addEventListener("mouseenter", () => {
            shy.style.visibility = "hidden"; setTimeout(() => shy.style.visibility = "", 150);
        }, {once: true})</script>"#,
    );
    let shy = number(&mut browser, "shy");
    browser.click(shy, soon()).unwrap();
    let elements = browser.elements(Scope::Page, soon()).unwrap().items;
    let half = elements.iter().find(|element| element.name == "half").unwrap();
    assert!(half.marks.is_empty(), "{half:?}");
    browser.click(half.index, soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "log"), json!(["clicked", "part"]));
}

#[test]
#[ignore = "needs Chromium"]
fn a_drag_ends_beyond_the_middle_of_its_target() {
    let (mut browser, _place) = show_notes(
        r#"<style>div { height: 40px }</style><div role=button tabindex=0>one</div><div role=button tabindex=0 id=two>two</div>
        <div role=button tabindex=0>three</div><script>document.addEventListener("mouseup", (event) => {
            const box = two.getBoundingClientRect();
            const middle = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
            note([Math.sign(Math.round(event.clientX - middle[0])), Math.sign(Math.round(event.clientY - middle[1]))]);
        })</script>"#,
    );
    let two = number(&mut browser, "two");
    for name in ["one", "three"] {
        let from = number(&mut browser, name);
        browser.drag(MousePlace::Element(from), DragEnd::Element(two), soon()).unwrap();
    }
    assert_eq!(evaluate(&mut browser, "log"), json!([[0, 1], [0, -1]]));
}
