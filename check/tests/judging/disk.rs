//! H-90 and H-91: what stands in the state directory.

use skep_check::{Blame, Verdict};

use crate::story::{Story, assert_broken, assert_held};

const DIR: (&str, u32, &str) = (".", 0o700, "<dir>");

fn running() -> Story {
    let mut story = Story::new();
    story.step([]).starts("h");
    story
}

#[test]
fn h90_a_private_whole_and_tidy_directory_holds() {
    let mut story = running();
    story.disk(&[DIR, ("s.json", 0o600, "{}"), ("s.lock", 0o600, "")]).settles();
    assert_held(&story.rule("H-90"));
    assert_eq!(running().rule("H-90").verdict, Verdict::NotApplicable);
}

#[test]
fn h90_everything_that_must_not_be_there_is_told() {
    for (wrong, words) in [
        ((".", 0o755, "<dir>"), "the directory . has mode 0755"),
        (("s.json", 0o644, "{}"), "s.json has mode 0644"),
        (("s.json", 0o600, "{\"a\":"), "s.json is no whole JSON"),
        (("s.json", 0o777, "<link>"), "s.json is a symbolic link"),
        (("s.json", 0o600, "<special>"), "s.json is a special file"),
        (("s.json.tmp.7", 0o600, "{}"), "s.json.tmp.7 was left behind"),
    ] {
        let mut story = running();
        story.disk(&[wrong]);
        let looked = story.last();
        story.settles();
        let judgement = story.rule("H-90");
        assert_broken(&judgement, Blame::Harness, looked);
        assert!(judgement.label.ends_with(words), "{}", judgement.label);
    }
}

#[test]
fn h90_what_stays_wrong_is_told_once() {
    let mut story = running();
    story.disk(&[("s.json", 0o644, "{}")]).disk(&[("s.json", 0o644, "{}")]);
    assert!(story.rule("H-90").label.starts_with("violated once, "));
    story.disk(&[("s.json", 0o644, "{ }")]);
    assert!(story.rule("H-90").label.starts_with("violated twice, "));
}

#[test]
fn h90_what_the_scenario_did_is_its_own_until_the_harness_changes_it() {
    let mut story = running();
    story.baseline(&[DIR, ("s.json", 0o644, "broken")]);
    story.disk(&[DIR, ("s.json", 0o644, "broken")]).settles();
    assert_held(&story.rule("H-90"));
    let aside = [("s.json.bad", 0o644, "broken"), ("s.bad.json", 0o644, "broken")];
    story.disk(&[DIR, ("s.json", 0o600, "{}"), aside[0], aside[1]]);
    assert_held(&story.rule("H-90"));
    story.disk(&[DIR, ("s.json", 0o644, "{}")]);
    assert_broken(&story.rule("H-90"), Blame::Harness, story.last());
}

#[test]
fn h90_what_a_kill_left_may_lie_there() {
    let temp = ("s.json.tmp.7", 0o600, "{}");
    let mut story = running();
    story.disk(&[DIR]).killed().disk(&[DIR, temp]).starts("h").disk(&[DIR, temp]).settles();
    assert_held(&story.rule("H-90"));
    story.disk(&[DIR, temp, ("s.json.tmp.8", 0o600, "{}")]);
    assert_broken(&story.rule("H-90"), Blame::Harness, story.last());
}

#[test]
fn h91_ids_and_sessions_are_no_secrets() {
    let mut story = running();
    story.asked.secrets = vec!["5ec4e7".into()];
    story.mention("m1", "general").opens("S1", "general");
    let receipt = "{\"relay\":\"ws://127.0.0.1:80\",\"session\":\"S1\"}";
    story.disk(&[DIR, ("s.json", 0o600, receipt)]).settles();
    assert_held(&story.rule("H-91"));
}

#[test]
fn h91_keys_tokens_credentials_and_prompt_texts_are_told() {
    let key = format!("nsec1{}", "q".repeat(58));
    for secret in [
        "5ec4e7",
        "a long question",
        "say \\\"hello\\\"",
        "ws://bob:hunter2@relay",
        "-----BEGIN PRIVATE KEY-----",
        &key,
    ] {
        let mut story = running();
        story.asked.secrets = vec!["5ec4e7".into()];
        for (label, text) in [("m1", "a long question"), ("m2", "say \"hello\"")] {
            let said = crate::story::Said { channel: "general", text, ..Default::default() };
            story.says(label, said);
        }
        story.disk(&[DIR, ("s.json", 0o600, &format!("{{\"x\":\"{secret}\"}}"))]);
        assert_broken(&story.rule("H-91"), Blame::Harness, story.last());
    }
}

#[test]
fn h91_what_the_scenario_wrote_there_is_no_breach() {
    let mut story = running();
    story.asked.secrets = vec!["5ec4e7".into()];
    story.baseline(&[DIR, ("s.json", 0o600, "{\"x\":\"5ec4e7\"}")]);
    story.disk(&[DIR, ("s.json", 0o600, "{\"x\":\"5ec4e7\",\"y\":1}")]).settles();
    assert_held(&story.rule("H-91"));
}
