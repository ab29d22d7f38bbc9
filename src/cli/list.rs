//! `skep list`: what there is, and what has to do with what.

mod agents;
mod profile;
mod requirements;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use skep_mutant::Mutant;
use skep_trace::Text;

use super::console::Console;
use super::options::{Format, OutputOptions};
use super::trouble::Trouble;
use super::{agents as agent_profiles, discover, help, profiles, select};
use crate::certify::{self, Profile, Requirement};
use crate::exit_code::ExitCode;
use crate::profile::HarnessProfile;
use crate::report::Paint;
use crate::report::clean::{COLUMNS, clean, fit, pad};
use crate::report::paint::Tone;
use crate::scenario::{self, Listed};
use skep_check::{RULES, Rule};

/// The version of the documents. A field that is added keeps it; anything else raises it.
pub const VERSION: u64 = 1;

/// `skep list`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::LIST)]
pub struct ListArguments {
    /// What is listed; without it, what there is in numbers.
    #[arg(
        value_enum,
        value_name = "scenarios|rules|mutants|requirements|profiles|agents",
        hide_possible_values = true
    )]
    pub what: Option<Kind>,
    /// Scenario files, Markdown files, folders; without one the built-in corpus is meant.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only what has such a name or id; `*` stands for any run of letters.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// How results are shown.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Scenarios, by file.
    Scenarios,
    /// Rules, and what has to do with each.
    Rules,
    /// Faults of the reference, and who declares to notice each.
    Mutants,
    /// What a certificate looks at: each with its plan and the agent that breaks it.
    Requirements,
    /// Harness profiles, and the policies that each follows.
    Profiles,
    /// Agent profiles: what each starts, and how it is installed.
    Agents,
}

/// Lists what the arguments ask for.
///
/// # Errors
/// When a path cannot be read, or nothing fits.
pub fn list(arguments: &ListArguments, console: &Console) -> Result<ExitCode, Trouble> {
    let scenarios: Vec<_> =
        discover::tests(&arguments.paths)?.into_iter().map(|test| test.scenario).collect();
    let listed = scenario::list(&scenarios);
    let first = |one: &Listed| scenarios.iter().find(|scenario| one.tests[0] == scenario.name);
    let fits = |name: &str| {
        arguments.only.is_empty() || arguments.only.iter().any(|glob| select::fits(glob, name))
    };
    let shelf = Shelf {
        mutants: Mutant::ALL.iter().copied().filter(|mutant| fits(mutant.id())).collect(),
        requirements: certify::requirements().iter().filter(|row| fits(&row.id())).collect(),
        rules: RULES.iter().copied().filter(|rule| fits(rule.id)).collect(),
        shown: listed
            .iter()
            .filter(|one| fits(&one.name))
            .map(|one| (one.clone(), first(one).map_or("", |scenario| &scenario.doc)))
            .map(|(one, doc)| (one, first_sentence(doc)))
            .collect(),
        profiles: profiles::built_in().into_iter().filter(|one| fits(&one.name)).collect(),
        agents: agent_profiles::built_in().into_iter().filter(|one| fits(&one.name)).collect(),
        listed,
    };
    let Some(what) = arguments.what else {
        return say(console, shelf.numbers(console.paint), || shelf.numbers_json());
    };
    if shelf.is_empty(what) {
        let title = format!("nothing fits `--only {}`", arguments.only.join(" "));
        return Err(Trouble::usage(title).help("`*` stands for any run of letters"));
    }
    let text = if console.quiet { shelf.names(what) } else { shelf.text(what, console.paint) };
    say(console, text, || shelf.document(what))
}

fn say(
    console: &Console,
    text: String,
    document: impl FnOnce() -> Value,
) -> Result<ExitCode, Trouble> {
    let shown = match console.format {
        Format::Text => text,
        Format::Json => document().to_string() + "\n",
    };
    console.say(&shown)?;
    Ok(ExitCode::Held)
}

/// What there is.
struct Shelf {
    /// All scenarios: what rules and mutants are counted by.
    listed: Vec<Listed>,
    /// The scenarios to show, each with the first sentence about it.
    shown: Vec<(Listed, String)>,
    /// The rules to show.
    rules: Vec<Rule>,
    /// The requirements to show.
    requirements: Vec<&'static Requirement>,
    /// The mutants to show.
    mutants: Vec<Mutant>,
    /// The profiles to show.
    profiles: Vec<HarnessProfile>,
    /// The agent profiles to show.
    agents: Vec<Profile>,
}

impl Shelf {
    fn is_empty(&self, what: Kind) -> bool {
        match what {
            Kind::Scenarios => self.shown.is_empty(),
            Kind::Rules => self.rules.is_empty(),
            Kind::Mutants => self.mutants.is_empty(),
            Kind::Requirements => self.requirements.is_empty(),
            Kind::Profiles => self.profiles.is_empty(),
            Kind::Agents => self.agents.is_empty(),
        }
    }

    fn text(&self, what: Kind, paint: Paint) -> String {
        match what {
            Kind::Scenarios => self.scenarios(paint),
            Kind::Rules => self.rules(paint),
            Kind::Mutants => self.mutants(paint),
            Kind::Requirements => requirements::text(&self.requirements, paint),
            Kind::Profiles => profile::text(&self.profiles, paint),
            Kind::Agents => agents::text(&self.agents, paint),
        }
    }

    /// Names only, one a line, for a shell.
    fn names(&self, what: Kind) -> String {
        let names: Vec<&str> = match what {
            Kind::Scenarios => {
                self.shown.iter().flat_map(|(one, _)| &one.tests).map(|name| &**name).collect()
            }
            Kind::Rules => self.rules.iter().map(|rule| rule.id).collect(),
            Kind::Mutants => self.mutants.iter().map(|mutant| mutant.id()).collect(),
            Kind::Requirements => {
                return self.requirements.iter().map(|row| row.id() + "\n").collect();
            }
            Kind::Profiles => self.profiles.iter().map(|profile| &*profile.name).collect(),
            Kind::Agents => self.agents.iter().map(|profile| &*profile.name).collect(),
        };
        names.into_iter().map(|name| format!("{}\n", clean(name))).collect()
    }

    fn document(&self, what: Kind) -> Value {
        let list: (&str, Value) = match what {
            Kind::Scenarios => (
                "scenarios",
                self.shown.iter().map(|(one, summary)| scenario_json(one, summary)).collect(),
            ),
            Kind::Rules => ("rules", self.rules.iter().map(|rule| self.rule_json(rule)).collect()),
            Kind::Mutants => {
                ("mutants", self.mutants.iter().map(|one| self.mutant_json(*one)).collect())
            }
            Kind::Requirements => ("requirements", requirements::document(&self.requirements)),
            Kind::Profiles => ("profiles", self.profiles.iter().map(profile::document).collect()),
            Kind::Agents => ("agents", self.agents.iter().map(agents::document).collect()),
        };
        json!({"skep_list": VERSION, list.0: list.1})
    }

    fn tests(&self) -> usize {
        self.listed.iter().map(|one| one.tests.len()).sum()
    }

    fn numbers(&self, paint: Paint) -> String {
        let line = |count: usize, what: &str, verb: &str| {
            let verb = paint.paint(Tone::Faint, format!("skep list {verb}"));
            format!("{count:>5}  {}{verb}\n", pad(what, 30))
        };
        let tests = format!("tests in {} scenarios", self.listed.len());
        line(self.tests(), &tests, "scenarios")
            + &line(self.rules.len(), "rules", "rules")
            + &line(self.mutants.len(), "mutants", "mutants")
            + &line(self.requirements.len(), "requirements of a certificate", "requirements")
            + &line(self.profiles.len(), "harness profiles", "profiles")
            + &line(self.agents.len(), "agent profiles", "agents")
    }

    fn numbers_json(&self) -> Value {
        json!({
            "skep_list": VERSION,
            "counts": {
                "scenarios": self.listed.len(), "tests": self.tests(), "rules": self.rules.len(),
                "mutants": self.mutants.len(), "requirements": self.requirements.len(),
                "profiles": self.profiles.len(), "agents": self.agents.len(),
            },
        })
    }

    fn scenarios(&self, paint: Paint) -> String {
        let mut text = String::new();
        for file in self.shown.chunk_by(|(one, _), (other, _)| one.file.name == other.file.name) {
            let name = paint.paint(Tone::Strong, clean(&file[0].0.file.name));
            writeln!(text, "{name}").expect("a string takes all");
            for (one, summary) in file {
                text.push_str(&scenario_text(one, summary, paint));
            }
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }

    fn rules(&self, paint: Paint) -> String {
        let head = "rule   scenarios  mutants  what it demands";
        let mut text = paint.paint(Tone::Faint, head) + "\n";
        for rule in &self.rules {
            let (scenarios, mutants) = (self.citing(rule.id).len(), breaking(rule.id).len());
            let id = paint.paint(Tone::Strong, format!("{:<5}", rule.id));
            writeln!(text, "{id}  {scenarios:>9}  {mutants:>7}  {}", rule.meaning)
                .expect("a string takes all");
        }
        text
    }

    fn mutants(&self, paint: Paint) -> String {
        let longest = self.mutants.iter().map(|mutant| mutant.id().len()).max().unwrap_or(0);
        let head = format!("{:<longest$}  rule   declared by  what it changes", "mutant");
        let mut text = paint.paint(Tone::Faint, head) + "\n";
        for mutant in &self.mutants {
            let declared = match self.declaring(*mutant).len() {
                0 => paint.paint(Tone::Doubt, format!("{:>11}", "nobody")),
                count => format!("{count:>11}"),
            };
            let id = paint.paint(Tone::Strong, pad(mutant.id(), longest));
            writeln!(text, "{id}  {:<5}  {declared}  {}", mutant.rule(), mutant.what())
                .expect("a string takes all");
        }
        text
    }

    /// The scenarios that cite a rule.
    fn citing(&self, id: &str) -> Vec<&Text> {
        self.with(|one| one.rules.iter().any(|rule| &**rule == id))
    }

    /// The scenarios that declare to notice a mutant.
    fn declaring(&self, mutant: Mutant) -> Vec<&Text> {
        self.with(|one| one.kills.iter().any(|kill| &**kill == mutant.id()))
    }

    fn with(&self, fits: impl Fn(&Listed) -> bool) -> Vec<&Text> {
        self.listed.iter().filter(|one| fits(one)).map(|one| &one.name).collect()
    }

    fn rule_json(&self, rule: &Rule) -> Value {
        json!({
            "id": rule.id, "meaning": rule.meaning, "scenarios": texts(self.citing(rule.id)),
            "mutants": breaking(rule.id).iter().map(|mutant| mutant.id()).collect::<Value>(),
        })
    }

    fn mutant_json(&self, mutant: Mutant) -> Value {
        json!({
            "id": mutant.id(), "rule": mutant.rule(), "what": mutant.what(),
            "declared_by": texts(self.declaring(mutant)),
        })
    }
}

fn scenario_text(one: &Listed, summary: &str, paint: Paint) -> String {
    let mut notes = Vec::new();
    if one.tests.len() > 1 {
        notes.push(format!("{} tests", one.tests.len()));
    }
    if one.slow {
        notes.push("slow".to_owned());
    }
    if !one.needs.is_empty() {
        let needs: Vec<_> = one.needs.iter().map(|need| clean(need)).collect();
        notes.push(format!("needs {}", needs.join(", ")));
    }
    let rules: Vec<_> = one.rules.iter().map(|rule| clean(rule)).collect();
    notes.insert(0, rules.join(" "));
    notes.retain(|note| !note.is_empty());
    let notes = paint.paint(Tone::Faint, notes.join(" · "));
    let summary = match summary {
        "" => String::new(),
        summary => format!("    {}\n", paint.paint(Tone::Faint, fit(&clean(summary), COLUMNS - 4))),
    };
    format!("  {}  {notes}\n{summary}", clean(&one.name))
}

/// Comments of the corpus that restate no report begin with this, which says nothing here.
const NO_REPORT: &str = "Rule only: no public report.";

/// A comment is wrapped where its lines end; what is told is its first sentence.
fn first_sentence(doc: &str) -> String {
    let text = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.strip_prefix(NO_REPORT).unwrap_or(&text).trim_start();
    let end = text.find(". ").map_or(text.len(), |stop| stop + 1);
    text[..end].to_owned()
}

fn scenario_json(one: &Listed, summary: &str) -> Value {
    json!({
        "name": &*one.name, "summary": summary, "file": &*one.file.name,
        "line": one.position.line, "column": one.position.column, "tests": texts(&one.tests),
        "cites": texts(&one.cites), "rules": texts(&one.rules), "kills": texts(&one.kills),
        "needs": texts(&one.needs), "slow": one.slow,
    })
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Value {
    texts.into_iter().map(|text| &**text).collect()
}

/// The mutants that break a rule first.
fn breaking(id: &str) -> Vec<Mutant> {
    Mutant::ALL.iter().copied().filter(|mutant| mutant.rule() == id).collect()
}
