//! `matrix`: one scenario written once, run for every combination of named values.
//!
//! It works on lines, before they mean anything: each `vary "axis"` is replaced by the lines of
//! the cell's value of that axis.

use std::collections::BTreeSet;

use skep_trace::Text;

use super::diagnostic::Reporter;
use super::limits::{MAX_CELLS, MAX_LINES};
use super::line::Line;
use super::suggest;
use super::tree::{Node, Word};

/// One combination: a name for the test, and its lines.
pub(super) struct Cell {
    /// Axis and value, in the order of the matrix.
    pub(super) values: Vec<(Text, Text)>,
    /// The scenario's lines, `matrix` removed and `vary` replaced.
    pub(super) lines: Vec<Node>,
}

/// A named set of values.
struct Axis<'a> {
    name: Word,
    values: Vec<(Word, &'a [Node])>,
}

/// The cells of a scenario; one without values when it has no matrix. `budget` is how many lines
/// the file may still be written out to, `shared` how many each cell takes from shared casts.
pub(super) fn cells(
    scenario: &Node,
    shared: usize,
    budget: &mut usize,
    at: Reporter<'_>,
) -> Vec<Cell> {
    let (matrices, lines): (Vec<&Node>, Vec<&Node>) =
        scenario.children().iter().partition(|line| &*line.name.text == "matrix");
    if let Some(second) = matrices.get(1) {
        let fault = at.fault(second.span, "a second matrix").label("the second");
        let fault = fault.other(matrices[0].span, "the first");
        at.put(fault.help("write its axes into the first: every axis crosses every other"));
    }
    let axes: Vec<Axis> = matrices.first().map(|line| axes(line, at)).unwrap_or_default();
    check_use(&axes, &lines, at);
    let count = axes.iter().try_fold(1_usize, |cells, axis| cells.checked_mul(axis.values.len()));
    match count {
        Some(count) if count <= MAX_CELLS => {}
        _ => {
            too_many(matrices[0], at);
            return Vec::new();
        }
    }
    let mut cells = Vec::new();
    for picked in combinations(&axes) {
        let mut writer = Writer { picked: &picked, budget };
        let written = writer.spend(shared).and_then(|()| writer.lines(lines.iter().copied()));
        let Some(lines) = written else {
            let help = "make the matrix or its values smaller, or split the file".to_owned();
            let title = format!("written out, the file has more than {MAX_LINES} lines");
            at.error(scenario.span, title, "passed the limit here", help);
            break;
        };
        let name = |(axis, value, _): &Picked| (axis.clone(), value.clone());
        cells.push(Cell { values: picked.iter().map(name).collect(), lines });
    }
    cells
}

fn too_many(matrix: &Node, at: Reporter<'_>) {
    let help = "drop an axis, or split the scenario";
    let title = format!("the matrix has more than {MAX_CELLS} cells");
    at.error(matrix.span, title, "too many combinations", help);
}

fn axes<'a>(matrix: &'a Node, at: Reporter<'_>) -> Vec<Axis<'a>> {
    let line = Line::new(matrix, at);
    line.takes(0, &[]);
    line.needs_block("axis \"rotation\" { … }");
    let mut axes: Vec<Axis> = Vec::new();
    for node in matrix.children() {
        if &*node.name.text != "axis" {
            super::unknown(&Line::new(node, at), "a matrix", ["axis"]);
            continue;
        }
        let axis = axis(node, at);
        if axes.iter().any(|other| other.name.text == axis.name.text) {
            let title = format!("the axis `{}` is there twice", axis.name.text);
            at.error(axis.name.span, title, "again", "give it another name");
        }
        axes.push(axis);
    }
    axes
}

fn axis<'a>(node: &'a Node, at: Reporter<'_>) -> Axis<'a> {
    let line = Line::new(node, at);
    line.takes(1, &[]);
    line.needs_block("value \"idle\" { … }");
    let mut values: Vec<(Word, &[Node])> = Vec::new();
    for child in node.children() {
        if &*child.name.text != "value" {
            super::unknown(&Line::new(child, at), "an axis", ["value"]);
            continue;
        }
        let line = Line::new(child, at);
        line.takes(1, &[]);
        let name = line.first_name("value");
        if values.iter().any(|(other, _)| other.text == name.text) {
            let title = format!("the value `{}` is there twice", name.text);
            at.error(name.span, title, "again", "give it another name");
        }
        refuse_vary(child, at);
        values.push((name, child.children()));
    }
    if values.is_empty() && node.block.is_some() {
        at.error(
            node.span,
            "an axis without values",
            "nothing to vary",
            "write `value \"…\" { … }`",
        );
    }
    Axis { name: line.first_name("axis"), values }
}

fn refuse_vary(value: &Node, at: Reporter<'_>) {
    for line in value.children() {
        if &*line.name.text == "vary" {
            let help = "every axis crosses every other; write the lines out";
            at.error(line.span, "a `vary` inside a value", "not here", help);
        }
        refuse_vary(line, at);
    }
}

/// Every `vary` names an axis, and every axis is varied somewhere.
fn check_use(axes: &[Axis<'_>], lines: &[&Node], at: Reporter<'_>) {
    let mut used = BTreeSet::new();
    for line in lines {
        uses(line, axes, &mut used, at);
    }
    let unused = |axis: &&Axis| !used.contains(&axis.name.text) && !axis.name.text.is_empty();
    for axis in axes.iter().filter(unused) {
        let title = format!("the axis `{}` changes nothing", axis.name.text);
        let help = format!("write `vary \"{}\"` where its lines belong", axis.name.text);
        at.error(axis.name.span, title, "never varied", help);
    }
}

fn uses(node: &Node, axes: &[Axis<'_>], used: &mut BTreeSet<Text>, at: Reporter<'_>) {
    if &*node.name.text != "vary" {
        return node.children().iter().for_each(|line| uses(line, axes, used, at));
    }
    let line = Line::new(node, at);
    line.takes(1, &[]);
    line.no_block();
    let axis = line.first_name("axis");
    let known = axes.iter().map(|axis| &*axis.name.text);
    if !axis.text.is_empty() && !known.clone().any(|known| known == &*axis.text) {
        let title = format!("there is no axis `{}`", axis.text);
        let help = match axes {
            [] => "write a `matrix` with this axis".to_owned(),
            _ => suggest::instead(&axis.text, known),
        };
        at.error(axis.span, title, "unknown", help);
    }
    used.insert(axis.text);
}

/// Axis, value, and the lines of that value.
type Picked<'a> = (Text, Text, &'a [Node]);

/// Every combination, the last axis turning fastest.
fn combinations<'a>(axes: &[Axis<'a>]) -> Vec<Vec<Picked<'a>>> {
    let mut all: Vec<Vec<Picked>> = vec![Vec::new()];
    for axis in axes {
        let longer = |picked: &Vec<Picked<'a>>| {
            let values = axis.values.iter().map(|(value, lines)| {
                let pick = (axis.name.text.clone(), value.text.clone(), *lines);
                picked.iter().cloned().chain([pick]).collect::<Vec<_>>()
            });
            values.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Writes out one cell.
struct Writer<'a> {
    picked: &'a [Picked<'a>],
    budget: &'a mut usize,
}

impl<'a> Writer<'a> {
    /// The lines with every `vary` replaced; `None` when they are too many.
    fn lines<'n>(&mut self, lines: impl Iterator<Item = &'n Node>) -> Option<Vec<Node>> {
        let mut out = Vec::new();
        for line in lines {
            match self.value_of(line) {
                Some(value) => {
                    self.spend(value.iter().map(Node::size).sum())?;
                    out.extend(value.iter().cloned());
                }
                None => out.push(self.line(line)?),
            }
        }
        Some(out)
    }

    fn line(&mut self, line: &Node) -> Option<Node> {
        self.spend(1)?;
        let block = match &line.block {
            Some(lines) => Some(self.lines(lines.iter())?),
            None => None,
        };
        Some(Node {
            name: line.name.clone(),
            span: line.span,
            whole: line.whole,
            args: line.args.clone(),
            props: line.props.clone(),
            reported: line.reported,
            block,
        })
    }

    /// The lines that stand in for a `vary`.
    fn value_of(&self, line: &Node) -> Option<&'a [Node]> {
        if &*line.name.text != "vary" {
            return None;
        }
        let axis = line.args.first().and_then(|arg| arg.text());
        let picked = self.picked.iter().find(|(name, ..)| Some(name) == axis);
        Some(picked.map_or(&[], |(.., lines)| lines))
    }

    fn spend(&mut self, lines: usize) -> Option<()> {
        *self.budget = self.budget.checked_sub(lines)?;
        Some(())
    }
}
