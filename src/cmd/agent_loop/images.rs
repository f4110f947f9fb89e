//! Pictures that the world has made: copied into the session's folder under the hash of their bytes, so that a replay finds the same ones.

use crate::agent::Stored;
use crate::io::{private, regular};
use sha2::{Digest, Sha256};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// No picture of a page is larger.
const LARGEST: u64 = 32 << 20;

/// The folder of a session's pictures. That of a run without a session file is removed at the end.
#[derive(Debug)]
pub struct Images {
    folder: PathBuf,
    is_temporary: bool,
}

impl Images {
    /// The folder beside the session's file; else a new one among the temporary files.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(session: Option<&Path>) -> io::Result<Images> {
        let (folder, is_temporary) = match session {
            Some(session) => {
                let mut name = session.as_os_str().to_owned();
                name.push(".images");
                (PathBuf::from(name), false)
            }
            None => (nix::unistd::mkdtemp(&std::env::temp_dir().join("pipewright-agent-XXXXXX"))?, true),
        };
        private::folder().recursive(true).create(&folder)?;
        Ok(Images { folder: folder.canonicalize()?, is_temporary })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Copies a picture.
    ///
    /// # Errors
    /// It cannot be read or written, or is none of the types that models take.
    pub fn store(&self, path: &str) -> Result<Stored, String> {
        let failed = |error: io::Error| format!("{path}: {error}");
        let bytes = regular::read(Path::new(path), LARGEST).map_err(failed)?;
        let (mime, ending) =
            media_type(&bytes).ok_or_else(|| format!("{path}: it is no PNG, JPEG, WebP or GIF picture"))?;
        let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{}.{ending}", &sha256[..32]);
        match private::file().write(true).create_new(true).open(self.folder.join(&name)) {
            Ok(mut file) => file.write_all(&bytes).map_err(failed)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        Ok(Stored { path: name, sha256, mime: mime.to_owned() })
    }
}

impl Drop for Images {
    fn drop(&mut self) {
        if self.is_temporary {
            // What cannot be removed stays among the temporary files.
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// The media type of a picture, by its first bytes, and the ending of its name.
fn media_type(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some(("image/png", "png")),
        [0xff, 0xd8, 0xff, ..] => Some(("image/jpeg", "jpg")),
        [b'G', b'I', b'F', b'8', ..] => Some(("image/gif", "gif")),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(("image/webp", "webp")),
        _ => None,
    }
}
