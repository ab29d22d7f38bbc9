//! Lines into scenarios.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use skep_trace::Text;

use super::cast::{self, CastLine};
use super::diagnostic::Reporter;
use super::limits::MAX_LINES;
use super::line::Line;
use super::matrix::{self, Cell};
use super::meta::{self, Meta};
use super::model::{Scenario, Step};
use super::scope::Scope;
use super::source::{SourceFile, Span};
use super::syntax;
use super::tree::{Node, Word};
use super::uses::{Loader, Used, Uses};
use super::{act, step, verb};

/// Reads one file.
pub(super) struct Reading<'a> {
    at: Reporter<'a>,
    uses: Uses<'a>,
    /// Scenarios by name, over all blocks of a Markdown file.
    names: BTreeMap<Text, Span>,
    /// How many lines the scenarios of the file may still be written out to.
    budget: usize,
    /// What came of it so far.
    pub(super) found: Vec<Scenario>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(at: Reporter<'a>, loader: &'a mut Loader<'a>) -> Self {
        let uses = Uses::new(loader);
        Self { at, uses, names: BTreeMap::new(), budget: MAX_LINES, found: Vec::new() }
    }

    /// Reads a document that begins at `base` in the file.
    pub(super) fn document(&mut self, text: &str, base: usize) {
        let Some(lines) = syntax::read(text, base, self.at) else { return };
        let scenarios = lines.iter().filter(|line| &*line.name.text == "scenario").count();
        if scenarios == 0 {
            return self.cast_only(lines);
        }
        let mut shared = Shared::default();
        for node in &lines {
            match &*node.name.text {
                "scenario" => {}
                "use" => shared.add(self.uses.read(node, self.at)),
                _ => self.stray(node),
            }
        }
        for node in lines.iter().filter(|line| &*line.name.text == "scenario") {
            self.scenario(node, shared.clone());
        }
    }

    /// A file without scenarios is a cast for others to use. A Markdown block is none: it would
    /// be passed over in silence.
    fn cast_only(&self, lines: Vec<Node>) {
        if self.at.file.is_markdown() {
            return lines.iter().take(1).for_each(|node| self.stray(node));
        }
        let is_cast = |node: &Node| verb::find(cast::CAST, &node.name.text).is_some();
        let (lines, others): (Vec<Node>, Vec<Node>) = lines.into_iter().partition(is_cast);
        others.iter().for_each(|node| self.stray(node));
        let lines: Vec<CastLine> = lines.iter().map(|node| (node, self.at)).collect();
        cast::read(&lines, &mut Scope::default());
    }

    fn stray(&self, node: &Node) {
        if &*node.name.text == "use" {
            let help = "write a `scenario` that the cast is for";
            return self.at.error(
                node.span,
                "a `use` in a file without scenarios",
                "for whom?",
                help,
            );
        }
        super::unknown(&Line::new(node, self.at), "a file", ["scenario", "use"]);
    }

    fn scenario(&mut self, node: &Node, mut shared: Shared) {
        let before = self.at.findings.count();
        let line = Line::new(node, self.at);
        line.takes(1, &[]);
        line.needs_block("…");
        let name = line.first_text("a name", "\"what-must-hold\"");
        let word = Word { text: name, span: node.args.first().map_or(node.span, |arg| arg.span) };
        self.name(&word);
        for node in node.children().iter().filter(|line| &*line.name.text == "use") {
            shared.add(self.uses.read(node, self.at));
        }
        let cells = matrix::cells(node, shared.size(), &mut self.budget, self.at);
        let clean = self.at.findings.count() == before
            && !shared.broken
            && !self.at.findings.touch(self.at.file, node.whole);
        for cell in cells {
            let before = self.at.findings.count();
            let scenario = self.cell(node, &word.text, &cell, &shared);
            if clean && self.at.findings.count() == before {
                self.found.push(scenario);
            }
        }
    }

    fn name(&mut self, word: &Word) {
        if word.text.is_empty() {
            return;
        }
        if !meta::is_kebab(&word.text) {
            let title =
                format!("`{}` is no name of a scenario", super::value::shortened(&word.text));
            let help = "write small letters and digits, words joined by `-`: \
                        `\"restart-resumes-the-session\"`";
            self.at.error(word.span, title, "not a name", help);
        }
        if let Some(first) = self.names.insert(word.text.clone(), word.span) {
            let title = format!("a second scenario of the name `{}`", word.text);
            let fault = self.at.fault(word.span, title).label("again").other(first, "the first");
            self.at.put(fault.help("give each a name of its own"));
        }
    }

    fn cell(&self, node: &Node, name: &Text, cell: &Cell, shared: &Shared) -> Scenario {
        let before = self.at.findings.count();
        let mut scope = Scope::default();
        if shared.broken {
            scope.cast_is_unknown();
        }
        let cast = self.cast(&cell.lines, shared, &mut scope);
        let (meta, steps) = self.lines(&cell.lines, &mut scope);
        let expects = steps.iter().flat_map(|step| &step.expectations).count();
        if self.at.findings.count() == before && !shared.broken {
            self.complete(node, &cast, steps.len(), expects);
        }
        Scenario {
            name: cell_name(name, &cell.values),
            cell: cell.values.clone(),
            doc: doc(&self.at.file.text, node.whole.start),
            file: self.at.file.clone(),
            uses: shared.files(),
            span: node.span,
            cites: meta.cites,
            rules: meta.rules,
            kills: meta.kills,
            needs: meta.needs,
            slow: meta.slow,
            sim_only: meta.sim_only,
            live_only: meta.live_only,
            explore: meta.explore,
            schedule: meta.schedule,
            cast,
            steps,
        }
    }

    /// What is no cast.
    fn lines(&self, lines: &[Node], scope: &mut Scope) -> (Meta, Vec<Step>) {
        let mut meta = Meta::default();
        let mut steps = Vec::new();
        let mut first_step = None;
        for node in lines {
            let line = Line::new(node, self.at);
            match &*node.name.text {
                "step" => {
                    first_step = first_step.or(Some(node.span));
                    steps.push(step::read(&line, scope));
                }
                "use" => {}
                word if verb::find(cast::CAST, word).is_some() => self.above(node, first_step),
                _ if meta.read(&line, scope) => self.above(node, first_step),
                _ => super::unknown(&line, "a scenario", scenario_words()),
            }
        }
        (meta, steps)
    }

    fn cast(&self, lines: &[Node], shared: &Shared, scope: &mut Scope) -> skep_plan::Cast {
        let findings = self.at.findings;
        let used = shared.used.iter().flat_map(|used| {
            used.lines.iter().map(|node| (node, Reporter { file: &used.file, findings }))
        });
        let own = lines.iter().map(|node| (node, self.at));
        let lines: Vec<CastLine> = used.chain(own).collect();
        cast::read(&lines, scope)
    }

    /// What holds from the start stands before what happens.
    fn above(&self, node: &Node, first_step: Option<Span>) {
        let Some(step) = first_step else { return };
        let title = format!("`{}` below the first step", node.name.text);
        let fault = self.at.fault(node.span, title).label("counts from the start on");
        self.at.put(fault.other(step, "the first step").help("move it above the steps"));
    }

    /// A scenario needs someone to test, something that happens, and something to expect of it.
    fn complete(&self, node: &Node, cast: &skep_plan::Cast, steps: usize, expects: usize) {
        let missing = [
            (cast.agents.is_empty(), "an agent", "agent \"a\""),
            (cast.harnesses.is_empty(), "a harness", "harness \"h\""),
            (steps == 0, "a step", "step \"…\" { … }"),
            (steps > 0 && expects == 0, "an expectation", "expect turn=\"done\""),
        ];
        for (_, what, example) in missing.into_iter().filter(|(missing, ..)| *missing) {
            let title = format!("a scenario without {what}");
            self.at.error(node.span, title, "incomplete", format!("write `{example}`"));
        }
    }
}

/// The casts that scenarios share.
#[derive(Clone, Default)]
struct Shared {
    used: Vec<Rc<Used>>,
    /// One of them is not known, or something is wrong with it.
    broken: bool,
}

impl Shared {
    fn add(&mut self, used: Option<Rc<Used>>) {
        self.broken |= used.as_ref().is_none_or(|used| used.broken);
        self.used.extend(used);
    }

    /// The files, by the names that they are used by.
    fn files(&self) -> Vec<(Text, Arc<SourceFile>)> {
        self.used.iter().map(|used| (used.name.clone(), used.file.clone())).collect()
    }

    /// How many lines they are.
    fn size(&self) -> usize {
        self.used.iter().flat_map(|used| &used.lines).map(Node::size).sum()
    }
}

/// The words that a scenario's lines begin with.
fn scenario_words() -> impl Iterator<Item = &'static str> {
    let cast = verb::words(cast::CAST);
    cast.chain(verb::words(meta::META)).chain(["use", "matrix", "vary", "step"])
}

/// Every word that begins a line somewhere, and what the lines there are called.
pub(super) fn elsewhere(word: &str) -> Option<&'static str> {
    if word == act::TOGETHER || verb::find(act::ACTS, word).is_some() {
        return Some("a `step`");
    }
    match word {
        "expect" | "never" => Some("a `step`"),
        "on" | "models" | "modes" => Some("an `agent`"),
        "param" => Some("an `expect` of a call"),
        "axis" => Some("a `matrix`"),
        "value" => Some("an `axis`"),
        "scenario" => Some("the file itself, outside every block"),
        _ if scenario_words().any(|known| known == word) => Some("a `scenario`, above its steps"),
        _ if verb::find(super::script::ACTIONS, word).is_some() => Some("an `on` of an `agent`"),
        _ => None,
    }
}

fn cell_name(name: &Text, values: &[(Text, Text)]) -> Text {
    if values.is_empty() {
        return name.clone();
    }
    let values: Vec<String> =
        values.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    format!("{name}[{}]", values.join(",")).into()
}

/// The comment lines right above an offset, without their slashes.
fn doc(text: &str, offset: usize) -> Text {
    let above = text[..offset].trim_end_matches([' ', '\t']);
    let above = above.strip_suffix('\n').unwrap_or(above);
    let lines = above.lines().rev().map(str::trim).take_while(|line| line.starts_with("//"));
    let mut lines: Vec<&str> = lines.map(|line| line.trim_start_matches('/').trim()).collect();
    lines.reverse();
    lines.join("\n").into()
}
