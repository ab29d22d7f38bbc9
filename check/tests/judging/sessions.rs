//! Invariants about which session may be asked for and prompted: H-2, H-13, H-22, H-53, H-73.

use serde_json::json;
use skep_check::{AskedSession, Blame, Verdict};
use skep_trace::policy::SessionScope;
use skep_trace::{NameKind, What};

use crate::story::{Said, Story, assert_broken, assert_held, channel_id};

/// A conversation in `general` on `S1`.
fn conversation() -> Story {
    let mut story = Story::new();
    story.starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story
}

fn threads() -> Story {
    let mut story = Story::new();
    story.asked.harnesses[0].settings.policies.session_scope = SessionScope::Thread;
    story.starts("h");
    story
}

#[test]
fn h2_an_agent_that_offers_load_may_be_asked() {
    let mut story = conversation();
    story.killed().starts("h").loads("S1");
    assert_held(&story.rule("H-2"));
    assert_eq!(conversation().rule("H-2").verdict, Verdict::NotApplicable);
    assert_eq!(conversation().rule("H-2").label, "never came up");
}

#[test]
fn h2_anything_but_true_is_no_offer() {
    for offer in [json!({}), json!({"loadSession": false}), json!({"loadSession": "true"})] {
        let mut story = conversation();
        story.killed().starts_up_to("h").agent_starts().introduces(&offer).wants_load("S1");
        assert_broken(&story.rule("H-2"), Blame::Harness, story.last());
    }
}

#[test]
fn h2_a_resume_is_no_load() {
    let mut story = conversation();
    let offer = json!({"sessionCapabilities": {"resume": {}}});
    story.killed().starts_up_to("h").agent_starts().introduces(&offer);
    let setup = skep_trace::Setup {
        cwd: "/w".into(),
        mcp_servers: json!([]).into(),
        meta: None,
        extra: None,
    };
    story.asks(skep_trace::Call::SessionResume { session_id: "S1".into(), setup });
    assert_eq!(story.rule("H-2").verdict, Verdict::NotApplicable);
    story.grants(json!({})).mention("m2", "general").turn("S1", &["m2"]);
    assert_held(&story.rule("H-13"));
}

#[test]
fn h13_opened_and_loaded_sessions_may_be_prompted() {
    let mut story = conversation();
    story.killed().starts("h").mention("m2", "general").loads("S1").turn("S1", &["m2"]);
    assert_held(&story.rule("H-13"));
}

#[test]
fn h13_a_session_of_an_earlier_connection_must_be_loaded_first() {
    let mut story = conversation();
    story.agent_respawned().mention("m2", "general").prompts("S1", &["m2"]);
    let judgement = story.rule("H-13");
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.title, "the harness prompted a session that it had not loaded");
    assert!(judgement.label.contains("S1 was neither opened nor loaded on a#2"));
}

#[test]
fn h13_a_load_that_is_not_yet_answered_is_not_enough() {
    let mut story = conversation();
    story.killed().starts("h").mention("m2", "general").wants_load("S1").prompts("S1", &["m2"]);
    assert_broken(&story.rule("H-13"), Blame::Harness, story.last());
}

#[test]
fn h13_a_refused_load_is_none() {
    let mut story = conversation();
    story.killed().starts("h").mention("m2", "general").wants_load("S1").refuses(-32002);
    story.prompts("S1", &["m2"]);
    assert_broken(&story.rule("H-13"), Blame::Harness, story.last());
}

#[test]
fn h22_after_its_agent_s_death_a_session_is_loaded_again() {
    let mut story = conversation();
    story.agent_respawned().mention("m2", "general").loads("S1").turn("S1", &["m2"]);
    assert_held(&story.rule("H-22"));
}

#[test]
fn h22_a_new_session_after_a_death_costs_the_old_one() {
    let mut story = conversation();
    story.agent_dies();
    let death = story.last();
    story.agent_starts().introduces(&json!({"loadSession": true}));
    story.mention("m2", "general").opens("S2", "general").prompts("S2", &["m2"]);
    let judgement = story.rule("H-22");
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.causes[0].record, death);
}

#[test]
fn h22_asks_nothing_where_there_is_another_reason_for_a_new_session() {
    let fresh = |prepare: &dyn Fn(&mut Story)| {
        let mut story = conversation();
        prepare(&mut story);
        story.mention("m2", "general").opens("S2", "general").prompts("S2", &["m2"]);
        story.rule("H-22").verdict
    };
    let broken = fresh(&|story| {
        story.agent_respawned();
    });
    assert_eq!(broken, Verdict::Violated);
    let excuses: [&dyn Fn(&mut Story); 9] = [
        &|story| {
            story.agent_respawned().wants_load("S1").refuses(-32002);
        },
        &|story| {
            story.agent_respawned().wants_load("S1").agent_respawned();
        },
        &|story| {
            let call = skep_trace::Call::SessionClose { session_id: "S1".into() };
            story.asks(call).grants(json!({})).agent_respawned();
        },
        &|story| {
            story.harness("new", "h", "h").starts("new").by("h", 1, 1, 1).agent_respawned();
        },
        &|story| {
            story.command("!rotate", "general").agent_respawned();
        },
        &|story| {
            story.agent_dies().agent_starts().introduces(&json!({}));
        },
        &|story| {
            story.asked.harnesses[0].settings.resume = false;
            story.agent_respawned();
        },
        &|story| {
            story.asked.unwritable.push(0);
            story.agent_respawned();
        },
        &|story| {
            story.asked.harnesses[0].settings.max_turns = 1;
            story.agent_respawned();
        },
    ];
    for (place, excuse) in excuses.into_iter().enumerate() {
        assert_ne!(fresh(excuse), Verdict::Violated, "excuse {place}");
    }
}

#[test]
fn h22_comes_up_once_a_death_and_only_for_fresh_sessions() {
    let mut story = conversation();
    story.agent_respawned().loads("S1").mention("m2", "general").turn("S1", &["m2"]);
    story.mention("m3", "general").turn("S1", &["m3"]);
    assert_eq!(story.rule("H-22").label, "came up once");
    story.mention("m4", "general").opens("S2", "general").turn("S2", &["m4"]);
    story.agent_respawned().loads("S1").mention("m5", "general").turn("S1", &["m5"]);
    assert_held(&story.rule("H-22"));
}

#[test]
fn h53_two_spellings_of_a_thread_share_a_session() {
    let mut story = threads();
    let root = "ab".repeat(32);
    story.reply("m1", "general", &root).opens("S1", "general").turn("S1", &["m1"]);
    story.reply("m2", "general", &root.to_uppercase()).turn("S1", &["m2"]);
    assert_held(&story.rule("H-53"));
}

#[test]
fn h53_a_thread_split_by_its_spelling_is_told() {
    let mut story = threads();
    let root = "ab".repeat(32);
    story.reply("m1", "general", &root).opens("S1", "general").turn("S1", &["m1"]);
    story.reply("m2", "general", &root.to_uppercase()).opens("S2", "general");
    story.prompts("S2", &["m2"]);
    assert_broken(&story.rule("H-53"), Blame::Harness, story.last());
}

#[test]
fn h53_two_spellings_of_a_channel_share_a_session() {
    let mut story = Story::new();
    story.named(NameKind::Channel, "GENERAL", &channel_id("general").to_uppercase());
    story.starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story.mention("m2", "GENERAL").opens("S2", "general").prompts("S2", &["m2"]);
    assert_broken(&story.rule("H-53"), Blame::Harness, story.last());
}

#[test]
fn h53_two_threads_of_one_channel_are_no_two_spellings() {
    let mut story = Story::new();
    story.starts("h").reply("m1", "general", &"ab".repeat(32)).opens("S1", "general");
    story.turn("S1", &["m1"]).reply("m2", "general", &"cd".repeat(32)).opens("S2", "general");
    story.turn("S2", &["m2"]);
    assert_eq!(story.rule("H-53").verdict, Verdict::NotApplicable);
}

#[test]
fn h53_says_nothing_of_a_session_that_is_gone() {
    let mut story = threads();
    let root = "ab".repeat(32);
    story.reply("m1", "general", &root).opens("S1", "general").turn("S1", &["m1"]);
    let text = "!rotate";
    let said = Said { channel: "general", root: Some(root.clone()), text, ..Said::default() };
    story.says("rotate", said).delivers("rotate");
    story.reply("m2", "general", &root.to_uppercase()).opens("S2", "general");
    story.turn("S2", &["m2"]);
    assert_held(&story.rule("H-53"));
}

#[test]
fn h73_a_conversation_stays_on_its_session() {
    let mut story = conversation();
    story.mention("m2", "random").opens("S2", "random").turn("S2", &["m2"]);
    story.killed().starts("h").mention("m3", "general").loads("S1").turn("S1", &["m3"]);
    assert_held(&story.rule("H-73"));
}

#[test]
fn h73_another_channel_s_message_on_a_session_is_told() {
    let mut story = conversation();
    story.mention("m2", "random").prompts("S1", &["m2"]);
    let judgement = story.rule("H-73");
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.title, "a message was prompted in another conversation's session");
}

#[test]
fn h73_a_session_of_unknown_origin_belongs_where_it_is_first_prompted() {
    let mut story = Story::new();
    story.starts("h").mention("m1", "general").loads("S1").turn("S1", &["m1"]);
    assert_held(&story.rule("H-73"));
    story.mention("m2", "random").prompts("S1", &["m2"]);
    assert_broken(&story.rule("H-73"), Blame::Harness, story.last());
}

#[test]
fn h73_another_thread_s_message_counts_only_where_threads_have_sessions() {
    let tell = |mut story: Story| {
        story.mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
        story.mention("m2", "general").prompts("S1", &["m2"]);
        story.rule("H-73").verdict
    };
    assert_eq!(tell(threads()), Verdict::Violated);
    let mut channels = Story::new();
    channels.starts("h");
    assert_eq!(tell(channels), Verdict::Held);
}

#[test]
fn h73_a_direct_message_is_one_conversation_whatever_its_threads() {
    let mut story = threads();
    story.mention("m1", "private-talk").opens("S1", "private-talk").turn("S1", &["m1"]);
    story.reply("m2", "private-talk", &"ab".repeat(32)).turn("S1", &["m2"]);
    assert_held(&story.rule("H-73"));
}

#[test]
fn h73_another_community_s_session_must_not_be_loaded() {
    let mut story = Story::new();
    story.harness_on("other", "h", "h", "elsewhere");
    story.starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story.starts("other").wants_load("S1");
    assert_broken(&story.rule("H-73"), Blame::Harness, story.last());
}

#[test]
fn h73_another_identity_s_session_must_not_be_loaded() {
    let mut story = Story::new();
    story.harness("other", "h", "else");
    story.starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story.starts("other").wants_load("S1");
    let judgement = story.rule("H-73");
    assert_broken(&judgement, Blame::Harness, story.last());
    story.prompts("S1", &["m1"]);
    assert!(story.rule("H-73").label.starts_with("violated twice"));
}

#[test]
fn h73_overlapping_harnesses_of_one_identity_may_share_a_session() {
    let mut story = Story::new();
    story.harness("new", "h", "h");
    story.starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story.starts("new").mention("m2", "general").loads("S1").turn("S1", &["m2"]);
    assert_held(&story.rule("H-73"));
}

#[test]
fn h73_a_session_that_the_scenario_gave_belongs_where_it_was_given() {
    let mut story = Story::new();
    story.asked.given = vec![AskedSession {
        name: "s1".into(),
        harness: "h".into(),
        channel: "general".into(),
        root: None,
    }];
    story.named(NameKind::Session, "s1", "S1");
    story.starts("h").step([]).mention("m1", "random").loads("S1").prompts("S1", &["m1"]);
    assert_broken(&story.rule("H-73"), Blame::Harness, story.last());
}

#[test]
fn settings_that_change_count_from_the_next_start_on() {
    let mut story = Story::new();
    let mut settings = story.asked.harnesses[0].settings;
    settings.policies.session_scope = SessionScope::Thread;
    let channel = story.asked.harnesses[0].settings;
    story.asked.harnesses[0].later = vec![(0, channel), (1, settings)];
    story.starts("h").step([]).mention("m1", "general").opens("S1", "general");
    story.turn("S1", &["m1"]).mention("m2", "general").turn("S1", &["m2"]);
    assert_held(&story.rule("H-73"));
    story.step([]).killed().starts("h").mention("m3", "general").opens("S2", "general");
    story.turn("S2", &["m3"]).mention("m4", "general").prompts("S2", &["m4"]);
    assert_broken(&story.rule("H-73"), Blame::Harness, story.last());
}

#[test]
fn a_life_that_was_never_seen_to_start_is_taken_as_it_comes() {
    let mut story = Story::new();
    let life = skep_trace::Life { harness: "stranger".into(), life: 3 };
    story.happens(What::HarnessReady(life));
    assert_eq!(story.judged().len(), skep_check::RULES.iter().filter(|it| it.always).count() + 1);
}
