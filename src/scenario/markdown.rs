//! The `kdl` blocks of a Markdown file.
//!
//! This is no Markdown parser on purpose. A scenario in a bug report must be a plain stretch of
//! its file, so that every complaint points into the report as it stands; a real parser hands out
//! blocks with their indentation and quote marks removed, and the places are lost. So a block is
//! a fence at any indentation (a list item's too), and what is quoted with `>` is someone else's.

use super::source::Span;

/// The stretches between a fence that says `kdl` and nothing more, and its end.
///
/// A fence that says more (` ```kdl fragment `) is for readers only.
pub(super) fn blocks(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open: Option<Fence> = None;
    let mut in_comment = false;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let end = offset + line.len();
        match &open {
            Some(fence) if fence.is_closed_by(line) => {
                found.extend(fence.scenario.then(|| Span::new(fence.start, offset)));
                open = None;
            }
            Some(_) => {}
            None if in_comment || opens_comment(line) => in_comment = !line.contains("-->"),
            None => open = Fence::opened_by(line, end),
        }
        offset = end;
    }
    // A fence that is never closed runs to the end of the file, as Markdown has it.
    found.extend(open.filter(|fence| fence.scenario).map(|fence| Span::new(fence.start, offset)));
    found
}

/// A fence that is not closed yet.
struct Fence {
    letter: char,
    length: usize,
    scenario: bool,
    start: usize,
}

impl Fence {
    fn opened_by(line: &str, start: usize) -> Option<Self> {
        let (letter, length, info) = marks(line)?;
        // A backtick after the fence makes it inline code.
        let inline = letter == '`' && info.contains('`');
        (!inline).then(|| Self { letter, length, scenario: info.trim() == "kdl", start })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        marks(line).is_some_and(|(letter, length, info)| {
            letter == self.letter && length >= self.length && info.trim().is_empty()
        })
    }
}

/// The fence at the start of a line: its letter, how often, and what follows.
fn marks(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start();
    let letter = line.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
    let info = line.trim_start_matches(letter);
    let length = line.len() - info.len();
    (length >= 3).then_some((letter, length, info))
}

fn opens_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("<!--") && !line.contains("-->")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(markdown: &str) -> Vec<&str> {
        blocks(markdown).into_iter().map(|span| &markdown[span.start..span.end]).collect()
    }

    #[test]
    fn kdl_blocks_are_found_where_they_stand() {
        let markdown = "# A\n\n```kdl\na\n```\ntext\n~~~~ kdl\nb\n~~~\n~~~~\n";
        assert_eq!(texts(markdown), ["a\n", "b\n~~~\n"]);
    }

    #[test]
    fn other_blocks_are_left_alone() {
        assert!(texts("```rust\nx\n```\n```kdl fragment\ny\n```\n```\nz\n```\n").is_empty());
        assert!(texts("````md\n```kdl\na\n```\n````\n").is_empty());
        assert!(texts("<!--\n```kdl\na\n```\n-->\n> ```kdl\n> a\n> ```\n").is_empty());
        assert!(texts("use ```kdl``` here\n").is_empty());
    }

    #[test]
    fn a_block_in_a_list_is_a_block() {
        assert_eq!(
            texts("- see\n\n  ```kdl\n  a\n  ```\n- ```kdl\n  b\n  ```\n"),
            ["  a\n", "  b\n"]
        );
    }

    #[test]
    fn a_block_that_is_not_closed_runs_to_the_end() {
        assert_eq!(texts("```kdl\na"), ["a"]);
    }
}
