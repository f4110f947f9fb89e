//! The progress of a batch, for the person who started it.

use pipewright_io::report::Report;
use pipewright_record::Usage;
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::time::{Duration, Instant};

/// The interval between two updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(250);

/// The outcomes of the requests so far.
pub struct Tally {
    begun: Instant,
    shown: Option<Instant>,
    done: u64,
    failed: u64,
    /// Requests that were answered from the cache, which took no time.
    cached: u64,
    usage: Usage,
    /// The size of the input in bytes, if it is a file.
    input: Option<u64>,
    /// The bytes of the lines read so far.
    read: u64,
}

impl Tally {
    /// `None` if the progress would not be visible: stderr is not a terminal, or the printed answers themselves show
    /// it.
    pub fn start() -> Option<Tally> {
        if !stderr().is_terminal() || stdout().is_terminal() || stdin().is_terminal() {
            return None;
        }
        let input = std::fs::metadata("/dev/stdin").ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
        let usage = Usage::default();
        Some(Tally { begun: Instant::now(), shown: None, done: 0, failed: 0, cached: 0, usage, input, read: 0 })
    }

    /// Counts a line, whose bytes include its line feed.
    pub fn line(&mut self, bytes: usize) {
        self.read += bytes as u64;
    }

    /// Counts a finished request.
    pub fn end(&mut self, usage: Usage, has_failed: bool, is_cached: bool) {
        self.done += u64::from(!has_failed);
        self.failed += u64::from(has_failed);
        self.cached += u64::from(is_cached);
        self.usage = self.usage.plus(usage);
    }

    /// When the progress is shown next.
    pub fn next(&self) -> Option<Instant> {
        self.shown?.checked_add(UPDATE_INTERVAL)
    }

    /// Shows the progress if it is due. `waiting` requests are open or queued; `is_last` means that no more will come.
    pub fn show(&mut self, report: &Report, waiting: usize, is_last: bool) {
        let now = Instant::now();
        let is_over = is_last && waiting == 0;
        if !is_over && self.next().is_some_and(|next| now < next) {
            return;
        }
        self.shown = Some(now);
        let left = self.left(now.duration_since(self.begun), waiting as u64, is_last);
        let line = self.line_of(left.filter(|_| !is_over));
        if is_over { report.say(line) } else { report.progress(line) }
    }

    fn line_of(&self, left: Option<Duration>) -> String {
        let Usage { input, output, .. } = self.usage;
        let mut line = format!("{} done, {} failed", self.done, self.failed);
        if self.cached > 0 {
            line += &format!(", {} from the cache", self.cached);
        }
        line += &format!("; tokens: {} in, {} out", input.unwrap_or(0), output.unwrap_or(0));
        if let Some(cost) = self.usage.cost {
            line += &format!("; ${cost:.4}");
        }
        if let Some(left) = left {
            let seconds = left.as_secs();
            line += &match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
                (0, 0, seconds) => format!("; {seconds}s left"),
                (0, minutes, seconds) => format!("; {minutes}m{seconds:02}s left"),
                (hours, minutes, _) => format!("; {hours}h{minutes:02}m left"),
            };
        }
        line
    }

    /// The time left: the average time of an answered request, for each remaining one; `None` if their number is not
    /// known.
    fn left(&self, elapsed: Duration, waiting: u64, is_last: bool) -> Option<Duration> {
        let ended = self.done + self.failed;
        let lines = ended + waiting;
        let more = match self.input {
            _ if is_last => 0,
            Some(input) if self.read > 0 => input.saturating_sub(self.read) / (self.read / lines.max(1)).max(1),
            _ => return None,
        };
        let asked = ended.saturating_sub(self.cached);
        (asked > 0).then(|| elapsed.mul_f64((waiting + more) as f64 / asked as f64))
    }
}
