//! `--har`: the requests of all pages, as an HTTP Archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/).
//!
//! The file is complete after each request: the end of the document is written again behind every new entry.

use crate::cmd::usage;
use pipewright_browser::tools::RecordRequest;
use pipewright_browser::{Headers, NetworkRequest};
use pipewright_io::report::Failure;
use pipewright_mask::{Masker, Rules};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Masks text as jsonl-mask masks logs.
pub fn mask() -> Box<dyn FnMut(&str) -> String + Send> {
    let mut masker = Masker::new(Rules::default(), pipewright_lines::Limits::default().max_depth);
    Box::new(move |text| String::from_utf8_lossy(&masker.line(text.as_bytes())).into_owned())
}

/// Where the requests are written.
#[derive(Debug, Clone)]
pub struct HarFile(Arc<Mutex<Entries>>);

#[derive(Debug)]
struct Entries {
    file: File,
    /// Where the next entry begins.
    end: u64,
    is_first: bool,
}

const END: &[u8] = b"\n]}}\n";

impl HarFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// [`usage`]: it cannot be written.
    pub fn create(path: &Path) -> Result<HarFile, Failure> {
        let failed = |error: io::Error| usage(format!("--har {}: {error}", path.display()));
        let creator = json!({"name": "browser-bridge", "version": env!("CARGO_PKG_VERSION")});
        let begin = format!("{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"entries\":[");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path).map_err(failed)?;
        file.write_all(begin.as_bytes()).and_then(|()| file.write_all(END)).map_err(failed)?;
        Ok(HarFile(Arc::new(Mutex::new(Entries { file, end: begin.len() as u64, is_first: true }))))
    }

    /// What writes the requests of one browser.
    pub fn recorder(&self) -> RecordRequest {
        let (entries, mut mask) = (Arc::clone(&self.0), mask());
        Box::new(move |request| {
            let entry = entry(request, &mut mask).to_string();
            let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
            // The next entry is written in the same place; a full disk shows in the calls' own output, too.
            let _ = entries.add(&entry);
        })
    }
}

impl Entries {
    fn add(&mut self, entry: &str) -> io::Result<()> {
        let text = format!("{}\n{entry}", if self.is_first { "" } else { "," });
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(text.as_bytes())?;
        self.file.write_all(END)?;
        self.end += text.len() as u64;
        self.is_first = false;
        Ok(())
    }
}

fn entry(request: &NetworkRequest, mask: &mut dyn FnMut(&str) -> String) -> Value {
    let url = mask(&request.url);
    let (status, words) = request.status.clone().unwrap_or_default();
    let version = if request.protocol.is_empty() { "unknown" } else { &request.protocol };
    let mut entry = json!({
        "startedDateTime": pipewright_log::time::write((request.started * 1e6) as i64),
        "time": request.milliseconds,
        "request": {
            "method": request.method, "url": url, "httpVersion": version, "cookies": [], "queryString": [],
            "headers": headers(&request.request_headers, mask), "headersSize": -1, "bodySize": -1,
        },
        "response": {
            "status": status, "statusText": words, "httpVersion": version, "cookies": [],
            "headers": headers(&request.response_headers, mask),
            "content": {"size": request.size, "mimeType": request.mime},
            "redirectURL": request.response_headers.0.get("location").map(|to| mask(to)).unwrap_or_default(),
            "headersSize": -1, "bodySize": request.size,
        },
        "cache": {},
        "timings": {"send": 0, "wait": request.milliseconds, "receive": 0},
    });
    if let Some(error) = &request.error {
        entry["response"]["_error"] = error.as_str().into();
    }
    entry
}

fn headers(headers: &Headers, mask: &mut dyn FnMut(&str) -> String) -> Vec<Value> {
    headers.masked(mask).0.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}
