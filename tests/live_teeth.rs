//! `skep prove --harness`: a harness that is not ours, tampered with at its edges.
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use serde_json::Value;

/// The reference, as a program of somebody else's, and what became of it.
fn prove(words: &[&str], code: i32) -> String {
    let reference = format!("{} reference-harness", cargo_bin!("skep").display());
    let mut command = cargo_bin_cmd!("skep");
    command.args(["prove", "--harness", &reference, "--harness-profile", "reference"]);
    let output = command.args(words).assert().code(code).get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

fn noticed(scenario: &str, tampering: &str) -> bool {
    let words = ["--only", scenario, "--tampering", tampering, "--every", "--format", "json"];
    let mut command = cargo_bin_cmd!("skep");
    let reference = format!("{} reference-harness", cargo_bin!("skep").display());
    command.args(["prove", "--harness", &reference, "--harness-profile", "reference"]);
    let output = command.args(words).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["tests"][0]["noticed"].as_array().unwrap().iter().any(|id| id == tampering)
}

#[test]
fn a_tampering_at_every_edge_is_noticed() {
    assert!(noticed("restart-resumes-the-session", "disk/empty"));
    assert!(noticed("each-channel-finds-its-own-session", "disk/drops-an-entry"));
    assert!(noticed("an-idle-rotate-is-for-good[then=restart]", "disk/stale"));
    assert!(noticed("restart-resumes-the-session", "agent/load-unknown"));
    assert!(noticed("each-thread-has-its-session", "agent/one-session"));
    assert!(noticed("a-lost-store-still-names-the-channel", "agent/no-meta"));
    assert!(noticed("a-copy-is-not-prompted-again", "agent/prompt-twice"));
    assert!(noticed("a-message-in-mid-turn-waits-for-its-end", "relay/message-lost"));
}

#[test]
fn the_first_that_is_noticed_is_enough_unless_more_is_asked_for() {
    let words = ["--only", "restart-resumes-the-session", "--format", "json"];
    let tried = |text: &str| {
        let document: Value = serde_json::from_str(text).unwrap();
        let of = |key: &str| document["tests"][0][key].as_array().unwrap().len();
        (of("noticed"), of("noticed") + of("unnoticed"))
    };
    assert_eq!(tried(&prove(&words, 0)), (1, 1));
    let (noticed, all) = tried(&prove(&[&words[..], &["--every"]].concat(), 0));
    assert!(noticed > 2 && all > noticed, "{noticed} of {all}");
}

#[test]
fn where_nothing_bites_at_all_the_exit_code_says_so() {
    // The reference knows a message again, as it should.
    let words = ["--only", "a-copy-is-not-prompted-again", "--tampering", "relay/message-twice"];
    let text = prove(&words, 2);
    assert!(text.contains("these are toothless here"), "{text}");
    assert!(text.contains("a-copy-is-not-prompted-again  relay/message-twice"), "{text}");
}

#[test]
fn what_is_not_known_is_answered_before_anything_runs() {
    assert!(prove(&["--tampering", "disk/nothing"], 1).is_empty());
}
