//! Orders and payments: the question shows the deal, and the approval is only for that one. The shops are pages of our own
//! (`tests/shops`), whose deal changes while the person reads the question.

use super::{Guarded, assert_shows, path};
use crate::browser_bridge::serve_with;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

/// The pages of a shop, which change when they are told to.
struct Shop {
    origin: String,
    /// The next change; a page that has it takes it.
    change: Arc<Mutex<&'static str>>,
    changed: Receiver<()>,
}

fn answer(kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "js")) => "text/javascript",
        Some((_, "css")) => "text/css",
        _ => "text/html",
    }
}

impl Shop {
    /// A shop whose first page is this one, with further files in the folder.
    fn open(page: String, files: PathBuf) -> Shop {
        let change = Arc::new(Mutex::new(""));
        let (done, changed) = channel();
        let (next, done) = (Arc::clone(&change), Mutex::new(done));
        let origin = serve_with(move |path| {
            Some(match path {
                "/" => answer("text/html", &page),
                "/frame" => answer("text/html", include_str!("../../shops/dialog.html")),
                "/change.js" => answer("text/javascript", include_str!("../../shops/change.js")),
                "/change" => answer("text/plain", std::mem::take(&mut *next.lock().unwrap())),
                "/changed" => {
                    done.lock().unwrap().send(()).unwrap();
                    answer("text/plain", "")
                }
                // Below the folder, since a browser resolves `..`.
                path => answer(kind(path), &std::fs::read_to_string(files.join(path.trim_start_matches('/'))).ok()?),
            })
        });
        Shop { origin, change, changed }
    }

    /// Changes the page, and waits until it has changed.
    fn change(&self, kind: &'static str) {
        *self.change.lock().unwrap() = kind;
        self.changed.recv().unwrap();
    }
}

/// A person behind both gates, at a shop.
struct Buyer {
    guarded: Guarded,
    shop: Shop,
    button: &'static str,
    _folder: tempfile::TempDir,
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"tool": tool, "args": arguments, "id": 1})
}

impl Buyer {
    fn at(page: &str, button: &'static str) -> Buyer {
        Buyer::among(page, PathBuf::new(), button)
    }

    fn among(page: &str, files: PathBuf, button: &'static str) -> Buyer {
        let (folder, shop) = (tempfile::tempdir().unwrap(), Shop::open(page.to_owned(), files));
        let gates = format!("policy-check -- hitl-gate --tty {}", super::TERMINAL);
        let line = format!("{gates} -- browser-bridge --headless {}", shop.origin);
        let guarded = Guarded::start(&line, folder.path(), &path());
        Buyer { guarded, shop, button, _folder: folder }
    }

    /// The number of the button in a new list of the page, as it was when it was loaded.
    fn begin(&mut self) -> u64 {
        self.guarded.unasked(&call("browser_navigate", &json!({"url": self.shop.origin})));
        self.number()
    }

    fn number(&mut self) -> u64 {
        let listed = self.guarded.unasked(&call("browser_list_interactives", &json!({"scope": "page", "limit": 100})));
        number(&listed, self.button)
    }

    fn click(&mut self, number: u64) -> String {
        self.guarded.held(&call("browser_overlay_act", &json!({"index": number})))
    }
}

fn number(listed: &Value, name: &str) -> u64 {
    let mut items = listed["data"]["items"].as_array().unwrap().iter().filter_map(Value::as_str);
    let item = items.find(|item| item.ends_with(&format!(" {name}"))).unwrap_or_else(|| panic!("no {name}: {listed}"));
    item.split_once(' ').unwrap().0.parse().unwrap()
}

fn assert_changed(answer: &Value, parts: &[&str]) {
    assert_eq!((&answer["status"], &answer["code"]), (&"error".into(), &"deal_changed".into()), "{answer}");
    assert_shows(answer["error"].as_str().unwrap(), parts);
    assert!(answer["data"]["deals"][0]["text"].is_array(), "{answer}");
}

/// What the question shows, and what the changes make of it.
struct Expected {
    shown: &'static [&'static str],
    hidden: &'static str,
    total: &'static str,
    item: &'static str,
    currency: &'static str,
    picture: &'static str,
}

fn shop(page: &'static str, button: &'static str, expected: &Expected) {
    let mut buyer = Buyer::at(page, button);
    for (kind, parts) in [
        ("total", &[expected.total][..]),
        ("item", &[expected.item]),
        ("currency", &[expected.currency]),
        ("picture", &[expected.picture]),
    ] {
        let pay = buyer.begin();
        let shown = buyer.click(pay);
        assert_shows(&shown, &["what is ordered or paid, as the page shows it"]);
        assert_shows(&shown, expected.shown);
        assert!(!shown.contains(expected.hidden) && !shown.contains("not everything is shown"), "{shown}");
        buyer.shop.change(kind);
        let refused = buyer.guarded.decide("y");
        assert_changed(&refused, parts);
        assert_ne!(refused["data"]["title"], "Paid");
        // The error has a new list: the next question is about the deal of now.
        let again = number(&refused, button);
        let shown = buyer.click(again);
        assert_shows(&shown, parts);
        assert_eq!(buyer.guarded.decide("y")["data"]["title"], "Paid", "{kind}");
    }
    for kind in ["nothing", "countdown"] {
        let pay = buyer.begin();
        assert_shows(&buyer.click(pay), expected.shown);
        buyer.shop.change(kind);
        assert_eq!(buyer.guarded.decide("y")["data"]["title"], "Paid", "{kind}");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_plain_form_is_approved_for_its_deal_only() {
    let expected = Expected {
        shown: &["Wasserkocher | 1 | 29,90 €", "Teekanne | 2 | 40,00 €", "Gesamtsumme: 74,80 €", "Standard, 4,90 €"],
        hidden: "1,00 €",
        total: "Gesamtsumme: 174,80 €",
        item: "Versicherung | 1 | 0,00 €",
        currency: "Gesamtsumme: 74,80 £",
        picture: "the total could not be read",
    };
    shop(include_str!("../../shops/form.html"), "Zahlungspflichtig bestellen", &expected);
}

#[test]
#[ignore = "needs Chromium"]
fn an_application_that_renders_anew_is_approved_for_its_deal_only() {
    let expected = Expected {
        shown: &["Kettle | Qty 1 | $29.90", "Teapot | Qty 2 | $40.00", "Total | $74.80"],
        hidden: "$1.00",
        total: "Total | $174.80",
        item: "Gift card | Qty 1 | $0.00",
        currency: "Total | £74.80",
        picture: "the total could not be read",
    };
    shop(include_str!("../../shops/app.html"), "Place order", &expected);
}

#[test]
#[ignore = "needs Chromium"]
fn a_dialog_in_a_frame_with_shadow_roots_is_approved_for_its_deal_only() {
    let expected = Expected {
        shown: &["Kettle, 29.90 USD", "Teapot, 40.00 USD", "Total 69.90 USD"],
        hidden: "$999.00",
        total: "Total 169.90 USD",
        item: "Trial membership",
        currency: "Total 69.90 CHF",
        picture: "no amount is in the dialog or card",
    };
    shop(include_str!("../../shops/frame.html"), "Buy now", &expected);
}

/// The folder of component kits' checkouts.
fn kits() -> PathBuf {
    std::env::var_os("PIPEWRIGHT_SHOPS").expect("PIPEWRIGHT_SHOPS names no folder: run scripts/test").into()
}

/// At a checkout of a kit: the total changes, an item is slipped in, and nothing changes.
fn kit(page: &str, files: PathBuf, button: &'static str, shown: &[&str], total: &str, item: &str) {
    let mut buyer = Buyer::among(page, files, button);
    for (kind, parts) in [("total", [total]), ("item", [item])] {
        let pay = buyer.begin();
        assert_shows(&buyer.click(pay), shown);
        buyer.shop.change(kind);
        assert_changed(&buyer.guarded.decide("y"), &parts);
    }
    let pay = buyer.begin();
    assert_shows(&buyer.click(pay), shown);
    buyer.shop.change("nothing");
    assert_eq!(buyer.guarded.decide("y")["data"]["title"], "Paid");
}

#[test]
#[ignore = "needs Chromium and the checkouts that scripts/install-shops installs"]
fn a_checkout_of_composite_checkout_is_approved_for_its_deal_only() {
    let page = "<!doctype html><meta charset=utf-8><title>Checkout</title><div id=root></div><script src=composite.js></script><script src=/change.js></script>";
    let shown = ["WordPress.com Premium, one year $96.00", "Domain example.blog $22.00", "Total $118.00"];
    kit(page, kits(), "Pay now", &shown, "Total $318.00", "Professional Email, free trial $0.00");
}

#[test]
#[ignore = "needs Chromium and the checkouts that scripts/install-shops installs"]
fn a_checkout_of_htmlbricks_is_approved_for_its_deal_only() {
    let page = include_str!("../../shops/htmlbricks.html");
    kit(
        page,
        kits(),
        "Pay now",
        &["Kettle | 1 | 12.2€", "Teapot | 2 | 48.8€", "Totale | 65.9€"],
        "Totale | 187.9€",
        "Insurance",
    );
}

#[test]
#[ignore = "needs Chromium and the checkouts that scripts/install-shops installs"]
fn an_invoice_of_admin_lte_is_approved_for_its_deal_only() {
    let files = kits().join("template/pages/examples");
    let page = std::fs::read_to_string(files.join("invoice.html")).unwrap().replace("../../dist", "/dist");
    let page = page + "<script>const changes = {
        total: () => { [...document.querySelectorAll('.table-responsive tr:last-of-type td')].at(-1).textContent = '$365.24'; },
        item: () => { document.querySelector('tbody').insertAdjacentHTML('beforeend', '<tr><td>1<td>Grown Ups 2<td>1<td>x<td>$0.00'); },
        nothing: () => {},
    }; document.querySelector('.btn-success').onclick = () => { document.title = 'Paid'; }</script><script src=/change.js></script>";
    let shown = ["Call of Duty", "$64.50", "Total: | $265.24"];
    kit(&page, kits().join("template"), "Submit Payment", &shown, "Total: | $365.24", "Grown Ups 2");
}

/// Enter in a field, or on the button, presses it as a click does.
#[test]
#[ignore = "needs Chromium"]
fn keys_and_entered_text_are_approved_for_the_deal_only() {
    let mut buyer = Buyer::at(include_str!("../../shops/form.html"), "Zahlungspflichtig bestellen");
    for is_focused in [false, true] {
        for kind in ["total", "nothing"] {
            let pay = buyer.begin();
            let shown = match is_focused {
                false => buyer.guarded.held(&call("browser_press", &json!({"id": pay, "key": "Enter"}))),
                true => {
                    buyer.guarded.unasked(&call("browser_focus_next", &json!({"role": "button"})));
                    buyer.number();
                    buyer.guarded.held(&call("browser_press", &json!({"key": "Space"})))
                }
            };
            assert_shows(&shown, &["Gesamtsumme: 74,80 €"]);
            buyer.shop.change(kind);
            let done = buyer.guarded.decide("y");
            match kind {
                "total" => assert_changed(&done, &["Gesamtsumme: 174,80 €"]),
                _ => assert_eq!(done["data"]["title"], "Paid", "{done}"),
            }
        }
    }
    for kind in ["item", "nothing"] {
        buyer.guarded.unasked(&call("browser_navigate", &json!({"url": buyer.shop.origin})));
        let listed = buyer.guarded.unasked(&call("browser_find", &json!({"role": "textbox"})));
        let name = listed["data"]["items"][0]["index"].as_u64().unwrap();
        let typed = json!({"index": name, "action": "type", "text": "Ada Lovelace", "submit": true});
        let shown = buyer.guarded.held(&call("browser_overlay_act", &typed));
        assert_shows(&shown, &["Gesamtsumme: 74,80 €", "Enter submits a form"]);
        buyer.shop.change(kind);
        let done = buyer.guarded.decide("y");
        match kind {
            "item" => assert_changed(&done, &["Versicherung"]),
            _ => assert_eq!(done["data"]["title"], "Paid", "{done}"),
        }
    }
}

/// What the caller says of the deal neither reaches the person nor counts.
#[test]
#[ignore = "needs Chromium"]
fn a_caller_cannot_name_a_deal() {
    let mut buyer = Buyer::at(include_str!("../../shops/form.html"), "Zahlungspflichtig bestellen");
    let pay = buyer.begin();
    let forged = json!({"text": ["Gesamtsumme: 1,00 €"]});
    let shown = buyer.guarded.held(&call("browser_overlay_act", &json!({"index": pay, "deal": forged})));
    assert_shows(&shown, &["Gesamtsumme: 74,80 €"]);
    assert!(!shown.contains("1,00 €"), "{shown}");
    assert_eq!(buyer.guarded.decide("y")["data"]["title"], "Paid");
    // A call that nobody is asked about loses it.
    let listed = buyer.guarded.unasked(&call("browser_list_interactives", &json!({"scope": "page", "limit": 100})));
    let help = number(&listed, "Start");
    let scrolled = buyer.guarded.unasked(&call("browser_scroll", &json!({"element_id": help, "deal": forged})));
    assert_eq!(scrolled["status"], "ok", "{scrolled}");
}

/// A button that only confirms is a payment if there is an amount beside it: no rule for the session allows the next one.
#[test]
#[ignore = "needs Chromium"]
fn confirming_an_amount_is_asked_about_each_time() {
    let confirm = |text: &str| {
        let page = format!(
            "<!doctype html><title>Bank</title><main><p>{text}</p><button onclick=\"document.title = 'Done'\">Confirm</button></main>"
        );
        let mut buyer = Buyer::at(&page, "Confirm");
        let number = buyer.number();
        let shown = buyer.click(number);
        assert_eq!(buyer.guarded.decide("y")["data"]["title"], "Done");
        shown
    };
    let shown = confirm("Transfer $500.00 to Bob");
    assert_shows(&shown, &["Transfer $500.00 to Bob"]);
    assert!(!shown.contains("for this session"), "{shown}");
    let shown = confirm("Show the new address to Bob");
    assert!(shown.contains("for this session") && !shown.contains("ordered or paid"), "{shown}");
}
