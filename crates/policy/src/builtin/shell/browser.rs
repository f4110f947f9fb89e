//! The commands of browsers that agents drive from a shell: `agent-browser` and `playwright-cli`. Each becomes the call
//! of a browser's tool, which is judged as such: `agent-browser click @e7` is `browser_click` of `e7`.

use pipewright_record::json::Object;

/// A command of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserCommand {
    /// The program and the options that choose its browser: references count only there.
    pub browser: String,
    /// What it does.
    pub action: BrowserAction,
}

/// What a command of a browser does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserAction {
    /// Only looks.
    Look,
    /// Needs no approval, but afterwards the page may be another one, or its references may mean other elements.
    Move,
    /// Prints a snapshot of the whole page.
    Snapshot,
    /// What this tool does with these arguments.
    Call {
        /// The tool.
        tool: &'static str,
        /// JSON text: an object.
        arguments: String,
    },
    /// Something else.
    Unknown(String),
}

impl BrowserCommand {
    /// Whether the page may be another one afterwards, or its references may mean other elements.
    pub fn may_change(&self) -> bool {
        !matches!(self.action, BrowserAction::Look | BrowserAction::Snapshot)
    }
}

/// Whether a program is one of these.
pub fn is_browser(program: &str) -> bool {
    matches!(program, "agent-browser" | "playwright-cli")
}

/// Options of agent-browser and of playwright-cli that choose the browser; all take a value.
const CHOOSING: [&[&str]; 2] = [&["--session", "--namespace"], &["--session", "-s"]];
/// Options of agent-browser that choose a part of the page; all take a value.
const PART: &[&str] = &["-s", "--selector", "-d", "--depth"];
/// Options that change only what is printed.
const PRINTING: &[&str] =
    &["--json", "--raw", "--boxes", "-i", "--interactive", "-c", "--compact", "-f", "--full", "--exact"];
/// Those with a value.
const PRINTING_WITH_VALUE: &[&str] = &["--name"];

/// Commands that may change the page, but need no approval.
const MOVES: &[&str] =
    &["focus", "hover", "mousemove", "mousewheel", "read", "resize", "scroll", "scrollintoview", "wait", "close"];

/// Commands that only look, with the words that may follow them.
const LOOKS: &[(&str, After)] = &[
    ("console", After::Nothing),
    ("errors", After::Nothing),
    ("generate-locator", After::Anything),
    ("get", After::One(&["text", "html", "value", "attr", "title", "url", "count", "box", "styles", "property"])),
    ("is", After::One(&["visible", "enabled", "checked"])),
    ("list", After::Nothing),
    ("requests", After::Nothing),
    ("screenshot", After::Nothing),
    ("tab-list", After::Nothing),
];

enum After {
    Nothing,
    Anything,
    /// The first word is one of these; the empty one stands for none.
    One(&'static [&'static str]),
}

impl After {
    fn allows(&self, words: &[&str]) -> bool {
        match self {
            After::Nothing => words.is_empty(),
            After::Anything => true,
            After::One(first) => first.contains(&words.first().copied().unwrap_or_default()),
        }
    }
}

/// The command in the words after the program's name.
pub fn command(program: &str, words: &[&str]) -> BrowserCommand {
    let agent = program == "agent-browser";
    let mut browser = program.to_owned();
    let (mut plain, mut unknown, mut is_part) = (Vec::new(), None, false);
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        let (option, value) = match word.split_once('=').filter(|_| word.starts_with('-')) {
            Some((option, value)) => (option, Some(value)),
            None => (word, None),
        };
        let mut value = || value.or_else(|| rest.next());
        if CHOOSING[usize::from(!agent)].contains(&option) {
            match value() {
                Some(value) => browser += &format!(" {option}={value}"),
                None => unknown = Some(word),
            }
        } else if PART.contains(&option) {
            is_part = true;
            unknown = value().map_or(Some(word), |_| unknown);
        } else if PRINTING_WITH_VALUE.contains(&option) {
            value();
        } else if word.len() > 1 && word.starts_with('-') && !PRINTING.contains(&word) && !is_number(word) {
            unknown = Some(word);
        } else if !word.starts_with('-') || is_number(word) || word == "-" {
            plain.push(word);
        }
    }
    let action = match (unknown, plain.split_first()) {
        (Some(option), _) => BrowserAction::Unknown(format!("the effect of its option {option} is not known")),
        (None, Some((&"snapshot", _))) if is_part => BrowserAction::Move,
        (None, Some(_)) if is_part => BrowserAction::Unknown("the effect of its options is not known".to_owned()),
        (None, Some((verb, words))) => action(agent, verb, words),
        (None, None) => BrowserAction::Look,
    };
    BrowserCommand { browser, action }
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

fn action(agent: bool, verb: &str, words: &[&str]) -> BrowserAction {
    let is_look = LOOKS.iter().any(|(look, after)| *look == verb && after.allows(words));
    match (verb, words) {
        _ if is_look => BrowserAction::Look,
        ("read", [_, ..]) => unknown("what it reads is not known"),
        ("read", []) if !agent => unknown("the effect of \"read\" is not known"),
        _ if MOVES.contains(&verb) => BrowserAction::Move,
        ("snapshot", []) => BrowserAction::Snapshot,
        // Of a part of the page.
        ("snapshot", _) => BrowserAction::Move,
        // It takes the first of the elements whose label has the words in it.
        ("find", _) if agent => unknown("which element it finds is not known"),
        ("find", _) | ("tab", []) => BrowserAction::Look,
        ("open" | "goto" | "navigate", [url]) | ("tab", ["new", url]) | ("tab-new", [url]) => {
            call("browser_navigate", Object::default().text("url", url))
        }
        ("open" | "back" | "forward" | "reload" | "go-back" | "go-forward" | "tab-new", [])
        | ("tab" | "tab-select" | "tab-close", _) => call("browser_navigate_back", Object::default()),
        ("click" | "dblclick" | "tap" | "check" | "uncheck", [target, ..]) => element("browser_click", target, None),
        ("select", [target, values @ ..]) => element("browser_select_option", target, values.first().copied()),
        ("fill", [target, text]) => element("browser_type", target, Some(text)),
        ("type", [target, text]) if agent => element("browser_type", target, Some(text)),
        ("type", [text]) if !agent => typed(text),
        ("keyboard", ["type" | "inserttext", text]) => typed(text),
        ("press" | "key" | "keydown", [key]) => call("browser_press_key", Object::default().text("key", key)),
        ("drag" | "drop", _) => unknown("what a drag does is not known"),
        ("eval" | "run-code", _) => unknown("it runs code in the page"),
        ("upload", _) => unknown("it gives files to the page"),
        ("cookies" | "cookie-get" | "cookie-list" | "cookie-set" | "cookie-delete" | "cookie-clear", _) => {
            unknown("it shows or changes cookies, which are logins")
        }
        ("state" | "state-load" | "state-save", _) => unknown("it reads or replaces logins"),
        ("storage", _) => unknown(STORAGE),
        _ if verb.starts_with("localstorage-") || verb.starts_with("sessionstorage-") => unknown(STORAGE),
        _ => unknown(&format!("the effect of {verb:?} is not known")),
    }
}

const STORAGE: &str = "it shows or changes the page's storage, which may have logins";

fn unknown(why: &str) -> BrowserAction {
    BrowserAction::Unknown(why.to_owned())
}

fn call(tool: &'static str, arguments: Object) -> BrowserAction {
    BrowserAction::Call { tool, arguments: arguments.end() }
}

/// Text for the element that has the focus; a line end in it submits a form.
fn typed(text: &str) -> BrowserAction {
    match text.contains(['\n', '\r']) {
        true => unknown("a line end in the text submits a form"),
        false => call("browser_type", Object::default().text("text", text)),
    }
}

/// `@e7`, `e7` and `ref=e7` are references; anything else hides what it means.
fn element(tool: &'static str, target: &str, text: Option<&str>) -> BrowserAction {
    let reference = target.strip_prefix('@').or_else(|| target.strip_prefix("ref=")).unwrap_or(target);
    if !is_reference(reference) {
        return unknown(&format!("the element {target:?} is no reference of a snapshot"));
    }
    match text {
        Some(text) if text.contains(['\n', '\r']) && tool == "browser_type" => {
            unknown("a line end in the text submits a form")
        }
        text => {
            let key = if tool == "browser_select_option" { "value" } else { "text" };
            call(tool, Object::default().text("ref", reference).text_some(key, text))
        }
    }
}

/// `e7`, in a frame `f1e7`.
pub(crate) fn is_reference(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let own = match text.strip_prefix('f').and_then(|rest| rest.split_once('e')) {
        Some((frame, element)) => return digits(frame) && digits(element),
        None => text.strip_prefix('e'),
    };
    own.is_some_and(digits)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn act(text: &str) -> BrowserAction {
        let words: Vec<&str> = text.split(' ').collect();
        command(words[0], &words[1..]).action
    }

    #[test]
    fn a_command_is_the_call_of_a_tool() {
        let call = |tool, arguments: &str| BrowserAction::Call { tool, arguments: arguments.to_owned() };
        for (text, expected) in [
            ("agent-browser click @e7", call("browser_click", r#"{"ref":"e7"}"#)),
            ("agent-browser --session a click ref=e7", call("browser_click", r#"{"ref":"e7"}"#)),
            ("playwright-cli -s=a dblclick f1e2", call("browser_click", r#"{"ref":"f1e2"}"#)),
            ("playwright-cli fill e3 x", call("browser_type", r#"{"ref":"e3","text":"x"}"#)),
            ("agent-browser press Enter", call("browser_press_key", r#"{"key":"Enter"}"#)),
            ("playwright-cli goto https://x.org/", call("browser_navigate", r#"{"url":"https://x.org/"}"#)),
            ("agent-browser snapshot -i --json", BrowserAction::Snapshot),
            ("agent-browser get text @e10", BrowserAction::Look),
            ("agent-browser scroll down 500", BrowserAction::Move),
            ("agent-browser snapshot -s body", BrowserAction::Move),
            ("agent-browser snapshot -i --depth=2", BrowserAction::Move),
            ("playwright-cli snapshot e11", BrowserAction::Move),
            ("playwright-cli -s=a close", BrowserAction::Move),
        ] {
            assert_eq!(act(text), expected, "{text}");
        }
        for unknown in [
            "agent-browser click #pay",
            "agent-browser click text=Pay",
            "playwright-cli click role=button",
            "agent-browser eval 1",
            "agent-browser batch x",
            "agent-browser cookies",
            "agent-browser cookies set a b",
            "agent-browser storage local",
            "playwright-cli cookie-list",
            "playwright-cli localstorage-list",
            "playwright-cli sessionstorage-get a",
            "playwright-cli state-load f",
            "playwright-cli upload f",
            "agent-browser screenshot /etc/passwd",
            "playwright-cli snapshot --filename=f",
            "agent-browser --executable-path x snapshot",
            "agent-browser find first a click",
            "agent-browser find role button click --name now",
            "agent-browser click @e1 -s body",
            "agent-browser confirm 1",
            "agent-browser frobnicate",
        ] {
            assert!(matches!(act(unknown), BrowserAction::Unknown(_)), "{unknown}: {:?}", act(unknown));
        }
        let command = |text: &str| command("agent-browser", &text.split(' ').collect::<Vec<_>>());
        assert_ne!(command("--session a snapshot").browser, command("snapshot").browser);
        assert_eq!(command("--session=a snapshot").browser, command("snapshot --session a").browser);
    }
}
