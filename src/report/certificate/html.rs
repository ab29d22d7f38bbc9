//! A certificate as one page: what it is of, what it comes to, of each violated row the sequence
//! of what was said, and every row.

use std::fmt::Write as _;

use skep_trace::{Side, What};

use super::sequence::{self, Arrow};
use super::style::{chip, class, escape, escape_lines, head, legend, prose};
use super::{agent, badge, own_process, platform, terminal, trouble};
use crate::certify::{Certificate, REVISION, Row, Standing, Tier, section};
use crate::report::clean::{clean, fit};
use crate::report::names::Names;
use crate::report::wire;

/// Lines before the one that shows it, and after.
const BEFORE: usize = 8;
const AFTER: usize = 2;
/// What is shown of a frame, in columns: a page is no trace.
const FRAME_COLUMNS: usize = 4000;
/// The specification, where its revision is.
const SPECIFICATION: &str = "https://github.com/agentclientprotocol/agent-client-protocol/tree/";

/// The page.
pub fn page(certificate: &Certificate) -> String {
    let title = escape(&format!("{}: {}", agent(certificate), certificate.word()));
    let mut page = head(&title, "");
    write!(page, "<h1>{title}</h1>\n<p>{}</p>\n", badge::svg(certificate))
        .expect("a string takes all");
    let late = trouble::out_of_time(certificate);
    if !late.is_empty() {
        writeln!(page, "<p class=\"late\">{}</p>", prose(&late)).expect("a string takes all");
    }
    page.extend(certificate.trouble.as_ref().map(trouble::html));
    page.push_str(&facts(certificate));
    page.push_str("<h2>What it comes to</h2>\n");
    page.push_str(&ladder(certificate));
    page.push_str("<h2>Verdicts</h2>\n");
    page.push_str(&legend(&|standing| Some(certificate.count(standing))));
    for row in certificate.rows.iter().filter(|row| row.standing == Standing::Violated) {
        page.push_str(&story(certificate, row));
    }
    page.push_str(&table(certificate));
    page.push_str("</body></html>\n");
    page
}

fn facts(certificate: &Certificate) -> String {
    let header = &certificate.trace.header;
    let facts = [
        ("agent", escape(&certificate.agent)),
        ("version", escape(&certificate.version)),
        ("command", format!("<code>{}</code>", escape(&header.file))),
        ("profile", escape(&header.profile)),
        ("platform", platform()),
        ("specification", format!("<a href=\"{SPECIFICATION}{REVISION}\">{REVISION}</a>")),
        ("skep", env!("CARGO_PKG_VERSION").to_owned()),
        ("effort", terminal::effort(certificate)),
    ];
    let lines = facts.into_iter().map(|(name, value)| match value.is_empty() {
        true => format!("<dt>{name}</dt><dd class=\"dim\">it does not say</dd>"),
        false => format!("<dt>{name}</dt><dd>{value}</dd>"),
    });
    format!("<dl class=\"facts\">{}</dl>\n", lines.collect::<String>())
}

/// The words, each with what keeps it from counting.
fn ladder(certificate: &Certificate) -> String {
    let step = |tier: Tier| {
        let counts = certificate.tier.is_some_and(|reached| tier <= reached);
        let sign = chip(if counts { Standing::Held } else { Standing::Violated });
        let why = if counts { String::new() } else { missing(certificate, tier) };
        format!("<tr><td>{sign}</td><td><b>{tier}</b></td><td>{}{why}</td></tr>", tier.meaning())
    };
    format!(
        "<table class=\"ladder\">{}</table>\n",
        Tier::ALL.into_iter().map(step).collect::<String>()
    )
}

fn missing(certificate: &Certificate, tier: Tier) -> String {
    let links = terminal::failing(certificate, tier);
    let links: Vec<_> = links.iter().map(|id| format!("<a href=\"#row-{id}\">{id}</a>")).collect();
    match links.is_empty() {
        true => "<br><small>needs those above</small>".to_owned(),
        false => format!("<br><small>{}</small>", links.join(" ")),
    }
}

/// A violated row with its sequence.
fn story(certificate: &Certificate, row: &Row) -> String {
    let requirement = row.requirement;
    format!(
        "<section class=\"story\"><h2 id=\"{id}\">{sign} {id} {}</h2>\n<p class=\"note\">{}</p>\n\
         {}<p><small>{}{} · <a href=\"{}\">{}</a>{}</small></p></section>\n",
        prose(requirement.title),
        prose(&row.note),
        diagram(certificate, row),
        requirement.level,
        if requirement.derived { ", derived" } else { "" },
        requirement.link(),
        requirement.source,
        requirement.check().map(|check| format!(" · official kit: {check}")).unwrap_or_default(),
        id = requirement.id(),
        sign = chip(row.standing),
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
    let svg = sequence::svg("skep", &agent, &arrows);
    format!("<div class=\"wide\" tabindex=\"0\">{svg}</div>{}", frame(&own.records[record].what))
}

/// The frame that shows it, as it was written.
fn frame(what: &What) -> String {
    let What::Acp { frame, raw, .. } = what else { return String::new() };
    let raw = raw.as_deref().map_or_else(|| frame.to_line(), str::to_owned);
    format!(
        "<details><summary>the line that is marked, as it was written</summary><pre>{}</pre>\
         </details>\n",
        escape_lines(&fit(&clean(&raw), FRAME_COLUMNS))
    )
}

fn table(certificate: &Certificate) -> String {
    let mut table = "<h2>All requirements</h2>\n<table class=\"rows\"><thead><tr><th>id</th>\
                     <th>level</th><th>requirement</th><th>verdict</th><th>seen</th></tr></thead>\n"
        .to_owned();
    let mut last = "";
    for row in &certificate.rows {
        let title = section(row.requirement.number);
        if title != last {
            writeln!(table, "<tr><th colspan=\"5\" scope=\"rowgroup\">{title}</th></tr>")
                .expect("a string takes all");
            last = title;
        }
        table.push_str(&line(row));
    }
    table + "</table>\n"
}

fn line(row: &Row) -> String {
    let (requirement, standing) = (row.requirement, row.standing);
    let verdict = format!("{} {standing}", standing.sign());
    let verdict = match standing {
        Standing::Violated => format!("<a href=\"#{}\">{verdict}</a>", requirement.id()),
        _ => verdict,
    };
    format!(
        "<tr id=\"row-{id}\"><td class=\"id\"><a href=\"{}\">{id}</a></td><td class=\"level\">{}\
         </td><td>{}</td><td><span class=\"chip {}\">{verdict}</span></td><td>{}</td></tr>\n",
        requirement.link(),
        requirement.level,
        prose(requirement.title),
        class(standing),
        prose(&row.note),
        id = requirement.id(),
    )
}
