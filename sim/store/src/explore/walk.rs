//! One question to its end.

use super::judge::{Outcome, judge};
use super::question::{Extent, Question};
use crate::sim::{Choose, Every};
use crate::suite::case::{Case, Listing, MOST_DISKS};
use crate::suite::commute::{commute, commute_durably, leaves_a_mark};
use crate::suite::course::Course;
use crate::suite::{Failure, Host, LocalHost, SimGround, Subject};

/// No question has more schedules than this; one that had would not be complete, and say so.
const MOST_SCHEDULES: u64 = 300_000;

/// What was seen of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Schedules that were followed to their end.
    pub interleavings: u64,
    /// Every schedule within the question's extent was.
    pub complete: bool,
    /// Points at which everything stopped: after each step of a schedule that a power cut can tell
    /// from the one before it, counted once for all schedules that begin alike.
    pub crash_points: u64,
    /// Disks that were looked at after them.
    pub disks: u64,
    /// Schedules and disks by what became of the operations, in the order of
    /// [`Outcome::FAULTS`].
    pub faults: [u64; Outcome::FAULTS.len()],
}

impl Figures {
    /// How many schedules and disks came to this.
    pub fn of(&self, outcome: Outcome) -> u64 {
        let at = Outcome::FAULTS.iter().position(|fault| *fault == outcome);
        at.map_or(0, |at| self.faults[at])
    }

    /// Nothing went wrong.
    pub fn is_sound(&self) -> bool {
        self.faults.iter().all(|count| *count == 0)
    }

    fn count(&mut self, outcome: Outcome) {
        if let Some(at) = Outcome::FAULTS.iter().position(|fault| *fault == outcome) {
            self.faults[at] += 1;
        }
    }
}

/// Asks a store a question. `stop` ends it early; it is then not complete.
///
/// # Errors
/// When a store hangs where nothing holds it up.
pub fn walk<S: Subject>(
    subject: &S,
    question: &Question,
    stop: &dyn Fn() -> bool,
) -> Result<Figures, Failure> {
    let mut host = ready(subject, question)?;
    let mut figures = Figures::default();
    let mut every = Every::new();
    loop {
        if figures.interleavings >= MOST_SCHEDULES || stop() {
            return Ok(figures);
        }
        if !every.next_round() {
            figures.complete = true;
            return Ok(figures);
        }
        host.back();
        Walker { host: &mut host, question, figures: &mut figures }.schedule(&mut every)?;
    }
}

/// A host with a question's receipts on its disk, durably.
pub(super) fn ready<S: Subject>(
    subject: &S,
    question: &Question,
) -> Result<LocalHost<S, SimGround>, Failure> {
    let mut host = LocalHost::new(subject.clone(), SimGround::default());
    host.given(question.given)?;
    host.make_durable();
    host.keep();
    Ok(host)
}

/// What a new process lists, sorted; `None`: it cannot, or it is warned.
pub(super) fn left<H: Host>(host: &mut H) -> Option<Listing> {
    let mut listing = host.listing().ok()?;
    listing.sort();
    Some(listing)
}

struct Walker<'a, S: Subject> {
    host: &'a mut LocalHost<S, SimGround>,
    question: &'a Question,
    figures: &'a mut Figures,
}

impl<S: Subject> Walker<'_, S> {
    /// Follows one schedule; where everything that could go next was tried before, not to its end.
    fn schedule(&mut self, every: &mut Every) -> Result<(), Failure> {
        let commutes = if self.question.cuts { commute_durably } else { commute };
        let mut course = Course::begin(self.host, self.question.ops.iter(), commutes)?;
        let mut turns = Turns::new(self.question, every);
        if self.question.cuts && turns.is_new() {
            self.crash(&course)?;
        }
        while course.goes_on() {
            let Some(next) = turns.next(&mut course) else { return Ok(()) };
            if next.take(self.host, &mut course) && self.question.cuts && turns.is_new() {
                self.crash(&course)?;
            }
        }
        self.figures.interleavings += 1;
        let outcome = ending(self.host, self.question, &course);
        self.figures.count(outcome);
        Ok(())
    }

    /// Everything stops here, with power and without.
    fn crash(&mut self, course: &Course) -> Result<(), Failure> {
        self.figures.crash_points += 1;
        let (question, fates) = (self.question, course.fates());
        let mut seen = Vec::new();
        self.host.power_losses(MOST_DISKS, &mut |host, _| {
            seen.push(judge(question.given, &question.ops, &fates, left(host).as_ref()));
            Ok(())
        })?;
        self.figures.disks += seen.len() as u64;
        seen.into_iter().for_each(|outcome| self.figures.count(outcome));
        Ok(())
    }
}

/// What became of a schedule at its end.
pub(super) fn ending<H: Host>(host: &mut H, question: &Question, course: &Course) -> Outcome {
    if course.is_stuck() {
        return Outcome::Stuck;
    }
    judge(question.given, &question.ops, &course.fates(), left(host).as_ref())
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// One goes a step further.
    Step(usize),
    /// One is killed.
    Kill(usize),
}

impl Next {
    /// Lets it happen; says whether a power cut could show anything now that it could not before:
    /// after a step that only looks, and answers nothing, it could not.
    pub(super) fn take<H: Host>(self, host: &mut H, course: &mut Course) -> bool {
        match self {
            Self::Step(at) => {
                let (did, before) = (course.before(at), course.answered());
                course.act(host, at);
                leaves_a_mark(did) || course.answered() > before
            }
            Self::Kill(at) => {
                course.kill(host, at);
                true
            }
        }
    }
}

/// The choices of one schedule.
pub(super) struct Turns<'a> {
    every: &'a mut Every,
    extent: Extent,
    /// So many choices are those of the schedule before, but for the last of them.
    repeated: usize,
    made: usize,
    kills_left: u32,
    preemptions: u32,
    last: Option<usize>,
}

impl<'a> Turns<'a> {
    pub(super) fn new(question: &Question, every: &'a mut Every) -> Self {
        let repeated = every.repeated();
        let kills_left = u32::from(question.kills);
        let extent = question.extent;
        Self { every, extent, repeated, made: 0, kills_left, preemptions: 0, last: None }
    }

    /// No schedule before this one was where this one is now.
    fn is_new(&self) -> bool {
        self.made >= self.repeated
    }

    /// What happens next; `None`: everything that could was tried in another schedule.
    pub(super) fn next(&mut self, course: &mut Course) -> Option<Next> {
        let steps = match self.extent {
            Extent::Complete => course.unspared(),
            Extent::Preemptions(most) => self.within(most, course.ready()),
        };
        if steps.is_empty() {
            return None;
        }
        let kills = if self.kills_left > 0 { course.on_their_way() } else { Vec::new() };
        let way = self.choose(steps.len() + kills.len());
        if self.extent == Extent::Complete {
            course.spare(&steps[..way.min(steps.len())]);
        }
        Some(match steps.get(way) {
            Some(at) => self.step(*at, course),
            None => {
                self.kills_left -= 1;
                Next::Kill(kills[way - steps.len()])
            }
        })
    }

    fn step(&mut self, at: usize, course: &Course) -> Next {
        let leaves = self.last.is_some_and(|last| last != at && course.ready().contains(&last));
        self.preemptions += u32::from(leaves);
        self.last = Some(at);
        Next::Step(at)
    }

    /// Who may go next: the one that went last comes first, and alone when it may not be left.
    fn within(&self, most: u32, ready: Vec<usize>) -> Vec<usize> {
        let Some(last) = self.last.filter(|last| ready.contains(last)) else { return ready };
        let others = ready.into_iter().filter(|at| *at != last && self.preemptions < most);
        [last].into_iter().chain(others).collect()
    }

    fn choose(&mut self, ways: usize) -> usize {
        if ways == 1 {
            return 0;
        }
        self.made += 1;
        self.every.choose(ways)
    }
}
