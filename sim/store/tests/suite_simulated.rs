//! The rules on the simulated disk: the reference keeps them all, and every fault breaks its own.

use skep_mutant::{Mutant, Mutants};
use skep_store::suite::{Check, Failure, LocalHost, Reference, SimGround, Verdict, checks};

type Host = LocalHost<Reference, SimGround>;

fn run(check: &Check<Host>, mutants: Mutants) -> Verdict {
    (check.run)(&mut LocalHost::new(Reference { mutants }, SimGround::default()))
}

#[test]
fn the_reference_keeps_every_rule() {
    let mut broken = Vec::new();
    for check in checks::<Host>() {
        match run(&check, Mutants::NONE) {
            Ok(seen) => println!("{:5} {}: {seen}", check.rule, check.name),
            Err(Failure::NotApplicable(why)) => {
                println!("{:5} {}: not applicable, {why}", check.rule, check.name);
                let threads = check.name.starts_with("racing_");
                assert!(threads, "{} must be applicable on the simulated disk", check.name);
            }
            Err(Failure::Violated(how)) => broken.push(format!("{}: {how}", check.name)),
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_rule_has_a_check() {
    let rules = [
        "S-1", "S-2", "S-3", "S-4", "S-5", "S-6", "S-7", "S-8", "S-10", "S-11", "S-12", "S-13",
        "S-20", "S-21", "S-22", "S-23", "S-30", "S-31", "S-32", "S-33", "S-40", "S-41", "S-42",
        "S-50",
    ];
    for rule in rules {
        assert!(checks::<Host>().iter().any(|check| check.rule == rule), "{rule}");
    }
}

#[test]
fn every_fault_of_the_store_is_found_by_a_check_of_its_rule() {
    let mut unnoticed = Vec::new();
    for mutant in Mutant::ALL.iter().copied().filter(|mutant| mutant.id().starts_with("store/")) {
        let finds = |check: &Check<Host>| match run(check, Mutants::only(mutant)) {
            Err(Failure::Violated(how)) => {
                println!("{mutant}: {}: {}", check.name, how.chars().take(150).collect::<String>());
                true
            }
            _ => false,
        };
        let own = checks::<Host>().into_iter().filter(|check| check.rule == mutant.rule());
        if own.filter(finds).count() == 0 {
            unnoticed.push(mutant.id());
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}
