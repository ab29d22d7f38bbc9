//! `expect turn=…`.

use skep_check::{Blame, TurnOutcome, Verdict};
use skep_trace::{Note, Settled};

use crate::lines::{done, expect, failed, never, turn_of};
use crate::story::{Said, Story, assert_broken, assert_held};

/// A mention was delivered in the first step, and a session opened for it.
fn mentioned(wanted: skep_check::Wanted) -> Story {
    let mut story = Story::new();
    story.starts("h").step([expect(wanted)]);
    story.mention("m1", "general").opens("S1", "general");
    story
}

#[test]
fn a_turn_is_done_when_its_prompt_ends_well_and_is_never_anything_else() {
    let mut story = mentioned(done());
    story.turn("S1", &["m1"]).settles();
    assert_held(&story.expectation(0));
    story.asked.steps[0] = vec![never(done()), never(failed(None))];
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
    assert_held(&story.expectation(1));
}

#[test]
fn a_prompt_that_was_never_sent_never_reached_the_agent() {
    let mut story = mentioned(done());
    story.settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.title, "the message never reached the agent");
}

#[test]
fn a_prompt_that_the_agent_refuses_is_the_agent_s_fault_on_a_session_it_has() {
    let mut story = mentioned(done());
    story.prompts("S1", &["m1"]).refuses(-32603);
    let refused = story.last();
    story.holds(&["m1"]).settles_on(Settled::Bound("a better answer".into()));
    assert_broken(&story.expectation(0), Blame::Agent, refused);
}

#[test]
fn a_refused_prompt_that_is_not_tried_again_is_the_harness_s_fault() {
    let mut story = mentioned(done());
    story.prompts("S1", &["m1"]).refuses(-32603);
    let refused = story.last();
    story.settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, refused);
    assert!(judgement.label.contains("h#1 did not try again"), "{}", judgement.label);
}

#[test]
fn a_prompt_that_a_kill_cut_short_is_a_failed_turn() {
    let mut story = mentioned(failed(None));
    story.prompts("S1", &["m1"]).killed().settles();
    assert_held(&story.expectation(0));
}

#[test]
fn commands_and_the_harness_s_own_posts_are_no_mentions() {
    let mut story = mentioned(done());
    let own = Said { channel: "general", by_harness: true, ..Said::default() };
    story.turn("S1", &["m1"]).command("!rotate", "general").says("own", own).settles();
    assert_held(&story.expectation(0));
}

#[test]
fn a_prompt_refused_on_a_session_that_was_not_loaded_is_the_harness_s_fault() {
    let mut story = mentioned(done());
    story.agent_respawned().prompts("S1", &["m1"]).refuses(-32002);
    let refused = story.last();
    story.holds(&["m1"]).settles();
    assert_broken(&story.expectation(0), Blame::Harness, refused);
}

#[test]
fn a_prompt_that_is_not_answered_leaves_its_turn_open() {
    let mut story = mentioned(done());
    story.prompts("S1", &["m1"]).settles_on(Settled::Bound("the answer".into()));
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Agent, story.last());
    assert_eq!(judgement.title, "the turn did not end");
}

#[test]
fn a_retry_that_ends_well_makes_the_turn_done() {
    let mut story = mentioned(done());
    story.prompts("S1", &["m1"]).refuses(-32603).turn("S1", &["m1"]).settles();
    assert_held(&story.expectation(0));
}

#[test]
fn every_mention_of_the_step_must_end_well() {
    let mut story = mentioned(done());
    story.turn("S1", &["m1"]).mention("m2", "general").settles();
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
    story.asked.steps[0] = vec![expect(turn_of("m1", TurnOutcome::Done))];
    assert_held(&story.expectation(0));
}

#[test]
fn a_step_without_a_mention_means_those_that_are_open() {
    let mut story = mentioned(failed(Some(true)));
    story.prompts("S1", &["m1"]).refuses(-32603).holds(&["m1"]).settles();
    story.step([expect(done())]).turn("S1", &["m1"]).settles();
    assert_held(&story.expectation(0));
    story.step([expect(done())]).settles();
    assert_broken(&story.expectation(0), Blame::Scenario, story.last());
}

#[test]
fn a_failed_turn_whose_message_is_held_can_be_retried() {
    let mut story = mentioned(failed(Some(true)));
    story.prompts("S1", &["m1"]).agent_dies().holds(&["m1"]).settles();
    assert_held(&story.expectation(0));
    story.asked.steps[0] = vec![expect(failed(Some(false))), expect(failed(None))];
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
    assert_held(&story.expectation(1));
}

#[test]
fn a_failed_turn_whose_message_is_no_longer_held_is_a_lost_message() {
    let mut story = mentioned(failed(Some(true)));
    story.prompts("S1", &["m1"]).agent_dies().holds(&[]);
    let told = story.last();
    story.settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, told);
    assert_eq!(judgement.title, "a message was lost");
}

#[test]
fn a_failed_turn_whose_loss_was_announced_cannot_be_retried() {
    let mut story = mentioned(failed(Some(true)));
    story.prompts("S1", &["m1"]).refuses(-32000).announces("m1");
    let told = story.last();
    story.holds(&[]).settles();
    assert_broken(&story.expectation(0), Blame::Harness, told);
    story.asked.steps[0] = vec![expect(failed(Some(false)))];
    assert_held(&story.expectation(0));
}

#[test]
fn a_turn_that_goes_well_where_it_was_to_fail_is_told() {
    let mut story = mentioned(failed(None));
    story.turn("S1", &["m1"]);
    let ended = story.last();
    story.settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, ended);
    assert_eq!(judgement.title, "the turn went well, though it was to fail");
}

#[test]
fn an_unanswered_load_that_costs_its_agent_is_a_failed_turn() {
    let mut story = Story::new();
    story.starts("h").step([expect(failed(Some(true)))]);
    story.mention("m1", "general").wants_load("S1").agent_dies().holds(&["m1"]).settles();
    assert_held(&story.expectation(0));
}

#[test]
fn what_a_harness_says_of_a_failed_turn_is_believed_until_it_prompts_again() {
    let mut story = Story::new();
    story.starts("h").step([expect(failed(None))]).mention("m1", "general").wants_load("S1");
    let messages = vec![story.id("m1")];
    story.notes(Note::TurnFailed { messages, retryable: true, why: "timeout".into() });
    assert_held(&story.expectation(0));
    story.prompts("S1", &["m1"]);
    assert_eq!(story.expectation(0).title, "the turn neither ended nor failed");
}

#[test]
fn without_a_word_on_what_is_held_a_later_prompt_shows_the_retry() {
    let mut story = mentioned(failed(Some(true)));
    story.prompts("S1", &["m1"]).refuses(-32603).settles_on(Settled::Quiet(500));
    story.step([]).turn("S1", &["m1"]).settles_on(Settled::Quiet(500));
    let first = skep_check::Subject::Expectation { step: 0, index: 0 };
    assert_held(&story.judgement(first));
    story.asked.steps[0] = vec![expect(failed(Some(false)))];
    assert_eq!(story.judgement(first).verdict, Verdict::Violated);
}

#[test]
fn without_a_later_chance_it_is_enough_that_nothing_announced_the_loss() {
    let mut story = mentioned(failed(Some(true)));
    story.prompts("S1", &["m1"]).refuses(-32603).settles_on(Settled::Quiet(500));
    assert_held(&story.expectation(0));
    story.announces("m1");
    assert_eq!(story.expectation(0).title, "a message was given up");
}

#[test]
fn a_chance_to_retry_that_was_left_out_shows_a_lost_message() {
    let mut story = mentioned(failed(Some(true)));
    story.prompts("S1", &["m1"]).refuses(-32603).settles_on(Settled::Quiet(500));
    story.step([]).mention("m2", "general").prompts("S1", &["m2"]);
    let left_out = story.last();
    story.stops("end_turn").settles_on(Settled::Quiet(500));
    let first = skep_check::Subject::Expectation { step: 0, index: 0 };
    assert_broken(&story.judgement(first), Blame::Harness, left_out);
}

#[test]
fn a_life_that_never_had_the_message_had_no_chance_to_retry_it() {
    let mut story = mentioned(failed(Some(true)));
    story.prompts("S1", &["m1"]).refuses(-32603).settles_on(Settled::Quiet(500));
    story.step([]).killed().starts("h").mention("m2", "general").loads("S1").turn("S1", &["m2"]);
    let first = skep_check::Subject::Expectation { step: 0, index: 0 };
    assert_held(&story.judgement(first));
}

#[test]
fn what_was_held_before_the_failure_or_by_a_life_that_is_over_tells_nothing() {
    let mut story = mentioned(failed(Some(true)));
    story.holds(&[]).prompts("S1", &["m1"]).refuses(-32603).settles_on(Settled::Quiet(500));
    assert_held(&story.expectation(0));
    let mut story = mentioned(failed(Some(true)));
    story.prompts("S1", &["m1"]).refuses(-32603).holds(&[]).killed();
    assert_held(&story.expectation(0));
}

#[test]
fn a_turn_can_be_asked_to_stop_for_a_reason_however_that_is_spelled() {
    let mut story = mentioned(turn_of("m1", TurnOutcome::Stopped("max_tokens")));
    story.prompts("S1", &["m1"]).stops("MAX_TOKENS").settles();
    assert_held(&story.expectation(0));
    story.asked.steps[0] = vec![expect(turn_of("m1", TurnOutcome::Stopped("cancelled")))];
    assert_eq!(story.expectation(0).title, "the turn did not end with `cancelled`");
}

#[test]
fn a_message_that_nobody_named_is_the_scenario_s_mistake() {
    let mut story = mentioned(turn_of("m9", TurnOutcome::Done));
    story.turn("S1", &["m1"]).settles();
    assert_broken(&story.expectation(0), Blame::Scenario, story.last());
}
