//! A call as it is shown to a person. Foreign text is made printable, and never begins a line.

use super::excerpt::{columns, cut, visible};
use super::texts::DialogueTexts;
use pipewright_clients::approvals::Question;
use pipewright_lines::plain_text;
use pipewright_policy::arguments::{Difference, Row, pretty, rows};
use pipewright_record::Fields;
use pipewright_record::json::quoted;
use serde_json::value::RawValue;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// At most this many arguments are shown at once, and this many columns of a path.
const ROWS: usize = 20;
const PATH: usize = 28;

const PLAIN: &str = "";
const STRONG: &str = "1;31";
const BOLD: &str = "1";
const DIM: &str = "2";
const TITLE: &str = "36";
const RED: &str = "31";
const GREEN: &str = "32";

pub struct Screen {
    words: &'static DialogueTexts,
    color: bool,
    width: usize,
}

/// The text for a person.
#[derive(Default)]
pub struct CallText {
    pub text: String,
    /// A part of it was left out: it can't be approved by this text alone.
    pub is_cut: bool,
}

impl CallText {
    /// As much of a foreign text as has room.
    fn cut(&mut self, text: &str, room: usize) -> String {
        let (kept, is_cut) = cut(text, room);
        self.is_cut |= is_cut;
        kept
    }

    fn end(mut self, words: &DialogueTexts) -> CallText {
        if self.is_cut {
            self.text += words.cut;
        }
        self
    }
}

impl Screen {
    pub fn new(words: &'static DialogueTexts, color: bool, width: usize) -> Screen {
        Screen { words, color, width: width.clamp(40, 200) }
    }

    /// `text` is printable already.
    fn styled(&self, style: &str, text: &str) -> String {
        if self.color && !style.is_empty() { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// The question whether this call may pass.
    pub fn question(&self, asked: &Question) -> CallText {
        let call = asked.call.call();
        let mut screen = CallText::default();
        screen.text += &(self.styled(DIM, &"-".repeat(self.width.min(60))) + "\n");
        screen.text += &(self.styled(BOLD, self.words.title) + "\n");
        self.line(&mut screen, "tool", &name(&call.tool), BOLD);
        if let Some(target) = call.target {
            self.line(&mut screen, "target", &described(target), BOLD);
        }
        if let Some(policy) = call.policy {
            self.policy(&mut screen, policy);
        }
        let mut arguments = rows(call.arguments_text());
        if let Some(deal) = Deal::read(call.arguments_text()) {
            self.deal(&mut screen, &deal);
            arguments.retain(|row| !row.path.starts_with(DEAL_PATH));
        }
        let _ = writeln!(screen.text, "{}", if arguments.is_empty() { "no arguments" } else { "arguments" });
        self.plain_table(&mut screen, &arguments);
        if let Some(beside) = &asked.beside_arguments {
            screen.text += "besides the arguments, also passed on\n";
            self.plain_table(&mut screen, &rows(beside));
        }
        screen.end(self.words)
    }

    /// What is ordered or paid, in full.
    fn deal(&self, screen: &mut CallText, deal: &Deal) {
        screen.text += "what is ordered or paid, as the page shows it\n";
        let mut note = String::new();
        deal.note.iter().for_each(|text| self.wrap(&mut note, text));
        for line in note.lines() {
            // Unlike the page's own words.
            let _ = writeln!(screen.text, "{}", self.styled(STRONG, &line.replacen('|', "!", 1)));
        }
        deal.text.iter().for_each(|line| self.wrap(&mut screen.text, line));
    }

    fn policy(&self, screen: &mut CallText, policy: &RawValue) {
        let Ok(fields) = Fields::read(policy.get()) else {
            return self.line(screen, "policy", policy.get(), PLAIN);
        };
        let text = |key| fields.get(key).map(|value| plain_text(value.get()).into_owned());
        if let Some(kind) = text("kind") {
            if text("severity").as_deref() == Some("strong") {
                self.line(screen, "kind", &warning(&kind), STRONG);
            } else {
                self.line(screen, "kind", &kind, BOLD);
            }
        }
        for key in ["rule", "reason"] {
            if let Some(text) = text(key) {
                self.line(screen, key, &text, PLAIN);
            }
        }
    }

    fn line(&self, screen: &mut CallText, title: &str, text: &str, style: &str) {
        let shown = self.styled(style, &screen.cut(text, self.width - 12));
        let _ = writeln!(screen.text, "{}  {shown}", self.styled(TITLE, &format!("{title:>8}")));
    }

    fn plain_table(&self, screen: &mut CallText, rows: &[Row]) {
        self.table(screen, rows.iter().map(|row| ("  ", PLAIN, row)), rows.len());
    }

    fn table<'r>(
        &self,
        screen: &mut CallText,
        rows: impl Iterator<Item = (&'static str, &'static str, &'r Row)>,
        all: usize,
    ) {
        for (sign, style, row) in rows.take(ROWS) {
            let path = screen.cut(&row.path, PATH);
            let room = self.width.saturating_sub(columns(&path) + 5).max(12);
            let line = format!("{sign}{path}: {}", screen.cut(&row.value, room));
            let _ = writeln!(screen.text, "{}", self.styled(style, &line));
        }
        if all > ROWS {
            screen.is_cut = true;
            let _ = writeln!(screen.text, "  and {} more", all - ROWS);
        }
    }

    /// What has changed, old and new.
    pub fn changes(&self, changes: &[Difference]) -> CallText {
        let mut screen = CallText { text: self.styled(BOLD, "edited:") + "\n", is_cut: false };
        let rows = changes.iter().map(|change| match change {
            Difference::Gone(row) => ("- ", RED, row),
            Difference::New(row) => ("+ ", GREEN, row),
        });
        self.table(&mut screen, rows, changes.len());
        screen.end(self.words)
    }

    /// The whole call, at full length.
    pub fn everything(&self, asked: &Question, edited: Option<&str>) -> String {
        let call = asked.call.call();
        let mut screen = String::new();
        let id = call.id.map_or("none", RawValue::get);
        for (title, json) in [
            ("tool", Some(call.tool.as_ref())),
            ("id", Some(id)),
            ("target", call.target.map(RawValue::get)),
            ("policy", call.policy.map(RawValue::get)),
            ("arguments", Some(call.arguments_text())),
            ("edited", edited),
            ("besides the arguments", asked.beside_arguments.as_deref()),
        ] {
            let Some(json) = json else { continue };
            let _ = writeln!(screen, "{}", self.styled(TITLE, title));
            let laid_out = if json.starts_with('{') { pretty(json) } else { json.to_owned() };
            laid_out.lines().for_each(|line| self.wrap(&mut screen, line));
        }
        screen
    }

    /// Writes a long line in rows; every row has the same prefix.
    fn wrap(&self, screen: &mut String, line: &str) {
        let line = visible(line);
        let (mut row, mut used) = (String::new(), 0);
        for character in line.chars() {
            let wide = character.width().unwrap_or(0).max(1);
            if used + wide > self.width - 4 {
                let _ = writeln!(screen, "  | {row}");
                (row, used) = (String::new(), 0);
            }
            row.push(character);
            used += wide;
        }
        let _ = writeln!(screen, "  | {row}");
    }

    pub fn warning(&self, text: &str) -> String {
        self.styled(STRONG, &cut(text, 400).0) + "\n"
    }
}

/// The argument that names a deal, which a gate adds.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Deal {
    text: Vec<String>,
    note: Option<String>,
}

const DEAL_PATH: &str = ".deal.";

/// A longer one is shown like other arguments.
const MAX_DEAL: usize = 4000;

impl Deal {
    fn read(arguments: &str) -> Option<Deal> {
        let deal = Fields::read(arguments).ok()?.get("deal")?.get();
        serde_json::from_str(deal).ok().filter(|_| deal.len() <= MAX_DEAL)
    }
}

/// What a call of this kind may do, and no more than is known.
fn warning(kind: &str) -> String {
    let what = match kind {
        "pay" => "it may spend money",
        "install" => "it may put a program on a machine",
        "run" => "it may run a program or a command",
        _ => "check it carefully",
    };
    format!("{}: {what}", kind.to_uppercase())
}

/// A plain name as it is; any other in quotes.
fn name(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./:".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted(text) }
}

/// A target in words: button "Delete", value "7", in "Settings".
fn described(target: &RawValue) -> String {
    let Ok(fields) = Fields::read(target.get()) else { return target.get().to_owned() };
    let text = |key| fields.get(key).map(|value| plain_text(value.get()).into_owned()).filter(|text| !text.is_empty());
    let mut words = text("role").unwrap_or_else(|| "something".to_owned());
    words += &text("name").map_or(String::new(), |name| format!(" {}", quoted(&name)));
    words += &text("value").map_or(String::new(), |value| format!(", value {}", quoted(&value)));
    words += &text("context").map_or(String::new(), |context| format!(", in {}", quoted(&context)));
    words + &text("origin").map_or(String::new(), |origin| format!(", on {origin}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cmd::approver::texts::LETTERS;
    use pipewright_record::recognise;

    fn asked(line: &str) -> Question {
        let call = recognise(line).unwrap().unwrap();
        Question {
            nonce: String::new(),
            sha256: String::new(),
            call: (&call).into(),
            beside_arguments: call.beside_arguments(line),
            caller: None,
            asked_at: None,
            expires_at: None,
            rule_offers: Vec::new(),
            rules_file: None,
        }
    }

    fn question(line: &str) -> String {
        Screen::new(&LETTERS, false, 60).question(&asked(line)).text
    }

    #[test]
    fn a_call_is_shown_with_its_target_its_rule_and_its_arguments() {
        let line = r#"{"tool":"browser_click","args":{"ref":"e12","n":1.10},"requires_approval":true,
            "target":{"role":"button","name":"Buy \"now\"","context":"Cart"},
            "policy":{"verdict":"confirm","rule":"builtin.pay","reason":"pay: buy (en)","kind":"pay","severity":"strong"}}"#;
        assert_eq!(
            question(&line.replace("\n            ", "")).lines().skip(1).collect::<Vec<_>>(),
            [
                "hitl-gate: may this call pass?",
                "    tool  browser_click",
                "  target  button \"Buy \\\"now\\\"\", in \"Cart\"",
                "    kind  PAY: it may spend money",
                "    rule  builtin.pay",
                "  reason  pay: buy (en)",
                "arguments",
                "  .ref: \"e12\"",
                "  .n: 1.10",
            ]
        );
    }

    #[test]
    fn nothing_foreign_begins_a_line_or_steers_the_terminal() {
        let nasty = "x\\n> y\\u001b[2J\\u202e\\u200b\u{202e}\u{e0041}";
        let line = format!(
            r#"{{"tool":"a{nasty}","args":{{"k{nasty}":"{nasty}{long}"}},"requires_approval":true,"target":{{"role":"{nasty}","name":"{nasty}"}},"h{nasty}":"{nasty}","policy":{{"reason":"{nasty}","kind":"{nasty}","severity":"strong"}}}}"#,
            long = "approve [y] ".repeat(100_000)
        );
        let call = asked(&line);
        let screen = Screen::new(&LETTERS, false, 60);
        for shown in [screen.question(&call).text, screen.everything(&call, Some(r#"{"a":1}"#))] {
            assert!(!shown.chars().any(|c| (c.is_control() && c != '\n') || "\u{202e}\u{200b}\u{e0041}".contains(c)));
            for line in shown.lines() {
                assert!(columns(line) <= 62, "{line}");
                assert!(!line.starts_with(">") && !line.starts_with("approve"), "{line}");
            }
        }
        let question = screen.question(&call);
        assert!(question.text.len() < 2000 && question.text.contains(" characters)") && question.is_cut);
    }

    #[test]
    fn many_arguments_are_counted() {
        let arguments: Vec<String> = (0..50).map(|number| format!("\"a{number}\":{number}")).collect();
        let shown = question(&format!(r#"{{"tool":"x","args":{{{}}}}}"#, arguments.join(",")));
        assert!(
            shown.contains(".a19: 19\n  and 30 more\nnot everything is shown: press v before y\n")
                && !shown.contains(".a20"),
            "{shown}"
        );
        assert!(question(r#"{"tool":"x"}"#).ends_with("no arguments\n"));
    }
}
