//! What there is, and what has to do with what.

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use skep_mutant::Mutant;

fn printed(words: &[&str]) -> String {
    let mut command = cargo_bin_cmd!("skep");
    let output = command.arg("list").args(words).assert().code(0).get_output().clone();
    String::from_utf8(output.stdout).expect("lists are text")
}

fn document(words: &[&str]) -> Value {
    let words: Vec<_> = words.iter().copied().chain(["--format", "json"]).collect();
    serde_json::from_str(&printed(&words)).expect("a document")
}

#[test]
fn the_numbers_agree_with_the_lists() {
    let counts = &document(&[])["counts"];
    for what in ["scenarios", "rules", "mutants", "profiles", "agents"] {
        let list = document(&[what]);
        assert_eq!(list["skep_list"], 1);
        assert_eq!(list[what].as_array().map(Vec::len), counts[what].as_u64().map(|n| n as usize));
    }
    assert_eq!(counts["mutants"], Mutant::ALL.len());
}

#[test]
fn a_rule_knows_its_scenarios_and_its_mutants() {
    let rule = &document(&["rules", "--only", "H-1"])["rules"][0];
    assert_eq!(rule["id"], "H-1");
    assert!(rule["mutants"].as_array().unwrap().contains(&"harness/never-loads".into()));
    assert!(!rule["scenarios"].as_array().unwrap().is_empty());
}

#[test]
fn quiet_lists_are_names_for_a_shell() {
    let names = printed(&["mutants", "--quiet", "--only", "store/*"]);
    assert!(names.lines().count() > 10);
    assert!(names.lines().all(|name| Mutant::parse(name).is_some()));
}

#[test]
fn a_scenario_is_told_by_its_first_sentence() {
    let text = printed(&["scenarios", "--only", "restart-resumes-the-session"]);
    insta::assert_snapshot!(text);
}

#[test]
fn the_reference_profile_names_its_policies() {
    insta::assert_snapshot!(printed(&["profiles"]));
}

#[test]
fn an_agent_is_told_by_what_it_starts_and_how_that_is_installed() {
    insta::assert_snapshot!(printed(&["agents", "--only", "*e*o*"]));
    let agent = &document(&["agents", "--only", "zed-codex"])["agents"][0];
    assert_eq!(agent["start"][0], "codex-acp");
    assert_eq!(agent["login"], "openai-api-key");
    assert_eq!(agent["files"][0], ".codex/config.toml");
}
