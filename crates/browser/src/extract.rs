//! What can be read on a page.

use crate::worlds::Frame;
use crate::{Browser, Fault};
use serde::Deserialize;
use serde_json::json;
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("scripts/extract.js");

/// The longest text that is taken from a page, in characters of UTF-16.
const LONGEST: usize = 2_000_000;

/// How long a frame is read: some 100,000 elements of a page that is too large for anybody.
const WALK: Duration = Duration::from_secs(2);

/// How long a summary is, in characters of UTF-16.
const SUMMARY: usize = 1000;

/// What can be read on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extract {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The beginning of its main part: about 1,000 characters, without what is around it (navigation, banners, headers and footers).
    pub summary: String,
    /// All that can be seen, frame after frame, as lines: headings with `#`, items with `-` or their number, rows of tables with ` | `.
    pub text: String,
    /// How much there is.
    pub stats: Stats,
    /// The page is longer than what is taken (2,000,000 characters), or took too long to read.
    pub is_cut: bool,
}

/// How much there is of what can be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Characters of the text.
    pub characters: usize,
    /// Words of the text: what is between white space.
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
struct Found {
    title: String,
    url: String,
    text: String,
    summary: String,
    is_cut: bool,
    stats: Counted,
}

#[derive(Deserialize)]
struct Counted {
    links: usize,
    headings: usize,
    images: usize,
    forms: usize,
}

impl Extract {
    /// `limit` characters of the text from the one at `offset`, the first being 0; fewer at its end.
    pub fn piece(&self, offset: usize, limit: usize) -> &str {
        let at = |index: usize| self.text.char_indices().nth(index).map_or(self.text.len(), |(byte, _)| byte);
        &self.text[at(offset)..at(offset.saturating_add(limit))]
    }

    fn add(&mut self, found: Found) {
        if !self.text.is_empty() && !found.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&found.text);
        // The page's own text, or that of the first frame that has any.
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
    /// The page answers not in time, or not at all.
    pub fn extract(&mut self, until: Instant) -> Result<Extract, Fault> {
        let main = self.main_frame()?;
        let found = self.extract_frame(&main, LONGEST, until)?;
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
            let left = LONGEST.saturating_sub(extract.text.len());
            match self.extract_frame(&frame, left, until) {
                Ok(found) => extract.add(found),
                // A frame may go while the others are read.
                Err(Fault::Refused(_) | Fault::NoPage) => {}
                Err(fault) => return Err(fault),
            }
        }
        extract.stats.characters = extract.text.chars().count();
        extract.stats.words = extract.text.split_whitespace().count();
        Ok(extract)
    }

    fn extract_frame(&mut self, frame: &Frame, longest: usize, until: Instant) -> Result<Found, Fault> {
        let world = self.world(frame, until)?;
        // The other half is for what comes behind.
        let time = until.saturating_duration_since(Instant::now()) / 2;
        let time = time.min(WALK).as_millis() as u64;
        let arguments = json!([{"value": longest}, {"value": time}, {"value": SUMMARY}]);
        let remote = self.run(&world, SCRIPT, &arguments, true, until)?;
        serde_json::from_value(remote.value.unwrap_or_default()).map_err(|error| Fault::Unreadable(error.to_string()))
    }
}
