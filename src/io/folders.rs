//! The base folders of the XDG specification, for our files. As it requires, a variable that is not an absolute path counts as unset.

use std::path::PathBuf;

/// The folder for data: XDG_DATA_HOME, or `.local/share` in HOME; `None` if neither is set.
pub fn data() -> Option<PathBuf> {
    absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))
}

/// The folder for configuration: XDG_CONFIG_HOME, or `.config` in HOME; `None` if neither is set.
pub fn configuration() -> Option<PathBuf> {
    absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))
}

/// The folder for files that live as long as the user's login session: XDG_RUNTIME_DIR, if it is a folder.
pub fn runtime() -> Option<PathBuf> {
    absolute("XDG_RUNTIME_DIR").filter(|folder| folder.is_dir())
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
