//! Generates the tables of words and the commit's name before the commands are compiled.

mod commit;
#[allow(dead_code)]
#[path = "../src/policy/detector/normalise.rs"]
mod normalise;
#[allow(dead_code)]
#[path = "../src/policy/detector/pattern.rs"]
mod pattern;
mod words;

use std::env;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build");
    words::write(Path::new(&env::var("OUT_DIR")?))?;
    commit::set();
    Ok(())
}
