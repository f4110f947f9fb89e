//! The deals of buttons that order or pay, on pages that make them hard to read, or change them at the last moment.

use super::traps::{html, page, value};
use super::{Player, serve, serve_with};
use serde_json::{Value, json};

/// A list of the complete page.
fn list(player: &mut Player) -> Value {
    player.ok("browser_list_interactives", json!({"scope": "page", "limit": 20_000}))
}

fn number(listed: &Value, name: &str) -> u64 {
    let mut items = listed["items"].as_array().unwrap().iter().filter_map(Value::as_str);
    let item = items.find(|item| item.ends_with(&format!(" {name}"))).unwrap_or_else(|| panic!("no {name}: {listed}"));
    item.split_once(' ').unwrap().0.parse().unwrap()
}

/// The deal of a number.
fn deal(listed: &Value, number: u64) -> Value {
    let named = |deal: &&Value| deal["numbers"].as_array().unwrap().contains(&number.into());
    listed["deals"].as_array().and_then(|deals| deals.iter().find(named).cloned()).unwrap_or_default()
}

/// The text of the deal of the only button that pays.
fn text(body: &str, name: &str) -> Value {
    let mut player = page(body);
    let listed = list(&mut player);
    deal(&listed, number(&listed, name))
}

/// A click that was approved for the deal that was listed, as the gates make it.
fn click(player: &mut Player, listed: &Value, number: u64) -> Value {
    player.call("browser_overlay_act", json!({"index": number, "deal": approved(listed, number)}))
}

/// The deal of a number, as the gates add it to a call.
fn approved(listed: &Value, number: u64) -> Value {
    let mut deal = deal(listed, number);
    deal.as_object_mut().unwrap_or_else(|| panic!("no deal of {number}: {listed}")).remove("numbers");
    deal
}

#[track_caller]
fn assert_changed(answer: &Value) {
    assert_eq!((&answer["kind"], &answer["code"]), (&"tool_error".into(), &"deal_changed".into()), "{answer}");
}

#[test]
#[ignore = "needs Chromium"]
fn only_what_a_person_sees_is_a_deal() {
    let hidden = [
        "<p style='position: absolute; left: -9999px'>off $1</p>",
        "<p style='position: fixed; top: -200px'>above $1</p>",
        "<p style='color: white'>white $1</p>",
        "<p style='background: #222; color: #232323'>dark $1</p>",
        "<p style='color: transparent'>transparent $1</p>",
        "<p style='color: rgba(0, 0, 0, .01)'>thin $1</p>",
        "<p style='font-size: 0'>small $1</p>",
        "<p style='opacity: 0'>faded $1</p>",
        "<p style='visibility: hidden'>hidden $1</p>",
        "<p style='transform: scale(0)'>scaled $1</p>",
        "<p style='text-indent: -9999px; overflow: hidden'>indented $1</p>",
        "<div style='height: 0; overflow: hidden'><p>folded $1</p></div>",
        "<p style='position: absolute; clip-path: inset(50%)'>clipped $1</p>",
        "<p style='position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0)'>spoken $1</p>",
        "<p hidden>none $1</p>",
        "<span aria-label='Total $1'></span><img alt='Total $1'><svg><title>Total $1</title></svg>",
        "<details><summary>More</summary>closed $1</details><template>template $1</template><input type=hidden value='$1'>",
        "<input type=password value='$1'><input autocomplete=cc-number value='$1'>",
    ];
    let shown = [
        "<p>Kettle $20</p>",
        "<p style='background: #222; color: white'>Teapot $30</p>",
        "<p style='background-image: linear-gradient(#000, #000); color: white'>Cup $5</p>",
        "<p><input readonly value='Code $2'> <select><option>A<option selected>Express $9</select></p>",
        "<p><label><input type=checkbox checked style='opacity: 0; position: absolute'>Insurance $3</label></p>",
        "<style>.sum::after { content: ' $69'; }</style><p class=sum>Total</p>",
        "<p><svg width=200 height=20><text y=15>Points $0</text></svg></p>",
    ];
    let body = format!("<form>{}{}<button type=button>Pay now</button></form>", hidden.concat(), shown.concat());
    let found = text(&body, "Pay now");
    let expected = [
        "More",
        "Kettle $20",
        "Teapot $30",
        "Cup $5",
        "Code $2 Express $9",
        "[x] Insurance $3",
        "Total $69",
        "Points $0",
    ];
    assert_eq!(found["text"], json!(expected), "{found}");
    assert_eq!(found.get("note"), None);
}

#[test]
#[ignore = "needs Chromium"]
fn what_cannot_be_read_is_said() {
    let counted = "<style>p::after { counter-increment: n 54; content: ' $' counter(n); }</style>\
                   <form>Kettle $20<p>Total</p><button type=button>Pay now</button></form>";
    let found = text(counted, "Pay now");
    assert_eq!(found["note"], "a number that the style sheet draws could not be read", "{found}");
    let drawn = "<form><h2>Your order</h2><canvas></canvas><button type=button>Pay now</button></form>";
    let found = text(drawn, "Pay now");
    let expected = json!({"text": ["Your order"], "note": "the total could not be read"});
    assert_eq!((&found["text"], &found["note"]), (&expected["text"], &expected["note"]), "{found}");
    let items: String = (0..300).map(|at| format!("<tr><td>Item {at}<td>${at}.50")).collect();
    let long = text(&format!("<form><table>{items}</table><p>Total $9000<p><button type=button>Pay now"), "Pay now");
    assert!(long["note"].as_str().unwrap().contains("of 301 lines, the first and the last are shown"), "{long}");
    assert_eq!(long["text"].as_array().unwrap().last().unwrap(), "Total $9000");
}

#[test]
#[ignore = "needs Chromium"]
fn each_button_has_the_deal_of_its_own_card() {
    let card = |name: &str, price: &str| format!("<div><b>{name}</b><p>{price}</p><button>Buy now</button></div>");
    let mut player = page(&[card("Kettle", "$20"), card("Teapot", "$30"), card("Cup", "$5")].concat());
    let listed = list(&mut player);
    let deals: Vec<&Value> = listed["deals"].as_array().unwrap().iter().map(|deal| &deal["text"]).collect();
    assert_eq!(deals, [&json!(["Kettle", "$20"]), &json!(["Teapot", "$30"]), &json!(["Cup", "$5"])], "{listed}");
    let second = listed["deals"][1]["numbers"][0].as_u64().unwrap();
    assert_eq!(click(&mut player, &listed, second)["status"], "ok", "alone, it has the same deal");
    let alike = "<button>Confirm</button><p>Show more?</p>";
    let mut player = page(alike);
    assert_eq!(list(&mut player).get("deals"), None, "a button that is no payment, without an amount");
}

#[test]
#[ignore = "needs Chromium"]
fn a_total_in_a_frame_of_another_site_counts() {
    let inner = serve(&[(
        "/",
        "<p id=t>Total <b>54,80 €</b></p><script>onmessage = () => { t.textContent = 'Total 99,00 €'; }</script>",
    )]);
    let frame = inner.replace("127.0.0.1", "localhost");
    let outer = html(&format!(
        "<!doctype html><meta charset=utf-8><p>Your order</p><iframe src={frame}/></iframe><button onclick=\"document.title = 'Paid'\">Pay now</button>"
    ));
    let outer = serve_with(move |path| (path == "/").then(|| outer.clone()));
    let mut player = Player::start(&[&outer, "--allow-origin", &frame, "--allow-evaluate"]);
    player.ok("browser_wait", json!({"network_idle": true}));
    let listed = list(&mut player);
    let pay = number(&listed, "Pay now");
    assert_eq!(deal(&listed, pay)["text"], json!(["Your order", "Total 54,80 €"]), "{listed}");
    value(&mut player, "frames[0].postMessage('more', '*')");
    player.ok("browser_wait", json!({"text": "99,00"}));
    let changed = click(&mut player, &listed, pay);
    assert_changed(&changed);
    assert_eq!(click(&mut player, &changed["data"], pay)["data"]["title"], "Paid", "the error has named the new deal");
}

/// What the call names counts: without gates, that is nothing.
#[test]
#[ignore = "needs Chromium"]
fn a_button_is_pressed_only_for_the_deal_that_was_approved() {
    let mut player = page(
        "<form onsubmit='return false'><p id=t>Total $20</p><button onclick=\"document.title = t.textContent\">Pay now</button></form>",
    );
    let listed = list(&mut player);
    let pay = number(&listed, "Pay now");
    value(&mut player, "t.textContent = 'Total $99'");
    for (tool, arguments) in [
        ("browser_overlay_act", json!({"index": pay})),
        ("browser_overlay_act", json!({"index": pay, "double_click": true})),
        ("browser_act_by_index", json!({"index": pay, "x": 3, "y": 3})),
        ("browser_press", json!({"id": pay, "key": "Enter"})),
        ("browser_press", json!({"id": pay, "key": "Space"})),
        ("browser_drag", json!({"from": pay, "by_x": 1})),
        ("browser_overlay_act", json!({"index": pay, "deal": {"text": ["Total $99"], "note": "x"}})),
    ] {
        let mut arguments = arguments;
        if arguments.get("deal").is_none() {
            arguments["deal"] = json!({"text": ["Total $20"]});
        }
        // Each error names the new deal.
        value(&mut player, "t.textContent = 'Total $20'");
        list(&mut player);
        value(&mut player, "t.textContent = 'Total $99'");
        assert_changed(&player.call(tool, arguments.clone()));
        assert_eq!(value(&mut player, "document.title"), "", "{tool} {arguments}");
    }
    for deal in [json!({"text": ["Total $99"]}), json!({"text": ["Total $20"]})] {
        value(&mut player, &format!("t.textContent = {}", deal["text"][0]));
        list(&mut player);
        let paid = player.ok("browser_overlay_act", json!({"index": pay, "deal": deal}));
        assert_eq!(paid["title"], deal["text"][0]);
    }
    assert_eq!(player.fails("browser_overlay_act", json!({"index": pay, "deal": "$20"})).0, "invalid_args");
    value(&mut player, "t.textContent = 'Total $98'");
    assert_eq!(player.ok("browser_overlay_act", json!({"index": pay}))["title"], "Total $98", "nothing was approved");
}

/// A page that answers the mouse or the click itself with another deal.
#[test]
#[ignore = "needs Chromium"]
fn a_deal_that_changes_in_the_last_moment_is_not_paid() {
    for event in ["mousemove", "pointerdown", "mousedown", "mouseup"] {
        for place in ["window", "document.querySelector('button')"] {
            let mut player = page(&format!(
                "<p id=t>Total $20</p><button onclick=\"document.title = 'Paid'\">Pay now</button>
                <script>{place}.addEventListener('{event}', () => {{ t.textContent = 'Total $99'; }}, true)</script>"
            ));
            let listed = list(&mut player);
            let clicked = click(&mut player, &listed, number(&listed, "Pay now"));
            assert_changed(&clicked);
            assert_eq!(value(&mut player, "document.title"), "", "{event} {place}");
        }
    }
    // A button that becomes another one under the mouse.
    let mut player = page(
        "<p>Total $20</p><button onmousemove=\"this.textContent = 'Pay now'\" onclick=\"document.title = 'Paid'\">Next</button>",
    );
    let listed = list(&mut player);
    let next = number(&listed, "Next");
    assert_eq!(player.fails("browser_overlay_act", json!({"index": next})).1, "stale_index");
}

/// Pages count down, and change around the deal.
#[test]
#[ignore = "needs Chromium"]
fn what_is_not_the_deal_may_change() {
    let mut player = page(
        "<p id=ad>Ad 0</p><main><p>Kept for <b id=s>1:59</b></p><p>Total $20</p><input placeholder=Name>
        <button onclick=\"document.title = 'Paid'; this.textContent = 'Paying'\">Pay now</button></main>
        <script>let left = 119, ads = 0; setInterval(() => { left -= 0.02; s.textContent = `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, 0)}`; ad.textContent = `Ad ${ads += 1} $${ads}`; }, 20)</script>",
    );
    let listed = list(&mut player);
    let pay = number(&listed, "Pay now");
    player.ok("browser_overlay_act", json!({"index": number(&listed, "Name"), "action": "type", "text": "Ada"}));
    player.ok("browser_wait", json!({"ms": 2500}));
    assert_eq!(click(&mut player, &listed, pay)["data"]["title"], "Paid");
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_with_very_many_controls_is_listed_with_its_deal() {
    let mut player = page(
        "<form onsubmit='return false'><div id=all></div><p>Total $20</p><button onclick=\"document.title = 'Paid'\">Pay now</button></form><script>
        all.innerHTML = Array.from({ length: 8000 }, (_, at) => `<label>Name ${at} <input></label><button type=button>Edit ${at}</button>`).join('')</script>",
    );
    let listed = list(&mut player);
    let pay = number(&listed, "Pay now");
    assert!(deal(&listed, pay)["text"].as_array().unwrap().contains(&"Total $20".into()));
    assert_eq!(click(&mut player, &listed, pay)["data"]["title"], "Paid");
}
