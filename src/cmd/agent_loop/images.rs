//! Pictures that the world made, copied into the session's folder under the hash of their bytes. A replay thus finds
//! the same pictures.

use pipewright_agent::Stored;
use pipewright_sys::{private, regular};
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The largest picture that is read, in bytes.
const MAX_IMAGE: u64 = 32 << 20;

/// The folder of a session's pictures.
#[derive(Debug)]
pub struct Images {
    folder: PathBuf,
}

/// The folder of a run without a session file; it is removed at the end.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl Images {
    /// Opens the folder beside the session's file, or a new temporary folder without a session file.
    ///
    /// # Errors
    /// The folder, and the system's error.
    pub fn open(session: Option<&Path>) -> Result<(Images, Option<TemporaryFolder>), String> {
        let failed =
            |folder: &Path, error: io::Error| format!("the folder for pictures, {}: {error}", folder.display());
        let (folder, temporary) = match session {
            Some(session) => {
                let mut name = session.as_os_str().to_owned();
                name.push(".images");
                (PathBuf::from(name), None)
            }
            None => {
                let folder = private::temporary_folder("pipewright-agent-");
                let template = std::env::temp_dir().join("pipewright-agent-XXXXXX");
                let folder = folder.map_err(|error| failed(&template, error))?;
                (folder.clone(), Some(TemporaryFolder(folder)))
            }
        };
        private::folder().recursive(true).create(&folder).map_err(|error| failed(&folder, error))?;
        let folder = folder.canonicalize().map_err(|error| failed(&folder, error))?;
        Ok((Images { folder }, temporary))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Copies a picture.
    ///
    /// # Errors
    /// If it cannot be read or written, or is not of a type that models accept.
    pub fn store(&self, path: &str) -> Result<Stored, String> {
        let failed = |error: io::Error| format!("{path}: {error}");
        let bytes = regular::read(Path::new(path), MAX_IMAGE).map_err(failed)?;
        let (mime, ending) =
            media_type(&bytes).ok_or_else(|| format!("{path}: not a PNG, JPEG, WebP or GIF picture"))?;
        let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{}.{ending}", &sha256[..32]);
        let stored = self.folder.join(&name);
        if !stored.exists() {
            // A file with this name is always complete, even if the process is killed.
            let part = self.folder.join(format!("{name}.part"));
            let written = private::file().write(true).create(true).truncate(true).open(&part);
            written.and_then(|mut file| file.write_all(&bytes)).map_err(failed)?;
            std::fs::rename(&part, &stored).map_err(failed)?;
        }
        Ok(Stored { path: name, sha256, mime: mime.to_owned() })
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // If it cannot be removed, it stays in the temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A picture's media type, by its first bytes, and the extension of its file name.
fn media_type(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some(("image/png", "png")),
        [0xff, 0xd8, 0xff, ..] => Some(("image/jpeg", "jpg")),
        [b'G', b'I', b'F', b'8', ..] => Some(("image/gif", "gif")),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(("image/webp", "webp")),
        _ => None,
    }
}
