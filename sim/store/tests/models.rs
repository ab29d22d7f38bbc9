//! The store models: what each breaks is listed with a reason, and nothing else is.

use skep_store::model::{Binding, KeyedTtl, Receipt, SnapshotMap, StoreName};
use skep_store::suite::{Failure, LocalHost, SimGround, Subject, checks};

/// The checks that a store breaks.
fn broken<S: Subject>(subject: &S) -> Vec<&'static str> {
    let breaks = |run: fn(&mut LocalHost<S, SimGround>) -> _| {
        let verdict = run(&mut LocalHost::new(subject.clone(), SimGround::default()));
        matches!(verdict, Err(Failure::Violated(_)))
    };
    let broken = checks().into_iter().filter(|check| breaks(check.run));
    broken.map(|check| check.name).collect()
}

fn listed(store: StoreName) -> Vec<&'static str> {
    store.breaks().iter().map(|one| one.check).collect()
}

#[test]
fn receipt_breaks_what_is_listed() {
    assert_eq!(broken(&Receipt), listed(StoreName::Receipt));
}

#[test]
fn snapshot_map_breaks_what_is_listed() {
    assert_eq!(broken(&SnapshotMap), listed(StoreName::SnapshotMap));
}

#[test]
fn binding_breaks_what_is_listed() {
    assert_eq!(broken(&Binding::default()), listed(StoreName::Binding));
}

#[test]
fn keyed_ttl_breaks_what_is_listed() {
    assert_eq!(broken(&KeyedTtl), listed(StoreName::KeyedTtl));
}

/// The rules that the contract says must be seen broken.
#[test]
fn what_the_contract_expects_is_listed_as_expected() {
    let rules = |store: StoreName| {
        let checks = checks::<LocalHost<Receipt, SimGround>>();
        let expected = store.breaks().iter().filter(|one| one.expected);
        let rule = |name: &str| checks.iter().find(|check| check.name == name).map(|one| one.rule);
        let mut rules: Vec<_> = expected.filter_map(|one| rule(one.check)).collect();
        rules.dedup();
        rules
    };
    assert_eq!(rules(StoreName::Receipt), ["S-3"]);
    assert_eq!(rules(StoreName::SnapshotMap), ["S-4", "S-10", "S-21", "S-23", "S-40", "S-41"]);
    assert_eq!(rules(StoreName::Binding), ["S-4"]);
    assert_eq!(rules(StoreName::KeyedTtl), ["S-10", "S-21", "S-23", "S-31", "S-33"]);
}
