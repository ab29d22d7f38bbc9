//! The table of requirements: 125 rows, as data.

mod around;
mod load;
mod neighbours;
mod opening;
mod options;
mod turns;
mod wire;

use std::sync::LazyLock;

use super::requirement::Requirement;

/// The sections of the table, in their order.
const SECTIONS: [(&str, &[Requirement]); 7] = [
    ("The wire", wire::ROWS),
    ("Handshakes and new sessions", opening::ROWS),
    ("Loads, and what they tell", load::ROWS),
    ("What surrounds a load", around::ROWS),
    ("Options, and what a client does not offer", options::ROWS),
    ("Other requests about sessions", neighbours::ROWS),
    ("Turns, and what the specification is silent about", turns::ROWS),
];

static ALL: LazyLock<Vec<Requirement>> = LazyLock::new(|| SECTIONS.map(|(_, rows)| rows).concat());

/// Every requirement, by number.
pub fn requirements() -> &'static [Requirement] {
    &ALL
}

/// The section that the requirement with this number is in; empty where there is none.
pub fn section(number: u8) -> &'static str {
    let has = |rows: &[Requirement]| rows.iter().any(|row| row.number == number);
    SECTIONS.into_iter().find(|(_, rows)| has(rows)).map_or("", |(title, _)| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_125_rows_in_their_order() {
        let numbers: Vec<_> = requirements().iter().map(|row| row.number).collect();
        assert_eq!(numbers, (1..=125).collect::<Vec<u8>>());
    }

    #[test]
    fn every_row_says_where_it_comes_from_and_what_is_done() {
        for row in requirements() {
            assert!(!row.plan.is_empty() && row.title.len() > 10, "{}", row.id());
            assert!(row.link().starts_with("https://"), "{}", row.link());
        }
    }
}
