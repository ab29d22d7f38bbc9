//! The report that every CI reads: JUnit XML. A file is a suite, a test is a test case.
//!
//! What is violated is a failure, what is inconclusive an error: neither is ever a pass. What does
//! not apply is skipped, with its reason, and so is a failure that was known.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use skep_check::verdict::Verdict;

use super::{Paint, story};
use crate::known::KnownFailure;
use crate::outcome::{RunOutcome, TestOutcome};

/// The run as JUnit XML; with real times where they are asked for.
pub fn report(outcome: &RunOutcome, timed: bool) -> String {
    let mut report = Report::new("skep");
    if timed {
        report.set_time(Duration::from_millis(outcome.wall_ms));
    }
    let unsteady = outcome.unsteady();
    for file in outcome.tests.chunk_by(|one, other| one.file == other.file) {
        let mut suite = TestSuite::new(&*file[0].file);
        for runs in file.chunk_by(|one, other| one.test == other.test) {
            let differ = unsteady.contains_key(&runs[0].test);
            suite.add_test_cases(runs.iter().map(|test| case(test, runs.len(), differ, timed)));
        }
        report.add_test_suite(suite);
    }
    for file in outcome.known.chunk_by(|one, other| one.file == other.file) {
        let mut suite = TestSuite::new(&*file[0].file);
        suite.add_test_cases(file.iter().filter(|entry| entry.is_untrue()).map(untrue));
        if !suite.test_cases.is_empty() {
            report.add_test_suite(suite);
        }
    }
    report.to_string().expect("text and numbers are always XML")
}

/// A known failure that is none fails in the name of its file.
fn untrue(entry: &KnownFailure) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(entry.complaint()).set_type("known-failure");
    let mut case = TestCase::new(entry.test.to_string(), status);
    case.set_classname("skep.known-failures");
    case
}

fn case(test: &TestOutcome, repeats: usize, unsteady: bool, timed: bool) -> TestCase {
    let name = match repeats {
        1 => test.test.to_string(),
        _ => format!("{} (seed {})", test.test, test.seed),
    };
    let mut case = TestCase::new(name, status(test, unsteady));
    case.set_classname(format!("skep.{}", test.world.word().replace('/', ".")));
    if timed {
        case.set_time(Duration::from_millis(test.wall_ms));
    }
    case
}

/// Of repeats that differ none proves a failure.
fn status(test: &TestOutcome, unsteady: bool) -> TestCaseStatus {
    if let Some(reason) = test.known.as_ref().filter(|_| !unsteady) {
        let mut status = TestCaseStatus::skipped();
        status.set_message(format!("known failure: {reason}")).set_type("known-failure");
        return status;
    }
    let mut status = match test.verdict {
        Verdict::Held => return TestCaseStatus::success(),
        Verdict::NotApplicable => TestCaseStatus::skipped(),
        Verdict::Violated if unsteady => TestCaseStatus::non_success(NonSuccessKind::Error),
        Verdict::Violated => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Inconclusive => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let judged = test.judged(test.verdict);
    let first = judged.first().filter(|_| test.verdict != Verdict::NotApplicable);
    match (first, &test.reason) {
        (Some(judgement), _) => {
            let word = if unsteady { "unsteady: " } else { "" };
            status.set_message(format!("{word}{}", judgement.title));
            status.set_type(story::code(test, judgement));
        }
        (None, Some(reason)) => {
            status.set_message(&**reason);
        }
        (None, None) => {}
    }
    let story = story::story(test, Paint::PLAIN);
    if !story.is_empty() {
        status.set_description(story);
    }
    status
}
