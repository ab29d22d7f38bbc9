//! How often something is expected.

use skep_check::expectation::Count;

use crate::scenario::line::Line;

/// `count=2`, or `at-least=1 at-most=3`; once or more when neither is there.
pub(super) fn read(line: &Line<'_>) -> Count {
    let exactly: Option<u32> = line.number_prop("count");
    let at_least = line.number_prop("at-least");
    let at_most = line.number_prop("at-most");
    match (exactly, at_least, at_most) {
        (None, None, None) => Count::default(),
        (Some(count), None, None) => Count::exactly(count),
        (None, at_least, at_most) => between(line, at_least.unwrap_or(0), at_most),
        (Some(count), ..) => {
            let other = line.node.prop("at-least").or_else(|| line.node.prop("at-most"));
            let span = other.map_or(line.node.span, |value| value.span);
            let help = "keep `count=` for exactly so many, or the bounds";
            line.at.error(span, "`count=` and a bound together", "which of them?", help);
            Count::exactly(count)
        }
    }
}

fn between(line: &Line<'_>, at_least: u32, at_most: Option<u32>) -> Count {
    let value = line.node.prop("at-most").map_or(line.node.span, |value| value.span);
    if at_most.is_some_and(|most| most < at_least) {
        let title = "`at-most=` is less than `at-least=`";
        line.at.error(value, title, "can never hold", "exchange the two");
    }
    if at_most.is_none() && at_least == 0 {
        let value = line.node.prop("at-least").map_or(line.node.span, |value| value.span);
        let help = "remove the line: it always holds";
        line.at.error(value, "`at-least=0` expects nothing", "always holds", help);
    }
    Count { at_least, at_most }
}
