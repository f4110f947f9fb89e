//! The tools, in a real browser.

use super::{Player, serve, serve_with};
use crate::process::eventually;
use serde_json::json;

const SHOP: &str = r#"<!doctype html><title>Shop</title><h1>Kettles</h1><input type=search aria-label=Search>
<form><label>Name <input name=name></label><label>Colour <select><option value=r>Red<option value=b>Blue</select></label></form>
<button onclick="document.title = 'Paid'">Pay now</button><button disabled>Later</button>
<button onclick="this.outerHTML = '<button>Other</button>'">Replace</button>
<button onclick="document.title = confirm('Sure?') ? 'Yes' : 'No'">Ask</button>
<a href=/next>Next</a><a href=/next target=_blank>New tab</a><a href=/file download=a.txt>File</a><input type=file aria-label=Upload>
<div style="height: 3000px"></div><button>Below</button>"#;

const PAGES: &[(&str, &str)] =
    &[("/", SHOP), ("/next", "<!doctype html><title>Next</title><button>There</button>"), ("/file", "text")];

fn shop() -> Player {
    Player::start(&[&serve(PAGES)])
}

#[test]
#[ignore = "needs Chromium"]
fn elements_are_listed_and_acted_on_by_one_number() {
    let mut shop = shop();
    let list = shop.ok("browser_list_interactives", json!({}));
    let items: Vec<&str> = list["items"].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();
    assert_eq!(items[..4], ["1 searchbox Search", "2 textbox Name", "3 combobox Colour = \"Red\"", "4 button Pay now"]);
    assert!(items.contains(&"5 button(disabled) Later") && !items.iter().any(|item| item.contains("Below")), "{list}");
    let again = shop.ok("browser_list_interactives", json!({"view": "full", "limit": 1, "offset": 3}));
    assert_eq!((&again["snapshot_id"], &again["reused_snapshot"]), (&list["snapshot_id"], &true.into()));
    let pay = &again["items"][0];
    assert_eq!(
        (&pay["id"], &pay["index"], &pay["name"], &pay["focused"]),
        (&"4".into(), &4.into(), &"Pay now".into(), &false.into())
    );
    assert!(pay["bbox"]["width"].as_i64().unwrap() > 20, "{pay}");
    let paid = shop.ok("browser_overlay_act", json!({"index": 4, "snapshot_id": list["snapshot_id"]}));
    assert_eq!(
        (&paid["performed"], &paid["title"], &paid["changed"], &paid["nav_type"]),
        (&"click".into(), &"Paid".into(), &true.into(), &"none".into())
    );
    let typed = shop.ok("browser_act_by_index", json!({"index": 2, "action": "type", "text": "Юля 李"}));
    let full = shop.ok("browser_list_interactives", json!({"view": "full"}));
    assert_eq!(full["items"][1]["value"], "Юля 李", "{full}");
    assert_eq!((&typed["textLen"], &typed["input_ok"], &typed["auto_enter"]), (&5.into(), &true.into(), &json!(null)));
    let chosen = shop.ok("browser_overlay_act", json!({"index": "3", "action": "select", "text": "Blue"}));
    assert_eq!(chosen["select_ok"], true);
    let searched = shop.ok("browser_overlay_act", json!({"index": 1, "action": "type", "text": "kettle"}));
    assert_eq!(searched["auto_enter"], true);
    assert_eq!(shop.fails("browser_overlay_act", json!({"index": 5})), ("tool_error".into(), "disabled".into()));
    assert_eq!(shop.fails("browser_overlay_act", json!({"index": 0})).1, "invalid_index");
    assert_eq!(shop.fails("browser_overlay_act", json!({"index": 500})).1, "index_out_of_range");
    assert_eq!(shop.fails("browser_overlay_act", json!({"index": 4, "action": "type"})).0, "invalid_args");
}

/// A documentation page of 290 kB with 500 links: a menu next to sections of text.
fn documentation() -> String {
    let menu: String = (0..60).map(|number| format!("<div><a href='#s{number}'>Section {number}</a></div>")).collect();
    let text = "The value that a function gives is a copy of it. ".repeat(12);
    let sections: String = (0..440)
        .map(|number| {
            format!("<h2 id=s{number}>Section {number}</h2><p>{text}<a href='/{number}'>Link {number}</a></p>")
        })
        .collect();
    let head = "<!doctype html><title>Documentation</title><style>nav { float: left; width: 240px }</style>";
    format!("{head}<nav>{menu}</nav><main>{sections}</main>")
}

#[test]
#[ignore = "needs Chromium"]
fn the_list_of_a_window_takes_at_most_1000_bytes_of_a_large_page() {
    let page = documentation();
    assert!(page.len() >= 285_000 && page.matches("<a href").count() == 500, "{} bytes", page.len());
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", page.len());
    let origin = serve_with(move |path| (path == "/").then(|| format!("{head}{page}")));
    for viewport in ["1280x720", "1920x1080"] {
        let mut player = Player::start(&[&origin, "--viewport", viewport]);
        let answer = player.talk.ask(r#"{"tool":"browser_list_interactives","id":1}"#);
        assert!(answer.contains("Section 29") && answer.len() <= 1000, "{viewport}, {} bytes: {answer}", answer.len());
        let all = player.ok("browser_list_interactives", json!({"scope": "page", "limit": 1000}));
        assert_eq!((&all["total"], all["items"].as_array().unwrap().len()), (&500.into(), 500));
    }
}

#[test]
#[ignore = "needs Chromium"]
fn the_number_of_a_removed_element_never_means_another_one() {
    let mut shop = shop();
    let replace = shop.number("Replace");
    let snapshot = shop.ok("browser_list_interactives", json!({}))["snapshot_id"].clone();
    shop.ok("browser_overlay_act", json!({"index": replace}));
    let stale = shop.call("browser_overlay_act", json!({"index": replace}));
    assert_eq!((&stale["kind"], &stale["code"]), (&"not_found".into(), &"stale_index".into()), "{stale}");
    assert!(stale["data"]["items"].to_string().contains("button Other"), "{stale}");
    let pay = shop.number("Pay now");
    shop.click("Next");
    // No number is used twice, even if the caller has not seen the list of the next page.
    assert_eq!(shop.fails("browser_overlay_act", json!({"index": 1})).1, "stale_index");
    assert_eq!(shop.fails("browser_overlay_act", json!({"index": 1})).1, "stale_index");
    let there = shop.number("There");
    assert_eq!(shop.fails("browser_overlay_act", json!({"index": there, "snapshot_id": snapshot})).1, "stale_index");
    assert_eq!(shop.ok("browser_overlay_act", json!({"index": there}))["title"], "Next");
    shop.ok("browser_back", json!({}));
    assert_eq!(shop.fails("browser_overlay_act", json!({"index": pay})).1, "stale_index");
}

#[test]
#[ignore = "needs Chromium"]
fn an_element_whose_name_has_changed_is_not_acted_on() {
    const PAGE: &str = r#"<!doctype html><title>Draft</title><input aria-label=Text oninput="pay.textContent = 'Pay now'">
        <button id=pay onclick="document.title = 'Paid'">Save draft</button>"#;
    let mut page = Player::start(&[&serve(&[("/", PAGE)])]);
    let (text, save) = (page.number("Text"), page.number("Save draft"));
    page.ok("browser_overlay_act", json!({"index": text, "action": "type", "text": "x"}));
    let stale = page.call("browser_overlay_act", json!({"index": save}));
    assert_eq!(
        (&stale["code"], stale["data"]["items"].to_string().contains("Pay now")),
        (&"stale_index".into(), true),
        "{stale}"
    );
    assert!(stale["error"].as_str().unwrap().contains("\"button Pay now\""), "{stale}");
    assert_eq!(page.click("Pay now")["title"], "Paid");
}

#[test]
#[ignore = "needs Chromium"]
fn ids_and_names_of_elements_do_not_collide_with_our_own() {
    const PAGE: &str = r#"<!doctype html><title>Names</title><div id=overlay>kept</div><div id=elements></div><div id=numbers></div>
        <div id=last></div><div id=opaque></div><div id=observer></div><div id=changes></div><div id=actions></div><img name=title>
        <form tabindex=0 onclick=1><input name=matches type=hidden><input name=parentNode type=hidden><input name=getRootNode type=hidden><b>x</b><input type=button value=In></form>
        <button onclick="document.querySelector('title').text = 'Gone'">Go</button>"#;
    let mut page = Player::start(&[&serve(&[("/", PAGE)])]);
    assert_eq!(page.ok("browser_list_interactives", json!({}))["items"], json!(["1 button In", "2 button Go"]));
    page.ok("browser_overlay_show", json!({}));
    page.ok("browser_overlay_hide", json!({}));
    page.ok("browser_close_banners", json!({"time_budget_ms": 100}));
    let text = page.ok("browser_extract", json!({"mode": "text"}));
    assert_eq!((&text["title"], &text["text"]), (&"Names".into(), &"kept\nx In\nGo".into()));
    page.click("In");
    assert_eq!(page.click("Go")["title"], "Gone");
}

#[test]
#[ignore = "needs Chromium"]
fn pages_and_tabs_are_opened_and_waited_for() {
    let mut shop = shop();
    let next = shop.click("Next");
    assert_eq!((&next["nav_type"], &next["title"]), (&"full".into(), &"Next".into()), "{next}");
    let back = shop.ok("browser_back", json!({}));
    assert_eq!((&back["title"], &back["nav_type"]), (&"Shop".into(), &"full".into()), "{back}");
    assert_eq!(shop.ok("browser_forward", json!({}))["title"], "Next");
    assert_eq!(shop.fails("browser_forward", json!({})), ("not_found".into(), "no_history".into()));
    assert_eq!(shop.ok("browser_reload", json!({}))["httpStatus"], 200);
    shop.ok("browser_back", json!({}));
    let opened = shop.click("New tab");
    assert_eq!(opened["new_tabs"][0]["index"], 1, "{opened}");
    // The new tab loads by itself.
    eventually("it has a title", || {
        let tabs = shop.ok("browser_tabs", json!({}));
        assert_eq!(tabs["active_tab"], 0, "{tabs}");
        tabs["tabs"][1]["title"] == "Next"
    });
    assert_eq!(shop.ok("browser_switch_tab", json!({"title_contains": "nex"}))["active_tab"], 1);
    assert_eq!(shop.ok("browser_close_tab", json!({}))["active_tab"], 0);
    assert_eq!(shop.fails("browser_switch_tab", json!({"index": 7})).1, "no_tab");
    let link = shop.number("Next");
    let new = shop.ok("browser_open_in_new_tab", json!({"id": link}));
    assert_eq!(
        (&new["tabIndex"], &new["title"], &new["httpStatus"]),
        (&1.into(), &"Next".into(), &200.into()),
        "{new}"
    );
    assert!(shop.ok("browser_wait", json!({"text": "There", "network_idle": true}))["waited"].is_u64());
    assert_eq!(shop.fails("browser_wait", json!({"selector": "#none", "timeout_ms": 100})).0, "timeout");
}

#[test]
#[ignore = "needs Chromium"]
fn a_dialog_is_reported_and_blocks_the_page_until_it_is_answered() {
    let mut shop = shop();
    let asked = shop.click("Ask");
    assert_eq!(asked["dialog"], json!({"kind": "confirm", "message": "Sure?"}));
    assert_eq!(shop.fails("browser_list_interactives", json!({})), ("tool_error".into(), "dialog_open".into()));
    let answered = shop.ok("browser_dialog", json!({"accept": true}));
    assert_eq!(answered["answered"]["message"], "Sure?");
    assert_eq!(shop.ok("browser_reload", json!({}))["title"], "Shop");
    assert_eq!(shop.fails("browser_dialog", json!({"accept": true})), ("not_found".into(), "no_dialog".into()));
}

#[test]
#[ignore = "needs Chromium"]
fn pictures_have_the_numbers_of_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let mut shop = Player::start(&[&serve(PAGES), "--save-media", folder.path().to_str().unwrap()]);
    let shown = shop.ok("browser_overlay_show", json!({"scheme": "high-contrast"}));
    assert!(shown["created"].as_u64().unwrap() >= 10, "{shown}");
    let picture = shop.ok("browser_screenshot", json!({}));
    assert_eq!(picture["snapshot_id"], shown["snapshot_id"]);
    let path = picture["path"].as_str().unwrap();
    assert!(
        path.starts_with(folder.path().to_str().unwrap()) && std::fs::read(path).unwrap().starts_with(b"\x89PNG"),
        "{picture}"
    );
    assert_eq!(shop.ok("browser_overlay_hide", json!({}))["removed"], true);
    assert_eq!(shop.ok("browser_overlay_hide", json!({}))["removed"], false);
    assert!(shop.ok("browser_screenshot", json!({"full_page": true})).get("snapshot_id").is_none());
}

#[test]
#[ignore = "needs Chromium"]
fn downloads_and_uploads_use_only_the_given_folders() {
    let mut closed = shop();
    let file = closed.number("File");
    assert_eq!(closed.fails("browser_click_and_wait_download", json!({"id": file})).0, "denied");
    let upload = closed.number("Upload: No file chosen");
    assert_eq!(closed.fails("browser_upload", json!({"id": upload, "files": ["/etc/hostname"]})).0, "denied");

    let folder = tempfile::tempdir().unwrap();
    let (downloads, uploads) = (folder.path().join("down"), folder.path().join("up"));
    std::fs::create_dir(&uploads).unwrap();
    std::fs::write(uploads.join("b.txt"), "b").unwrap();
    let (down, up) = (downloads.to_str().unwrap(), uploads.to_str().unwrap());
    let mut open = Player::start(&[&serve(PAGES), "--download-dir", down, "--upload-root", up]);
    let file = open.number("File");
    let came = open.ok("browser_click_and_wait_download", json!({"id": file}));
    assert_eq!(came["filename"], "a.txt");
    assert_eq!(std::fs::read(came["path"].as_str().unwrap()).unwrap(), b"text");
    let begun = open.ok("browser_overlay_act", json!({"index": file}));
    assert_eq!(begun["downloads"][0]["filename"], "a.txt", "{begun}");
    assert_eq!(open.ok("browser_download_wait", json!({}))["filename"], "a (2).txt");
    assert_eq!(open.fails("browser_download_wait", json!({"timeout_ms": 100})).0, "timeout");
    let upload = open.number("Upload: No file chosen");
    assert_eq!(open.ok("browser_upload", json!({"id": upload, "files": ["b.txt"]}))["uploaded"], 1);
    let upload = open.number("Upload: b.txt");
    assert_eq!(open.fails("browser_upload", json!({"id": upload, "files": ["../down/a.txt"]})).0, "denied");
}

#[test]
#[ignore = "needs Chromium"]
fn keys_and_scrolling_move_as_for_a_person() {
    let mut shop = shop();
    let focused = shop.ok("browser_focus_next", json!({"role": "button"}));
    assert_eq!((&focused["focused_role"], &focused["focused_name"]), (&"button".into(), &"Pay now".into()));
    assert_eq!(shop.ok("browser_press", json!({}))["title"], "Paid");
    assert_eq!(shop.ok("browser_focus_prev", json!({}))["focused_role"], "combobox");
    assert_eq!(
        shop.fails("browser_focus_next", json!({"role": "slider"})),
        ("not_found".into(), "element_not_found".into())
    );
    assert_eq!(shop.fails("browser_press", json!({"key": "Entr"})).0, "invalid_args");
    shop.ok("browser_scroll", json!({"to": "top"}));
    let down = shop.ok("browser_scroll", json!({"by_y": 500}));
    assert_eq!(down["scroll_pos"]["y"], 500, "{down}");
    assert!(shop.ok("browser_scroll", json!({"to": "bottom"}))["scroll_pos"]["y"].as_i64().unwrap() > 1500);
    assert_eq!(shop.ok("browser_scroll", json!({"to": "top"}))["scroll_pos"]["y"], 0);
    let below = shop.number("Below");
    assert!(
        shop.ok("browser_scroll", json!({"to": "elementId", "element_id": below}))["scroll_pos"]["y"].as_i64().unwrap()
            > 1500
    );
}

#[test]
#[ignore = "needs Chromium"]
fn scripts_run_only_if_allowed() {
    assert_eq!(shop().fails("browser_evaluate", json!({"script": "1"})).0, "denied");
    let mut open = Player::start(&[&serve(PAGES), "--allow-evaluate"]);
    assert_eq!(
        open.ok("browser_evaluate", json!({"script": "() => [document.title, 1 + 1]"}))["value"],
        json!(["Shop", 2])
    );
    assert_eq!(
        open.ok("browser_evaluate", json!({"script": "Promise.resolve({a: null})"}))["value"],
        json!({"a": null})
    );
    let thrown = open.call("browser_evaluate", json!({"script": "none()"}));
    assert!(thrown["error"].as_str().unwrap().contains("none is not defined"), "{thrown}");
}

#[test]
#[ignore = "needs Chromium"]
fn the_tools_are_listed_with_their_schemas() {
    let mut shop = shop();
    let list: serde_json::Value =
        serde_json::from_str(&shop.talk.ask(r#"{"type":"list_tools","request_id":1}"#)).unwrap();
    assert_eq!(list["world"], "browser");
    let tools = list["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["name"] != "browser_evaluate"));
    let act = tools.iter().find(|tool| tool["name"] == "browser_overlay_act").unwrap();
    assert_eq!(
        act["input_schema"]["properties"]["action"]["enum"],
        json!(["click", "type", "select", "deselect"]),
        "{act}"
    );
    assert_eq!(act["input_schema"]["properties"]["action"]["default"], "click", "{act}");
}
