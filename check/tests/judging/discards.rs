//! H-20 and H-21: what discards a session, and whom that binds from when on.

use skep_check::{Blame, Verdict};
use skep_trace::Hex32;
use skep_trace::policy::{Cancel, ErrorClass, Indeterminate, Overlap, SessionScope};

use crate::story::{Story, assert_broken, assert_held};

/// A conversation in `general` on `S1`.
fn conversation() -> Story {
    let mut story = Story::new();
    story.step([]).starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story
}

/// Every way to discard `S1` in a conversation that is idle.
const WAYS: [fn(&mut Story); 5] = [
    |story| {
        story.command("!rotate", "general");
    },
    |story| {
        story.switch_model("general");
    },
    |story| {
        story.removed_from("general");
    },
    |story| {
        story.mention("x", "general").prompts("S1", &["x"]).stops("max_tokens");
    },
    |story| {
        story.mention("x", "general").prompts("S1", &["x"]).stops("max_turn_requests");
    },
];

#[test]
fn h20_the_next_turn_after_a_discard_is_fresh() {
    for way in WAYS {
        let mut story = conversation();
        way(&mut story);
        story.mention("m2", "general").opens("S2", "general").turn("S2", &["m2"]).settles();
        assert_held(&story.rule("H-20"));
        assert_held(&story.rule("H-21"));
    }
}

#[test]
fn h20_a_discarded_session_that_is_prompted_again_came_back_from_memory() {
    for way in WAYS {
        let mut story = conversation();
        way(&mut story);
        story.mention("m2", "general").prompts("S1", &["m2"]);
        let judgement = story.rule("H-20");
        assert_broken(&judgement, Blame::Harness, story.last());
        assert_eq!(judgement.title, "a discarded session came back");
        assert!(judgement.causes.iter().any(|cause| cause.label.starts_with("discarded here")));
        assert_held(&story.rule("H-21"));
    }
}

#[test]
fn h20_a_copy_of_what_discarded_a_session_discards_no_other() {
    for way in [WAYS[0], WAYS[2]] {
        let mut story = conversation();
        way(&mut story);
        let told = story.last();
        story.mention("m2", "general").opens("S2", "general").turn("S2", &["m2"]);
        story.hears_again(told).mention("m3", "general").turn("S2", &["m3"]).settles();
        assert_held(&story.rule("H-20"));
        story.mention("m4", "general").prompts("S1", &["m4"]);
        assert_broken(&story.rule("H-20"), Blame::Harness, story.last());
    }
}

#[test]
fn h21_a_discarded_session_that_is_loaded_again_came_back_from_the_disk() {
    for way in WAYS {
        let mut story = conversation();
        way(&mut story);
        story.mention("m2", "general").wants_load("S1");
        assert_broken(&story.rule("H-21"), Blame::Harness, story.last());
        assert_held(&story.rule("H-20"));
    }
}

#[test]
fn h21_binds_later_lives_once_the_removal_could_become_durable() {
    for way in WAYS {
        let mut story = conversation();
        way(&mut story);
        story.settles().killed().starts("h").mention("m2", "general").wants_load("S1");
        assert_broken(&story.rule("H-21"), Blame::Harness, story.last());
    }
}

#[test]
fn h21_binds_nobody_after_a_kill_that_came_right_behind_the_discard() {
    for way in WAYS {
        let mut story = conversation();
        way(&mut story);
        story.killed().settles().starts("h").mention("m2", "general").loads("S1");
        assert_held(&story.rule("H-21"));
    }
}

#[test]
fn h21_binds_nobody_after_a_restart_when_nothing_could_be_written() {
    let mut story = conversation();
    story.asked.unwritable = vec![0];
    story.command("!rotate", "general").settles().killed();
    story.starts("h").mention("m2", "general").loads("S1");
    assert_held(&story.rule("H-21"));
    story.asked.unwritable.clear();
    assert_eq!(story.rule("H-21").verdict, Verdict::Violated);
}

#[test]
fn a_message_that_came_before_the_discard_may_still_run_on_the_session() {
    let mut story = conversation();
    story.mention("m2", "general").command("!rotate", "general").turn("S1", &["m2"]);
    assert_held(&story.rule("H-20"));
    story.mention("m3", "general").prompts("S1", &["m3"]);
    assert_broken(&story.rule("H-20"), Blame::Harness, story.last());
}

#[test]
fn a_harness_that_came_to_rest_has_read_the_discard() {
    let mut story = conversation();
    story.mention("m2", "general").command("!rotate", "general").settles().prompts("S1", &["m2"]);
    assert_broken(&story.rule("H-20"), Blame::Harness, story.last());
}

#[test]
fn a_load_for_a_message_from_before_the_discard_may_still_be_under_way() {
    let mut story = conversation();
    story.agent_respawned().mention("m2", "general").command("!rotate", "general").loads("S1");
    assert_held(&story.rule("H-21"));
}

#[test]
fn a_load_that_nobody_waits_for_proves_nothing_either() {
    let mut story = conversation();
    story.agent_respawned().command("!rotate", "general").loads("S1");
    assert_held(&story.rule("H-21"));
}

#[test]
fn a_second_discard_takes_nothing_back() {
    let mut story = conversation();
    story.command("!rotate", "general").settles().mention("m2", "general");
    story.command("!rotate", "general").prompts("S1", &["m2"]);
    assert_broken(&story.rule("H-20"), Blame::Harness, story.last());
}

#[test]
fn a_reconnect_between_discard_and_message_proves_nothing() {
    let mut story = conversation();
    story.command("!rotate", "general").connects().mention("m2", "general").prompts("S1", &["m2"]);
    assert_held(&story.rule("H-20"));
}

#[test]
fn a_command_of_somebody_else_or_with_more_words_discards_nothing() {
    for text in ["!rotate now", "please !rotate", "rotate"] {
        let mut story = conversation();
        story.command(text, "general").mention("m2", "general").turn("S1", &["m2"]);
        assert_eq!(story.rule("H-20").verdict, Verdict::NotApplicable, "{text}");
    }
    let mut story = conversation();
    let said = crate::story::Said {
        channel: "general",
        text: "!rotate",
        by_stranger: true,
        ..Default::default()
    };
    story.says("x", said).delivers("x").mention("m2", "general").turn("S1", &["m2"]);
    assert_eq!(story.rule("H-20").verdict, Verdict::NotApplicable);
}

#[test]
fn a_discard_leaves_other_conversations_alone() {
    let mut story = conversation();
    story.mention("m2", "random").opens("S2", "random").turn("S2", &["m2"]);
    story.command("!rotate", "general").mention("m3", "random").turn("S2", &["m3"]);
    assert_held(&story.rule("H-20"));
}

#[test]
fn a_cancel_in_mid_turn_drops_the_session_where_that_is_the_policy() {
    let cancelled = |policy: Cancel| {
        let mut story = Story::new();
        story.asked.harnesses[0].settings.policies.cancel = policy;
        story.starts("h").mention("m1", "general").opens("S1", "general").prompts("S1", &["m1"]);
        story.command("!cancel", "general").cancels("S1").stops("cancelled");
        story.mention("m2", "general").prompts("S1", &["m2"]);
        story.rule("H-20").verdict
    };
    assert_eq!(cancelled(Cancel::Discard), Verdict::Violated);
    assert_eq!(cancelled(Cancel::Keep), Verdict::NotApplicable);
}

#[test]
fn a_cancel_whose_turn_ended_well_discards_nothing() {
    let mut story = conversation();
    story.mention("m2", "general").prompts("S1", &["m2"]).command("!cancel", "general");
    story.stops("end_turn").mention("m3", "general").prompts("S1", &["m3"]).cancels("S1");
    story.stops("cancelled").mention("m4", "general").turn("S1", &["m4"]);
    assert_eq!(story.rule("H-20").verdict, Verdict::NotApplicable);
}

#[test]
fn a_control_frame_that_nobody_signed_switches_no_model() {
    let mut story = conversation();
    story.switch_model_signed("general", skep_trace::Sig::Forged);
    story.mention("m2", "general").turn("S1", &["m2"]);
    assert_eq!(story.rule("H-20").verdict, Verdict::NotApplicable);
}

#[test]
fn only_the_owner_s_own_frame_of_the_right_type_switches_a_model() {
    let switched = |author: Hex32, frame: &str| {
        let mut story = conversation();
        let channel = crate::story::channel_id("general");
        let content = format!("{{\"type\":\"{frame}\",\"channelId\":\"{channel}\"}}");
        let tags = vec![vec!["p".into(), crate::story::key_of("h").to_string().into()]];
        let event = skep_trace::NostrEvent::new(author, 0, 24200, tags, content.into());
        let sub = "control".into();
        story.hears_relay(skep_trace::RelayMsg::Event { sub, event: event.into() });
        story.mention("m2", "general").turn("S1", &["m2"]);
        story.rule("H-20").verdict
    };
    assert_eq!(switched(crate::story::OWNER, "switch_model"), Verdict::Violated);
    assert_eq!(switched(crate::story::OWNER, "pause"), Verdict::NotApplicable);
    assert_eq!(switched(crate::story::STRANGER, "switch_model"), Verdict::NotApplicable);
}

#[test]
fn an_idle_cancel_discards_nothing() {
    let mut story = conversation();
    story.command("!cancel", "general").mention("m2", "general").prompts("S1", &["m2"]);
    story.cancels("S1").stops("cancelled").mention("m3", "general").turn("S1", &["m3"]);
    assert_eq!(story.rule("H-20").verdict, Verdict::NotApplicable);
}

#[test]
fn a_definitive_refusal_discards_by_the_policy_and_by_its_instant() {
    let refused_under = |indeterminate, class: ErrorClass, code: i64, after_ms: u64| {
        let mut story = conversation();
        story.asked.harnesses[0].settings.policies.error_class = class;
        story.asked.harnesses[0].settings.policies.indeterminate = indeterminate;
        story.killed().starts("h").mention("m2", "general").wants_load("S1").later(after_ms);
        story.refuses(code).opens("S2", "general").turn("S2", &["m2"]).settles();
        story.killed().starts("h").mention("m3", "general").wants_load("S1");
        story.rule("H-21").verdict
    };
    let refused = |class, code, ms| refused_under(Indeterminate::Retain, class, code, ms);
    let forked = refused_under(Indeterminate::Fork, ErrorClass::None, -32002, 10);
    assert_eq!(forked, Verdict::Violated);
    assert_eq!(refused(ErrorClass::Answered, -32603, 10), Verdict::Violated);
    assert_eq!(refused(ErrorClass::Answered, -32603, 60_001), Verdict::NotApplicable);
    assert_eq!(refused(ErrorClass::NotFound, -32002, 10), Verdict::Violated);
    assert_eq!(refused(ErrorClass::NotFound, -32603, 10), Verdict::NotApplicable);
    assert_eq!(refused(ErrorClass::None, -32002, 10), Verdict::NotApplicable);
}

#[test]
fn an_id_that_the_agent_hands_out_again_is_a_new_session() {
    let mut story = conversation();
    story.command("!rotate", "general").mention("m2", "general").opens("S1", "general");
    story.turn("S1", &["m2"]).settles();
    assert_held(&story.rule("H-20"));
}

#[test]
fn a_sibling_that_already_ran_is_bound_under_a_lease_alone() {
    let sibling = |policy: Overlap| {
        let mut story = Story::new();
        story.harness("new", "h", "h");
        story.asked.harnesses[1].settings.policies.overlap = policy;
        story.step([]).starts("h").mention("m1", "general").opens("S1", "general");
        story.turn("S1", &["m1"]).starts("new").by("h", 1, 1, 1);
        story.command("!rotate", "general").settles();
        story.by("new", 1, 2, 2).mention("m2", "general").loads("S1").prompts("S1", &["m2"]);
        story.rule("H-21").verdict
    };
    assert_eq!(sibling(Overlap::Lease), Verdict::Violated);
    assert_eq!(sibling(Overlap::Merge), Verdict::Held);
}

#[test]
fn another_state_directory_is_not_bound() {
    let mut story = Story::new();
    story.harness("far", "elsewhere", "h");
    story.step([]).starts("h").mention("m1", "general").opens("S1", "general");
    story.turn("S1", &["m1"]).command("!rotate", "general").settles();
    story.starts("far").mention("m2", "general").loads("S1");
    assert_held(&story.rule("H-21"));
}

#[test]
fn a_model_switch_that_names_only_a_channel_binds_no_thread() {
    let mut story = Story::new();
    story.asked.harnesses[0].settings.policies.session_scope = SessionScope::Thread;
    story.starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story.switch_model("general");
    let root = story.id("m1").to_string();
    story.reply("m2", "general", &root).turn("S1", &["m2"]);
    assert_eq!(story.rule("H-20").verdict, Verdict::NotApplicable);
}

#[test]
fn leaving_a_channel_drops_every_thread_under_it() {
    let mut story = Story::new();
    story.asked.harnesses[0].settings.policies.session_scope = SessionScope::Thread;
    story.starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story.removed_from("general");
    let root = story.id("m1").to_string();
    story.reply("m2", "general", &root).prompts("S1", &["m2"]);
    assert_broken(&story.rule("H-20"), Blame::Harness, story.last());
}

#[test]
fn a_closed_subscription_means_leaving_when_it_says_so() {
    let closed = |message: &str| {
        let mut story = conversation();
        let sub = format!("ch-{}", crate::story::channel_id("general")).into();
        story.hears_relay(skep_trace::RelayMsg::Closed { sub, message: message.into() });
        story.mention("m2", "general").turn("S1", &["m2"]);
        story.rule("H-20").verdict
    };
    assert_eq!(closed("restricted: channel access revoked"), Verdict::Violated);
    assert_eq!(closed("error: try again"), Verdict::NotApplicable);
}
