//! Of all schedules that go wrong in one way, the one that is easiest to follow.
//!
//! Schedules are tried in the order of how often a process is left for another though it could go
//! on. Of those that go wrong with the fewest such switches the one with the fewest steps is taken,
//! and of those the one that switches first. A crash is looked for at each point of each of them,
//! earliest first, and of the disks that are wrong then the one that lost least is taken.

use super::judge::{Outcome, judge};
use super::question::{Extent, Question};
use super::walk::{Next, Turns, ending, left, ready};
use crate::sim::{Choose, Doubt, Every};
use crate::suite::case::MOST_DISKS;
use crate::suite::commute::commute;
use crate::suite::course::Course;
use crate::suite::sim_ground::nameless;
use crate::suite::{Failure, Host, LocalHost, SimGround, Subject};
use crate::volume::Op;

/// Nothing that was ever found needs more.
const MOST_PREEMPTIONS: u32 = 3;

/// A doubt of a power cut that did not all reach the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// What it is about.
    pub what: String,
    /// What became of it.
    pub way: String,
}

/// A schedule that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortest {
    /// What happened, in order: the place of the process, and the step that it took; `None` is a
    /// kill.
    pub steps: Vec<(usize, Option<Op>)>,
    /// The power was cut then, with this left.
    pub cut: Option<Vec<Chosen>>,
}

impl Shortest {
    /// What makes one harder to follow than another with as many switches: more steps, a later
    /// first switch, another process than the first that begins.
    fn effort(&self) -> (usize, usize, usize) {
        let first = self.steps.first().map_or(0, |(at, _)| *at);
        let alone = self.steps.iter().take_while(|(at, _)| *at == first).count();
        (self.steps.len(), alone, first)
    }
}

/// The schedule of a question that comes to an outcome with the fewest switches; `None`: there is
/// none with at most three.
///
/// # Errors
/// When the store hangs where nothing holds it up.
pub fn shortest<S: Subject>(
    subject: &S,
    question: &Question,
    outcome: Outcome,
) -> Result<Option<Shortest>, Failure> {
    for preemptions in 0..=MOST_PREEMPTIONS {
        let bounded = Question { extent: Extent::Preemptions(preemptions), ..question.clone() };
        let mut search = Search { host: ready(subject, &bounded)?, question: &bounded, outcome };
        if let Some(found) = search.first()? {
            return Ok(Some(found));
        }
        if bounded.ops.len() == 1 {
            break;
        }
    }
    Ok(None)
}

struct Search<'a, S: Subject> {
    host: LocalHost<S, SimGround>,
    question: &'a Question,
    outcome: Outcome,
}

impl<S: Subject> Search<'_, S> {
    fn first(&mut self) -> Result<Option<Shortest>, Failure> {
        let mut every = Every::new();
        let mut best: Option<Shortest> = None;
        while every.next_round() {
            self.host.back();
            if let Some(found) = self.schedule(&mut every)?
                && best.as_ref().is_none_or(|best| found.effort() < best.effort())
            {
                best = Some(found);
            }
        }
        Ok(best)
    }

    fn schedule(&mut self, every: &mut Every) -> Result<Option<Shortest>, Failure> {
        let mut course = Course::begin(&mut self.host, self.question.ops.iter(), commute)?;
        let mut turns = Turns::new(self.question, every);
        let mut steps = Vec::new();
        while course.goes_on() {
            let Some(next) = turns.next(&mut course) else { return Ok(None) };
            steps.push(match next {
                Next::Step(at) => (at, Some(course.before(at))),
                Next::Kill(at) => (at, None),
            });
            if next.take(&mut self.host, &mut course)
                && self.question.cuts
                && let Some(cut) = self.crash(&course)?
            {
                return Ok(Some(Shortest { steps, cut: Some(cut) }));
            }
        }
        let is_it = ending(&mut self.host, self.question, &course) == self.outcome;
        Ok(is_it.then_some(Shortest { steps, cut: None }))
    }

    /// The disk of a power cut here that is wrong and lost least.
    fn crash(&mut self, course: &Course) -> Result<Option<Vec<Chosen>>, Failure> {
        let (question, outcome, fates) = (self.question, self.outcome, course.fates());
        let mut wrong: Vec<Vec<usize>> = Vec::new();
        self.host.power_losses(MOST_DISKS, &mut |host, ways| {
            if judge(question.given, &question.ops, &fates, left(host).as_ref()) == outcome {
                wrong.push(ways.to_vec());
            }
            Ok(())
        })?;
        let Some(ways) =
            wrong.into_iter().max_by_key(|ways| (ways.iter().sum::<usize>(), ways.len()))
        else {
            return Ok(None);
        };
        let mut scribe = Scribe { ways: ways.into_iter(), chosen: Vec::new() };
        self.host.power_loss(&mut scribe)?;
        Ok(Some(scribe.chosen))
    }
}

/// Makes choices that were made before, and puts what was lost into words.
struct Scribe {
    ways: std::vec::IntoIter<usize>,
    chosen: Vec<Chosen>,
}

impl Choose for Scribe {
    fn choose(&mut self, _: usize) -> usize {
        self.ways.next().expect("the same disk has the same doubts")
    }

    fn choose_of(&mut self, ways: usize, doubt: &dyn Fn() -> Doubt) -> usize {
        let way = self.choose(ways);
        if way + 1 < ways {
            let Doubt { what, ways } = doubt();
            self.chosen.push(Chosen { what: nameless(&what), way: ways[way].clone() });
        }
        way
    }
}
