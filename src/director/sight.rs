//! What cannot be seen of a harness: a store of a format that skep does not read, and what a harness
//! says of its store in words of its own.
//!
//! A scenario that puts receipts into such a store does not apply. One that only looks into it is
//! played: what can be seen of it may break. Where nothing does, it is not counted as held.

use skep_check::expectation::Wanted;
use skep_check::verdict::{Judgement, Subject, Verdict};
use skep_plan::{Cast, Given};
use skep_trace::Text;

use super::play::worst;
use crate::outcome::TestOutcome;
use crate::profile::{HarnessProfile, READABLE};
use crate::scenario::Scenario;

/// What the scenario needs: what it says, and what its lines take for granted.
pub fn needs(scenario: &Scenario, cast: &Cast) -> Vec<Text> {
    let mut needs: Vec<Text> = scenario.needs.iter().map(|need| need.value.clone()).collect();
    let formed = |given: &Given| match given {
        Given::Receipt(_) => true,
        Given::File(file) => file.path.is_none(),
    };
    if cast.given.iter().any(formed) {
        needs.push(READABLE.into());
    }
    needs
}

/// Sets the lines aside that nobody could judge.
pub fn set_aside(scenario: &Scenario, profile: &HarnessProfile, outcome: &mut TestOutcome) {
    let mut any = false;
    for judgement in &mut outcome.judgements {
        if is_unseen(scenario, profile, judgement) {
            any = true;
            judgement.verdict = Verdict::NotApplicable;
            judgement.blame = None;
            judgement.label = format!("the profile `{}` does not let it be seen", profile.name);
        }
    }
    if !any {
        return;
    }
    outcome.verdict = worst(&outcome.judgements, outcome.verdict);
    if outcome.verdict == Verdict::Held {
        outcome.verdict = Verdict::NotApplicable;
        let name = &profile.name;
        let reason =
            format!("holds as far as the profile `{name}` lets it be seen: its store is not");
        outcome.reason = Some(reason.into());
    }
}

fn is_unseen(scenario: &Scenario, profile: &HarnessProfile, judgement: &Judgement) -> bool {
    let Subject::Expectation { step, index } = judgement.subject else { return false };
    let line = scenario.steps.get(step).and_then(|step| step.expectations.get(index));
    match line.map(|line| &line.value.wanted) {
        Some(Wanted::Receipt(_)) => !profile.has.contains(READABLE),
        Some(Wanted::StoreTrouble { .. }) => !profile.settles.reports,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use skep_check::verdict::Blame;
    use skep_mutant::Mutants;

    use super::*;
    use crate::director::{Job, outline};
    use crate::live::Tested;
    use crate::outcome::WorldName;
    use crate::scenario::{SourceFile, parse};

    const LOOKS: &str = r#"
        scenario "it-looks" {
            agent "a" load-session=#true
            harness "h" agent="a"
            step "a mention" {
                mention channel="general"
                expect "session/new" count=1 bind="s1"
                expect receipt session="s1" channel="general"
            }
        }
    "#;

    /// The outcome with these verdicts on its two lines, seen through a profile.
    fn seen(verdicts: [Verdict; 2], has: &[&str]) -> TestOutcome {
        let (scenarios, mistakes) = parse(&SourceFile::new("x.kdl", LOOKS));
        assert!(mistakes.is_empty(), "{mistakes:?}");
        let mut profile = HarnessProfile::new("mine");
        profile.has = has.iter().map(|word| Text::from(*word)).collect();
        let tested = Tested {
            command: None,
            profile: std::sync::Arc::new(profile.clone()),
            tampering: None,
        };
        let job = Job { world: WorldName::Live, seed: 0, mutants: Mutants::NONE, tested };
        let mut outcome = outline::blank(&scenarios[0], &job);
        outcome.judgements =
            (0..).zip(verdicts).map(|(index, verdict)| line(index, verdict)).collect();
        outcome.verdict = worst(&outcome.judgements, Verdict::Inconclusive);
        set_aside(&scenarios[0], &profile, &mut outcome);
        outcome
    }

    fn line(index: usize, verdict: Verdict) -> Judgement {
        Judgement {
            subject: Subject::Expectation { step: 0, index },
            verdict,
            blame: Some(Blame::Harness),
            title: String::new(),
            label: String::new(),
            record: None,
            causes: Vec::new(),
        }
    }

    #[test]
    fn what_nobody_can_see_breaks_nothing_and_is_not_held() {
        let outcome = seen([Verdict::Held, Verdict::Violated], &[]);
        assert_eq!(outcome.verdict, Verdict::NotApplicable);
        assert!(outcome.reason.is_some_and(|reason| reason.contains("`mine`")));
        assert_eq!(seen([Verdict::Violated, Verdict::Held], &[]).verdict, Verdict::Violated);
    }

    #[test]
    fn a_store_that_is_read_counts() {
        assert_eq!(
            seen([Verdict::Held, Verdict::Violated], &[READABLE]).verdict,
            Verdict::Violated
        );
        assert_eq!(seen([Verdict::Held, Verdict::Held], &[READABLE]).verdict, Verdict::Held);
    }
}
