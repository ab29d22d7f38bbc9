//! A file for each thing that a store model breaks: it fails on the model, and holds on the
//! reference.

use skep::exit_code::ExitCode;
use skep::explore_store::{CheckName, Explored, exit_code, file_of, play_of};
use skep::scenario::{SourceFile, parse_store_play};
use skep_store::explore::{Figures, questions};
use skep_store::model::StoreName;
use skep_store::play::{Act, End};
use skep_store::suite::{Failure, Verdict};

#[test]
fn every_listed_breakage_has_a_file_that_shows_it() {
    let mut missing = Vec::new();
    for store in StoreName::ALL {
        for broken in store.breaks() {
            let Some(file) = file_of(store, broken) else {
                missing.push(format!("{} {}: no file", store.id(), broken.check));
                continue;
            };
            let source = SourceFile::new(&file.name, &file.text);
            let play = parse_store_play(&source)
                .unwrap_or_else(|mistakes| panic!("{}: {mistakes:#?}\n{}", file.name, file.text));
            assert_eq!(play.store, store);
            let end = play_of(store, &play.play);
            println!("{}: {end:?}", file.name);
            if !matches!(end, End::Broken(..)) {
                missing.push(format!("{}: {end:?}\n{}", file.name, file.text));
            }
            let has_steps = play.play.lines.iter().any(|line| matches!(line.act, Act::Schedule(_)));
            let on_reference = play_of(StoreName::Reference, &play.play);
            // A schedule that was searched for has the steps of its own store.
            if on_reference != End::Held && !(has_steps && matches!(on_reference, End::Unfit(..))) {
                missing.push(format!("{} on the reference: {on_reference:?}", file.name));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// A store with one check made.
fn with(store: StoreName, name: &'static str, verdict: Option<Verdict>) -> Explored {
    let check = CheckName { rule: "S-10", name };
    Explored { store, questions: Vec::new(), checks: vec![(check, verdict)] }
}

#[test]
fn what_is_not_as_it_is_listed_is_told_by_the_exit_code() {
    let broken = || Some(Err(Failure::Violated("so".to_owned())));
    let held = || Some(Ok("seen".to_owned()));
    let (lost, sound) =
        ("no_update_of_another_key_is_lost", "a_put_is_read_here_and_after_a_reopen");
    let code = |one: Explored| exit_code(&[one], false);
    assert_eq!(code(with(StoreName::SnapshotMap, lost, broken())), ExitCode::Held);
    assert_eq!(code(with(StoreName::SnapshotMap, lost, held())), ExitCode::Violated);
    assert_eq!(code(with(StoreName::SnapshotMap, sound, broken())), ExitCode::Violated);
    assert_eq!(code(with(StoreName::SnapshotMap, sound, held())), ExitCode::Held);
    assert_eq!(code(with(StoreName::Reference, lost, broken())), ExitCode::Violated);
    assert_eq!(code(with(StoreName::Reference, lost, None)), ExitCode::Inconclusive);
    assert_eq!(exit_code(&[], true), ExitCode::Interrupted);
}

#[test]
fn the_reference_may_not_lose_anything_in_any_order() {
    let question = questions().remove(0);
    let asked = |faults| {
        let figures = Figures { complete: true, faults, ..Figures::default() };
        let questions = vec![(question.clone(), Some(Ok(figures)))];
        let explored = Explored { store: StoreName::Reference, questions, checks: Vec::new() };
        exit_code(&[explored], false)
    };
    assert_eq!(asked([0; 5]), ExitCode::Held);
    assert_eq!(asked([1, 0, 0, 0, 0]), ExitCode::Violated);
}
