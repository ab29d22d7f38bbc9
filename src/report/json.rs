//! The report for programs: one versioned JSON document, described by `docs/report.schema.json`.
//!
//! Its words are those of the terminal. Real times are in it only when they are asked for, so that
//! the reports of two runs with one seed can be compared byte by byte.

use serde_json::{Map, Value, json};
use skep_check::verdict::{Judgement, Subject, Verdict};
use skep_mutant::Mutant;

use super::excerpt::{Place, place};
use super::{Paint, again, pointer, story};
use crate::exit_code::ExitCode;
use crate::known::KnownFailure;
use crate::outcome::{RunOutcome, TestOutcome};

/// The version that this build writes. A field that is added keeps it; anything else raises it.
pub const VERSION: u64 = 1;

/// The whole run as one document.
pub fn report(outcome: &RunOutcome, timed: bool) -> Value {
    let tests = outcome.tests.iter().map(|test| test_json(test, timed));
    let unsteady = outcome.unsteady();
    let unsteady = unsteady.iter().map(
        |(test, (violated, runs))| json!({"test": &**test, "violated": violated, "runs": runs}),
    );
    let mut document = json!({
        "skep_report": VERSION,
        "world": outcome.world.word(),
        "verdict": outcome.verdict().to_string(),
        "exit_code": outcome.exit_code().number(),
        "interrupted": outcome.interrupted,
        "counts": counts(outcome),
        "tests": Value::from_iter(tests),
        "unsteady": Value::from_iter(unsteady),
        "known_failures": Value::from_iter(outcome.known.iter().map(known_json)),
        "mistakes": [],
    });
    if timed {
        document["wall_ms"] = Value::from(outcome.wall_ms);
    }
    document
}

/// Something that kept a run from beginning: a mistake in a file, or in the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file, if it is about one.
    pub file: Option<String>,
    /// Where in it.
    pub place: Option<Place>,
    /// What is wrong, in one line.
    pub title: String,
    /// What to write instead.
    pub help: String,
}

/// The document of a run that never began.
pub fn refusal(mistakes: &[Mistake], exit_code: ExitCode) -> Value {
    let mistakes = mistakes.iter().map(|mistake| {
        let mut object = located(mistake.place);
        object.insert("file".into(), mistake.file.as_deref().into());
        object.insert("title".into(), mistake.title.as_str().into());
        object.insert("help".into(), mistake.help.as_str().into());
        Value::Object(object)
    });
    json!({
        "skep_report": VERSION,
        "world": null,
        "verdict": null,
        "exit_code": exit_code.number(),
        "interrupted": false,
        "counts": {"held": 0, "violated": 0, "inconclusive": 0, "not applicable": 0, "known": 0},
        "tests": [],
        "unsteady": [],
        "known_failures": [],
        "mistakes": Value::from_iter(mistakes),
    })
}

fn counts(outcome: &RunOutcome) -> Value {
    let all = [Verdict::Held, Verdict::Violated, Verdict::Inconclusive, Verdict::NotApplicable];
    let counts =
        all.into_iter().map(|verdict| (verdict.to_string(), Value::from(outcome.count(verdict))));
    counts.chain([("known".to_owned(), Value::from(outcome.count_known()))]).collect()
}

fn known_json(entry: &KnownFailure) -> Value {
    let mut object = located(Some(place(&entry.source, entry.span.start)));
    let fields = [
        ("file", Value::from(&*entry.file)),
        ("test", Value::from(&*entry.test)),
        ("rule", entry.rule.as_deref().into()),
        ("profile", entry.profile.as_deref().into()),
        ("reason", Value::from(&*entry.reason)),
        ("standing", entry.standing.word().into()),
    ];
    object.extend(fields.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(object)
}

fn test_json(test: &TestOutcome, timed: bool) -> Value {
    let at = place(&test.source, test.span.start);
    let judgements = test.judgements.iter().map(|judgement| judgement_json(test, judgement));
    let silences = test.silences.iter();
    let silences = silences.map(|silence| json!({"step": silence.step, "ms": silence.ms}));
    let mut object = json!({
        "test": &*test.test,
        "file": &*test.file,
        "line": at.line,
        "column": at.column,
        "world": test.world.word(),
        "seed": test.seed,
        "mutant": test.mutant.map(Mutant::id),
        "rules": texts(&test.rules),
        "cites": texts(&test.cites),
        "verdict": test.verdict.to_string(),
        "reason": test.reason.as_deref(),
        "known": test.known.as_deref(),
        "judgements": Value::from_iter(judgements),
        "silences": Value::from_iter(silences),
        "remarks": texts(&test.remarks),
        "again": again::command(test, None),
        "story": story::story(test, Paint::PLAIN),
    });
    if timed {
        object["wall_ms"] = Value::from(test.wall_ms);
    }
    object
}

fn texts(texts: &[skep_trace::Text]) -> Value {
    Value::from_iter(texts.iter().map(|text| &**text))
}

fn judgement_json(test: &TestOutcome, judgement: &Judgement) -> Value {
    let mut object = located(primary_place(test, judgement));
    let causes = judgement
        .causes
        .iter()
        .map(|cause| json!({"label": cause.label, "at_ms": at_ms(test, Some(cause.record))}));
    let fields = [
        ("code", Value::from(story::code(test, judgement))),
        ("subject", subject_json(judgement.subject)),
        ("verdict", judgement.verdict.to_string().into()),
        ("blame", judgement.blame.map(|blame| blame.to_string()).into()),
        ("title", judgement.title.as_str().into()),
        ("label", judgement.label.as_str().into()),
        ("at_ms", at_ms(test, judgement.record).into()),
        ("causes", Value::from_iter(causes)),
    ];
    object.extend(fields.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(object)
}

fn primary_place(test: &TestOutcome, judgement: &Judgement) -> Option<Place> {
    pointer::primary(test, judgement).map(|span| place(&test.source, span.start))
}

fn at_ms(test: &TestOutcome, record: Option<usize>) -> Option<u64> {
    test.trace.records.get(record?).map(|record| record.at_ms)
}

fn subject_json(subject: Subject) -> Value {
    match subject {
        Subject::Expectation { step, index } => {
            json!({"kind": "expectation", "step": step, "index": index})
        }
        Subject::Invariant(rule) => json!({"kind": "invariant", "rule": rule}),
        Subject::Run => json!({"kind": "run"}),
    }
}

fn located(place: Option<Place>) -> Map<String, Value> {
    let line = place.map(|place| place.line).into();
    let column = place.map(|place| place.column).into();
    Map::from_iter([("line".to_owned(), line), ("column".to_owned(), column)])
}
