//! A failing workload, made small: fewer operations, plainer ones, a plainer ground; then fewer
//! lines.
//!
//! Whatever is tried is told anew, with what must follow from what is left, and counts only if the
//! same thing fails. So a smaller scenario never fails because something that it builds on is gone.

use proptest::strategy::ValueTree;

use super::seek::{self, Counts, Failure, Played};
use super::vary::{Variation, Varied};
use super::workload::{Change, Choice, Down, Op, Pair, Spot, Workload};
use crate::director::Job;

/// How many smaller workloads are played at most. A failure that needs more stays a little larger.
const MOST_TRIES: usize = 600;

/// The smallest scenario that was found to fail in the same way.
#[derive(Clone, Debug)]
pub struct Small {
    /// The scenario.
    pub text: String,
    /// How many were played on the way.
    pub tries: usize,
}

/// Makes a workload small. `None`: it does not fail so.
pub fn workload(
    mut tree: Box<dyn ValueTree<Value = Workload>>,
    name: &str,
    job: &Job,
    failure: &Failure,
) -> Option<Small> {
    let mut search = Search { name, job, failure, counts: Counts::All, tries: 0 };
    let mut best = None;
    loop {
        let candidate = tree.current();
        let more = if search.fails(&candidate).is_some() {
            best = Some(candidate);
            tree.simplify()
        } else {
            tree.complicate()
        };
        if !more || search.tries >= MOST_TRIES {
            break;
        }
    }
    let best = search.plainer(best?);
    let played = search.fails(&best)?;
    let text = search.fewer_lines(played.text);
    let text = search.joined(text);
    Some(Small { text, tries: search.tries })
}

/// Takes away what is done to a scenario as far as it fails without. `None`: it does not fail so.
pub fn varied(
    varied: &Varied,
    mut variation: Variation,
    job: &Job,
    failure: &Failure,
) -> Option<Small> {
    let counts = variation.counts();
    let mut search = Search { name: varied.name(), job, failure, counts, tries: 0 };
    let mut place = 0;
    while place < variation.troubles.len() {
        let mut fewer = variation.clone();
        fewer.troubles.remove(place);
        match varied.text(&fewer).filter(|text| search.text_fails(text)) {
            Some(_) => variation = fewer,
            None => place += 1,
        }
    }
    let plain = Variation { schedule: None, ..variation.clone() };
    if varied.text(&plain).is_some_and(|text| search.text_fails(&text)) {
        variation = plain;
    }
    let text = varied.text(&variation).filter(|text| search.text_fails(text))?;
    let text = search.fewer_lines(text);
    Some(Small { text, tries: search.tries })
}

struct Search<'a> {
    name: &'a str,
    job: &'a Job,
    failure: &'a Failure,
    counts: Counts,
    tries: usize,
}

impl Search<'_> {
    fn fails(&mut self, workload: &Workload) -> Option<Played> {
        self.tries += 1;
        let played = seek::workload(workload, self.name, self.job).ok().flatten()?;
        (played.failure.as_ref() == Some(self.failure)).then_some(played)
    }

    /// Takes away whole features and pairs of operations, which one change at a time cannot.
    fn plainer(&mut self, mut best: Workload) -> Workload {
        let mut again = true;
        while again && self.tries < 2 * MOST_TRIES {
            again = false;
            for candidate in candidates(&best) {
                if self.fails(&candidate).is_some() {
                    best = candidate;
                    again = true;
                    break;
                }
            }
        }
        best
    }

    /// Takes away lines that the failure does not need: expectations, or what they ask for in
    /// their braces, and the schedule. The cast and the acts stay: what must follow was written
    /// for them.
    fn fewer_lines(&mut self, mut text: String) -> String {
        let mut from = 0;
        while let Some((place, end)) = next_spare(&text, from) {
            let line = text[place..end].to_owned();
            let bare = line.split_once(" { ").map(|(bare, _)| format!("{bare}\n"));
            from = end;
            for shorter in [Some(String::new()), bare].into_iter().flatten() {
                let mut candidate = text.clone();
                candidate.replace_range(place..end, &shorter);
                if self.text_fails(&candidate) {
                    from = place + shorter.len();
                    text = candidate;
                    break;
                }
            }
        }
        text
    }

    /// A step that expects nothing lends its acts to the next one.
    fn joined(&mut self, mut text: String) -> String {
        let mut from = 0;
        while let Some((place, end)) = next_seam(&text, from) {
            let mut candidate = text.clone();
            candidate.replace_range(place..end, "");
            from = end;
            if self.text_fails(&candidate) {
                text = candidate;
                from = place;
            }
        }
        text
    }

    fn text_fails(&mut self, text: &str) -> bool {
        self.tries += 1;
        let Ok(scenario) = seek::read(self.name, text) else { return false };
        let outcome = crate::director::play(&scenario, self.job);
        seek::failure(&outcome, self.counts).as_ref() == Some(self.failure)
    }
}

/// The next line from `from` on that may be spared, and where it ends.
fn next_spare(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        let end = at + line.len();
        let word = line.trim_start().split(' ').next().unwrap_or_default();
        if matches!(word, "expect" | "never" | "schedule") {
            return Some((at, end));
        }
        at = end;
    }
    None
}

/// The next end of a step that is followed by the beginning of another.
fn next_seam(text: &str, from: usize) -> Option<(usize, usize)> {
    const SEAM: &str = "    }\n    step \"";
    let place = from + text[from..].find(SEAM)?;
    let end = place + SEAM.len() + text[place + SEAM.len()..].find('\n')? + 1;
    Some((place, end))
}

/// Workloads that are a little plainer than this one.
fn candidates(workload: &Workload) -> Vec<Workload> {
    let mut candidates = Vec::new();
    let ops = workload.ops.len();
    for first in 0..ops {
        let mut fewer = workload.clone();
        fewer.ops.remove(first);
        candidates.push(fewer);
        for second in first + 1..ops {
            let mut fewer = workload.clone();
            fewer.ops.remove(second);
            fewer.ops.remove(first);
            candidates.push(fewer);
        }
    }
    for change in PLAINER {
        let mut plainer = workload.clone();
        change(&mut plainer);
        if plainer != *workload {
            candidates.push(plainer);
        }
    }
    if workload.ground.pair != Pair::One {
        // What a second harness shows, a second life of the first one may show as well.
        for place in 0..=ops {
            let mut alone = workload.clone();
            alone.ground.pair = Pair::One;
            alone.ops.insert(
                place,
                Op::Restart { harness: 0, down: Down::Killed, change: Change::None },
            );
            candidates.push(alone);
        }
    }
    for place in 0..ops {
        if let Op::Restart { harness, .. } = workload.ops[place] {
            let mut plainer = workload.clone();
            plainer.ops[place] = Op::Restart { harness, down: Down::Killed, change: Change::None };
            if plainer != *workload {
                candidates.push(plainer);
            }
        }
    }
    candidates
}

/// Does something to the place of each operation.
fn spots(workload: &mut Workload, change: fn(&mut Spot)) {
    for op in &mut workload.ops {
        match op {
            Op::Mention { spot, .. }
            | Op::Busy { spot, .. }
            | Op::Rotate { spot, .. }
            | Op::Switch { spot }
            | Op::Crash { spot, .. }
            | Op::Disk { spot, .. }
            | Op::Full { spot, .. }
            | Op::Overtaken { spot } => change(spot),
            Op::Burst { spots } => spots.iter_mut().for_each(change),
            Op::Leave { .. } | Op::Restart { .. } | Op::Idle => {}
        }
    }
}

/// One feature less, of the ground or of all operations.
const PLAINER: [fn(&mut Workload); 11] = [
    |it| spots(it, |spot| spot.channel = 0),
    |it| spots(it, |spot| spot.thread = 0),
    |it| spots(it, |spot| spot.harness = 0),
    |it| it.ground.threads = false,
    |it| it.ground.tools = false,
    |it| it.ground.feed = false,
    |it| it.ground.choice = Choice::Nothing,
    |it| it.ground.max_turns = 0,
    |it| it.ground.heartbeat = false,
    |it| it.ground.pair = Pair::One,
    |it| it.ground.spread_ms = 0,
];
