//! The matrix of a proof, as people and programs read it.

use serde_json::Value;
use skep::matrix::{Breadth, Cell, Matrix, Row};
use skep::outcome::WorldName;
use skep::report::{Paint, matrix};
use skep_check::verdict::Verdict;
use skep_mutant::Mutant;

/// A row by its picture: `k` killed, `s` survived, a space was not tried.
fn row(test: &str, declared: &[&str], cells: &str) -> Row {
    let cell = |letter: char| match letter {
        'k' => Cell::Killed,
        's' => Cell::Survived,
        _ => Cell::Skipped,
    };
    Row {
        test: test.into(),
        baseline: Verdict::Held,
        declared: declared.iter().filter_map(|id| Mutant::parse(id)).collect(),
        cells: cells.chars().map(cell).collect(),
    }
}

fn sample() -> Matrix {
    let ids =
        ["harness/never-loads", "harness/loads-twice", "harness/death-forgets", "store/no-lock"];
    let mut red = row("it-is-red", &["store/no-lock"], "    ");
    red.baseline = Verdict::Violated;
    Matrix {
        world: WorldName::SimEvent,
        seed: 7,
        breadth: Breadth::Full,
        whole_corpus: true,
        tests: vec![
            row("restart-resumes", &["harness/never-loads"], "kkss"),
            row("rotation[kind=idle]", &["harness/death-forgets"], "ssss"),
            row("rotation[kind=busy]", &["harness/death-forgets"], "ksss"),
            red,
        ],
        mutants: ids.iter().filter_map(|id| Mutant::parse(id)).collect(),
        interrupted: false,
        wall_ms: 1234,
    }
}

/// A proof in which nothing is missing.
fn flawless() -> Matrix {
    let mut matrix = sample();
    matrix.tests = vec![row("restart-resumes", &["harness/never-loads"], "kkkk")];
    matrix
}

#[test]
fn survivors_are_seen_at_a_glance() {
    insta::assert_snapshot!(matrix::text(&sample(), false, 100, Paint::PLAIN));
}

#[test]
fn a_part_of_the_corpus_shows_what_is_its_business() {
    let mut matrix = flawless();
    matrix.whole_corpus = false;
    matrix.tests[0].cells[1..].fill(Cell::Survived);
    insta::assert_snapshot!(matrix::text(&matrix, false, 100, Paint::PLAIN));
}

#[test]
fn more_scenarios_than_fit_make_a_second_picture() {
    let mut matrix = flawless();
    let test = |number: usize| row(&format!("test-{number}"), &[], "ksks");
    matrix.tests = (1..=25).map(test).collect();
    insta::assert_snapshot!(matrix::text(&matrix, false, 52, Paint::PLAIN));
}

#[test]
fn a_quiet_proof_says_nothing_when_nothing_is_missing() {
    assert_eq!(matrix::text(&flawless(), true, 100, Paint::PLAIN), "");
    assert!(matrix::text(&sample(), true, 100, Paint::PLAIN).contains("2 unnoticed"));
}

#[test]
fn the_document_keeps_to_its_schema() {
    let schema: Value = serde_json::from_str(include_str!("../docs/prove.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for matrix in [sample(), flawless()] {
        let document = matrix::document(&matrix);
        let faults: Vec<_> = validator.iter_errors(&document).map(|one| one.to_string()).collect();
        assert_eq!(faults, Vec::<String>::new());
    }
    let mut document = matrix::document(&sample());
    assert_eq!(document["mutants"][0]["killed_by"][1], "rotation[kind=busy]");
    assert_eq!(document["survivors"][1], "store/no-lock");
    document["surprise"] = true.into();
    assert!(!validator.is_valid(&document));
}
