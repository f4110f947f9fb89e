//! What a comparison found: told to people as it is found, written for programs, summed up at the end.

use super::conversation::Conversation;
use super::report::{Counts, Line, ReportFile, json, reported};
use crate::cmd::distribution::Distribution;
use crate::io::report::{Failure, Report};
use crate::replay::alignment::{Finding, LiveLine};
use crate::replay::compare::{Comparison, Difference};
use crate::replay::ids::Ids;
use crate::replay::turns::RecordedLine;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// So many places of one line are shown to people, each so long.
const SHOWN: usize = 8;
const WIDTH: usize = 200;

/// Everything that was found so far.
pub struct Findings {
    comparison: Comparison,
    /// Of an agent's calls, where the recorded world is played.
    ids: Ids,
    report: Arc<Report>,
    quiet: bool,
    file: ReportFile,
    turns: u64,
    different_turns: u64,
    first: Option<u64>,
    /// The last turns that something was found in.
    different: VecDeque<u64>,
    /// The last turn, and those that something may still be found out about.
    ended: VecDeque<EndedTurn>,
    is_finished: bool,
    counts: Counts,
    recorded: Distribution,
    now: Distribution,
}

/// So many turns are remembered: one is found to differ one turn later at most, or, skipped, with its neighbours.
const REMEMBERED: usize = 32;

struct EndedTurn {
    turn: u64,
    recorded_us: Option<u64>,
    now_us: Option<u64>,
}

impl Findings {
    /// `file` is where the report for programs goes.
    ///
    /// # Errors
    /// As [`ReportFile::create`].
    pub fn new(
        comparison: Comparison,
        file: Option<&Path>,
        quiet: bool,
        report: &Arc<Report>,
    ) -> Result<Findings, Failure> {
        Ok(Findings {
            comparison,
            ids: Ids::default(),
            report: Arc::clone(report),
            quiet,
            file: ReportFile::create(file, report)?,
            turns: 0,
            different_turns: 0,
            first: None,
            different: VecDeque::new(),
            ended: VecDeque::new(),
            is_finished: false,
            counts: Counts::default(),
            recorded: Distribution::default(),
            now: Distribution::default(),
        })
    }

    /// Whether a live line is as it was recorded.
    pub fn is_same(&self, recorded: &[u8], now: &[u8]) -> bool {
        self.comparison.differences(&self.ids.translated(recorded), now).is_empty()
    }

    /// The lines of a turn's other side are waited for.
    pub fn expect(&mut self, theirs: &[RecordedLine]) {
        if self.comparison.ignores_ids {
            theirs.iter().for_each(|said| self.ids.expect(said));
        }
    }

    /// A line came for a recorded one, as the same or in its stead.
    pub fn pair(&mut self, said: &RecordedLine, heard: &LiveLine) {
        self.ids.pair(said, heard.body());
    }

    /// A recorded line of our own, with the ids that its calls have now; `None` where it must not be said, as in [`Ids::answer`].
    pub fn with_ids<'l>(&mut self, raw: &'l [u8]) -> Option<Cow<'l, [u8]>> {
        self.ids.answer(raw)
    }

    /// Takes one finding of a turn.
    pub fn take(&mut self, turn: u64, finding: Finding, conversation: &Conversation) {
        if let Finding::Same(said, heard) | Finding::Differs(said, heard) = &finding {
            self.pair(said, heard);
        }
        if let Finding::Extra(heard) = &finding {
            let Findings { ids, comparison, .. } = self;
            ids.pair_extra(heard.body(), |recorded, now| comparison.differences(recorded, now).is_empty());
        }
        let (kind, said, heard) = match &finding {
            Finding::Same(..) => {
                self.counts.same += 1;
                return;
            }
            Finding::Differs(said, heard) => ("differs", Some(said), Some(heard)),
            Finding::Missing(said) => ("missing", Some(said), None),
            Finding::Extra(heard) => ("extra", None, Some(heard)),
            Finding::Unsaid(said) => ("unsaid", Some(said), None),
        };
        *match finding {
            Finding::Differs(..) => &mut self.counts.differs,
            Finding::Missing(_) => &mut self.counts.missing,
            Finding::Extra(_) => &mut self.counts.extra,
            _ => &mut self.counts.unsaid,
        } += 1;
        self.differs_in(turn);
        let differences = match (said, heard) {
            (Some(said), Some(heard)) => self.comparison.differences(&self.ids.translated(said.body()), heard.body()),
            _ => Vec::new(),
        };
        let log = said.map(|said| conversation.place(said.place));
        self.write(turn, kind, log.as_deref(), said, heard, &differences);
        self.file.write(&Line::Difference {
            turn: Some(turn),
            kind,
            log,
            recorded: said.map(|said| json(said.body())),
            now: heard.map(|heard| json(heard.body())),
            differences: differences.iter().filter(|one| !one.path.is_empty()).map(reported).collect(),
            why: None,
        });
    }

    fn differs_in(&mut self, turn: u64) {
        self.first = Some(self.first.map_or(turn, |first| first.min(turn)));
        if !self.different.contains(&turn) {
            self.different_turns += 1;
            self.different.push_back(turn);
            if self.different.len() > REMEMBERED {
                self.different.pop_front();
            }
        }
        self.report.fail();
    }

    fn write(
        &self,
        turn: u64,
        kind: &str,
        log: Option<&str>,
        said: Option<&RecordedLine>,
        heard: Option<&LiveLine>,
        differences: &[Difference],
    ) {
        if self.quiet {
            return;
        }
        let what = match kind {
            "differs" => "another answer than was recorded",
            "missing" => "this was recorded and did not come",
            "extra" => "this came and was not recorded",
            _ if self.comparison.ignores_ids => "not said: the call was not made, and another call has its id now",
            _ => "not said, the other side was past it",
        };
        let mut details = Vec::new();
        if let [Difference { path, .. }, ..] = differences
            && !path.is_empty()
        {
            for Difference { path, recorded, now } in differences.iter().take(SHOWN) {
                details.extend(recorded.as_ref().map(|value| format!("- {path} {}", shortened(value))));
                details.extend(now.as_ref().map(|value| format!("+ {path} {}", shortened(value))));
            }
            if differences.len() > SHOWN {
                details.push(format!("and {} more places", differences.len() - SHOWN));
            }
        } else {
            let text = |bytes: &[u8]| shortened(&String::from_utf8_lossy(bytes));
            details.extend(said.map(|said| format!("- {}", text(said.body()))));
            details.extend(heard.map(|heard| format!("+ {}", text(heard.body()))));
        }
        let turn = format!("turn {turn}");
        let place = log.map_or_else(|| turn.clone(), |log| format!("{log}: {turn}"));
        self.report.fault_with(place, what, &details);
    }

    /// A turn has come to its end; with how long the first answer took, then and now. About turns from `open` on, something
    /// may still be found.
    pub fn end_turn(&mut self, turn: u64, recorded: Option<Duration>, now: Option<Duration>, open: Option<u64>) {
        self.turns += 1;
        let us = |time: Option<Duration>| time.map(|time| time.as_micros() as u64);
        let (recorded_us, now_us) = (us(recorded), us(now));
        for (latencies, us) in [(&mut self.recorded, recorded_us), (&mut self.now, now_us)] {
            if let Some(us) = us {
                latencies.add(us);
            }
        }
        self.write_ended_turns(open.unwrap_or(turn));
        self.ended.push_back(EndedTurn { turn, recorded_us, now_us });
    }

    fn write_ended_turns(&mut self, before: u64) {
        while self.ended.front().is_some_and(|ended| ended.turn < before)
            && let Some(EndedTurn { turn, recorded_us, now_us }) = self.ended.pop_front()
        {
            let same = !self.different.contains(&turn);
            self.file.write(&Line::Turn { turn, same, recorded_us, now_us });
        }
    }

    /// The other side ended before the recording did.
    pub fn ended_early(&mut self, turn: u64, how: &str, missing: u64) {
        self.counts.missing += missing;
        self.differs_in(turn);
        let lines = if missing == 1 { "one recorded line" } else { "recorded lines" };
        let count = if missing == 1 { String::new() } else { format!("{missing} ") };
        self.complain(turn, format_args!("{how}; {count}{lines} did not come"));
        self.file.write(&Line::Ended { turn, how, missing });
    }

    /// The other side ended with the recording, but not as it was recorded.
    pub fn ended_otherwise(&mut self, turn: u64, how: &str) {
        self.differs_in(turn);
        self.complain(turn, how);
        self.file.write(&Line::Ended { turn, how, missing: 0 });
    }

    fn complain(&self, turn: u64, message: impl std::fmt::Display) {
        if !self.quiet {
            self.report.fault(format_args!("turn {turn}"), message);
        }
    }

    /// Sums up, once.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        self.write_ended_turns(u64::MAX);
        let Counts { same, differs, missing, extra, unsaid } = self.counts;
        let first = self.first.map(|turn| format!(", first at turn {turn}")).unwrap_or_default();
        let turns = if self.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", self.turns) };
        let mut sum = format!("{turns}, {} different{first}; lines: {same} the same", self.different_turns);
        for (count, word) in [(differs, "differ"), (missing, "missing"), (extra, "extra"), (unsaid, "not said")] {
            if count > 0 {
                sum.push_str(&format!(", {count} {word}"));
            }
        }
        self.report.say(sum);
        let (then, now) = (self.recorded.percentiles(), self.now.percentiles());
        if now.count > 0 {
            self.report.say(format_args!(
                "answers took {} (median; p99 {}), recorded {} (p99 {})",
                milliseconds(now.p50),
                milliseconds(now.p99),
                milliseconds(then.p50),
                milliseconds(then.p99)
            ));
        }
        let counts = std::mem::take(&mut self.counts);
        self.file.write(&Line::Summary {
            turns: self.turns,
            different_turns: self.different_turns,
            first: self.first,
            lines: &counts,
            recorded_us: then,
            now_us: now,
        });
        self.file.finish();
    }
}

fn milliseconds(us: u64) -> String {
    format!("{}.{:02} ms", us / 1000, us % 1000 / 10)
}

pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
