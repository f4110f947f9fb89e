//! A click in a real Chromium presses the intended element, or nothing.

use crate::{evaluate, number, serve, soon};
use pipewright_browser::{AddressRules, Browser, InputRefusal, Launch, MousePlace, Ready};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A browser that shows this page. `log` of the page records what its frames post.
fn show(page: &str) -> Browser {
    let script = "<script>window.log = []; onmessage = (event) => log.push(event.data)</script>";
    let port = serve(format!("{script}{page}"));
    let allowed = AddressRules::default().origin("127.0.0.1").unwrap().origin("localhost").unwrap();
    let mut browser = Browser::start(&Launch { allowed, ..Launch::default() }).unwrap();
    browser.navigate(&format!("http://127.0.0.1:{port}/"), Ready::Quiet(Duration::from_millis(200)), soon()).unwrap();
    browser
}

/// The pressed elements. Another process may still be handling the click.
fn pressed(browser: &mut Browser) -> Value {
    let enough = soon();
    while evaluate(browser, "log.length") == 0 && Instant::now() < enough {
        std::thread::sleep(Duration::from_millis(20));
    }
    evaluate(browser, "log.splice(0)")
}

/// Buttons b1 to b64, in rows of 8.
const GRID: &str = r#"<body style="margin:0"><script>
    for (let i = 0; i < 64; i += 1) document.body.insertAdjacentHTML("beforeend", `<button onclick="parent.postMessage('b${i + 1}', '*')"
        style="position:absolute;left:${i % 8 * 60}px;top:${(i >> 3) * 30}px;width:58px;height:28px">b${i + 1}</button>`);
    </script>"#;

#[test]
#[ignore = "needs Chromium"]
fn the_intended_button_is_pressed_in_a_scaled_rotated_or_zoomed_frame() {
    let grid = serve(GRID.to_owned());
    let pane = "<p style='height:900px'></p><div style='width:900px;height:150px;overflow:auto;zoom:1.2'>";
    let frames = [
        ("", "border:20px solid;padding:30px"),
        ("", "transform:scale(.9);transform-origin:0 0"),
        ("", "zoom:.8"),
        ("", "zoom:1.25;border:3px solid"),
        ("", "zoom:1.25;transform:scale(.7) rotate(100deg)"),
        ("", "transform:rotate(4deg)"),
        ("", "transform:rotate(10deg)"),
        ("", "transform:perspective(300px) rotateY(20deg)"),
        ("<div style='zoom:.8'>", "zoom:.8"),
        ("<div style='transform:scale(.9);transform-origin:0 0'>", "transform:rotate(4deg)"),
        (pane, "border:20px solid;padding:30px"),
        (pane, "zoom:1.25;border:3px solid"),
    ];
    let mut browser = show("");
    for host in ["localhost", "127.0.0.1"] {
        for (around, own) in frames {
            let frame =
                format!("{around}<iframe src='http://{host}:{grid}/' width=600 height=300 style='{own}'></iframe>");
            let page = serve(format!("<script>log = []; onmessage = (event) => log.push(event.data)</script>{frame}"));
            let quiet = Ready::Quiet(Duration::from_millis(100));
            browser.navigate(&format!("http://127.0.0.1:{page}/"), quiet, soon()).unwrap();
            for name in ["b30", "b60"] {
                let index = number(&mut browser, name);
                match browser.click(index, soon()) {
                    Ok(()) => assert_eq!(pressed(&mut browser), json!([name]), "{frame}"),
                    // No affine map fits its position.
                    Err(InputRefusal::Unseen | InputRefusal::Covered(_)) if own.contains("perspective") => {}
                    Err(refusal) => panic!("{frame} {name}: {refusal}"),
                }
            }
        }
    }
}

#[test]
#[ignore = "needs Chromium"]
fn an_element_in_a_zoomed_part_of_the_page_is_pressed() {
    let mut browser = show(
        r#"<div style="zoom:1.5"><button>near</button><button style="zoom:.5" onclick="log.push('small')">small</button>
        <button onclick="log.push('large')" style="zoom:2">large</button></div>"#,
    );
    for name in ["small", "large"] {
        let index = number(&mut browser, name);
        browser.click(index, soon()).unwrap();
        assert_eq!(pressed(&mut browser), json!([name]));
    }
}

#[test]
#[ignore = "needs Chromium"]
fn an_element_revealed_by_hovering_is_not_pressed_in_a_frame_of_another_site() {
    let frame = serve(
        r#"<style>button { position: absolute; left: 0; top: 0; width: 200px; height: 60px }</style>
        <button onmouseenter="p.style.display = 'block'" onclick="parent.postMessage('Cancel', '*')">Cancel</button>
        <button id=p style="display:none;width:300px" onclick="parent.postMessage('Pay', '*')">Pay</button>"#
            .to_owned(),
    );
    let mut browser = show(&format!("<iframe src='http://localhost:{frame}/' width=600 height=300></iframe>"));
    let cancel = number(&mut browser, "Cancel");
    let refused = browser.click(cancel, soon()).unwrap_err().to_string();
    assert_eq!(refused, "button#p \"Pay\" is in the way");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(evaluate(&mut browser, "log"), json!([]));
}

#[test]
#[ignore = "needs Chromium"]
fn a_field_that_reaches_beyond_its_label_is_pressed_at_the_label() {
    let (mut browser, _place) = crate::show_notes(
        r#"<table><tr onclick="note(event.target.closest('td').cellIndex)"><td style="padding:1px"><label onclick="event.stopPropagation()"><span style="clip-path:inset(50%);clip:rect(0 0 0 0);height:1px;width:1px;
        margin:-1px;overflow:hidden;position:absolute"><input type=checkbox aria-label=Pick onchange="note(checked)"></span><span>Pick</span></label><td>Row</table>"#,
    );
    let pick = number(&mut browser, "Pick");
    browser.click(pick, soon()).unwrap();
    assert_eq!(pressed(&mut browser), json!([true]));
}

#[test]
#[ignore = "needs Chromium"]
fn a_click_on_a_container_does_not_press_a_control_in_it() {
    let mut browser = show(
        r##"<style>table { width: 600px } td { text-align: center } .all { display: block; width: 100%; height: 40px }</style>
        <table><tr aria-label=row onclick="log.push('row')"><td>Invoice 7<td><button aria-label="Pay now" onclick="log.push('pay')">€</button><td>Details</table>
        <div role=group aria-label=full style="width:200px;position:relative" onclick="log.push('full')">Lamp<button class=all id=buy style="position:absolute;inset:0" onclick="log.push('buy')">Buy</button></div>
        <div role=group aria-label=heard style="width:200px" onclick="log.push('heard')"><div class=all id=trap>Trap</div><p style="margin:0">Title</p></div>
        <button aria-label=icon onclick="log.push('icon')"><span class=all onclick="0"><svg width=20 height=20><rect width=20 height=20 /></svg></span></button>
        <a aria-label=picture href="#there" onclick="log.push('picture')"><img class=all alt=""></a>
        <label for=box style="display:block;width:300px;text-align:center">I <button onclick="log.push('terms')">read all of the terms</button> ok
        <input id=box type=checkbox style="position:absolute;opacity:0;pointer-events:none" aria-label=agree onchange="log.push('agree')"></label>
        <label onclick="1">own <input type=checkbox aria-label=own onchange="log.push('own')"></label>
        <script>trap.addEventListener("click", (event) => { event.stopPropagation(); log.push("trap") })</script>"##,
    );
    for name in ["row", "heard", "icon", "picture", "agree", "own"] {
        let index = number(&mut browser, name);
        browser.click(index, soon()).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        assert_eq!(pressed(&mut browser), json!([name]));
    }
    let full = number(&mut browser, "full");
    let refused = browser.click(full, soon()).unwrap_err().to_string();
    assert_eq!(refused, "button#buy \"Buy\" (number 4) is in the way");
    assert_eq!(evaluate(&mut browser, "log"), json!([]));
    let pile = browser.hover(MousePlace::Element(full), soon());
    assert!(pile.is_ok(), "nothing is pressed: {pile:?}");
}

#[test]
#[ignore = "needs Chromium"]
fn what_goes_when_it_is_scrolled_to_or_pointed_at_is_said_to_have_gone() {
    let mut browser = show(
        r#"<button id=layers style="display:block">Layers</button><div id=table style="height:50px;overflow:auto"><div style="height:900px"></div><button>Row</button></div>
        <script>layers.onmouseenter = () => { layers.style.display = "none" };
        table.onscroll = () => { table.innerHTML = "<button>Row</button>" }</script>"#,
    );
    let row = number(&mut browser, "Row");
    assert!(matches!(browser.click(row, soon()), Err(InputRefusal::Stale)));
    let layers = number(&mut browser, "Layers");
    let hidden = browser.click(layers, soon()).unwrap_err().to_string();
    assert!(hidden.contains("hides while the mouse is over it"), "{hidden}");
}
