//! Several certificates as one page: agents × requirements, a coloured cell with its sign for each
//! verdict.
//!
//! What was seen stands behind each requirement's text, which opens on a click or a key; a mouse
//! finds it on the cells too.

use std::fmt::Write as _;

use super::compare::{Cell, Column, rows};
use super::style::{chip, class, escape, head, legend, prose};
use crate::certify::{Standing, section};

/// What a matrix needs besides. Names stand upright where there is no room for them.
const STYLE: &str = "\
body{max-width:88rem}.narrow{display:none}.matrix td,.matrix th{padding:.2rem .35rem}\
.matrix thead th{position:sticky;top:0;background:Canvas;vertical-align:bottom;z-index:1}\
.matrix .agent{text-align:center;min-width:6rem;max-width:10rem;font-weight:600}\
.matrix .agent small{display:block;font-weight:400}.matrix .agent b{display:block}\
.matrix td.cell{text-align:center;font-weight:700;border-left:1px solid var(--line)}\
.matrix th[scope=rowgroup]{background:Canvas}.facts-table td,.facts-table th{font-size:.9rem;\
white-space:nowrap;overflow-wrap:normal}.facts-table td:first-child{white-space:normal;\
overflow-wrap:anywhere;min-width:12rem}\
@media(max-width:44rem){body{padding:0 .4rem}.matrix .level{display:none}.narrow{display:inline}\
.matrix thead th{position:static}.matrix .agent{min-width:0}.matrix .agent>span{writing-mode:\
vertical-rl;transform:rotate(180deg);text-align:left;max-height:15rem}.matrix .agent b,\
.matrix .agent small{display:inline}.matrix td.cell{min-width:1.8rem}.matrix td,.matrix th{\
padding:.2rem}}\
@media print{.matrix thead th{position:static}}";

/// The page.
pub fn page(columns: &[Column]) -> String {
    let mut page = head("loadSession, compared", STYLE);
    page.push_str("<h1>loadSession, compared</h1>\n");
    page.push_str(&certificates(columns));
    page.push_str("<h2>Signs</h2>\n");
    page.push_str(&legend(&|_| None));
    page.push_str("<h2>Requirements</h2>\n<p class=\"dim\">Each opens with what was seen.</p>\n");
    page.push_str(&matrix(columns));
    page + "</body></html>\n"
}

/// A line for each certificate.
fn certificates(columns: &[Column]) -> String {
    let line = |column: &Column| {
        let counts = Standing::ALL.map(|standing| {
            let count = column.count(standing);
            format!("<td>{} {count}</td>", chip(standing))
        });
        let facts = [&column.platform, &column.profile, &column.specification, &column.skep];
        let facts: String =
            facts.into_iter().map(|fact| format!("<td>{}</td>", escape(fact))).collect();
        format!(
            "<tr><td>{} {}</td><td><b>{}</b></td>{facts}{}</tr>\n",
            escape(&column.name),
            escape(&column.version),
            escape(&column.word),
            counts.concat()
        )
    };
    let lines: String = columns.iter().map(line).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table class=\"facts-table\"><tr><th>agent</th>\
         <th>word</th><th>platform</th><th>profile</th><th>specification</th><th>skep</th>\
         <th colspan=\"6\">counts</th></tr>\n{lines}</table></div>\n"
    )
}

fn matrix(columns: &[Column]) -> String {
    let agent = |column: &Column| {
        format!(
            "<th class=\"agent\" scope=\"col\"><span>{} <small>{}</small> <b>{}</b></span></th>",
            escape(&column.name),
            escape(&column.version),
            escape(&column.word)
        )
    };
    let agents: String = columns.iter().map(agent).collect();
    let mut text = format!(
        "<table class=\"matrix\"><thead><tr><th>id</th><th class=\"level\">level</th>\
         <th>requirement</th>{agents}</tr></thead>\n"
    );
    let mut last = "";
    for row in rows(columns) {
        let title = section(row.number);
        if title != last {
            let wide = columns.len() + 3;
            writeln!(text, "<tr><th colspan=\"{wide}\" scope=\"rowgroup\">{title}</th></tr>")
                .expect("a string takes all");
            last = title;
        }
        text.push_str(&line(row, columns));
    }
    text + "</table>\n"
}

fn line(row: &Cell, columns: &[Column]) -> String {
    let cells: String = columns.iter().map(|column| cell(column.cell(row.number))).collect();
    let seen = columns.iter().filter_map(|column| {
        let cell = column.cell(row.number)?;
        let (name, note) = (escape(&column.name), prose(&cell.note));
        Some(format!("<li>{} {name}: {}, {note}</li>", chip(cell.standing), cell.standing))
    });
    let level = escape(&row.level);
    format!(
        "<tr><td class=\"id\"><a href=\"{}\">A-{}</a></td><td class=\"level\">{level}</td><td>\
         <details><summary>{}</summary><small class=\"narrow\">{level}</small><ul>{}</ul></details></td>{cells}</tr>\n",
        escape(&row.link),
        row.number,
        prose(&row.title),
        seen.collect::<String>(),
    )
}

fn cell(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return "<td class=\"cell\"></td>".to_owned() };
    let (standing, note) = (cell.standing, escape(&cell.note));
    format!(
        "<td class=\"cell {}\" title=\"{standing}: {note}\">{}</td>",
        class(standing),
        standing.sign()
    )
}
