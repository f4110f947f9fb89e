//! A prompt from an editor, as the text of a `user_message`.

use super::markdown::fenced;
use pipewright_record::{Fields, Reason};
use serde_json::value::RawValue;
use std::fmt::Write;

/// The text of a prompt: its content blocks in order. A resource becomes a link at its place; its embedded text follows
/// at the end.
///
/// # Errors
/// A block is not supported (pictures and sound), or the prompt has no text.
pub fn prompt_text(blocks: &[&RawValue]) -> Result<String, Reason> {
    let (mut text, mut embedded) = (String::new(), String::new());
    for (number, block) in blocks.iter().enumerate() {
        let fields = Fields::read(block.get()).map_err(|why| format!("prompt[{number}]: {why}"))?;
        let needed = |fields: &Fields<'_>, key: &str| {
            fields.text(key).ok_or_else(|| format!("prompt[{number}]: {key:?} is missing"))
        };
        match needed(&fields, "type")?.as_str() {
            "text" => text.push_str(&needed(&fields, "text")?),
            "resource_link" => text.push_str(&link(&needed(&fields, "name")?, &needed(&fields, "uri")?)),
            "resource" => {
                let resource = fields.object("resource").ok_or(format!("prompt[{number}]: \"resource\" is missing"))?;
                let uri = needed(&resource, "uri")?;
                text.push_str(&link(uri.rsplit('/').next().unwrap_or_default(), &uri));
                let content = resource.text("text").map_or("(not text: left out)".to_owned(), |text| fenced(&text));
                // Writing to a string cannot fail.
                let _ = write!(embedded, "\n\nContent of {uri}:\n{content}");
            }
            other => {
                return Err(
                    format!("prompt[{number}]: content of type {other:?} is not supported: send text only").into()
                );
            }
        }
    }
    text.push_str(&embedded);
    if text.trim().is_empty() { Err("the prompt is empty".into()) } else { Ok(text) }
}

fn link(name: &str, uri: &str) -> String {
    if name.is_empty() { format!("<{uri}>") } else { format!("[{name}]({uri})") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<String, Reason> {
        prompt_text(&serde_json::from_str::<Vec<&RawValue>>(json).unwrap())
    }

    #[test]
    fn blocks_become_one_text() {
        let text = read(
            r#"[{"type":"text","text":"Look at "},{"type":"resource","resource":{"uri":"file:///a/b.rs","text":"fn b() {}"}},
            {"type":"text","text":" and "},{"type":"resource_link","name":"c","uri":"file:///c"},{"type":"resource","resource":{"uri":"file:///d.png","blob":"AA=="}}]"#,
        );
        assert_eq!(
            text.unwrap(),
            "Look at [b.rs](file:///a/b.rs) and [c](file:///c)[d.png](file:///d.png)\n\nContent of \
             file:///a/b.rs:\n```\nfn b() {}\n```\n\n\
             Content of file:///d.png:\n(not text: left out)"
        );
    }

    #[test]
    fn unsupported_content_is_refused() {
        for bad in [
            "[]",
            r#"[{"type":"text","text":" \n"}]"#,
            r#"[{"type":"image","data":"AA==","mimeType":"image/png"}]"#,
            r#"[{"type":"text"}]"#,
            r#"[{"type":"resource"}]"#,
            r#"["text"]"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
