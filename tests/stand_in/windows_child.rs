//! A child for the tests of scripts/test-windows, which need a program of Windows.
//!
//!     windows-child play            plays Slay the Spire: answers each question with one of its actions, in an order without a pattern
//!     windows-child first           the same with the first action
//!     windows-child arguments ...   prints its other arguments, a JSON array
//!     windows-child answer TEXT     answers each line with TEXT
//!     windows-child hold FILE       opens FILE, and answers each line while it has it open
//!     windows-child pin FILE        opens FILE so that nobody can rename it, and answers each line while it has it open
//!     windows-child tree FILE       starts a child of its own, and waits; the child writes to FILE until it is killed
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("play") => {
            // The same every time, and without a rule that could make it open and leave a screen for ever.
            let mut chance: usize = 7;
            play(|actions| {
                chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (chance >> 33) % actions
            });
        }
        Some("first") => play(|_| 0),
        Some("arguments") => println!("{}", json!(arguments[1..])),
        Some("answer") => std::io::stdin().lines().for_each(|_| println!("{}", arguments[1])),
        Some("hold") => hold(File::open(&arguments[1]).unwrap()),
        Some("pin") => hold(pinned(&arguments[1])),
        Some("tree") => drop(Command::new(std::env::current_exe().unwrap()).args(["tick", &arguments[1]]).status()),
        Some("tick") => tick(&arguments[1]),
        _ => std::process::exit(2),
    }
}

/// Answers each question with the action that `choose` gives, of so many.
fn play(mut choose: impl FnMut(usize) -> usize) {
    for line in std::io::stdin().lines() {
        let question: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let actions = question["valid_actions"].as_array().unwrap();
        println!("{}", actions[choose(actions.len())]["action_id"]);
    }
}

/// Opens a file without permission for others to rename or delete it, as C programs do.
#[cfg(windows)]
fn pinned(file: &str) -> File {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARE_READ_AND_WRITE: u32 = 3;
    OpenOptions::new().read(true).share_mode(SHARE_READ_AND_WRITE).open(file).unwrap()
}

#[cfg(not(windows))]
fn pinned(_: &str) -> File {
    unreachable!("only Windows has such files")
}

fn hold(file: File) {
    for line in std::io::stdin().lines() {
        println!("{} of {}", line.unwrap(), file.metadata().unwrap().len());
    }
}

fn tick(file: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
    loop {
        file.write_all(b".").unwrap();
        sleep(Duration::from_millis(20));
    }
}
