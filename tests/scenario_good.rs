//! Scenario files that are right: what each word becomes.

use std::fmt::Write;
use std::sync::Arc;

use skep::director::{Job, play};
use skep::live::Tested;
use skep::outcome::WorldName;
use skep::scenario::{Diagnostic, Scenario, SourceFile, Step, list, parse, parse_with, render};
use skep_check::verdict::Verdict;

const EVERYTHING: &str = include_str!("good-scenarios/everything.kdl");
const PAGE: &str = include_str!("../docs/scenario-language.md");
const ACTORS: &str = include_str!("good-scenarios/actors.kdl");

fn everything() -> Vec<Scenario> {
    let file = SourceFile::new("everything.kdl", EVERYTHING);
    let (scenarios, diagnostics) = parse_with(&file, &mut |name| {
        assert_eq!(name, "actors.kdl");
        Ok(SourceFile::new(name, ACTORS))
    });
    assert_eq!(render(&diagnostics, false), "");
    scenarios
}

fn clean(name: &str, text: &str) -> Vec<Scenario> {
    let (scenarios, diagnostics) = parse(&SourceFile::new(name, text));
    assert_eq!(render(&diagnostics, false), "");
    scenarios
}

fn titles(text: &str) -> Vec<String> {
    let (_, diagnostics) = parse(&SourceFile::new("x.kdl", text));
    diagnostics.into_iter().map(|diagnostic| diagnostic.title).collect()
}

/// A step, one line for each of its lines.
fn told(step: &Step) -> String {
    let acts = step.acts.iter().map(|act| format!("  {:?}\n", act.value));
    let expectations = step.expectations.iter().map(|one| format!("  {:?}\n", one.value));
    format!("step {:?}\n{}", step.title, acts.chain(expectations).collect::<String>())
}

#[test]
fn every_word_becomes_what_it_says() {
    let scenario = &everything()[0];
    let mut out = String::new();
    let texts = |placed: &[skep::scenario::Placed<Arc<str>>]| {
        placed.iter().map(|one| one.value.to_string()).collect::<Vec<_>>().join(" ")
    };
    writeln!(out, "{}\n{}", scenario.name, scenario.doc).unwrap();
    writeln!(out, "cites {}", texts(&scenario.cites)).unwrap();
    writeln!(out, "rules {}", texts(&scenario.rules)).unwrap();
    writeln!(out, "kills {}", texts(&scenario.kills)).unwrap();
    writeln!(out, "needs {}", texts(&scenario.needs)).unwrap();
    writeln!(out, "slow {} sim-only {:?}", scenario.slow, scenario.sim_only).unwrap();
    writeln!(out, "{:?}\n{:#?}", scenario.explore, scenario.cast).unwrap();
    scenario.steps.iter().for_each(|step| out.push_str(&told(step)));
    insta::assert_snapshot!(out);
}

#[test]
fn each_cell_of_a_matrix_is_a_test_of_its_own_name() {
    let scenarios = everything();
    let cells = scenarios.iter().filter(|scenario| scenario.base_name() == "a-matrix");
    let told: Vec<String> =
        cells.map(|cell| format!("{}\n{}", cell.name, told(&cell.steps[0]))).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn places_are_those_of_the_lines() {
    let scenario = &everything()[0];
    let slice = |span| scenario.file.slice(span);
    assert_eq!(slice(scenario.span), "scenario \"everything\"");
    assert_eq!(slice(scenario.kills[0].span), "\"store/forgets-on-restart\"");
    let step = &scenario.steps[0];
    assert_eq!(slice(step.span), "step \"processes\"");
    assert_eq!(slice(step.acts[4].span), "kill \"h\" group=#true");
    assert_eq!(slice(step.expectations[0].span), "expect \"session/load\" session=\"old\"");
}

#[test]
fn a_together_counts_its_own_line_and_each_line_inside() {
    let scenario = &everything()[0];
    let step = scenario.steps.last().unwrap();
    let lines: Vec<&str> = step.act_lines.iter().map(|span| scenario.file.slice(*span)).collect();
    assert_eq!(
        lines,
        [
            "together",
            "mention to=\"h\" channel=\"general\"",
            "mention to=\"later\" channel=\"board\"",
            "restart \"h\"",
        ]
    );
    assert_eq!(step.acts.len(), 2);
}

#[test]
fn what_a_file_defines_can_be_listed() {
    let listed = list(&everything());
    assert_eq!(&*listed[0].summary, "All there is.");
    assert_eq!(listed[0].position.line, 8);
    assert_eq!(&*listed[1].name, "a-matrix");
    let tests: Vec<&str> = listed[1].tests.iter().map(|test| &**test).collect();
    assert_eq!(tests.len(), 4);
    assert_eq!(tests[3], "a-matrix[how=busy,then=after-restart]");
}

#[test]
fn what_every_scenario_has_need_not_be_declared() {
    let text = r#"scenario "small" {
        agent "a"
        harness "h"
        step "s" {
            mention channel="general"
            expect turn="done"
        }
    }"#;
    let scenario = &clean("small.kdl", text)[0];
    let cast = &scenario.cast;
    assert_eq!(&*cast.relays[0].name, "relay");
    assert_eq!((&*cast.people[0].name, cast.people[0].owner), ("owner", true));
    assert_eq!(&*cast.states[0], "h");
    let harness = &cast.harnesses[0];
    assert_eq!((&*harness.agent, &*harness.relay, &*harness.state), ("a", "relay", "h"));
    assert!(harness.started && cast.channels.is_empty());
}

#[test]
fn harnesses_share_an_identity_unless_they_name_their_own() {
    let text = r#"scenario "two" {
        agent "a"
        harness "old"
        harness "new"
        harness "other" key="other"
        step "s" {
            mention channel="general" to="old"
            expect turn="done"
        }
    }"#;
    let harnesses = &clean("two.kdl", text)[0].cast.harnesses;
    assert_eq!(harnesses[0].key, harnesses[1].key);
    assert_ne!(harnesses[0].key, harnesses[2].key);
}

#[test]
fn blocks_of_a_markdown_file_are_scenarios_in_their_place() {
    let text = "# It forks\n\n```kdl\nscenario \"forks\" {\n    agent \"a\"\n    harness \"h\"\n    \
                step \"s\" {\n        mention channel=\"c\"\n        expect turn=\"done\"\n    }\n}\n\
                ```\n\n```kdl fragment\nstep \"not run\"\n```\n";
    let scenario = &clean("issue.md", text)[0];
    assert_eq!(scenario.file.position(scenario.span.start).line, 4);
    assert_eq!(scenario.file.slice(scenario.steps[0].acts[0].span), "mention channel=\"c\"");
}

#[test]
fn a_file_of_cast_lines_alone_is_no_mistake_and_no_scenario() {
    assert!(clean("actors.kdl", ACTORS).is_empty());
    assert!(clean("empty.kdl", "// nothing yet\n").is_empty());
}

#[test]
fn a_broken_cast_keeps_every_scenario_that_uses_it_from_running() {
    let scenario = |name: &str| {
        format!(
            "scenario \"{name}\" {{\n harness \"h\"\n step \"s\" {{\n mention channel=\"c\"\n \
             expect turn=\"done\"\n }}\n}}\n"
        )
    };
    let text = format!("use \"cast.kdl\"\n{}{}", scenario("one"), scenario("two"));
    let file = SourceFile::new("uses.kdl", &text);
    let mut loader = |name: &str| Ok(SourceFile::new(name, "agent \"a\" lod-session=#true\n"));
    let (scenarios, diagnostics) = parse_with(&file, &mut loader);
    assert!(scenarios.is_empty());
    let said: Vec<String> = diagnostics.iter().map(Diagnostic::to_string).collect();
    assert_eq!(said, ["cast.kdl:1:11: `agent` has no property `lod-session`"]);
}

#[test]
fn one_bad_scenario_does_not_keep_the_others_from_running() {
    let good =
        "agent \"a\"; harness \"h\"; step \"s\" { say channel=\"c\"; expect turn=\"done\"; };";
    let text = format!("scenario \"good\" {{ {good} }}\nscenario \"bad\" {{ {good} slwo; }}\n");
    let (scenarios, diagnostics) = parse(&SourceFile::new("both.kdl", &text));
    assert_eq!(scenarios.len(), 1);
    assert_eq!(diagnostics.len(), 1);
}

#[test]
fn a_mistake_that_every_cell_has_is_said_once_and_stops_every_cell() {
    let text = r#"scenario "cells" {
        agent "a"
        harness "h"
        matrix { axis "x" { value "one"; value "two" { restart; } } }
        step "s" {
            vary "x"
            metnion channel="c"
            expect turn="done"
        }
    }"#;
    let (scenarios, diagnostics) = parse(&SourceFile::new("cells.kdl", text));
    assert_eq!((scenarios.len(), diagnostics.len()), (0, 1));
}

#[test]
fn a_scenario_that_names_someone_of_another_scenario_is_wrong() {
    let text = "scenario \"one\" { agent \"a\"; harness \"h\"; step \"s\" { say channel=\"c\" \
                as=\"m\"; expect turn=\"done\"; }; }\nscenario \"two\" { agent \"a\"; harness \
                \"g\"; step \"s\" { restart \"h\"; expect turn=\"done\" message=\"m\"; }; }";
    assert_eq!(titles(text), ["there is no harness `h`", "there is no message `m`"]);
}

/// Blocks of the page about the language: what its fence says after `kdl`, and its text.
fn examples() -> Vec<(&'static str, &'static str)> {
    let blocks = PAGE.split("\n```kdl").skip(1).filter_map(|block| block.split_once('\n'));
    let closed = blocks.filter_map(|(info, rest)| Some((info.trim(), rest.split_once("\n```")?.0)));
    closed.collect()
}

/// What a step may find: a store that holds something.
const EARLIER: &str = "given receipt channel=\"earlier\" session=\"old\"\n";

/// A whole scenario around lines that belong somewhere in one.
fn around(place: &str, lines: &str) -> String {
    let cast = "agent \"bee\" { models \"large\" \"small\"; }\nharness \"hive\"\nperson \"bob\"\n";
    let step = "step \"s\" {\nmention channel=\"general\"\nexpect turn=\"done\"\n}\n";
    let body = match place {
        "cast" => format!("{lines}\n{step}"),
        "about" => format!("{lines}\n{cast}{step}"),
        "step" => format!("{cast}channel \"us\"\n{EARLIER}step \"s\" {{\n{lines}\n}}\n"),
        _ => panic!("the page has a block for `{place}`, which this test does not know"),
    };
    format!("scenario \"example\" {{\n{body}}}\n")
}

#[test]
fn the_page_about_the_language_runs_as_it_stands() {
    let scenarios = clean("scenario-language.md", PAGE);
    assert_eq!(scenarios.len(), 5, "one scenario, and one of four cells");
}

#[test]
fn every_example_of_the_page_is_right() {
    for (place, lines) in examples() {
        if !matches!(place, "" | "fragment" | "wrong") {
            clean(&format!("{place}.kdl"), &around(place, lines));
        }
    }
}

#[test]
fn every_example_of_the_page_is_green_on_the_reference() {
    let tested = Tested {
        command: None,
        tampering: None,
        profile: Arc::new(skep::cli::profiles::reference()),
    };
    let (world, mutants) = (WorldName::SimEvent, skep_mutant::Mutants::NONE);
    let job = Job { world, seed: 0, mutants, tested };
    let parts =
        examples().into_iter().filter(|(place, _)| matches!(*place, "cast" | "step" | "about"));
    let parts = parts.flat_map(|(place, lines)| clean("example.kdl", &around(place, lines)));
    let mut played = 0;
    for scenario in clean("scenario-language.md", PAGE).into_iter().chain(parts) {
        let outcome = play(&scenario, &job);
        let told = skep::report::story::story(&outcome, skep::report::Paint::PLAIN);
        let source = &scenario.file.text;
        assert_eq!(outcome.verdict, Verdict::Held, "{:?}\n{told}\n{source}", outcome.reason);
        played += 1;
    }
    assert!(played > 20, "{played} examples were played");
}

#[test]
fn the_page_shows_mistakes_as_they_are_printed() {
    let (_, wrong) = examples().into_iter().find(|(place, _)| *place == "wrong").unwrap();
    let (_, diagnostics) = parse(&SourceFile::new("greet.kdl", wrong));
    let printed = render(&diagnostics, false);
    let shown = PAGE.split_once("\n```text\n").and_then(|(_, rest)| rest.rsplit_once("```"));
    assert_eq!(shown.unwrap().0, printed);
}

#[test]
fn the_page_names_every_setting() {
    for setting in skep_plan::Settings::KEYS {
        assert!(PAGE.contains(&format!("`{setting}`")), "{setting}");
    }
}
