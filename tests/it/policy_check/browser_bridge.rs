//! A gate around `browser-bridge`: the meaning of a number is known from the lists of the same document.

use crate::process::{Talk, command};
use serde_json::{Value, json};

/// The gate around a world that answers each passed call with the next answer.
struct Gated(Talk);

impl Gated {
    fn start(answers: &[Value]) -> Gated {
        let script = r#"for answer; do read -r call; printf '%s\n' "$answer"; done; exec cat >/dev/null"#;
        let mut gate = command("policy-check");
        gate.args(["--confirm", "refuse", "--", "sh", "-c", script, "sh"]).args(answers.iter().map(Value::to_string));
        Gated(Talk::start(&mut gate))
    }

    /// Makes a call. `None` if it passes, else the kind of action or the rule for which it needs approval.
    fn call(&mut self, tool: &str, arguments: &Value) -> Option<String> {
        let said: Value = serde_json::from_str(&self.0.ask(&call(tool, arguments).to_string())).unwrap();
        (said["kind"] == "needs_approval").then(|| {
            let why = &said["data"];
            why["kind"].as_str().or(why["rule"].as_str()).unwrap_or_else(|| panic!("{said}")).to_owned()
        })
    }
}

pub(super) fn call(tool: &str, arguments: &Value) -> Value {
    json!({"id": 1, "tool": tool, "args": arguments})
}

pub(super) fn answer(data: &Value) -> Value {
    json!({"id": 1, "tool": "t", "status": "ok", "data": data})
}

pub(super) const LIST: &str = "browser_list_interactives";

pub(super) fn list(snapshot: &str, items: &[&str]) -> Value {
    answer(&json!({"snapshot_id": snapshot, "items": items, "total": items.len()}))
}

/// The result of one call after the answers to a list and to each of `before`.
fn after(before: &[(&str, Value, Value)], tool: &str, arguments: &Value) -> Option<String> {
    let items = [
        "1 link Next page",
        "2 searchbox Search",
        "3 textbox Message to Ann",
        "4 combobox(focused) Speed",
        "5 checkbox Pay automatically",
        "6 listitem Trash",
        "7 button Pay now",
        "8 button(disabled,covered) Delete account",
        "9 button",
        "10 option Small (S)",
        r#"11 button Open (row "Delete account")"#,
        r#"12 button Delete (in "Anna \"x\"")"#,
        r#"13 textbox(required) Note (row "Pay") = "pay \"now\"""#,
        r#"14 button Pay = "now"#,
    ];
    let mut answers = vec![list("s1.1", &items)];
    answers.extend(before.iter().map(|(.., answer)| answer.clone()));
    // A call that passes is answered, too.
    answers.push(answer(&json!({})));
    let mut gated = Gated::start(&answers);
    assert_eq!(gated.call(LIST, &json!({})), None);
    for (tool, arguments, _) in before {
        assert_eq!(gated.call(tool, arguments), None, "{tool} {arguments}");
    }
    let asked = gated.call(tool, arguments);
    gated.0.end_after_close();
    asked
}

#[test]
fn a_number_is_judged_by_its_element_in_the_list() {
    for (tool, arguments, asked) in [
        ("browser_overlay_act", json!({"index": 1}), None),
        ("browser_overlay_act", json!({"index": 7}), Some("pay")),
        ("browser_overlay_act", json!({"index": "7", "action": "click", "snapshot_id": "s1.1"}), Some("pay")),
        ("browser_overlay_act", json!({"index": 8}), Some("delete")),
        // Neither the place nor the content of an element is its name.
        ("browser_overlay_act", json!({"index": 11}), None),
        ("browser_overlay_act", json!({"index": 12}), Some("delete")),
        ("browser_overlay_act", json!({"index": 13}), None),
        ("browser_overlay_act", json!({"index": 14}), Some("pay")),
        ("browser_overlay_act", json!({"index": 99}), Some("builtin.unknown_target")),
        ("browser_overlay_act", json!({}), Some("builtin.unknown_target")),
        // A point of the window may be anything; a point of an element is judged by the element.
        ("browser_overlay_act", json!({"x": 10, "y": 20}), Some("builtin.unknown_target")),
        ("browser_overlay_act", json!({"index": 1, "x": 10, "y": 20, "button": "middle", "double_click": true}), None),
        ("browser_overlay_act", json!({"index": 7, "modifiers": ["Control"], "hold_ms": 500}), Some("pay")),
        // Where the focus is, which no result has named.
        ("browser_overlay_act", json!({"action": "type", "text": "x"}), Some("builtin.unknown_target")),
        ("browser_overlay_act", json!({"index": 3, "action": "type", "text": "x", "slowly": true}), None),
        ("browser_overlay_act", json!({"index": 3, "action": "type", "text": "x", "submit": true}), Some("submit")),
        ("browser_overlay_act", json!({"index": 4, "action": "deselect", "text": "Fast"}), None),
        ("browser_overlay_act", json!({"index": 4, "action": "deselect", "text": "Delete my account"}), Some("delete")),
        ("browser_act_by_index", json!({"index": 1}), None),
        ("browser_act_by_index", json!({"index": 7}), Some("pay")),
        ("browser_act_by_index", json!({"index": 10, "action": "click"}), None),
        // Typed text is a draft; a search field submits it.
        ("browser_overlay_act", json!({"index": 3, "action": "type", "text": "pay now", "append": true}), None),
        ("browser_overlay_act", json!({"index": 3, "action": "type", "text": "pay\n"}), Some("submit")),
        ("browser_overlay_act", json!({"index": 2, "action": "type", "text": "lamps"}), None),
        ("browser_overlay_act", json!({"index": 7, "action": "type", "text": "x"}), Some("pay")),
        ("browser_overlay_act", json!({"index": 99, "action": "type", "text": "x"}), Some("builtin.unknown_target")),
        ("browser_overlay_act", json!({"index": 4, "action": "select", "text": "Fast"}), None),
        ("browser_overlay_act", json!({"index": 4, "action": "select", "text": "Delete my account"}), Some("delete")),
        ("browser_overlay_act", json!({"index": 5}), Some("pay")),
        ("browser_click", json!({"index": 7, "action": "type"}), Some("pay")),
        // Keys on an element.
        ("browser_press", json!({"id": 7, "key": "Enter"}), Some("pay")),
        ("browser_press", json!({"id": "7"}), Some("pay")),
        ("browser_press", json!({"id": 7, "key": "Space"}), Some("pay")),
        ("browser_press", json!({"id": 1, "key": "Enter"}), None),
        ("browser_press", json!({"id": 1}), None),
        ("browser_press", json!({"id": 2, "key": "Enter"}), None),
        ("browser_press", json!({"id": 3, "key": "Enter"}), Some("submit")),
        ("browser_press", json!({"id": 3, "key": "Delete"}), None),
        ("browser_press", json!({"id": 6, "key": "Delete"}), Some("delete")),
        ("browser_press", json!({"id": 5, "key": "Space"}), Some("pay")),
        ("browser_press", json!({"id": 99, "key": "Enter"}), Some("builtin.unknown_target")),
        ("browser_press", json!({"key": "Enter"}), Some("submit")),
        ("browser_press", json!({"key": "PageDown"}), None),
        ("browser_drag", json!({"from": 7, "to": 1}), Some("pay")),
        ("browser_drag", json!({"from": 1, "to": 10}), None),
        ("browser_drag", json!({"from": 1, "to": 6}), Some("delete")),
        ("browser_drag", json!({"from": 1, "to": "99"}), Some("builtin.unknown_target")),
        ("browser_drag", json!({"from": 99, "to": 1}), Some("builtin.unknown_target")),
        ("browser_drag", json!({"x": 10, "y": 20, "to": 1}), Some("builtin.unknown_target")),
        ("browser_drag", json!({"from": 1, "by_x": 40}), Some("builtin.unknown_target")),
        ("browser_drag", json!({"from": 7, "by_x": 40}), Some("pay")),
        ("browser_hover", json!({"x": 10, "y": 20}), None),
        ("browser_select_text", json!({"text": "Pay 10"}), None),
        ("browser_select_text", json!({"index": 3}), None),
        ("browser_click_and_wait_download", json!({"id": 1}), None),
        ("browser_click_and_wait_download", json!({"id": 7}), Some("pay")),
        ("browser_open_in_new_tab", json!({"id": 1}), None),
        ("browser_open_in_new_tab", json!({"id": 8}), Some("delete")),
        ("browser_open_in_new_tab", json!({"id": 99}), Some("builtin.unknown_target")),
        ("browser_upload", json!({"id": 1, "files": ["a.txt"]}), Some("send")),
        ("browser_upload", json!({"files": ["a.txt"]}), Some("send")),
        ("browser_evaluate", json!({"script": "1 + 1"}), Some("run")),
        ("browser_navigate", json!({"url": "https://example.org/", "show_overlay": true, "settle": "dom"}), None),
        ("browser_navigate", json!({"url": "https://example.org/items/7/delete"}), Some("delete")),
        ("browser_dialog", json!({"accept": true}), Some("confirm")),
        ("browser_dialog", json!({"accept": false}), None),
    ] {
        assert_eq!(after(&[], tool, &arguments).as_deref(), asked, "{tool} {arguments}");
    }
}

#[test]
fn calls_that_only_look_pass() {
    let calls = [
        (LIST, json!({"scope": "page", "limit": 30, "offset": 30, "view": "full", "refresh": true})),
        ("browser_wait", json!({"selector": "#x", "state": "hidden", "timeout_ms": 5})),
        ("browser_find", json!({"role": "button", "text": "pay", "limit": 5})),
        ("browser_extract", json!({"mode": "summary"})),
        ("browser_screenshot", json!({"full_page": true})),
        ("browser_tabs", json!({})),
        ("browser_switch_tab", json!({"index": 1})),
        ("browser_console", json!({})),
        ("browser_resize", json!({"width": 400, "height": 800, "touch": true})),
        ("browser_requests", json!({"failed": true})),
        ("browser_requests", json!({"number": 3})),
        ("browser_pdf", json!({})),
        ("browser_scroll", json!({"element_id": 7})),
        ("browser_scroll", json!({"to": "bottom"})),
        ("browser_scroll", json!({"element_id": 7, "by_y": 100})),
        ("browser_overlay_show", json!({"scheme": "high-contrast"})),
        ("browser_overlay_hide", json!({})),
        ("browser_hover", json!({"index": 7})),
        ("browser_focus_next", json!({"role": "button"})),
        ("browser_focus_prev", json!({})),
        ("browser_download_wait", json!({"timeout_ms": 5})),
        ("browser_close_banners", json!({"strategy": "safe"})),
        ("browser_back", json!({})),
        ("browser_forward", json!({})),
        ("browser_reload", json!({})),
        ("browser_close_tab", json!({"index": 1})),
    ];
    let mut gated = Gated::start(&vec![answer(&json!({})); calls.len()]);
    for (tool, arguments) in calls {
        assert_eq!(gated.call(tool, &arguments), None, "{tool} {arguments}");
    }
    gated.0.end_after_close();
}

#[test]
fn numbers_belong_to_one_document() {
    let next = json!({"index": 1});
    let (same, unknown) = (None, Some("builtin.unknown_target"));
    let more = |snapshot: &str, item: &str| vec![(LIST, json!({"offset": 30}), list(snapshot, &[item]))];
    let click = json!({"index": 10, "action": "click"});
    let clicked = |data: Value| vec![("browser_overlay_act", click.clone(), answer(&data))];
    let typed = |data: Value| {
        let arguments = json!({"index": 3, "action": "type", "text": "hello"});
        vec![("browser_overlay_act", arguments, answer(&data))]
    };
    let stale = json!({"id": 1, "tool": "t", "status": "error", "error": "no", "kind": "not_found", "code": "stale_index",
        "data": {"snapshot_id": "s1.4", "items": ["1 link Delete"]}});
    for (before, asked) in [
        // A later list adds to it, and renames elements.
        (more("s1.2", "31 link More"), same),
        (more("s1.2", "1 link Delete"), Some("delete")),
        (more("s1.2", "31"), unknown),
        (more("s2.1", "31 link More"), unknown),
        (more("s2.2", "1 link Delete"), Some("delete")),
        // As an object.
        (
            vec![(
                "browser_find",
                json!({"text": "next"}),
                answer(&json!({"snapshot_id": "s1.2", "items":
            [{"id": "1", "index": 1, "role": "button", "name": "Delete"}]})),
            )],
            Some("delete"),
        ),
        (vec![("browser_find", json!({"text": "next"}), answer(&json!({"snapshot_id": "s1.2", "items": []})))], same),
        (clicked(json!({"changed": false, "navigation": "none"})), same),
        (clicked(json!({"changed": true, "navigation": "none"})), unknown),
        (clicked(json!({"navigation": "full", "changed": true, "snapshot_id": "s2.1"})), unknown),
        (vec![("browser_act_by_index", click.clone(), stale)], Some("delete")),
        // A form has many fields.
        (typed(json!({"changed": true, "navigation": "none", "auto_enter": false})), same),
        (typed(json!({"changed": true, "navigation": "spa"})), unknown),
        (typed(json!({"changed": true, "navigation": "none", "auto_enter": true})), unknown),
        (vec![("browser_navigate", json!({"url": "http://x/"}), answer(&json!({"navigation": "full"})))], unknown),
        // A page's own text.
        (vec![("browser_extract", json!({}), list("s1.2", &["1 link Next page"]))], unknown),
    ] {
        assert_eq!(after(&before, "browser_overlay_act", &next).as_deref(), asked, "{before:?}");
    }
}

#[test]
fn keys_are_judged_by_the_focused_element() {
    let focused = |tool: &'static str, role: &str, name: &str| {
        vec![(tool, json!({}), answer(&json!({"focused_role": role, "focused_name": name, "changed": true})))]
    };
    for (before, key, asked) in [
        (focused("browser_focus_next", "button", "Pay now"), "Enter", Some("pay")),
        (focused("browser_focus_next", "button", "Next page"), "Enter", None),
        (focused("browser_focus_prev", "searchbox", "Search"), "Enter", None),
        (focused("browser_focus_prev", "textbox", "Name"), "Enter", Some("submit")),
        (focused("browser_focus_prev", "checkbox", "Pay automatically"), "Space", Some("pay")),
        (focused("browser_focus_prev", "textbox", "Name"), "Space", None),
        // A frame, a part of a page or an unusual role may have anything in it.
        (focused("browser_focus_next", "iframe", ""), "Space", Some("builtin.key")),
        (focused("browser_focus_next", "generic", "Pay now"), "Space", Some("builtin.key")),
        (focused("browser_focus_next", "gridcell", "Pay now"), "Space", Some("builtin.key")),
        (Vec::new(), "Space", Some("builtin.key")),
        (focused("browser_overlay_show", "button", "Next page"), "Enter", None),
        // The result of a script, or a page's own text.
        (focused("browser_extract", "button", "Next page"), "Enter", Some("submit")),
        // After another call that may have moved the focus, it is unknown.
        (
            [
                focused("browser_focus_next", "button", "Next page"),
                vec![("browser_reload", json!({}), answer(&json!({})))],
            ]
            .concat(),
            "Enter",
            Some("submit"),
        ),
    ] {
        assert_eq!(after(&before, "browser_press", &json!({"key": key})).as_deref(), asked, "{before:?} {key}");
    }
    for (role, name, submit, asked) in [
        ("textbox", "Name", false, None),
        ("textbox", "Name", true, Some("submit")),
        ("searchbox", "Search", true, None),
        ("button", "Pay now", false, Some("pay")),
        ("checkbox", "Pay automatically", false, Some("pay")),
    ] {
        let before = focused("browser_focus_next", role, name);
        let typed = json!({"action": "type", "text": " ", "submit": submit});
        assert_eq!(after(&before, "browser_overlay_act", &typed).as_deref(), asked, "{role} {name} {submit}");
    }
    let arguments = json!({"index": 2, "action": "type", "text": "x"});
    // Text may not have reached its field: only an answer tells what has the focus.
    let failed = |data: Value| json!({"id": 1, "tool": "t", "status": "error", "error": "no", "kind": "tool_error", "code": "not_focused", "data": data});
    for (result, asked) in [
        (answer(&json!({"focused_role": "searchbox", "focused_name": "Search"})), None),
        (answer(&json!({"auto_enter": true})), Some("submit")),
        (failed(json!({"textLen": 0})), Some("submit")),
        (failed(json!({"focused_role": "button", "focused_name": "Delete account"})), Some("delete")),
    ] {
        let before = [("browser_overlay_act", arguments.clone(), result)];
        assert_eq!(after(&before, "browser_press", &json!({"key": "Enter"})).as_deref(), asked, "{before:?}");
    }
    // The search field into which text was typed no longer has the focus.
    let before = [
        ("browser_overlay_act", arguments, answer(&json!({"auto_enter": false}))),
        ("browser_focus_next", json!({}), answer(&json!({}))),
    ];
    assert_eq!(after(&before, "browser_press", &json!({"key": "Enter"})).as_deref(), Some("submit"));
}

#[test]
fn a_dialog_is_judged_by_its_question() {
    for (message, asked) in [
        ("Pay 99 EUR?", Some("pay")),
        ("Show the next page?", None),
        ("Really?", Some("confirm")),
        ("", Some("confirm")),
    ] {
        let dialog = json!({"dialog": {"kind": "confirm", "message": message}});
        let before = [("browser_overlay_act", json!({"index": 1}), answer(&dialog))];
        assert_eq!(after(&before, "browser_dialog", &json!({"accept": true})).as_deref(), asked, "{message}");
        let before = [&before[..], &[("browser_reload", json!({}), answer(&json!({})))]].concat();
        assert_eq!(after(&before, "browser_dialog", &json!({"accept": true})).as_deref(), Some("confirm"), "{message}");
    }
}

#[test]
fn a_marked_call_has_its_element() {
    let mut gate = command("policy-check");
    let script = r#"read -r call; printf '%s\n' "$0"; exec cat"#;
    let shown = list("s1.1", &["7 button Pay now"]).to_string();
    gate.args(["--confirm", "mark", "--", "sh", "-c", script, &shown]);
    let mut talk = Talk::start(&mut gate);
    talk.ask(&call(LIST, &json!({})).to_string());
    let marked: Value =
        serde_json::from_str(&talk.ask(&call("browser_overlay_act", &json!({"index": 7})).to_string())).unwrap();
    let target = &marked["target"];
    assert_eq!((&target["role"], &target["name"]), (&json!("button"), &json!("Pay now")), "{marked}");
    talk.end_after_close();
}

#[test]
fn only_browser_bridge_presses_a_key_on_the_element_in_the_call() {
    // Another server's list: it is not known whether its keys go to the element with the number, or to the focused one.
    let list = answer(&json!({"items": [{"index": 1, "id": "1", "role": "link", "name": "Next page"}]}));
    let mut gated = Gated::start(&[list]);
    assert_eq!(gated.call(LIST, &json!({})), None);
    assert_eq!(gated.call("browser_press", &json!({"id": 1, "key": "Enter"})).as_deref(), Some("submit"));
    gated.0.end_after_close();
}

#[test]
fn an_element_with_a_cut_name_needs_approval() {
    let begins = "Continue with all that you have put together here until today, as it stands in the list above, for";
    let cut = format!("{begins:…<120}");
    assert_eq!(cut.chars().count(), 120);
    let items = [
        format!("1 button {cut}"),
        format!("2 textbox {cut}"),
        "3 button More…".to_owned(),
        format!("4 link {begins}"),
        format!("5 button Pay now {cut}"),
    ];
    let items = items.each_ref().map(String::as_str);
    for (arguments, asked) in [
        (json!({"index": 1}), Some("builtin.cut_name")),
        // Typed text is a draft, whatever the field's name.
        (json!({"index": 2, "action": "type", "text": "x"}), None),
        (json!({"index": 3}), None),
        (json!({"index": 4}), None),
        (json!({"index": 5}), Some("pay")),
    ] {
        let mut gated = Gated::start(&[list("s1.1", &items), answer(&json!({}))]);
        assert_eq!(gated.call(LIST, &json!({})), None);
        assert_eq!(gated.call("browser_overlay_act", &arguments).as_deref(), asked, "{arguments}");
        gated.0.end_after_close();
    }
}
