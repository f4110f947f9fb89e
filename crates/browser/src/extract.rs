//! The readable text of a page.

use crate::worlds::Frame;
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde_json::json;
use std::time::{Duration, Instant};

const SCRIPT: &str = concat!(
    "(...given) => {",
    include_str!("scripts/members.js"),
    include_str!("scripts/secret.js"),
    "return (",
    include_str!("scripts/extract.js"),
    ")(...given) }"
);

/// The longest text taken from a page, in UTF-16 code units.
const MAX_TEXT: usize = 2_000_000;

/// Time limit for reading a frame: about 100,000 elements.
const EXTRACT_TIMEOUT: Duration = Duration::from_secs(2);

/// The length of a summary, in UTF-16 code units.
const SUMMARY: usize = 1000;

/// The readable text of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extract {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The beginning of its main part: about 1,000 characters, without the surrounding parts (navigation, banners,
    /// headers and footers).
    pub summary: String,
    /// All visible text, frame by frame, as lines: headings with `#`, items with `-` or their number, table rows with
    /// ` | `.
    pub text: String,
    /// Counts.
    pub stats: Stats,
    /// The page is longer than the limit (2,000,000 characters), or took too long to read.
    pub is_cut: bool,
}

/// Counts of the visible content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Characters of the text.
    pub characters: usize,
    /// Words of the text, separated by white space.
    pub words: usize,
    /// Links.
    pub links: usize,
    /// Headings.
    pub headings: usize,
    /// Images.
    pub images: usize,
    /// Forms.
    pub forms: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExtractResult {
    title: String,
    url: String,
    text: String,
    summary: String,
    is_cut: bool,
    stats: ExtractCounts,
}

#[derive(Deserialize)]
struct ExtractCounts {
    links: usize,
    headings: usize,
    images: usize,
    forms: usize,
}

impl Extract {
    /// At most `limit` characters of the text from `offset`, counted from 0.
    pub fn piece(&self, offset: usize, limit: usize) -> &str {
        let at = |index: usize| self.text.char_indices().nth(index).map_or(self.text.len(), |(byte, _)| byte);
        &self.text[at(offset)..at(offset.saturating_add(limit))]
    }

    fn add(&mut self, found: ExtractResult) {
        if !self.text.is_empty() && !found.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&found.text);
        // The page's own summary, or that of the first frame that has one.
        if self.summary.is_empty() {
            self.summary = found.summary;
        }
        self.stats.links += found.stats.links;
        self.stats.headings += found.stats.headings;
        self.stats.images += found.stats.images;
        self.stats.forms += found.stats.forms;
        self.is_cut |= found.is_cut;
    }
}

impl Browser {
    /// Reads the active page, with its frames and open shadow roots.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn extract(&mut self, until: Instant) -> Result<Extract, ActionError> {
        let main = self.main_frame()?;
        let found = self.extract_frame(&main, MAX_TEXT, until)?;
        let mut extract = Extract {
            title: found.title.clone(),
            url: found.url.clone(),
            summary: String::new(),
            text: String::new(),
            stats: Stats::default(),
            is_cut: false,
        };
        extract.add(found);
        for frame in self.frames(until)?.into_iter().filter(|frame| *frame != main) {
            let left = MAX_TEXT.saturating_sub(extract.text.len());
            match self.extract_frame(&frame, left, until) {
                Ok(found) => extract.add(found),
                // A frame may disappear while the others are read.
                Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => {}
                Err(fault) => return Err(fault),
            }
        }
        extract.stats.characters = extract.text.chars().count();
        extract.stats.words = extract.text.split_whitespace().count();
        Ok(extract)
    }

    fn extract_frame(&mut self, frame: &Frame, longest: usize, until: Instant) -> Result<ExtractResult, ActionError> {
        let world = self.world(frame, until)?;
        // The other half is for the remaining frames.
        let time = until.saturating_duration_since(Instant::now()) / 2;
        let time = time.min(EXTRACT_TIMEOUT).as_millis() as u64;
        let arguments = json!([{"value": longest}, {"value": time}, {"value": SUMMARY}]);
        let remote = self.run(&world, SCRIPT, &arguments, true, until)?;
        remote.read()
    }
}
