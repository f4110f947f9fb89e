//! Finds the commit's name before the commands are compiled.

mod commit;

fn main() {
    println!("cargo::rerun-if-changed=build");
    commit::set();
}
