//! A recorded trace, judged again with the scenario that stands in it.

use std::sync::Arc;

use skep_check::Judge;
use skep_check::verdict::Verdict;
use skep_mutant::Mutants;
use skep_trace::Trace;

use super::{Job, asked, casting, noted, outline, sight};
use crate::live::Tested;
use crate::outcome::{TestOutcome, WorldName};
use crate::profile::{HarnessProfile, adapted};
use crate::scenario::{self, SourceFile};

/// Judges a trace again.
///
/// # Errors
/// When its header names no world, or its scenario does not parse or is not there, in words.
pub fn rejudge(trace: Trace) -> Result<TestOutcome, String> {
    let header = &trace.header;
    let world = WorldName::parse(&header.world).ok_or_else(|| {
        format!("the trace names no world that this build knows: `{}`", header.world)
    })?;
    let file: Arc<SourceFile> = SourceFile::new(&header.file, &header.source);
    let (scenarios, diagnostics) = scenario::parse_with(&file, &mut |name| {
        let text = header.uses.get(name).ok_or("it does not stand in the trace")?;
        Ok(SourceFile::new(name, text))
    });
    let scenario = scenarios.iter().find(|scenario| scenario.name == header.test);
    let scenario = scenario.ok_or_else(|| match diagnostics.is_empty() {
        true => format!("the scenario `{}` does not stand in the trace", header.test),
        false => "the scenario in the trace does not parse in this build".to_owned(),
    })?;
    let profile = HarnessProfile::from_header(&header.profile);
    let cast = adapted(casting::complete(scenario), &profile);
    let tested = Tested { command: None, profile: Arc::new(profile), tampering: None };
    let job = Job { world, seed: header.seed, mutants: Mutants::NONE, tested };
    let mut outcome = outline::blank(scenario, &job);
    let mut watcher = Judge::new(asked::of(scenario, &cast));
    trace.records.iter().for_each(|record| watcher.feed(record));
    outcome.bound = watcher.sessions();
    outcome.judgements = watcher.finish();
    outcome.verdict = super::play::worst(&outcome.judgements, Verdict::Inconclusive);
    sight::set_aside(scenario, &job.tested.profile, &mut outcome);
    noted::note(&trace, &mut outcome);
    outcome.trace = trace;
    Ok(outcome)
}
