//! The judge: takes a run in, record by record, and says what holds of it.
//!
//! One pass. Each record is read into the facts once, then shown to the watches of the step that
//! runs, to the watches of earlier steps, and to the invariants. Nothing depends on how the
//! records come: one by one as they happen, or all at once from a file.

use std::sync::Arc;

use skep_trace::{NameKind, Record, Settled, Text, Trace, What};

use crate::asked::Asked;
use crate::expect::{Found, Stretch, Watch, watch};
use crate::facts::Facts;
use crate::facts::moment::Moment;
use crate::invariant::{self, Watched};
use crate::verdict::{Judgement, Subject, Verdict};

/// Judges a whole trace.
pub fn judge(trace: &Trace, asked: impl Into<Arc<Asked>>) -> Vec<Judgement> {
    let mut judge = Judge::new(asked);
    for record in &trace.records {
        judge.feed(record);
    }
    judge.finish()
}

/// Judges a run while it happens.
pub struct Judge {
    asked: Arc<Asked>,
    facts: Facts,
    steps: Vec<Step>,
    running: Option<Running>,
    invariants: Vec<Watched>,
    /// A step that reached a bound before it came to rest, and what was awaited.
    bound: Option<(usize, usize, String)>,
}

/// The watches of one step.
struct Step {
    watches: Vec<Box<dyn Watch>>,
    begun: bool,
    over: bool,
}

/// The step that runs.
struct Running {
    step: usize,
    from: usize,
    settled: Option<(usize, Settled)>,
}

/// What the running step still waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The step that runs; `None` before the first.
    pub step: Option<usize>,
    /// Its expectations that are not met yet: their places, and each in plain words.
    pub unmet: Vec<(usize, String)>,
}

impl Progress {
    /// Nothing is awaited any more.
    pub fn is_met(&self) -> bool {
        self.unmet.is_empty()
    }
}

impl Judge {
    /// Nothing happened yet.
    pub fn new(asked: impl Into<Arc<Asked>>) -> Self {
        let asked = asked.into();
        let steps = asked.steps.iter().map(|expectations| Step {
            watches: expectations.iter().map(watch).collect(),
            begun: false,
            over: false,
        });
        Self {
            steps: steps.collect(),
            facts: Facts::new(asked.clone()),
            running: None,
            invariants: invariant::all(),
            bound: None,
            asked,
        }
    }

    /// Something happened.
    pub fn feed(&mut self, record: &Record) {
        if let What::Step { .. } = record.what {
            self.close();
        }
        let moment = self.facts.read(record);
        if let What::Step { index, .. } = record.what {
            self.begin(index);
        }
        if let What::Settled { step, how } = &record.what {
            self.settled(moment.record, *step, how);
        }
        self.show(&moment);
    }

    fn begin(&mut self, index: usize) {
        let from = self.facts.record - 1;
        self.running = Some(Running { step: index, from, settled: None });
        if let Some(step) = self.steps.get_mut(index).filter(|step| !step.begun) {
            step.begun = true;
            for watch in &mut step.watches {
                watch.begin(&self.facts);
            }
        }
    }

    fn settled(&mut self, record: usize, step: usize, how: &Settled) {
        if let Settled::Bound(awaited) = how {
            self.bound.get_or_insert_with(|| (record, step, awaited.to_string()));
        }
        if let Some(running) = self.running.as_mut().filter(|running| running.step == step) {
            running.settled = Some((record, how.clone()));
        }
    }

    fn show(&mut self, moment: &Moment<'_>) {
        for watched in &mut self.invariants {
            watched.see(moment, &self.facts);
        }
        let running = self.running.as_ref().map(|running| running.step);
        let running = running.and_then(|step| self.steps.get_mut(step));
        for watch in running.filter(|step| !step.over).into_iter().flat_map(|it| &mut it.watches) {
            if let Some((name, id)) = watch.see(moment, &self.facts) {
                self.facts.names.give(NameKind::Session, &name, &id);
            }
        }
        if moment.comeback.is_some() || matches!(moment.what, What::Receipts { .. }) {
            let over = self.steps.iter_mut().filter(|step| step.over);
            for watch in over.flat_map(|step| &mut step.watches) {
                watch.see_later(moment, &self.facts);
            }
        }
    }

    /// The step that runs is over.
    fn close(&mut self) {
        let Some(running) = self.running.take() else { return };
        let Some(step) = self.steps.get_mut(running.step).filter(|step| !step.over) else { return };
        step.over = true;
        let stretch =
            Stretch { from: running.from, to: self.facts.record, settled: running.settled };
        for watch in &mut step.watches {
            watch.close(&self.facts, &stretch);
        }
    }

    /// The run ends in the middle of a step: nothing can be said of what that one awaits.
    pub fn break_off(&mut self) {
        self.running = None;
    }

    /// The sessions that have a name so far, and their ids.
    pub fn sessions(&self) -> Vec<(Text, Text)> {
        let named = self.facts.names.of(NameKind::Session);
        named.map(|(name, id)| (name.clone(), id.clone())).collect()
    }

    /// How many expectations of the running step are not met yet.
    pub fn unmet(&self) -> usize {
        self.awaited().count()
    }

    /// The running step is spoiled: something came that never should have, and nothing that may
    /// still come mends it.
    pub fn spoiled(&self) -> bool {
        let step = self.running.as_ref().and_then(|running| self.steps.get(running.step));
        step.is_some_and(|step| step.watches.iter().any(|watch| watch.broken()))
    }

    /// What the running step still waits for, in words.
    pub fn progress(&self) -> Progress {
        let step = self.running.as_ref().map(|running| running.step);
        let expectations = step.and_then(|step| self.asked.steps.get(step));
        let words = |place: usize| match expectations.and_then(|all| all.get(place)) {
            Some(expectation) => expectation.to_string(),
            None => String::new(),
        };
        Progress { step, unmet: self.awaited().map(|place| (place, words(place))).collect() }
    }

    fn awaited(&self) -> impl Iterator<Item = usize> + '_ {
        let step = self.running.as_ref().and_then(|running| self.steps.get(running.step));
        let watches = step.filter(|step| !step.over).map(|step| &step.watches);
        let watches = watches.into_iter().flatten().enumerate();
        watches.filter(|(_, watch)| watch.unmet(&self.facts)).map(|(place, _)| place)
    }

    /// The run is over: everything that holds of it, and everything that does not. Expectations
    /// come first, in their order, then the invariants by number, then the run itself.
    pub fn finish(mut self) -> Vec<Judgement> {
        self.close();
        let mut judgements = Vec::new();
        for (step, own) in self.steps.iter().enumerate() {
            for (index, watch) in own.watches.iter().enumerate() {
                let found = if own.over {
                    watch.found(&self.facts)
                } else {
                    Found::inconclusive("the run ended before this step")
                };
                let plain = &self.asked.steps[step][index];
                judgements.push(found.judgement(Subject::Expectation { step, index }, plain));
            }
        }
        let run = self.run(&judgements);
        let facts = &self.facts;
        judgements.extend(self.invariants.into_iter().map(|watched| watched.judgement(facts)));
        judgements.push(run);
        judgements
    }

    /// What is to be said of the run as a whole: all its steps came, and came to rest.
    fn run(&self, judgements: &[Judgement]) -> Judgement {
        let left = self.steps.iter().filter(|step| !step.over).count();
        let told = judgements.iter().any(|found| found.verdict == Verdict::Violated);
        let (verdict, label, record) = match &self.bound {
            _ if left > 0 => {
                (Verdict::Inconclusive, format!("{left} steps of the scenario never ran"), None)
            }
            Some((record, step, awaited)) if !told => {
                let label = format!("step {} did not come to rest: {awaited}", step + 1);
                (Verdict::Inconclusive, label, Some(*record))
            }
            _ => (Verdict::Held, "every step ran".to_owned(), None),
        };
        Judgement {
            subject: Subject::Run,
            verdict,
            blame: None,
            title: "the run came to its end".to_owned(),
            label,
            record,
            causes: Vec::new(),
        }
    }
}
