//! The corpus in `scenarios/`: it is read without a complaint, and keeps its own house rules.

#![expect(clippy::unwrap_used, reason = "a test's helpers are tests")]
#![expect(clippy::disallowed_methods, reason = "the test reads the repository's own files")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use skep::profile::CAPABILITIES;
use skep::scenario::{Listed, Scenario, SourceFile, list, parse, render};
use skep_mutant::Mutant;

/// Mutants that no scenario can notice, and why. Other rows of the proof kill them: the store
/// suite's, and the one that plays every seed twice.
const OUT_OF_REACH: &[(&str, &str)] = &[
    ("store/case-splits-keys", "a harness parses ids before it asks its store for them"),
    ("store/waits-forever", "no act leaves a lock in the hands of a process that lives on"),
    ("store/fixed-temp-name", "names of files hold keys, which a scenario does not know"),
    ("store/unbounded-read", "refused for its size or for its content, a file is as empty"),
    (
        "store/all-or-nothing",
        "a file of good and bad entries holds ids, which a scenario does not know",
    ),
    ("store/opens-special", "names of files hold keys, which a scenario does not know"),
    ("world/hash-order", "a scenario sees one run; only two of one seed differ"),
];

/// How the comment above a scenario ends that restates a rule alone.
const NO_REPORT: &str = "Rule only: no public report.";

/// A step that has more lines than this is two steps.
const MOST_LINES: usize = 15;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

/// Every file but the readme, by name.
fn files() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().is_some_and(|name| name != "README.md"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Every test of every file, read once.
static TESTS: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    files().iter().flat_map(|(name, text)| parse(&SourceFile::new(name, text)).0).collect()
});

fn scenarios() -> Vec<Listed> {
    list(&TESTS)
}

/// The scenarios for which something does not hold.
fn failing(holds: impl Fn(&Listed) -> bool) -> Vec<String> {
    let failing = scenarios().into_iter().filter(|scenario| !holds(scenario));
    failing.map(|scenario| format!("{}: {}", scenario.file.name, scenario.name)).collect()
}

#[test]
fn every_file_is_read_without_a_complaint() {
    for (name, text) in files() {
        let (found, complaints) = parse(&SourceFile::new(&name, &text));
        assert!(complaints.is_empty(), "{}", render(&complaints, false));
        assert!(!found.is_empty(), "{name} holds no scenario");
    }
}

#[test]
fn the_corpus_has_at_least_a_hundred_tests_with_names_of_their_own() {
    let names: Vec<_> = TESTS.iter().map(|test| &*test.name).collect();
    let unique: BTreeSet<_> = names.iter().collect();
    assert_eq!(names.len(), unique.len(), "two tests have one name");
    assert!(names.len() >= 100, "only {} tests", names.len());
}

#[test]
fn every_scenario_cites_a_report_or_says_that_there_is_none() {
    let says = |test: &&Scenario| test.cites.is_empty() == test.doc.ends_with(NO_REPORT);
    let silent: Vec<_> = TESTS.iter().filter(|test| !says(test)).map(|test| &test.name).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn every_scenario_begins_with_what_must_hold_and_why() {
    let explained = |test: &Scenario| test.doc.len() > 40 && test.doc.ends_with('.');
    let bare: Vec<_> = TESTS.iter().filter(|test| !explained(test)).collect();
    assert!(bare.is_empty(), "no comment of whole sentences above {}", bare[0].name);
}

#[test]
fn every_scenario_names_rules_that_there_are() {
    let known: BTreeSet<_> = skep_check::RULES.iter().map(|rule| rule.id).collect();
    let fine = |scenario: &Listed| {
        !scenario.rules.is_empty() && scenario.rules.iter().all(|rule| known.contains(&**rule))
    };
    assert_eq!(failing(fine), Vec::<String>::new());
}

#[test]
fn every_scenario_kills_a_mutant_and_none_that_there_is_not() {
    let fine = |scenario: &Listed| {
        !scenario.kills.is_empty()
            && scenario.kills.iter().all(|kill| Mutant::parse(kill).is_some())
    };
    assert_eq!(failing(fine), Vec::<String>::new());
}

#[test]
fn every_mutant_is_some_scenarios_to_kill() {
    let all = scenarios();
    let claimed: BTreeSet<&str> =
        all.iter().flat_map(|scenario| &scenario.kills).map(|kill| &**kill).collect();
    let excused: BTreeMap<&str, &str> = OUT_OF_REACH.iter().copied().collect();
    let missing: Vec<_> = Mutant::ALL
        .iter()
        .map(|mutant| mutant.id())
        .filter(|id| !claimed.contains(id) && !excused.contains_key(id))
        .collect();
    assert!(missing.is_empty(), "no scenario kills {missing:#?}");
    let stale: Vec<_> = excused.keys().filter(|id| claimed.contains(*id)).collect();
    assert!(stale.is_empty(), "a scenario does kill {stale:?}");
    assert!(excused.keys().all(|id| Mutant::parse(id).is_some()));
}

#[test]
fn every_need_is_a_word_that_profiles_know() {
    let fine =
        |scenario: &Listed| scenario.needs.iter().all(|need| CAPABILITIES.contains(&&**need));
    assert_eq!(failing(fine), Vec::<String>::new());
}

#[test]
fn steps_stay_small() {
    for test in &*TESTS {
        for step in &test.steps {
            let lines = step.act_lines.len() + step.expectations.len();
            assert!(lines <= MOST_LINES, "{}: {lines} lines in `{}`", test.name, step.title);
        }
    }
}

#[test]
fn the_readme_has_a_line_for_each_file() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    for (name, _) in files() {
        assert!(readme.contains(&format!("| [{name}]({name}) |")), "no line for {name}");
    }
}
