//! A certificate as one page: every row, and of each violated one the sequence of what was said.

use std::fmt::Write as _;

use skep_trace::{Side, What};

use super::sequence::{self, Arrow};
use super::{agent, badge, counts, own_process, platform};
use crate::certify::{Certificate, REVISION, Row, Standing, Tier};
use crate::report::clean::clean;
use crate::report::names::Names;
use crate::report::wire;

/// Lines before the one that shows it, and after.
const BEFORE: usize = 8;
const AFTER: usize = 2;

/// The page's own style; it needs nothing from elsewhere.
pub(super) const STYLE: &str = "\
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem \
auto;padding:0 1rem}table{border-collapse:collapse;width:100%}td,th{padding:.25rem .5rem;\
border-bottom:1px solid #8884;text-align:left;vertical-align:top}.held{color:#2e7d32}\
.violated{color:#c62828;font-weight:600}.advisory,.inconclusive,.blocked{color:#b08800}\
.not-applicable{color:#888}code,pre{font:13px/1.45 ui-monospace,monospace}svg{max-width:100%}\
h2{margin-top:2.5rem}small{color:#888}";

/// The page.
pub fn page(certificate: &Certificate) -> String {
    let title = escape(&format!("{}: {}", agent(certificate), certificate.word()));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style></head><body>\n\
         <h1>{title}</h1>\n<p>{}</p>\n",
        badge::svg(certificate)
    );
    page.extend(certificate.trouble.as_ref().map(super::trouble::html));
    page.push_str(&about(certificate));
    for row in certificate.rows.iter().filter(|row| row.standing == Standing::Violated) {
        page.push_str(&story(certificate, row));
    }
    page.push_str(&table(certificate));
    page.push_str("</body></html>\n");
    page
}

fn about(certificate: &Certificate) -> String {
    let header = &certificate.trace.header;
    let tiers = Tier::ALL.into_iter().map(|tier| {
        let counts = certificate.tier.is_some_and(|reached| tier <= reached);
        let (class, sign) = if counts { ("held", '✓') } else { ("violated", '✗') };
        format!(
            "<tr><td class=\"{class}\">{sign}</td><td>{tier}</td><td>{}</td></tr>",
            tier.meaning()
        )
    });
    format!(
        "<p>{} · {} starts, {} ms</p>\n<p><small>command <code>{}</code> · profile {} · {} · \
         specification {REVISION} · skep {}</small></p>\n<table>{}</table>\n",
        counts(certificate),
        certificate.starts,
        certificate.took_ms,
        escape(&header.file),
        escape(&header.profile),
        platform(),
        env!("CARGO_PKG_VERSION"),
        tiers.collect::<String>(),
    )
}

/// A violated row with its sequence.
fn story(certificate: &Certificate, row: &Row) -> String {
    let requirement = row.requirement;
    format!(
        "<h2 id=\"{id}\">{id} {}</h2>\n<p class=\"violated\">{}</p>\n{}<p><small>{}{} · <a \
         href=\"{}\">{}</a>{}</small></p>\n",
        escape(requirement.title),
        escape(&row.note),
        diagram(certificate, row),
        requirement.level,
        if requirement.derived { ", derived" } else { "" },
        requirement.link(),
        requirement.source,
        requirement.check().map(|check| format!(" · official kit: {check}")).unwrap_or_default(),
        id = requirement.id(),
    )
}

fn diagram(certificate: &Certificate, row: &Row) -> String {
    let Some((own, record)) = own_process(certificate, row) else { return String::new() };
    let lines = wire::lines(&own, &Names::default());
    let from = record.saturating_sub(BEFORE);
    let shown = lines.iter().enumerate().skip(from).take(record - from + AFTER + 1);
    let arrows: Vec<_> = shown
        .filter_map(|(at, line)| {
            let line = line.as_ref()?;
            let right = match &own.records[at].what {
                What::Acp { from: Side::Harness, .. } => Some(true),
                What::Acp { from: Side::Agent, .. } => Some(false),
                _ => None,
            };
            Some(Arrow { at_ms: line.at_ms, right, text: clean(&line.text), marked: at == record })
        })
        .collect();
    let agent = super::process(&own.records[record]).unwrap_or_default();
    sequence::svg("skep", &agent, &arrows)
}

fn table(certificate: &Certificate) -> String {
    let mut table = "<h2>All requirements</h2>\n<table><tr><th>id</th><th>level</th>\
                     <th>requirement</th><th>verdict</th><th>seen</th></tr>\n"
        .to_owned();
    for row in &certificate.rows {
        let requirement = row.requirement;
        let standing = row.standing.to_string();
        let class = standing.replace(' ', "-");
        writeln!(
            table,
            "<tr><td><a href=\"{}\">{}</a></td><td>{}</td><td>{}</td>\
             <td class=\"{class}\">{standing}</td><td>{}</td></tr>",
            requirement.link(),
            requirement.id(),
            requirement.level,
            escape(requirement.title),
            escape(&row.note),
        )
        .expect("a string takes all");
    }
    table + "</table>\n"
}

/// What HTML would act upon.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
