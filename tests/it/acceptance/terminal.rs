//! At a terminal, with `agent-chat`.

use super::{script, shop};
use crate::agent_chat::Place;
use crate::process::{binary, command, with_a_person};
use rexpect::session::PtySession;

struct Seat(PtySession);

impl Seat {
    fn types(&mut self, line: &str) {
        self.0.send(line).unwrap();
        self.0.send("\r").unwrap();
        self.0.flush().unwrap();
    }

    /// Answers a question after reading it.
    fn answers(&mut self, line: &str) {
        std::thread::sleep(std::time::Duration::from_millis(600));
        self.types(line);
    }

    /// The terminal's text up to this text, without colours.
    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        self.0.exp_string(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
    }
}

#[test]
#[ignore = "needs Chromium"]
fn the_list_at_a_terminal() {
    let script = script(false);
    let place = Place::new(&script.iter().map(String::as_str).collect::<Vec<_>>());
    let url = shop();
    let mut chat = command("agent-chat");
    chat.env("XDG_DATA_HOME", place.folder.path()).env("TERM", "xterm").env("NO_COLOR", "1");
    chat.arg("--").arg(binary("agent-loop")).arg("--llm").arg(place.model()).args(["--profile", "browser", "--"]);
    chat.args([binary("policy-check").as_os_str(), "--confirm".as_ref(), "mark".as_ref(), "--".as_ref()]);
    chat.arg(binary("hitl-gate")).arg("--").arg(binary("browser-bridge")).args(["--headless", "--allow-origin", &url]);
    let mut seat = Seat(with_a_person(chat));
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
    seat.sees("write a message when it is done");
    seat.sees("chat (answer)> ");
    // By hand, in the same world.
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
    seat.answers("/yes");
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
    seat.answers("/no not yet");
    seat.sees("You rejected the payment. Shall I pay?");
    seat.sees("chat (answer)> ");
    seat.types("Yes, pay now.");
    seat.sees("may this call pass?");
    seat.sees("chat (approve?)> ");
    seat.answers("/yes");
    // After ten calls there is a summary, and an ordinary message continues.
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
