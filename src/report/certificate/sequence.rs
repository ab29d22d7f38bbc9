//! A sequence diagram: two columns, and who said what to whom.

use std::fmt::Write as _;

use super::style::escape;
use crate::report::clean::fit;
use crate::report::instant;

/// One line of a diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) at_ms: u64,
    /// To the right, to the left, or about the right one itself.
    pub(super) right: Option<bool>,
    pub(super) text: String,
    /// The line that the diagram is there for.
    pub(super) marked: bool,
}

const WIDTH: usize = 860;
const LEFT: usize = 110;
const RIGHT: usize = 780;
const STEP: usize = 30;
const TOP: usize = 40;
/// What fits between the columns, in letters.
const LETTERS: usize = 88;

/// The diagram as SVG.
pub(super) fn svg(left: &str, right: &str, arrows: &[Arrow]) -> String {
    let height = TOP + arrows.len() * STEP + 20;
    let mut svg = format!(
        "<svg class=\"sequence\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         role=\"img\" aria-label=\"what {} and {} said\" font-family=\"ui-monospace,monospace\" font-size=\"12\" fill=\"currentColor\" \
         stroke-width=\"1.2\">\n",
        escape(left),
        escape(right)
    );
    for (x, name) in [(LEFT, left), (RIGHT, right)] {
        let name = escape(name);
        writeln!(
            svg,
            "<text x=\"{x}\" y=\"18\" text-anchor=\"middle\" font-weight=\"bold\">{name}</text>\
             <line x1=\"{x}\" y1=\"26\" x2=\"{x}\" y2=\"{height}\" stroke=\"#8888\"/>"
        )
        .expect("a string takes all");
    }
    for (place, arrow) in arrows.iter().enumerate() {
        svg.push_str(&line(arrow, TOP + place * STEP + 16));
    }
    svg + "</svg>\n"
}

fn line(arrow: &Arrow, y: usize) -> String {
    let (class, sign) = if arrow.marked { (" class=\"bad\"", "✗ ") } else { ("", "") };
    let (from, to, head) = match arrow.right {
        Some(true) => (LEFT, RIGHT, -7_i32),
        Some(false) => (RIGHT, LEFT, 7),
        None => (RIGHT, RIGHT, 0),
    };
    let mut svg = format!(
        "<g{class} fill=\"currentColor\"><text class=\"at\" x=\"{}\" y=\"{}\" \
         text-anchor=\"end\">{}</text>",
        LEFT - 12,
        y + 4,
        instant::show(arrow.at_ms),
    );
    if head != 0 {
        write!(
            svg,
            "<line x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\" stroke=\"currentColor\"/>\
             <path d=\"M{to} {y} l{head} -4 v8 z\"/>"
        )
        .expect("a string takes all");
    }
    let text = escape(&fit(&format!("{sign}{}", arrow.text), LETTERS));
    let (x, anchor) = if head == 0 { (RIGHT - 8, "end") } else { ((LEFT + RIGHT) / 2, "middle") };
    writeln!(svg, "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{text}</text></g>", y - 5)
        .expect("a string takes all");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_drawn_and_cannot_draw_itself() {
        let arrow =
            |right, text: &str| Arrow { at_ms: 5, right, text: text.to_owned(), marked: false };
        let svg = svg("skep", "a#1", &[arrow(Some(true), "<script>"), arrow(None, "ended")]);
        assert!(svg.contains("&lt;script&gt;") && !svg.contains("<script>"), "{svg}");
        assert_eq!(svg.matches("<path").count(), 1, "{svg}");
    }
}
