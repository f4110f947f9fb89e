//! A browser that stays open between calls from a shell.

use super::Home;
use crate::browser_bridge::serve;
use crate::process::is_running;

const PAGES: &[(&str, &str)] = &[
    (
        "/",
        "<!doctype html><title>Shop</title><input type=search aria-label=Search><a href=/cart>Cart</a>
        <button onclick=\"document.title = document.querySelector('input').value\">Show</button>",
    ),
    ("/cart", "<!doctype html><title>Cart</title><button>Pay</button>"),
];

#[test]
#[ignore = "needs Chromium"]
fn a_session_keeps_its_page_between_calls_and_ends_its_browser() {
    let home = Home::new();
    let url = serve(PAGES);
    let started = home.run(&["--start", "shop", "--detach", "--", "browser-bridge", "--headless", &url]);
    assert_eq!(started.status, Some(0), "{started:?}");
    let pid = home.pid();

    let list = home.call(&["browser_list_interactives"]).record();
    assert_eq!(list["result"]["items"][1], "2 link Cart", "{list}");
    let typed = home.call(&["browser_overlay_act", "index=1", "action=type", "text=Kessel 茶壺"]).record();
    assert_eq!(typed["result"]["textLen"], 9, "{typed}");
    assert_eq!(home.call(&["browser_overlay_act", "index=3"]).record()["result"]["title"], "Kessel 茶壺");
    assert_eq!(home.call(&["browser_overlay_act", "index=2"]).record()["result"]["title"], "Cart");
    let text = home.call(&["browser_list_interactives", "--text"]);
    assert!(text.stdout.contains("4 button Pay"), "{text:?}");

    let stale = home.call(&["browser_overlay_act", "index=9"]);
    assert_eq!((stale.status, stale.record()["kind"].as_str()), (Some(1), Some("not_found")), "{stale:?}");
    assert!(stale.stderr.starts_with("tool-call: "), "{stale:?}");
    let wrong = home.call(&["browser_overlay_act", "number=2"]);
    assert!(wrong.status == Some(1) && wrong.stderr.contains("number"), "{wrong:?}");
    let unknown = home.call(&["browser_clik"]);
    assert!(unknown.status != Some(0) && unknown.stderr.contains("browser_clik"), "{unknown:?}");

    let tools = home.call(&["--list"]);
    assert!(tools.stdout.contains("browser_overlay_act") && tools.stdout.contains("index="), "{tools:?}");
    assert_eq!(home.run(&["--stop", "shop"]).status, Some(0));
    assert!(!is_running(pid));
}
