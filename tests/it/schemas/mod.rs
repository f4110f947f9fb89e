//! What the commands say is held against `schemas/`, wherever tests hear it: each line that bears the marker of one of our records
//! has to be what that record's schema says.

#[cfg(all(feature = "jq", feature = "mcp"))]
mod met;
mod sound;

use boon::{Compiler, SchemaIndex, UrlLoader};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::path::{Path, PathBuf};

/// Where the files refer to each other from.
const BASE: &str = "pipewright:/schemas/";
const INDEX: &str = "record.json";
/// What has no record of its own.
const SHARED: [&str; 2] = ["definitions.json", INDEX];
/// Longer lines, and more of them at once, are floods that some tests make: the same record again, or text that is as long.
const LONGEST: usize = 256 << 10;
const MOST: usize = 2_000;

/// Reads a file of the folder when it is first referred to, and nothing else.
struct Folder;

impl UrlLoader for Folder {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        let file = url.strip_prefix(BASE).ok_or("a schema refers to what isn't among them")?;
        Ok(serde_json::from_str(&std::fs::read_to_string(folder().join(file))?)?)
    }
}

/// The schemas that something was held against so far: most tests need one or two, and all of them take longer than many a test.
struct Schemas {
    compiler: Compiler,
    compiled: boon::Schemas,
    /// The index's conditions, in the order in which they count, and the file that each stands for.
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
        // By themselves, since the index refers to every schema.
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

    /// The files whose record a line is by its markers.
    fn of(&self, record: &Value) -> Vec<String> {
        let is_met = |condition| self.compiled.validate(record, condition).is_ok();
        let mut met: Vec<String> =
            self.markers.iter().filter(|(condition, _)| is_met(*condition)).map(|(_, file)| file.clone()).collect();
        // The first stands before all others, which the index has in its `else`.
        if met.first() == self.markers.first().map(|(_, file)| file) {
            met.truncate(1);
        }
        met
    }

    /// Holds a record against the schema of this file: what is wrong with it.
    fn check(&mut self, file: &str, record: &Value) -> Result<(), String> {
        let schema = match self.records.get(file) {
            Some(schema) => *schema,
            None => self.compile(file),
        };
        self.records.insert(file.to_owned(), schema);
        self.compiled.validate(record, schema).map_err(|error| format!("{error:#}"))
    }
}

/// The index's conditions, and the file that each stands for. That of the summary's rows comes first, and all others stand in its
/// `else`.
fn markers(index: &Value) -> Vec<(Value, String)> {
    let others = index["else"]["allOf"].as_array().unwrap();
    let rules = std::iter::once(index).chain(others);
    rules.map(|rule| (rule["if"].clone(), rule["then"]["$ref"].as_str().unwrap().to_owned())).collect()
}

/// Holds a line that a command has said against the schema of the record that it is, and gives that one's file. What bears no marker
/// of ours is another's.
#[track_caller]
pub fn hold(line: &str) -> Option<String> {
    // Most lines of large runs are others', and texts.
    if line.len() > LONGEST || !line.trim_start().starts_with('{') {
        return None;
    }
    // Numbers that no type holds, and depth, are the reader's limits here, and no matter of the record's.
    let record: Value = serde_json::from_str(line).ok()?;
    let (file, held) = SCHEMAS.with_borrow_mut(|schemas| {
        let file = schemas.of(&record).into_iter().next()?;
        let held = schemas.check(&file, &record);
        Some((file, held))
    })?;
    if let Err(why) = held {
        panic!("not what schemas/{file} says: {line}\n{why}");
    }
    Some(file)
}

/// Holds all that a command has said on stdout; what came in on its stdin, and was passed on, is not its own.
#[track_caller]
pub fn hold_all(said: &[u8], input: &[u8]) {
    let lines = |bytes| <[u8]>::split(bytes, |&byte| byte == b'\n');
    let passed: HashSet<&[u8]> = lines(input).collect();
    for line in lines(said).take(MOST).filter(|line| !passed.contains(line)) {
        hold(&String::from_utf8_lossy(line));
    }
}

/// A file that a command has written, with each of its lines held against its schema.
#[track_caller]
pub fn written(path: impl AsRef<Path>) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    hold_all(text.as_bytes(), b"");
    text
}
