//! Each broken agent turns its row red, and no other row that is not said to follow; the
//! well-behaved one turns none.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use skep::certify::proof::{APART, certify_scripted, certify_without, prove};
use skep::certify::{Certificate, MOST_STARTS, Standing};
use skep::report::certificate::{badge, html, json, terminal};
use skep::report::paint::Paint;
use skep_agent::{Capability, Defect};
use skep_trace::{Process, Record, RpcId, Side, Sighting, What, jsonl};

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
fn a_certificate_is_judged_again_from_its_trace_and_told_in_every_form() {
    let certificate = certify_scripted(skep(), Some(Defect::DropsAgentText));
    let trace = jsonl::read(&jsonl::write(&certificate.trace)).unwrap();
    let again = Certificate::of(trace);
    for (row, other) in certificate.rows.iter().zip(&again.rows) {
        let seen = (row.standing, &row.note, row.record);
        assert_eq!(seen, (other.standing, &other.note, other.record), "{}", row.requirement.id());
    }
    let schema = serde_json::from_str(include_str!("../docs/certificate.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let document = json::report(&certificate);
    let faults: Vec<_> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new());
    let told = terminal::Told { quiet: false, all: false };
    let story = terminal::story(&certificate, told, Paint::PLAIN);
    let broken = certificate.rows.iter().find(|row| row.requirement.number == 37).unwrap();
    for text in [story, html::page(&certificate), document.to_string()] {
        assert!(text.contains("A-37") && text.contains(broken.requirement.title), "{text}");
    }
    assert!(badge::svg(&certificate).contains(&certificate.word()));
}

/// What was asked for by then and not answered yet: of each, who and under which id.
fn pending(records: &[Record]) -> BTreeSet<(Process, RpcId)> {
    let mut pending = BTreeSet::new();
    for record in records {
        match &record.what {
            What::Sighting { agent, sighting: Sighting::Asked { request, .. } } => {
                pending.insert((agent.clone(), request.clone()));
            }
            What::Acp { agent, from: Side::Agent, raw: Some(raw), .. } => {
                let line: Value =
                    serde_json::from_str(raw).expect("the well-behaved agent writes JSON");
                let id = line.get("id").filter(|_| line.get("method").is_none());
                if let Some(id) = id.and_then(RpcId::from_json) {
                    pending.remove(&(agent.clone(), id));
                }
            }
            _ => {}
        }
    }
    pending
}

/// The time for everything may be up after any request.
#[test]
fn a_certificate_that_is_cut_anywhere_is_judged_and_blames_nobody() {
    let whole = certify_scripted(skep(), None).trace;
    let (mut blamed, mut tried) = (BTreeSet::new(), BTreeSet::new());
    for (at, record) in whole.records.iter().enumerate() {
        let What::Sighting { agent, sighting: Sighting::Asked { probe, .. } } = &record.what else {
            continue;
        };
        // Every probe once: the other lanes are somewhere else each time.
        if !tried.insert(probe) {
            continue;
        }
        let mut trace = whole.clone();
        trace.records.truncate(at + 2);
        let did = Sighting::Did { probe: probe.clone(), about: "did not stream".into() };
        let mut seen = vec![What::Sighting { agent: agent.clone(), sighting: did }];
        seen.extend(pending(&trace.records).into_iter().map(|(agent, request)| What::Sighting {
            agent,
            sighting: Sighting::OutOfTime { request },
        }));
        trace.records.extend(seen.into_iter().map(|what| Record { at_ms: record.at_ms, what }));
        let rows = Certificate::of(trace).rows.into_iter();
        blamed.extend(
            rows.filter(|row| row.standing.is_broken())
                .map(|row| format!("cut in {probe}: {}: {}", row.requirement.id(), row.note)),
        );
    }
    assert_eq!(blamed, BTreeSet::new());
}

#[test]
fn nobody_is_judged_by_what_they_do_not_offer() {
    for lacks in Capability::ALL {
        let certificate = certify_without(skep(), lacks);
        for row in &certificate.rows {
            let (id, name) = (row.requirement.id(), lacks.name());
            let gated = row.requirement.gate.needs().contains(&name);
            let apart = row.standing == Standing::NotApplicable;
            assert!(apart || row.standing == Standing::Held, "{name}: {id}: {}", row.note);
            assert!(apart || !gated, "{name}: {id}: {}", row.note);
        }
        assert!(certificate.starts <= usize::try_from(MOST_STARTS).unwrap());
    }
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
