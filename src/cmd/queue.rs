//! What waits for its turn to leave: answers come in the order of the lines that they answer.

use std::collections::VecDeque;

/// So much waits at most before no more is read.
const MANY: usize = 1024;
const MUCH: usize = 8 << 20;

/// A line that came, until what is said to it has left.
pub enum Pending {
    /// A call that isn't sent yet: the other side hasn't greeted, or works on as many as it may.
    Unsent(String),
    /// A call that the other side works on, under our number.
    Sent(u64, String),
    /// What is to leave, with its line feed.
    Done(Vec<u8>),
}

impl Pending {
    fn size(&self) -> usize {
        match self {
            Pending::Unsent(call) | Pending::Sent(_, call) => call.len(),
            Pending::Done(line) => line.len(),
        }
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
    pub fn answer(&mut self, id: u64, answer: impl FnOnce(&str) -> String) {
        let sent = self.lines.iter_mut().find(|line| matches!(line, Pending::Sent(sent, _) if *sent == id));
        if let Some(pending) = sent {
            self.size -= pending.size();
            if let Pending::Sent(_, call) = &*pending {
                *pending = Pending::Done(format!("{}\n", answer(call)).into_bytes());
            }
            self.size += pending.size();
        }
    }

    /// Sends what hasn't been yet, as long as `send` takes it: it gives the number that a call is sent under, or the answer to
    /// one that isn't sent, or nothing where no more can be sent for now.
    pub fn send(&mut self, mut send: impl FnMut(&str) -> Option<Result<u64, String>>) {
        for pending in &mut self.lines {
            let Pending::Unsent(call) = pending else { continue };
            let before = call.len();
            match send(call) {
                Some(Ok(id)) => *pending = Pending::Sent(id, std::mem::take(call)),
                Some(Err(answer)) => *pending = Pending::Done(format!("{answer}\n").into_bytes()),
                None => return,
            }
            self.size = self.size - before + pending.size();
        }
    }

    /// The call that was sent under `id`.
    pub fn sent(&self, id: u64) -> Option<&str> {
        self.lines.iter().find_map(|line| match line {
            Pending::Sent(sent, call) if *sent == id => Some(call.as_str()),
            _ => None,
        })
    }

    /// The call that was sent under `id` was sent again under another number.
    pub fn renumber(&mut self, id: u64, again: u64) {
        for pending in &mut self.lines {
            if let Pending::Sent(sent, _) = pending
                && *sent == id
            {
                *sent = again;
            }
        }
    }

    /// Takes back what was sent under `id`: it is to be sent again.
    pub fn unsend(&mut self, id: u64) {
        for pending in &mut self.lines {
            if let Pending::Sent(sent, call) = pending
                && *sent == id
            {
                *pending = Pending::Unsent(std::mem::take(call));
            }
        }
    }

    /// Settles the first call that `is_it` says so of; gives the number that it was sent under, where it was.
    pub fn settle(&mut self, is_it: impl Fn(&str) -> bool, answer: impl FnOnce(&str) -> String) -> Option<Option<u64>> {
        let pending = self.lines.iter_mut().find(|line| match line {
            Pending::Unsent(call) | Pending::Sent(_, call) => is_it(call),
            Pending::Done(_) => false,
        })?;
        let (before, id) = (pending.size(), if let Pending::Sent(id, _) = pending { Some(*id) } else { None });
        if let Pending::Unsent(call) | Pending::Sent(_, call) = &*pending {
            *pending = Pending::Done(format!("{}\n", answer(call)).into_bytes());
        }
        self.size = self.size - before + pending.size();
        Some(id)
    }

    /// Settles every call; says whether there was any.
    pub fn answer_all(&mut self, answer: impl Fn(&str) -> String) -> bool {
        let mut any = false;
        for pending in &mut self.lines {
            if let Pending::Unsent(call) | Pending::Sent(_, call) = &*pending {
                *pending = Pending::Done(format!("{}\n", answer(call)).into_bytes());
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
        queue.push(Pending::Unsent("a".to_owned()));
        queue.push(Pending::Done(b"passed\n".to_vec()));
        queue.push(Pending::Sent(7, "b".to_owned()));
        queue.answer(7, |call| format!("{call}!"));
        queue.drain(&mut out);
        assert_eq!(out, b"");
        queue.send(|_| Some(Ok(8)));
        queue.answer(8, |call| format!("{call}?"));
        queue.drain(&mut out);
        assert_eq!(out, b"a?\npassed\nb!\n");
        assert!(queue.is_empty() && queue.size == 0);
    }

    #[test]
    fn it_is_full_by_number_or_by_size() {
        let mut queue = Queue::default();
        queue.push(Pending::Unsent("x".repeat(MUCH)));
        assert!(queue.is_full());
        queue.answer_all(|_| String::new());
        queue.drain(&mut Vec::new());
        assert!(!queue.is_full());
        (0..MANY).for_each(|_| queue.push(Pending::Done(Vec::new())));
        assert!(queue.is_full());
    }
}
