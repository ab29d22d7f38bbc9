//! Lines into scenarios.

use std::collections::BTreeMap;
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
use super::{act, step, verb};

/// Finds the file that a `use` names, or says why not.
pub type Loader<'a> = dyn FnMut(&str) -> Result<Arc<SourceFile>, String> + 'a;

/// A file that a cast is taken from, and its lines.
struct Used {
    file: Arc<SourceFile>,
    lines: Vec<Node>,
}

/// Reads one file.
pub(super) struct Reading<'a, 'l> {
    pub(super) at: Reporter<'a>,
    pub(super) loader: &'a mut Loader<'l>,
    /// Scenarios by name, over all blocks of a Markdown file.
    pub(super) names: BTreeMap<Text, Span>,
    /// How many lines the matrices of the file may still be written out to.
    pub(super) budget: usize,
    pub(super) found: Vec<Scenario>,
    /// A cast that the scenarios share is not known, or something is wrong with it.
    broken_cast: bool,
}

impl<'a, 'l> Reading<'a, 'l> {
    pub(super) fn new(at: Reporter<'a>, loader: &'a mut Loader<'l>) -> Self {
        Self {
            at,
            loader,
            names: BTreeMap::new(),
            budget: MAX_LINES,
            found: Vec::new(),
            broken_cast: false,
        }
    }

    /// Reads a document that begins at `base` in the file.
    pub(super) fn document(&mut self, text: &str, base: usize) {
        let Some(lines) = syntax::read(text, base, self.at) else { return };
        let scenarios = lines.iter().filter(|line| &*line.name.text == "scenario").count();
        if scenarios == 0 && !lines.is_empty() {
            return self.cast_only(&lines);
        }
        let mut used = Vec::new();
        self.broken_cast = false;
        for node in &lines {
            match &*node.name.text {
                "scenario" => {}
                "use" => used.extend(self.use_line(node)),
                _ => self.stray(node),
            }
        }
        for node in lines.iter().filter(|line| &*line.name.text == "scenario") {
            self.scenario(node, &used);
        }
    }

    /// A file without scenarios is a cast for others to use. A Markdown block is none: it would
    /// be passed over in silence.
    fn cast_only(&mut self, lines: &[Node]) {
        let is_cast = |node: &Node| verb::find(cast::CAST, &node.name.text).is_some();
        if let Some(node) = lines.iter().find(|node| self.at.file.is_markdown() || !is_cast(node)) {
            return self.stray(node);
        }
        let lines: Vec<CastLine> = lines.iter().map(|node| (node, self.at)).collect();
        cast::read(&lines, &mut Scope::default());
    }

    fn stray(&self, node: &Node) {
        let line = Line::new(node, self.at);
        super::unknown(&line, "a file", ["scenario", "use"]);
    }

    /// The cast that a `use` names.
    fn use_line(&mut self, node: &Node) -> Option<Used> {
        let before = self.at.findings.count();
        let used = self.used(node);
        self.broken_cast |= self.at.findings.count() > before;
        used
    }

    fn used(&mut self, node: &Node) -> Option<Used> {
        let line = Line::new(node, self.at);
        line.takes(1, &[]);
        line.no_block();
        let name = line.first_text("a file", "\"actors.kdl\"");
        if name.is_empty() {
            return None;
        }
        let file = match (self.loader)(&name) {
            Ok(file) => file,
            Err(why) => {
                let title = format!("`{name}` cannot be used: {why}");
                let help = "name a file of cast lines, relative to this one";
                self.at.error(node.args[0].span, title, "not found", help);
                return None;
            }
        };
        let at = Reporter { file: &file, findings: self.at.findings };
        let lines = syntax::read(&file.text, 0, at)?;
        let (cast, others): (Vec<Node>, Vec<Node>) =
            lines.into_iter().partition(|node| verb::find(cast::CAST, &node.name.text).is_some());
        for node in &others {
            super::unknown(&Line::new(node, at), "a shared cast", verb::words(cast::CAST));
        }
        Some(Used { file, lines: cast })
    }

    fn scenario(&mut self, node: &Node, shared: &[Used]) {
        let (before, shared_broken) = (self.at.findings.count(), self.broken_cast);
        let line = Line::new(node, self.at);
        line.takes(1, &[]);
        line.needs_block("…");
        let name = line.first_text("a name", "\"what-must-hold\"");
        let word = Word { text: name, span: node.args.first().map_or(node.span, |arg| arg.span) };
        self.name(&word);
        let own = node.children().iter().filter(|line| &*line.name.text == "use");
        let own: Vec<Used> = own.filter_map(|node| self.use_line(node)).collect();
        let used: Vec<&Used> = shared.iter().chain(&own).collect();
        let cells = matrix::cells(node, &mut self.budget, self.at);
        let clean = self.at.findings.count() == before
            && !self.broken_cast
            && !self.at.findings.touch(self.at.file, node.whole);
        for cell in cells {
            let before = self.at.findings.count();
            let scenario = self.cell(node, &word.text, &cell, &used);
            if clean && self.at.findings.count() == before {
                self.found.push(scenario);
            }
        }
        self.broken_cast = shared_broken;
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

    fn cell(&self, node: &Node, name: &Text, cell: &Cell, used: &[&Used]) -> Scenario {
        let before = self.at.findings.count();
        let mut scope = Scope::default();
        if self.broken_cast {
            scope.cast_is_unknown();
        }
        let cast = self.cast(&cell.lines, used, &mut scope);
        let (meta, steps) = self.lines(&cell.lines, &mut scope);
        let expects = steps.iter().flat_map(|step| &step.expectations).count();
        if self.at.findings.count() == before && !self.broken_cast {
            self.complete(node, &cast, steps.len(), expects);
        }
        Scenario {
            name: cell_name(name, &cell.values),
            cell: cell.values.clone(),
            doc: doc(&self.at.file.text, node.whole.start),
            file: self.at.file.clone(),
            span: node.span,
            cites: meta.cites,
            rules: meta.rules,
            kills: meta.kills,
            needs: meta.needs,
            slow: meta.slow,
            sim_only: meta.sim_only,
            live_only: meta.live_only,
            explore: meta.explore,
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

    fn cast(&self, lines: &[Node], used: &[&Used], scope: &mut Scope) -> skep_plan::Cast {
        let findings = self.at.findings;
        let shared = used.iter().flat_map(|used| {
            used.lines.iter().map(|node| (node, Reporter { file: &used.file, findings }))
        });
        let own = lines.iter().map(|node| (node, self.at));
        let lines: Vec<CastLine> = shared.chain(own).collect();
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
