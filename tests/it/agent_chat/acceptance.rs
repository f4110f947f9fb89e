//! The list of acceptance of the original plan, played at a terminal: a page opened by hand, a task, ordinary clicks without questions, a
//! payment that is rejected and then approved, a login by hand, ten steps with a summary and feedback, and the end. In Chromium; the model
//! follows a script.

use super::Place;
use crate::browser_bridge::serve_with;
use crate::process::{binary, command};
use rexpect::session::{PtySession, spawn_command};

fn page(title: &str, body: &str) -> Option<String> {
    let body = format!("<!doctype html><title>{title}</title>{body}");
    Some(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

/// A shop that wants a login before it takes money.
fn shop() -> String {
    let pay = "<form action=/paid><button>Pay now</button></form>";
    serve_with(move |path| match path {
        "/" => page("Shop", "<a href=/lamp>Lamp</a><a href=/about>About</a>"),
        "/lamp" => page("Lamp", "<form action=/basket><button>Add to cart</button></form>"),
        "/basket?" => page(
            "Basket",
            "<p>1 lamp<form action=/checkout><input name=user aria-label=User><button>Log in</button></form>",
        ),
        "/checkout?user=ada" => page("Checkout", &format!("<p>1 lamp for ada{pay}")),
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

/// A turn with a call of the loop's own.
fn own(tool: &str, arguments: &str) -> String {
    format!(r#"{{"calls":[{{"tool_name":"{tool}","arguments":{arguments}}}]}}"#)
}

fn script() -> Vec<String> {
    let mut script = vec![
        own("assistant_plan", r#"{"steps":["Find the lamp","Pay it","Rate the shop"]}"#),
        act("link Lamp"),
        act("button Add to cart"),
        own("assistant_need_user", r#"{"what":"Please log in as ada."}"#),
        act("button Pay now"),
        own("assistant_ask", r#"{"question":"You rejected the payment. Shall I pay?"}"#),
        act("button Pay now"),
    ];
    // Ten calls for one message, with the payment.
    script.extend((0..9).map(|_| act("button Add a star")));
    script.push(r#"{"text":"I have paid and given 9 stars. Shall I go on?"}"#.to_owned());
    script.push(act("button Add a star"));
    script.push(own(
        "assistant_done",
        r#"{"reason":"The lamp is paid, and the shop has **10** stars.","evidence":"10 stars"}"#,
    ));
    script
}

struct Seat(PtySession);

impl Seat {
    fn types(&mut self, line: &str) {
        self.0.send(line).unwrap();
        self.0.send("\r").unwrap();
        self.0.flush().unwrap();
    }

    /// What stands on the terminal up to this text, without its colours.
    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        self.0.exp_string(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
    }
}

#[test]
#[ignore = "needs Chromium"]
fn the_list_of_the_original_plan() {
    let script = script();
    let place = Place::new(&script.iter().map(String::as_str).collect::<Vec<_>>());
    let url = shop();
    let mut chat = command("agent-chat");
    chat.env("XDG_DATA_HOME", place.folder.path()).env("TERM", "xterm").env("NO_COLOR", "1");
    chat.arg("--").arg(binary("agent-loop")).arg("--llm").arg(place.model()).args(["--profile", "browser", "--"]);
    chat.args([binary("policy-check").as_os_str(), "--confirm".as_ref(), "mark".as_ref(), "--".as_ref()]);
    chat.arg(binary("hitl-gate")).arg("--").arg(binary("browser-bridge")).args(["--headless", "--allow-origin", &url]);
    let mut seat = Seat(spawn_command(chat, Some(15_000)).unwrap());
    seat.sees("cmd> ");
    // A page is opened by hand.
    seat.types(&format!("browser_navigate url={url}/"));
    seat.sees("\"title\":\"Shop\"");
    seat.sees("cmd> ");
    // Chat mode, and a task.
    seat.types("/chat");
    seat.sees("chat> ");
    seat.types("Buy the lamp, then rate the shop. I log in myself.");
    // Ordinary clicks without questions, up to the login.
    let shown = seat.sees("Please log in as ada.");
    assert!(!shown.contains("may this call pass?") && shown.contains("[>] Find the lamp"), "{shown}");
    seat.sees("do it yourself, then write that it is done");
    seat.sees("chat (answer)> ");
    // By hand, through the same world.
    seat.types("/cmd");
    seat.sees("cmd (answer)> ");
    seat.types("browser_list_interactives");
    let list = seat.sees(" textbox User");
    let field = list.rsplit('"').next().unwrap().trim().to_owned();
    seat.sees("cmd (answer)> ");
    seat.types(&format!("browser_overlay_act index={field} action=type text=ada"));
    seat.sees("cmd (answer)> ");
    // The person's own calls pass the same gates.
    seat.types("browser_press");
    seat.sees("(approve?)> ");
    seat.types("/yes");
    seat.sees("\"title\":\"Checkout\"");
    seat.sees("cmd (answer)> ");
    seat.types("/chat");
    seat.sees("chat (answer)> ");
    seat.types("done");
    // The payment is held, and rejected.
    let shown = seat.sees("may this call pass?");
    assert!(!shown.contains("may this call pass?"), "{shown}");
    let question = seat.sees("chat (approve?)> ");
    assert!(question.contains("button \"Pay now\"") && question.contains("PAY: it may spend money"), "{question}");
    seat.types("/no not yet");
    seat.sees("You rejected the payment. Shall I pay?");
    seat.sees("chat (answer)> ");
    seat.types("Yes, pay now.");
    seat.sees("may this call pass?");
    seat.sees("chat (approve?)> ");
    seat.types("/yes");
    // After ten calls a summary, and an ordinary message goes on.
    seat.sees("I have paid and given 9 stars. Shall I go on?");
    seat.sees("chat (answer)> ");
    seat.types("/status");
    let status = seat.sees("steps: ");
    assert!(status.contains("mode: chat") && status.contains("pending_kind: question"), "{status}");
    seat.sees("chat (answer)> ");
    seat.types("One more star, then stop.");
    seat.sees("The lamp is paid, and the shop has 10 stars.");
    seat.sees("chat> ");
    seat.types("/exit");
    seat.sees("cmd> ");
    seat.types("/exit");
    seat.0.exp_eof().unwrap();
    let requests = place.requests();
    assert!(requests.contains("not yet") && requests.contains("The person says: One more star, then stop."));
    assert_eq!(requests.lines().count(), script.len(), "each turn did what it was meant to");
}
