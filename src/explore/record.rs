//! What a sweep came to, as JSON Lines: shards write them, and they can be joined.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use skep_check::verdict::Blame;

use super::seek::Failure;
use super::sweep::Seeds;
use super::tally::Tally;

/// The version of the lines.
pub const VERSION: u64 = 1;

/// What one sweep, or several that were joined, came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// What was swept: `workload`, or a test's name.
    pub subject: String,
    /// The fault that was switched on.
    pub mutant: Option<String>,
    /// Which seeds, each part with how many of them were played.
    pub parts: Vec<Part>,
    /// What they came to.
    pub tally: Tally,
    /// The smallest scenarios that were found, each with its failure.
    pub small: Vec<(Failure, String)>,
}

/// One sweep's seeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which were meant.
    pub seeds: Seeds,
    /// How many were played before it ended.
    pub played: u64,
}

/// Records by what they are about: the subject and the fault.
pub type Records = BTreeMap<(String, Option<String>), Record>;

/// Reads lines and adds what they say to what is known.
///
/// # Errors
/// What is wrong with them.
pub fn join(records: &mut Records, text: &str) -> Result<(), String> {
    let mut read: Vec<Record> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let told = |why: String| format!("line {}: {why}", number + 1);
        let line: Value = serde_json::from_str(line).map_err(|error| told(error.to_string()))?;
        if line["kind"] == "part" {
            read.push(Record::default());
        }
        let record = read.last_mut().ok_or_else(|| told("results begin with a `part`".into()))?;
        record.read(&line).map_err(told)?;
    }
    if read.is_empty() {
        return Err("it holds no results: write them with `--results FILE`".to_owned());
    }
    for record in read {
        let place = (record.subject.clone(), record.mutant.clone());
        match records.get_mut(&place) {
            Some(known) => known.add(record)?,
            None => drop(records.insert(place, record)),
        }
    }
    Ok(())
}

impl Record {
    /// The lines.
    pub fn lines(&self) -> String {
        let mut lines = Vec::new();
        for part in &self.parts {
            lines.push(json!({
                "skep_explore": VERSION, "kind": "part", "subject": self.subject,
                "mutant": self.mutant, "from": part.seeds.range.start, "to": part.seeds.range.end,
                "shard": part.seeds.shard, "of": part.seeds.of, "played": part.played,
            }));
        }
        lines.push(json!({"kind": "sum", "played": self.tally.played, "empty": self.tally.empty}));
        for (failure, (count, seed)) in &self.tally.failures {
            let small = self.small.iter().find(|(of, _)| of == failure).map(|(_, text)| text);
            lines.push(json!({
                "kind": "failure", "what": failure.what, "count": count, "seed": seed,
                "blame": failure.blame.map(|blame| blame.to_string()), "scenario": small,
            }));
        }
        for (mark, count) in &self.tally.marks {
            lines.push(json!({"kind": "happened", "what": mark, "count": count}));
        }
        for ((rule, mark), count) in &self.tally.pairs {
            lines.push(json!({"kind": "pair", "rule": rule, "what": mark, "count": count}));
        }
        for (seed, mistake) in &self.tally.mistakes {
            lines.push(json!({"kind": "mistake", "seed": seed, "text": mistake}));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn add(&mut self, other: Self) -> Result<(), String> {
        if let Some(twice) = other.parts.iter().find(|part| self.has(part)) {
            let (shard, of) = (twice.seeds.shard, twice.seeds.of);
            return Err(format!("shard {shard}/{of} of `{}` is there twice", self.subject));
        }
        self.parts.extend(other.parts);
        self.parts.sort_by_key(|part| (part.seeds.range.start, part.seeds.shard));
        self.tally.merge(other.tally);
        for (failure, text) in other.small {
            match self.small.iter_mut().find(|(of, _)| *of == failure) {
                Some((_, known)) if (text.len(), &text) < (known.len(), known) => *known = text,
                Some(_) => {}
                None => self.small.push((failure, text)),
            }
        }
        self.small.sort();
        Ok(())
    }

    fn has(&self, part: &Part) -> bool {
        self.parts.iter().any(|known| known.seeds == part.seeds)
    }

    fn read(&mut self, line: &Value) -> Result<(), String> {
        let text = |key: &str| line[key].as_str().map(str::to_owned);
        let need = |key: &str| text(key).ok_or(format!("there is no `{key}`"));
        let number = |key: &str| line[key].as_u64().ok_or(format!("`{key}` is no number"));
        match &*need("kind")? {
            "part" => {
                if line["skep_explore"].as_u64() != Some(VERSION) {
                    return Err(format!("these are not results of version {VERSION}"));
                }
                self.subject = need("subject")?;
                self.mutant = text("mutant");
                let seeds = Seeds {
                    range: number("from")?..number("to")?,
                    shard: number("shard")?,
                    of: number("of")?,
                };
                self.parts.push(Part { seeds, played: number("played")? });
            }
            "sum" => {
                self.tally.played += number("played")?;
                self.tally.empty += number("empty")?;
            }
            "failure" => {
                let blame = text("blame").and_then(|word| blame(&word));
                let failure = Failure { what: need("what")?, blame };
                let counted = (number("count")?, number("seed")?);
                self.tally.failures.insert(failure.clone(), counted);
                self.small.extend(text("scenario").map(|scenario| (failure, scenario)));
            }
            "happened" => {
                self.tally.marks.insert(need("what")?, number("count")?);
            }
            "pair" => {
                self.tally.pairs.insert((need("rule")?, need("what")?), number("count")?);
            }
            "mistake" => self.tally.mistakes.push((number("seed")?, need("text")?)),
            other => return Err(format!("`{other}` is no kind of line")),
        }
        Ok(())
    }
}

fn blame(word: &str) -> Option<Blame> {
    let all = [Blame::Harness, Blame::Agent, Blame::Relay, Blame::Scenario, Blame::Skep];
    all.into_iter().find(|blame| blame.to_string() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(shard: u64) -> Record {
        let failure = Failure { what: "H-1".to_owned(), blame: Some(Blame::Harness) };
        let mut tally = Tally { played: 5, empty: 1, ..Tally::default() };
        tally.failures.insert(failure.clone(), (2, 10 + shard));
        tally.marks.insert("load/hangs".to_owned(), 3);
        tally.pairs.insert(("H-13".to_owned(), "load/hangs".to_owned()), 2);
        let seeds = Seeds { range: 0..12, shard, of: 2 };
        Record {
            subject: "workload".to_owned(),
            mutant: None,
            parts: vec![Part { seeds, played: 5 }],
            tally,
            small: vec![(failure, format!("scenario {shard}"))],
        }
    }

    #[test]
    fn lines_are_read_back() {
        let mut read = Records::new();
        join(&mut read, &record(0).lines()).unwrap();
        assert_eq!(read.into_values().collect::<Vec<_>>(), [record(0)]);
    }

    #[test]
    fn shards_add_up_in_any_order() {
        let joined = |order: [u64; 2]| {
            let mut all = Records::new();
            order.iter().for_each(|shard| join(&mut all, &record(*shard).lines()).unwrap());
            all
        };
        let all = joined([0, 1]);
        assert_eq!(all, joined([1, 0]));
        let tally = &all.values().next().unwrap().tally;
        assert_eq!(tally.played, 10);
        assert_eq!(tally.failures.values().next(), Some(&(4, 10)));
    }

    #[test]
    fn what_is_there_twice_or_is_no_result_is_refused() {
        let mut all = Records::new();
        join(&mut all, &record(1).lines()).unwrap();
        let twice = join(&mut all, &record(1).lines()).unwrap_err();
        assert_eq!(twice, "shard 1/2 of `workload` is there twice");
        assert_eq!(join(&mut all, "{}").unwrap_err(), "line 1: results begin with a `part`");
    }
}
