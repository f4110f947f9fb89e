//! Text and keys reach the element that the call names, or nothing.

use super::traps::{html, page, value};
use super::{Player, serve_with};
use serde_json::{Value, json};

/// Notes in the title whatever gets text, a key or a click that it should not get.
const BAD: &str = r#"<dialog id=d><input id=bad aria-label=Message oninput="document.title = 'BAD ' + value"
    onkeydown="document.title = 'BAD ' + event.key"><button id=del onclick="document.title = 'BAD deleted'">Delete account</button></dialog>
    <button id=free onclick="document.title = 'BAD free'" onkeydown="document.title = 'BAD ' + event.key">Delete all</button>"#;

fn type_into(player: &mut Player, name: &str, text: &str) -> Value {
    let index = player.number(name);
    player.call("browser_overlay_act", json!({"index": index, "action": "type", "text": text}))
}

fn press(player: &mut Player, name: &str, key: &str) -> Value {
    let index = player.number(name);
    player.call("browser_press", json!({"id": index, "key": key}))
}

fn is_refused(player: &mut Player, answer: &Value) {
    assert_eq!((&answer["kind"], &answer["code"]), (&"tool_error".into(), &"not_focused".into()), "{answer}");
    assert!(!value(player, "document.title").as_str().unwrap().contains("BAD"), "{answer}");
}

#[test]
#[ignore = "needs Chromium"]
fn nothing_is_typed_or_pressed_if_something_else_has_the_focus() {
    // How the focus is elsewhere: a script, run before the call.
    for setting in [
        "d.showModal(); bad.focus()",
        "d.showModal(); del.focus()",
        "document.querySelector('main').inert = true; free.focus()",
        "document.addEventListener('focusin', (event) => event.target === free || free.focus()); free.focus()",
        "q.onfocus = n.onfocus = go.onfocus = t.onfocus = () => free.focus()",
        "q.onfocus = n.onfocus = go.onfocus = t.onfocus = () => { d.show(); bad.focus() }",
        "q.onfocus = n.onfocus = go.onfocus = t.onfocus = (event) => event.target.blur(); free.focus()",
        "for (const one of [q, n, go, t]) one.focus = () => {}; HTMLElement.prototype.focus = () => {}; d.showModal(); del.focus()",
    ] {
        let mut player = page(&format!(
            r#"<title>start</title><main><input id=q type=search aria-label=Search><input id=n aria-label=Note><button id=go>Show</button>
            <div id=t contenteditable role=textbox aria-label=Text style="height:20px"></div></main>{BAD}"#
        ));
        value(&mut player, &format!("void eval({})", Value::from(setting)));
        for name in ["Search", "Note", "Text"] {
            let refused = type_into(&mut player, name, "secret words");
            is_refused(&mut player, &refused);
            assert_eq!(refused["data"]["textLen"], 0, "{setting}: {refused}");
        }
        for (name, key) in
            [("Search", "Enter"), ("Show", "Enter"), ("Show", "Space"), ("Note", "x"), ("Note", "Delete")]
        {
            let refused = press(&mut player, name, key);
            is_refused(&mut player, &refused);
        }
        let all = value(
            &mut player,
            "[...document.querySelectorAll('input')].map((one) => one.value).join('') + t.innerText",
        );
        assert_eq!(all, "", "{setting}");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn the_answer_names_what_has_the_focus() {
    let mut player =
        page(&format!("<input type=search aria-label=Search>{BAD}<script>d.showModal(); del.focus()</script>"));
    let refused = type_into(&mut player, "Search", "how");
    assert_eq!(
        refused["data"],
        json!({"focused_role": "button", "focused_name": "Delete account", "textLen": 0}),
        "{refused}"
    );
    assert!(refused["error"].as_str().unwrap().ends_with("button \"Delete account\" has it now"), "{refused}");
}

#[test]
#[ignore = "needs Chromium"]
fn enter_is_not_pressed_after_the_focus_has_moved() {
    for moving in [
        "q.oninput = () => free.focus()",
        "q.oninput = () => { d.showModal(); del.focus() }",
        "q.oninput = () => setTimeout(() => free.focus())",
        "q.oninput = () => q.blur()",
        "q.addEventListener('beforeinput', () => setTimeout(() => free.focus()))",
    ] {
        let mut player = page(&format!(
            "<title>start</title><input id=q type=search aria-label=Search>{}",
            BAD.replace(" onkeydown=\"document.title = 'BAD ' + event.key\">Delete all", ">Delete all")
        ));
        value(&mut player, &format!("void eval({})", Value::from(moving)));
        let refused = type_into(&mut player, "Search", "how to");
        is_refused(&mut player, &refused);
        assert_eq!(refused["data"]["textLen"], 6, "{moving}: {refused}");
        assert!(
            refused["error"].as_str().unwrap().starts_with("the text was typed, but Enter was not pressed"),
            "{refused}"
        );
        assert_eq!(value(&mut player, "q.value"), "how to", "{moving}");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_key_that_the_element_got_was_pressed_even_if_the_page_then_moves_the_focus() {
    // Chromium sends the rest of a key to what its first event has focused.
    for moving in [
        "q.blur()",
        "free.focus()",
        "d.showModal(); del.focus()",
        "q.disabled = true",
        "const row = document.createElement('input'); document.body.append(row); row.focus()",
    ] {
        let mut player = page(&format!(
            r#"<title>start</title><input id=q type=search aria-label=Search>{}<script>let times = 0;
            free.onkeyup = del.onkeyup = () => document.title = 'BAD keyup';
            q.onkeydown = (event) => {{ if (event.key === 'Enter') {{ times += 1; {moving} }} }}</script>"#,
            BAD.replace(" onkeydown=\"document.title = 'BAD ' + event.key\">Delete all", ">Delete all")
        ));
        let typed = type_into(&mut player, "Search", "how to");
        assert_eq!((&typed["status"], &typed["data"]["auto_enter"]), (&"ok".into(), &true.into()), "{moving}: {typed}");
        value(&mut player, "void (q.disabled = false, d.close())");
        let pressed = press(&mut player, "Search", "Enter");
        assert_eq!(pressed["status"], "ok", "{moving}: {pressed}");
        assert_eq!(value(&mut player, "[times, document.title, q.value]"), json!([2, "start", "how to"]), "{moving}");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn text_that_the_element_did_not_get_is_an_error_even_if_it_got_a_key_before() {
    let mut player = page(&format!(
        "<title>start</title><input id=q type=email aria-label=Note value=kept>{BAD}<script>d.show(); q.onkeydown = () => bad.focus()</script>"
    ));
    let index = player.number("Note");
    for arguments in [json!({"text": "more", "append": true}), json!({"text": ""})] {
        let mut arguments = arguments;
        arguments["index"] = index.into();
        arguments["action"] = "type".into();
        let refused = player.call("browser_overlay_act", arguments);
        is_refused(&mut player, &refused);
        assert_eq!(value(&mut player, "[q.value, bad.value]"), json!(["kept", ""]));
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_text_field_without_a_number_takes_the_keys_of_the_element_around_it() {
    let mut player = page(
        r#"<div id=t role=group tabindex=0 aria-label=Terminal onfocus="inner.focus()">screen<textarea id=inner aria-label="Terminal input"
        style="position:absolute;opacity:0;left:-9999em"></textarea></div>"#,
    );
    let pressed = press(&mut player, "Terminal", "x");
    assert_eq!(pressed["status"], "ok", "{pressed}");
    assert_eq!(value(&mut player, "inner.value"), "x");
}

#[test]
#[ignore = "needs Chromium"]
fn a_field_that_passes_the_focus_on_does_not_pass_text_or_keys_on() {
    for kind in ["beforeinput", "textInput", "keydown", "keypress"] {
        let mut player = page(&format!(
            r#"<title>start</title><input id=q aria-label=Note value=kept><div id=t contenteditable role=textbox aria-label=Text>kept</div>{BAD}
            <script>d.show(); for (const one of [q, t]) one.addEventListener("{kind}", (event) => {{ bad.value = "mine"; bad.focus(); bad.select(); }});
            </script>"#
        ));
        for name in ["Note", "Text"] {
            let typed = type_into(&mut player, name, "secret");
            assert!(typed["status"] == "ok" || typed["code"] == "not_focused", "{kind}: {typed}");
            for key in ["x", "Delete", "Enter"] {
                press(&mut player, name, key);
            }
        }
        let all = value(&mut player, "[document.title, bad.value]");
        assert!([json!(["start", "mine"]), json!(["start", ""])].contains(&all), "{kind}: {all}");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_stolen_focus_gets_no_part_of_a_long_text() {
    let mut player = page(&format!(
        r#"<title>start</title><textarea id=long aria-label=Long></textarea><div id=rich contenteditable role=textbox aria-label=Rich></div>{BAD}
        <script>setInterval(() => bad.focus(), 1); d.show();</script>"#
    ));
    let text = "line of words\n".repeat(2000);
    for name in ["Long", "Rich"] {
        let typed = type_into(&mut player, name, &text);
        assert!(typed["status"] == "ok" || typed["code"] == "not_focused", "{}", typed["error"]);
        assert_eq!(value(&mut player, "bad.value + document.title"), "start");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn an_element_that_is_removed_while_it_is_typed_into_takes_enter_with_it() {
    let mut player = page(&format!(
        r#"<title>start</title><input id=q type=search aria-label=Search>{BAD}<script>q.oninput = () => {{ q.remove(); free.focus() }}</script>"#
    ));
    let gone = type_into(&mut player, "Search", "how");
    assert_eq!(gone["code"], "stale_index", "{gone}");
    assert_eq!(value(&mut player, "document.title"), "start");
}

#[test]
#[ignore = "needs Chromium"]
fn dates_and_lists_behind_a_dialog_are_not_set_but_a_widget_may_take_their_focus() {
    let body = r#"<input id=day type=date aria-label=Day><select id=size aria-label=Size><option>S<option>L</select>"#;
    let set = |player: &mut Player| {
        ["Day", "Size"].map(|name| {
            let index = player.number(name);
            let (action, text) = if name == "Day" { ("type", "2026-11-23") } else { ("select", "L") };
            player.call("browser_overlay_act", json!({"index": index, "action": action, "text": text}))
        })
    };
    let mut player = page(&format!("<title>start</title>{body}{BAD}<script>d.showModal()</script>"));
    for refused in set(&mut player) {
        is_refused(&mut player, &refused);
    }
    assert_eq!(value(&mut player, "day.value + size.value"), "S");
    let mut player = page(&format!("{body}{BAD}<script>day.onfocus = size.onfocus = () => free.focus()</script>"));
    for done in set(&mut player) {
        assert_eq!(done["status"], "ok", "{done}");
    }
    assert_eq!(value(&mut player, "day.value + size.value"), "2026-11-23L");
}

#[test]
#[ignore = "needs Chromium"]
fn the_focus_within_an_element_counts_if_it_is_the_element_itself_that_takes_keys() {
    let mut player = page(
        r#"<div id=box role=combobox tabindex=0 aria-label=City onfocus="inner.focus()"><input id=inner placeholder="Type here"></div>
        <x-open aria-label=Open role=textbox tabindex=0></x-open><x-closed></x-closed>
        <div id=outer contenteditable role=textbox aria-label=Outer><p id=p contenteditable role=textbox aria-label=Part>old</p><p>rest</p></div>
        <label id=l onclick=1>Agree <input id=agree type=checkbox></label>
        <script>
            const notes = []; addEventListener("keydown", (event) => notes.push(event.key), true);
            const open = document.querySelector("x-open").attachShadow({ mode: "open", delegatesFocus: true });
            open.innerHTML = "<input>";
            const closed = document.querySelector("x-closed").attachShadow({ mode: "closed" });
            closed.innerHTML = "<input aria-label=Closed>";
        </script>"#,
    );
    for (name, key) in
        [("City", "ArrowDown"), ("City", "x"), ("Open", "y"), ("Closed", "z"), ("Outer", "End"), ("Agree", "Space")]
    {
        let pressed = press(&mut player, name, key);
        assert_eq!(pressed["status"], "ok", "{name} {key}: {pressed}");
    }
    let part = type_into(&mut player, "Part", "new");
    assert_eq!(part["status"], "ok", "{part}");
    assert_eq!(type_into(&mut player, "Closed", "in")["status"], "ok");
    let all = "[inner.value, open.firstChild.value, closed.firstChild.value, outer.innerText.replace(/\\s+/g, ' '), agree.checked, notes.length]";
    assert_eq!(value(&mut player, all), json!(["x", "y", "in", "new rest", true, 6]));
}

#[test]
#[ignore = "needs Chromium"]
fn the_focus_on_another_control_within_an_element_does_not_count() {
    let mut player = page(
        r#"<title>start</title><div tabindex=0 role=group aria-label=Group onfocus="inner.focus()"><button id=inner onclick="document.title = 'BAD'">Delete</button></div>
        <div tabindex=0 role=group aria-label=Chat onfocus="message.focus()"><input id=message aria-label=Message></div>
        <div tabindex=0 role=textbox aria-label=Field onfocus="remove.focus()"><button id=remove onclick="document.title = 'BAD'">Field</button></div>
        <div tabindex=0 role=group aria-label=Frame onfocus="f.focus()"><iframe id=f srcdoc="<button autofocus onclick='top.document.title = `BAD`'>Delete</button>"></iframe></div>
        <div onclick=1 role=button aria-label=Plain>Plain</div>"#,
    );
    for name in ["Group", "Chat", "Field", "Frame", "Plain"] {
        let refused = press(&mut player, name, "Enter");
        is_refused(&mut player, &refused);
    }
}

#[test]
#[ignore = "needs Chromium"]
fn the_focus_is_checked_through_frames() {
    // A page with a field in a frame of its own site or of another one, next to another frame.
    for is_other in [false, true] {
        let answer = |path: &str| {
            let inner = r#"<meta charset=utf-8><input id=q aria-label=Field><input aria-label=Search type=search
                oninput="parent.postMessage('steal', '*')"><input aria-label=Keys onkeydown="parent.postMessage('steal', '*')">"#;
            let other = r#"<button id=b onclick="parent.postMessage('BAD', '*')">Delete</button><script>onmessage = () => b.focus()</script>"#;
            match path {
                "/inner" => Some(html(inner)),
                "/other" => Some(html(other)),
                _ => None,
            }
        };
        let frames = serve_with(answer);
        let host = if is_other { frames.replace("127.0.0.1", "localhost") } else { String::new() };
        let outer = format!(
            r#"<title>start</title><iframe src="{host}/inner"></iframe><iframe id=other src="/other"></iframe>{BAD}<script>
            let steals = true;
            onmessage = (event) => {{ if (event.data === "BAD") document.title = "BAD"; else if (steals) free.focus(); }}</script>"#
        );
        let outer = serve_with(move |path| if path == "/" { Some(html(&outer)) } else { answer(path) });
        let mut player =
            Player::start(&[&outer, "--allow-evaluate", "--allow-origin", if is_other { &host } else { &outer }]);
        player.ok("browser_wait", json!({"network_idle": true}));
        assert_eq!(type_into(&mut player, "Field", "in a frame")["status"], "ok");
        let refused = type_into(&mut player, "Search", "how");
        is_refused(&mut player, &refused);
        let pressed = press(&mut player, "Keys", "x");
        assert!(pressed["status"] == "ok" || pressed["code"] == "not_focused", "{pressed}");
        // The page around it takes the focus back as soon as the frame has it.
        value(&mut player, "void (steals = false, d.showModal(), onblur = () => { del.focus(); bad.focus(); })");
        for name in ["Field", "Search"] {
            for answer in [type_into(&mut player, name, "secret"), press(&mut player, name, "Enter")] {
                assert!(answer["status"] == "ok" || answer["code"] == "not_focused", "{answer}");
            }
        }
        assert_eq!(value(&mut player, "bad.value + document.title"), "start");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_key_without_a_number_goes_to_the_focus_that_was_reported() {
    let mut player = page(&format!(
        r#"<title>start</title><input id=q aria-label=Note><iframe id=f srcdoc="<input id=i aria-label=Inner>"></iframe>{BAD}"#
    ));
    assert_eq!(type_into(&mut player, "Note", "a")["data"]["focused_name"], "Note");
    player.ok("browser_press", json!({"key": "b"}));
    assert_eq!(value(&mut player, "q.value"), "ab");
    value(&mut player, "void setTimeout(() => free.focus(), 300)");
    player.ok("browser_wait", json!({"ms": 500}));
    let refused = player.call("browser_press", json!({}));
    is_refused(&mut player, &refused);
    assert_eq!(refused["data"]["focused_name"], "Delete all", "{refused}");
    // Now it is known what the key presses.
    assert_eq!(player.ok("browser_press", json!({}))["title"], "BAD free");
    // A key that opens a dialog leaves nothing behind.
    value(&mut player, "void (document.title = 'start', q.onkeydown = () => alert('Hi'))");
    assert_eq!(press(&mut player, "Note", "x")["data"]["dialog"]["message"], "Hi");
    player.ok("browser_dialog", json!({"accept": true}));
    value(&mut player, "void (q.onkeydown = null, f.contentDocument.getElementById('i').focus())");
    player.ok("browser_press", json!({"key": "c"}));
    assert_eq!(value(&mut player, "f.contentDocument.getElementById('i').value"), "c");
}

#[test]
#[ignore = "needs Chromium"]
fn a_key_without_a_number_goes_to_the_same_element_also_in_frames() {
    for is_other in [false, true] {
        let answer = |path: &str| {
            let inner = r#"<meta charset=utf-8><input id=q aria-label=Note><input type=password aria-label=Key><input id=b><button id=del
                onclick="parent.postMessage('BAD', '*')">Delete</button>
                <script>onmessage = ({ data }) => document.getElementById(data).focus()</script>"#;
            (path == "/inner").then(|| html(inner))
        };
        let frames = serve_with(answer);
        let host = if is_other { frames.replace("127.0.0.1", "localhost") } else { String::new() };
        let outer = format!(
            r#"<title>start</title><iframe id=f src="{host}/inner"></iframe><script>onmessage = () => document.title = "BAD"</script>"#
        );
        let outer = serve_with(move |path| if path == "/" { Some(html(&outer)) } else { answer(path) });
        let mut player =
            Player::start(&[&outer, "--allow-evaluate", "--allow-origin", if is_other { &host } else { &outer }]);
        player.ok("browser_wait", json!({"network_idle": true}));
        let typed = type_into(&mut player, "Key", "a");
        assert_eq!((&typed["data"]["focused_name"], &typed["data"]["is_secret"]), (&"Key".into(), &true.into()));
        let typed = type_into(&mut player, "Note", "a");
        let told = [&typed["data"]["focused_role"], &typed["data"]["focused_name"], &typed["data"]["is_secret"]];
        assert_eq!(told, [&json!("textbox"), &json!("Note"), &Value::Null], "{typed}");
        assert_eq!(player.ok("browser_press", json!({"key": "b"}))["focused_name"], "Note");
        value(&mut player, "void setTimeout(() => f.contentWindow.postMessage('del', '*'), 300)");
        player.ok("browser_wait", json!({"ms": 600}));
        let refused = player.call("browser_press", json!({}));
        is_refused(&mut player, &refused);
        assert_eq!(refused["data"]["focused_name"], "Delete", "{refused}");
        assert_eq!(player.ok("browser_press", json!({}))["title"], "BAD");
    }
    // Of the same role and name, but another one.
    let mut player = page("<input id=a><input id=b>");
    value(&mut player, "a.focus()");
    player.ok("browser_press", json!({"key": "x"}));
    value(&mut player, "void setTimeout(() => b.focus(), 300)");
    player.ok("browser_wait", json!({"ms": 500}));
    let refused = player.call("browser_press", json!({"key": "y"}));
    is_refused(&mut player, &refused);
    player.ok("browser_press", json!({"key": "z"}));
    assert_eq!(value(&mut player, "[a.value, b.value]"), json!(["x", "z"]));
}
