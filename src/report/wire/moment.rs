//! The few lines of wire around a judged moment, the judged one marked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use skep_check::verdict::{Cause, Judgement, Subject, Verdict};
use skep_trace::{Record, Trace, What};

use super::{Weight, WireLine};
use crate::report::clean::{COLUMNS, clean, fit, pad, width};
use crate::report::instant;
use crate::report::paint::{Paint, Tone};

/// More than this nobody reads; what is left out is marked by a gap.
const MOST_LINES: usize = 7;
/// How many causes may take a line from what stands right before the moment.
const MOST_CAUSES: usize = 3;
/// Columns before the time: the indent and the mark.
const INDENT: usize = 6;

/// The lines around a judgement, under a heading; empty when the wire says nothing. `notes` are
/// the causes that are told here, beside their lines.
pub fn moment(
    trace: &Trace,
    lines: &[Option<WireLine>],
    judgement: &Judgement,
    notes: &[&Cause],
    paint: Paint,
) -> String {
    let (range, heading) = stretch(&trace.records, judgement);
    let notes = notes.iter().map(|cause| (cause.record, cause.label.as_str())).collect();
    let causes = judgement.causes.iter().map(|cause| cause.record).collect();
    let step_end = step_end(&trace.records, range.end);
    let scene = Scene { lines, judgement, causes, notes, range, step_end };
    let shown = scene.choose();
    if shown.is_empty() {
        return String::new();
    }
    format!("  the wire, {heading}:\n{}", scene.draw(&shown, paint))
}

/// The lines around a record, without a heading; empty when the wire says nothing.
pub fn around(lines: &[Option<WireLine>], record: usize, verdict: Verdict, paint: Paint) -> String {
    let judgement = Judgement {
        subject: Subject::Run,
        verdict,
        blame: None,
        title: String::new(),
        label: String::new(),
        record: Some(record),
        causes: Vec::new(),
    };
    let scene = Scene {
        lines,
        judgement: &judgement,
        causes: BTreeSet::new(),
        notes: BTreeMap::new(),
        range: 0..record,
        step_end: lines.len(),
    };
    scene.draw(&scene.choose(), paint)
}

/// The records that a judgement is about, and what to call them: from the last restart before it
/// on, or its step.
fn stretch(records: &[Record], judgement: &Judgement) -> (Range<usize>, String) {
    let step = match judgement.subject {
        Subject::Expectation { step, .. } => Some(step),
        Subject::Invariant(_) | Subject::Run => None,
    };
    let settled = |record: &Record| match &record.what {
        What::Settled { step: settled, .. } => Some(*settled) == step,
        _ => false,
    };
    let end = judgement.record.or_else(|| records.iter().position(settled));
    let end = end.unwrap_or(records.len()).min(records.len());
    for (at, record) in records[..end].iter().enumerate().rev() {
        match &record.what {
            What::HarnessStarted(life) if life.life > 1 => {
                return (at..end, format!("from the start of {life} on"));
            }
            What::Step { index, .. } => return (at..end, format!("in step {}", index + 1)),
            _ => {}
        }
    }
    (0..end, "from the beginning on".to_owned())
}

/// Where the step ends that a record belongs to: what comes later belongs to other stories.
fn step_end(records: &[Record], from: usize) -> usize {
    let later = records.iter().enumerate().skip(from + 1);
    let mut steps = later.filter(|(_, record)| matches!(record.what, What::Step { .. }));
    steps.next().map_or(records.len(), |(at, _)| at)
}

/// What a moment is drawn from.
struct Scene<'a> {
    lines: &'a [Option<WireLine>],
    judgement: &'a Judgement,
    causes: BTreeSet<usize>,
    notes: BTreeMap<usize, &'a str>,
    range: Range<usize>,
    step_end: usize,
}

/// A line, or several that follow one another and say the same kind of thing.
#[derive(Clone, Copy)]
struct Shown<'a> {
    at: usize,
    line: &'a WireLine,
    count: usize,
}

impl<'a> Scene<'a> {
    /// The judged line, its causes, then what came right before, what came right after, and what
    /// fills the picture in: as many of these, in that order, as there is room for.
    fn choose(&self) -> Vec<Shown<'a>> {
        let candidates = self.candidates();
        let (before, after) =
            candidates.split_at(candidates.partition_point(|shown| shown.at <= self.range.end));
        let marked = before.iter().filter(|shown| self.is_marked(shown.at));
        let is_near =
            |shown: &&Shown| self.notes.contains_key(&shown.at) || shown.at >= self.range.start;
        let causes = before.iter().rev().filter(|shown| self.causes.contains(&shown.at));
        let near = |weight: Weight| {
            before
                .iter()
                .rev()
                .filter(move |shown| shown.line.weight >= weight && shown.at >= self.range.start)
        };
        let next = after.iter().filter(|shown| shown.line.weight == Weight::Story).take(1);
        let told = near(Weight::Story).take(MOST_LINES - 2);
        let order = marked.chain(causes.filter(is_near).take(MOST_CAUSES)).chain(told).chain(next);
        let mut places = BTreeSet::new();
        for shown in order.chain(near(Weight::Story)).chain(near(Weight::Detail)) {
            if places.len() < MOST_LINES {
                places.insert(shown.at);
            }
        }
        candidates.into_iter().filter(|shown| places.contains(&shown.at)).collect()
    }

    /// Every line that may be shown, runs taken together.
    fn candidates(&self) -> Vec<Shown<'a>> {
        let mut candidates: Vec<Shown> = Vec::new();
        for (at, line) in self.lines[..self.step_end].iter().enumerate() {
            let Some(line) = line else { continue };
            if line.weight == Weight::Noise && !self.is_kept(at) {
                continue;
            }
            match candidates.last_mut() {
                Some(last) if self.is_run(last, at, line) => last.count += 1,
                _ => candidates.push(Shown { at, line, count: 1 }),
            }
        }
        candidates
    }

    fn is_run(&self, last: &Shown, at: usize, line: &WireLine) -> bool {
        let same = line.run.is_some() && last.line.run == line.run;
        same && !self.is_kept(at) && !self.is_kept(last.at)
    }

    fn is_marked(&self, at: usize) -> bool {
        self.judgement.record == Some(at)
    }

    fn is_kept(&self, at: usize) -> bool {
        self.is_marked(at) || self.causes.contains(&at)
    }

    fn draw(&self, shown: &[Shown], paint: Paint) -> String {
        let widest = |of: &dyn Fn(&Shown) -> usize| shown.iter().map(of).max().unwrap_or(0);
        let time = widest(&|shown| instant::show(shown.line.at_ms).len());
        let who = widest(&|shown| width(&shown.line.who));
        let noted = |shown: &&Shown| self.notes.contains_key(&shown.at);
        let room = COLUMNS - INDENT - time - who - 5;
        let said = shown.iter().filter(noted).map(|shown| width(&told(shown))).max().unwrap_or(0);
        let columns = Columns { time, who, room, said: said.min(room * 2 / 3) };
        let mut text = String::new();
        for (place, line) in shown.iter().enumerate() {
            if place > 0 && self.skips(shown[place - 1].at, line.at) {
                text.push_str(&paint.paint(Tone::Faint, format!("{:INDENT$}⋮\n", "")));
            }
            text.push_str(&self.row(line, &columns, paint));
        }
        text
    }

    /// Something that tells as much as these was left out between two lines.
    fn skips(&self, from: usize, to: usize) -> bool {
        let told = |line: &Option<WireLine>| {
            line.as_ref().is_some_and(|line| line.weight == Weight::Story)
        };
        self.lines[from + 1..to].iter().any(told)
    }

    fn row(&self, shown: &Shown, columns: &Columns, paint: Paint) -> String {
        let note = self.notes.get(&shown.at).map(|label| clean(label));
        let said = match &note {
            Some(_) => pad(&fit(&told(shown), columns.said), columns.said),
            None => fit(&told(shown), columns.room),
        };
        let note = note.map(|note| fit(&note, columns.room.saturating_sub(columns.said + 4)));
        let time = format!("{:>1$}", instant::show(shown.line.at_ms), columns.time);
        let who = pad(&shown.line.who, columns.who);
        let marked = self.is_marked(shown.at);
        let body = if marked {
            let tone = Tone::of(self.judgement.verdict);
            let body = format!("{} {time}  {who}   {said}", mark(self.judgement.verdict));
            paint.paint(tone, body.trim_end())
        } else {
            format!("  {}  {who}   {said}", paint.paint(Tone::Faint, time)).trim_end().to_owned()
        };
        let note = note.map(|note| format!("    {}", paint.paint(Tone::Cause, note)));
        format!("    {body}{}\n", note.unwrap_or_default())
    }
}

/// The widths that the lines of one moment share.
struct Columns {
    time: usize,
    who: usize,
    room: usize,
    said: usize,
}

fn told(shown: &Shown) -> String {
    if shown.count == 1 {
        return shown.line.text.clone();
    }
    format!("{}, and {} more of these", shown.line.text, shown.count - 1)
}

/// The sign that stands for a verdict, here and in every list.
pub fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "✓",
        Verdict::NotApplicable => "-",
        Verdict::Inconclusive => "?",
        Verdict::Violated => "✗",
    }
}
