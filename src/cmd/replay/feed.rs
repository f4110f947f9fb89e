//! The messages of several logs, merged by time. Memory holds one read of each log.

use super::select::{Bound, Position};
use crate::cmd::filter::Filter;
use crate::cmd::log_file::{Entry, LogFile, report_lost, report_problem};
use pipewright_io::output::OutputClosed;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_log::Direction;
use pipewright_log::read::{Content, Found, Message, Problem};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Which messages are played.
pub struct MessageSelection {
    /// The directions, for messages in our own format.
    pub directions: Vec<Direction>,
    /// Only messages for which this is true.
    pub filter: Option<Filter>,
    /// Stop at messages for which this is true.
    pub breaks: Option<Filter>,
    pub from: Option<Bound>,
    pub to: Option<Bound>,
}

/// A message that is to be played.
#[derive(Debug, Clone)]
pub struct FeedItem {
    pub time: Option<i64>,
    pub direction: Option<Direction>,
    pub line: u64,
    /// The line continues in the next message of its direction.
    pub more: bool,
    /// An unfinished line of its log does not continue here.
    pub begins: bool,
    /// Whether to stop at it.
    pub is_break: bool,
    number: u64,
    /// When its session began; `None` in plain NDJSON.
    session: Option<i64>,
    bytes: Range<usize>,
}

/// One log, as far as it was read.
struct Feed {
    log: LogFile,
    bytes: Vec<u8>,
    items: VecDeque<FeedItem>,
    /// The latest time so far: a message without a time, or with an earlier one, is played at this time.
    latest: Option<i64>,
    /// The time of the first message.
    first: Option<i64>,
    /// When the current session began.
    session: Option<i64>,
    /// Whether a header, an end or a gap precedes the next message: an unfinished line cannot continue after it.
    is_cut: bool,
    ended: bool,
    /// Whether lines without a time are to be reported.
    misses_times: bool,
}

/// All logs.
pub struct Feeds {
    feeds: Vec<Feed>,
    choice: MessageSelection,
    follow: bool,
    report: Arc<Report>,
    first: Option<i64>,
}

/// Why there is no next message.
pub enum FeedStop {
    /// All logs have ended.
    Drained,
    /// A log that is followed has no further message yet.
    Waiting,
    Failed(Failure),
    Closed(OutputClosed),
}

impl Feeds {
    /// `is_timed`: whether messages are played at their times.
    pub fn new(
        logs: Vec<LogFile>,
        choice: MessageSelection,
        follow: bool,
        is_timed: bool,
        report: Arc<Report>,
    ) -> Feeds {
        let feed = |log| Feed {
            log,
            bytes: Vec::new(),
            items: VecDeque::new(),
            latest: None,
            first: None,
            session: None,
            is_cut: false,
            ended: false,
            misses_times: is_timed,
        };
        Feeds { feeds: logs.into_iter().map(feed).collect(), choice, follow, report, first: None }
    }

    /// The next message by time, and the index of its log. `before_reading` is called before each read.
    pub fn next(
        &mut self,
        before_reading: &mut dyn FnMut() -> Result<(), OutputClosed>,
    ) -> Result<(usize, FeedItem), FeedStop> {
        loop {
            for at in 0..self.feeds.len() {
                while self.feeds[at].items.is_empty() && !self.feeds[at].ended {
                    before_reading().map_err(FeedStop::Closed)?;
                    if !self.fill(at).map_err(FeedStop::Failed)? && self.follow {
                        break;
                    }
                }
            }
            let Some((at, item)) = self.earliest().and_then(|at| Some((at, self.feeds[at].items.pop_front()?))) else {
                let ended = self.feeds.iter().all(|feed| feed.ended);
                return Err(if ended { FeedStop::Drained } else { FeedStop::Waiting });
            };
            self.first = self.first.or_else(|| self.feeds.iter().filter_map(|feed| feed.first).min());
            let position = Position { number: item.number, time: item.time, first: self.first };
            if self.choice.to.is_some_and(|to| position.is_behind(to)) {
                self.feeds[at].ended = true;
                self.feeds[at].items.clear();
            } else if !self.choice.from.is_some_and(|from| position.is_before(from)) {
                return Ok((at, item));
            }
        }
    }

    /// The index of the log with the next message by time.
    fn earliest(&self) -> Option<usize> {
        let fronts = || self.feeds.iter().enumerate().filter_map(|(at, feed)| Some((at, feed.items.front()?)));
        // Of two messages at one time, the one from the log that was named first is taken;
        let (first, earliest) = fronts().min_by_key(|(_, item)| item.time)?;
        // but messages from one read share one time, and a rotated log continues in another file.
        let is_of_the_same = |(_, item): &(usize, &FeedItem)| {
            item.time == earliest.time && item.session.is_some() && item.session == earliest.session
        };
        Some(fronts().filter(is_of_the_same).min_by_key(|(_, item)| item.number).map_or(first, |(at, _)| at))
    }

    /// The bytes of a message; valid until the next call of [`Feeds::next`].
    pub fn bytes(&self, at: usize, item: &FeedItem) -> &[u8] {
        &self.feeds[at].bytes[item.bytes.clone()]
    }

    /// Reports on how many messages a filter could not be run.
    pub fn sum_up(&self) {
        [&self.choice.filter, &self.choice.breaks].into_iter().flatten().for_each(|filter| filter.sum_up(&self.report));
    }

    /// A log's name.
    pub fn name(&self, at: usize) -> &str {
        &self.feeds[at].log.name
    }

    /// Reads one log once; returns whether anything was read.
    fn fill(&mut self, at: usize) -> Result<bool, Failure> {
        let Feed { log, bytes, items, latest, first, session, is_cut, ended, misses_times } = &mut self.feeds[at];
        let follows = self.follow && log.may_grow();
        let (choice, report) = (&self.choice, &self.report);
        bytes.clear();
        let name = log.name.clone();
        let mut has_messages = false;
        let mut each = |Entry { line, found, .. }: Entry<'_>| match found {
            Found::Message(message) => {
                has_messages = true;
                *latest = message.time.max(*latest);
                *first = first.or(message.time);
                let item = |is_break, begins, bytes| FeedItem {
                    begins,
                    time: *latest,
                    direction: message.direction,
                    line,
                    more: message.more,
                    is_break,
                    number: message.seq.unwrap_or(line),
                    session: *session,
                    bytes,
                };
                if let Some(is_break) = choice.takes(&message, &name, line, report) {
                    let start = bytes.len();
                    message.write(bytes);
                    items.push_back(item(is_break, std::mem::take(is_cut), start..bytes.len()));
                }
            }
            Found::Problem(problem) => {
                *is_cut |= matches!(problem, Problem::Missing(_));
                report_problem(&problem, &name, line, report);
            }
            Found::Lost(count) => {
                *is_cut = true;
                report_lost(count, &name, line, report);
            }
            Found::Header(header) => {
                *session = header.start;
                *is_cut = true;
            }
            Found::End(_) => *is_cut = true,
        };
        let read = if follows { log.follow(&mut each) } else { log.read(&mut each) };
        if has_messages && std::mem::take(misses_times) && first.is_none() {
            report.note(format_args!(
                "{name}: its lines have no time, so they are played without pauses; name the field of the time with \
                 --time"
            ));
        }
        match read {
            Ok(more) => {
                *ended = !more && !follows;
                Ok(more)
            }
            Err(error) => Err(Failure::new(Status::Fault, format_args!("{name}: {error}"))),
        }
    }
}

impl MessageSelection {
    /// `None` if the message is not to be played; otherwise whether to stop at it.
    fn takes(&self, message: &Message<'_>, name: &str, line: u64, report: &Report) -> Option<bool> {
        if message.direction.is_some_and(|direction| !self.directions.contains(&direction)) {
            return None;
        }
        let place = || format!("{name}:{line}");
        if let Content::Withheld(why) = &message.content {
            report.fault(place(), format_args!("was not recorded: {why}"));
            return None;
        }
        let is_true = |filter: &Filter| filter.matches(message, report, place);
        if !self.filter.as_ref().is_none_or(is_true) {
            return None;
        }
        Some(self.breaks.as_ref().is_some_and(is_true))
    }
}
