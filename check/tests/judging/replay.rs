//! H-40 and H-41: what happens between a load and its answer.

use serde_json::json;
use skep_check::{Blame, Verdict};

use crate::story::{Story, assert_broken, assert_held};

/// A restarted harness whose agent just replayed an old reply.
fn replayed() -> Story {
    let mut story = Story::new();
    story.starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]).killed();
    story.starts("h").mention("m2", "general").wants_load("S1").streams("S1", "an old reply");
    story.grants(json!({}));
    story
}

#[test]
fn h40_live_output_is_published_and_replay_is_not() {
    let mut story = replayed();
    story.prompts("S1", &["m2"]).streams("S1", "a new reply");
    story.publishes(24200, &json!({"text": "a new reply"}).to_string()).stops("end_turn");
    assert_held(&story.rule("H-40"));
}

#[test]
fn h40_replay_in_the_observer_feed_is_told_with_the_replay_as_its_cause() {
    let mut story = replayed();
    let replay = story.last() - 1;
    story.publishes(24200, &json!([{"x": 1}, {"update": {"text": "an old reply"}}]).to_string());
    let judgement = story.rule("H-40");
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.causes[0].record, replay);
}

#[test]
fn h40_replay_is_found_in_coalesced_frames_and_in_channel_posts() {
    let mut story = replayed();
    story.publishes(24200, &json!({"text": "more, an old reply, and more"}).to_string());
    assert_broken(&story.rule("H-40"), Blame::Harness, story.last());
    let mut story = replayed();
    story.publishes(9, "an old reply");
    assert_broken(&story.rule("H-40"), Blame::Harness, story.last());
}

#[test]
fn h40_live_output_may_repeat_replayed_text_as_often_as_it_was_live() {
    let mut story = replayed();
    story.prompts("S1", &["m2"]).streams("S1", "an old ").streams("S1", "reply").stops("end_turn");
    story.publishes(24200, &json!({"text": "an old reply"}).to_string());
    assert_held(&story.rule("H-40"));
    story.publishes(24200, &json!({"text": "an old reply"}).to_string());
    assert_broken(&story.rule("H-40"), Blame::Harness, story.last());
}

#[test]
fn h40_a_feed_may_show_live_output_in_several_ways_but_each_only_so_often() {
    let chunk = json!({"type": "update", "text": "an old reply"});
    let whole = |text: &str| json!({"type": "ended", "output": text});
    let mut story = replayed();
    story.prompts("S1", &["m2"]).streams("S1", "an old reply").stops("end_turn");
    story.publishes(24200, &json!({"frames": [chunk, whole("an old reply")]}).to_string());
    assert_held(&story.rule("H-40"));
    let doubled = whole("an old replyan old reply");
    story.publishes(24200, &json!({"frames": [doubled]}).to_string());
    assert_broken(&story.rule("H-40"), Blame::Harness, story.last());
}

#[test]
fn h40_the_same_event_sent_again_is_no_second_publication() {
    let mut story = replayed();
    story.prompts("S1", &["m2"]).streams("S1", "an old reply").stops("end_turn");
    story.publishes(24200, "an old reply");
    let again = story.records[story.last()].what.clone();
    story.happens(again);
    assert_held(&story.rule("H-40"));
}

#[test]
fn h40_a_reaction_is_no_text() {
    let mut story = Story::new();
    story.starts("h").wants_load("S1").streams("S1", "👀").grants(json!({})).publishes(7, "👀");
    assert_held(&story.rule("H-40"));
    story.publishes(9, "👀");
    assert_broken(&story.rule("H-40"), Blame::Harness, story.last());
}

#[test]
fn h40_the_window_closes_with_the_load_s_error() {
    let mut story = Story::new();
    story.starts("h").wants_load("S1").refuses(-32002).streams("S1", "an old reply");
    story.publishes(24200, "an old reply");
    assert_eq!(story.rule("H-40").verdict, Verdict::NotApplicable);
}

#[test]
fn h41_a_request_during_a_load_is_answered() {
    let mut story = Story::new();
    story.starts("h").wants_load("S1").agent_asks(7).answers_agent(7).grants(json!({})).settles();
    assert_held(&story.rule("H-41"));
}

#[test]
fn h41_a_request_that_is_still_open_at_rest_was_not_answered() {
    let mut story = Story::new();
    story.starts("h").wants_load("S1").agent_asks(7);
    let asked = story.last();
    story.grants(json!({})).settles();
    assert_broken(&story.rule("H-41"), Blame::Harness, asked);
}

#[test]
fn h41_an_agent_that_died_waiting_waited_in_vain_if_it_waited_long() {
    let waited = |ms: u64| {
        let mut story = Story::new();
        story.starts("h").wants_load("S1").agent_asks(7).later(ms).agent_dies().settles();
        story.rule("H-41").verdict
    };
    assert_eq!(waited(60_000), Verdict::Violated);
    assert_eq!(waited(10), Verdict::NotApplicable);
}

#[test]
fn h41_asks_nothing_of_a_harness_that_is_gone_or_suspended() {
    let mut story = Story::new();
    story.starts("h").wants_load("S1").agent_asks(7).killed().settles();
    assert_eq!(story.rule("H-41").verdict, Verdict::NotApplicable);
    let life = skep_trace::Life { harness: "h".into(), life: 1 };
    let mut story = Story::new();
    story.starts("h").wants_load("S1").agent_asks(7);
    story.happens(skep_trace::What::HarnessPaused(life, true)).settles();
    assert_eq!(story.rule("H-41").verdict, Verdict::NotApplicable);
}

#[test]
fn h41_says_nothing_of_requests_outside_of_a_load() {
    let mut story = Story::new();
    story.starts("h").agent_asks(7).settles();
    assert_eq!(story.rule("H-41").verdict, Verdict::NotApplicable);
}
