//! Files of plays on a store: who does which operation, in which order of system calls, what
//! happens to the disk, and what must follow.

mod act;
mod operation;

use std::sync::Arc;

use skep_store::model::StoreName;
use skep_store::play::{Act, Line as PlayLine, Place, Play};
use skep_trace::Text;

use super::diagnostic::{Diagnostic, Findings, Reporter};
use super::limits::MAX_BYTES;
use super::line::Line;
use super::source::{SourceFile, Span};
use super::value::shortened;
use super::{suggest, syntax};

/// A play, and the store that it was written about.
#[derive(Clone, Debug)]
pub struct StorePlay {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The store.
    pub store: StoreName,
    /// The rule that is broken on it.
    pub rule: Text,
    /// The play.
    pub play: Play,
}

/// The line that a file begins with.
const HEAD: &str = "store";

/// Reads a file with a play.
///
/// # Errors
/// Everything that is wrong with it, in the order of the file.
pub fn parse_store_play(file: &Arc<SourceFile>) -> Result<StorePlay, Vec<Diagnostic>> {
    let findings = Findings::default();
    let read = read_file(Reporter { file, findings: &findings });
    match (findings.into_sorted(), read) {
        (none, Some(play)) if none.is_empty() => Ok(play),
        (complaints, _) => Err(complaints),
    }
}

fn read_file(at: Reporter<'_>) -> Option<StorePlay> {
    if at.file.text.len() > MAX_BYTES {
        at.put(Diagnostic::too_long(at.file));
        return None;
    }
    let nodes = syntax::read(&at.file.text, 0, at)?;
    let mut head = None;
    let mut play = Play::default();
    for node in nodes.iter().filter(|node| !node.reported) {
        let line = Line::new(node, at);
        match &*node.name.text {
            HEAD if head.is_some() => {
                at.error(node.span, "a second `store`", "again", "a file is about one store");
            }
            HEAD => head = Some(read_head(&line)),
            word if act::WORDS.contains(&word) => {
                let place = place(node.span);
                play.lines.extend(act::read(&line).map(|act| PlayLine { place, act }));
            }
            word => {
                let title = format!("`{}` is no word of a play", shortened(word));
                let words = [HEAD].into_iter().chain(act::WORDS);
                at.error(node.name.span, title, "unknown", suggest::instead(word, words));
            }
        }
    }
    complete(&play, head, at)
}

/// A file needs a store, and something that may not be so.
fn complete(
    play: &Play,
    head: Option<(Option<StoreName>, Text)>,
    at: Reporter<'_>,
) -> Option<StorePlay> {
    let start = Span::new(0, 0);
    let Some((store, rule)) = head else {
        let help = "write `store \"snapshot-map\" rule=\"S-10\"`";
        at.error(start, "the file names no store", "from here on", help);
        return None;
    };
    if !play.lines.iter().any(|line| expects(&line.act)) {
        let help = "write `explained`, or `answers=\"done\"` behind an operation";
        at.error(start, "the play expects nothing", "it can only hold", help);
    }
    Some(StorePlay { file: at.file.clone(), store: store?, rule, play: play.clone() })
}

fn expects(act: &Act) -> bool {
    match act {
        Act::Expect(_) => true,
        Act::Do { ops, .. } => ops.iter().any(|op| op.answers.is_some()),
        _ => false,
    }
}

fn read_head(line: &Line<'_>) -> (Option<StoreName>, Text) {
    line.takes(1, &["rule"]);
    line.no_block();
    let id = line.first_text("the name of a store", "\"snapshot-map\"");
    let store = StoreName::parse(&id);
    if store.is_none() && !id.is_empty() {
        let span = line.args().first().map_or(line.node.span, |value| value.span);
        let title = format!("there is no store `{}`", shortened(&id));
        let help = suggest::instead(&id, StoreName::ALL.map(StoreName::id));
        line.at.error(span, title, "unknown", help);
    }
    let rule = line.needs("rule", "\"S-10\"");
    (store, rule.map_or("".into(), |value| line.some_text(value, "the rule")))
}

fn place(span: Span) -> Place {
    (span.start, span.end)
}
