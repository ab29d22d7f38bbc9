//! `use "actors.kdl"`: casts that scenarios share.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use skep_trace::Text;

use super::cast::CAST;
use super::diagnostic::Reporter;
use super::limits::MAX_USES;
use super::line::Line;
use super::source::SourceFile;
use super::syntax;
use super::tree::Node;
use super::verb;

/// Finds the file that a `use` names, or says why not.
pub type Loader<'a> = dyn FnMut(&str) -> Result<Arc<SourceFile>, String> + 'a;

/// A file that a cast is taken from.
pub(super) struct Used {
    /// What the `use` calls it.
    pub(super) name: Text,
    /// The file.
    pub(super) file: Arc<SourceFile>,
    /// Its cast lines.
    pub(super) lines: Vec<Node>,
    /// Something is wrong with it.
    pub(super) broken: bool,
}

/// The files that one file uses, each read once.
pub(super) struct Uses<'l> {
    loader: &'l mut Loader<'l>,
    known: BTreeMap<Text, Option<Rc<Used>>>,
}

impl<'l> Uses<'l> {
    /// None so far.
    pub(super) fn new(loader: &'l mut Loader<'l>) -> Self {
        Self { loader, known: BTreeMap::new() }
    }

    /// The cast that a `use` names; `None` when there is none.
    pub(super) fn read(&mut self, node: &Node, at: Reporter<'_>) -> Option<Rc<Used>> {
        let line = Line::new(node, at);
        line.takes(1, &[]);
        line.no_block();
        let name = line.first_text("a file", "\"actors.kdl\"");
        if name.is_empty() {
            return None;
        }
        if let Some(known) = self.known.get(&name) {
            return known.clone();
        }
        let used = self.load(&name, &line).map(Rc::new);
        self.known.insert(name, used.clone());
        used
    }

    fn load(&mut self, name: &str, line: &Line<'_>) -> Option<Used> {
        let span = line.node.args.first().map_or(line.node.span, |arg| arg.span);
        if self.known.len() >= MAX_USES {
            let title = format!("the file uses more than {MAX_USES} others");
            line.at.error(span, title, "one too many", "put the casts into fewer files");
            return None;
        }
        match (self.loader)(name) {
            Ok(file) => Some(cast_of(name, file, line.at)),
            Err(why) => {
                let title = format!("`{}` cannot be used: {why}", super::value::shortened(name));
                let help = "name a file of cast lines, relative to this one";
                line.at.error(span, title, "not found", help);
                None
            }
        }
    }
}

fn cast_of(name: &str, file: Arc<SourceFile>, at: Reporter<'_>) -> Used {
    let before = at.findings.count();
    let inside = Reporter { file: &file, findings: at.findings };
    let lines = syntax::read(&file.text, 0, inside).unwrap_or_default();
    let lines = only_cast(lines, inside);
    Used { name: name.into(), lines, broken: at.findings.count() > before, file }
}

/// The lines of a cast; complains about all others.
fn only_cast(lines: Vec<Node>, at: Reporter<'_>) -> Vec<Node> {
    let is_cast = |node: &Node| verb::find(CAST, &node.name.text).is_some();
    let (cast, others): (Vec<Node>, Vec<Node>) = lines.into_iter().partition(is_cast);
    for node in &others {
        if &*node.name.text == "use" {
            let help = "name both files where the cast is used";
            at.error(node.span, "a cast that uses another", "not here", help);
        } else {
            super::unknown(&Line::new(node, at), "a shared cast", verb::words(CAST));
        }
    }
    cast
}
