//! Private folders for the files and sockets of a run: only accessible to their owner, removed at the end. Folders left by a killed
//! run are removed by the next.

#[cfg(unix)]
pub use crate::unix::run_home::home;
#[cfg(windows)]
pub use crate::windows::run_home::home;

use crate::process::is_running;
#[cfg(unix)]
use crate::unix::run_home::homes;
#[cfg(windows)]
use crate::windows::run_home::homes;
use crate::{private, random};
use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

/// A folder (0700) that is removed, with its contents, when this is dropped.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates one for `name` (`godot`), in this user's runtime folder, or in this user's own folder below the one for temporary
    /// files. Removes those for `name` whose process has died.
    ///
    /// # Errors
    /// If it cannot be created, or its parent folder may be writable by another user.
    pub fn create(name: &str) -> io::Result<RunFolder> {
        let home = home()?;
        remove_stale(&home, name);
        let path = home.join(format!("{name}-{}-{}", std::process::id(), &random::token()?[..8]));
        private::folder().create(&path)?;
        Ok(RunFolder { path })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it before it is dropped, for a run that ends without drops. The next run removes what remains.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The folders that [`RunFolder::create`] has created for `name` in any process of this user.
pub fn folders_of(name: &str) -> Vec<PathBuf> {
    let entries = homes().into_iter().filter_map(|home| fs::read_dir(home).ok()).flatten().flatten();
    let found = entries.filter(|entry| process_of(entry, name).is_some()).map(|entry| entry.path());
    // Two homes may be one folder.
    found.collect::<BTreeSet<_>>().into_iter().collect()
}

fn remove_stale(home: &Path, name: &str) {
    // Leftovers that cannot be removed are no reason to fail.
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        if process_of(&entry, name).is_some_and(|pid| !is_running(pid)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The id of the process that created a folder for `name`.
fn process_of(folder: &DirEntry, name: &str) -> Option<i32> {
    let file_name = folder.file_name();
    let (pid, _) = file_name.to_str()?.strip_prefix(name)?.strip_prefix('-')?.split_once('-')?;
    pid.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_private_and_goes() {
        let first = RunFolder::create("test").unwrap();
        let folder = first.path().to_owned();
        #[cfg(unix)]
        assert!(!crate::file::others_can_use(&fs::metadata(&folder).unwrap()));
        let stale = folder.with_file_name("test-999999999-0");
        fs::create_dir(&stale).unwrap();
        let other = RunFolder::create("test").unwrap();
        assert!(folder.is_dir() && !stale.exists(), "the folder of a running process stays");
        drop((first, other));
        assert!(!folder.exists());
    }
}
