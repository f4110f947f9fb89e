//! Properties of pages that make them hard to drive.

use super::{Player, serve, serve_with};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;

/// A page given as text.
pub(super) fn page(body: &str) -> Player {
    let answer = html(&format!("<!doctype html><meta charset=utf-8>{body}"));
    Player::start(&[&serve_with(move |path| (path == "/").then(|| answer.clone())), "--allow-evaluate"])
}

pub(super) fn html(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

pub(super) fn value(player: &mut Player, script: &str) -> Value {
    player.ok("browser_evaluate", json!({"script": script}))["value"].clone()
}

fn put(player: &mut Player, name: &str, action: &str, text: &str) -> Value {
    let index = player.number(name);
    player.ok("browser_overlay_act", json!({"index": index, "action": action, "text": text}))
}

#[test]
#[ignore = "needs Chromium"]
fn elements_in_a_closed_shadow_root_are_listed_and_acted_on() {
    let mut player = page(
        "<x-form></x-form><script>
        const root = document.querySelector('x-form').attachShadow({mode: 'closed'});
        root.innerHTML = '<label>Name <input></label><button>Send</button>';
        root.querySelector('button').addEventListener('click', () => document.title = root.querySelector('input').value);
        </script>",
    );
    put(&mut player, "Name", "type", "Ada");
    assert_eq!(player.click("Send")["title"], "Ada");
}

#[test]
#[ignore = "needs Chromium"]
fn elements_in_a_frame_of_another_site_are_listed_and_acted_on() {
    let inner = serve(&[(
        "/",
        "<label>Card <input></label><button onclick=\"this.textContent = document.querySelector('input').value\">Check</button>",
    )]);
    let frame = inner.replace("127.0.0.1", "localhost");
    let outer = html(&format!("<!doctype html><button>Own</button><iframe src={frame}/></iframe>"));
    let outer = serve_with(move |path| (path == "/").then(|| outer.clone()));
    let mut player = Player::start(&[&outer, "--allow-origin", &frame]);
    player.ok("browser_wait", json!({"network_idle": true}));
    put(&mut player, "Card", "type", "4242");
    player.click("Check");
    player.number("4242");
    player.number("Own");
}

#[test]
#[ignore = "needs Chromium"]
fn an_application_that_never_stops_loading_is_used_as_it_is() {
    let mut player = Player::start(&[&serve(&[
        (
            "/",
            "<!doctype html><title>Feed</title><a href=/item onclick=\"event.preventDefault(); history.pushState(0, '', '/item'); \
             document.title = 'Item'\">Item</a><script>setInterval(() => fetch('/poll'), 50)</script>",
        ),
        ("/poll", "x"),
    ])]);
    let index = player.number("Item");
    let done = player.ok("browser_overlay_act", json!({"index": index, "settle": "network"}));
    assert_eq!((&done["nav_type"], &done["title"]), (&"spa".into(), &"Item".into()), "{done}");
    assert_eq!(player.fails("browser_wait", json!({"network_idle": true, "timeout_ms": 1000})).0, "timeout");
}

#[test]
#[ignore = "needs Chromium"]
fn a_slow_network_is_waited_for() {
    let mut player = Player::start(&[&serve_with(|path| match path {
        "/" => Some(html(
            "<!doctype html><title>Fast</title><a href=/slow>Slow</a>
            <button onclick=\"fetch('/data').then(() => document.title = 'Data')\">Load</button>",
        )),
        "/slow" | "/data" => {
            thread::sleep(Duration::from_millis(1500));
            Some(html("<!doctype html><title>Slow</title><p>Came"))
        }
        _ => None,
    })]);
    let load = player.number("Load");
    assert_eq!(player.ok("browser_overlay_act", json!({"index": load, "settle": "network"}))["title"], "Data");
    let slow = player.click("Slow");
    assert_eq!((&slow["nav_type"], &slow["title"]), (&"full".into(), &"Slow".into()), "{slow}");
}

#[test]
#[ignore = "needs Chromium"]
fn media_that_plays_is_reported() {
    let mut player = page(
        "<canvas width=64 height=64></canvas><video width=64 height=64 muted></video><button>Play</button><button>Stop</button><script>
        const [canvas, video] = document.querySelectorAll('canvas, video'), brush = canvas.getContext('2d');
        setInterval(() => { brush.fillStyle = `rgb(${Date.now() % 255} 0 0)`; brush.fillRect(0, 0, 64, 64); }, 20);
        video.srcObject = canvas.captureStream(25);
        const [play, stop] = document.querySelectorAll('button');
        play.onclick = () => video.play();
        stop.onclick = () => video.pause();
        </script>",
    );
    player.click("Play");
    player.ok("browser_wait", json!({"ms": 500}));
    let playing = player.click("Play");
    assert_eq!(playing["media"]["playing"], true, "{playing}");
    assert!(playing["media"]["time"].as_f64().unwrap() > 0.1, "{playing}");
    assert_eq!(player.click("Stop")["media"]["playing"], false);
}

#[test]
#[ignore = "needs Chromium"]
fn every_kind_of_input_accepts_its_values() {
    let inputs = [
        ("text", "Юля 李 🙂"),
        ("search", "kettle"),
        ("email", "ada@example.org"),
        ("password", "Secret-7"),
        ("url", "https://example.org/"),
        ("tel", "+49 30 1234"),
        ("number", "42.5"),
        ("date", "2026-11-23"),
        ("time", "18:45"),
        ("datetime-local", "2026-11-23T18:45"),
        ("month", "2026-11"),
        ("week", "2026-W48"),
        ("color", "#336699"),
        ("range", "70"),
    ];
    let fields = inputs.map(|(kind, _)| format!("<label>a {kind}<input type={kind} step=any></label>")).concat();
    let mut player = page(&format!(
        "{fields}<label>size<select><option value=s>Small<option value=l>Large</select></label>
        <label>sizes<select multiple><option>One<option>Two</select></label>
        <label>note<textarea></textarea></label><div contenteditable role=textbox aria-label=rich>old</div>"
    ));
    for (kind, text) in inputs {
        let done = put(&mut player, &format!("a {kind}"), "type", text);
        assert_eq!(done["input_ok"], true, "{kind}: {done}");
    }
    let values = value(&mut player, "[...document.querySelectorAll('input')].map((one) => one.value)");
    assert_eq!(values, json!(inputs.map(|(_, text)| text)));
    for (name, option) in [("size", "Large"), ("sizes", "Two")] {
        assert_eq!(put(&mut player, name, "select", option)["select_ok"], true, "{name}");
    }
    put(&mut player, "note", "type", "line one\nline two");
    put(&mut player, "rich", "type", "новое 茶 🫖");
    let others = "[...document.querySelectorAll('select, textarea, [contenteditable]')].map((one) => one.value ?? one.innerText)";
    assert_eq!(value(&mut player, others), json!(["l", "Two", "line one\nline two", "новое 茶 🫖"]));
    // As a person writes it in a browser whose language is English.
    for (name, text, is) in
        [("a date", "4/27/2018", "2018-04-27"), ("a time", "7:05 PM", "19:05"), ("a time", "12:30 a.m.", "00:30")]
    {
        assert_eq!(put(&mut player, name, "type", text)["input_ok"], true, "{name}");
        let kind = name.trim_start_matches("a ");
        assert_eq!(value(&mut player, &format!("document.querySelector('[type={kind}]').value")), is);
    }
    let day = player.number("a date");
    for text in ["27/4/2018", "4/27/18"] {
        player.fails("browser_overlay_act", json!({"index": day, "action": "type", "text": text}));
    }
    let wrong = player.fails("browser_overlay_act", json!({"index": day, "action": "type", "text": "tomorrow"}));
    assert_eq!(wrong, ("tool_error".into(), "unfit".into()));
}

#[test]
#[ignore = "needs Chromium"]
fn a_file_is_selected_in_a_hidden_input_with_a_visible_label() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("отчёт.txt"), "b").unwrap();
    let site = serve(&[(
        "/",
        "<!doctype html><label style='border:1px solid;padding:9px'>Choose a report<input type=file style='display:none' \
         onchange='document.title = files[0].name'></label>",
    )]);
    let mut player = Player::start(&[&site, "--upload-root", folder.path().to_str().unwrap()]);
    let list = player.ok("browser_list_interactives", json!({"view": "full"}));
    let file = &list["items"][0];
    assert!(file["name"].as_str().unwrap().contains("Choose a report"), "{list}");
    assert_eq!(player.ok("browser_upload", json!({"id": file["index"], "files": ["отчёт.txt"]}))["uploaded"], 1);
    assert_eq!(player.ok("browser_tabs", json!({}))["tabs"][0]["title"], "отчёт.txt");
}
