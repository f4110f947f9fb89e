//! Prints a page as PDF.

use crate::{Browser, Fault};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::time::Instant;

/// How many bytes are fetched at once, so one message does not block the others for long.
const PIECE: usize = 1 << 20;

#[derive(Deserialize)]
struct Printed {
    stream: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece {
    data: String,
    #[serde(default)]
    base64_encoded: bool,
    eof: bool,
}

impl Browser {
    /// The active page as PDF, with backgrounds. The paper size comes from its style sheets, or else is US Letter.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn pdf(&mut self, until: Instant) -> Result<Vec<u8>, Fault> {
        let asked = json!({"printBackground": true, "preferCSSPageSize": true, "transferMode": "ReturnAsStream"});
        let Printed { stream } = self.call_page("Page.printToPDF", &asked, until)?;
        let pdf = self.read_stream(&stream, until);
        let IgnoredAny = self.call_page("IO.close", &json!({"handle": stream}), until)?;
        pdf
    }

    fn read_stream(&mut self, stream: &str, until: Instant) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        loop {
            let asked = json!({"handle": stream, "size": PIECE});
            let Piece { data, base64_encoded, eof } = self.call_page("IO.read", &asked, until)?;
            if base64_encoded {
                let unreadable = |error| Fault::Unreadable(format!("a PDF: {error}"));
                bytes.extend(STANDARD.decode(data).map_err(unreadable)?);
            } else {
                bytes.extend(data.into_bytes());
            }
            if eof {
                return Ok(bytes);
            }
        }
    }
}
