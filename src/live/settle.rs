//! When a step is settled: told by events, never by a pause.
//!
//! A harness says when nothing of its own is under way, and how many frames it has exchanged with
//! whom; relay and agents count at their ends. Where all counts agree, nothing is on the way, and
//! only a timer can set anything off.

use std::time::{Duration, Instant};

use skep_relay::RelayHandle;
use skep_trace::{Settled, Text};
use skep_world::Outlook;

use super::Site;
use super::child::AgentState;
use super::shared::Shared;
use super::standing::{Standing, Stands, stirs};

/// How long a step may really take.
const STEP_BOUND: Duration = Duration::from_secs(100);

/// A line that tells of the end of a turn may be written a moment before the last of what belongs to
/// it, such as the store's own write, which leaves no other sign. So long must nothing follow it.
const LINGER: Duration = Duration::from_millis(250);

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

/// What a step has come to so far.
struct Progress {
    /// How many records there are.
    seen: usize,
    /// What the expectations have come to.
    outlook: Outlook,
    /// The last sign of life.
    heard: Instant,
    /// The last record of any kind.
    last: Instant,
}

impl Site {
    /// Waits until the step is settled, and says on what that rests.
    pub(super) async fn settled(
        &mut self,
        outlook: &mut dyn FnMut(&[skep_trace::Record]) -> Outlook,
    ) -> Settled {
        let bound = now() + STEP_BOUND;
        let mut progress = Progress { seen: 0, outlook: Outlook::Open, heard: now(), last: now() };
        loop {
            self.look(&mut progress, outlook);
            if self.shared.full() {
                return Settled::Bound("the end of a flood".into());
            }
            let left = self.left();
            let over = matches!(left, Left::Timer(_)) && progress.outlook == Outlook::Met;
            let lingers = Some(progress.last + LINGER).filter(|_| over && !self.reports());
            match left {
                Left::Nothing => return self.drained(),
                _ if over && lingers.is_none_or(|until| now() >= until) => return self.drained(),
                Left::Timer(Some(due)) if due > bound => return bound_of(left),
                _ => {}
            }
            let silence = self.silence(progress.outlook);
            let until = silence.map_or(bound, |silence| bound.min(progress.heard + silence));
            let look = lingers.map_or(until, |lingers| lingers.min(until));
            let silent = tokio::time::timeout_at(look.into(), self.shared.changed()).await.is_err();
            if silent && look == until {
                return match silence.filter(|_| until < bound || progress.outlook == Outlook::Met) {
                    Some(silence) => Settled::Quiet(millis(silence)),
                    None => bound_of(left),
                };
            }
        }
    }

    /// Reads what happened since.
    fn look(
        &mut self,
        progress: &mut Progress,
        outlook: &mut dyn FnMut(&[skep_trace::Record]) -> Outlook,
    ) {
        let records = self.shared.len();
        if records == progress.seen && records > 0 {
            return;
        }
        let reports = self.reports();
        let mut stirred = false;
        self.shared.with_records(&mut |all| {
            let news = &all[progress.seen.min(all.len())..];
            stirred = reports || news.iter().any(|record| stirs(&record.what));
            true
        });
        self.shared.with_records(&mut |all| {
            progress.outlook = outlook(all);
            true
        });
        // While the relay is away the harness can do nothing about it.
        let away = self.relays.iter().any(|relay| relay.timers() > 0);
        if stirred || away {
            progress.heard = now();
        }
        progress.seen = records;
        progress.last = now();
        self.read_on();
    }

    /// Brings what is known of each harness up to date.
    fn read_on(&mut self) {
        let Self { shared, stage, tested, standings, read, .. } = self;
        shared.with_records(&mut |records| {
            for record in &records[*read..] {
                for (standing, player) in standings.iter_mut().zip(&stage.players) {
                    standing.see(&player.name, &tested.profile.settles, record);
                }
            }
            *read = records.len();
            true
        });
    }

    /// The harness reports when nothing is under way.
    pub(super) fn reports(&self) -> bool {
        self.tested.profile.settles.reports
    }

    /// After how long a silence the step is over. With a harness that reports, one whose
    /// expectations are not met has no such end: what is under way is known.
    fn silence(&self, outlook: Outlook) -> Option<Duration> {
        let profile = &self.tested.profile;
        match (outlook, self.reports()) {
            (Outlook::Met, _) | (Outlook::Lost, false) => {
                Some(Duration::from_millis(profile.settles.quiet_ms))
            }
            (_, true) => None,
            (Outlook::Open, false) => {
                let asked = self.standings.iter().any(Standing::asks);
                Some(Duration::from_millis(profile.waits.patience_ms(asked, self.deaf())))
            }
        }
    }

    /// Nothing is left to do: the harness itself said so, or the profile's event did.
    fn drained(&self) -> Settled {
        let told = self.standings.iter().rev().find_map(|standing| match standing.stands() {
            Stands::Done(line) => Some(line),
            _ => None,
        });
        match told.filter(|_| !self.reports()) {
            Some(line) => Settled::Event(line),
            None => Settled::Drained,
        }
    }

    /// A harness that runs has no connection to its relay.
    fn deaf(&self) -> bool {
        let deaf = |lane: &mut super::lane::Lane| {
            lane.running.as_ref().is_some_and(|running| running.talk.open.is_none())
        };
        (0..self.shared.lanes()).any(|host| self.shared.with_lane(host, deaf))
    }

    fn of_harness(&self, host: usize) -> Left {
        if self.reports() {
            return of_harness(&self.shared, host);
        }
        let idle = |lane: &mut super::lane::Lane| {
            lane.running.as_ref().is_none_or(|running| running.paused)
        };
        if self.shared.with_lane(host, idle) {
            return Left::Nothing;
        }
        match self.standings[host].stands() {
            // What it does by itself later, nobody knows.
            Stands::Done(_) | Stands::Retries(_) => Left::Timer(None),
            Stands::Unknown => Left::Work,
        }
    }

    /// What is left to do, for everybody.
    pub(super) fn left(&self) -> Left {
        let relays = self.relays.iter().map(RelayHandle::timers).sum::<usize>();
        let mut left = if relays > 0 { Left::Timer(None) } else { Left::Nothing };
        for host in 0..self.shared.lanes() {
            left = both(left, self.of_harness(host));
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
