//! A scenario that somebody wrote, under another schedule and with troubles that it does not
//! mention: the relay fails between its steps, harnesses are killed there or at a point within.
//!
//! With another schedule alone, all that the scenario expects must still follow. With troubles,
//! only the rules that always hold are judged: what it expects was not written for them.

use std::collections::BTreeSet;

use skep_plan::{Dice, Schedule};

use super::seek::{self, Counts, Played};
use crate::director::{Job, play};
use crate::scenario::Scenario;

/// The most troubles of one seed.
const MOST_TROUBLES: u32 = 3;

/// Relay faults, each with its mark.
const RELAY: [(&str, &str); 8] = [
    ("relay/disconnect", "relay-fault disconnect"),
    ("relay/duplicate", "relay-fault duplicate"),
    ("relay/reorder", "relay-fault reorder"),
    ("relay/delay", "relay-fault delay by=\"2s\""),
    ("relay/away", "relay-fault restart down=\"20s\""),
    ("relay/re-auth", "relay-fault re-auth"),
    ("relay/rate-limit", "relay-fault rate-limit for=\"5s\""),
    ("relay/slow-eose", "relay-fault slow-eose by=\"5s\""),
];

/// Points at which a harness is killed, each with its mark.
const POINTS: [(&str, &str); 10] = [
    ("crash/new-sent", "new-sent"),
    ("crash/new-answered", "new-answered"),
    ("crash/load-sent", "load-sent"),
    ("crash/mid-replay", "mid-replay"),
    ("crash/load-answered", "load-answered"),
    ("crash/prompt-sent", "prompt-sent"),
    ("crash/prompt-answered", "prompt-answered"),
    ("crash/temp-written", "temp-written"),
    ("crash/renamed", "renamed"),
    ("crash/stored", "stored"),
];

/// A scenario and the places where something can be done to it.
#[derive(Clone, Debug)]
pub struct Varied {
    name: String,
    /// The text of the scenario alone.
    text: String,
    /// Where a line about the whole scenario goes.
    head: usize,
    /// Where an act comes first in each step.
    steps: Vec<usize>,
    harnesses: Vec<String>,
    /// How many seeds the scenario itself asks for.
    wished: Option<u64>,
}

/// What one seed does to a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// Another schedule.
    pub schedule: Option<Schedule>,
    /// What goes wrong.
    pub troubles: Vec<Trouble>,
}

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trouble {
    /// Before the acts of which step.
    step: usize,
    mark: &'static str,
    line: String,
    /// What must come before the acts of the step after it.
    after: Option<String>,
}

impl Varied {
    /// A scenario that can be varied.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn new(scenario: &Scenario) -> Result<Self, String> {
        if !scenario.uses.is_empty() {
            return Err("it takes its cast from another file".to_owned());
        }
        let text = own_text(scenario)?;
        let name = scenario.name.to_string();
        let alone = seek::read(&name, &text)?;
        let head = brace_after(&text, alone.span.end)?;
        let steps = alone.steps.iter().map(|step| {
            let title = text[step.span.start..].find(&*step.title).unwrap_or_default();
            brace_after(&text, step.span.start + title + step.title.len())
        });
        let steps = steps.collect::<Result<Vec<_>, String>>()?;
        let started = alone.cast.harnesses.iter().filter(|harness| harness.started);
        let harnesses: Vec<String> = started.map(|harness| harness.name.to_string()).collect();
        let wished = alone.explore.map(|wish| u64::from(wish.schedules));
        if steps.is_empty() || harnesses.is_empty() {
            return Err("it starts no harness before its first step".to_owned());
        }
        Ok(Self { name, text, head, steps, harnesses, wished })
    }

    /// The test's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many seeds it asks for itself.
    pub fn wished(&self) -> Option<u64> {
        self.wished
    }

    /// What a seed does to it.
    pub fn draw(&self, seed: u64) -> Variation {
        let mut dice = Dice::new(seed);
        let spread_ms = [0, 2, 20, 200][dice.place(4)];
        let schedule = (spread_ms > 0).then_some(Schedule { seed, spread_ms });
        let count = dice.throw(MOST_TROUBLES + 1);
        let mut troubles: Vec<Trouble> = (0..count).map(|_| self.trouble(&mut dice)).collect();
        troubles.sort();
        // One kill at a point at a time: who waits for two is never where it should be.
        let mut kills = 0;
        troubles.retain(|trouble| {
            trouble.after.is_none() || {
                kills += 1;
                kills == 1
            }
        });
        Variation { schedule, troubles }
    }

    fn trouble(&self, dice: &mut Dice) -> Trouble {
        let step = dice.place(self.steps.len());
        let harness = &self.harnesses[dice.place(self.harnesses.len())];
        match dice.throw(4) {
            0 => Trouble {
                step,
                mark: "restart/kill",
                line: format!("restart \"{harness}\""),
                after: None,
            },
            1 => {
                let (mark, point) = POINTS[dice.place(POINTS.len())];
                Trouble {
                    step,
                    mark,
                    line: format!("crash \"{harness}\" at=\"{point}\""),
                    after: Some(format!("start \"{harness}\"")),
                }
            }
            _ => {
                let (mark, line) = RELAY[dice.place(RELAY.len())];
                Trouble { step, mark, line: line.to_owned(), after: None }
            }
        }
    }

    /// The scenario with what is done to it.
    pub fn text(&self, variation: &Variation) -> Option<String> {
        let mut inserts: Vec<(usize, String)> = Vec::new();
        if let Some(schedule) = variation.schedule {
            let line =
                format!("schedule seed={} spread=\"{}ms\"", schedule.seed, schedule.spread_ms);
            inserts.push((self.head, format!("\n    {line}")));
        }
        for trouble in &variation.troubles {
            let at = *self.steps.get(trouble.step)?;
            inserts.push((at, format!("\n        {}", trouble.line)));
            // Nobody is started again after the last step.
            if let (Some(after), Some(next)) = (&trouble.after, self.steps.get(trouble.step + 1)) {
                inserts.push((*next, format!("\n        {after}")));
            }
        }
        inserts.sort_by_key(|(at, _)| *at);
        let mut text = self.text.clone();
        for (at, line) in inserts.iter().rev() {
            text.insert_str(*at, line);
        }
        Some(text)
    }

    /// Plays it with what is done to it.
    ///
    /// # Errors
    /// When the text is not right: our own fault.
    pub fn play(&self, variation: &Variation, job: &Job) -> Result<Option<Played>, String> {
        let Some(text) = self.text(variation) else { return Ok(None) };
        let counts = variation.counts();
        let outcome = play(&seek::read(&self.name, &text)?, job);
        let failure = seek::failure(&outcome, counts);
        let mut marks: BTreeSet<&'static str> =
            variation.troubles.iter().map(|trouble| trouble.mark).collect();
        if variation.schedule.is_some() {
            marks.insert("schedule");
        }
        Ok(Some(Played { text, marks, failure, outcome }))
    }
}

impl Variation {
    /// Which judgements count.
    pub fn counts(&self) -> Counts {
        if self.troubles.is_empty() { Counts::All } else { Counts::Invariants }
    }
}

/// The scenario's own lines: from the line that names it to the next scenario, or the file's end.
fn own_text(scenario: &Scenario) -> Result<String, String> {
    let file = &scenario.file;
    if file.is_markdown() {
        return Err("it stands in a Markdown file".to_owned());
    }
    let start = file.text[..scenario.span.start].rfind('\n').map_or(0, |at| at + 1);
    let end =
        file.text[scenario.span.end..].find("\nscenario ").map(|at| scenario.span.end + at + 1);
    let whole = &file.text[start..end.unwrap_or(file.text.len())];
    // The comment above the next scenario is its own.
    let close = whole.rfind('}').ok_or("it has no end")?;
    Ok(format!("{}\n", &whole[..=close]))
}

/// The place right after the next opening brace.
fn brace_after(text: &str, from: usize) -> Result<usize, String> {
    let brace = text[from..].find('{').ok_or("a step has no braces")?;
    Ok(from + brace + 1)
}
