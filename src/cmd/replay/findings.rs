//! The results of a comparison: reported to people immediately, written for programs, and summarized at the end.

use super::conversation::Conversation;
use super::report::{Counts, DifferenceKind, Line, ReportFile, json, reported};
use crate::cmd::distribution::Distribution;
use pipewright_io::report::{Failure, Report};
use pipewright_replay::alignment::{Finding, LiveLine};
use pipewright_replay::compare::{Comparison, Difference, ReportedSettings};
use pipewright_replay::ids::Ids;
use pipewright_replay::requests::{Requests, is_answer};
use pipewright_replay::turns::RecordedLine;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How many places of one line are shown to people, and the length of each in characters.
const SHOWN: usize = 8;
const WIDTH: usize = 200;

/// All results so far.
pub struct Findings {
    comparison: Comparison,
    /// The ids of an agent's calls, if the recorded world is played.
    ids: Ids,
    /// An agent's requests to a model, if the recorded model is played.
    pub(super) requests: Requests,
    settings: ReportedSettings,
    report: Arc<Report>,
    quiet: bool,
    file: ReportFile,
    turns: u64,
    different_turns: u64,
    first: Option<u64>,
    /// The last turns with differences.
    different: VecDeque<u64>,
    /// The last turns for which differences may still be found.
    ended: VecDeque<EndedTurn>,
    is_finished: bool,
    counts: Counts,
    recorded: Distribution,
    now: Distribution,
}

/// How many different turns are remembered. A difference is found at most one turn later, or, for a skipped turn, with its neighbours.
const REMEMBERED: usize = 32;

struct EndedTurn {
    turn: u64,
    recorded_us: Option<u64>,
    now_us: Option<u64>,
}

impl Findings {
    /// `file` is the path of the report for programs.
    pub fn new(
        comparison: Comparison,
        file: Option<&Path>,
        quiet: bool,
        report: &Arc<Report>,
    ) -> Result<Findings, Failure> {
        Ok(Findings {
            comparison,
            ids: Ids::default(),
            requests: Requests::default(),
            settings: ReportedSettings::default(),
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

    /// Whether a live line is the same as the recorded one.
    pub fn is_same(&self, recorded: &[u8], now: &[u8]) -> bool {
        self.comparison.differences(&self.ids.translated(recorded), now).is_empty()
    }

    /// Begins to wait for the other side's lines of a turn.
    pub fn expect(&mut self, theirs: &[RecordedLine]) {
        if self.comparison.ignores_ids {
            for line in theirs {
                self.ids.expect(line);
                self.requests.expect(line);
            }
        }
    }

    /// A live line corresponds to a recorded one: it is the same, or takes its place.
    pub fn pair(&mut self, recorded: &RecordedLine, live: &LiveLine) {
        self.ids.pair(recorded, live.body());
        self.requests.pair(recorded, live.number);
    }

    /// A recorded line of our own, with the live ids of its calls and requests; `None` if it must not be sent, as in
    /// [`Ids::answer`] and [`Requests::answer`].
    pub fn with_ids<'l>(&mut self, raw: &'l [u8]) -> Option<Cow<'l, [u8]>> {
        match self.requests.answer(raw)? {
            Cow::Borrowed(raw) => self.ids.answer(raw),
            answer => Some(answer),
        }
    }

    /// Takes one finding of a turn.
    pub fn take(&mut self, turn: u64, finding: Finding, conversation: &Conversation) {
        if let Finding::Same(recorded, live) | Finding::Differs(recorded, live) = &finding {
            self.pair(recorded, live);
        }
        if let Finding::Extra(live) = &finding {
            let Findings { ids, requests, comparison, .. } = self;
            let is_same = |recorded: &[u8], now: &[u8]| comparison.differences(recorded, now).is_empty();
            ids.pair_extra(live.body(), is_same);
            requests.pair_extra(live.number, |recorded| is_same(recorded, live.body()));
        }
        let settings = match &finding {
            Finding::Same(recorded, live) | Finding::Differs(recorded, live) => {
                self.settings.new_differences(&self.comparison, recorded.body(), live.body())
            }
            _ => Vec::new(),
        };
        let (kind, recorded, live) = match &finding {
            Finding::Same(..) if settings.is_empty() => {
                self.counts.same += 1;
                return;
            }
            Finding::Same(recorded, live) | Finding::Differs(recorded, live) => {
                (DifferenceKind::Differs, Some(recorded), Some(live))
            }
            Finding::Missing(recorded) => (DifferenceKind::Missing, Some(recorded), None),
            Finding::Extra(live) => (DifferenceKind::Extra, None, Some(live)),
            Finding::Unsaid(recorded) => (DifferenceKind::Unsaid, Some(recorded), None),
        };
        self.counts.add(kind);
        self.differs_in(turn);
        let mut differences = match (recorded, live) {
            (Some(recorded), Some(live)) => {
                self.comparison.differences(&self.ids.translated(recorded.body()), live.body())
            }
            _ => Vec::new(),
        };
        differences.extend(settings);
        let log = recorded.map(|recorded| conversation.lines.place(recorded.place));
        self.write(turn, kind, log.as_deref(), recorded, live, &differences);
        self.file.write(&Line::Difference {
            turn: Some(turn),
            kind,
            log,
            recorded: recorded.map(|recorded| json(recorded.body())),
            now: live.map(|live| json(live.body())),
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
        kind: DifferenceKind,
        log: Option<&str>,
        recorded: Option<&RecordedLine>,
        live: Option<&LiveLine>,
        differences: &[Difference],
    ) {
        if self.quiet {
            return;
        }
        let what = match kind {
            DifferenceKind::Differs => "the answer differs from the recording",
            DifferenceKind::Missing => "recorded, but did not come",
            DifferenceKind::Extra => "came, but was not recorded",
            _ if recorded.is_some_and(|recorded| is_answer(recorded.body())) => "not sent: its request was not made",
            _ if self.comparison.ignores_ids => "not sent: the call was not made, and another call has its id now",
            _ => "not sent: the other side was already past it",
        };
        let details = match differences {
            [Difference { path, .. }, ..] if !path.is_empty() => shown(differences),
            _ => {
                let text = |bytes: &[u8]| shortened(&String::from_utf8_lossy(bytes));
                let recorded = recorded.map(|recorded| format!("- {}", text(recorded.body())));
                recorded.into_iter().chain(live.map(|live| format!("+ {}", text(live.body())))).collect()
            }
        };
        let turn = format!("turn {turn}");
        let place = log.map_or_else(|| turn.clone(), |log| format!("{log}: {turn}"));
        self.report.fault_with(place, what, &details);
    }

    /// A turn has ended. `recorded` and `now` are the times until its first answer. Differences may still be found in turns from
    /// `open` on.
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

    /// The other side ended at the end of the recording, but in another way than the recorded one.
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

    /// Writes the summary, once.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        self.write_ended_turns(u64::MAX);
        let Counts { same, differs, missing, extra, unsaid } = self.counts;
        let first = self.first.map(|turn| format!(", first at turn {turn}")).unwrap_or_default();
        let turns = if self.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", self.turns) };
        let mut sum = format!("{turns}, {} different{first}; lines: {same} the same", self.different_turns);
        for (count, word) in [(differs, "differ"), (missing, "missing"), (extra, "extra"), (unsaid, "not sent")] {
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

/// The differing places of a line, for people.
pub(super) fn shown(differences: &[Difference]) -> Vec<String> {
    let mut lines = Vec::new();
    for Difference { path, recorded, now } in differences.iter().take(SHOWN) {
        lines.extend(recorded.as_ref().map(|value| format!("- {path} {}", shortened(value))));
        lines.extend(now.as_ref().map(|value| format!("+ {path} {}", shortened(value))));
    }
    if differences.len() > SHOWN {
        lines.push(format!("and {} more places", differences.len() - SHOWN));
    }
    lines
}

pub(super) fn shortened(text: &str) -> String {
    pipewright_io::report::shortened(text, WIDTH)
}
