//! Prints a page as PDF.

use crate::{ActionError, Browser};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::time::Instant;

/// How many bytes are fetched at once, so one message does not block the others for long.
const CHUNK: usize = 1 << 20;

#[derive(Deserialize)]
struct PrintResult {
    stream: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StreamChunk {
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
    pub fn pdf(&mut self, until: Instant) -> Result<Vec<u8>, ActionError> {
        let asked = json!({"printBackground": true, "preferCSSPageSize": true, "transferMode": "ReturnAsStream"});
        let PrintResult { stream } = self.call_page("Page.printToPDF", &asked, until)?;
        let pdf = self.read_stream(&stream, until);
        let IgnoredAny = self.call_page("IO.close", &json!({"handle": stream}), until)?;
        pdf
    }

    fn read_stream(&mut self, stream: &str, until: Instant) -> Result<Vec<u8>, ActionError> {
        let mut bytes = Vec::new();
        loop {
            let asked = json!({"handle": stream, "size": CHUNK});
            let StreamChunk { data, base64_encoded, eof } = self.call_page("IO.read", &asked, until)?;
            if base64_encoded {
                let unreadable = |error| ActionError::Unreadable(format!("a PDF: {error}"));
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
