//! Several certificates beside each other: agents × requirements.
//!
//! It reads the documents that [`super::json`] writes, so that certificates of other days and
//! other machines can stand in one table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::json::VERSION;
use super::markdown::escape as markdown;
use crate::certify::Standing;
use crate::report::clean::clean;

/// One certificate of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// As the agent says it; its command where it says none.
    pub(super) name: String,
    pub(super) version: String,
    pub(super) word: String,
    pub(super) platform: String,
    pub(super) profile: String,
    pub(super) specification: String,
    pub(super) skep: String,
    rows: Vec<Cell>,
}

/// One requirement of one certificate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) number: u8,
    pub(super) level: String,
    pub(super) title: String,
    pub(super) link: String,
    pub(super) standing: Standing,
    pub(super) note: String,
}

impl Column {
    /// Reads a document; `None` where it is no certificate of this version.
    pub fn read(document: &Value) -> Option<Self> {
        if document["skep_certificate"].as_u64() != Some(VERSION) {
            return None;
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let agent = &document["agent"];
        let name = text(&agent["name"])?;
        let name = if name.trim().is_empty() { text(&agent["command"])? } else { name };
        let rows = document["requirements"].as_array()?.iter().map(Cell::read);
        Some(Self {
            name,
            version: text(&agent["version"])?,
            word: text(&document["word"])?,
            platform: text(&document["platform"])?,
            profile: text(&agent["profile"])?,
            specification: text(&document["specification"])?,
            skep: text(&document["skep"])?,
            rows: rows.collect::<Option<_>>()?,
        })
    }

    pub(super) fn cell(&self, number: u8) -> Option<&Cell> {
        self.rows.iter().find(|cell| cell.number == number)
    }

    pub(super) fn count(&self, standing: Standing) -> usize {
        self.rows.iter().filter(|cell| cell.standing == standing).count()
    }
}

impl Cell {
    fn read(row: &Value) -> Option<Self> {
        let text = |key: &str| row[key].as_str().map(str::to_owned);
        let standing = Standing::ALL
            .into_iter()
            .find(|standing| row["standing"].as_str() == Some(&standing.to_string()))?;
        Some(Self {
            number: text("id")?.strip_prefix("A-")?.parse().ok()?,
            level: text("level")?,
            title: text("title")?,
            link: text("link").filter(|link| is_plain(link))?,
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
        let name = format!("{} {}", clean(&column.name), clean(&column.version));
        write!(text, " {} |", markdown(name.trim())).expect("a string takes all");
        rule.push_str(":-:|");
        write!(words, " **{}** |", markdown(&clean(&column.word))).expect("a string takes all");
    }
    text = format!("{text}\n{rule}\n{words}\n");
    for row in rows(columns) {
        let (title, level) = (markdown(&clean(&row.title)), markdown(&clean(&row.level)));
        write!(text, "| [A-{}]({}) {title} | {level} |", row.number, row.link)
            .expect("a string takes all");
        for column in columns {
            let sign = column.cell(row.number).map_or(' ', |cell| cell.standing.sign());
            write!(text, " {sign} |").expect("a string takes all");
        }
        text.push('\n');
    }
    text + "\n" + &legend() + "\n"
}

/// A link to a page, and no script; nothing that could end it early.
fn is_plain(link: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~:/?#=&%,".contains(letter);
    link.starts_with("https://") && link.chars().all(plain)
}

/// Every requirement that one of them has, by number, as the first that has it tells it.
pub(super) fn rows(columns: &[Column]) -> Vec<&Cell> {
    let mut rows: BTreeMap<u8, &Cell> = BTreeMap::new();
    for cell in columns.iter().flat_map(|column| &column.rows) {
        rows.entry(cell.number).or_insert(cell);
    }
    rows.into_values().collect()
}

fn legend() -> String {
    let signs = Standing::ALL.map(|standing| format!("{} {standing}", standing.sign()));
    signs.join(" · ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::matrix;
    use super::*;

    fn document(name: &str, standing: &str) -> Value {
        json!({
            "skep_certificate": 1, "word": "loads", "platform": "x", "specification": "y",
            "skep": "0",
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
        let page = matrix::page(&columns);
        assert!(page.contains("title=\"held: &lt;n&gt;\">✓"), "{page}");
        assert_eq!(Column::read(&json!({"skep_certificate": 2})), None);
    }

    #[test]
    fn a_document_of_others_puts_nothing_on_a_page_but_text() {
        let mut evil = document("<script>alert(1)</script>\u{202e}\u{7}", "held");
        let page = matrix::page(&[Column::read(&evil).unwrap()]);
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
        assert!(!page.contains(['\u{202e}', '\u{7}']), "{page}");
        evil["requirements"][0]["link"] = "javascript:alert(1)".into();
        assert_eq!(Column::read(&evil), None);
    }
}
