//! A real page in Chromium, by the numbers that `browser-bridge` gives its elements.

use super::browser::SHOP;
use super::{Guarded, assert_shows, path, shown_line};
use crate::mcp_servers::page;
use serde_json::{Value, json};

fn call(tool: &str, arguments: Value) -> Value {
    json!({"tool": tool, "args": arguments, "id": 1})
}

fn click(number: u64) -> Value {
    call("browser_overlay_act", json!({"index": number}))
}

/// The numbers of the elements with these names on the current page.
fn look<const N: usize>(gated: &mut Guarded, names: [&str; N]) -> [u64; N] {
    let listed = gated.unasked(&call("browser_list_interactives", json!({})));
    names.map(|name| {
        let mut lines = listed["data"]["items"].as_array().unwrap().iter().filter_map(Value::as_str);
        let line = lines.find(|line| line.ends_with(&format!(" {name}")));
        let number = line.and_then(|line| line.split_once(' ')?.0.parse().ok());
        number.unwrap_or_else(|| panic!("no {name} in {listed}"))
    })
}

/// An ordinary click, then a rejected one, an edited one, and an approved one.
#[test]
#[ignore = "needs Chromium"]
fn a_dangerous_click_is_held_and_an_ordinary_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("{} {}", shown_line("policy-check -- hitl-gate --tty /dev/pts/3 -- browser-bridge"), page(SHOP));
    let mut gated = Guarded::start(&line, folder.path(), &path());
    let title = |answer: &Value| answer["data"]["title"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();

    let [next] = look(&mut gated, ["Next page"]);
    assert_eq!(title(&gated.unasked(&click(next))), "Second");

    let [next, pay, invoice] = look(&mut gated, ["Next page", "Pay now", "Pay by invoice"]);
    let shown = gated.held(&click(pay));
    let target = format!(".index: {pay}");
    assert_shows(
        &shown,
        &["tool  browser_overlay_act", "target  button \"Pay now\"", "PAY: it may spend money", &target],
    );
    let rejected = gated.decide("n too expensive");
    assert_eq!(rejected["kind"], "rejected");
    assert!(rejected["error"].as_str().unwrap().contains("a person rejected it: too expensive"), "{rejected}");
    // Nothing was clicked, so the caller chooses again from the same page.
    assert_eq!(title(&gated.unasked(&click(next))), "Second");

    let [pay_again] = look(&mut gated, ["Pay now"]);
    assert_eq!(pay_again, pay, "it keeps its number");
    gated.held(&call("browser_press", json!({"id": pay, "key": "Enter"})));
    let edited = gated.edit(&format!("id={invoice}"));
    assert_shows(&edited, &[&format!("+ .id: {invoice}")]);
    // The deal that was shown, and stays in the call, is that of the other button.
    assert_eq!(gated.decide("y")["code"], "deal_changed");

    let [pay] = look(&mut gated, ["Pay now"]);
    gated.held(&click(pay));
    assert_eq!(title(&gated.decide("y")), "Paid");
    assert_eq!(gated.calls.end_after_close().status.code(), Some(1), "something was rejected");
}
