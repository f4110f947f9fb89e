//! The folder in which a call runs, and how its files are looked at.

use std::path::{Path, PathBuf};

/// Programs that take the name of a program, a piece of code, or an address to fetch, from files of the folder in which
/// they run.
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
    /// agent-browser and playwright-cli: their configuration.
    Browser,
    /// docker compose: its files, which may have further ones at an address.
    Compose,
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

/// No path is longer on any system.
const MAX_PATH: usize = 4096;

impl WorkingFolder {
    /// The other paths of the file that a text names, if it names one: below this folder or the home, and behind the
    /// file's links.
    pub fn other_paths(&self, text: &str) -> Vec<String> {
        if text.is_empty() || text.len() > MAX_PATH || text.contains('\0') {
            return Vec::new();
        }
        let absolute = match text.strip_prefix("~/") {
            Some(below) => self.home.as_ref().map(|home| home.join(below)),
            None if Path::new(text).is_absolute() => Some(PathBuf::from(text)),
            None => self.folder.as_ref().map(|folder| folder.join(text)),
        };
        let real = absolute.as_deref().zip(self.resolve).and_then(|(path, resolve)| resolve(path));
        [absolute, real].into_iter().flatten().filter_map(|path| path.to_str().map(str::to_owned)).collect()
    }
}
