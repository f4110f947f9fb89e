//! Turns the lists in `lists` into the tables that `src/table.rs` describes.

#[allow(dead_code)]
#[path = "src/normalise.rs"]
mod normalise;
#[allow(dead_code)]
#[path = "src/pattern.rs"]
mod pattern;

use pattern::{LISTS, Pattern, PatternPart, PatternWord};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=lists");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/normalise.rs");
    println!("cargo::rerun-if-changed=src/pattern.rs");
    let mut tables = Tables::default();
    for file in files()? {
        tables.add(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    tables.write(Path::new(&env::var("OUT_DIR")?))
}

fn files() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir("lists")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[derive(Default)]
struct Tables {
    languages: Vec<String>,
    /// The rows of patterns, by the key of the index that leads to them.
    patterns: BTreeMap<Vec<u8>, Vec<u8>>,
    steps: Vec<u8>,
    known_steps: HashMap<Vec<u8>, usize>,
    text: String,
    known_text: HashMap<String, usize>,
}

impl Tables {
    fn add(&mut self, file: &Path) -> Result<()> {
        let language = file.file_stem().and_then(|stem| stem.to_str()).ok_or("the file name is not a language")?;
        let lists: BTreeMap<String, Vec<String>> = toml::from_str(&fs::read_to_string(file)?)?;
        for (name, patterns) in &lists {
            let Some(list) = LISTS.iter().position(|list| list == name) else {
                return Err(format!("{name:?} is not a list; the lists are {}", LISTS.join(", ")).into());
            };
            for written in patterns {
                let wrong = |error: &dyn std::fmt::Display| format!("{name}: {written:?}: {error}");
                for one in pattern::alternatives(written).map_err(|error| wrong(&error))? {
                    self.add_pattern(list, &one).map_err(|error| wrong(&error))?;
                }
            }
        }
        self.languages.push(language.to_owned());
        Ok(())
    }

    fn add_pattern(&mut self, list: usize, written: &str) -> Result<()> {
        let pattern = Pattern::read(written)?;
        let position = match &pattern {
            Pattern { unspaced: true, .. } => b'~',
            Pattern { first: PatternWord { open_left: true, .. }, .. } => b'*',
            _ => b'=',
        };
        let flags = u8::from(pattern.at_start) | u8::from(pattern.at_end) << 1 | u8::from(pattern.unspaced) << 2;
        let flags = flags | ends(&pattern.first) | pattern.lead << 5;
        let steps = self.add_steps(&pattern.rest)?;
        let (list, language, count) =
            (u8::try_from(list)?, u8::try_from(self.languages.len())?, u8::try_from(pattern.rest.len())?);
        let rows = self.patterns.entry([&[position], pattern.first.text.as_bytes()].concat()).or_default();
        rows.extend([list, language, flags, count]);
        rows.extend(three_bytes(steps)?);
        Ok(())
    }

    /// The position of these steps in the table, to which they are added if they are not there in this order.
    fn add_steps(&mut self, steps: &[PatternPart]) -> Result<usize> {
        let mut rows = Vec::with_capacity(steps.len() * STEP);
        for step in steps {
            let (kind, text) = match step {
                PatternPart::Word(piece) => (ends(piece), &*piece.text),
                PatternPart::One => (1, ""),
                PatternPart::Few => (2, ""),
            };
            rows.push(kind);
            rows.extend(self.text(text)?);
        }
        if let Some(at) = self.known_steps.get(&rows) {
            return Ok(*at);
        }
        let at = self.steps.len() / STEP;
        self.steps.extend(&rows);
        self.known_steps.insert(rows, at);
        Ok(at)
    }

    /// The position and the length of a text.
    fn text(&mut self, text: &str) -> Result<[u8; 4]> {
        let at = *self.known_text.entry(text.to_owned()).or_insert_with(|| {
            let at = self.text.len();
            self.text.push_str(text);
            at
        });
        let [a, b, c] = three_bytes(at)?;
        Ok([a, b, c, u8::try_from(text.len())?])
    }

    fn write(&self, to: &Path) -> Result<()> {
        let mut index = fst::MapBuilder::memory();
        let mut all = Vec::new();
        for (key, rows) in &self.patterns {
            index.insert(key, (((all.len() / PATTERN) << 16) | (rows.len() / PATTERN)) as u64)?;
            all.extend(rows);
        }
        fs::write(to.join("words.fst"), index.into_inner()?)?;
        fs::write(to.join("begins"), begins(self.patterns.keys()))?;
        fs::write(to.join("patterns"), all)?;
        fs::write(to.join("steps"), &self.steps)?;
        fs::write(to.join("text"), &self.text)?;
        let languages = &self.languages;
        let list = format!(
            "/// The languages that have lists, as BCP 47 tags.\npub static LANGUAGES: [&str; {}] = {languages:?};\n",
            languages.len()
        );
        fs::write(to.join("languages.rs"), list)?;
        Ok(())
    }
}

/// For each position, a bit for each pair of bytes with which a word may begin.
fn begins<'k>(keys: impl Iterator<Item = &'k Vec<u8>>) -> Vec<u8> {
    let mut bits = vec![0; POSITIONS.len() * PAIRS];
    let mut set = |place: usize, pair: usize| bits[place * PAIRS + pair / 8] |= 1 << (pair % 8);
    for key in keys {
        let Some(place) = POSITIONS.iter().position(|position| key.first() == Some(position)) else { continue };
        match key[1..] {
            [] => {}
            // Any byte may follow.
            [only] => (0..256).for_each(|next| set(place, usize::from(only) << 8 | next)),
            [first, second, ..] => set(place, usize::from(first) << 8 | usize::from(second)),
        }
    }
    bits
}

/// The first bytes of keys, and the bytes of a set of pairs: as in `src/table.rs`.
const POSITIONS: [u8; 3] = [b'=', b'*', b'~'];
const PAIRS: usize = 1 << 13;

/// The lengths of rows.
const PATTERN: usize = 7;
const STEP: usize = 5;

fn three_bytes(number: usize) -> Result<[u8; 3]> {
    match u32::try_from(number)?.to_le_bytes() {
        [a, b, c, 0] => Ok([a, b, c]),
        _ => Err(format!("{number} does not fit into three bytes").into()),
    }
}

/// The flags of `table::Pattern`.
fn ends(piece: &PatternWord) -> u8 {
    u8::from(piece.open_left) << 3 | u8::from(piece.open_right) << 4
}
