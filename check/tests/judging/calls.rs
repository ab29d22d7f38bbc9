//! `expect "METHOD"` and `never "METHOD"`, and orders of them.

use serde_json::json;
use skep_check::{Blame, Judge, Verdict};
use skep_trace::{End, Settled};

use crate::lines::{call, done, expect, never, order};
use crate::story::{Story, assert_broken, assert_held};

/// A first mention that opened `s1` in the first step.
fn first_mention() -> Story {
    let mut story = Story::new();
    story.starts("h").step([
        expect(call("session/new").times(1).bind("s1")),
        expect(call("session/prompt").times(1).on("s1")),
        expect(done()),
    ]);
    story.mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]).settles();
    story
}

#[test]
fn a_call_that_comes_as_often_as_asked_holds() {
    let story = first_mention();
    for index in 0..3 {
        assert_held(&story.expectation(index));
    }
    assert!(story.expectation(0).label.starts_with("seen once, at "));
}

#[test]
fn the_name_that_a_new_session_is_given_can_be_used_in_the_same_step() {
    let mut story = first_mention();
    story.asked.steps[0][1] = expect(call("session/prompt").on("s2"));
    assert_eq!(story.expectation(1).verdict, Verdict::Violated);
}

#[test]
fn a_session_opened_beside_the_one_that_was_there_is_told_as_such() {
    let mut story = first_mention();
    let opened = story.last() - 3;
    story.killed().step([never(call("session/new"))]);
    story.starts("h").mention("m2", "general").opens("S2", "general");
    let again = story.last() - 1;
    story.turn("S2", &["m2"]).settles();

    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, again);
    assert_eq!(judgement.title, "the harness opened a session it already had");
    assert!(judgement.label.starts_with("violated once, at 0."), "{}", judgement.label);
    assert_eq!(judgement.causes[0].record, opened);
    assert_eq!(judgement.causes[0].label, "s1 opened here");
    assert!(judgement.causes[1].label.starts_with("h#1 killed, h#2 started"));
}

#[test]
fn a_never_ends_with_its_step() {
    let mut story = first_mention();
    story.step([never(call("session/new"))]).mention("m2", "general").turn("S1", &["m2"]).settles();
    story.step([expect(call("session/new"))]);
    story.mention("m3", "random").opens("S2", "random").turn("S2", &["m3"]).settles();
    let step = skep_check::Subject::Expectation { step: 1, index: 0 };
    assert_held(&story.judgement(step));
}

#[test]
fn what_comes_after_the_step_settled_still_counts_for_its_never() {
    let mut story = first_mention();
    story.step([never(call("session/new"))]).settles();
    story.opens("S2", "general");
    assert_broken(&story.expectation(0), Blame::Harness, story.last() - 1);
}

#[test]
fn a_never_about_a_discarded_session_holds_on_to_the_end() {
    let mut story = first_mention();
    story.command("!rotate", "general").settles();
    story.step([never(call("session/load").on("s1"))]).settles();
    story.killed().step([]);
    story.starts("h").mention("m2", "general").wants_load("S1");
    let step = skep_check::Subject::Expectation { step: 1, index: 0 };
    let judgement = story.judgement(step);
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.title, "a discarded session came back");
}

#[test]
fn a_never_about_a_session_that_nobody_named_could_not_be_observed() {
    let mut story = Story::new();
    story.starts("h").step([never(call("session/load").on("s9"))]).settles();
    assert_eq!(story.expectation(0).verdict, Verdict::Inconclusive);
}

#[test]
fn one_call_too_many_is_told_at_its_instant() {
    let mut story = first_mention();
    story.step([expect(call("session/prompt").times(1))]);
    story.mention("m2", "general").turn("S1", &["m2"]);
    story.mention("m3", "general").prompts("S1", &["m3"]);
    let second = story.last();
    story.stops("end_turn").settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, second);
    assert!(judgement.label.contains("came twice, asked for once"), "{}", judgement.label);
}

#[test]
fn a_call_that_never_came_is_the_harness_s_fault_if_nothing_stood_in_the_way() {
    let mut story = first_mention();
    story.killed().step([expect(call("session/load").times(1).on("s1"))]);
    story.starts("h").mention("m2", "general").settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.title, "the harness did not ask for the session it had");
}

#[test]
fn a_call_on_another_session_is_named_as_the_near_miss() {
    let mut story = first_mention();
    story.step([expect(call("session/prompt").not_on("s1"))]);
    story.mention("m2", "general").prompts("S1", &["m2"]);
    let near = story.last();
    story.stops("end_turn").settles();
    let judgement = story.expectation(0);
    assert_eq!(judgement.verdict, Verdict::Violated);
    assert_eq!(judgement.causes.last().map(|cause| cause.record), Some(near));
}

#[test]
fn an_agent_that_does_not_answer_is_blamed_while_timers_may_still_fire() {
    let mut story = first_mention();
    story.killed().step([expect(call("session/prompt").on("s1"))]);
    story.starts("h").mention("m2", "general").wants_load("S1");
    story.settles_on(Settled::Bound("the prompt".into()));
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Agent, story.last());
    assert!(judgement.label.contains("a#2 did not answer `session/load`"), "{}", judgement.label);
}

#[test]
fn a_harness_that_waits_for_ever_without_a_timer_is_blamed_itself() {
    let mut story = first_mention();
    story.killed().step([expect(call("session/prompt").on("s1"))]);
    story.starts("h").mention("m2", "general").wants_load("S1").settles();
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
}

#[test]
fn a_relay_that_keeps_a_message_back_is_blamed() {
    let mut story = first_mention();
    story.step([expect(call("session/prompt"))]);
    story.says("m2", crate::story::Said { channel: "general", ..Default::default() }).settles();
    assert_broken(&story.expectation(0), Blame::Relay, story.last());
}

#[test]
fn a_harness_without_a_subscription_is_blamed_for_a_message_that_did_not_come() {
    let mut story = first_mention();
    let (harness, conn) = (skep_trace::Life { harness: "h".into(), life: 1 }, 1);
    story.happens(skep_trace::What::Disconnected { harness, conn });
    story.step([expect(call("session/prompt"))]);
    story.says("m2", crate::story::Said { channel: "general", ..Default::default() }).settles();
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
}

#[test]
fn a_scenario_that_starts_nobody_is_blamed() {
    let mut story = Story::new();
    story.step([expect(call("session/new"))]).settles();
    assert_broken(&story.expectation(0), Blame::Scenario, story.last());
}

#[test]
fn a_harness_that_ended_by_itself_is_blamed_for_what_did_not_happen() {
    let mut story = first_mention();
    story.step([expect(call("session/load"))]).ends(End::Exit(101)).settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, story.last());
    assert!(judgement.label.contains("h#1 exited with code 101"), "{}", judgement.label);
}

#[test]
fn an_agent_without_a_handshake_keeps_its_harness_from_getting_ready() {
    let mut story = first_mention();
    story.killed().step([expect(call("session/load"))]);
    story.starts_up_to("h").agent_starts();
    story.asks(skep_trace::Call::Initialize(json!({}).into())).settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Agent, story.last());
    assert!(judgement.label.contains("did not answer `initialize`"), "{}", judgement.label);
}

#[test]
fn a_suspended_harness_can_do_nothing_and_that_is_the_scenario_s_doing() {
    let mut story = first_mention();
    let life = skep_trace::Life { harness: "h".into(), life: 1 };
    story.step([expect(call("session/load"))]);
    story.happens(skep_trace::What::HarnessPaused(life, true)).settles();
    assert_broken(&story.expectation(0), Blame::Scenario, story.last());
}

#[test]
fn calls_can_be_told_apart_by_what_they_say() {
    let mut story = Story::new();
    story.named(skep_trace::NameKind::Session, "s1", "S1").starts("h").step([
        expect(call("session/new").with("_meta.channelId", "\"general\"")),
        expect(call("session/new").with("mcpServers", "[]").with("_meta.title", "-")),
        expect(call("session/new").with("_meta.channelId", "*").by("h")),
        expect(call("session/prompt").saying("text of m1")),
        never(call("session/new").with("_meta.channelId", "random")),
        never(call("session/prompt").saying("text of m2")),
        never(call("session/new").by("other")),
    ]);
    story.mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]).settles();
    for index in 0..7 {
        assert_held(&story.expectation(index));
    }
    story.asked.steps[0] = vec![
        never(call("session/new").with("_meta.channelId", "general")),
        never(call("session/new").with("_meta.title", "*")),
        never(call("session/new").with("_meta.channelId", "-")),
    ];
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
    assert_held(&story.expectation(1));
    assert_held(&story.expectation(2));
}

#[test]
fn a_new_session_is_counted_for_a_message_once_a_prompt_shows_whose_it_is() {
    let mut story = Story::new();
    story.starts("h").step([
        expect(call("session/new").times(1).for_message("m1").bind("s1")),
        expect(call("session/prompt").times(1).on("s1").for_message("m1")),
        never(call("session/new").for_message("m2")),
    ]);
    story.mention("m1", "general").mention("m2", "random").wants_new(None);
    story.grants(json!({"sessionId": "S1"})).turn("S1", &["m1"]).settles();
    for index in 0..3 {
        assert_held(&story.expectation(index));
    }
    story.wants_new(None);
    let wrong = story.last();
    story.grants(json!({"sessionId": "S2"})).turn("S2", &["m2"]);
    assert_broken(&story.expectation(2), Blame::Harness, wrong);
}

#[test]
fn sessions_that_are_known_to_be_another_conversation_s_are_not_counted_for_a_message() {
    let mut story = first_mention();
    story.agent_respawned().step([
        never(call("session/new").for_message("m2")),
        never(call("session/load").for_message("m2")),
        expect(call("session/load").for_message("m3")),
    ]);
    story.mention("m2", "random").mention("m3", "general").loads("S1").opens("S3", "general");
    story.settles();
    for index in 0..3 {
        assert_held(&story.expectation(index));
    }
    story.wants_new(Some("random"));
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
}

#[test]
fn a_prompt_refused_on_a_session_that_was_not_loaded_explains_nothing_away() {
    let refused = |loaded: bool| {
        let mut story = first_mention();
        story.agent_respawned().step([expect(call("session/prompt").times(2))]);
        if loaded {
            story.loads("S1");
        }
        story.mention("m2", "general").prompts("S1", &["m2"]).refuses(-32603);
        story.settles_on(Settled::Bound("another prompt".into()));
        story.expectation(0).blame
    };
    assert_eq!(refused(true), Some(Blame::Agent));
    assert_eq!(refused(false), Some(Blame::Harness));
}

#[test]
fn a_refused_new_session_leaves_the_name_for_the_next_one() {
    let mut story = Story::new();
    story.starts("h").step([
        expect(call("session/new").times(2).bind("s1")),
        expect(call("session/prompt").on("s1")),
    ]);
    story.mention("m1", "general").wants_new(None).refuses(-32603);
    story.opens("S2", "general").turn("S2", &["m1"]).settles();
    assert_held(&story.expectation(1));
}

#[test]
fn calls_of_the_agent_are_counted_and_blamed_on_it() {
    let mut story = Story::new();
    story.starts("h").step([never(call("session/update").saying("secret"))]);
    story.mention("m1", "general").opens("S1", "general").prompts("S1", &["m1"]);
    story.streams("S1", "a secret");
    let said = story.last();
    story.stops("end_turn").settles();
    assert_broken(&story.expectation(0), Blame::Agent, said);
    story.asked.steps[0] = vec![expect(call("session/request_permission"))];
    assert_eq!(story.expectation(0).blame, Some(Blame::Agent));
}

#[test]
fn calls_in_their_order_hold_and_repetitions_are_allowed() {
    let lines = || [call("session/load"), call("session/prompt").on("s1")];
    let mut story = first_mention();
    story.killed().step([expect(order(lines()))]);
    story.starts("h").mention("m2", "general").loads("S1").turn("S1", &["m2"]);
    story.mention("m3", "general").turn("S1", &["m3"]).settles();
    assert_held(&story.expectation(0));
    story.asked.steps[1] = vec![never(order(lines()))];
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
}

#[test]
fn a_repeated_line_may_come_again_before_the_next_one() {
    let lines = [call("session/prompt"), call("session/load"), call("session/prompt")];
    let mut story = first_mention();
    story.step([expect(order(lines))]).mention("m2", "general").turn("S1", &["m2"]);
    story.mention("m3", "general").turn("S1", &["m3"]).agent_respawned();
    story.mention("m4", "general").loads("S1").turn("S1", &["m4"]).settles();
    assert_held(&story.expectation(0));
}

#[test]
fn a_call_before_its_turn_breaks_the_order() {
    let mut story = first_mention();
    story.killed().step([expect(order([call("session/load"), call("session/prompt")]))]);
    story.starts("h").mention("m2", "general").prompts("S1", &["m2"]);
    let early = story.last();
    story.stops("end_turn").loads("S1").settles();
    assert_broken(&story.expectation(0), Blame::Harness, early);
}

#[test]
fn an_order_that_stays_incomplete_says_what_did_not_come() {
    let mut story = first_mention();
    story.killed().step([expect(order([call("session/load"), call("session/prompt")]))]);
    story.starts("h").mention("m2", "general").loads("S1").settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, story.last());
    assert!(judgement.label.contains("`session/prompt` did not come"), "{}", judgement.label);
}

#[test]
fn a_line_of_an_order_may_be_asked_for_more_than_once() {
    let lines = [call("session/prompt").times(2), call("session/load")];
    let mut story = first_mention();
    story.step([expect(order(lines))]).mention("m2", "general").turn("S1", &["m2"]);
    story.agent_respawned().loads("S1");
    let early = story.last() - 1;
    assert_broken(&story.expectation(0), Blame::Harness, early);
}

#[test]
fn an_order_can_name_sessions() {
    let mut story = Story::new();
    let lines = [call("session/new").bind("s1"), call("session/prompt").on("s1").bind("s2")];
    story.starts("h").step([expect(order(lines)), expect(call("session/prompt").on("s1"))]);
    story.mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]).settles();
    assert_held(&story.expectation(0));
    assert_held(&story.expectation(1));
}

#[test]
fn progress_tells_in_words_what_is_awaited() {
    let mut story = Story::new();
    story.starts("h").step([
        expect(call("session/new").times(1).bind("s1")),
        never(call("session/load")),
        expect(done()),
    ]);
    let mut judge = Judge::new(story.asked.clone());
    for record in &story.records {
        judge.feed(record);
    }
    let progress = judge.progress();
    assert_eq!(progress.step, Some(0));
    assert_eq!(
        progress.unmet,
        [(0, "`session/new` once".to_owned()), (2, "the turn ends well".to_owned())]
    );
    let seen = story.records.len();
    story.mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    for record in &story.records[seen..] {
        judge.feed(record);
    }
    assert!(judge.progress().is_met());
    assert_eq!(judge.unmet(), 0);
}

#[test]
fn a_step_that_never_ran_is_inconclusive_and_so_is_its_run() {
    let mut story = first_mention();
    story.asked.steps.push(vec![expect(call("session/load"))]);
    let step = skep_check::Subject::Expectation { step: 1, index: 0 };
    assert_eq!(story.judgement(step).verdict, Verdict::Inconclusive);
    assert_eq!(story.judgement(skep_check::Subject::Run).verdict, Verdict::Inconclusive);
}

#[test]
fn a_step_that_never_rested_makes_the_run_inconclusive_unless_a_reason_is_told() {
    let mut story = first_mention();
    assert_held(&story.judgement(skep_check::Subject::Run));
    story.settles_on(Settled::Bound("60 s passed".into()));
    assert_eq!(story.judgement(skep_check::Subject::Run).verdict, Verdict::Inconclusive);
    story.asked.steps[0] = vec![expect(call("session/load"))];
    assert_held(&story.judgement(skep_check::Subject::Run));
}
