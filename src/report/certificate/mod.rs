//! A certificate, told: on the terminal, as JSON, Markdown, HTML, a badge, and beside others.
//!
//! All of them are views of one [`Certificate`]; the comparison reads the JSON of several.

pub mod badge;
pub mod compare;
pub mod html;
pub mod json;
pub mod markdown;
pub mod matrix;
mod sequence;
mod style;
pub mod terminal;
mod trouble;

use skep_check::verdict::Verdict;
use skep_trace::{Record, Trace, What};

use super::names::Names;
use super::paint::{Paint, Tone};
use super::wire::{self, moment};
use crate::certify::{Certificate, Row, Standing};

/// The tone of a standing.
pub fn tone(standing: Standing) -> Tone {
    match standing {
        Standing::Held => Tone::Good,
        Standing::Violated => Tone::Bad,
        Standing::Advisory | Standing::Inconclusive | Standing::Blocked => Tone::Doubt,
        Standing::NotApplicable => Tone::Faint,
    }
}

/// The wire of one process around the record that a row shows; empty where it shows none.
pub fn excerpt(certificate: &Certificate, row: &Row, paint: Paint) -> String {
    let Some((own, record)) = own_process(certificate, row) else { return String::new() };
    let lines = wire::lines(&own, &Names::default());
    let verdict = match row.standing {
        Standing::Violated => Verdict::Violated,
        _ => Verdict::Inconclusive,
    };
    moment::around(&lines, record, verdict, paint)
}

/// What concerns the process of a row's record, and that record's place in it.
fn own_process(certificate: &Certificate, row: &Row) -> Option<(Trace, usize)> {
    let record = row.record?;
    let process = process(certificate.trace.records.get(record)?)?;
    let ours = |(_, one): &(usize, &Record)| self::process(one).as_deref() == Some(&process);
    let records: Vec<_> = certificate.trace.records.iter().enumerate().filter(ours).collect();
    let place = records.iter().position(|(at, _)| *at == record)?;
    let records = records.into_iter().map(|(_, record)| record.clone()).collect();
    Some((Trace { header: certificate.trace.header.clone(), records }, place))
}

/// The process that a record is about.
pub(super) fn process(record: &Record) -> Option<String> {
    match &record.what {
        What::Acp { agent, .. }
        | What::AgentStarted { agent, .. }
        | What::AgentEnded { agent, .. }
        | What::Sighting { agent, .. } => Some(agent.to_string()),
        _ => None,
    }
}

/// The agent's name and version, or its command.
pub fn agent(certificate: &Certificate) -> String {
    let name = format!("{} {}", certificate.agent, certificate.version).trim().to_owned();
    if name.is_empty() { certificate.trace.header.file.to_string() } else { name }
}

/// Where it ran.
pub fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// `96 held · 2 violated`: the standings that there are.
pub fn counts(certificate: &Certificate) -> String {
    let counted = Standing::ALL.into_iter().filter_map(|standing| {
        let count = certificate.count(standing);
        (count > 0).then(|| format!("{count} {standing}"))
    });
    counted.collect::<Vec<_>>().join(" · ")
}
