//! Images that requests name by path: read from one folder only, and checked against their hash.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pipewright_record::{Image, ImageSource, ModelRequest};
use pipewright_sys::regular;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The largest image that is sent, in bytes: more than any provider takes in one request.
const MAX_IMAGE: u64 = 20 << 20;

/// The media types that all providers accept, by file extension.
const TYPES: [(&str, &str); 5] =
    [("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"), ("webp", "image/webp"), ("gif", "image/gif")];

/// Replaces the paths in a request's images with their bytes.
///
/// # Errors
/// A path leads out of `folder` or cannot be read, or a file is too large, has another hash or is of an unknown type.
pub fn load(request: &mut ModelRequest, folder: &Path) -> Result<(), String> {
    request.images_mut().try_for_each(|image| load_one(image, folder))
}

/// The size of a request's images, in bytes.
pub fn length(request: &mut ModelRequest) -> usize {
    let lengths = request.images_mut().map(|image| match &image.source {
        ImageSource::Base64(data) => data.len(),
        ImageSource::File { .. } => 0,
    });
    lengths.sum()
}

fn load_one(image: &mut Image, folder: &Path) -> Result<(), String> {
    let ImageSource::File { path, sha256 } = &image.source else { return Ok(()) };
    let failed = |why: &dyn std::fmt::Display| format!("image {path:?}: {why}");
    let found = within(folder, path).map_err(|why| failed(&why))?;
    let bytes = regular::read(&found, MAX_IMAGE).map_err(|error| failed(&error))?;
    if let Some(expected) = sha256 {
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if !hash.eq_ignore_ascii_case(expected) {
            return Err(failed(&"its SHA-256 differs from the one in the request: the file has changed"));
        }
    }
    let extension = found.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let by_name = TYPES.iter().find(|(known, _)| *known == extension).map(|(_, mime)| (*mime).to_owned());
    let Some(mime) = image.mime.take().or(by_name) else {
        return Err(failed(&"its type is unknown: name it .png, .jpg, .webp or .gif, or give \"mime\""));
    };
    *image = Image { mime: Some(mime), source: ImageSource::Base64(STANDARD.encode(bytes)) };
    Ok(())
}

/// The file with all symbolic links resolved, if it is in the folder.
fn within(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let found = folder.join(path).canonicalize().map_err(|error| error.to_string())?;
    match found.starts_with(&folder) {
        true => Ok(found),
        false => Err(format!("it is not in {} (--images)", folder.display())),
    }
}
