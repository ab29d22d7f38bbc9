//! What a sweep and a hunt came to, for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::clean::{COLUMNS, clean, wrap};
use super::paint::{Paint, Tone};
use crate::explore::goals::{self, family};
use crate::explore::hunt::Hunted;
use crate::explore::record::Record;
use crate::explore::source::WORKLOAD;

/// What one sweep came to: what failed, and what was never reached.
pub fn sweep(record: &Record, quiet: bool, paint: Paint) -> String {
    let mut text = String::new();
    let tally = &record.tally;
    for (failure, (count, seed)) in &tally.failures {
        let sign = paint.paint(Tone::Bad, "✗");
        let line = format!(
            "{sign} {}  in {} of {}, first with seed {seed}",
            clean(&failure.what),
            grouped(*count),
            runs(tally.played),
        );
        writeln!(text, "  {line}").expect("a string takes all");
    }
    for (seed, mistake) in &tally.mistakes {
        let sign = paint.paint(Tone::Bad, "✗");
        writeln!(text, "  {sign} seed {seed} is our own mistake\n{}", mistake.trim_end())
            .expect("a string takes all");
    }
    if !quiet && record.subject == WORKLOAD {
        text += &coverage(record, paint);
    }
    let sign = match tally.failures.is_empty() && tally.mistakes.is_empty() {
        true => paint.paint(Tone::Good, "✓"),
        false => paint.paint(Tone::Bad, "✗"),
    };
    let fault = record.mutant.as_ref().map_or_else(String::new, |id| format!(" with {id}"));
    writeln!(
        text,
        "{sign} {}{fault}: {}{}",
        clean(&record.subject),
        runs(tally.played),
        empty(record)
    )
    .expect("a string takes all");
    text
}

fn runs(count: u64) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{} runs", grouped(count)) }
}

fn empty(record: &Record) -> String {
    match record.tally.empty {
        0 => String::new(),
        empty => format!(", and {} seeds without anything that makes sense", grouped(empty)),
    }
}

/// In how many runs each rule met each family of troubles, and what never happened at all.
fn coverage(record: &Record, paint: Paint) -> String {
    let tally = &record.tally;
    let families: BTreeSet<&str> = goals::WORKLOAD.iter().map(|mark| family(mark)).collect();
    let mut cells: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for ((rule, mark), count) in &tally.pairs {
        let most = cells.entry((rule, family(mark))).or_default();
        *most = (*most).max(*count);
    }
    let mut rules: Vec<&str> = cells.keys().map(|(rule, _)| *rule).collect();
    rules.sort_by_key(|rule| rule.trim_start_matches("H-").parse::<u32>().unwrap_or(u32::MAX));
    rules.dedup();
    let mut text =
        format!("  {}\n", paint.paint(Tone::Faint, "how often each rule met each kind of trouble"));
    let head: String = families.iter().map(|family| format!("{family:>10}")).collect();
    writeln!(text, "  {:<5}{head}", "").expect("a string takes all");
    for rule in rules {
        let row = families.iter().map(|family| match cells.get(&(rule, *family)) {
            Some(count) => format!("{:>10}", grouped(*count)),
            None => format!("{:>10}", "·"),
        });
        writeln!(text, "  {rule:<5}{}", row.collect::<String>()).expect("a string takes all");
    }
    let never: Vec<&str> =
        goals::WORKLOAD.iter().filter(|mark| !tally.marks.contains_key(**mark)).copied().collect();
    let reached = goals::WORKLOAD.len() - never.len();
    writeln!(text, "  {reached} of {} kinds of things happened", goals::WORKLOAD.len())
        .expect("a string takes all");
    for line in wrap(&never.join(" "), COLUMNS - 12) {
        writeln!(text, "  {} {line}", paint.paint(Tone::Doubt, "never:"))
            .expect("a string takes all");
    }
    text
}

/// Which faults were found, and after how many seeds.
pub fn hunt(hunted: &[Hunted], most: u64, quiet: bool, paint: Paint) -> String {
    let mut text = String::new();
    let longest = hunted.iter().map(|one| one.mutant.id().len()).max().unwrap_or(0);
    for one in hunted.iter().filter(|one| !quiet || one.seeds.is_none()) {
        let id = one.mutant.id();
        let (sign, after) = match one.seeds {
            Some(1) => (paint.paint(Tone::Good, "✓"), "by the first seed".to_owned()),
            Some(seeds) => {
                (paint.paint(Tone::Good, "✓"), format!("after {} seeds", grouped(seeds)))
            }
            None => (paint.paint(Tone::Bad, "✗"), format!("not in {} seeds", grouped(most))),
        };
        writeln!(text, "  {sign} {id:<longest$}  {after}").expect("a string takes all");
    }
    let mut seeds: Vec<u64> = hunted.iter().filter_map(|one| one.seeds).collect();
    seeds.sort_unstable();
    let median = seeds
        .get(seeds.len() / 2)
        .map_or_else(String::new, |median| format!("; the median took {} seeds", grouped(*median)));
    writeln!(text, "{} of {} faults found{median}", seeds.len(), hunted.len())
        .expect("a string takes all");
    text
}

/// 1234567 as people write it.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_threes() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234), "1,234");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
