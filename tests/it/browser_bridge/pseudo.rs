//! Pseudo-elements under the mouse count as the element whose style makes them.

use super::Player;
use super::traps::{page, value};
use serde_json::{Value, json};

const STYLE: &str = r#"<style>
    body { margin: 0; font: 20px sans-serif }
    .icon { font-style: normal } .icon::before { content: "\2605" }
    .glow { position: relative } .glow::after { content: ""; position: absolute; inset: 0; background: #0f03 }
    .tick::before { content: "\2610"; font-size: 30px }
    .large { display: block } .large::first-letter { font-size: 60px }
    .card { position: relative; width: 300px; height: 110px; border: 1px solid }
    .wide::after { content: ""; position: absolute; inset: 0 }
    .veil { position: relative; width: 200px; height: 50px } .veil::before { content: ""; position: absolute; inset: 0; z-index: 1 }
    .native, .native::picker(select) { appearance: base-select } .native { width: 60px; height: 40px; justify-content: center }
    .native::picker-icon { font-size: 40px }
</style>"#;

#[test]
#[ignore = "needs Chromium"]
fn icons_and_other_generated_content_are_clicked_and_hovered() {
    let body = r#"
        <button aria-label=font><i class=icon></i></button> <button class=icon aria-label=own></button>
        <button class=glow>after</button> <button class=large>J</button>
        <details><summary style="width:12px;overflow:hidden;white-space:nowrap">more</summary></details>
        <ul style="margin:0"><li tabindex=0 role=option aria-label=marked style="list-style:decimal inside;width:18px;overflow:hidden">x</li></ul>
        <input type=checkbox id=box style="display:none" aria-label=agree><label for=box class=tick></label>
        <div style="position:relative;width:200px"><button class=glow style="width:100%"><span class=glow>deep</span></button></div>
        <x-star></x-star><iframe srcdoc="<style>b::before { content: 'XX' }</style><button aria-label=framed onclick='parent.document.title = this.ariaLabel'><b></b></button>"></iframe>
        <script>
            const done = (one) => document.title = one.ariaLabel ?? one.textContent;
            const root = document.querySelector("x-star").attachShadow({ mode: "closed" });
            root.innerHTML = `<style>i::before { content: "XX" }</style><button aria-label=shadowed><i></i></button>`;
            for (const one of [...document.querySelectorAll("button, summary, li, input"), root.querySelector("button")])
                one.addEventListener("click", () => done(one));
        </script>"#;
    let mut player = page(&format!("{STYLE}{body}"));
    for name in ["font", "own", "after", "J", "more", "marked", "deep", "shadowed", "framed"] {
        assert_eq!(player.click(name)["title"], name);
        let index = player.number(name);
        player.ok("browser_hover", json!({"index": index}));
    }
    let list = player.ok("browser_find", json!({"role": "checkbox"}));
    player.ok("browser_overlay_act", json!({"index": list["items"][0]["index"]}));
    assert_eq!(value(&mut player, "document.querySelector('input').checked"), true);
}

fn covered(player: &mut Player, name: &str) -> String {
    let index = player.number(name);
    let refused = player.call("browser_overlay_act", json!({"index": index}));
    assert_eq!((&refused["kind"], &refused["code"]), (&"tool_error".into(), &"covered".into()), "{name}: {refused}");
    refused["error"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs Chromium"]
fn what_generated_content_covers_is_not_clicked() {
    let body = r#"<div class=card tabindex=0 role=group aria-label=card><a class=wide href=#read>Read</a><p><button>Buy</button></p></div>
        <div class=veil id=v><button>Veiled</button></div>
        <button onclick="d.showModal()">Open</button><button>Behind</button><dialog id=d><button>Inside</button></dialog>
        <script>onclick = (event) => document.title = event.target.textContent</script>"#;
    let mut player = page(&format!("{STYLE}{body}"));
    assert_eq!(player.click("Read")["title"], "Read");
    assert_eq!(covered(&mut player, "Buy"), "a \"Read\" (number 2) is in the way");
    assert_eq!(covered(&mut player, "card"), "a \"Read\" (number 2) is in the way");
    assert!(covered(&mut player, "Veiled").starts_with("div#v "));
    player.click("Open");
    assert!(covered(&mut player, "Behind").starts_with("dialog#d "));
    assert_eq!(player.click("Inside")["title"], "Inside");
}

#[test]
#[ignore = "needs Chromium"]
fn parts_of_fields_and_things_that_are_dragged_may_have_generated_content() {
    let body = r#"<input aria-label=city placeholder="Some city or other"><input type=file aria-label=file>
        <select class=native aria-label=size><option>S<option>L</select>
        <div draggable=true tabindex=0 role=button aria-label=one class=glow style="width:100px" ondragend="document.title += ' end'">1</div>
        <div tabindex=0 role=button aria-label=two class=glow style="width:100px" ondragover="event.preventDefault()" ondrop="document.title = 'drop'">2</div>"#;
    let mut player = page(&format!("{STYLE}{body}"));
    for name in ["city", "file: No file chosen", "size"] {
        let index = player.number(name);
        player.ok("browser_hover", json!({"index": index}));
    }
    let (from, to) = (player.number("one"), player.number("two"));
    assert_eq!(player.ok("browser_drag", json!({"from": from, "to": to}))["title"], "drop end");
}

#[test]
#[ignore = "needs Chromium"]
fn a_form_with_fields_named_like_properties_does_not_stop_our_scripts() {
    let names = "innerText computedName computedRole matches id title placeholder localName closest getAttribute nodeType childNodes \
        shadowRoot parentElement assignedSlot checkVisibility getBoundingClientRect contains getRootNode children scrollBy type \
        autocomplete ariaLabel compareDocumentPosition";
    let mut player = page(&format!("{STYLE}<h1>Shop</h1><div id=holder></div>"));
    for name in names.split_whitespace() {
        let form = format!(
            r#"<form id=f class=veil tabindex=0 style="width:100%"><input type=hidden name={name}><button type=button>Veiled</button>
            <input name={name}><p>Some words</p></form><p>We use cookies and similar techniques for advertising and analytics.</p>"#
        );
        value(&mut player, &format!("void (holder.innerHTML = {})", Value::from(form)));
        assert!(covered(&mut player, "Veiled").starts_with("form#f "), "{name}");
        value(&mut player, "void HTMLElement.prototype.focus.call(f)");
        let pressed = player.ok("browser_press", json!({"key": "x"}));
        assert!(["form", "generic"].contains(&pressed["focused_role"].as_str().unwrap()), "{name}: {pressed}");
        player.ok("browser_close_banners", json!({"time_budget_ms": 100}));
        let text = player.ok("browser_extract", json!({"mode": "text"}))["text"].to_string();
        assert!(text.contains("Some words"), "{name}: {text}");
        player.ok("browser_scroll", json!({"by_y": 10}));
        player.ok("browser_wait", json!({"selector": "form", "timeout_ms": 1000}));
    }
}

#[test]
#[ignore = "needs Chromium"]
fn elements_named_like_properties_of_a_node_do_not_stop_our_scripts() {
    let body = r#"<img name=host><img name=parentNode><img name=assignedSlot><img name=activeElement><img name=element><p id=addEventListener></p>
        <button class=icon aria-label=Go></button><input aria-label=Name><script>document.addEventListener("click", (event) => document.title = "Gone")</script>"#;
    let mut player = page(&format!("{STYLE}{body}"));
    assert_eq!(player.click("Go")["title"], "Gone");
    let name = player.number("Name");
    let typed = player.ok("browser_overlay_act", json!({"index": name, "action": "type", "text": "Ada"}));
    assert_eq!((&typed["input_ok"], &typed["focused_name"]), (&true.into(), &"Name".into()), "{typed}");
    player.ok("browser_close_banners", json!({"time_budget_ms": 100}));
}
