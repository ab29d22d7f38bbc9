//! Several certificates beside each other: agents × requirements.
//!
//! It reads the documents that [`super::json`] writes, so that certificates of other days and
//! other machines can stand in one table.

use std::fmt::Write as _;

use serde_json::Value;

use super::html::{STYLE, escape as html};
use super::json::VERSION;
use super::markdown::escape as markdown;
use crate::certify::Standing;

/// One certificate of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    name: String,
    word: String,
    rows: Vec<Cell>,
}

/// One requirement of one certificate.
#[derive(Clone, Debug, PartialEq)]
struct Cell {
    id: String,
    level: String,
    title: String,
    link: String,
    standing: Standing,
    note: String,
}

impl Column {
    /// Reads a document; `None` where it is no certificate of this version.
    pub fn read(document: &Value) -> Option<Self> {
        if document["skep_certificate"].as_u64() != Some(VERSION) {
            return None;
        }
        let agent = &document["agent"];
        let name = format!("{} {}", agent["name"].as_str()?, agent["version"].as_str()?);
        let name = match name.trim() {
            "" => agent["command"].as_str()?.to_owned(),
            name => name.to_owned(),
        };
        let rows = document["requirements"].as_array()?.iter().map(Cell::read);
        let word = document["word"].as_str()?.to_owned();
        Some(Self { name, word, rows: rows.collect::<Option<_>>()? })
    }

    fn cell(&self, id: &str) -> Option<&Cell> {
        self.rows.iter().find(|cell| cell.id == id)
    }
}

impl Cell {
    fn read(row: &Value) -> Option<Self> {
        let text = |key: &str| row[key].as_str().map(str::to_owned);
        let standing = Standing::ALL
            .into_iter()
            .find(|standing| row["standing"].as_str() == Some(&standing.to_string()))?;
        Some(Self {
            id: text("id")?,
            level: text("level")?,
            title: text("title")?,
            link: text("link")?,
            standing,
            note: text("note")?,
        })
    }
}

/// The table as Markdown: the word of each, then every requirement, then the signs.
pub fn table(columns: &[Column]) -> String {
    let mut text = "| requirement | |".to_owned();
    let mut rule = "|---|---|".to_owned();
    let mut words = "| **result** | |".to_owned();
    for column in columns {
        write!(text, " {} |", markdown(&column.name)).expect("a string takes all");
        rule.push_str(":-:|");
        write!(words, " **{}** |", markdown(&column.word)).expect("a string takes all");
    }
    text = format!("{text}\n{rule}\n{words}\n");
    for row in rows(columns) {
        write!(text, "| [{}]({}) {} | {} |", row.id, row.link, markdown(&row.title), row.level)
            .expect("a string takes all");
        for column in columns {
            let sign = column.cell(&row.id).map_or(' ', |cell| cell.standing.sign());
            write!(text, " {sign} |").expect("a string takes all");
        }
        text.push('\n');
    }
    text + "\n" + &legend() + "\n"
}

/// The table as one page.
pub fn page(columns: &[Column]) -> String {
    let head: String = columns
        .iter()
        .map(|column| format!("<th>{}<br>{}</th>", html(&column.name), html(&column.word)))
        .collect();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>loadSession, \
         compared</title><style>{STYLE}td.s{{text-align:center}}thead{{position:sticky;top:0;\
         background:Canvas}}</style></head><body>\n<h1>loadSession, compared</h1>\n<p>{}</p>\n\
         <table><thead><tr><th>requirement</th><th>level</th>{head}</tr></thead>\n",
        legend()
    );
    for row in rows(columns) {
        let cells: String = columns.iter().map(|column| cell(column.cell(&row.id))).collect();
        writeln!(
            page,
            "<tr><td><a href=\"{}\">{}</a> {}</td><td>{}</td>{cells}</tr>",
            html(&row.link),
            row.id,
            html(&row.title),
            row.level,
        )
        .expect("a string takes all");
    }
    page + "</table></body></html>\n"
}

fn cell(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return "<td></td>".to_owned() };
    let class = cell.standing.to_string().replace(' ', "-");
    format!("<td class=\"s {class}\" title=\"{}\">{}</td>", html(&cell.note), cell.standing.sign())
}

/// The requirements, as the first certificate has them.
fn rows(columns: &[Column]) -> &[Cell] {
    columns.first().map_or(&[], |column| &column.rows)
}

fn legend() -> String {
    let signs = Standing::ALL.map(|standing| format!("{} {standing}", standing.sign()));
    signs.join(" · ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(name: &str, standing: &str) -> Value {
        json!({
            "skep_certificate": 1, "word": "loads",
            "agent": {"name": name, "version": "1", "command": "x", "profile": "generic"},
            "requirements": [{
                "id": "A-1", "level": "MUST", "title": "a|b", "link": "https://x",
                "standing": standing, "note": "<n>",
            }],
        })
    }

    #[test]
    fn agents_stand_beside_each_other() {
        let columns: Vec<_> = [document("one", "held"), document("two", "not applicable")]
            .iter()
            .map(|one| Column::read(one).unwrap())
            .collect();
        let table = table(&columns);
        assert!(table.contains(r"| [A-1](https://x) a\|b | MUST | ✓ | - |"), "{table}");
        assert!(page(&columns).contains("title=\"&lt;n&gt;\""));
        assert_eq!(Column::read(&json!({"skep_certificate": 2})), None);
    }
}
