//! A bounded queue of waiting lines, in the order of their arrival.

use pipewright_record::OwnedCall;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The most items, and the most bytes, before reading pauses.
const MAX_ITEMS: usize = 1024;
const MAX_BYTES: usize = 8 << 20;

/// An item of the queue.
pub trait Queued {
    /// The call in it that has no answer yet.
    fn call(&self) -> Option<&OwnedCall>;
    /// Its approximate size in bytes.
    fn size(&self) -> usize;
}

/// The waiting items, oldest first.
#[derive(Debug)]
pub struct Queue<T> {
    items: VecDeque<T>,
    size: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue { items: VecDeque::new(), size: 0 }
    }
}

impl<T: Queued> Queue<T> {
    pub fn push(&mut self, item: T) {
        self.size += item.size();
        self.items.push_back(item);
    }

    pub fn first(&self) -> Option<&T> {
        self.items.front()
    }

    pub fn pop(&mut self) -> Option<T> {
        self.remove(0)
    }

    pub fn remove(&mut self, index: usize) -> Option<T> {
        let item = self.items.remove(index)?;
        self.size -= item.size();
        Some(item)
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether reading should pause.
    pub fn is_full(&self) -> bool {
        self.items.len() >= MAX_ITEMS || self.size >= MAX_BYTES
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// The index of the first unanswered call with this id (JSON text).
    pub fn position(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|item| item.call().is_some_and(|call| call.has_id(id)))
    }

    /// Passes each item from index `start` on to `change`, which may modify it, until `change` returns a break.
    pub fn change(&mut self, start: usize, mut change: impl FnMut(&mut T) -> ControlFlow<()>) {
        for item in self.items.range_mut(start.min(self.items.len())..) {
            let before = item.size();
            let flow = change(item);
            self.size = self.size - before + item.size();
            if flow.is_break() {
                return;
            }
        }
    }

    /// Removes the items for which `is_it` is true, in order, and passes them to `take`.
    pub fn take(&mut self, is_it: impl Fn(&T) -> bool, mut take: impl FnMut(T)) {
        for item in std::mem::take(&mut self.items) {
            if is_it(&item) {
                self.size -= item.size();
                take(item);
            } else {
                self.items.push_back(item);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes(usize);

    impl Queued for Bytes {
        fn call(&self) -> Option<&OwnedCall> {
            None
        }

        fn size(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn a_queue_is_full_by_number_or_by_size_until_an_item_leaves() {
        let mut queue = Queue::default();
        queue.push(Bytes(MAX_BYTES));
        assert!(queue.is_full() && queue.pop().is_some() && !queue.is_full());
        queue.push(Bytes(MAX_BYTES));
        queue.change(0, |bytes| {
            bytes.0 = 1;
            ControlFlow::Continue(())
        });
        assert!(!queue.is_full());
        (1..MAX_ITEMS).for_each(|_| queue.push(Bytes(1)));
        assert!(queue.is_full());
        queue.take(|_| true, drop);
        assert!(queue.is_empty() && queue.size == 0);
    }
}
