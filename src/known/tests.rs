use skep_check::verdict::Subject;

use super::*;
use crate::exit_code::ExitCode;
use crate::scenario::{SourceFile, parse_known, render};

const LIST: &str = r#"
known-failure "restart" rule="H-1" reason="no store yet"
known-failure "load[x=1]" reason="odd" profile="mine"
"#;

fn listed(text: &str) -> Vec<KnownFailure> {
    let read = parse_known(&SourceFile::new("known.kdl", text), &["H-1", "H-13", "H-80"]);
    read.map_err(|mistakes| render(&mistakes, false)).unwrap()
}

fn played(test: &str, verdict: Verdict, broken: &[&'static str]) -> TestOutcome {
    let mut outcome = crate::outcome::sample(test, verdict);
    outcome.judgements = broken
        .iter()
        .map(|rule| Judgement {
            subject: Subject::Invariant(rule),
            verdict: Verdict::Violated,
            blame: Some(Blame::Harness),
            title: String::new(),
            label: String::new(),
            record: None,
            causes: Vec::new(),
        })
        .collect();
    outcome
}

/// What the process ends with, and how every entry stands.
fn ends(list: &str, tests: Vec<TestOutcome>) -> (ExitCode, Vec<Standing>) {
    let mut run = crate::outcome::sample_run(tests);
    account(&mut run, listed(list), "mine", &|entry| !entry.test.starts_with("gone"));
    (run.exit_code(), run.known.iter().map(|entry| entry.standing).collect())
}

#[test]
fn a_failure_that_is_listed_costs_nothing() {
    let tests = vec![
        played("restart", Verdict::Violated, &["H-1"]),
        played("load[x=1]", Verdict::Violated, &["H-80"]),
        played("other", Verdict::Held, &[]),
    ];
    assert_eq!(ends(LIST, tests), (ExitCode::Held, vec![Standing::Fails; 2]));
}

#[test]
fn a_break_of_another_rule_is_news() {
    let tests = vec![played("restart", Verdict::Violated, &["H-1", "H-13"])];
    assert_eq!(ends(LIST, tests).0, ExitCode::Violated);
}

#[test]
fn an_entry_that_holds_or_names_nothing_is_an_error() {
    let held = || vec![played("restart", Verdict::Held, &[])];
    let (code, standings) = ends(LIST, held());
    assert_eq!((code, standings[0]), (ExitCode::Violated, Standing::Holds));
    let gone = r#"known-failure "gone" reason="x""#;
    assert_eq!(ends(gone, held()), (ExitCode::Violated, vec![Standing::Missing]));
    // It fails, but not as the entry says.
    let other = vec![played("restart", Verdict::Violated, &["H-13"])];
    assert_eq!(ends(LIST, other).1[0], Standing::Holds);
}

#[test]
fn what_was_not_judged_says_nothing() {
    let judged = |verdict| ends(LIST, vec![played("restart", verdict, &[])]).1;
    for verdict in [Verdict::NotApplicable, Verdict::Inconclusive] {
        assert_eq!(judged(verdict), [Standing::Unjudged; 2]);
    }
    let other = r#"known-failure "restart" reason="x" profile="other""#;
    let held = vec![played("restart", Verdict::Held, &[])];
    assert_eq!(ends(other, held), (ExitCode::Held, vec![Standing::Unjudged]));
    // One cell of two still fails.
    let cells = vec![
        played("load[x=1]", Verdict::Held, &[]),
        played("load[x=2]", Verdict::Violated, &["H-1"]),
    ];
    let whole = r#"known-failure "load" reason="x""#;
    assert_eq!(ends(whole, cells), (ExitCode::Held, vec![Standing::Fails]));
}

#[test]
fn what_is_wrong_with_the_scenario_is_never_known() {
    let mut test = played("restart", Verdict::Violated, &["H-1"]);
    test.judgements[0].blame = Some(Blame::Scenario);
    assert_eq!(ends(LIST, vec![test]).0, ExitCode::Violated);
}

#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    let wrong = r#"
known-failure "a"
known-failure reason="who?"
known-failure "b" rule="H-2" reason=""
known-falure "c" reason="x"
known-failure "d" reason="x" because="y"
known-failure "e" reason="x"
known-failure "e" reason="y"
"#;
    let mistakes = parse_known(&SourceFile::new("known.kdl", wrong), &["H-1"]).unwrap_err();
    assert!(mistakes.iter().all(|one| !one.help.is_empty()));
    insta::assert_snapshot!(render(&mistakes, false));
}
