//! What pages show, and what they may not do.

use super::{Player, serve, serve_with};
use serde_json::json;

const NEWS: &str = r#"<!doctype html><title>News</title><main><h1>Today</h1><p>Rain in the north, sun in the south.</p></main>
<script>console.warn("low", 7); fetch("/none")</script><div id=menu onmouseover="document.title = 'Menu'" onclick="0" style="width: 99px; height: 40px">Menu</div>
<div id=card draggable=true onclick=0 style="width: 80px; height: 40px">Card</div><div id=box onclick=0 style="width: 80px; height: 80px">Box</div>
<script>box.ondragover = (event) => event.preventDefault(); box.ondrop = () => document.title = "Dropped"</script>"#;

const BANNER: &str = r#"<!doctype html><title>Shop</title><h1>Shop</h1><button>Buy now</button>
<div role=dialog aria-label="Cookie settings" style="position: fixed; bottom: 0; left: 0; right: 0; padding: 2em; background: #eee">
We and our partners use cookies. <button onclick="document.title = 'Accepted'; this.parentNode.remove()">Accept all</button>
<button onclick="document.title = 'Declined'; this.parentNode.remove()">Reject all</button></div>"#;

const PAGES: &[(&str, &str)] = &[("/", NEWS), ("/shop", BANNER)];

#[test]
#[ignore = "needs Chromium"]
fn text_console_and_paper() {
    let folder = tempfile::tempdir().unwrap();
    let mut news = Player::start(&[&serve(PAGES), "--save-media", folder.path().to_str().unwrap()]);
    let summary = news.ok("browser_extract", json!({}));
    assert!(summary["summary"].as_str().unwrap().contains("Rain in the north"), "{summary}");
    assert_eq!((&summary["title"], &summary["stats"]["headings"]), (&"News".into(), &1.into()));
    let piece = news.ok("browser_extract", json!({"mode": "text", "offset": 2, "limit": 5}));
    assert_eq!((&piece["text"], &piece["next_offset"]), (&"Today".into(), &7.into()), "{piece}");
    let console = news.ok("browser_console", json!({}));
    assert_eq!(
        (&console["messages"][0]["level"], &console["messages"][0]["text"]),
        (&"warning".into(), &"low 7".into()),
        "{console}"
    );
    assert_eq!(console["failed_requests"][0]["status"], 404, "{console}");
    assert_eq!(news.ok("browser_console", json!({}))["messages"], json!([]));
    let pdf = news.ok("browser_pdf", json!({}));
    assert!(std::fs::read(pdf["path"].as_str().unwrap()).unwrap().starts_with(b"%PDF"), "{pdf}");
}

#[test]
#[ignore = "needs Chromium"]
fn fields_of_several_lines_and_lists_of_several_options_say_so_and_choices_go_beyond_the_window() {
    let long = "The key is under the third stone. ".repeat(9);
    let page = format!(
        r#"<!doctype html><title>Form</title><p>Read this</p><textarea>{long}</textarea><textarea autocomplete=one-time-code>4711</textarea>
        <select multiple aria-label=Cities><option>Oslo<option>Rome</select><div style="height: 3000px"></div><button>Send</button>"#
    );
    let mut player = Player::start(&[&serve_with(move |_| Some(super::traps::html(&page)))]);
    let text = player.ok("browser_extract", json!({"mode": "text"}))["text"].as_str().unwrap().to_owned();
    assert_eq!(text.trim_end(), format!("Read this\n{}\nSend", long.trim_end()));
    let window = player.ok("browser_list_interactives", json!({}));
    assert_eq!(window["total"], 3, "{window}");
    assert_eq!(window["items"][2], "3 listbox(multiple) Cities");
    let near = player.ok("browser_list_interactives", json!({"choices": true}));
    assert_eq!((&near["total"], &near["items"][3]), (&4.into(), &"4 button(off-screen) Send".into()), "{near}");
    let actions = near["choices"]["actions"].as_array().unwrap();
    assert_eq!(actions[0]["elements"]["button Send"], 4);
    assert_eq!(actions[1]["elements"], json!({"textarea #1": 1, "textarea #2": 2}));
    assert_eq!((&actions[2]["texts"], &actions[2]["several"]), (&json!(["Oslo", "Rome"]), &true.into()));
    for (option, value) in [("Oslo", "Oslo"), ("Rome", "Oslo, Rome")] {
        player.ok("browser_overlay_act", json!({"index": 3, "action": "select", "text": option}));
        let item = player.ok("browser_list_interactives", json!({"refresh": true}))["items"][2].to_string();
        assert!(item.contains(&format!("= \\\"{value}\\\"")), "{item}");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn the_mouse_hovers_and_drags() {
    let mut news = Player::start(&[&serve(PAGES)]);
    let menu = news.number("Menu");
    assert_eq!(news.ok("browser_hover", json!({"index": menu, "settle": "dom"}))["title"], "Menu");
    let (card, target) = (news.number("Card"), news.number("Box"));
    assert_eq!(news.ok("browser_drag", json!({"from": card, "to": target}))["title"], "Dropped");
}

#[test]
#[ignore = "needs Chromium"]
fn only_the_decline_button_of_a_banner_is_pressed() {
    let mut shop = Player::start(&[&format!("{}/shop", serve(PAGES))]);
    let closed = shop.ok("browser_close_banners", json!({"time_budget_ms": 6000}));
    assert_eq!((&closed["closed"], &closed["clicks"].as_array().unwrap().len()), (&1.into(), &1), "{closed}");
    assert_eq!(shop.ok("browser_tabs", json!({}))["tabs"][0]["title"], "Declined");
    let again = shop.ok("browser_close_banners", json!({"return_details": false}));
    assert_eq!((&again["closed"], again.get("clicks")), (&0.into(), None));
}

#[test]
#[ignore = "needs Chromium"]
fn addresses_that_are_not_allowed_are_refused_from_every_source() {
    let private = serve(&[("/", "<title>Private</title>")]);
    let to = private.clone();
    let open = serve_with(move |path| {
        let body = format!(
            "<title>Open</title><a href='{to}/'>Link</a><a href=/redirect>Redirect</a><a href='file:///etc/passwd'>File</a>"
        );
        Some(match path {
            "/redirect" => format!("HTTP/1.1 302 Found\r\nLocation: {to}/\r\nContent-Length: 0\r\n\r\n"),
            _ => format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
        })
    });
    let mut player = Player::start(&[&open]);
    for url in [
        private.as_str(),
        "file:///etc/passwd",
        "chrome://version",
        "http://169.254.169.254/",
        "http://0x7f.1:1/",
        "javascript:alert(1)",
    ] {
        let refused = player.call("browser_navigate", json!({"url": url}));
        assert_eq!(refused["kind"], "denied", "{url}: {refused}");
    }
    for name in ["Link", "Redirect"] {
        let clicked = player.click(name);
        assert_eq!(
            (&clicked["title"], &clicked["refused"][0]["url"]),
            (&"Open".into(), &format!("{private}/").into()),
            "{clicked}"
        );
    }
    let mut allowed = Player::start(&[&open, "--allow-origin", &private]);
    assert_eq!(allowed.click("Link")["title"], "Private");
}

#[test]
#[ignore = "needs Chromium"]
fn logins_are_kept_in_a_file_that_only_its_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let origin = serve(&[(
        "/",
        "<title>Home</title><button onclick=\"document.cookie = 'login=7; max-age=999'; localStorage.name = 'Юля'\">Log in</button>",
    )]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    let arguments = [&*origin, "--storage-state", file.to_str().unwrap(), "--allow-evaluate"];
    let mut first = Player::start(&arguments);
    first.click("Log in");
    let ended = first.talk.end_after_close();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let mut second = Player::start(&arguments);
    let kept = second.ok("browser_evaluate", json!({"script": "[document.cookie, localStorage.name]"}));
    assert_eq!(kept["value"], json!(["login=7", "Юля"]));
    std::fs::write(&file, "{").unwrap();
    let broken = crate::process::pipe(&mut super::bridge(&arguments), b"{\"tool\":\"browser_tabs\",\"id\":1}\n");
    assert_eq!(broken.status.code(), Some(3));
    assert!(crate::process::text(&broken.stderr).contains("state.json"));
}
