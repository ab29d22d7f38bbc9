//! Each broken agent turns its row red, and no other row that is not said to follow; the
//! well-behaved one turns none.

use std::path::Path;

use skep::certify::proof::{APART, certify_scripted, prove};
use skep::certify::{MOST_STARTS, Standing};
use skep_agent::Defect;

fn skep() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_skep"))
}

#[test]
fn the_well_behaved_agent_is_held_in_every_row_that_applies_to_it() {
    let certificate = certify_scripted(skep(), None);
    for row in &certificate.rows {
        let apart = APART.iter().any(|(number, _)| *number == row.requirement.number);
        let wanted = if apart { Standing::NotApplicable } else { Standing::Held };
        assert_eq!(row.standing, wanted, "{}: {}", row.requirement.id(), row.note);
    }
    assert_eq!(certificate.word(), "robust");
    assert!(certificate.starts <= usize::try_from(MOST_STARTS).unwrap());
}

#[test]
fn each_broken_agent_turns_its_row_red_and_no_other() {
    let jobs = std::thread::available_parallelism().map_or(2, usize::from) * 2;
    let proven = prove(skep(), Defect::ALL, jobs, &|| false, &|_| {});
    let wrong: Vec<_> = proven.iter().flatten().filter(|one| !one.is_proof()).collect();
    let told: Vec<_> = wrong
        .iter()
        .map(|one| {
            let missing = if one.unnoticed { " (its own is missing)" } else { "" };
            format!("{} {}: {:?}{missing}", one.defect.row(), one.defect.name(), one.broken)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", told.join("\n"));
}
