//! What becomes of a turn that did not end well: tried again, or given up aloud (H-6, H-80).

use skep_trace::{Note, SharedEvent};

use crate::effect::Out;
use crate::harness::Harness;
use crate::turn::Turn;

/// How long the first new attempt waits, in milliseconds; each further one twice as long.
const RETRY_MS: u64 = 5_000;

/// The longest wait between two attempts.
const RETRY_CAP_MS: u64 = 300_000;

/// At this failure in a row the messages are given up. Ten attempts span half an hour.
const GIVE_UP_AT: u32 = 11;

/// How a turn failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Another attempt may do better; the failures in a row are bounded.
    Counted,
    /// Nobody answered the load of its session. That is no fault of the messages, so they are
    /// kept for as long as the policy keeps the session (H-6).
    Unanswered,
    /// Another attempt would fail the same way.
    Final,
}

/// How long a batch waits after so many failures in a row.
fn backoff_ms(failures: u32) -> u64 {
    (RETRY_MS << failures.saturating_sub(1).min(8)).min(RETRY_CAP_MS)
}

impl Harness {
    /// The turn failed: its messages are tried again later, or given up.
    pub(crate) fn fail_turn(&mut self, why: &str, failure: Failure, out: &mut Out<'_>) {
        let Some(mut turn) = self.end_stage(out) else { return };
        turn.batch.failures += 1;
        let failures = turn.batch.failures;
        self.close_leftover(turn.leftover.take(), out);
        let spent = failure == Failure::Counted && failures >= GIVE_UP_AT;
        if spent || failure == Failure::Final {
            return self.give_up(&turn, why, out);
        }
        let messages = turn.batch.ids();
        if messages.is_empty() {
            // A heartbeat that failed: the next one comes anyway.
            return out.log(|| format!("heartbeat failed: {why}"));
        }
        let wait_ms = backoff_ms(failures);
        out.log(|| format!("requeueing in {wait_ms} ms, attempt {failures} failed: {why}"));
        out.note(Note::TurnFailed { messages, retryable: true, why: why.into() });
        self.inbox.put_back(turn.batch, out.now_ms + wait_ms);
    }

    /// The turn starts over as soon as it can, with no failure to its name: what stood in its way
    /// was its session, and that is gone.
    pub(crate) fn retry_fresh(&mut self, out: &mut Out<'_>) {
        if let Some(why) = self.turn.as_ref().and_then(|turn| turn.dropped) {
            return self.drop_turn(why, out);
        }
        let Some(mut turn) = self.end_stage(out) else { return };
        self.close_leftover(turn.leftover.take(), out);
        if !turn.batch.messages.is_empty() {
            self.inbox.put_back(turn.batch, out.now_ms);
        }
    }

    /// The messages are given up, and their authors are told.
    fn give_up(&mut self, turn: &Turn, why: &str, out: &mut Out<'_>) {
        let messages = turn.batch.ids();
        if messages.is_empty() {
            return;
        }
        out.log(|| format!("giving up after {} attempt(s): {why}", turn.batch.failures));
        out.note(Note::TurnFailed { messages, retryable: false, why: why.into() });
        self.unreact(&turn.batch.messages, out);
        let events: Vec<SharedEvent> =
            turn.batch.messages.iter().map(|message| message.event.clone()).collect();
        self.announce_loss(&events, why, out);
    }

    /// Somebody wanted the turn to end: its messages are done with. One that never reached the
    /// agent is announced as lost all the same.
    pub(crate) fn drop_turn(&mut self, why: &'static str, out: &mut Out<'_>) {
        let running = self.turn.as_ref().is_some_and(Turn::is_running);
        let Some(mut turn) = self.end_stage(out) else { return };
        self.store_again(&turn, out);
        self.close_leftover(turn.leftover.take(), out);
        if turn.batch.messages.is_empty() {
            return;
        }
        out.log(|| format!("turn dropped: {why}"));
        if running {
            let messages = turn.batch.ids();
            out.note(Note::TurnFailed { messages, retryable: false, why: why.into() });
            self.unreact(&turn.batch.messages, out);
        } else {
            self.give_up(&turn, why, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_come_ever_later_up_to_five_minutes() {
        let waits: Vec<u64> = (1..=8).map(|failures| backoff_ms(failures) / 1_000).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 300, 300]);
    }
}
