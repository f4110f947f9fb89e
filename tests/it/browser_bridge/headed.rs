//! A window that a person uses at the same time: on its own display (Xvfb), with real mouse and keys (xdotool).

use super::{Player, faults, serve_with};
use crate::display::Display;
use crate::process::{command, eventually};
use serde_json::{Value, json};
use std::process::Command;

/// A person's mouse and keys.
fn person(display: &Display, arguments: &[&str]) {
    let mut xdotool = Command::new("xdotool");
    let done =
        xdotool.args(arguments).env("DISPLAY", &display.name).status().expect("xdotool: scripts/test installs it");
    assert!(done.success(), "{arguments:?}");
}

fn bridge(display: &Display, arguments: &[&str]) -> Player {
    Player::of(command("browser-bridge").args(arguments).env("DISPLAY", &display.name))
}

fn site() -> String {
    let page = |head: &str, body: &str| {
        let body = format!("<!doctype html>{body}");
        Some(format!("HTTP/1.1 {head}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    };
    serve_with(move |path| match path {
        "/" => page(
            "200 OK",
            "<title>Log in</title><form action=/session><label>Name <input name=name></label>
            <label>Password <input type=password name=password></label><button>Log in</button></form>",
        ),
        "/session?name=ada&password=Secret-7" => page("302 Found\r\nLocation: /account\r\nSet-Cookie: user=ada", ""),
        "/account" => page(
            "200 OK",
            "<title>Account</title><h1></h1><a href=/orders>Orders</a>
            <script>document.querySelector('h1').textContent = document.cookie</script>",
        ),
        "/orders" => page("200 OK", "<title>Orders</title><p>2 orders"),
        _ => None,
    })
}

/// The position on the display of the middle of the element with this name.
fn place(player: &mut Player, name: &str) -> [String; 2] {
    let offset = "[screenX + (outerWidth - innerWidth) / 2, screenY + outerHeight - innerHeight]";
    let offset = player.ok("browser_evaluate", json!({"script": offset}))["value"].clone();
    let list = player.ok("browser_list_interactives", json!({"view": "full"}));
    let items = list["items"].as_array().unwrap();
    let bbox = &items.iter().find(|item| item["name"] == name).unwrap()["bbox"];
    let number = |value: &Value| value.as_f64().unwrap();
    let middle =
        |at: usize, side: &str, extent: &str| number(&offset[at]) + number(&bbox[side]) + number(&bbox[extent]) / 2.0;
    [middle(0, "x", "width"), middle(1, "y", "height")].map(|place| format!("{place:.0}"))
}

#[test]
#[ignore = "needs Chromium, Xvfb and xdotool"]
fn a_person_logs_in_by_hand_and_the_agent_continues() {
    let display = Display::start();
    let mut agent = bridge(&display, &["--headed", "--allow-evaluate", &site()]);
    let [x, y] = place(&mut agent, "Name");
    person(&display, &["mousemove", &x, &y, "click", "1"]);
    eventually("the field has the focus", || {
        let focus = json!({"script": "document.hasFocus() && document.activeElement.name"});
        agent.ok("browser_evaluate", focus)["value"] == "name"
    });
    person(&display, &["type", "--delay", "20", "ada"]);
    person(&display, &["key", "Tab"]);
    person(&display, &["type", "--delay", "20", "Secret-7"]);
    person(&display, &["key", "Return"]);
    agent.ok("browser_wait", json!({"text": "user=ada", "timeout_ms": 10_000}));
    assert_eq!(agent.click("Orders")["title"], "Orders");
}

#[test]
#[ignore = "needs Chromium, Xvfb and xdotool"]
fn a_window_is_shown_if_there_is_a_display() {
    let display = Display::start();
    let is_headless = |player: &mut Player| {
        player.ok("browser_tabs", json!({}));
        faults::below(player.talk.pid().as_raw()).iter().any(|(_, arguments)| arguments.contains("--headless"))
    };
    assert!(!is_headless(&mut bridge(&display, &[])));
    assert!(is_headless(&mut bridge(&display, &["--headless"])));
    let mut without = command("browser-bridge");
    without.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    assert!(is_headless(&mut Player::of(&mut without)));
}

#[test]
#[ignore = "needs Chromium, Xvfb and xdotool"]
fn a_window_has_room_for_the_complete_viewport() {
    let display = Display::start();
    let page = "<button style='position:fixed;left:0;bottom:0' onclick='document.title=1'>Last</button>";
    let site =
        serve_with(move |_| Some(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!doctype html>{page}")));
    let mut agent = bridge(&display, &["--headed", "--viewport", "800x600", &site]);
    agent.ok("browser_tabs", json!({}));
    let mut xdotool = Command::new("xdotool");
    xdotool.args(["search", "--onlyvisible", "--class", "chromium", "getwindowgeometry", "--shell"]);
    let printed = xdotool.env("DISPLAY", &display.name).output().unwrap().stdout;
    let printed = String::from_utf8(printed).unwrap();
    let number = |name: &str| -> u32 {
        printed.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap().parse().unwrap()
    };
    let [x, y] = [number("X") + 10, number("Y") + number("HEIGHT") - 10].map(|place| place.to_string());
    // The window may still show what was before the page.
    eventually("the page has the click", || {
        person(&display, &["mousemove", &x, &y, "click", "1"]);
        agent.ok("browser_tabs", json!({}))["tabs"][0]["title"] == "1"
    });
}
