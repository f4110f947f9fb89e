//! The mouse over points, drags by a distance, and text that is selected.

use super::traps::{html, value};
use super::{Player, serve_with};
use serde_json::json;

fn page(content: &'static str) -> Player {
    let origin = serve_with(|_| Some(html(content)));
    Player::start(&["--allow-evaluate", &origin])
}

#[test]
#[ignore = "needs Chromium"]
fn points_and_distances_name_what_is_no_element() {
    let mut player = page(
        r#"<body style="margin:0"><div id=map role=button aria-label=Map style="width:200px;height:100px"></div>
            <textarea id=t aria-label=Note style="display:block;width:120px;height:60px;margin:0;padding:0;border:0;resize:both"></textarea>
            <input id=r type=range aria-label=Volume min=0 max=100 value=0 style="width:200px;margin:0">
            <div id=row style="cursor:pointer;width:200px;height:40px">Row <button style="float:right;width:150px;height:40px" id=pay>Pay</button></div>
            <script>seen = []; clicks = 0;
            map.onmousemove = (event) => { at = [event.offsetX, event.offsetY, event.buttons] };
            map.onmousedown = () => { from = at };
            pay.onclick = () => clicks++; row.onclick = () => {}</script>"#,
    );
    let number = |player: &mut Player, name: &str| player.number(name);
    let map = number(&mut player, "Map");
    player.ok("browser_hover", json!({"index": map, "x": 30, "y": 40}));
    assert_eq!(value(&mut player, "at"), json!([30, 40, 0]));
    player.ok("browser_hover", json!({"x": 150, "y": 90}));
    assert_eq!(value(&mut player, "at"), json!([150, 90, 0]));
    player.ok("browser_drag", json!({"from": map, "x": 10, "y": 20, "by_x": 100, "by_y": 50}));
    assert_eq!(value(&mut player, "[from, at]"), json!([[10, 20, 0], [110, 70, 1]]));
    // No way is left: a drag of a drawing begins where it is said to.
    player.ok("browser_drag", json!({"x": 190, "y": 10, "by_x": -50}));
    assert_eq!(value(&mut player, "[from, at]"), json!([[190, 10, 0], [140, 10, 1]]));
    let note = number(&mut player, "Note");
    player.ok("browser_drag", json!({"from": note, "x": 115, "y": 55, "by_x": 80, "by_y": 30}));
    assert_eq!(value(&mut player, "[t.offsetWidth, t.offsetHeight]"), json!([200, 90]));
    let volume = number(&mut player, "Volume");
    player.ok("browser_drag", json!({"from": volume, "x": 8, "y": 8, "by_x": 184}));
    assert_eq!(value(&mut player, "r.value"), "100");

    // A control within the element that is dragged gets no click.
    let row = number(&mut player, "Row Pay");
    player.ok("browser_drag", json!({"from": row, "by_x": 1}));
    assert_eq!(player.fails("browser_drag", json!({"from": row, "to": row})).0, "invalid_args");
    assert_eq!(player.fails("browser_drag", json!({"from": row, "x": 190, "y": 10, "by_x": 1})).1, "covered");
    assert_eq!(value(&mut player, "clicks"), 0);
    for wrong in [
        json!({"from": map}),
        json!({"to": map}),
        json!({"from": map, "to": row, "by_x": 3}),
        json!({"from": map, "x": 3, "to": row}),
        json!({"by_x": 3, "by_y": 3}),
    ] {
        assert_eq!(player.fails("browser_drag", wrong.clone()).0, "invalid_args", "{wrong}");
    }
    assert_eq!(player.fails("browser_hover", json!({})).0, "invalid_args");
}

#[test]
#[ignore = "needs Chromium"]
fn text_is_selected_where_it_stands() {
    let mut player = page(
        r#"<p id=a>First <b>second</b>
            third.</p><p id=b>First again</p><div id=edit contenteditable role=textbox aria-label=Letter>Dear <i>Ann</i>, hello</div>
            <input id=f aria-label=City value="New York"><input type=password aria-label=PIN value=hidden7>
            <p style="display:none">unseen</p><div id=host></div><iframe srcdoc="<p>in the frame</p>"></iframe>
            <button onclick="document.title = 'clicked'">Pay now</button>
            <script>host.attachShadow({mode: "open"}).innerHTML = "<p>in the shadow</p>";
            said = () => getSelection().toString()</script>"#,
    );
    player.ok("browser_select_text", json!({"text": "second third"}));
    assert_eq!(value(&mut player, "said()"), "second third");
    player.ok("browser_select_text", json!({"text": "third. First again"}));
    assert_eq!(value(&mut player, "said().split(/\\s+/).join(' ')"), "third. First again");
    player.ok("browser_select_text", json!({"text": "Pay now"}));
    assert_eq!(value(&mut player, "document.title"), "");

    let letter = player.number("Letter");
    player.ok("browser_select_text", json!({"index": letter, "text": "Ann"}));
    player.ok("browser_overlay_act", json!({"action": "type", "text": "Bob"}));
    assert_eq!(value(&mut player, "edit.innerText"), "Dear Bob, hello");
    player.ok("browser_select_text", json!({"index": letter}));
    assert_eq!(value(&mut player, "said()"), "Dear Bob, hello");

    player.ok("browser_select_text", json!({"text": "York"}));
    assert_eq!(value(&mut player, "[f.selectionStart, f.selectionEnd, document.activeElement.id]"), json!([4, 8, "f"]));
    for shown in ["in the shadow", "in the frame"] {
        player.ok("browser_select_text", json!({"text": shown}));
    }
    for missing in ["unseen", "hidden7", "second  Third", "nowhere"] {
        assert_eq!(player.fails("browser_select_text", json!({"text": missing})).1, "unfit", "{missing}");
    }
    assert_eq!(player.fails("browser_select_text", json!({"index": letter, "text": "First"})).1, "unfit");
    assert_eq!(player.fails("browser_select_text", json!({})).0, "invalid_args");
}

#[test]
#[ignore = "needs Chromium"]
fn text_is_waited_for_as_it_is_read() {
    let mut player = page(
        "<h2>Prices</h2><ul><li>Tea</ul><table><tr><td>Ann</td><td>14</td></tr></table><p>a | b</p><p>Two<br>lines</p>",
    );
    let read = player.ok("browser_extract", json!({"mode": "text"}))["text"].as_str().unwrap().to_owned();
    for text in read.lines().chain([&*read, "Ann\t14", "Two lines", "|"]) {
        player.ok("browser_wait", json!({"text": text, "timeout_ms": 2000}));
    }
    for missing in ["Ann | 15", "Annn", "14 Ann"] {
        assert_eq!(player.fails("browser_wait", json!({"text": missing, "timeout_ms": 300})).0, "timeout", "{missing}");
    }
}
