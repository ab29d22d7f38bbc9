//! Several operations at once, in every order that their volume operations can have.
//!
//! An own depth-first scheduler, and no library for it: see [`course`](super::course). Checkers
//! for threads schedule locks and atomics, of which there are none here.

use super::case::{Case, Listing, violated};
use super::commute::commute;
use super::course::Course;
use super::host::{Failure, Host};
use super::sequence::{Fate, Sequences};
use crate::ops::StoreOp;
use crate::sim::{Choose, Every, Seeded};

/// A question that has more schedules than this is not asked to its end, and its evidence says so.
const MOST_SCHEDULES: u64 = 300_000;

/// Receipts and operations that meet.
pub(super) struct Meeting<'a> {
    /// What is there before: channel and session.
    pub(super) given: &'a [(&'a str, &'a str)],
    /// What happens at once, each in a process of its own.
    pub(super) ops: &'a [StoreOp],
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
    let explain = |failure| match failure {
        Failure::Violated(why) => {
            Failure::Violated(format!("{why}; {}", told(&course, meeting, &Vec::new())))
        }
        other => other,
    };
    let after = sorted(host.listing().map_err(explain)?);
    if explains(meeting, &course.fates(), &after) {
        return Ok(true);
    }
    violated(told(&course, meeting, &after))
}

fn run<H: Host>(
    host: &mut H,
    meeting: &Meeting<'_>,
    choice: &mut dyn Choose,
    prunes: bool,
) -> Result<Option<Course>, Failure> {
    let mut course = Course::begin(host, meeting.ops.iter(), commute)?;
    while course.goes_on() {
        let ready = if prunes { course.unspared() } else { course.ready() };
        let way = match ready.len() {
            // Everything that could go next was tried in another schedule.
            0 => return Ok(None),
            1 => 0,
            ways => choice.choose(ways),
        };
        course.spare(&ready[..way]);
        course.act(host, ready[way]);
    }
    if course.is_stuck() {
        return violated(format!("all wait for each other after {}", course.told()));
    }
    Ok(Some(course))
}

fn told(course: &Course, meeting: &Meeting<'_>, after: &Listing) -> String {
    let answers: Vec<_> = course.fates().into_iter().map(|fate| fate.answer).collect();
    format!(
        "no order of {:?} on {:?} explains the answers {answers:?} and the receipts {after:?}; \
         the operations went {}",
        meeting.ops,
        meeting.given,
        course.told(),
    )
}

fn explains(meeting: &Meeting<'_>, fates: &[Fate], after: &Listing) -> bool {
    let sequences = Sequences { given: meeting.given, ops: meeting.ops.iter().collect() };
    let all: Vec<usize> = (0..meeting.ops.len()).collect();
    sequences.leave(&all, fates, true, after)
}

pub(super) fn sorted(mut listing: Listing) -> Listing {
    listing.sort();
    listing
}
