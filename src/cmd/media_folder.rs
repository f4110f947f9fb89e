//! A folder for pictures, sounds and documents, one numbered file each.

use pipewright_sys::private;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The folder, and the next number.
#[derive(Debug)]
pub struct MediaFolder {
    folder: PathBuf,
    next: u64,
}

impl MediaFolder {
    /// Creates the folder if it does not exist, accessible to its owner only.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(folder: &Path) -> io::Result<MediaFolder> {
        private::folder().recursive(true).create(folder)?;
        // Files of earlier runs sort before ours, whatever their extension.
        let numbers = std::fs::read_dir(folder)?.flatten().filter_map(|entry| number_of(&entry.file_name()));
        Ok(MediaFolder { folder: folder.to_owned(), next: numbers.max().map_or(1, |last| last.saturating_add(1)) })
    }

    /// Writes a new file with the extension `ending`; gives its path.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&mut self, bytes: &[u8], ending: &str) -> io::Result<PathBuf> {
        loop {
            let path = self.folder.join(format!("{:06}.{ending}", self.next));
            self.next = self.next.saturating_add(1);
            match private::file().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    return Ok(path);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The number in the name of a saved file. Foreign files may have any number.
fn number_of(name: &OsStr) -> Option<u64> {
    let (number, _) = name.to_str()?.split_once('.')?;
    number.parse().ok().filter(|_| (4..=9).contains(&number.len()))
}
