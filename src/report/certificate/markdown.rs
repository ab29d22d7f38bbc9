//! A certificate as a row of a table, with its heading.

use std::fmt::Write as _;

use super::{agent, platform};
use crate::certify::{Certificate, Standing, Tier};

/// The table's heading and the certificate's row.
pub fn table(certificate: &Certificate) -> String {
    let mut head = "| agent | result |".to_owned();
    let mut rule = "|---|---|".to_owned();
    let mut row = format!("| {} | **{}** |", escape(&agent(certificate)), certificate.word());
    for tier in Tier::ALL {
        let counts = certificate.tier.is_some_and(|reached| tier <= reached);
        write!(head, " {tier} |").expect("a string takes all");
        rule.push_str(":-:|");
        row.push_str(if counts { " ✓ |" } else { " ✗ |" });
    }
    for standing in Standing::ALL {
        write!(head, " {standing} |").expect("a string takes all");
        rule.push_str("--:|");
        write!(row, " {} |", certificate.count(standing)).expect("a string takes all");
    }
    head.push_str(" starts | platform |");
    rule.push_str("--:|---|");
    write!(row, " {} | {} |", certificate.starts, platform()).expect("a string takes all");
    format!("{head}\n{rule}\n{row}\n{}", broken(certificate))
}

/// What is violated, a line each.
fn broken(certificate: &Certificate) -> String {
    let rows = certificate.rows.iter().filter(|row| row.standing == Standing::Violated);
    let line = |row: &crate::certify::Row| {
        let (id, link) = (row.requirement.id(), row.requirement.link());
        format!("- [{id}]({link}) {}: {}\n", row.requirement.title, escape(&row.note))
    };
    let lines: String = rows.map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// What Markdown would act upon, on one line.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => safe.push(' '),
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' => safe.extend(['\\', letter]),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_says_stays_in_its_cell() {
        assert_eq!(escape("a|b\n*c* <d>"), r"a\|b \*c\* &lt;d>");
    }
}
