//! The acceptance list of the original plan: a page that is open already, a task, ordinary clicks without questions, a
//! payment that is rejected and then approved, a login by hand, ten steps with a summary and feedback, and the end. In Chromium, with a
//! scripted model.

mod acpx;
mod terminal;

use crate::agent_loop::sites::page;
use crate::browser_bridge::serve_with;
use std::sync::atomic::{AtomicBool, Ordering};

/// A shop that requires a login before a payment. Any login is accepted.
fn shop() -> String {
    let is_logged_in = AtomicBool::new(false);
    let pay = "<form action=/paid><button>Pay now</button></form>";
    serve_with(move |path| match path {
        "/" => page("Shop", "<a href=/lamp>Lamp</a><a href=/about>About</a>"),
        "/lamp" => page("Lamp", "<form action=/basket><button>Add to cart</button></form>"),
        "/basket?" => page(
            "Basket",
            "<p>1 lamp<form action=/checkout><input name=user aria-label=User><button>Log in</button></form><a href=/checkout>Delivery</a>",
        ),
        "/checkout?user=ada" => {
            is_logged_in.store(true, Ordering::Relaxed);
            page("Checkout", &format!("<p>1 lamp for ada{pay}"))
        }
        "/checkout" if is_logged_in.load(Ordering::Relaxed) => page("Checkout", &format!("<p>1 lamp for ada{pay}")),
        "/paid?" => page(
            "Paid",
            "<button onclick='document.title = `Paid, ${++n} stars`'>Add a star</button><script>let n = 0</script>",
        ),
        _ => None,
    })
}

/// A turn that acts on an element.
fn act(element: &str) -> String {
    format!(
        r#"{{"text":"I take {element}.","calls":[{{"tool_name":"browser_overlay_act","arguments":{{"index":"@{element}"}}}}]}}"#
    )
}

/// A turn that calls one of the loop's own tools.
fn own(tool: &str, arguments: &str) -> String {
    format!(r#"{{"calls":[{{"tool_name":"{tool}","arguments":{arguments}}}]}}"#)
}

/// The turns of the model. If the person does not log in in the agent's browser, the agent has to go to the next page itself.
fn script(elsewhere: bool) -> Vec<String> {
    let mut script = vec![
        own("assistant_plan", r#"{"steps":["Find the lamp","Pay it","Rate the shop"]}"#),
        act("link Lamp"),
        act("button Add to cart"),
        own("assistant_need_user", r#"{"what":"Please log in as ada."}"#),
    ];
    script.extend(elsewhere.then(|| act("link Delivery")));
    script.extend([
        act("button Pay now"),
        own("assistant_ask", r#"{"question":"You rejected the payment. Shall I pay?"}"#),
        act("button Pay now"),
    ]);
    // Ten calls for one message, including the payment.
    script.extend((0..9).map(|_| act("button Add a star")));
    script.push(r#"{"text":"I have paid and given 9 stars. Shall I go on?"}"#.to_owned());
    script.push(act("button Add a star"));
    script.push(own(
        "assistant_done",
        r#"{"reason":"The lamp is paid, and the shop has **10** stars.","evidence":"10 stars"}"#,
    ));
    script
}
