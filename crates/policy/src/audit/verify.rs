//! Verification of audits: each chain by itself, and all of them together for the calls that passed.

use super::VERSION;
use super::approvals::{Key, Marks, OpenCalls};
use super::chain::{Chain, Fault, Link};
use super::event::Did;
use super::recorded_event::{Meaning, RecordedEvent};
use super::summary::{Broken, Lack, Summary, Unapproved};
use crate::verdict::Verdict;
use pipewright_lines::Line;
use pipewright_record::Settlement;

/// Takes the lines of one or several audits, and finds what is wrong with them. It keeps open calls only. Read the files side by side,
/// always the [`next`](Verification::next) one, so that a mark and its settlement are read soon after each other.
///
/// ```
/// use pipewright_lines::Line;
/// use pipewright_policy::audit::{Chain, Event, Verification};
/// let mut chain = Chain::begin();
/// let start = Event::start("policy-check", "0.1.0");
/// let file = chain.link(&start.fields("2026-11-22T01:00:00.000000Z")) + "\n";
/// let mut verification = Verification::of(1, "hitl-gate");
/// verification.line(0, &Line::new(file.as_bytes(), 1));
/// verification.end_file(0);
/// let [summary] = &verification.finish()[..] else { panic!() };
/// assert!(summary.is_well() && !summary.ended);
/// ```
#[derive(Debug)]
pub struct Verification {
    files: Vec<File>,
    marks: Marks,
}

#[derive(Debug)]
struct File {
    due: Chain,
    summary: Summary,
    approvals: OpenCalls,
    /// Open questions to a person.
    questions: OpenCalls,
    /// Questions that were open when the gate was killed.
    unanswered: Vec<Key>,
    /// The time of the last entry.
    time: String,
    lines: u64,
    is_read: bool,
    asker: &'static str,
    /// Whether it is an audit of the command that asks people, and of one that judges calls.
    asks: bool,
    judges: bool,
}

/// An event that matters for another file.
enum Elsewhere {
    Marked(Key, Unapproved),
    Settled(Key),
    /// A marked call was not delivered: nobody is asked about it.
    Undelivered(Key),
}

impl Verification {
    /// Verifies this many files, numbered from 0. `asker` is the command whose audits have the settlements of questions.
    pub fn of(files: usize, asker: &'static str) -> Verification {
        let file = || File {
            due: Chain::begin(),
            summary: Summary::default(),
            approvals: OpenCalls::default(),
            questions: OpenCalls::default(),
            unanswered: Vec::new(),
            time: String::new(),
            lines: 0,
            is_read: false,
            asker,
            asks: false,
            judges: false,
        };
        Verification { files: std::iter::repeat_with(file).take(files).collect(), marks: Marks::default() }
    }

    /// The file to read a line of: the one with the earliest time. `None` if all are read.
    pub fn next(&self) -> Option<usize> {
        let behind = |&file: &usize| (self.files[file].lines > 0, &self.files[file].time);
        (0..self.files.len()).filter(|&file| !self.files[file].is_read).min_by_key(behind)
    }

    /// Takes the next line of a file.
    pub fn line(&mut self, file: usize, line: &Line<'_>) {
        let Some(here) = self.files.get_mut(file) else { return };
        here.lines += 1;
        if line.after().is_empty() {
            here.summary.torn = Some(line.number());
            return;
        }
        match here.take(line) {
            Ok(None) => {}
            Ok(Some(Elsewhere::Marked(key, call))) if self.may_be(|file| file.asks) => self.marks.mark(key, file, call),
            Ok(Some(Elsewhere::Marked(..))) => self.files[file].summary.unchecked += 1,
            Ok(Some(Elsewhere::Settled(key))) if self.may_be(|file| file.judges) => self.marks.settle(key),
            Ok(Some(Elsewhere::Settled(_))) => {}
            Ok(Some(Elsewhere::Undelivered(key))) if self.may_be(|file| file.asks) => self.marks.settle(key),
            Ok(Some(Elsewhere::Undelivered(_))) => {
                let unchecked = &mut self.files[file].summary.unchecked;
                *unchecked = unchecked.saturating_sub(1);
            }
            Err(fault) => self.files[file].break_at(line.number(), fault),
        }
    }

    /// Whether one of the files is of this sort, or may be, since nothing of it has been read yet.
    fn may_be(&self, such: impl Fn(&File) -> bool) -> bool {
        self.files.iter().any(|file| such(file) || file.lines == 0 && !file.is_read)
    }

    /// Takes a line that is too long to be kept.
    pub fn too_long(&mut self, file: usize, number: u64) {
        if let Some(file) = self.files.get_mut(file) {
            file.lines += 1;
            file.break_at(number, Fault::TooLong);
        }
    }

    /// The file has been read to its end.
    pub fn end_file(&mut self, file: usize) {
        if let Some(file) = self.files.get_mut(file) {
            file.is_read = true;
            if file.lines == 0 {
                file.break_at(1, Fault::Empty);
            }
        }
    }

    /// The number of calls that are kept, because a step of theirs is open.
    pub fn open(&self) -> usize {
        self.marks.len() + self.files.iter().map(|file| file.approvals.len() + file.questions.len()).sum::<usize>()
    }

    /// The findings in each file.
    pub fn finish(mut self) -> Vec<Summary> {
        for file in &mut self.files {
            file.leave_unanswered();
            // These calls have no other settlement.
            file.unanswered.drain(..).for_each(|key| self.marks.settle(key));
        }
        let can_check = self.files.iter().any(|file| file.asks);
        let mut summaries: Vec<Summary> = self.files.into_iter().map(|file| file.summary).collect();
        let mut unsettled: Vec<_> = self.marks.unsettled().collect();
        unsettled.sort_unstable_by_key(|(file, call)| (*file, call.line));
        for (file, call) in unsettled {
            match can_check {
                true => summaries[file].list(call),
                false => summaries[file].unchecked += 1,
            }
        }
        for summary in &mut summaries {
            summary.unapproved.sort_by_key(|call| call.line);
        }
        summaries
    }
}

impl File {
    fn break_at(&mut self, line: u64, why: Fault) {
        self.summary.broken.get_or_insert(Broken { line, why });
    }

    /// The session is over, without an end in order.
    fn leave_unanswered(&mut self) {
        let left = self.questions.drain();
        self.summary.unanswered += left.len() as u64;
        self.unanswered.extend(left);
    }

    fn take(&mut self, line: &Line<'_>) -> Result<Option<Elsewhere>, Fault> {
        // Every byte before the line feed counts: a byte order mark or a carriage return is a change.
        let raw = line.raw().strip_suffix(b"\n").unwrap_or(line.raw());
        let text = std::str::from_utf8(raw).map_err(|_| Fault::NoLink)?;
        let link = Link::read(text)?;
        if self.summary.broken.is_none() {
            self.due.follow(&link)?;
        }
        let event = RecordedEvent::read(text).map_err(Fault::NoEvent)?;
        let meaning = event.meaning().map_err(Fault::NoEvent)?;
        if self.summary.entries == 0 && !matches!(meaning, Meaning::Start { .. }) {
            self.break_at(line.number(), Fault::NoStart);
        }
        self.summary.entries += 1;
        self.summary.last_hash = Some(link.hash.to_owned());
        self.summary.ended = matches!(meaning, Meaning::End);
        event.time.as_ref().clone_into(&mut self.time);
        self.judge(&event, meaning, line.number())
    }

    fn judge(
        &mut self,
        event: &RecordedEvent<'_>,
        meaning: Meaning<'_>,
        line: u64,
    ) -> Result<Option<Elsewhere>, Fault> {
        let call = |lack| Unapproved::new(line, event, lack);
        match meaning {
            Meaning::Start { version, .. } if version > VERSION => return Err(Fault::NewerVersion(version)),
            Meaning::Start { command, .. } => {
                self.asks |= command == self.asker;
                self.judges |= command != self.asker;
                self.approvals.clear();
                self.leave_unanswered();
            }
            Meaning::Verdict { digest, verdict, did } => {
                self.summary.verdicts.count(verdict);
                match (did, verdict) {
                    (Did::Marked, _) => {
                        return Ok(Some(Elsewhere::Marked(Key::of(event, digest), call(Lack::Settlement))));
                    }
                    (Did::Passed, Verdict::Confirm) => self.summary.list(call(Lack::Mark)),
                    (Did::Passed, Verdict::Deny) => self.summary.list(call(Lack::Refusal)),
                    (Did::Passed, Verdict::Allow) | (Did::Refused, _) => {}
                }
            }
            Meaning::Asked { digest } => {
                self.summary.asked += 1;
                self.questions.add(Key::of(event, digest));
            }
            Meaning::Settled { digest, settlement, passes } => {
                self.summary.count(settlement);
                self.questions.take(Key::of(event, digest));
                if settlement != Settlement::Rejected {
                    self.approvals.add(Key::of(event, passes));
                }
                return Ok(Some(Elsewhere::Settled(Key::of(event, digest))));
            }
            Meaning::Passed { digest, required_approval } => {
                self.summary.passed += 1;
                if required_approval && !self.approvals.take(Key::of(event, digest)) {
                    self.summary.list(call(Lack::Approval));
                }
            }
            Meaning::Undelivered { digest, did } => {
                self.summary.undelivered += 1;
                if did == Did::Marked {
                    return Ok(Some(Elsewhere::Undelivered(Key::of(event, digest))));
                }
            }
            // A gate that ends in order settles its questions.
            Meaning::End => self.questions.clear(),
            Meaning::Rule => {}
        }
        Ok(None)
    }
}
