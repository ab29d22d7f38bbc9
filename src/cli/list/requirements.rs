//! `skep list requirements`: the table of a certificate.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skep_agent::Defect;

use crate::certify::proof::breaking;
use crate::certify::{Probe, Requirement};
use crate::report::clean::{COLUMNS, wrap};
use crate::report::paint::{Paint, Tone};

/// Under the title, behind id and level.
const INDENT: usize = 13;

/// The table for a person: a few lines a row.
pub(super) fn text(rows: &[&Requirement], paint: Paint) -> String {
    let mut text = String::new();
    for row in rows {
        let id = paint.paint(Tone::Strong, format!("{:<6}", row.id()));
        let derived = if row.derived { " (derived)" } else { "" };
        let check = row.check().map(|check| format!(" · kit: {check}")).unwrap_or_default();
        let gate = match row.gate.needs() {
            [] => String::new(),
            needs => format!(" · needs {}", needs.join(", ")),
        };
        writeln!(text, "{id}{:<6} {}", row.level, row.title).expect("a string takes all");
        let about = format!("{}{derived}{gate} · {}{check}", row.tier, row.source);
        let plan: Vec<_> = row.plan.iter().map(|probe| probe.word()).collect();
        let broken = breaking(row.number);
        let broken: Vec<_> = broken.iter().map(|defect| defect.name()).collect();
        let broken = if broken.is_empty() { "nobody".to_owned() } else { broken.join(", ") };
        for (key, value) in [("", about), ("plan: ", plan.join(", ")), ("broken by: ", broken)] {
            for line in wrap(&format!("{key}{value}"), COLUMNS - INDENT) {
                let line = paint.paint(Tone::Faint, format!("{:INDENT$}{line}", ""));
                writeln!(text, "{line}").expect("a string takes all");
            }
        }
    }
    text
}

/// The table for programs.
pub(super) fn document(rows: &[&Requirement]) -> Value {
    let probe = |probe: &Probe| json!({"probe": probe.word(), "what": probe.what()});
    let agent = |defect: &Defect| json!({"name": defect.name(), "what": defect.what(), "follows": defect.follows()});
    let row = |row: &&Requirement| {
        json!({
            "id": row.id(), "level": row.level.to_string(), "derived": row.derived,
            "title": row.title, "source": row.source, "link": row.link(), "check": row.check(),
            "needs": row.gate.needs(), "tier": row.tier.to_string(),
            "plan": row.plan.iter().map(probe).collect::<Value>(),
            "broken_by": breaking(row.number).iter().map(agent).collect::<Value>(),
        })
    };
    rows.iter().map(row).collect()
}
