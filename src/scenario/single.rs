//! Files that consist of one line with a block: a profile of a harness, or of an agent.

use super::diagnostic::{Diagnostic, Reporter};
use super::limits::MAX_BYTES;
use super::source::Span;
use super::tree::Node;
use super::{suggest, syntax, value};

/// The line of a file that begins with `head`; `None` where there is none. `help` says how such a
/// file is begun.
pub(super) fn only_line(at: Reporter<'_>, head: &str, help: &str) -> Option<Node> {
    if at.file.text.len() > MAX_BYTES {
        at.put(Diagnostic::too_long(at.file));
        return None;
    }
    let lines = syntax::read(&at.file.text, 0, at)?;
    let (heads, others): (Vec<Node>, Vec<Node>) =
        lines.into_iter().partition(|line| &*line.name.text == head);
    for node in others.iter().filter(|node| !node.reported) {
        let title = format!("`{}` is no word of this file", value::shortened(&node.name.text));
        let help = suggest::instead(&node.name.text, [head]);
        at.error(node.name.span, title, "unknown", help);
    }
    if let Some(second) = heads.get(1) {
        let help = "put it into a file of its own";
        at.error(second.span, "a second profile in one file", "one too many", help);
    }
    if heads.is_empty() && others.is_empty() {
        at.error(Span::new(0, 0), "the file holds no profile", "from here on", help);
    }
    heads.into_iter().next()
}
