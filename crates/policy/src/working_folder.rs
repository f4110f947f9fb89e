//! The folder in which a call runs, and how its files are looked at.

use std::path::{Path, PathBuf};

/// Programs that take the name of a program, or a piece of code, from files of the folder in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramFamily {
    /// Any program: managers of versions (asdf, mise) put a program in place of another.
    Any,
    /// Its configuration, its hooks.
    Git,
    /// cargo and rustc: the toolchain file of rustup, cargo's configuration.
    Rust,
    /// az: modules of Python, and a configuration.
    Azure,
    /// npm and pnpm: their configuration, hooks of pnpm.
    Node,
}

/// Whether no file in a folder, or in one above it, makes these programs run other code. The policy reads no files: the
/// command looks.
pub type FolderCheck = fn(ProgramFamily, &Path) -> bool;

/// Where an absolute path leads when its links are followed, as far as it exists; `None` if that cannot be told.
pub type PathResolver = fn(&Path) -> Option<PathBuf>;

/// The folder in which a text runs.
#[derive(Debug, Clone, Default)]
pub struct WorkingFolder {
    /// `None` if it is not known: then the text is judged without it.
    pub folder: Option<PathBuf>,
    /// The folder that `~` stands for.
    pub home: Option<PathBuf>,
    /// `None` if nobody looks.
    pub runs_nothing: Option<FolderCheck>,
    /// Where a path leads when its links are followed; `None` if nobody looks.
    pub resolve: Option<PathResolver>,
}
