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

static ALL: LazyLock<Vec<Requirement>> = LazyLock::new(|| {
    let parts = [
        wire::ROWS,
        opening::ROWS,
        load::ROWS,
        around::ROWS,
        options::ROWS,
        neighbours::ROWS,
        turns::ROWS,
    ];
    parts.concat()
});

/// Every requirement, by number.
pub fn requirements() -> &'static [Requirement] {
    &ALL
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
