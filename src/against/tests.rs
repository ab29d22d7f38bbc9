use std::sync::Arc;

use skep_check::verdict::{Blame, Judgement};
use skep_trace::{Frame, Life, Process, Record, Side, Trace, What};

use super::*;
use crate::outcome::{sample, sample_run};

fn against(tested: Vec<TestOutcome>, other: Vec<TestOutcome>) -> Against {
    let (tested, other) = (sample_run(tested), sample_run(other));
    Against { tested, other, named: "./b".to_owned() }
}

fn breaks(name: &str, rules: &[&'static str]) -> TestOutcome {
    let judgement = |rule: &&'static str| Judgement {
        subject: Subject::Invariant(rule),
        verdict: Verdict::Violated,
        blame: Some(Blame::Harness),
        title: String::new(),
        label: String::new(),
        record: None,
        causes: Vec::new(),
    };
    TestOutcome {
        judgements: rules.iter().map(judgement).collect(),
        ..sample(name, Verdict::Violated)
    }
}

fn changes(against: &Against) -> Vec<Change> {
    against.pairs().iter().map(|pair| pair.change).collect()
}

#[test]
fn what_fails_on_both_is_no_news() {
    let both = || vec![breaks("a", &["H-1"]), sample("b", Verdict::Held)];
    let same = against(both(), both());
    assert_eq!(changes(&same), [Change::Same; 2]);
    assert_eq!(same.exit_code(), ExitCode::Held);
}

#[test]
fn worse_is_told_from_better() {
    let held = || vec![sample("a", Verdict::Held)];
    let red = || vec![breaks("a", &["H-1"])];
    let worse = against(red(), held());
    assert_eq!((changes(&worse), worse.exit_code()), (vec![Change::Worse], ExitCode::Violated));
    let better = against(held(), red());
    assert_eq!((changes(&better), better.exit_code()), (vec![Change::Better], ExitCode::Held));
    let unseen = against(vec![sample("a", Verdict::Inconclusive)], held());
    assert_eq!(unseen.exit_code(), ExitCode::Inconclusive);
    let lacks = against(vec![sample("a", Verdict::NotApplicable)], held());
    assert_eq!(changes(&lacks), [Change::Other]);
}

#[test]
fn another_line_that_breaks_in_a_red_test_is_news() {
    let two = against(vec![breaks("a", &["H-1", "H-13"])], vec![breaks("a", &["H-1"])]);
    assert_eq!(changes(&two), [Change::Worse]);
    let one = against(vec![breaks("a", &["H-1"])], vec![breaks("a", &["H-1", "H-13"])]);
    assert_eq!(changes(&one), [Change::Better]);
}

/// A trace in which a harness sends these lines to its agent.
fn trace(lines: &[&str]) -> Trace {
    let record = |line: &&str| Record {
        at_ms: 1,
        what: What::Acp {
            agent: Process { agent: "a".into(), process: 1 },
            harness: Life { harness: "h".into(), life: 1 },
            from: Side::Harness,
            frame: Arc::new(Frame::from_line(line)),
            raw: None,
        },
    };
    Trace { records: lines.iter().map(record).collect(), ..Trace::default() }
}

const LOAD: &str = r#"{"jsonrpc":"2.0","id":4,"method":"session/load","params":{"sessionId":"S"}}"#;
const NEW: &str = r#"{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/w"}}"#;

#[test]
fn the_first_frame_that_differs_is_found_in_both() {
    let parting = parting::find(&trace(&[LOAD, LOAD]), &trace(&[LOAD, NEW])).unwrap();
    assert_eq!((parting.tested, parting.other), (Some(1), Some(1)));
    assert_eq!(&*parting.between, "h#1 → a#1");
    assert!(parting.place.starts_with("/method"), "{}", parting.place);
    let shorter = parting::find(&trace(&[LOAD]), &trace(&[LOAD, NEW])).unwrap();
    assert_eq!((shorter.tested, shorter.other), (None, Some(1)));
}

#[test]
fn ids_of_another_run_part_nobody() {
    let later = LOAD.replace("\"S\"", "\"T\"").replace(":4", ":9");
    assert_eq!(parting::find(&trace(&[LOAD]), &trace(&[&later])), None);
}
