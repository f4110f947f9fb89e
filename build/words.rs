//! Turns the lists in `src/policy/words` into the tables of `policy::detector::table`: reading seventy files at start would take
//! longer than the command itself.

use crate::pattern::{self, LISTS, Pattern, Piece, Step};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const WORDS: &str = "src/policy/words";

const INDEX: &str = "words.fst";
const ROWS: &str = "words.rs";

/// Writes the tables into the folder `to`. That takes seconds, so they are kept if only the commit has changed.
pub fn write(to: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={WORDS}");
    println!("cargo::rerun-if-changed=src/policy/detector/normalise.rs");
    println!("cargo::rerun-if-changed=src/policy/detector/pattern.rs");
    let files = files()?;
    if is_written(to, &files).unwrap_or(false) {
        return Ok(());
    }
    let mut tables = Tables::default();
    for file in files {
        tables.add(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    tables.write(to)
}

/// Replaces the file atomically, so a partial file of a killed run does not count as written.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, bytes)?;
    fs::rename(&new, path)
}

/// Whether the tables are newer than the lists, than their folder (a list may have been removed), and than this program.
fn is_written(to: &Path, files: &[PathBuf]) -> io::Result<bool> {
    let changed = |path: &Path| fs::metadata(path)?.modified();
    let written = changed(&to.join(INDEX))?.min(changed(&to.join(ROWS))?);
    let mut youngest = changed(Path::new(WORDS))?.max(changed(&env::current_exe()?)?);
    for file in files {
        youngest = youngest.max(changed(file)?);
    }
    Ok(written > youngest)
}

fn files() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(WORDS)? {
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
    /// Rust expressions, by the index key that leads to them.
    patterns: BTreeMap<Vec<u8>, Vec<String>>,
    steps: String,
    step_count: usize,
    text: String,
    known: BTreeMap<String, u32>,
}

impl Tables {
    fn add(&mut self, file: &Path) -> Result<(), Box<dyn Error>> {
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

    fn add_pattern(&mut self, list: usize, written: &str) -> Result<(), Box<dyn Error>> {
        let pattern = Pattern::read(written)?;
        let place = match &pattern {
            Pattern { unspaced: true, .. } => b'~',
            Pattern { first: Piece { open_left: true, .. }, .. } => b'*',
            _ => b'=',
        };
        let flags = u8::from(pattern.at_start) | u8::from(pattern.at_end) << 1 | u8::from(pattern.unspaced) << 2;
        let flags = flags | ends(&pattern.first) | pattern.lead << 5;
        let first_step = self.step_count;
        for step in &pattern.rest {
            let step = match step {
                Step::Word(piece) => format!("Step::word({}, {})", self.text(&piece.text)?, ends(piece)),
                Step::One => "Step::One".to_owned(),
                Step::Few => "Step::Few".to_owned(),
            };
            writeln!(self.steps, "{step},")?;
            self.step_count += 1;
        }
        let steps = (u32::try_from(first_step)?, pattern.rest.len());
        let language = self.languages.len();
        let row = format!("Pattern::new({list}, {language}, {flags}, {steps:?}, {}),", self.text(written)?);
        let key = [&[place], pattern.first.text.as_bytes()].concat();
        self.patterns.entry(key).or_default().push(row);
        Ok(())
    }

    /// The position of a text, as the expression of a pair.
    fn text(&mut self, text: &str) -> Result<String, Box<dyn Error>> {
        let at = match self.known.get(text) {
            Some(at) => *at,
            None => {
                let at = u32::try_from(self.text.len())?;
                self.text.push_str(text);
                self.known.insert(text.to_owned(), at);
                at
            }
        };
        Ok(format!("({at}, {})", u8::try_from(text.len())?))
    }

    fn write(&self, to: &Path) -> Result<(), Box<dyn Error>> {
        let mut index = fst::MapBuilder::memory();
        let mut rows = String::new();
        let mut count = 0_u64;
        for (key, patterns) in &self.patterns {
            index.insert(key, count << 16 | patterns.len() as u64)?;
            count += patterns.len() as u64;
            patterns.iter().try_for_each(|row| writeln!(rows, "{row}"))?;
        }
        replace(&to.join(INDEX), &index.into_inner()?)?;
        let (languages, steps, text) = (&self.languages, &self.steps, &self.text);
        let tables = format!(
            "pub static LANGUAGES: [&str; {}] = {languages:?};\n\
             static TEXT: &str = {text:?};\n\
             static PATTERNS: [Pattern; {count}] = [\n{rows}];\n\
             static STEPS: [Step; {}] = [\n{steps}];\n",
            languages.len(),
            self.step_count
        );
        replace(&to.join(ROWS), tables.as_bytes())?;
        Ok(())
    }
}

/// The flags of `table::Pattern`.
fn ends(piece: &Piece) -> u8 {
    u8::from(piece.open_left) << 3 | u8::from(piece.open_right) << 4
}
