//! What a scenario says about itself.

use skep_plan::Schedule;
use skep_trace::Text;

use super::line::Line;
use super::model::{Explore, Placed};
use super::scope::Scope;
use super::tree::Word;
use super::verb::{self, MANY, Verb};

/// Everything that is known of a scenario besides what happens in it.
#[derive(Debug, Default)]
pub(super) struct Meta {
    pub(super) cites: Vec<Placed<Text>>,
    pub(super) rules: Vec<Placed<Text>>,
    pub(super) kills: Vec<Placed<Text>>,
    pub(super) needs: Vec<Placed<Text>>,
    pub(super) slow: bool,
    pub(super) sim_only: Option<Text>,
    pub(super) live_only: Option<Text>,
    pub(super) explore: Option<Explore>,
    pub(super) schedule: Option<Schedule>,
}

/// One line of it.
pub(super) enum Fact {
    Cites(Vec<Word>),
    Rules(Vec<Word>),
    Kills(Vec<Word>),
    Needs(Vec<Word>),
    Slow,
    SimOnly(Text),
    LiveOnly(Text),
    Explore(Explore),
    Schedule(Schedule),
}

/// Every kind of line.
pub(super) const META: &[Verb<Fact>] = &[
    Verb::new("cites", MANY, &[], |line, _| {
        Fact::Cites(list(line, "\"owner/repo#1\"", is_report, "a report is `owner/repo#number`"))
    }),
    Verb::new("rules", MANY, &[], |line, _| {
        let help = "a rule is `H-`, `S-` or `A-` and a number";
        Fact::Rules(list(line, "\"H-1\"", is_rule, help))
    }),
    Verb::new("kills", MANY, &[], |line, _| {
        let help = "a mutant is `part/what-it-does-wrong`; `skep list mutants` names them";
        Fact::Kills(list(line, "\"harness/never-loads\"", is_mutant, help))
    }),
    Verb::new("needs", MANY, &[], |line, _| {
        let help = "a need is one word of small letters and `-`";
        Fact::Needs(list(line, "\"durable-sessions\"", is_kebab, help))
    }),
    Verb::new("slow", 0, &[], |_, _| Fact::Slow),
    Verb::new("sim-only", 1, &[], |line, _| Fact::SimOnly(reason(line))),
    Verb::new("live-only", 1, &[], |line, _| Fact::LiveOnly(reason(line))),
    Verb::new("explore", 0, &["schedules"], |line, _| Fact::Explore(explore(line))),
    Verb::new("schedule", 0, &["seed", "spread"], |line, _| Fact::Schedule(schedule(line))),
];

impl Meta {
    /// Reads a line into it; `false` when it is none.
    pub(super) fn read(&mut self, line: &Line<'_>, scope: &mut Scope) -> bool {
        let Some(verb) = verb::find(META, &line.node.name.text) else { return false };
        match verb.read(line, scope) {
            Fact::Cites(words) => add(&mut self.cites, words, line),
            Fact::Rules(words) => add(&mut self.rules, words, line),
            Fact::Kills(words) => add(&mut self.kills, words, line),
            Fact::Needs(words) => add(&mut self.needs, words, line),
            Fact::Slow => {
                refuse_second(line, self.slow);
                self.slow = true;
            }
            Fact::SimOnly(reason) => once(line, &mut self.sim_only, reason),
            Fact::LiveOnly(reason) => once(line, &mut self.live_only, reason),
            Fact::Explore(explore) => once(line, &mut self.explore, explore),
            Fact::Schedule(schedule) => once(line, &mut self.schedule, schedule),
        }
        let about_worlds = matches!(verb.word, "sim-only" | "live-only");
        if about_worlds && self.sim_only.is_some() && self.live_only.is_some() {
            let help = "keep one of the two, or write two scenarios";
            line.at.error(line.node.span, "`sim-only` and `live-only`", "runs nowhere", help);
        }
        true
    }
}

fn add(known: &mut Vec<Placed<Text>>, words: Vec<Word>, line: &Line<'_>) {
    for Word { text, span } in words {
        if let Some(first) = known.iter().find(|placed| placed.value == text) {
            let title = format!("`{}` is there twice", super::value::shortened(&text));
            let fault = line.at.fault(span, title).label("again").other(first.span, "first here");
            line.at.put(fault.help("remove one of the two"));
        }
        known.push(Placed { value: text, span });
    }
}

fn once<T>(line: &Line<'_>, known: &mut Option<T>, value: T) {
    refuse_second(line, known.is_some());
    *known = Some(value);
}

fn refuse_second(line: &Line<'_>, second: bool) {
    if second {
        let title = format!("a second `{}`", line.verb());
        line.at.error(line.node.span, title, "again", "keep one of them");
    }
}

fn list(line: &Line<'_>, example: &str, fits: fn(&str) -> bool, help: &str) -> Vec<Word> {
    line.needs_arg("a value", example);
    let words = line.texts("the value");
    for word in words.iter().filter(|word| !word.text.is_empty() && !fits(&word.text)) {
        let title = format!(
            "`{}` is not what `{}` takes",
            super::value::shortened(&word.text),
            line.verb()
        );
        line.at.error(word.span, title, "not understood", help);
    }
    words
}

fn reason(line: &Line<'_>) -> Text {
    line.first_text("a reason", "\"needs a simulated power loss\"")
}

fn explore(line: &Line<'_>) -> Explore {
    line.needs("schedules", "256");
    Explore { schedules: line.count_prop("schedules").unwrap_or(1) }
}

/// The most that a hop may take longer: beyond it time-outs of peers come into play.
const MOST_SPREAD_MS: u64 = 1_000;

fn schedule(line: &Line<'_>) -> Schedule {
    line.needs("spread", "\"20ms\"");
    let spread_ms = line.duration_prop("spread").unwrap_or(0);
    if let (true, Some(value)) = (spread_ms > MOST_SPREAD_MS, line.node.prop("spread")) {
        let title = "a hop takes at most a second longer";
        line.at.error(value.span, title, "too much", "write `\"1s\"` or less");
    }
    Schedule { seed: line.number_prop("seed").unwrap_or(0), spread_ms }
}

/// `owner/repo#123`.
fn is_report(text: &str) -> bool {
    let Some((repo, number)) = text.split_once('#') else { return false };
    let plain = |part: &str| {
        let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && part.chars().all(letter)
    };
    let repo_fits = repo.split_once('/').is_some_and(|(owner, name)| plain(owner) && plain(name));
    repo_fits && is_number(number)
}

/// `H-12`.
fn is_rule(text: &str) -> bool {
    text.split_once('-')
        .is_some_and(|(family, number)| matches!(family, "H" | "S" | "A") && is_number(number))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `harness/never-loads`.
fn is_mutant(text: &str) -> bool {
    text.split_once('/').is_some_and(|(part, what)| is_kebab(part) && is_kebab(what))
}

/// Words of small letters and digits, joined by `-`.
pub(super) fn is_kebab(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.split('-').all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_rules_and_mutants_have_their_shapes() {
        assert!(is_report("block/buzz#5342") && is_report("a.b/c_d#1"));
        assert!(!is_report("block/buzz") && !is_report("block#1") && !is_report("a/b#x"));
        assert!(is_rule("H-1") && is_rule("A-34") && !is_rule("H1") && !is_rule("X-1"));
        assert!(
            is_mutant("store/forgets-on-restart") && !is_mutant("store") && !is_mutant("a/b/c")
        );
    }
}
