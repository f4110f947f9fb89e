//! What a click presses in a real Chromium: the element that was meant, or nothing.
#![allow(clippy::unwrap_used, clippy::panic)]

use pipewright_browser::{Allowed, Browser, Launch, Ready, Refusal, Scope};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Answers every request on a port with this page; gives the port.
fn serve(page: String) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, page) = (stream.unwrap(), page.clone());
            // The browser also opens connections that it does not use.
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n";
                let _ = stream.write_all(format!("{head}<!doctype html>{page}").as_bytes());
            });
        }
    });
    port
}

/// A browser that shows this page; `log` of the page takes what its frames post.
fn show(page: &str) -> Browser {
    let script = "<script>window.log = []; onmessage = (event) => log.push(event.data)</script>";
    let port = serve(format!("{script}{page}"));
    let allowed = Allowed::default().origin("127.0.0.1").unwrap().origin("localhost").unwrap();
    let mut browser = Browser::start(&Launch { allowed, ..Launch::default() }).unwrap();
    browser.navigate(&format!("http://127.0.0.1:{port}/"), Ready::Quiet(Duration::from_millis(200)), soon()).unwrap();
    browser
}

/// The number of the element with this name.
fn number(browser: &mut Browser, name: &str) -> u32 {
    let elements = browser.elements(Scope::Page, soon()).unwrap().items;
    let found = elements.iter().find(|element| element.name == name);
    found.unwrap_or_else(|| panic!("{name}: {elements:?}")).index
}

fn evaluate(browser: &mut Browser, expression: &str) -> Value {
    let asked = json!({"expression": expression, "returnByValue": true});
    let value: Value = browser.call_page("Runtime.evaluate", &asked, soon()).unwrap();
    value["result"]["value"].clone()
}

/// What was pressed: another process may still handle the click.
fn pressed(browser: &mut Browser) -> Value {
    let enough = Instant::now() + Duration::from_secs(2);
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
fn the_button_meant_is_pressed_in_a_frame_that_is_scaled_rotated_or_zoomed() {
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
                    // No affine map gives where it is.
                    Err(Refusal::Unseen | Refusal::Covered(_)) if own.contains("perspective") => {}
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
fn what_hovering_brings_up_is_not_pressed_in_a_frame_of_another_site_either() {
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
