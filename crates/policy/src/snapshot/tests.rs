mod counting;
mod naming;
mod pages;

use super::*;
use proptest::prelude::*;

const PLAYWRIGHT_83: &str = include_str!("../../../../tests/fixtures/snapshots/playwright_83.jsonl");
const PLAYWRIGHT_56: &str = include_str!("../../../../tests/fixtures/snapshots/playwright_56.jsonl");
const PLAYWRIGHT_41: &str = include_str!("../../../../tests/fixtures/snapshots/playwright_41.jsonl");
const GODOT: &str = include_str!("../../../../tests/fixtures/snapshots/godot.jsonl");

/// Passes the first calls of a recording, each with its answer.
fn after(recording: &str, calls: usize) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let lines: Vec<&str> = recording.lines().collect();
    for pair in lines.chunks(2).take(calls) {
        let call = pipewright_record::recognise(pair[0]).unwrap().unwrap();
        let arguments = call.arguments.map_or("{}", |arguments| arguments.get());
        snapshot.passes(call.id.map(|id| id.get()), &call.tool, arguments, false);
        assert!(!snapshot.unanswered.is_empty());
        snapshot.observe(pair[1].as_bytes());
        assert!(snapshot.unanswered.is_empty(), "{}", pair[1]);
    }
    snapshot
}

fn element(named: NamedElement) -> Target {
    match named {
        NamedElement::Element(target) => target,
        other => panic!("{other:?}"),
    }
}

impl Snapshot {
    fn click(&self, reference: &str) -> NamedElement {
        let arguments = format!(r#"{{"element":"a harmless thing","target":{reference:?}}}"#);
        let named = self.target("browser_click", &arguments);
        let older = format!(r#"{{"element":"a harmless thing","ref":{reference:?}}}"#);
        if reference.len() < 6 {
            assert_eq!(self.target("browser_click", &older), named);
        }
        named
    }

    fn is_unknown(&self, reference: &str) -> bool {
        self.click(reference) == NamedElement::Unknown(reference.to_owned())
    }

    fn number(&self, number: usize) -> NamedElement {
        self.target("browser_overlay_act", &format!(r#"{{"index":{number},"action":"click"}}"#))
    }

    fn call(&mut self, tool: &str, arguments: &str, data: &str) {
        self.passes(Some("1"), tool, arguments, false);
        self.observe(format!(r#"{{"id":1,"tool":{tool:?},"status":"ok","data":{data}}}"#).as_bytes());
    }
}

/// The output of chrome-devtools-mcp 1.11.0 for a page of ours.
const CHROME: &str = include_str!("../../../../tests/fixtures/snapshots/chrome_devtools.jsonl");

fn answer(id: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{}}}]}}}}"#,
        pipewright_record::json::quoted(text)
    )
}

proptest! {
    /// For any input, a reference means only what it means in the last snapshot. (None of these names is an OK in some
    /// language.)
    #[test]
    fn a_reference_is_of_the_last_snapshot(pages in prop::collection::vec(prop::collection::vec((0..9u8, "x[0-9]{3,5}"), 0..9), 1..5), noise in ".*") {
        let mut snapshot = Snapshot::default();
        for page in &pages {
            let lines: String = page.iter().map(|(at, name)| format!("- button \"{name}\" [ref=e{at}]\n")).collect();
            let text = pipewright_record::json::quoted(&format!("### Page\n- Page Title: {}\n### \
                Snapshot\n```yaml\n{lines}```", noise.replace(['\n', '\r'], "")));
            snapshot.passes(Some("1"), "browser_snapshot", "{}", false);
            snapshot.observe(format!(r#"{{"id":1,"result":{{"content":[{{"text":{text}}}]}}}}"#).as_bytes());
        }
        let last = pages.last().unwrap();
        for at in 0..9 {
            let names: std::collections::BTreeSet<&str> =
                last.iter().filter(|(of, _)| *of == at).map(|(_, name)| &**name).collect();
            let expected = if names.len() == 1 { names.first().copied() } else { None };
            let named = snapshot.click(&format!("e{at}"));
            let found = if let NamedElement::Element(target) = &named { Some(&*target.name) } else { None };
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn nothing_panics(line in ".*", text in "([- \"'\\[\\]:#\\\\`]|ref=|uid=1|e1|button|\n|## Latest page snapshot|### \
        Snapshot|### Result|```yaml|```|<changed> )*", selector in ".*") {
        let mut snapshot = after(PLAYWRIGHT_83, 2);
        snapshot.observe(line.as_bytes());
        let text = pipewright_record::json::quoted(&text);
        snapshot.passes(Some("1"), "take_snapshot", "{}", false);
        snapshot.observe(format!(r#"{{"id":1,"result":{{"content":[{{"text":{text}}}]}}}}"#).as_bytes());
        let selector = pipewright_record::json::quoted(&selector);
        for key in ["target", "ref", "path", "selector", "index", "text"] {
            let _ = snapshot.target("browser_click", &format!(r#"{{"{key}":{selector}}}"#));
        }
        prop_assert_eq!(snapshot.size, snapshot.elements.values().filter_map(|known| known.target.as_ref()).chain(snapshot.nodes.values()).map(Target::size).sum::<usize>());
    }
}
