//! Several operations at once, in every order that their volume operations can have.
//!
//! An own depth-first scheduler, and no library for it: what is explored are futures that stop
//! before each volume operation, so a schedule is a list of choices and a run takes microseconds.
//! Checkers for threads schedule locks and atomics, of which there are none here.
//!
//! Two neighbours that cannot affect each other are tried in one order only (sleep sets: what was
//! tried first at a fork need not be tried again in its siblings until something happens that
//! matters to it). See [`commute`].
//!
//! An operation that waits for a lock is left alone until another one gave a lock back or ended:
//! until then it would only find the lock taken again. How long it may wait is S-12's business.

use std::collections::BTreeMap;

use super::case::{Case, Listing, NOW, violated};
use super::commute::commute;
use super::host::{Failure, Host, Process, Step};
use crate::ops::{Lookup, StoreAnswer, StoreOp};
use crate::sim::{Choose, Every, Seeded};
use crate::volume::Op;

/// A question that has more schedules than this is not asked to its end, and its evidence says so.
const MOST_SCHEDULES: u64 = 300_000;

/// Receipts and operations that meet.
pub(super) struct Meeting<'a> {
    /// What is there before: channel and session.
    pub(super) given: &'a [(&'a str, &'a str)],
    /// What happens at once, each in a process of its own.
    pub(super) ops: &'a [StoreOp],
}

/// One operation of a meeting on its way.
struct Guest {
    process: Process,
    /// The volume operation that its next step does.
    before: Op,
    /// It waits for a lock that nobody has given back since.
    waits: bool,
    /// Going on with it now was tried at an earlier fork, and nothing happened since that makes a
    /// difference to it.
    spared: bool,
    /// The steps, counted over all guests, of its first act and of its end.
    began: usize,
    answer: Option<(usize, StoreAnswer)>,
}

/// One schedule's course.
struct Course {
    guests: Vec<Guest>,
    /// Who did what, in order.
    acts: Vec<(usize, Op)>,
}

/// Tries every schedule (or as many as the host wants) and demands of each that the answers and
/// the final receipts are those of the operations one after the other, in an order in which no
/// operation comes before one that had ended when it began. Says how many schedules there were.
pub(super) fn every_schedule<H: Host>(host: &mut H, meeting: &Meeting<'_>) -> Result<u64, Failure> {
    if let Some(most) = host.schedules() {
        return some_schedules(host, meeting, most);
    }
    host.given(meeting.given)?;
    host.keep();
    let mut every = Every::new();
    let mut schedules = 0;
    while schedules < MOST_SCHEDULES && every.next_round() {
        if one(host, meeting, &mut every, true)? {
            schedules += 1;
        }
    }
    Ok(schedules)
}

/// Tries so many schedules that seeds choose.
pub(super) fn some_schedules<H: Host>(
    host: &mut H,
    meeting: &Meeting<'_>,
    most: u64,
) -> Result<u64, Failure> {
    let most = host.schedules().unwrap_or(most).min(most);
    host.given(meeting.given)?;
    host.keep();
    for seed in 0..most {
        one(host, meeting, &mut Seeded::new(seed), false)?;
    }
    Ok(most)
}

/// One schedule; `false`: it would be another one over again.
fn one<H: Host>(
    host: &mut H,
    meeting: &Meeting<'_>,
    choice: &mut dyn Choose,
    prunes: bool,
) -> Result<bool, Failure> {
    if !host.back() {
        host.given(meeting.given)?;
    }
    let Some(course) = run(host, meeting, choice, prunes)? else { return Ok(false) };
    let after = sorted(host.listing().map_err(|failure| course.explain(meeting, failure))?);
    if explains(meeting, &course, &after) {
        return Ok(true);
    }
    violated(course.told(meeting, &after))
}

fn run<H: Host>(
    host: &mut H,
    meeting: &Meeting<'_>,
    choice: &mut dyn Choose,
    prunes: bool,
) -> Result<Option<Course>, Failure> {
    let mut course = Course { guests: Vec::new(), acts: Vec::new() };
    for _ in meeting.ops {
        // All are open before any begins: what one remembers from then is old when it acts.
        course.guests.push(Guest::new(host.opened()?));
    }
    for (guest, op) in course.guests.iter_mut().zip(meeting.ops) {
        host.begin(guest.process, op.clone(), NOW)?;
        guest.take(host.step(guest.process), 0);
    }
    while course.guests.iter().any(Guest::is_ready) {
        let Some(at) = course.pick(choice, prunes) else { return Ok(None) };
        course.act(host, at);
    }
    if course.guests.iter().any(|guest| guest.answer.is_none()) {
        return violated(format!("all wait for each other after {}", course.acts_told()));
    }
    Ok(Some(course))
}

impl Guest {
    fn new(process: Process) -> Self {
        let before = Op::Lstat;
        Self { process, before, waits: false, spared: false, began: usize::MAX, answer: None }
    }

    fn is_ready(&self) -> bool {
        self.answer.is_none() && !self.waits
    }

    fn take(&mut self, step: Step, now: usize) {
        match step {
            Step::Before(op) => {
                self.before = op;
                self.waits = matches!(op, Op::Wait(_));
            }
            Step::Done(answer) => self.answer = Some((now, answer)),
        }
    }
}

impl Course {
    /// Who goes next; `None`: everything that could go next was tried in another schedule.
    fn pick(&mut self, choice: &mut dyn Choose, prunes: bool) -> Option<usize> {
        let may_go = |guest: &Guest| guest.is_ready() && !(prunes && guest.spared);
        let ready: Vec<usize> =
            (0..self.guests.len()).filter(|at| may_go(&self.guests[*at])).collect();
        let way = match ready.len() {
            0 => return None,
            1 => 0,
            ways => choice.choose(ways),
        };
        for tried in &ready[..way] {
            self.guests[*tried].spared = true;
        }
        Some(ready[way])
    }

    fn act<H: Host>(&mut self, host: &mut H, at: usize) {
        let now = self.acts.len();
        let guest = &mut self.guests[at];
        let did = guest.before;
        guest.began = guest.began.min(now);
        guest.take(host.step(guest.process), now);
        let freed = guest.answer.is_some() || did == Op::Unlock;
        self.acts.push((at, did));
        for guest in &mut self.guests {
            guest.waits &= !freed;
            guest.spared &= commute(guest.before, did);
        }
    }

    /// Whether the order keeps to what had ended before another began.
    fn allows(&self, order: &[usize]) -> bool {
        let ended = |at: usize| self.guests[at].answer.as_ref().map_or(usize::MAX, |end| end.0);
        order.iter().enumerate().all(|(place, later)| {
            order[..place].iter().all(|earlier| ended(*later) >= self.guests[*earlier].began)
        })
    }

    fn acts_told(&self) -> String {
        let acts = self.acts.iter().map(|(at, op)| format!("{at}:{op:?}"));
        acts.collect::<Vec<_>>().join(" ")
    }

    fn explain(&self, meeting: &Meeting<'_>, failure: Failure) -> Failure {
        match failure {
            Failure::Violated(why) => {
                Failure::Violated(format!("{why}; {}", self.told(meeting, &Vec::new())))
            }
            other => other,
        }
    }

    fn told(&self, meeting: &Meeting<'_>, after: &Listing) -> String {
        let answers: Vec<_> = self.guests.iter().map(|guest| guest.answer.as_ref()).collect();
        format!(
            "no order of {:?} on {:?} explains the answers {answers:?} and the receipts {after:?}; \
             the operations went {}",
            meeting.ops,
            meeting.given,
            self.acts_told(),
        )
    }
}

fn explains(meeting: &Meeting<'_>, course: &Course, after: &Listing) -> bool {
    orders(meeting.ops.len()).iter().filter(|order| course.allows(order)).any(|order| {
        let mut model = Model::new(meeting.given);
        let as_answered = |at: &usize| {
            let answer = model.apply(&meeting.ops[*at]);
            course.guests[*at].answer.as_ref().is_some_and(|(_, seen)| *seen == answer)
        };
        order.iter().all(as_answered) && model.listing() == *after
    })
}

/// Every order of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let with_last = |order: Vec<usize>| {
        (0..=order.len()).map(move |at| [&order[..at], &[last], &order[at..]].concat())
    };
    orders(last).into_iter().flat_map(with_last).collect()
}

fn sorted(mut listing: Listing) -> Listing {
    listing.sort();
    listing
}

/// What a store is: channel and session. It knows no file, no lock and no second process.
struct Model {
    sessions: BTreeMap<String, String>,
}

impl Model {
    fn new(given: &[(&str, &str)]) -> Self {
        let own = |(channel, session): &(&str, &str)| (channel.to_string(), session.to_string());
        Self { sessions: given.iter().map(own).collect() }
    }

    fn apply(&mut self, op: &StoreOp) -> StoreAnswer {
        match op {
            StoreOp::Get { key, .. } => StoreAnswer::Got(match self.sessions.get(&*key.channel) {
                Some(session) => Lookup::Found { session: session.as_str().into() },
                None => Lookup::Absent,
            }),
            StoreOp::Put { key, session, .. } => {
                self.sessions.insert(key.channel.to_string(), session.to_string());
                StoreAnswer::Done
            }
            StoreOp::Remove { key } => {
                self.sessions.remove(&*key.channel);
                StoreAnswer::Done
            }
            StoreOp::RemoveIf { key, expected } => {
                let fits = self.sessions.get(&*key.channel).is_some_and(|id| **expected == **id);
                if fits {
                    self.sessions.remove(&*key.channel);
                }
                StoreAnswer::Removed(fits)
            }
            StoreOp::RemoveChannel { channel } => {
                self.sessions.remove(&**channel);
                StoreAnswer::Done
            }
        }
    }

    fn listing(&self) -> Listing {
        self.sessions.clone().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_once() {
        let mut orders = orders(3);
        orders.sort();
        assert_eq!(orders.len(), 6);
        orders.dedup();
        assert_eq!(orders.len(), 6);
    }
}
