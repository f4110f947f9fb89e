//! The schemas themselves: what each accepts and refuses.

use super::{BASE, Folder, INDEX, SCHEMAS, SHARED, Schemas, folder, hold, hold_all};
use crate::samples::{line_commands, sample_of};
use boon::{Compiler, UrlLoader};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// `{"schema","why","record"}`: a record that must be refused, and a part of the reason.
const REFUSED: &str = include_str!("../../fixtures/schemas/refused.jsonl");

/// All files, parsed.
fn files() -> Vec<(String, Value)> {
    let names = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let schemas = names.filter(|name| name.ends_with(".json"));
    schemas.map(|name| (name.clone(), Folder.load(&format!("{BASE}{name}")).unwrap())).collect()
}

/// The files that have a record of their own.
pub fn of_records() -> impl Iterator<Item = (String, Value)> {
    files().into_iter().filter(|(file, _)| !SHARED.contains(&file.as_str()))
}

fn check(file: &str, record: &Value) -> Result<(), String> {
    SCHEMAS.with_borrow_mut(|schemas| schemas.check(file, record))
}

fn refused() -> impl Iterator<Item = (String, String, Value)> {
    REFUSED.lines().map(|line| {
        let case: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let text = |key: &str| case[key].as_str().unwrap().to_owned();
        (text("schema"), text("why"), case["record"].clone())
    })
}

#[test]
fn each_schema_is_valid_has_a_title_and_is_named_like_its_file() {
    for (file, schema) in files() {
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{file}");
        assert_eq!(schema["$id"], file.as_str());
        assert!(schema["title"].is_string(), "{file} has no title");
    }
    // Compiling also checks each schema against the metaschema.
    let mut schemas = Schemas::new(Compiler::new());
    files().iter().for_each(|(file, _)| _ = schemas.compile(file));
    let broken = std::panic::catch_unwind(|| {
        let mut compiler = Compiler::new();
        let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "required": "type"});
        compiler.add_resource(&format!("{BASE}cancel.json"), schema).unwrap();
        Schemas::new(compiler).compile("cancel.json")
    });
    assert!(broken.is_err(), "an invalid schema must be detected");
}

#[test]
fn each_schema_accepts_its_examples_and_the_index_recognises_them() {
    for (file, schema) in of_records() {
        let examples = schema["examples"].as_array().unwrap_or_else(|| panic!("{file} has no examples"));
        assert!(!examples.is_empty(), "{file}");
        for example in examples {
            assert_eq!(check(&file, example), Ok(()), "{file}: {example}");
            assert_eq!(check(INDEX, example), Ok(()), "{INDEX}: {example}");
            let known = SCHEMAS.with_borrow(|schemas| schemas.of(example));
            // A configuration file, and records with only a name, are not lines that the index could recognise.
            if !["mcp_servers.json", "element.json"].contains(&file.as_str()) {
                assert_eq!(known, std::slice::from_ref(&file), "{example}");
            }
        }
    }
}

#[test]
fn each_schema_refuses_missing_or_wrong_fields_for_that_reason() {
    let mut seen = BTreeSet::new();
    for (file, why, record) in refused() {
        let reason = check(&file, &record).expect_err(&format!("{file} takes {record}"));
        assert!(reason.contains(&why), "{file}: {record}: it should be refused for {why}: {reason}");
        let is_known = SCHEMAS.with_borrow(|schemas| schemas.of(&record)).contains(&file);
        assert_eq!(check(INDEX, &record).is_err(), is_known, "{INDEX} refuses a record that it recognises: {record}");
        seen.insert(file);
    }
    let all: BTreeSet<String> = of_records().map(|(file, _)| file).collect();
    assert_eq!(seen, all, "each schema refuses something");
}

#[test]
fn documented_and_recorded_lines_match_the_schemas() {
    let known = |lines: &str| lines.lines().filter_map(hold).count();
    // An editor's messages are ACP's.
    for of in line_commands().filter(|of| of.name != "agent-acp") {
        let line = sample_of(of).line;
        assert_eq!(known(line), 1, "{} takes it: {line}", of.name);
    }
    // Three dots mark left-out parts there.
    let shown = crate::documents::pages();
    let shown = shown.iter().flat_map(|(_, page)| page.lines()).filter(|line| !line.contains("..."));
    assert!(known(&shown.collect::<Vec<_>>().join("\n")) > 3);
    for (recording, held) in [
        (include_str!("../../fixtures/mcp/weather.jsonl"), "msg"),
        (include_str!("../../fixtures/spire/demo_session.jsonl"), "msg"),
        (include_str!("../../fixtures/spire/real_screens.jsonl"), "message"),
        (include_str!("../../fixtures/snapshots/playwright_83.jsonl"), ""),
        (include_str!("../../fixtures/snapshots/godot.jsonl"), ""),
    ] {
        let lines = recording.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let inner: Vec<String> = lines.filter_map(|line| Some(line.get(held)?.to_string())).collect();
        assert!(known(recording) + known(&inner.join("\n")) > 1, "{recording}");
    }
}

#[test]
fn output_is_checked_and_passed_lines_are_not() {
    let bad = r#"{"type":"tool_result","status":"error","error":"x","kind":"bad_luck"}"#;
    let panics = |hold: &(dyn Fn() + std::panic::RefUnwindSafe)| std::panic::catch_unwind(hold).is_err();
    assert!(panics(&|| _ = hold(bad)));
    assert!(panics(&|| hold_all(format!("{{}}\n{bad}\n").as_bytes(), b"{}\n")));
    hold_all(format!("{bad}\n").as_bytes(), format!("{bad}\n").as_bytes());
    hold(r#"{"type":"of_somebody_else","content":7}"#);
}
