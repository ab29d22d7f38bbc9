//! Agents that do not get as far as a turn: the report begins with what stood in the way, in the
//! agent's own words, and with what to try.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use skep::certify::{Bounds, Certificate, Order, Profile, Stage, Standing, certify};
use skep::report::certificate::{html, terminal};
use skep::report::paint::Paint;

/// Answers requests by what is said of each method; the id is in `$id`.
fn agent(answers: &[(&str, &str)]) -> Vec<String> {
    let cases: String = answers
        .iter()
        .map(|(method, answer)| {
            format!("*'\"{method}\"'*) echo '{{\"jsonrpc\":\"2.0\",\"id\":'$id',{answer}}}' ;;\n")
        })
        .collect();
    shell(&format!(
        r#"while read -r line; do
             id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9-]*\).*/\1/p')
             case "$line" in {cases} *'"id":'*) exit 9 ;; esac
           done"#
    ))
}

fn shell(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

const BRIEF: terminal::Told = terminal::Told { quiet: false, all: false };

fn certified(command: &[String]) -> Certificate {
    let bounds = Bounds {
        start: Duration::from_secs(2),
        answer: Duration::from_secs(2),
        exit: Duration::from_millis(300),
        ..Bounds::immediate()
    };
    certified_within(command, bounds)
}

fn certified_within(command: &[String], bounds: Bounds) -> Certificate {
    #[expect(clippy::disallowed_methods, reason = "the shell of a test needs its path")]
    let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
    let order = Order {
        command: command.iter().map(Into::into).collect(),
        profile: Profile::generic(),
        env: BTreeMap::from_iter(path),
        bounds,
        server: PathBuf::from(env!("CARGO_BIN_EXE_skep")),
    };
    certify(&order, &|_| {}, &|| false)
}

/// What stands between the headline and the first row.
fn told(certificate: &Certificate) -> String {
    let trouble = certificate.trouble.clone().expect("it has trouble");
    let story = terminal::story(certificate, BRIEF, Paint::PLAIN);
    assert!(!story.contains("could not be observed:\n"), "rows are only counted: {story}");
    let first = story.split("\n\n").nth(1).expect("the trouble is a paragraph").to_owned();
    assert!(first.starts_with(trouble.stage.what()), "{story}");
    assert!(html::page(certificate).contains(trouble.stage.what()));
    first
}

const HELLO: (&str, &str) = (
    "initialize",
    r#""result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"authMethods":[{"id":"api-key","name":"A key of yours"},{"id":"web","name":"In a browser"}]}"#,
);

#[test]
fn a_program_that_is_not_there_is_told() {
    insta::assert_snapshot!(told(&certified(&["/no/such/agent".to_owned()])));
}

#[test]
fn a_program_that_exits_is_told_with_the_end_of_its_log() {
    let script = "echo Usage: agent; for n in 1 2 3 4 5 6 7 8 9; do echo line $n >&2; done
        printf 'Error: no \\033[31mKEY' >&2; exit 3";
    insta::assert_snapshot!(told(&certified(&shell(script))));
}

#[test]
fn a_program_that_dies_is_told_by_its_signal() {
    insta::assert_snapshot!(told(&certified(&shell("kill -SEGV $$"))));
}

#[test]
fn a_program_that_says_nothing_is_told_with_how_long_it_was_waited_for() {
    let silent = certified(&shell("echo waiting for a person >&2; cat > /dev/null"));
    insta::assert_snapshot!(told(&silent));
}

#[test]
fn a_session_that_fails_is_told_with_its_code_and_message() {
    let error = r#""error":{"code":-32603,"message":"Internal error","data":"no model"}"#;
    insta::assert_snapshot!(told(&certified(&agent(&[HELLO, ("session/new", error)]))));
}

#[test]
fn a_prompt_that_fails_is_told() {
    let session = ("session/new", r#""result":{"sessionId":"s1"}"#);
    let error = ("session/prompt", r#""error":{"code":-32603,"message":"401 Unauthorized"}"#);
    insta::assert_snapshot!(told(&certified(&agent(&[HELLO, session, error]))));
}

#[test]
fn a_login_that_is_wanted_is_told_with_those_that_are_offered() {
    let error = ("session/new", r#""error":{"code":-32000,"message":"log in first"}"#);
    let certificate = certified(&agent(&[HELLO, error]));
    assert_eq!(certificate.trouble.as_ref().map(|trouble| trouble.stage), Some(Stage::Login));
    insta::assert_snapshot!(told(&certificate));
}

#[test]
fn time_that_was_up_is_told_first_with_what_it_cost() {
    let greeted = agent(&[HELLO, ("session/new", r#""result":{"sessionId":"s1"}"#)]);
    let script = greeted[2].replacen("read -r line", "sleep 0.4; read -r line", 1);
    let bounds = Bounds { whole: Duration::from_millis(1500), ..Bounds::immediate() };
    let certificate = certified_within(&shell(&script), bounds);
    assert!(certificate.out_of_time_ms.is_some_and(|at_ms| at_ms >= 1500));
    let story = terminal::story(&certificate, BRIEF, Paint::PLAIN);
    let second = story.lines().nth(1).expect("it has a second line");
    let rows = certificate.count(Standing::Inconclusive);
    let told = format!("The time of 1 s was up: {rows} rows could not be observed.");
    assert_eq!(second, format!("{told} `--time 1m` gives more."), "{story}");
    assert!(html::page(&certificate).contains(&told));
}
