//! H-80, H-81 and H-83: what becomes of messages and turns.

use skep_check::{Blame, Verdict};
use skep_trace::policy::Delivery;
use skep_trace::{Call, Settled};

use crate::story::{Said, Story, assert_broken, assert_held};

/// A conversation in `general` on `S1`.
fn conversation() -> Story {
    let mut story = Story::new();
    story.step([]).starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story
}

#[test]
fn h80_a_message_that_is_prompted_is_not_lost() {
    let mut story = conversation();
    story.holds(&[]).settles();
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_a_message_that_is_dropped_is_lost() {
    let mut story = conversation();
    story.mention("m2", "general");
    let given = story.last();
    story.holds(&[]);
    let told = story.last();
    story.settles();
    let judgement = story.rule("H-80");
    assert_broken(&judgement, Blame::Harness, told);
    assert_eq!(judgement.title, "a message was lost");
    assert_eq!(judgement.causes[0].record, given);
}

#[test]
fn h80_a_message_that_was_on_its_way_to_an_ended_life_reached_nobody() {
    let mut story = conversation();
    story.says("m2", Said { channel: "general", ..Said::default() }).killed().delivers("m2");
    story.starts("h").holds(&[]).settles();
    assert_ne!(story.rule("H-80").verdict, Verdict::Violated);
    story.mention("m3", "general").holds(&[]).settles();
    assert_eq!(story.rule("H-80").verdict, Verdict::Violated);
}

#[test]
fn h80_a_message_that_is_held_announced_or_steered_is_not_lost() {
    let mut story = conversation();
    story.mention("m2", "general").holds(&["m2"]).settles();
    assert_held(&story.rule("H-80"));
    let mut story = conversation();
    story.mention("m2", "general").announces("m2").holds(&[]).settles();
    assert_held(&story.rule("H-80"));
    let mut story = conversation();
    story.mention("m2", "general");
    let text = format!("Event ID: {}", story.id("m2").to_upper());
    let params = serde_json::json!({"sessionId": "S1", "prompt": [{"type": "text", "text": text}]});
    story.asks(Call::Other { method: "_session/steering".into(), params: params.into() });
    story.holds(&[]).settles();
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_a_message_whose_turn_still_runs_is_not_lost() {
    let mut story = conversation();
    story.mention("m2", "general").prompts("S1", &["m2"]).holds(&[]).settles();
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_what_another_identity_was_prompted_with_does_not_count() {
    let mut story = Story::new();
    story.harness("other", "o", "else").step([]).starts("h").mention("m1", "general").holds(&[]);
    story.starts("other").opens("S1", "general").turn("S1", &["m1"]).settles();
    assert_eq!(story.rule("H-80").verdict, Verdict::Violated);
}

#[test]
fn h80_what_the_same_identity_was_prompted_with_on_another_relay_does_not_count() {
    let mut story = Story::new();
    story.harness_on("far", "o", "h", "elsewhere").step([]).starts("h").mention("m1", "general");
    story.holds(&[]).starts("far").opens("S1", "general").turn("S1", &["m1"]).settles();
    assert_eq!(story.rule("H-80").verdict, Verdict::Violated);
}

#[test]
fn h80_a_suspended_harness_owes_nothing_and_hands_nothing_over() {
    let mut story = Story::new();
    let life = skep_trace::Life { harness: "h".into(), life: 1 };
    story.harness("new", "h", "h").step([]).starts("h").mention("m1", "general");
    story.happens(skep_trace::What::HarnessPaused(life.clone(), true));
    story.starts("new").settles();
    assert_held(&story.rule("H-80"));
    story.happens(skep_trace::What::HarnessPaused(life, false));
    assert_held(&story.rule("H-80"));
    story.settles();
    assert_eq!(story.rule("H-80").verdict, Verdict::Violated);
}

#[test]
fn h80_durable_delivery_hands_over_to_the_same_home_alone() {
    let mut story = Story::new();
    story.asked.harnesses[0].settings.policies.delivery = Delivery::Durable;
    story.harness("far", "o", "else").step([]).starts("h").mention("m1", "general").killed();
    story.starts("far").holds(&[]).settles();
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_a_message_that_waits_for_a_session_may_wait() {
    let waits = |then: fn(&mut Story)| {
        let mut story = Story::new();
        story.step([]).starts("h").mention("m1", "general").wants_new(Some("general"));
        then(&mut story);
        story.settles_on(Settled::Quiet(500));
        story.rule("H-80").verdict
    };
    assert_eq!(waits(|_| {}), Verdict::Held);
    let refused = |story: &mut Story| {
        story.refuses(-32603);
    };
    assert_eq!(waits(refused), Verdict::Held);
    let opened = |story: &mut Story| {
        story.grants(serde_json::json!({"sessionId": "S1"}));
    };
    assert_eq!(waits(opened), Verdict::Violated);
}

#[test]
fn h80_what_was_held_before_the_message_came_tells_nothing_of_it() {
    let mut story = conversation();
    story.holds(&[]).mention("m2", "general").prompts("S1", &["m2"]).refuses(-32603);
    story.settles_on(Settled::Quiet(500));
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_a_notice_in_a_thread_is_about_the_thread() {
    let mut story = conversation();
    let root = story.id("m1").to_string();
    story.reply("m2", "general", &root).announces("m1").holds(&[]).settles();
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_the_harness_s_own_messages_are_not_for_it() {
    let mut story = conversation();
    let said = Said { channel: "general", by_harness: true, ..Said::default() };
    story.says("own", said).delivers("own").holds(&[]).settles();
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_a_failed_prompt_s_message_must_be_held_or_announced() {
    let mut story = conversation();
    story.mention("m2", "general").prompts("S1", &["m2"]).refuses(-32603).holds(&["m2"]).settles();
    assert_held(&story.rule("H-80"));
    story.holds(&[]);
    assert_broken(&story.rule("H-80"), Blame::Harness, story.last());
}

#[test]
fn h80_all_messages_of_an_announced_batch_are_announced() {
    let mut story = conversation();
    story.mention("m2", "general").mention("m3", "general").prompts("S1", &["m2", "m3"]);
    story.refuses(-32000).announces("m3").holds(&[]).settles();
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_without_a_word_on_what_is_held_an_untried_message_is_lost_and_a_tried_one_may_wait() {
    let mut story = conversation();
    story.mention("m2", "general").settles_on(Settled::Quiet(500));
    assert_broken(&story.rule("H-80"), Blame::Harness, story.last());
    let mut story = conversation();
    story.mention("m2", "general").prompts("S1", &["m2"]).refuses(-32603);
    story.settles_on(Settled::Quiet(500));
    assert_held(&story.rule("H-80"));
    story.mention("m3", "general").prompts("S1", &["m3"]);
    let left_out = story.last();
    story.stops("end_turn").settles_on(Settled::Quiet(500));
    assert_broken(&story.rule("H-80"), Blame::Harness, left_out);
}

#[test]
fn h80_is_not_judged_before_the_harness_is_at_rest() {
    let mut story = conversation();
    story.settles().mention("m2", "general").settles_on(Settled::Bound("the prompt".into()));
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_a_kill_ends_the_duty_unless_delivery_is_durable() {
    let killed = |delivery: Delivery| {
        let mut story = Story::new();
        story.asked.harnesses[0].settings.policies.delivery = delivery;
        story.step([]).starts("h").mention("m1", "general").killed().starts("h").holds(&[]);
        story.settles();
        story.rule("H-80").verdict
    };
    assert_eq!(killed(Delivery::Live(5)), Verdict::Held);
    assert_eq!(killed(Delivery::Durable), Verdict::Violated);
}

#[test]
fn h80_a_message_that_the_relay_gives_to_the_next_life_is_that_life_s_duty() {
    let mut story = Story::new();
    story.step([]).starts("h").mention("m1", "general").killed().starts("h").delivers("m1");
    story.holds(&[]).settles();
    assert_eq!(story.rule("H-80").verdict, Verdict::Violated);
    story.opens("S1", "general").turn("S1", &["m1"]).settles();
    assert_held(&story.rule("H-80"));
}

#[test]
fn h80_the_owner_may_drop_a_message_and_so_may_leaving_the_channel() {
    let drops: [fn(&mut Story); 3] = [
        |story| {
            story.command("!rotate", "general");
        },
        |story| {
            story.command("!cancel", "general");
        },
        |story| {
            story.removed_from("general");
        },
    ];
    for drop in drops {
        let mut story = conversation();
        story.mention("m2", "general");
        drop(&mut story);
        story.holds(&[]).settles();
        assert_held(&story.rule("H-80"));
    }
}

#[test]
fn h80_commands_and_strangers_in_direct_messages_ask_for_nothing() {
    let mut story = Story::new();
    let said = Said { channel: "private-talk", by_stranger: true, ..Said::default() };
    story.step([]).starts("h").says("m1", said).delivers("m1").command("!shutdown", "general");
    story.holds(&[]).settles();
    assert_eq!(story.rule("H-80").verdict, Verdict::NotApplicable);
}

#[test]
fn h81_a_message_is_prompted_once() {
    assert_held(&conversation().rule("H-81"));
}

#[test]
fn h81_a_message_that_is_prompted_again_in_one_life_is_told() {
    let mut story = conversation();
    story.delivers("m1").prompts("S1", &["m1"]);
    let judgement = story.rule("H-81");
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.title, "a message was prompted twice");
    let mut story = conversation();
    story.mention("m2", "general").prompts("S1", &["m2", "m2"]);
    assert_broken(&story.rule("H-81"), Blame::Harness, story.last());
    let mut story = conversation();
    story.mention("m2", "general").prompts("S1", &["m2"]).prompts("S1", &["m2"]);
    assert_broken(&story.rule("H-81"), Blame::Harness, story.last());
}

#[test]
fn h81_a_message_may_be_prompted_again_when_that_went_wrong() {
    let mut story = conversation();
    story.mention("m2", "general").prompts("S1", &["m2"]).refuses(-32603);
    story.prompts("S1", &["m2"]).cancels("S1").stops("cancelled");
    story.prompts("S1", &["m2"]).agent_respawned().loads("S1").turn("S1", &["m2"]);
    assert_held(&story.rule("H-81"));
}

#[test]
fn h81_another_life_may_prompt_it_again() {
    let mut story = conversation();
    story.killed().starts("h").delivers("m1").loads("S1").turn("S1", &["m1"]);
    assert_held(&story.rule("H-81"));
}

#[test]
fn h83_turns_of_one_conversation_follow_each_other() {
    let mut story = conversation();
    story.mention("m2", "general").turn("S1", &["m2"]);
    story.mention("m3", "random").opens("S2", "random").prompts("S2", &["m3"]);
    story.mention("m4", "general").prompts("S1", &["m4"]);
    assert_held(&story.rule("H-83"));
}

#[test]
fn h83_a_second_turn_beside_a_running_one_is_told() {
    let mut story = conversation();
    story.mention("m2", "general").prompts("S1", &["m2"]);
    let running = story.last();
    story.mention("m3", "general").prompts("S1", &["m3"]);
    let judgement = story.rule("H-83");
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.causes[0].record, running);
}

#[test]
fn h83_a_second_session_of_one_conversation_does_not_hide_it() {
    let mut story = conversation();
    story.mention("m2", "general").prompts("S1", &["m2"]);
    story.mention("m3", "general").opens("S2", "general").prompts("S2", &["m3"]);
    assert_broken(&story.rule("H-83"), Blame::Harness, story.last());
}

#[test]
fn h83_speaks_of_one_life_alone() {
    let mut story = Story::new();
    story.harness("new", "h", "h").starts("h").mention("m1", "general").opens("S1", "general");
    story.prompts("S1", &["m1"]).starts("new").delivers("m1").loads("S1").prompts("S1", &["m1"]);
    assert_held(&story.rule("H-83"));
}

#[test]
fn h83_the_end_of_a_killed_agent_may_be_noticed_a_moment_late() {
    let noticed = |after_ms: u64| {
        let mut story = conversation();
        story.mention("m2", "general").prompts("S1", &["m2"]);
        story.agent_starts().introduces(&serde_json::json!({"loadSession": true}));
        story.loads("S1").prompts("S1", &["m2"]).later(after_ms).by("h", 1, 1, 1).agent_dies();
        story.rule("H-83").verdict
    };
    assert_eq!(noticed(10), Verdict::Held);
    assert_eq!(noticed(10_000), Verdict::Violated);
}
