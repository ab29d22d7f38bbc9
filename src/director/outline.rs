//! A scenario, as far as a report must know it: names and places in the file.

use std::ops::Range;

use skep_check::expectation::{Expectation, TurnOutcome, Wanted};
use skep_trace::Text;

use super::play::Job;
use crate::outcome::{Line, StepOutline, TestOutcome};
use crate::scenario::{Placed, Scenario, Span, Step};

/// The outcome of a test that was not played yet: inconclusive, because nothing was seen.
pub fn blank(scenario: &Scenario, job: &Job) -> TestOutcome {
    let words = |placed: &[Placed<Text>]| placed.iter().map(|word| word.value.clone()).collect();
    TestOutcome {
        source: scenario.file.text.clone(),
        span: range(scenario.span),
        steps: scenario.steps.iter().map(step).collect(),
        cites: words(&scenario.cites),
        rules: words(&scenario.rules),
        seed: job.seed,
        mutant: job.mutants.get(),
        ..TestOutcome::unplayed(scenario.name.clone(), scenario.file.name.clone(), job.world)
    }
}

fn step(step: &Step) -> StepOutline {
    StepOutline {
        title: step.title.clone(),
        span: range(step.span),
        acts: step.act_lines.iter().map(|span| range(*span)).collect(),
        expectations: step.expectations.iter().map(line).collect(),
    }
}

fn line(placed: &Placed<Expectation>) -> Line {
    let (word, method) = match &placed.value.wanted {
        Wanted::Call(call) => (call.method.replace('/', "-"), Some(call.method.clone())),
        Wanted::Turn(turn) => (turn_word(turn.outcome).to_owned(), None),
        Wanted::Receipt(_) => ("receipt".to_owned(), None),
        Wanted::File(_) => ("file".to_owned(), None),
        Wanted::Relay(_) => ("relay-event".to_owned(), None),
        Wanted::Exit { .. } => ("exit".to_owned(), None),
        Wanted::StoreTrouble { .. } => ("store-trouble".to_owned(), None),
        Wanted::AgentStarted { .. } => ("agent-started".to_owned(), None),
        Wanted::Order(_) => ("order".to_owned(), None),
    };
    let prefix = if placed.value.never { "never" } else { "expect" };
    Line { span: range(placed.span), code: format!("{prefix}/{word}").into(), method }
}

fn turn_word(outcome: TurnOutcome) -> &'static str {
    match outcome {
        TurnOutcome::Done => "turn-done",
        TurnOutcome::Failed { .. } => "turn-failed",
        TurnOutcome::Stopped(_) => "turn-stopped",
    }
}

fn range(span: Span) -> Range<usize> {
    span.start..span.end
}
