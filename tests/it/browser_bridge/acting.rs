//! What a person can do with a mouse, a keyboard and files, besides clicking the middle of a button.

use super::traps::{html, value};
use super::{Player, serve_with};
use crate::process::eventually;
use serde_json::{Value, json};

/// The result of an action on the element with this name.
fn act(player: &mut Player, name: &str, arguments: Value) -> Value {
    let mut arguments = arguments;
    arguments["index"] = player.number(name).into();
    player.ok("browser_overlay_act", arguments)
}

fn page(content: &'static str, options: &[&str]) -> Player {
    let origin = serve_with(|_| Some(html(content)));
    Player::start(&[&["--allow-evaluate", &origin], options].concat())
}

#[test]
#[ignore = "needs Chromium"]
fn every_button_of_the_mouse_and_every_point_can_be_pressed() {
    let mut player = page(
        r#"<body style="margin:0"><button id=b style="display:block;width:100px;height:40px;border:0">Do</button><div id=c role=button aria-label=Map
            style="width:200px;height:100px"></div><div style="cursor:pointer;width:200px;height:50px" id=row>Row <button style="float:right">Pay</button></div>
            <script>log = []; for (const kind of ["click", "dblclick", "contextmenu", "auxclick"]) b.addEventListener(kind, (event) => {
                log.push([kind, event.button, event.ctrlKey, event.shiftKey].join()); event.preventDefault(); });
            let down; b.onmousedown = () => { down = performance.now() }; b.onmouseup = () => { if (performance.now() - down > 250) log.push("held") };
            c.onclick = document.body.onclick = (event) => log.push(event.offsetX + " " + event.offsetY);</script>"#,
        &[],
    );
    for (arguments, expected) in [
        (
            json!({"double_click": true}),
            json!(["click,0,false,false", "click,0,false,false", "dblclick,0,false,false"]),
        ),
        (json!({"button": "right"}), json!(["contextmenu,2,false,false", "auxclick,2,false,false"])),
        (json!({"button": "middle"}), json!(["auxclick,1,false,false"])),
        (json!({"modifiers": ["Control", "Shift"]}), json!(["click,0,true,true"])),
        (json!({"hold_ms": 300}), json!(["held", "click,0,false,false"])),
    ] {
        value(&mut player, "void (log = [], document.body.onclick = null)");
        act(&mut player, "Do", arguments.clone());
        assert_eq!(value(&mut player, "log"), expected, "{arguments}");
    }
    value(&mut player, "void (log = [])");
    act(&mut player, "Map", json!({"x": 10, "y": 20}));
    player.ok("browser_overlay_act", json!({"x": 30, "y": 70}));
    assert_eq!(value(&mut player, "log"), json!(["10 20", "30 30"]));
    // A point on another control is not one of the element.
    let row = player.number("Row Pay");
    assert_eq!(player.fails("browser_overlay_act", json!({"index": row, "x": 190, "y": 10})).1, "covered");
    assert_eq!(player.fails("browser_overlay_act", json!({"index": row, "x": 500, "y": 10})).1, "unfit");
    assert_eq!(player.fails("browser_overlay_act", json!({"index": row, "x": 5})).0, "invalid_args");
    assert_eq!(player.fails("browser_overlay_act", json!({})).0, "invalid_args");
}

#[test]
#[ignore = "needs Chromium"]
fn text_is_typed_as_the_field_takes_it() {
    let mut player = page(
        r#"<input id=a aria-label=City><p id=l></p><input id=f aria-label=Form><input id=ph aria-label=Phone>
            <div id=ec tabindex=0 role=textbox aria-label=Code style="height:30px">old</div><canvas id=game tabindex=0 width=9 height=9></canvas>
            <script>a.addEventListener("keyup", () => { l.textContent = a.value }); keys = [];
            f.onkeydown = (event) => keys.push(event.key); f.oninput = () => {};
            ph.oninput = () => { const digits = ph.value.replace(/\D/g, ""); ph.value = "(" + digits.slice(0, 3) + ") " + digits.slice(3) };
            const context = new EditContext({ text: "old" }); ec.editContext = context;
            context.addEventListener("textupdate", () => { ec.textContent = context.text });
            ec.addEventListener("keydown", (event) => { if (event.ctrlKey && event.key === "a") context.updateSelection(0, context.text.length) });
            game.onkeydown = (event) => keys.push(event.key);</script>"#,
        &[],
    );
    // This field is only listened to for keys.
    act(&mut player, "City", json!({"action": "type", "text": "Ber"}));
    assert_eq!(value(&mut player, "l.textContent"), "Ber");
    act(&mut player, "Form", json!({"action": "type", "text": "ab"}));
    assert_eq!(value(&mut player, "keys"), json!([]));
    act(&mut player, "Form", json!({"action": "type", "text": "a b", "slowly": true}));
    assert_eq!(value(&mut player, "[keys.join(), f.value]"), json!(["a, ,b", "a b"]));
    // Where the focus is.
    player.ok("browser_overlay_act", json!({"action": "type", "text": "+1"}));
    assert_eq!(value(&mut player, "f.value"), "a b+1");
    let formatted = act(&mut player, "Phone", json!({"action": "type", "text": "2125551234"}));
    assert_eq!((&formatted["input_ok"], value(&mut player, "ph.value")), (&true.into(), "(212) 5551234".into()));
    act(&mut player, "Code", json!({"action": "type", "text": "new"}));
    act(&mut player, "Code", json!({"action": "type", "text": "er", "append": true}));
    assert_eq!(value(&mut player, "ec.textContent"), "newer");
    value(&mut player, "void (keys = [], game.focus())");
    player.ok("browser_overlay_act", json!({"action": "type", "text": "wd"}));
    assert_eq!(value(&mut player, "keys.join('')"), "wd");
}

#[test]
#[ignore = "needs Chromium"]
fn enter_follows_text_only_with_submit_or_in_a_searchbox() {
    let mut player = page(
        r#"<form onsubmit="sent += 1; return false"><input name=q aria-label="Search the site"><input type=search aria-label=Find><button>Go</button></form>
            <script>sent = 0</script>"#,
        &[],
    );
    let typed = act(&mut player, "Search the site", json!({"action": "type", "text": "a"}));
    assert_eq!((&typed["auto_enter"], value(&mut player, "sent")), (&Value::Null, 0.into()));
    let typed = act(&mut player, "Search the site", json!({"action": "type", "text": "a", "submit": true}));
    assert_eq!((&typed["auto_enter"], value(&mut player, "sent")), (&Value::Null, 1.into()));
    let typed = act(&mut player, "Find", json!({"action": "type", "text": "a"}));
    assert_eq!((&typed["auto_enter"], value(&mut player, "sent")), (&true.into(), 2.into()));
}

#[test]
#[ignore = "needs Chromium"]
fn a_name_may_count_time_and_a_placeholder_is_no_name() {
    let mut player = page(
        r#"<button id=a>Skip (30 s)</button><button id=b>Pay in 3 days</button><input id=i placeholder="Search shoes">
            <input id=r aria-label=Note oninput="const other = r.cloneNode(); r.replaceWith(other)">
            <select id=m multiple aria-label=Sizes><option selected>S<option>L</select>"#,
        &[],
    );
    let (skip, pay, search) =
        (player.number("Skip (30 s)"), player.number("Pay in 3 days"), player.number("Search shoes"));
    value(&mut player, "void (a.textContent = 'Skip (29 s)', i.placeholder = 'Search hats')");
    player.ok("browser_overlay_act", json!({"index": skip}));
    player.ok("browser_overlay_act", json!({"index": search, "action": "type", "text": "x"}));
    value(&mut player, "void (b.textContent = 'Pay in 30 days', i.placeholder = 'Search gloves')");
    assert_eq!(player.fails("browser_overlay_act", json!({"index": pay})).1, "stale_index");
    value(&mut player, "void (i.placeholder = 'Search socks')");
    assert_eq!(player.fails("browser_overlay_act", json!({"index": search})).1, "stale_index");
    let replaced = act(&mut player, "Note", json!({"action": "type", "text": "x"}));
    assert_eq!((&replaced["replaced"], &replaced["input_ok"]), (&true.into(), &Value::Null));
    // A choice is undone, and the options are listed.
    act(&mut player, "Sizes", json!({"action": "select", "text": "L"}));
    act(&mut player, "Sizes", json!({"action": "deselect", "text": "S"}));
    assert_eq!(value(&mut player, "[...m.selectedOptions].map((one) => one.label)"), json!(["L"]));
    let listed = player.ok("browser_list_interactives", json!({"view": "full"}));
    let sizes = listed["items"].as_array().unwrap().iter().find(|item| item["name"] == "Sizes").unwrap();
    assert_eq!((&sizes["options"], &sizes["value"]), (&json!(["S", "L"]), &json!("L")));
    // The error names the element, and the action that fits.
    let wrong = player.call("browser_overlay_act", json!({"index": search, "action": "select", "text": "x"}));
    let error = wrong["error"].as_str().unwrap();
    assert!(error.starts_with(&format!("number {search}: a ")) && error.ends_with("use action=type"), "{wrong}");
}

#[test]
#[ignore = "needs Chromium"]
fn what_is_scrolled_is_what_is_named_or_under_the_mouse() {
    let mut player = page(
        r#"<body style="margin:0"><header style="position:fixed;inset:0 0 auto;height:80px;background:#ccc"></header>
            <div style="height:4000px;padding-top:20px"><button>First</button></div>
            <iframe id=inner srcdoc="<div style='height:3000px'><button>Framed</button></div>"></iframe>
            <dialog id=box style="width:80%;height:300px;overflow:auto"><p style="height:1500px">Terms</p><button>Agree</button></dialog>"#,
        &[],
    );
    let first = player.number("First");
    // A header that sticks to the window covers it until the page is scrolled, and cannot be scrolled away here.
    assert_eq!(player.fails("browser_overlay_act", json!({"index": first})).1, "covered");
    let scrolled = player.ok("browser_scroll", json!({"by_y": 300}));
    assert_eq!((&scrolled["scrolled"]["in"], &scrolled["scroll_pos"]["y"]), (&"page".into(), &300.into()));
    let framed = player.number("Framed");
    let scrolled = player.ok("browser_scroll", json!({"element_id": framed, "by_y": 100}));
    assert_eq!((&scrolled["scrolled"]["y"], &scrolled["scroll_pos"]["y"]), (&100.into(), &300.into()), "{scrolled}");
    value(&mut player, "box.showModal()");
    let scrolled = player.ok("browser_scroll", json!({"to": "bottom"}));
    assert_eq!(
        (&scrolled["scrolled"]["is_end"], &scrolled["scroll_pos"]["y"]),
        (&true.into(), &300.into()),
        "{scrolled}"
    );
    assert!(scrolled["scrolled"]["in"].as_str().unwrap().starts_with("dialog#box"), "{scrolled}");
}

#[test]
#[ignore = "needs Chromium"]
fn files_go_to_inputs_choosers_and_drop_zones() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt"] {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    let mut player = page(
        r#"<button id=b>Attach</button><input id=i type=file multiple style="display:none"><div id=d style="height:60px" onclick="">Drop here</div>
            <button>Other</button><script>log = []; b.onclick = () => i.click();
            i.onchange = () => log.push([...i.files].map((file) => file.name).join()); d.ondragover = (event) => event.preventDefault();
            d.ondrop = (event) => { event.preventDefault(); log.push("dropped " + event.dataTransfer.files[0].name) };</script>"#,
        &["--upload-root", folder.path().to_str().unwrap()],
    );
    assert_eq!(player.fails("browser_upload", json!({"files": ["a.txt"]})).1, "no_file_chooser");
    assert_eq!(player.click("Attach")["file_chooser"], json!({"multiple": true}));
    player.ok("browser_upload", json!({"files": ["a.txt", "b.txt"]}));
    let (attach, drop, other) = (player.number("Attach"), player.number("Drop here"), player.number("Other"));
    player.ok("browser_upload", json!({"id": attach, "files": ["b.txt"]}));
    player.ok("browser_upload", json!({"id": drop, "files": ["a.txt"]}));
    assert_eq!(value(&mut player, "log"), json!(["a.txt,b.txt", "b.txt", "dropped a.txt"]));
    assert_eq!(player.fails("browser_upload", json!({"id": other, "files": ["a.txt"]})).1, "unfit");
    assert_eq!(player.ok("browser_tabs", json!({}))["tabs"].as_array().unwrap().len(), 1);
}

#[test]
#[ignore = "needs Chromium"]
fn the_device_is_set_at_the_start_and_changed_later() {
    let mut player =
        page(r#"<meta name=viewport content="width=device-width"><button>Go</button>"#, &["--touch", "--dark"]);
    let told = "[innerWidth, innerHeight, matchMedia('(pointer: coarse)').matches, matchMedia('(prefers-color-scheme: dark)').matches]";
    assert_eq!(value(&mut player, told), json!([390, 844, true, true]));
    player.click("Go");
    player.ok("browser_resize", json!({"width": 700, "height": 500, "touch": false, "dark": false}));
    assert_eq!(value(&mut player, told), json!([700, 500, false, false]));
    player.click("Go");
    assert_eq!(player.fails("browser_resize", json!({"width": 700})).0, "invalid_args");
}

#[test]
#[ignore = "needs Chromium"]
fn style_sheets_that_never_come_stop_neither_pictures_nor_actions() {
    for place in ["head", "body"] {
        let origin = serve_with(move |path| match (path, place) {
            ("/never.css", _) => Some(String::new()),
            (_, "head") => Some(html("<link rel=stylesheet href=/never.css><body><button>Go</button>")),
            _ => Some(html("<body><button>Go</button><link rel=stylesheet href=/never.css><button>Then</button>")),
        });
        let mut player = Player::start(&[&origin, "--timeout", "8s"]);
        eventually("the button is there", || player.ok("browser_find", json!({"text": "Go"}))["total"] == 1);
        player.ok("browser_screenshot", json!({}));
        player.click("Go");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_wait_sees_frames_and_shadow_roots_and_a_silent_frame_is_left_out() {
    let busy = serve_with(|_| {
        Some(html("<button>In the frame</button><script>setTimeout(() => { for (;;); }, 500)</script>"))
    });
    // Another host is another site, whose frame has its own process.
    let busy = busy.replace("127.0.0.1", "localhost");
    let frame = format!("<iframe src='{busy}/'></iframe>");
    let origin = serve_with(move |path| {
        let frame = if path == "/busy" { frame.as_str() } else { "" };
        Some(html(&format!(
            r#"<button>Buy</button>{frame}<iframe srcdoc="<p id=p></p><script>setTimeout(() => {{ p.textContent = 'Paid' }}, 700)</script>"></iframe>
            <x-toast></x-toast><script>const root = document.querySelector("x-toast").attachShadow({{ mode: "open" }});
            setTimeout(() => {{ root.innerHTML = "<p id=saved>Saved</p>" }}, 300)</script>"#
        )))
    });
    let mut player = Player::start(&[&origin, "--allow-origin", &busy]);
    for arguments in
        [json!({"text": "Paid"}), json!({"text": "Saved"}), json!({"selector": "#p"}), json!({"selector": "#saved"})]
    {
        player.ok("browser_wait", arguments);
    }
    assert_eq!(player.fails("browser_wait", json!({"text": "Refused", "timeout_ms": 300})).0, "timeout");
    player.ok("browser_navigate", json!({"url": format!("{origin}/busy")}));
    let mut list = Value::Null;
    eventually("the frame is left out", || {
        list = player.ok("browser_list_interactives", json!({}));
        // It may fall silent between its list and the text that is read for the deal of the button.
        list.get("silent_frames").is_some() && list["items"].as_array().is_some_and(|items| items.len() == 1)
    });
    assert_eq!((&list["silent_frames"], &list["items"]), (&json!([format!("{busy}/")]), &json!(["1 button Buy"])));
    player.ok("browser_extract", json!({}));
    player.ok("browser_screenshot", json!({}));
    player.click("Buy");
}
