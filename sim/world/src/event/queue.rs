//! The one queue of the event gear: what is due, in the order of time.
//!
//! Entries that are due at the same instant come out in the order in which they went in, so that
//! a pipe or a connection with a constant delay keeps its order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What an entry's firing means for "settled".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Something is under way: a step is not settled before it arrived.
    Work,
    /// A timer that may change what a check sees.
    Timer,
    /// A timer that never does: presence, typing, keepalive.
    Idle,
}

/// A place in the queue, to take an entry back by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    slot: u32,
    seq: u64,
}

/// A queue of values that are due at an instant.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    heap: BinaryHeap<Reverse<(u64, u64, u32)>>,
    slots: Vec<Option<(u64, Class, T)>>,
    free: Vec<u32>,
    next_seq: u64,
    counts: [usize; 3],
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self {
            heap: BinaryHeap::with_capacity(64),
            slots: Vec::with_capacity(64),
            free: Vec::new(),
            next_seq: 0,
            counts: [0; 3],
        }
    }

    /// Adds a value that is due at `due_ms`.
    pub(crate) fn push(&mut self, due_ms: u64, class: Class, value: T) -> Ticket {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.counts[class as usize] += 1;
        let entry = Some((seq, class, value));
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                u32::try_from(self.slots.len() - 1).expect("the queue is bounded by the trace")
            }
        };
        self.heap.push(Reverse((due_ms, seq, slot)));
        Ticket { slot, seq }
    }

    /// Takes an entry back; one that has fired already is gone, and that is no error.
    pub(crate) fn cancel(&mut self, ticket: Ticket) {
        let slot = &mut self.slots[ticket.slot as usize];
        if slot.as_ref().is_some_and(|(seq, ..)| *seq == ticket.seq)
            && let Some((_, class, _)) = slot.take()
        {
            self.counts[class as usize] -= 1;
        }
    }

    /// The next entry and the instant at which it is due.
    pub(crate) fn pop(&mut self) -> Option<(u64, T)> {
        loop {
            let Reverse((due_ms, _, slot)) = self.heap.pop()?;
            self.free.push(slot);
            if let Some((_, class, value)) = self.slots[slot as usize].take() {
                self.counts[class as usize] -= 1;
                return Some((due_ms, value));
            }
        }
    }

    /// When the next entry is due.
    pub(crate) fn next_due(&mut self) -> Option<u64> {
        loop {
            let Reverse((due_ms, _, slot)) = *self.heap.peek()?;
            if self.slots[slot as usize].is_some() {
                return Some(due_ms);
            }
            self.heap.pop();
            self.free.push(slot);
        }
    }

    /// How many entries of a class wait.
    pub(crate) fn count(&self, class: Class) -> usize {
        self.counts[class as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_time_order_and_equal_ones_in_theirs() {
        let mut queue = Queue::new();
        for (due, value) in [(5, 'c'), (1, 'a'), (1, 'b')] {
            queue.push(due, Class::Work, value);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(1, 'a'), (1, 'b'), (5, 'c')]);
    }

    #[test]
    fn a_cancelled_entry_is_neither_counted_nor_fired() {
        let mut queue = Queue::new();
        let ticket = queue.push(1, Class::Timer, 'a');
        queue.push(2, Class::Idle, 'b');
        queue.cancel(ticket);
        assert_eq!(queue.count(Class::Timer), 0);
        assert_eq!(queue.next_due(), Some(2));
        assert_eq!(queue.pop(), Some((2, 'b')));
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn a_ticket_of_a_fired_entry_never_cancels_its_slots_next_user() {
        let mut queue = Queue::new();
        let old = queue.push(1, Class::Timer, 'a');
        queue.pop();
        queue.push(2, Class::Timer, 'b');
        queue.cancel(old);
        assert_eq!(queue.count(Class::Timer), 1);
    }
}
