//! Turns the files of `lists` and `readers` into constants: the words are data, and nothing is parsed at run time.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=lists");
    println!("cargo::rerun-if-changed=readers");
    println!("cargo::rerun-if-changed=build.rs");
    let output = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(output.join("lists.rs"), lists()?)?;
    Ok(fs::write(output.join("readers.rs"), readers()?)?)
}

/// The files of a folder, in the order of their names.
fn files(folder: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

fn parse<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, Box<dyn Error>> {
    Ok(toml::from_str(&fs::read_to_string(file)?).map_err(|error| format!("{}: {error}", file.display()))?)
}

/// A module for each file of `lists`, with its lists.
fn lists() -> Result<String, Box<dyn Error>> {
    let mut code = String::new();
    for file in files("lists")? {
        let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or("a list's file has no name")?;
        let lists: BTreeMap<String, Vec<String>> = parse(&file)?;
        writeln!(code, "pub(crate) mod {name} {{")?;
        for (list, words) in lists {
            writeln!(code, "    pub(crate) const {}: &[&str] = &{words:?};", list.to_uppercase())?;
        }
        writeln!(code, "}}")?;
    }
    Ok(code)
}

/// The programs of `readers`, as the types of `builtin::shell::readers` describe them.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadersFile {
    program: Vec<Program>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    names: Vec<String>,
    #[serde(default)]
    before: Vec<String>,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    single_dash: bool,
    group: Vec<Group>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    reads: Vec<String>,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default = "any")]
    operands: String,
    #[serde(default)]
    marks: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
}

fn any() -> String {
    "any".to_owned()
}

fn readers() -> Result<String, Box<dyn Error>> {
    let mut code = "const READERS: &[Reader] = &[\n".to_owned();
    for file in files("readers")? {
        for Program { names, before, hosts, single_dash, group } in parse::<ReadersFile>(&file)?.program {
            write!(code, "Reader {{ names: &{names:?}, before: &{before:?}, hosts: &{hosts:?}, ")?;
            writeln!(code, "single_dash: {single_dash}, groups: &[")?;
            for Group { reads, options, operands, marks, needs } in group {
                let operands = match &*operands {
                    "any" => "Any",
                    "buckets" => "Buckets",
                    "imports" => "Imports",
                    "paths" => "Paths",
                    "none" => "None",
                    "one" => "One",
                    "packages" => "Packages",
                    "remote" => "Remote",
                    "marked" => "Marked",
                    other => return Err(format!("{}: unknown operands {other:?}", file.display()).into()),
                };
                let paths: Vec<Vec<&str>> = reads.iter().map(|path| path.split_whitespace().collect()).collect();
                let paths: String = paths.iter().map(|path| format!("&{path:?}, ")).collect();
                write!(code, "ReaderGroup {{ paths: &[{paths}], options: &{options:?}, ")?;
                writeln!(code, "operands: Operands::{operands}, marks: &{marks:?}, needs: &{needs:?} }},")?;
            }
            writeln!(code, "] }},")?;
        }
    }
    code.push_str("];\n");
    Ok(code)
}
