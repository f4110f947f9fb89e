//! What waits for its turn to leave: answers come in the order of the lines that they answer.

use crate::record::{Call, recognise};
use std::collections::VecDeque;
use std::time::Instant;

/// So much waits at most before no more is read.
const MANY: usize = 1024;
const MUCH: usize = 8 << 20;

/// Another side, by its place among several, and our number for a call there.
pub type Number = (usize, u64);

/// What becomes of a call that isn't sent yet.
// Without mcp-pipe, some of it is nobody's.
#[cfg_attr(not(feature = "mcp"), allow(dead_code))]
pub enum Sending {
    /// It was sent under this number.
    Sent(Number),
    /// It isn't sent: this is its answer.
    Answered(String),
    /// It can't be sent now; others may be.
    Later,
    /// Nothing more can be sent now.
    Stop,
}

/// A call that has no answer yet.
pub struct Waiting {
    /// The call, as it came.
    pub call: String,
    /// Which other side it is for, by its place among several.
    #[cfg_attr(not(feature = "mcp"), allow(dead_code))]
    pub place: usize,
    /// Which other side works on it, and under which number.
    pub number: Option<Number>,
    /// When it was first sent to the other side.
    pub sent_at: Option<Instant>,
}

impl Waiting {
    /// What `answer` says to the call.
    pub fn answer(&self, answer: impl FnOnce(&Call<'_>) -> String) -> String {
        // It was a call when it came.
        recognise(&self.call).ok().flatten().map(|call| answer(&call)).unwrap_or_default()
    }
}

/// A line that came, until what is said to it has left.
pub enum Pending {
    /// A call without an answer.
    Call(Waiting),
    /// What is to leave, with its line feed.
    Done(Vec<u8>),
}

impl Pending {
    /// A call that is not sent yet: the other side is not ready, or works on as many as it may.
    pub fn unsent(place: usize, call: &str) -> Pending {
        Pending::Call(Waiting { call: call.to_owned(), place, number: None, sent_at: None })
    }

    /// A call that was sent under this number.
    pub fn sent(number: Number, call: &str) -> Pending {
        let sent_at = Some(Instant::now());
        Pending::Call(Waiting { call: call.to_owned(), place: number.0, number: Some(number), sent_at })
    }

    /// An answer without its line feed.
    pub fn done(answer: &str) -> Pending {
        Pending::Done(format!("{answer}\n").into_bytes())
    }

    fn size(&self) -> usize {
        match self {
            Pending::Call(waiting) => waiting.call.len(),
            Pending::Done(line) => line.len(),
        }
    }

    fn is_sent_as(&self, id: Number) -> bool {
        matches!(self, Pending::Call(Waiting { number, .. }) if *number == Some(id))
    }
}

/// Lines in their order.
#[derive(Default)]
pub struct Queue {
    lines: VecDeque<Pending>,
    size: usize,
}

// Without mcp-pipe, some of it is nobody's.
#[cfg_attr(not(feature = "mcp"), allow(dead_code))]
impl Queue {
    pub fn push(&mut self, pending: Pending) {
        self.size += pending.size();
        self.lines.push_back(pending);
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether no more should be read for now.
    pub fn is_full(&self) -> bool {
        self.lines.len() >= MANY || self.size >= MUCH
    }

    /// Settles the call that was sent under `id`.
    pub fn answer(&mut self, id: Number, answer: impl FnOnce(&Waiting) -> String) {
        let sent = self.lines.iter_mut().find(|line| line.is_sent_as(id));
        if let Some(pending) = sent {
            self.size -= pending.size();
            if let Pending::Call(waiting) = &*pending {
                *pending = Pending::done(&answer(waiting));
            }
            self.size += pending.size();
        }
    }

    /// Gives `send` each call that isn't sent yet, in order.
    pub fn send(&mut self, mut send: impl FnMut(&Waiting) -> Sending) {
        for pending in &mut self.lines {
            let Pending::Call(waiting) = pending else { continue };
            if waiting.number.is_some() {
                continue;
            }
            match send(waiting) {
                Sending::Sent(number) => {
                    waiting.number = Some(number);
                    waiting.sent_at.get_or_insert_with(Instant::now);
                }
                Sending::Answered(answer) => {
                    let before = pending.size();
                    *pending = Pending::done(&answer);
                    self.size = self.size - before + pending.size();
                }
                Sending::Later => {}
                Sending::Stop => return,
            }
        }
    }

    /// The call that was sent under `id`.
    pub fn sent(&self, id: Number) -> Option<&str> {
        self.lines.iter().find_map(|line| match line {
            Pending::Call(waiting) if waiting.number == Some(id) => Some(waiting.call.as_str()),
            _ => None,
        })
    }

    /// The call that was sent under `id` was sent again under another number, or is to be sent again where there is none.
    pub fn renumber(&mut self, id: Number, again: Option<Number>) {
        for pending in &mut self.lines {
            if let Pending::Call(waiting) = pending
                && waiting.number == Some(id)
            {
                waiting.number = again;
            }
        }
    }

    /// Settles the first call that `is_it` says so of; gives the number that it was sent under, where it was.
    pub fn settle(
        &mut self,
        is_it: impl Fn(&str) -> bool,
        answer: impl FnOnce(&Waiting) -> String,
    ) -> Option<Option<Number>> {
        let is_it = |line: &&mut Pending| matches!(line, Pending::Call(waiting) if is_it(&waiting.call));
        let pending = self.lines.iter_mut().find(is_it)?;
        let before = pending.size();
        let mut id = None;
        if let Pending::Call(waiting) = &*pending {
            id = waiting.number;
            *pending = Pending::done(&answer(waiting));
        }
        self.size = self.size - before + pending.size();
        Some(id)
    }

    /// Settles every call that `is_it` says so of; says whether there was any.
    pub fn answer_all(&mut self, is_it: impl Fn(&Waiting) -> bool, answer: impl Fn(&Waiting) -> String) -> bool {
        let mut any = false;
        for pending in &mut self.lines {
            if let Pending::Call(waiting) = &*pending
                && is_it(waiting)
            {
                *pending = Pending::done(&answer(waiting));
                any = true;
            }
        }
        self.size = self.lines.iter().map(Pending::size).sum();
        any
    }

    /// Lets leave whatever is settled, in whichever order that became so.
    pub fn drain_any(&mut self, to: &mut Vec<u8>) {
        self.lines.retain_mut(|line| match line {
            Pending::Done(line) => {
                to.append(line);
                false
            }
            _ => true,
        });
        self.size = self.lines.iter().map(Pending::size).sum();
    }

    /// Lets leave what has nothing unsettled before it.
    pub fn drain(&mut self, to: &mut Vec<u8>) {
        while matches!(self.lines.front(), Some(Pending::Done(_))) {
            if let Some(Pending::Done(line)) = self.lines.pop_front() {
                self.size = self.size.saturating_sub(line.len());
                to.extend_from_slice(&line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_settled_first_waits_for_what_came_first() {
        let (mut queue, mut out) = (Queue::default(), Vec::new());
        queue.push(Pending::unsent(0, "a"));
        queue.push(Pending::done("passed"));
        queue.push(Pending::sent((0, 7), "b"));
        queue.answer((0, 7), |waiting| format!("{}!", waiting.call));
        queue.drain(&mut out);
        assert_eq!(out, b"");
        queue.send(|_| Sending::Sent((1, 8)));
        queue.answer((1, 8), |waiting| format!("{}?", waiting.call));
        queue.drain(&mut out);
        assert_eq!(out, b"a?\npassed\nb!\n");
        assert!(queue.is_empty() && queue.size == 0);
    }

    #[test]
    fn it_is_full_by_number_or_by_size() {
        let mut queue = Queue::default();
        queue.push(Pending::unsent(0, &"x".repeat(MUCH)));
        assert!(queue.is_full());
        queue.answer_all(|_| true, |_| String::new());
        queue.drain(&mut Vec::new());
        assert!(!queue.is_full());
        (0..MANY).for_each(|_| queue.push(Pending::Done(Vec::new())));
        assert!(queue.is_full());
    }
}
