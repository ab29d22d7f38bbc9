//! The exploration can fail: the reference is sound, and each fault of it is told as what it is.

use skep_mutant::{Mutant, Mutants};
use skep_store::explore::{Extent, Figures, Outcome, Question, questions, shortest, walk};
use skep_store::suite::Reference;

fn question(name: &str) -> Question {
    questions().into_iter().find(|one| one.name == name).expect("a question of that name")
}

fn asked(mutants: Mutants, question: &Question) -> Figures {
    walk(&Reference { mutants }, question, &|| false).expect("the reference does not hang")
}

#[test]
fn the_reference_is_sound() {
    for name in ["put", "first-put", "remove", "remove-if", "puts", "put-and-get", "remove-ifs"] {
        let figures = asked(Mutants::NONE, &question(name));
        assert!(figures.complete && figures.is_sound(), "{name}: {figures:?}");
    }
    let killed = Question { extent: Extent::Preemptions(1), ..question("puts-and-a-kill") };
    let figures = asked(Mutants::NONE, &killed);
    assert!(figures.complete && figures.is_sound(), "{figures:?}");
}

#[test]
fn every_fault_is_told_as_what_it_is() {
    let faults = [
        (Mutant::NoFileSync, "put", Outcome::Torn),
        (Mutant::NoDirSync, "put", Outcome::Lost),
        (Mutant::WritesInPlace, "put", Outcome::Torn),
        (Mutant::NoRereadUnderLock, "puts", Outcome::Lost),
        (Mutant::NoLock, "puts", Outcome::Lost),
        (Mutant::RemoveIfIgnoresId, "put-and-remove-if", Outcome::Lost),
        (Mutant::OlderWins, "same-key", Outcome::Lost),
    ];
    for (mutant, name, outcome) in faults {
        // The crash questions of two writers have their own faults; here the orders are meant.
        let question = Question { cuts: name == "put", ..question(name) };
        let figures = asked(Mutants::only(mutant), &question);
        assert!(figures.of(outcome) > 0, "{mutant} in {name}: {figures:?}");
    }
}

#[test]
fn the_shortest_schedule_has_as_few_switches_as_can_be() {
    let subject = Reference { mutants: Mutants::only(Mutant::NoLock) };
    let question = Question { cuts: false, ..question("puts") };
    let found = shortest(&subject, &question, Outcome::Lost).expect("nothing hangs");
    let steps = found.expect("without a lock an update is lost").steps;
    let switches = steps.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
    // One reads, the other reads and writes, the first writes over it.
    assert_eq!(switches, 2, "{steps:?}");
}

#[test]
fn a_question_that_is_stopped_is_not_complete() {
    let figures = walk(&Reference::default(), &question("puts"), &|| true);
    assert!(!figures.expect("nothing hangs").complete);
}
