//! What a run came to: plain data that every report is a view of.
//!
//! The director fills these values; nothing here runs, reads or prints anything.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use skep_check::verdict::{Blame, Judgement, Subject, Verdict};
use skep_mutant::Mutant;
use skep_trace::{Text, Trace};

use crate::exit_code::ExitCode;
use crate::known::KnownFailure;

/// Where a scenario was played: the world, and in the simulator its gear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorldName {
    /// The simulator, frames as values on one event queue.
    SimEvent,
    /// The simulator, real bytes between simulated hosts.
    SimWire,
    /// Operating-system processes.
    Live,
}

impl WorldName {
    /// Every name, in the order of the words.
    pub const ALL: [Self; 3] = [Self::SimEvent, Self::SimWire, Self::Live];

    /// The word that traces and reports use.
    pub fn word(self) -> &'static str {
        match self {
            Self::SimEvent => "sim/event",
            Self::SimWire => "sim/wire",
            Self::Live => "live",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.word() == word)
    }
}

impl fmt::Display for WorldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One test: a scenario, or one cell of its matrix, played once.
#[derive(Clone, Debug)]
pub struct TestOutcome {
    /// Its name; a matrix cell has its values in brackets.
    pub test: Text,
    /// The scenario file, as it was named.
    pub file: Text,
    /// The file comes with skep, so the command that shows it again names no path.
    pub builtin: bool,
    /// The scenario file's whole text; spans count its bytes.
    pub source: Text,
    /// Where in it the scenario is named.
    pub span: Range<usize>,
    /// Its steps, so that a report can point at them.
    pub steps: Vec<StepOutline>,
    /// The reports that it was made from.
    pub cites: Vec<Text>,
    /// The rules that it exercises.
    pub rules: Vec<Text>,
    /// Where it was played.
    pub world: WorldName,
    /// The seed that all choices came from.
    pub seed: u64,
    /// The fault of ours that was switched on.
    pub mutant: Option<Mutant>,
    /// The worst of its judgements, or what kept it from being played.
    pub verdict: Verdict,
    /// Why it is not applicable or inconclusive, where no judgement says so.
    pub reason: Option<Text>,
    /// It is violated, and all that is broken in it was known: why.
    pub known: Option<Text>,
    /// Every check's outcome.
    pub judgements: Vec<Judgement>,
    /// What happened. May be left without records where nothing is to be shown of it.
    pub trace: Trace,
    /// What it rests on besides events: steps that only a silence ended.
    pub silences: Vec<Silence>,
    /// What was noticed of the harness and is no verdict, each in one line.
    pub remarks: Vec<Text>,
    /// Names that the scenario's `bind`s gave to sessions: (name, id).
    pub bound: Vec<(Text, Text)>,
    /// What the command line must repeat besides the path, the test, the world and the seed, each
    /// argument by itself (`--harness`, `./buzz-acp`).
    pub again: Vec<Text>,
    /// How long it took, in real time.
    pub wall_ms: u64,
}

/// A step that was over because nothing happened any more: no event told that the harness was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// The step, from 0.
    pub step: usize,
    /// How long nothing happened, in milliseconds.
    pub ms: u64,
}

/// A step's places in the scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepOutline {
    /// Its title.
    pub title: Text,
    /// Where it stands.
    pub span: Range<usize>,
    /// Where its acts stand, in the order in which the trace counts them.
    pub acts: Vec<Range<usize>>,
    /// Its expectations, in order.
    pub expectations: Vec<Line>,
}

/// An expectation's place in the scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it stands.
    pub span: Range<usize>,
    /// What it looks for, as one word: `never/session-new`, `expect/turn`.
    pub code: Text,
    /// The method that it looks for, if it looks for calls: `session/new`.
    pub method: Option<Text>,
}

impl TestOutcome {
    /// The outcome of a test that was not played: inconclusive, because nothing was seen. Of the
    /// test no more is known than what it is called.
    pub fn unplayed(test: Text, file: Text, world: WorldName) -> Self {
        Self {
            test,
            file,
            builtin: false,
            source: "".into(),
            span: 0..0,
            steps: Vec::new(),
            cites: Vec::new(),
            rules: Vec::new(),
            world,
            seed: 0,
            mutant: None,
            verdict: Verdict::Inconclusive,
            reason: None,
            known: None,
            judgements: Vec::new(),
            trace: Trace::default(),
            silences: Vec::new(),
            remarks: Vec::new(),
            bound: Vec::new(),
            again: Vec::new(),
            wall_ms: 0,
        }
    }

    /// The judgements that are broken, the earliest moment first.
    pub fn violated(&self) -> Vec<&Judgement> {
        self.judged(Verdict::Violated)
    }

    /// The judgements of that verdict, the earliest moment first; those without one come last.
    pub fn judged(&self, verdict: Verdict) -> Vec<&Judgement> {
        let mut judgements: Vec<_> =
            self.judgements.iter().filter(|judgement| judgement.verdict == verdict).collect();
        judgements.sort_by_key(|judgement| (judgement.record.is_none(), judgement.record));
        judgements
    }

    /// The rules that a judgement is about. An invariant is its own rule; an expectation stands for
    /// those of its scenario.
    pub fn rules_of<'a>(&'a self, judgement: &'a Judgement) -> Vec<&'a str> {
        match judgement.subject {
            Subject::Invariant(rule) => vec![rule],
            Subject::Expectation { .. } => self.rules.iter().map(|rule| &**rule).collect(),
            Subject::Run => Vec::new(),
        }
    }

    /// The expectation that a judgement is about.
    pub fn line(&self, judgement: &Judgement) -> Option<&Line> {
        match judgement.subject {
            Subject::Expectation { step, index } => self.steps.get(step)?.expectations.get(index),
            Subject::Invariant(_) | Subject::Run => None,
        }
    }

    /// What this test alone would make the process end with. A test that is not applicable says
    /// nothing and counts as held here; see [`RunOutcome::exit_code`].
    pub fn exit_code(&self) -> ExitCode {
        match self.verdict {
            Verdict::Held | Verdict::NotApplicable => ExitCode::Held,
            Verdict::Inconclusive => ExitCode::Inconclusive,
            Verdict::Violated if self.known.is_some() => ExitCode::Held,
            Verdict::Violated => blamed_code(&self.violated()),
        }
    }
}

/// A test's failure counts as known: all of it is, and its repeats agree.
fn is_known(test: &TestOutcome, standing: Verdict) -> bool {
    test.known.is_some() && standing == Verdict::Violated
}

/// A party that is tested outweighs ourselves, and we outweigh the scenario's author: what was
/// seen to break is the news, whatever else went wrong beside it.
fn blamed_code(violated: &[&Judgement]) -> ExitCode {
    let blamed = |wanted: Blame| violated.iter().any(|judgement| judgement.blame == Some(wanted));
    let tested =
        |judgement: &&Judgement| !matches!(judgement.blame, Some(Blame::Skep | Blame::Scenario));
    if violated.is_empty() || violated.iter().any(tested) {
        return ExitCode::Violated;
    }
    if blamed(Blame::Skep) { ExitCode::Ours } else { ExitCode::Scenario }
}

/// Many tests, and how the whole of them ended.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Where they were played.
    pub world: WorldName,
    /// The tests, in the order of the files; repeats of one test stand together.
    pub tests: Vec<TestOutcome>,
    /// The failures that were known before, and how each of them stands.
    pub known: Vec<KnownFailure>,
    /// It was stopped before all of them had run.
    pub interrupted: bool,
    /// How long all of it took, in real time.
    pub wall_ms: u64,
}

impl RunOutcome {
    /// How many tests have this verdict; an unsteady test counts as inconclusive only, and a known
    /// failure as none of them.
    pub fn count(&self, verdict: Verdict) -> usize {
        let counts = |(test, standing): &(&TestOutcome, Verdict)| {
            *standing == verdict && !is_known(test, *standing)
        };
        self.standings().filter(counts).count()
    }

    /// How many tests fail as it was known.
    pub fn count_known(&self) -> usize {
        self.standings().filter(|(test, standing)| is_known(test, *standing)).count()
    }

    /// The known failures that are none.
    pub fn untrue(&self) -> impl Iterator<Item = &KnownFailure> {
        self.known.iter().filter(|entry| entry.is_untrue())
    }

    /// Each test with the verdict that counts for it.
    pub fn standings(&self) -> impl Iterator<Item = (&TestOutcome, Verdict)> {
        let unsteady = self.unsteady();
        self.tests.iter().map(move |test| match unsteady.contains_key(&test.test) {
            true => (test, Verdict::Inconclusive),
            false => (test, test.verdict),
        })
    }

    /// The tests of the live world whose repeats differ: the name, and how many of how many runs
    /// were violated. In the simulator a seed settles everything, so a difference between two
    /// seeds is a finding of its own and no doubt.
    pub fn unsteady(&self) -> BTreeMap<Text, (usize, usize)> {
        if self.world != WorldName::Live {
            return BTreeMap::new();
        }
        let mut runs: BTreeMap<Text, Vec<Verdict>> = BTreeMap::new();
        for test in &self.tests {
            runs.entry(test.test.clone()).or_default().push(test.verdict);
        }
        runs.retain(|_, verdicts| verdicts.iter().any(|verdict| *verdict != verdicts[0]));
        let violated =
            |runs: &[Verdict]| runs.iter().filter(|verdict| **verdict == Verdict::Violated).count();
        runs.into_iter().map(|(test, runs)| (test, (violated(&runs), runs.len()))).collect()
    }

    /// How many runs the unsteady tests have together.
    pub fn unsteady_runs(&self) -> usize {
        self.unsteady().values().map(|(_, runs)| runs).sum()
    }

    /// One run of each test, the first of its worst: what there is to tell of its repeats.
    pub fn told(&self) -> Vec<&TestOutcome> {
        let same = |one: &TestOutcome, other: &TestOutcome| {
            (&one.test, &one.file) == (&other.test, &other.file)
        };
        let worst = |runs: &'_ [TestOutcome]| {
            let verdict = runs.iter().map(|run| run.verdict).max();
            runs.iter().position(|run| Some(run.verdict) == verdict).unwrap_or(0)
        };
        self.tests.chunk_by(same).map(|runs| &runs[worst(runs)]).collect()
    }

    /// The verdict on all of it: the worst that counts. Nothing at all is inconclusive; a failure
    /// that was known is something, and what was wrongly known is a violation.
    pub fn verdict(&self) -> Verdict {
        if self.untrue().next().is_some() {
            return Verdict::Violated;
        }
        let counts = |(test, verdict): &(&TestOutcome, Verdict)| !is_known(test, *verdict);
        let worst = self.standings().filter(counts).map(|(_, verdict)| verdict).max();
        let seen = self.count(Verdict::Held) + self.count_known();
        match worst {
            None | Some(Verdict::NotApplicable) if seen == 0 => Verdict::Inconclusive,
            None | Some(Verdict::NotApplicable) => Verdict::Held,
            Some(worst) => worst,
        }
    }

    /// What the process ends with.
    pub fn exit_code(&self) -> ExitCode {
        if self.interrupted {
            return ExitCode::Interrupted;
        }
        let unsteady = self.unsteady();
        let steady = self.tests.iter().filter(|test| !unsteady.contains_key(&test.test));
        let mut codes: Vec<_> = steady.map(TestOutcome::exit_code).collect();
        codes.extend(self.untrue().map(|_| ExitCode::Violated));
        let first = [ExitCode::Ours, ExitCode::Violated, ExitCode::Scenario];
        match first.into_iter().find(|code| codes.contains(code)) {
            Some(code) => code,
            None if self.verdict() == Verdict::Held => ExitCode::Held,
            None => ExitCode::Inconclusive,
        }
    }
}

/// A test without anything but a verdict.
#[cfg(test)]
pub(crate) fn sample(name: &str, verdict: Verdict) -> TestOutcome {
    TestOutcome {
        verdict,
        ..TestOutcome::unplayed(name.into(), "x.kdl".into(), WorldName::SimWire)
    }
}

/// A run of such tests.
#[cfg(test)]
pub(crate) fn sample_run(tests: Vec<TestOutcome>) -> RunOutcome {
    let world = WorldName::SimWire;
    RunOutcome { world, tests, known: Vec::new(), interrupted: false, wall_ms: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(blame: Blame) -> Judgement {
        Judgement {
            subject: Subject::Run,
            verdict: Verdict::Violated,
            blame: Some(blame),
            title: String::new(),
            label: String::new(),
            record: None,
            causes: Vec::new(),
        }
    }

    fn test(name: &str, verdict: Verdict, blame: Blame) -> TestOutcome {
        let judgements = if verdict == Verdict::Violated { vec![judgement(blame)] } else { vec![] };
        TestOutcome { judgements, ..sample(name, verdict) }
    }

    fn run(world: WorldName, tests: &[(&str, Verdict, Blame)]) -> RunOutcome {
        let tests = tests.iter().map(|(name, verdict, blame)| test(name, *verdict, *blame));
        RunOutcome { world, ..sample_run(tests.collect()) }
    }

    #[test]
    fn the_exit_code_says_who_broke_it() {
        let code = |tests: &[_]| run(WorldName::SimWire, tests).exit_code();
        let held = ("a", Verdict::Held, Blame::Harness);
        let skipped = ("b", Verdict::NotApplicable, Blame::Harness);
        let broken = ("c", Verdict::Violated, Blame::Harness);
        let wrong = ("d", Verdict::Violated, Blame::Scenario);
        let ours = ("e", Verdict::Violated, Blame::Skep);
        assert_eq!(code(&[held, skipped]), ExitCode::Held);
        assert_eq!(code(&[skipped]), ExitCode::Inconclusive);
        assert_eq!(code(&[]), ExitCode::Inconclusive);
        assert_eq!(code(&[held, wrong]), ExitCode::Scenario);
        assert_eq!(code(&[held, broken, wrong]), ExitCode::Violated);
        assert_eq!(code(&[broken, ours]), ExitCode::Ours);
    }

    #[test]
    fn live_repeats_that_differ_prove_nothing() {
        let tests =
            [("a", Verdict::Held, Blame::Harness), ("a", Verdict::Violated, Blame::Harness)];
        let live = run(WorldName::Live, &tests);
        assert_eq!(live.exit_code(), ExitCode::Inconclusive);
        assert_eq!(live.unsteady().get("a"), Some(&(1, 2)));
        assert_eq!(run(WorldName::SimEvent, &tests).exit_code(), ExitCode::Violated);
    }

    #[test]
    fn of_repeats_the_first_of_the_worst_is_told() {
        let mut run = run(
            WorldName::SimEvent,
            &[
                ("a", Verdict::Held, Blame::Harness),
                ("a", Verdict::Violated, Blame::Harness),
                ("a", Verdict::Violated, Blame::Harness),
                ("b", Verdict::Held, Blame::Harness),
            ],
        );
        for (seed, test) in (0..).zip(&mut run.tests) {
            test.seed = seed;
        }
        let seeds: Vec<u64> = run.told().iter().map(|test| test.seed).collect();
        assert_eq!(seeds, [1, 3]);
    }

    #[test]
    fn an_interrupted_run_says_so_whatever_it_saw() {
        let mut run = run(WorldName::SimWire, &[("a", Verdict::Violated, Blame::Harness)]);
        run.interrupted = true;
        assert_eq!(run.exit_code(), ExitCode::Interrupted);
    }

    #[test]
    fn world_names_read_back() {
        for name in WorldName::ALL {
            assert_eq!(WorldName::parse(name.word()), Some(name));
        }
    }
}
