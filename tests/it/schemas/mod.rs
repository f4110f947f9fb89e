//! Checks the output of commands against `schemas/` in all tests: each line with the marker of one of our records must match that
//! record's schema.

mod made;
#[cfg(all(feature = "jq", feature = "mcp"))]
mod seen;
mod sound;

use boon::{Compiler, SchemaIndex, UrlLoader};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::path::{Path, PathBuf};

/// The base address for references between the files.
const BASE: &str = "pipewright:/schemas/";
const INDEX: &str = "record.json";
/// Files without a record of their own.
const SHARED: [&str; 2] = ["definitions.json", INDEX];
/// Longer lines, or more lines at once, are floods made by some tests: the same record repeated, or a very long text.
const LONGEST: usize = 256 << 10;
const MOST: usize = 2_000;

/// Reads a file of the folder when it is first referenced, and nothing else.
struct Folder;

impl UrlLoader for Folder {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        let file = url.strip_prefix(BASE).ok_or("a schema refers to an unknown file")?;
        Ok(serde_json::from_str(&std::fs::read_to_string(folder().join(file))?)?)
    }
}

/// The schemas used so far. Most tests need one or two, and compiling all would take longer than many tests.
struct Schemas {
    compiler: Compiler,
    compiled: boon::Schemas,
    /// The index's conditions, in order, and the file of each.
    markers: Vec<(SchemaIndex, String)>,
    records: BTreeMap<String, SchemaIndex>,
}

thread_local! {
    static SCHEMAS: RefCell<Schemas> = RefCell::new(Schemas::new(Compiler::new()));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

impl Schemas {
    fn new(mut compiler: Compiler) -> Schemas {
        compiler.use_loader(Box::new(Folder));
        let index = Folder.load(&format!("{BASE}{INDEX}")).unwrap();
        let (compiled, records) = (boon::Schemas::new(), BTreeMap::new());
        let mut schemas = Schemas { compiler, compiled, markers: Vec::new(), records };
        // Separately, since the index refers to every schema.
        let (conditions, files): (Vec<Value>, Vec<String>) = markers(&index).into_iter().unzip();
        schemas
            .compiler
            .add_resource(&format!("{BASE}markers"), json!({"$defs": {"of": {"anyOf": conditions}}}))
            .unwrap();
        for (number, file) in files.into_iter().enumerate() {
            let condition = schemas.compile(&format!("markers#/$defs/of/anyOf/{number}"));
            schemas.markers.push((condition, file));
        }
        schemas
    }

    fn compile(&mut self, place: &str) -> SchemaIndex {
        let schema = self.compiler.compile(&format!("{BASE}{place}"), &mut self.compiled);
        schema.unwrap_or_else(|error| panic!("schemas/{place}: {error:#}"))
    }

    /// The files of the records that a line is, judged by its markers.
    fn of(&self, record: &Value) -> Vec<String> {
        let is_met = |condition| self.compiled.validate(record, condition).is_ok();
        let mut seen: Vec<String> =
            self.markers.iter().filter(|(condition, _)| is_met(*condition)).map(|(_, file)| file.clone()).collect();
        // The first condition precedes all others, which are in its `else` in the index.
        if seen.first() == self.markers.first().map(|(_, file)| file) {
            seen.truncate(1);
        }
        seen
    }

    /// Checks a record against the schema of this file. Returns what is wrong with it.
    fn check(&mut self, file: &str, record: &Value) -> Result<(), String> {
        let schema = match self.records.get(file) {
            Some(schema) => *schema,
            None => self.compile(file),
        };
        self.records.insert(file.to_owned(), schema);
        self.compiled.validate(record, schema).map_err(|error| format!("{error:#}"))
    }
}

/// The index's conditions, and the file of each. The one for the summary's rows comes first; all others are in its `else`.
fn markers(index: &Value) -> Vec<(Value, String)> {
    let others = index["else"]["allOf"].as_array().unwrap();
    let rules = std::iter::once(index).chain(others);
    rules.map(|rule| (rule["if"].clone(), rule["then"]["$ref"].as_str().unwrap().to_owned())).collect()
}

/// Checks a line of a command's output against the schema of its record, and returns that schema's file. A line without one of
/// our markers is not ours.
#[track_caller]
pub fn hold(line: &str) -> Option<String> {
    // Most lines of large runs are texts, or not ours.
    if line.len() > LONGEST || !line.trim_start().starts_with('{') {
        return None;
    }
    // Unsupported numbers and depth are limits of this reader, not faults of the record.
    let record: Value = serde_json::from_str(line).ok()?;
    let (file, held) = SCHEMAS.with_borrow_mut(|schemas| {
        let file = schemas.of(&record).into_iter().next()?;
        let held = schemas.check(&file, &record);
        Some((file, held))
    })?;
    if let Err(why) = held {
        panic!("does not match schemas/{file}: {line}\n{why}");
    }
    Some(file)
}

/// Checks everything that a command has written to stdout, except lines from its stdin that it passed on.
#[track_caller]
pub fn hold_all(output: &[u8], input: &[u8]) {
    let lines = |bytes| <[u8]>::split(bytes, |&byte| byte == b'\n');
    let passed: HashSet<&[u8]> = lines(input).collect();
    for line in lines(output).take(MOST).filter(|line| !passed.contains(line)) {
        hold(&String::from_utf8_lossy(line));
    }
}

/// The content of a file that a command has written, with each line checked against its schema.
#[track_caller]
pub fn written(path: impl AsRef<Path>) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    hold_all(text.as_bytes(), b"");
    text
}
