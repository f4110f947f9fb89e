//! Files and folders that only their owner should access. A new file on Windows has the access list of its folder. In the user's
//! profile, that list has only this user, administrators and the system. In another folder it may have other users.

use std::fs::{DirBuilder, OpenOptions};

/// Options for opening or creating a file.
pub fn file() -> OpenOptions {
    OpenOptions::new()
}

/// A builder for creating a folder.
pub fn folder() -> DirBuilder {
    DirBuilder::new()
}
