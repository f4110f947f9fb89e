//! What the system says about a descriptor and about an open file.

/// What the system says about a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// It is a folder.
    pub is_folder: bool,
    /// The length in bytes of a regular file; `None` for a pipe, a terminal or the like.
    pub length: Option<u64>,
}

/// The state of an open file.
#[derive(Debug, Clone, Copy)]
pub struct State {
    /// Its length in bytes.
    pub length: u64,
    /// It has no name any more, and goes when it is closed.
    pub is_removed: bool,
}
