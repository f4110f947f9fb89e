//! cargo and rustc: rustup's toolchain file, cargo's configuration.

use super::{all_above, of_user};
use std::path::Path;
use toml::{Table, Value};

/// Whether cargo's and rustc's reading commands run nothing that a file here names.
pub(super) fn runs_nothing(folder: &Path) -> bool {
    let own = of_user("CARGO_HOME", ".cargo", &["config", "config.toml"]);
    all_above(folder, &["rust-toolchain", "rust-toolchain.toml"], &[], names_a_channel)
        && all_above(folder, &[".cargo/config", ".cargo/config.toml"], &own, configures_no_program)
}

/// Whether a toolchain is named, and no folder with one.
fn names_a_channel(text: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|one| one.is_ascii_alphanumeric() || "-._".contains(one));
    // The old form is a line with the name.
    is_name(text.trim())
        || text.parse::<Table>().is_ok_and(|file| {
            let toolchain = file.get("toolchain").and_then(Value::as_table);
            toolchain.is_some_and(|toolchain| {
                !toolchain.contains_key("path")
                    && toolchain.get("channel").is_none_or(|channel| channel.as_str().is_some_and(is_name))
            })
        })
}

/// Whether a configuration of cargo names no program, and gives rustc nothing to load.
fn configures_no_program(text: &str) -> bool {
    text.parse::<Table>().is_ok_and(|file| file.iter().all(|(key, value)| key != "include" && is_harmless(key, value)))
}

fn is_harmless(key: &str, value: &Value) -> bool {
    const PROGRAMS: &[&str] = &["rustc", "rustc-wrapper", "rustc-workspace-wrapper"];
    const VARIABLES: &[&str] = &["CARGO", "DYLD_", "GIT_", "LD_", "PATH", "RUST"];
    match value {
        _ if PROGRAMS.contains(&key) || key.contains("credential") => false,
        Value::Table(variables) if key == "env" => {
            variables.keys().all(|name| !VARIABLES.iter().any(|start| name.to_uppercase().starts_with(start)))
        }
        _ if key.ends_with("flags") => !loads(value),
        Value::Table(table) => table.iter().all(|(key, value)| is_harmless(key, value)),
        _ => true,
    }
}

/// Whether flags of rustc may load code, read more flags from a file, or write one.
fn loads(flags: &Value) -> bool {
    const SAFE_SETTINGS: &[&str] =
        &["-A", "-C", "-D", "-F", "-L", "-W", "-l", "--cap-lints", "--cfg", "--check-cfg", "--codegen"];
    let is_harmless = |flag: &str| {
        let is_known = !flag.starts_with('-') || SAFE_SETTINGS.iter().any(|known| flag.starts_with(known));
        is_known && !["@", "codegen-backend", "plugin", "-load"].iter().any(|part| flag.contains(part))
    };
    match flags {
        Value::String(flags) => !flags.split_whitespace().all(is_harmless),
        Value::Array(flags) => flags.iter().any(loads),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_in_a_folder_is_found() {
        for text in ["stable\n", "1.89", "[toolchain]\nchannel = \"nightly-2025-01-01\"\ncomponents = [\"clippy\"]"] {
            assert!(names_a_channel(text), "{text}");
        }
        for text in [
            "[toolchain]\npath = \"x\"",
            "[toolchain]\n\"p\\u0061th\" = \"x\"",
            "toolchain.path = \"x\"",
            "/tmp/x",
            "[toolchain]\nchannel = \"../x\"",
            "[toolchain",
        ] {
            assert!(!names_a_channel(text), "{text}");
        }
    }

    #[test]
    fn a_program_in_cargos_configuration_is_found() {
        for text in [
            "",
            "[build]\njobs = 2\nrustflags = [\"-C\", \"link-arg=-fuse-ld=lld\"]",
            "[alias]\nxtask = \"run -p xtask\"",
            "[env]\nSQLX_OFFLINE = \"true\"",
        ] {
            assert!(configures_no_program(text), "{text}");
        }
        for text in [
            "build.rustc = \"x\"",
            "[build]\nrustc-wrapper = \"x\"",
            "[build]\nrustc-workspace-wrapper = \"x\"",
            "include = \"x.toml\"",
            "[env]\nLD_PRELOAD = \"x.so\"",
            "[env]\nRUSTC_WRAPPER = { value = \"x\", force = true }",
            "[target.x86_64-unknown-linux-gnu]\nrustflags = \"-Zcodegen-backend=x.so\"",
            "[build]\nrustflags = [\"--print=target-list=x\"]",
            "[registry]\nglobal-credential-providers = [\"x\"]",
            "[build",
        ] {
            assert!(!configures_no_program(text), "{text}");
        }
    }
}
