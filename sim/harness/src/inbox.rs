//! The messages that wait for a turn, per scope (H-55, H-80).

use std::collections::{BTreeMap, VecDeque};

use skep_trace::{Hex32, SharedEvent};

use crate::scope::Scope;

/// How many messages of one channel may wait, all its threads together (H-61). What comes on top
/// is refused aloud.
pub(crate) const BACKLOG: usize = 512;

/// How many messages go into one prompt; a longer queue takes several turns, so that one prompt
/// stays well under any line limit.
const BATCH: usize = 32;

/// A message that waits.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: Hex32,
    pub(crate) event: SharedEvent,
    /// Its place among all that ever came: who came first is served first.
    order: u64,
}

/// The messages of one scope.
#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Message>,
    /// How often the message at the front has failed in a row.
    failures: u32,
    /// It is not tried again before this instant.
    not_before_ms: u64,
}

/// Messages that are taken out for one turn.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) scope: Scope,
    pub(crate) messages: Vec<Message>,
    pub(crate) failures: u32,
}

impl Batch {
    pub(crate) fn ids(&self) -> Vec<Hex32> {
        self.messages.iter().map(|message| message.id).collect()
    }
}

/// All messages that wait.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    queues: BTreeMap<Scope, Queue>,
    arrived: u64,
}

impl Inbox {
    /// Takes a message in; gives it back where the channel's backlog is full.
    pub(crate) fn push(&mut self, scope: Scope, event: SharedEvent) -> Result<(), SharedEvent> {
        if self.backlog(&scope) >= BACKLOG {
            return Err(event);
        }
        self.arrived += 1;
        let message = Message { id: event.id(), event, order: self.arrived };
        self.queues.entry(scope).or_default().messages.push_back(message);
        Ok(())
    }

    fn backlog(&self, scope: &Scope) -> usize {
        let channel = scope.channel();
        let same = self.queues.iter().filter(|(other, _)| other.channel() == channel);
        same.map(|(_, queue)| queue.messages.len()).sum()
    }

    /// Takes the batch whose turn it is: of the scopes that may run now, the one that has waited
    /// longest. Within it, messages stand as their authors dated them.
    pub(crate) fn take(&mut self, now_ms: u64) -> Option<Batch> {
        let front = |queue: &Queue| queue.messages.front().map(|message| message.order);
        let runnable = self.queues.iter().filter(|(_, queue)| queue.not_before_ms <= now_ms);
        let (scope, _) = runnable.min_by_key(|(_, queue)| front(queue))?;
        let scope = scope.clone();
        let queue = self.queues.get_mut(&scope).expect("the scope was just found");
        let failures = queue.failures;
        let count = queue.messages.len().min(BATCH);
        let mut messages: Vec<_> = queue.messages.drain(..count).collect();
        messages.sort_by_key(|message| (message.event.created_at, message.order));
        if queue.messages.is_empty() {
            self.queues.remove(&scope);
        } else {
            queue.failures = 0;
        }
        Some(Batch { scope, messages, failures })
    }

    /// Puts a batch back in front of its scope's queue, not to be tried before an instant.
    pub(crate) fn put_back(&mut self, batch: Batch, not_before_ms: u64) {
        let queue = self.queues.entry(batch.scope).or_default();
        queue.failures = batch.failures;
        queue.not_before_ms = not_before_ms;
        for message in batch.messages.into_iter().rev() {
            queue.messages.push_front(message);
        }
    }

    /// Lets a scope run at once: what it waited for has changed.
    pub(crate) fn hurry(&mut self, scope: &Scope) {
        if let Some(queue) = self.queues.get_mut(scope) {
            queue.not_before_ms = 0;
        }
    }

    /// Drops what waits in the scopes that fit, and says which messages that were.
    pub(crate) fn drop_where(&mut self, fits: impl Fn(&Scope) -> bool) -> Vec<Message> {
        let mut dropped = Vec::new();
        self.queues.retain(|scope, queue| {
            let drop = fits(scope);
            if drop {
                dropped.extend(queue.messages.drain(..));
            }
            !drop
        });
        dropped
    }

    /// When the next scope may be tried again.
    pub(crate) fn next_due_ms(&self) -> Option<u64> {
        self.queues.values().map(|queue| queue.not_before_ms).min()
    }

    /// The scopes in which messages wait.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.queues.keys()
    }

    /// The ids of all messages that wait.
    pub(crate) fn held(&self) -> impl Iterator<Item = Hex32> {
        self.queues.values().flat_map(|queue| queue.messages.iter().map(|message| message.id))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skep_store::Key;
    use skep_trace::NostrEvent;

    use super::*;

    fn scope(channel: &str, root: u8) -> Scope {
        Scope::Talk(Key { channel: channel.into(), root: Some(Hex32([root; 32])) })
    }

    fn event(created_at: u64, text: &str) -> SharedEvent {
        Arc::new(NostrEvent::new(Hex32::default(), created_at, 9, Vec::new(), text.into()))
    }

    fn texts(batch: &Batch) -> Vec<&str> {
        batch.messages.iter().map(|message| &*message.event.content).collect()
    }

    #[test]
    fn the_scope_that_waited_longest_comes_first() {
        let mut inbox = Inbox::default();
        inbox.push(scope("b", 1), event(1, "first")).unwrap();
        inbox.push(scope("a", 1), event(1, "second")).unwrap();
        inbox.push(scope("b", 1), event(1, "third")).unwrap();
        assert_eq!(texts(&inbox.take(0).unwrap()), ["first", "third"]);
        assert_eq!(texts(&inbox.take(0).unwrap()), ["second"]);
        assert!(inbox.take(0).is_none());
    }

    #[test]
    fn a_batch_that_is_put_back_waits_and_keeps_its_place() {
        let mut inbox = Inbox::default();
        inbox.push(scope("a", 1), event(1, "old")).unwrap();
        let mut batch = inbox.take(0).unwrap();
        batch.failures += 1;
        inbox.push(scope("a", 1), event(1, "new")).unwrap();
        inbox.put_back(batch, 100);
        assert!(inbox.take(99).is_none());
        assert_eq!(inbox.next_due_ms(), Some(100));
        let batch = inbox.take(100).unwrap();
        assert_eq!((texts(&batch), batch.failures), (vec!["old", "new"], 1));
    }

    #[test]
    fn the_backlog_bounds_all_threads_of_a_channel_together() {
        let mut inbox = Inbox::default();
        for number in 0..BACKLOG {
            inbox.push(scope("a", number as u8), event(number as u64, "m")).unwrap();
        }
        assert!(inbox.push(scope("a", 0), event(0, "one more")).is_err());
        assert!(inbox.push(scope("b", 0), event(0, "elsewhere")).is_ok());
    }
}
