//! `step`: acts, then what must follow from them.

use skep_check::expectation::Expectation;

use super::act;
use super::expectation;
use super::line::Line;
use super::model::{Placed, Step};
use super::scope::Scope;
use super::source::Span;
use super::tree::Node;

/// Reads a step.
pub(super) fn read(line: &Line<'_>, scope: &mut Scope) -> Step {
    line.takes(1, &[]);
    line.needs_block("mention channel=\"general\"; expect turn=\"done\"");
    let mut step = Step {
        title: line.first_text("a title", "\"what this step shows\""),
        span: line.node.span,
        acts: Vec::new(),
        act_lines: Vec::new(),
        expectations: Vec::new(),
    };
    let mut found: Vec<(&Node, Expectation)> = Vec::new();
    for node in line.node.children() {
        let child = Line::new(node, line.at);
        match &*node.name.text {
            "expect" | "never" => {
                let expectation = expectation::read(&child, scope);
                found.extend(expectation.map(|expectation| (node, expectation)));
            }
            _ => {
                act_line(&child, found.first().map(|(node, _)| node.span), &mut step, scope);
            }
        }
    }
    if line.node.block.as_ref().is_some_and(Vec::is_empty) {
        let help = "write acts and expectations in it, or remove it";
        line.at.error(line.node.span, "an empty step", "nothing happens", help);
    }
    expectation::check_step(line.node, &found, line.at);
    let placed = |(node, value): (&Node, Expectation)| Placed { value, span: node.span };
    step.expectations = found.into_iter().map(placed).collect();
    step
}

fn act_line(line: &Line<'_>, expectation: Option<Span>, step: &mut Step, scope: &mut Scope) {
    let Some(value) = act::read(line, scope, &mut step.act_lines) else {
        let words = super::verb::words(act::ACTS).chain([act::TOGETHER, "expect", "never"]);
        return super::unknown(line, "a step", words);
    };
    if let Some(expectation) = expectation {
        let title = "an act after an expectation";
        let fault = line.at.fault(line.node.span, title).label("would still be done first");
        let fault = fault.other(expectation, "judged once all acts are done");
        line.at.put(fault.help("put it above the expectations, or into a step of its own"));
    }
    step.acts.push(Placed { value, span: line.node.span });
}
