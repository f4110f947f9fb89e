//! `--save-media`: saves images, sounds and blobs of a result as files, and puts their paths into the result.

use crate::cmd::media_folder::MediaFolder;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pipewright_record::Fields;
use pipewright_record::json::quoted;
use serde_json::value::RawValue;
use std::io;
use std::path::Path;

/// The folder for the files.
pub struct Media(MediaFolder);

impl Media {
    /// Creates the folder if it does not exist, accessible to its owner only.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(folder: &Path) -> io::Result<Media> {
        MediaFolder::open(folder).map(Media)
    }

    /// A result with a `"path"` in place of each `data` or `blob` in its content, or in the `contents` of a resource.
    /// The rest of the result is unchanged. `None` if nothing was replaced.
    ///
    /// # Errors
    /// If a file cannot be written. Data that is not base64 stays in the result.
    pub fn save(&mut self, result: &RawValue) -> io::Result<Option<Box<RawValue>>> {
        let Ok(fields) = Fields::read(result.get()) else { return Ok(None) };
        let content = self.save_each(fields.get("content"), Media::save_block)?;
        let contents = self.save_each(fields.get("contents"), Media::save_blob)?;
        if content.is_none() && contents.is_none() {
            return Ok(None);
        }
        let saved = |key: &str| match key {
            "content" => content.clone(),
            "contents" => contents.clone(),
            _ => None,
        };
        Ok(RawValue::from_string(with(&fields, saved)).ok())
    }

    /// A list after `save` was applied to its items; `None` if it changed none.
    fn save_each(
        &mut self,
        list: Option<&RawValue>,
        save: fn(&mut Media, &RawValue) -> io::Result<Option<String>>,
    ) -> io::Result<Option<String>> {
        let items = list.and_then(|list| serde_json::from_str::<Vec<&RawValue>>(list.get()).ok());
        let (mut all, mut any) = (Vec::new(), false);
        for item in items.unwrap_or_default() {
            let saved = save(self, item)?;
            any |= saved.is_some();
            all.push(saved.unwrap_or_else(|| item.get().to_owned()));
        }
        Ok(any.then(|| format!("[{}]", all.join(","))))
    }

    /// `{"type":"image","data","mimeType"}` and similar blocks, or
    /// `{"type":"resource","resource":{"blob","mimeType"}}`.
    fn save_block(&mut self, block: &RawValue) -> io::Result<Option<String>> {
        let Ok(fields) = Fields::read(block.get()) else { return Ok(None) };
        if let Some(resource) = fields.get("resource") {
            let saved = self.save_blob(resource)?;
            return Ok(saved.map(|resource| with(&fields, |key| (key == "resource").then(|| resource.clone()))));
        }
        let path = self.save_field(&fields, "data")?;
        Ok(path.map(|path| with(&fields, |key| (key == "data").then(|| path.clone()))))
    }

    /// `{"uri","blob","mimeType"}`.
    fn save_blob(&mut self, resource: &RawValue) -> io::Result<Option<String>> {
        let Ok(fields) = Fields::read(resource.get()) else { return Ok(None) };
        let path = self.save_field(&fields, "blob")?;
        Ok(path.map(|path| with(&fields, |key| (key == "blob").then(|| path.clone()))))
    }

    /// Writes a field's data to a new file; gives the file's path as JSON.
    fn save_field(&mut self, fields: &Fields<'_>, key: &str) -> io::Result<Option<String>> {
        let text = |key| fields.get(key).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        let Some(bytes) = text(key).and_then(|text| STANDARD.decode(text).ok()) else { return Ok(None) };
        let ending = ending_of(&text("mimeType").unwrap_or_default());
        let path = self.0.write(&bytes, &ending)?;
        Ok(serde_json::to_string(&path.display().to_string()).ok())
    }
}

/// An object with new values for some keys; a replaced `data` or `blob` is renamed to `path`.
fn with(fields: &Fields<'_>, replaced: impl Fn(&str) -> Option<String>) -> String {
    let field = |(key, value): (&str, &RawValue)| {
        let new = replaced(key);
        let name = if new.is_some() && matches!(key, "data" | "blob") { "path" } else { key };
        format!("{}:{}", quoted(name), new.as_deref().unwrap_or(value.get()))
    };
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
}

/// The file extension of a media type. The server chooses the type, so only its letters and digits are used.
fn ending_of(mime: &str) -> String {
    let subtype = mime.split(['/', ';']).nth(1).unwrap_or("bin");
    let subtype = subtype.split('+').next().unwrap_or(subtype);
    let plain: String = subtype.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    match plain.as_str() {
        "" | "octetstr" => "bin".to_owned(),
        "jpeg" => "jpg".to_owned(),
        "plain" => "txt".to_owned(),
        _ => plain,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn media_become_files_and_the_rest_is_unchanged() {
        let folder = std::env::temp_dir().join(format!("pipewright-media-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("0001.jpg"), "mine").unwrap();
        std::fs::write(folder.join("18446744073709551615.png"), "a photo's").unwrap();
        let mut media = Media::open(&folder).unwrap();
        let json = r#"{"x":1.10,"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png","n":12345678901234567890123},
            {"type":"resource","resource":{"uri":"u","blob":"aG8=","mimeType":"application/../../gzip"}},{"type":"image","data":"no base64!"}]}"#;
        let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
        let saved = media.save(&raw).unwrap().unwrap();
        let (image, blob) = (folder.join("000002.png"), folder.join("000003.bin"));
        let blob = if blob.exists() { blob } else { folder.join("000003.gzip") };
        assert_eq!((std::fs::read(&image).unwrap(), std::fs::read(&blob).unwrap()), (b"hi".to_vec(), b"ho".to_vec()));
        assert_eq!(std::fs::read(folder.join("0001.jpg")).unwrap(), b"mine");
        let image = format!(
            r#"{{"type":"image","path":"{}","mimeType":"image/png","n":12345678901234567890123}}"#,
            image.display()
        );
        assert!(saved.get().starts_with(r#"{"x":1.10,"content":[{"type":"text","text":"a"},"#), "{saved}");
        assert!(saved.get().contains(&image) && saved.get().contains("no base64!"), "{saved}");
        let read: Box<RawValue> = serde_json::from_str(
            r#"{"contents":[{"uri":"u","blob":"aGk=","mimeType":"image/png"},{"uri":"t","text":"x"}]}"#,
        )
        .unwrap();
        let saved = media.save(&read).unwrap().unwrap();
        assert!(saved.get().contains("000004.png") && saved.get().contains(r#"{"uri":"t","text":"x"}"#), "{saved}");
        let mut next = Media::open(&folder).unwrap();
        let saved = next.save(&read).unwrap().unwrap();
        assert!(saved.get().contains("000005.png"), "{saved}");
        let none: Box<RawValue> = serde_json::from_str(r#"{"content":[{"type":"text","text":"a"}]}"#).unwrap();
        assert!(media.save(&none).unwrap().is_none());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_extension_is_never_a_path() {
        for (mime, ending) in [
            ("image/jpeg", "jpg"),
            ("image/svg+xml", "svg"),
            ("text/plain; charset=utf-8", "txt"),
            ("", "bin"),
            ("a/..", "bin"),
            ("x/../../etc", "bin"),
        ] {
            assert_eq!(ending_of(mime), ending, "{mime}");
        }
    }
}
