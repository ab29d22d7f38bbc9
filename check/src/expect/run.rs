//! `expect exit`, `expect store-trouble`, `expect agent-started`: what processes do and say.
//!
//! What a harness says and how it ends while it starts up, before the first step, counts as of
//! the first step; the agents that it starts then do not.

use skep_trace::{End, Note, Text, What};

use super::obstacle::{Obstacle, obstacle};
use super::{Bind, Found, Stretch, Watch, cause};
use crate::expectation::Count;
use crate::facts::Facts;
use crate::facts::moment::Moment;
use crate::verdict::Blame;
use crate::words::{times, violated};

/// What is looked for.
enum Sort {
    /// A harness ended by itself, with this code.
    Exit { harness: Option<Text>, code: Option<i32> },
    /// A harness reported trouble with its store.
    Trouble { harness: Option<Text> },
    /// An agent process was started.
    Agent { agent: Option<Text> },
}

/// Watches processes.
pub(crate) struct RunWatch {
    sort: Sort,
    count: Count,
    never: bool,
    hits: Vec<usize>,
    /// An end that does not fit.
    near: Option<(usize, String)>,
    found: Option<Found>,
}

impl RunWatch {
    pub(crate) fn exit(harness: Option<Text>, code: Option<i32>, never: bool) -> Self {
        Self::new(Sort::Exit { harness, code }, Count::default(), never)
    }

    pub(crate) fn trouble(harness: Option<Text>, never: bool) -> Self {
        Self::new(Sort::Trouble { harness }, Count::default(), never)
    }

    pub(crate) fn agents(agent: Option<Text>, count: Count, never: bool) -> Self {
        Self::new(Sort::Agent { agent }, count, never)
    }

    fn new(sort: Sort, count: Count, never: bool) -> Self {
        Self { sort, count, never, hits: Vec::new(), near: None, found: None }
    }

    fn fits(&mut self, record: usize, what: &What) -> bool {
        let is = |wanted: &Option<Text>, name: &Text| wanted.as_ref().is_none_or(|it| it == name);
        match (&self.sort, what) {
            (Sort::Exit { harness, code }, What::HarnessEnded(life, end))
                if is(harness, &life.harness) =>
            {
                let (fits, how) = match end {
                    End::Exit(own) => {
                        (code.is_none_or(|code| code == *own), format!("exited with code {own}"))
                    }
                    End::Signal { signal, by_us } => {
                        (!by_us && code.is_none(), format!("ended by signal {signal}"))
                    }
                };
                if !fits {
                    self.near.get_or_insert((record, format!("{life} {how}")));
                }
                fits
            }
            (Sort::Trouble { harness }, What::Note { harness: life, note }) => {
                matches!(note, Note::StoreTrouble(_)) && is(harness, &life.harness)
            }
            (Sort::Agent { agent }, What::AgentStarted { agent: process, .. }) => {
                is(agent, &process.agent)
            }
            _ => false,
        }
    }

    fn seen(&self) -> u32 {
        u32::try_from(self.hits.len()).unwrap_or(u32::MAX)
    }

    fn titles(&self) -> (&'static str, &'static str) {
        match &self.sort {
            Sort::Exit { .. } => ("the harness did not exit as asked", "the harness exited"),
            Sort::Trouble { .. } => (
                "the harness did not report its store's trouble",
                "the harness had trouble with its store",
            ),
            Sort::Agent { .. } => {
                ("the harness started too few agents", "the harness started an agent too many")
            }
        }
    }

    fn harness(&self) -> Option<&str> {
        match &self.sort {
            Sort::Exit { harness, .. } | Sort::Trouble { harness } => harness.as_deref(),
            Sort::Agent { .. } => None,
        }
    }

    fn judge(&self, facts: &Facts, stretch: &Stretch) -> Found {
        let (missing, unwanted) = self.titles();
        let limit = if self.never { Some(0) } else { self.count.at_most };
        let too_many = limit.and_then(|most| self.hits.get(usize::try_from(most).ok()?));
        if let Some(record) = too_many {
            let label = violated(self.seen() - limit.unwrap_or(0), facts.at_ms(*record));
            return Found::violated(Blame::Harness, unwanted, label, *record);
        }
        if self.never || self.count.reached(self.seen()) {
            return Found::held(match self.hits.first() {
                None => "never seen".to_owned(),
                Some(first) => format!("seen {}, at {}", times(self.seen()), facts.instant(*first)),
            });
        }
        if matches!(self.sort, Sort::Trouble { .. }) && !facts.tells_notes {
            return Found::inconclusive("nothing that this harness says about itself is recorded");
        }
        self.missing(missing, facts, stretch)
    }

    fn missing(&self, title: &str, facts: &Facts, stretch: &Stretch) -> Found {
        if let Some((record, how)) = &self.near {
            let label = format!("{how}, at {}", facts.instant(*record));
            return Found::violated(Blame::Harness, title, label, *record);
        }
        let Obstacle { blame, sentence, causes } = obstacle(facts, stretch, self.harness());
        let blame = if blame == Blame::Agent { Blame::Harness } else { blame };
        let why = sentence.map(|sentence| format!(": {sentence}")).unwrap_or_default();
        let label = format!("not seen by {}{why}", facts.instant(stretch.end()));
        Found::violated(blame, title, label, stretch.end())
            .because(self.hits.iter().map(|record| cause(*record, "seen here")))
            .because(causes)
    }
}

impl Watch for RunWatch {
    fn begin(&mut self, facts: &Facts) {
        for (record, what) in &facts.startup {
            if self.fits(*record, what) {
                self.hits.push(*record);
            }
        }
    }

    fn see(&mut self, moment: &Moment<'_>, _facts: &Facts) -> Option<Bind> {
        if self.fits(moment.record, moment.what) {
            self.hits.push(moment.record);
        }
        None
    }

    fn unmet(&self, _facts: &Facts) -> bool {
        !self.never && !self.count.reached(self.seen())
    }

    fn close(&mut self, facts: &Facts, stretch: &Stretch) {
        self.found = Some(self.judge(facts, stretch));
    }

    fn found(&self, _facts: &Facts) -> Found {
        self.found.clone().unwrap_or_else(|| Found::inconclusive("its step never ended"))
    }
}
