//! `expect order { … }`: calls that come one after the other.
//!
//! A call that fits a later line while an earlier one is still awaited breaks the order, unless
//! it fits a line that has come already (repetitions are allowed). Only calls of the step itself
//! count: what came before it came in no order that the step could see.

use super::fit::{Fit, fit};
use super::obstacle::{Obstacle, obstacle};
use super::{Bind, Found, Stretch, Watch, cause};
use crate::expectation::WantedCall;
use crate::facts::Facts;
use crate::facts::moment::{Moment, Seen};
use crate::verdict::{Blame, Cause};

/// A call that came while an earlier line was still awaited.
struct Early {
    record: usize,
    /// The call's method.
    method: skep_trace::Text,
    /// How many lines had come.
    come: usize,
    /// Its agent had introduced itself already: an `initialize` could not follow any more.
    introduced: bool,
}

/// Watches for calls in order.
pub(crate) struct OrderWatch {
    lines: Vec<WantedCall>,
    never: bool,
    /// How many lines have come.
    come: usize,
    /// How often the awaited line has come.
    repeats: u32,
    /// A record a line that has come.
    steps: Vec<Cause>,
    /// The first call out of order.
    broken: Option<Early>,
    /// Requests for new sessions whose answers name sessions to bind.
    binding: Vec<(usize, skep_trace::Text)>,
    found: Option<Found>,
}

impl OrderWatch {
    pub(crate) fn new(lines: Vec<WantedCall>, never: bool) -> Self {
        Self {
            lines,
            never,
            come: 0,
            repeats: 0,
            steps: Vec::new(),
            broken: None,
            binding: Vec::new(),
            found: None,
        }
    }

    fn fits(line: &WantedCall, moment: &Moment<'_>, facts: &Facts) -> bool {
        fit(line, moment, facts) == Fit::Yes
    }

    fn complete(&self) -> bool {
        self.come == self.lines.len()
    }

    fn take(&mut self, moment: &Moment<'_>, facts: &Facts) -> Option<Bind> {
        let line = self.lines.get(self.come)?;
        if Self::fits(line, moment, facts) {
            let (enough, bind) = (line.count.at_least.max(1), line.bind.clone());
            let label = format!("`{}` came here", line.method);
            self.repeats += 1;
            if self.repeats >= enough {
                self.come += 1;
                self.repeats = 0;
                self.steps.push(cause(moment.record, label));
            }
            return self.bind(bind?, moment);
        }
        let repeated = self.lines[..self.come].iter().any(|line| Self::fits(line, moment, facts));
        let early = self.lines[self.come..].iter().find(|line| Self::fits(line, moment, facts));
        if let (false, Some(early), None) = (repeated, early, &self.broken) {
            let process = moment.call.as_ref().map(|seen| facts.processes.get(seen.process));
            self.broken = Some(Early {
                record: moment.record,
                method: early.method.clone(),
                come: self.come,
                introduced: process.is_some_and(|process| process.introduced),
            });
        }
        None
    }

    fn out_of_order(&self, early: &Early, facts: &Facts, stretch: &Stretch) -> Found {
        let (method, awaited) = (&early.method, &self.lines[early.come].method);
        let at = facts.instant(early.record);
        let before = facts.first_calls.get(awaited).filter(|first| **first < stretch.from);
        match before {
            // It may still have come in the step, too late.
            Some(first) if self.come == early.come => {
                let first_at = facts.instant(*first);
                // The scenario asks of a step what belongs to the start of its harness.
                let started = &**awaited == "initialize" && early.introduced;
                let blame = if started { Blame::Scenario } else { Blame::Harness };
                let title = format!("`{awaited}` came before the step, not in it");
                let label = format!("`{method}` came at {at}, `{awaited}` at {first_at}");
                Found::violated(blame, title, label, early.record)
                    .because([cause(*first, format!("`{awaited}` came here"))])
            }
            _ => {
                let label = format!("`{method}` came before `{awaited}`, at {at}");
                Found::violated(Blame::Harness, "these came in another order", label, early.record)
            }
        }
    }

    fn bind(&mut self, name: skep_trace::Text, moment: &Moment<'_>) -> Option<Bind> {
        let call = moment.call.as_ref()?.call;
        match call.session_id() {
            Some(id) => Some((name, id.into())),
            None => {
                self.binding.push((moment.record, name));
                None
            }
        }
    }
}

impl Watch for OrderWatch {
    fn see(&mut self, moment: &Moment<'_>, facts: &Facts) -> Option<Bind> {
        if let Seen::Given { session, open, .. } = &moment.seen {
            let place = self.binding.iter().position(|(record, _)| *record == open.record)?;
            let (_, name) = self.binding.remove(place);
            return Some((name, facts.sessions.get(*session).id.clone()));
        }
        self.take(moment, facts)
    }

    fn unmet(&self, _facts: &Facts) -> bool {
        !self.never && self.broken.is_none() && !self.complete()
    }

    fn close(&mut self, facts: &Facts, stretch: &Stretch) {
        let in_order = self.complete() && self.broken.is_none();
        let found = match (&self.broken, self.never) {
            (_, true) if in_order => {
                let last = self.steps.last().map_or(stretch.end(), |last| last.record);
                let label = format!("violated once, at {}", facts.instant(last));
                Found::violated(Blame::Harness, "these came in this order", label, last)
            }
            (_, true) => Found::held("never in this order"),
            (_, false) if in_order => Found::held("in this order"),
            (Some(early), false) => self.out_of_order(early, facts, stretch),
            (None, false) => {
                let Obstacle { blame, sentence, causes } = obstacle(facts, stretch, None);
                let awaited = &self.lines[self.come].method;
                let why = sentence.map(|sentence| format!(": {sentence}")).unwrap_or_default();
                let label = format!("`{awaited}` did not come{why}");
                Found::violated(blame, "these did not all come", label, stretch.end())
                    .because(causes)
            }
        };
        self.found = Some(found.because(self.steps.iter().cloned()));
    }

    fn found(&self, _facts: &Facts) -> Found {
        self.found.clone().unwrap_or_else(|| Found::inconclusive("its step never ended"))
    }
}
