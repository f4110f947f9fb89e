//! Where files of ours lie: the base folders of XDG's specification. A variable that isn't an absolute path is as unset there.

use std::path::PathBuf;

/// What is to be kept: XDG_DATA_HOME, else `.local/share` in HOME; none where neither is set.
pub fn data() -> Option<PathBuf> {
    absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))
}

/// What a person sets up: XDG_CONFIG_HOME, else `.config` in HOME; none where neither is set.
pub fn configuration() -> Option<PathBuf> {
    absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))
}

/// What lives no longer than its owner's session: XDG_RUNTIME_DIR, where it is a folder.
pub fn runtime() -> Option<PathBuf> {
    absolute("XDG_RUNTIME_DIR").filter(|folder| folder.is_dir())
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
