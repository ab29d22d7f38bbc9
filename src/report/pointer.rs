//! Where in the scenario file a moment belongs: the line that expected it, else the act that led
//! to it.

use std::ops::Range;

use skep_check::verdict::{Cause, Judgement, Subject};
use skep_trace::{Frame, Record, Side, What};

use super::excerpt::Label;
use super::instant;
use crate::outcome::{StepOutline, TestOutcome};

/// The labels of a judgement: its own line first, then its causes where they have one.
pub fn labels(test: &TestOutcome, judgement: &Judgement) -> Vec<Label> {
    let primary = primary(test, judgement);
    let causes = judgement.causes.iter().filter_map(|cause| cause_label(test, judgement, cause));
    let labels = primary.into_iter().map(|span| Label {
        span,
        text: judgement.label.clone(),
        primary: true,
    });
    labels.chain(causes).collect()
}

/// The line that a judgement is about: the expectation; of a rule, the act that led to its break.
pub fn primary(test: &TestOutcome, judgement: &Judgement) -> Option<Range<usize>> {
    match judgement.subject {
        Subject::Expectation { .. } => test.line(judgement).map(|line| line.span.clone()),
        Subject::Invariant(_) | Subject::Run => act_span(test, judgement.record?),
    }
}

/// Causes that no line of the file stands for: the wire tells them. A cause that lies in the
/// judged moment itself is one of them, for the file has a label there already.
pub fn unplaced<'a>(test: &TestOutcome, judgement: &'a Judgement) -> Vec<&'a Cause> {
    let unplaced = |cause: &&Cause| cause_label(test, judgement, cause).is_none();
    judgement.causes.iter().filter(unplaced).collect()
}

fn cause_label(test: &TestOutcome, judgement: &Judgement, cause: &Cause) -> Option<Label> {
    if judgement.record == Some(cause.record) {
        return None;
    }
    let own = test.line(judgement).map(|line| &line.span);
    let expected = expected_span(test, cause.record).filter(|span| Some(span) != own);
    let span = expected.or_else(|| act_span(test, cause.record))?;
    let at_ms = test.trace.records.get(cause.record)?.at_ms;
    let at = instant::show(at_ms);
    let said = cause.label.contains(&at);
    let text = if said { cause.label.clone() } else { format!("{}, at {at}", cause.label) };
    Some(Label { span, text, primary: false })
}

/// The step that a record belongs to, and where the step begins in the trace.
fn step_of(test: &TestOutcome, record: usize) -> Option<(usize, &StepOutline)> {
    let before = test.trace.records.get(..=record)?;
    before.iter().enumerate().rev().find_map(|(at, record)| match &record.what {
        What::Step { index, .. } => Some((at, test.steps.get(*index)?)),
        _ => None,
    })
}

/// The last act of a record's step that came before it.
fn act_span(test: &TestOutcome, record: usize) -> Option<Range<usize>> {
    let (start, step) = step_of(test, record)?;
    let index =
        test.trace.records[start..=record].iter().rev().find_map(|record| match &record.what {
            What::Act { index, .. } => Some(*index),
            _ => None,
        })?;
    step.acts.get(index).cloned()
}

/// The line of a record's step that looks for its call.
fn expected_span(test: &TestOutcome, record: usize) -> Option<Range<usize>> {
    let (_, step) = step_of(test, record)?;
    let method = method_of(&test.trace.records, record)?;
    let wanted = step.expectations.iter().find(|line| line.method.as_deref() == Some(method))?;
    Some(wanted.span.clone())
}

/// The method of a call, or of the request that an answer belongs to.
fn method_of(records: &[Record], record: usize) -> Option<&str> {
    let What::Acp { agent, from, frame, .. } = &records.get(record)?.what else { return None };
    let Frame::Response { id: answered, .. } = &**frame else {
        return frame.call().map(skep_trace::Call::method);
    };
    let asked_by = if *from == Side::Agent { Side::Harness } else { Side::Agent };
    records[..record].iter().rev().find_map(|record| match &record.what {
        What::Acp { agent: other, from, frame, .. } if other == agent && *from == asked_by => {
            match &**frame {
                Frame::Request { id, call } if id == answered => Some(call.method()),
                _ => None,
            }
        }
        _ => None,
    })
}
