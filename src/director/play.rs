//! One test in one world.

use skep_check::verdict::{Blame, Judgement, Subject, Verdict};
use skep_check::{Asked, Judge};
use skep_mutant::Mutants;
use skep_plan::{Act, Cast};
use skep_trace::{Frame, Header, Record, Settled, What};
use skep_world::stage::DOWNTIME_MS;
use skep_world::{EventWorld, Outlook, Setup, WireWorld, World, WorldError};

use super::{asked, casting, noted, outline, sight};
use crate::live::{LiveWorld, Tested};
use crate::outcome::{TestOutcome, WorldName};
use crate::profile;
use crate::report::wire::teardown;
use crate::scenario::{Scenario, Step};

/// How a test is played.
#[derive(Clone, Debug)]
pub struct Job {
    /// In which world.
    pub world: WorldName,
    /// The seed that all choices come from.
    pub seed: u64,
    /// The fault of ours that is switched on.
    pub mutants: Mutants,
    /// The harness that is tested.
    pub tested: Tested,
}

/// Plays a test and judges it. What cannot be played comes out as a verdict with its reason.
pub fn play(scenario: &Scenario, job: &Job) -> TestOutcome {
    let mut outcome = outline::blank(scenario, job);
    let cast = casting::complete(scenario);
    if let Some(reason) = unfit(scenario, &cast, job) {
        outcome.verdict = Verdict::NotApplicable;
        outcome.reason = Some(reason.as_str().into());
        return outcome;
    }
    let cast = profile::adapted(cast, &job.tested.profile);
    let asked = asked::of(scenario, &cast);
    let setup = Setup {
        cast: &cast,
        seed: job.seed,
        mutants: job.mutants,
        header: header(scenario, job),
        interleave: interleaves(scenario),
        schedule: scenario.schedule,
    };
    match open_world(job, setup, downtimes_ms(scenario)) {
        Ok(world) => {
            let mut stage = Stage::new(world, asked);
            let walked = stage.walk(scenario);
            stage.close(walked, &mut outcome);
            sight::set_aside(scenario, &job.tested.profile, &mut outcome);
            noted::of_our_own(job, &mut outcome);
        }
        Err(error) => {
            cut_short(&mut outcome, 0, &error);
            outcome.verdict = worst(&outcome.judgements, outcome.verdict);
        }
    }
    outcome
}

fn open_world(
    job: &Job,
    setup: Setup<'_>,
    downtimes_ms: u64,
) -> Result<Box<dyn World>, WorldError> {
    Ok(match job.world {
        WorldName::SimEvent => Box::new(EventWorld::new(setup)?),
        WorldName::SimWire => Box::new(WireWorld::new(setup)?),
        WorldName::Live => Box::new(LiveWorld::new(setup, downtimes_ms, job.tested.clone())?),
    })
}

/// How long harnesses are down in all restarts together.
fn downtimes_ms(scenario: &Scenario) -> u64 {
    fn of(act: &Act) -> u64 {
        match act {
            Act::Restart { downtime_ms, .. } => downtime_ms.unwrap_or(DOWNTIME_MS),
            Act::Together(acts) => acts.iter().map(of).sum(),
            _ => 0,
        }
    }
    let acts = scenario.steps.iter().flat_map(|step| &step.acts);
    acts.map(|act| of(&act.value)).sum()
}

/// Why the scenario does not apply in this world or to this harness, if it does not.
fn unfit(scenario: &Scenario, cast: &Cast, job: &Job) -> Option<String> {
    let world = match job.world {
        WorldName::Live => scenario.sim_only.as_ref().map(|why| format!("sim only: {why}")),
        _ => scenario.live_only.as_ref().map(|why| format!("live only: {why}")),
    };
    let scheduled = scenario.schedule.is_some() && job.world != WorldName::SimEvent;
    let world = world.or_else(|| {
        scheduled
            .then(|| "only the event gear keeps a `schedule`: play it with `--gear event`".into())
    });
    let profile = &job.tested.profile;
    let lacks = || profile::lacks(profile, &sight::needs(scenario, cast));
    // The reference can be told everything.
    let foreign = job.tested.command.is_some();
    let refuses = || {
        let acts = scenario.steps.iter().flat_map(|step| &step.acts).map(|act| &act.value);
        profile::refuses(profile, cast, acts)
    };
    world.or_else(lacks).or_else(|| foreign.then(refuses).flatten())
}

fn header(scenario: &Scenario, job: &Job) -> Header {
    Header {
        test: scenario.name.clone(),
        file: scenario.file.name.clone(),
        source: scenario.file.text.clone(),
        uses: scenario.uses.iter().map(|(name, file)| (name.clone(), file.text.clone())).collect(),
        world: job.world.word().into(),
        seed: job.seed,
        profile: job.tested.profile.header(),
    }
}

/// Stores work step by step where that can be seen: where a harness is killed inside its store, or
/// where two harnesses share a directory.
fn interleaves(scenario: &Scenario) -> bool {
    let crashes = |act: &Act| matches!(act, Act::Crash { at, .. } if at.in_store());
    let mut acts = scenario.steps.iter().flat_map(|step| &step.acts);
    let mut states: Vec<_> = scenario.cast.harnesses.iter().map(|harness| &harness.state).collect();
    states.sort();
    acts.any(|act| crashes(&act.value)) || states.windows(2).any(|pair| pair[0] == pair[1])
}

/// A world and the judge that watches it.
struct Stage {
    world: Box<dyn World>,
    judge: Judge,
    /// How many records the judge has seen.
    fed: usize,
}

impl Stage {
    fn new(world: Box<dyn World>, asked: Asked) -> Self {
        Self { world, judge: Judge::new(asked), fed: 0 }
    }

    /// Plays every step. A step that was not met does not end the run: what follows may be what
    /// explains it, and all of it stands in one trace.
    fn walk(&mut self, scenario: &Scenario) -> Result<(), (usize, WorldError)> {
        self.world.open().map_err(|error| (0, error))?;
        for (index, step) in scenario.steps.iter().enumerate() {
            let how = self.play_step(index, step, scenario).map_err(|error| (index, error))?;
            // Past its bound a run is out of hand: later steps would say nothing.
            if matches!(how, Settled::Bound(_)) {
                break;
            }
        }
        Ok(())
    }

    fn play_step(
        &mut self,
        index: usize,
        step: &Step,
        scenario: &Scenario,
    ) -> Result<Settled, WorldError> {
        let Self { world, judge, fed } = self;
        world.begin(index, &step.title);
        let mut line = 0;
        for act in &step.acts {
            let text = scenario.file.slice(act.span).lines().next().unwrap_or_default();
            world.act(line, text.trim(), &act.value)?;
            line += lines(&act.value);
        }
        world.settle(index, &mut |records| {
            feed(judge, fed, records);
            match judge.unmet() {
                0 => Outlook::Met,
                _ if judge.spoiled() => Outlook::Lost,
                _ => Outlook::Open,
            }
        })
    }

    fn close(self, walked: Result<(), (usize, WorldError)>, outcome: &mut TestOutcome) {
        let Self { world, mut judge, mut fed } = self;
        let trace = world.close();
        feed(&mut judge, &mut fed, &trace.records);
        if walked.is_err() {
            judge.break_off();
        }
        outcome.bound = judge.sessions();
        outcome.judgements = judge.finish();
        noted::note(&trace, outcome);
        outcome.trace = trace;
        if let Err((step, error)) = walked {
            cut_short(outcome, step, &error);
        }
        outcome.verdict = worst(&outcome.judgements, outcome.verdict);
    }
}

fn feed(judge: &mut Judge, fed: &mut usize, records: &[Record]) {
    for record in &records[*fed..] {
        judge.feed(record);
    }
    *fed = records.len();
}

/// How many lines an act takes up in its step: a `together` counts itself and each line inside.
fn lines(act: &Act) -> usize {
    match act {
        Act::Together(acts) => 1 + acts.iter().map(lines).sum::<usize>(),
        _ => 1,
    }
}

/// The run ended before its scenario did: what was judged so far stands, the rest was not seen.
fn cut_short(outcome: &mut TestOutcome, step: usize, error: &WorldError) {
    let (verdict, blame) = match error {
        WorldError::Unsupported(why) => {
            outcome.verdict = Verdict::NotApplicable;
            outcome.reason = Some(why.as_str().into());
            outcome.judgements.clear();
            return;
        }
        WorldError::Act(_) => (Verdict::Violated, Blame::Scenario),
        WorldError::Harness(_) if nothing_to_damage(&outcome.trace.records) => {
            (Verdict::Violated, Blame::Scenario)
        }
        WorldError::Harness(_) => (Verdict::Violated, Blame::Harness),
        WorldError::Ours(_) => (Verdict::Violated, Blame::Skep),
    };
    // What was seen of a harness up to then stands: it may be why the run has no end. That its step
    // was cut short is no mistake of the scenario's.
    outcome
        .judgements
        .retain(|found| found.verdict == Verdict::Violated && found.blame != Some(Blame::Scenario));
    outcome.judgements.push(Judgement {
        subject: Subject::Run,
        verdict,
        blame: Some(blame),
        title: error.to_string(),
        label: match blame {
            Blame::Scenario if matches!(error, WorldError::Harness(_)) => {
                format!("in step {}, before any session was there to be stored", step + 1)
            }
            _ => format!("in step {}", step + 1),
        },
        record: last_of_its_own(&outcome.trace.records),
        causes: Vec::new(),
    });
}

/// The run stopped at a change of the disk, and no session was ever opened that a harness could
/// have stored there.
fn nothing_to_damage(records: &[Record]) -> bool {
    let opened = |record: &Record| match &record.what {
        What::Acp { frame, .. } => match &**frame {
            Frame::Response { outcome: Ok(answer), .. } => answer.session_id.is_some(),
            _ => false,
        },
        _ => false,
    };
    let mut acts = records.iter().rev().filter_map(|record| match &record.what {
        What::Act { text, .. } => Some(text),
        _ => None,
    });
    acts.next().is_some_and(|text| text.starts_with("disk ")) && !records.iter().any(opened)
}

/// The last record that is not there only because the run was taken down.
fn last_of_its_own(records: &[Record]) -> Option<usize> {
    records.iter().rposition(|record| !teardown::is_of_it(&record.what))
}

/// The worst of the judgements that apply: invariants that never had occasion say nothing.
pub(super) fn worst(judgements: &[Judgement], otherwise: Verdict) -> Verdict {
    let verdicts = judgements.iter().map(|judgement| judgement.verdict);
    verdicts.filter(|verdict| *verdict != Verdict::NotApplicable).max().unwrap_or(otherwise)
}
