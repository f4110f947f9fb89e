//! The base folders of the XDG specification, for our files; on Windows, those of the user's profile if its variables are not set. As the
//! specification requires, a variable that is not an absolute path counts as unset.

use std::path::PathBuf;

/// The folder for data: XDG_DATA_HOME, or `.local/share` in HOME; on Windows, LOCALAPPDATA. `None` if none is set.
pub fn data() -> Option<PathBuf> {
    absolute("XDG_DATA_HOME").or_else(|| of_user("LOCALAPPDATA", ".local/share"))
}

/// The folder for configuration: XDG_CONFIG_HOME, or `.config` in HOME; on Windows, APPDATA. `None` if none is set.
pub fn configuration() -> Option<PathBuf> {
    absolute("XDG_CONFIG_HOME").or_else(|| of_user("APPDATA", ".config"))
}

/// The folder for state that may be lost: XDG_STATE_HOME, or `.local/state` in HOME; on Windows, LOCALAPPDATA. `None` if none is set.
pub fn state() -> Option<PathBuf> {
    absolute("XDG_STATE_HOME").or_else(|| of_user("LOCALAPPDATA", ".local/state"))
}

/// A folder of the user: the value of a variable on Windows, a place in HOME elsewhere.
fn of_user(on_windows: &str, in_home: &str) -> Option<PathBuf> {
    if cfg!(windows) { absolute(on_windows) } else { Some(absolute("HOME")?.join(in_home)) }
}

/// The folder for files that live as long as the user's login session: XDG_RUNTIME_DIR, if it is a folder.
pub fn runtime() -> Option<PathBuf> {
    absolute("XDG_RUNTIME_DIR").filter(|folder| folder.is_dir())
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
