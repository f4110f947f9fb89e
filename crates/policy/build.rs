//! Turns each file of `lists` into a module with its lists as constants: the words are data, and nothing is parsed at run time.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=lists");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = fs::read_dir("lists")?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    let mut code = String::new();
    for file in files {
        let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or("a list's file has no name")?;
        let lists = fs::read_to_string(&file)?;
        let lists: BTreeMap<String, Vec<String>> =
            toml::from_str(&lists).map_err(|error| format!("{}: {error}", file.display()))?;
        writeln!(code, "pub(crate) mod {name} {{")?;
        for (list, words) in lists {
            writeln!(code, "    pub(crate) const {}: &[&str] = &{words:?};", list.to_uppercase())?;
        }
        writeln!(code, "}}")?;
    }
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join("lists.rs"), code)?)
}
