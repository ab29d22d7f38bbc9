//! When a step is settled: told by events, never by a pause.
//!
//! A harness says when nothing of its own is under way, and how many frames it has exchanged with
//! whom; relay and agents count at their ends. Where all counts agree, nothing is on the way, and
//! only a timer can set anything off.

use std::time::{Duration, Instant};

use skep_relay::RelayHandle;
use skep_trace::{Settled, Text};

use super::Site;
use super::child::AgentState;
use super::shared::Shared;

/// How long a step may really take.
const STEP_BOUND: Duration = Duration::from_secs(100);

/// How long after the last sign of life a step ends whose expectations are met, although somebody
/// seems to be at work.
const SILENCE: Duration = Duration::from_secs(10);

/// A harness that does not tell is taken to be done after so long a silence.
const QUIET: Duration = Duration::from_secs(2);

/// What is left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Something is under way.
    Work,
    /// A timer runs; the first fires at this instant, if that is known.
    Timer(Option<Instant>),
    /// Nothing.
    Nothing,
}

impl Site {
    /// Waits until the step is settled, and says on what that rests.
    pub(super) async fn settled(
        &self,
        met: &mut dyn FnMut(&[skep_trace::Record]) -> bool,
    ) -> Settled {
        let bound = now() + STEP_BOUND;
        let (mut seen, mut all_met, mut heard) = (0, false, now());
        loop {
            let records = self.shared.len();
            if records != seen || seen == 0 {
                all_met = self.shared.with_records(met);
                (seen, heard) = (records, now());
            }
            if self.shared.full() {
                return Settled::Bound("the end of a flood".into());
            }
            let left = self.left();
            match left {
                Left::Nothing => return Settled::Drained,
                Left::Timer(_) if all_met => return Settled::Drained,
                Left::Timer(Some(due)) if due > bound => return bound_of(left),
                _ => {}
            }
            let silence = if self.harness.is_some() { QUIET } else { SILENCE };
            let until = if all_met { bound.min(heard + silence) } else { bound };
            if tokio::time::timeout_at(until.into(), self.shared.changed()).await.is_err() {
                return match all_met {
                    true => Settled::Quiet(millis(silence)),
                    false => bound_of(left),
                };
            }
        }
    }

    /// What is left to do, for everybody.
    pub(super) fn left(&self) -> Left {
        let relays = self.relays.iter().map(RelayHandle::timers).sum::<usize>();
        let mut left = if relays > 0 { Left::Timer(None) } else { Left::Nothing };
        for host in 0..self.shared.lanes() {
            left = both(left, of_harness(&self.shared, host));
        }
        self.shared.with_agents(|agents| {
            for agent in agents.iter().filter(|agent| !agent.ended()) {
                left = both(left, of_agent(agent));
            }
        });
        left
    }
}

pub(super) fn of_harness(shared: &Shared, host: usize) -> Left {
    shared.with_lane(host, |lane| {
        let life = lane.life();
        let Some(running) = &lane.running else { return Left::Nothing };
        if running.paused {
            return Left::Nothing;
        }
        let Some((status, at)) = running.at_rest() else { return Left::Work };
        let same = shared.with_agents(|agents| {
            let mut alive = agents.iter().filter(|agent| agent.harness == life && !agent.ended());
            match &status.agent {
                Some(theirs) => alive.any(|agent| {
                    Some(agent.pid) == theirs.pid
                        && !agent.closed
                        && (agent.received, agent.sent) == (theirs.written, theirs.read)
                }),
                None => alive.next().is_none(),
            }
        });
        match (same, status.timers) {
            (false, _) => Left::Work,
            (true, 0) => Left::Nothing,
            (true, _) => {
                Left::Timer(status.next_timer_ms.map(|ms| *at + Duration::from_millis(ms)))
            }
        }
    })
}

fn of_agent(agent: &AgentState) -> Left {
    match (agent.quiet, agent.due) {
        (false, _) => Left::Work,
        (true, Some(due)) => Left::Timer(Some(due)),
        (true, None) => Left::Nothing,
    }
}

fn both(one: Left, other: Left) -> Left {
    match (one, other) {
        (Left::Work, _) | (_, Left::Work) => Left::Work,
        (Left::Nothing, left) | (left, Left::Nothing) => left,
        (Left::Timer(Some(one)), Left::Timer(Some(other))) => Left::Timer(Some(one.min(other))),
        (Left::Timer(_), Left::Timer(_)) => Left::Timer(None),
    }
}

fn bound_of(left: Left) -> Settled {
    let awaited: Text = match left {
        Left::Work => "the harness or its agent to come to rest".into(),
        Left::Timer(_) | Left::Nothing => "the step's expectations".into(),
    };
    Settled::Bound(awaited)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "the live world is where real time enters")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_outweighs_timers_and_the_first_timer_counts() {
        let (soon, late) = (now(), now() + Duration::from_secs(1));
        let timer = |at| Left::Timer(Some(at));
        assert_eq!(both(timer(soon), Left::Work), Left::Work);
        assert_eq!(both(timer(late), timer(soon)), timer(soon));
        assert_eq!(both(Left::Nothing, timer(late)), timer(late));
        assert_eq!(both(timer(soon), Left::Timer(None)), Left::Timer(None));
        assert_eq!(both(Left::Nothing, Left::Nothing), Left::Nothing);
    }
}
