//! A certificate as a document, described by `docs/certificate.schema.json`.

use serde_json::{Map, Value, json};

use super::{excerpt, platform};
use crate::certify::{Certificate, REVISION, Row, Standing, Tier};
use crate::report::paint::Paint;

/// The version of the document. A field that is added keeps it; anything else raises it.
pub const VERSION: u64 = 1;

/// The document.
pub fn report(certificate: &Certificate) -> Value {
    let rows: Vec<_> = certificate.rows.iter().map(|row| row_json(certificate, row)).collect();
    let header = &certificate.trace.header;
    json!({
        "skep_certificate": VERSION,
        "skep": env!("CARGO_PKG_VERSION"),
        "specification": REVISION,
        "agent": {
            "name": certificate.agent, "version": certificate.version,
            "command": &*header.file, "profile": &*header.profile,
        },
        "platform": platform(),
        "word": certificate.word(),
        "tiers": tiers(certificate),
        "counts": counts(certificate),
        "starts": certificate.starts,
        "took_ms": certificate.took_ms,
        "start_ups_ms": certificate.start_ups_ms,
        "requirements": rows,
    })
}

fn tiers(certificate: &Certificate) -> Map<String, Value> {
    let counts = |tier: Tier| certificate.tier.is_some_and(|reached| tier <= reached);
    Tier::ALL.into_iter().map(|tier| (tier.to_string(), counts(tier).into())).collect()
}

fn counts(certificate: &Certificate) -> Map<String, Value> {
    let count = |standing: Standing| (standing.to_string(), certificate.count(standing).into());
    Standing::ALL.into_iter().map(count).collect()
}

fn row_json(certificate: &Certificate, row: &Row) -> Value {
    let requirement = row.requirement;
    let at_ms = row.record.and_then(|record| certificate.trace.records.get(record));
    let wire: Vec<_> = if row.standing.is_broken() {
        excerpt(certificate, row, Paint::PLAIN).lines().map(str::to_owned).collect()
    } else {
        Vec::new()
    };
    json!({
        "id": requirement.id(), "level": requirement.level.to_string(),
        "derived": requirement.derived, "title": requirement.title,
        "source": requirement.source, "link": requirement.link(), "check": requirement.check(),
        "tier": requirement.tier.to_string(), "standing": row.standing.to_string(),
        "note": row.note, "at_ms": at_ms.map(|record| record.at_ms), "wire": wire,
    })
}
