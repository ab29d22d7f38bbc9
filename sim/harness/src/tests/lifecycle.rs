//! H-20 to H-25: sessions that end, in memory and on disk at once.

use serde_json::json;
use skep_trace::policy::{Cancel, SessionScope};

use super::world::{Act, World, key, short, stop};

/// A world in which the channel has had a turn in `s1`.
fn used() -> World {
    let mut world = World::new();
    world.mention("general");
    world.story();
    world
}

/// A world in which a turn of the channel runs in `s1` and is not answered.
fn busy() -> World {
    let mut world = used();
    world.on("session/prompt", Act::Hang);
    world.mention("general");
    world.story();
    world
}

/// The next turn is fresh: in this process, and after a restart right now.
fn is_fresh(world: World) {
    is_free_of("s1", world);
}

fn is_free_of(session: &str, mut world: World) {
    assert_eq!(world.receipt("general"), None);
    world.story();
    world.restart_at_once();
    world.mention("general");
    world.pass(300);
    let calls = short(&world.calls());
    assert!(!calls.iter().any(|call| call.ends_with(session)), "{calls:?}");
    assert_eq!(calls[0], "session/new");
}

#[test]
fn an_idle_rotate_forgets_memory_and_disk_and_closes_the_session() {
    let mut world = used();
    world.command("general", "!rotate");
    assert_eq!(short(&world.calls()), ["session/close s1", "session/delete s1"]);
    is_fresh(world);
}

#[test]
fn the_session_after_a_rotate_says_that_it_is_fresh() {
    let mut world = used();
    world.command("general", "!rotate");
    world.mention("general");
    let calls = world.calls();
    assert!(calls[2].contains(r#""freshSession":true"#), "{calls:?}");
    world.agent_dies();
    world.receipts.clear();
    world.pass(2_000);
    world.mention("general");
    assert!(!world.calls()[0].contains("freshSession"));
}

#[test]
fn a_rotate_without_a_live_session_forgets_what_an_earlier_life_left() {
    let mut world = World::with(|world| world.remember("general", "old"));
    world.command("general", "!rotate");
    is_free_of("old", world);
}

#[test]
fn a_busy_rotate_cancels_forgets_at_once_and_drops_the_batch() {
    let mut world = busy();
    world.command("general", "!rotate");
    assert_eq!(world.receipt("general"), None);
    assert_eq!(short(&world.calls()), ["session/cancel s1"]);
    world.answer_late(3, Ok(stop("cancelled")));
    assert_eq!(world.story()[..3], ["session/close s1", "session/delete s1", "lost 1"]);
    assert!(world.harness.held().is_empty());
    is_fresh(world);
}

#[test]
fn a_turn_that_was_done_before_it_heard_of_the_cancel_is_done() {
    let mut world = busy();
    world.command("general", "!rotate");
    world.answer_late(3, Ok(stop("end_turn")));
    assert!(world.story().contains(&"done 1".to_owned()));
    is_fresh(world);
}

#[test]
fn a_cancel_that_nobody_answers_costs_the_agent_and_the_session() {
    let mut world = busy();
    world.config.settings.policies.cancel = Cancel::Keep;
    world.command("general", "!cancel");
    world.pass(5_000);
    world.pass(2_000);
    is_fresh(world);
}

#[test]
fn a_rotate_while_a_load_runs_keeps_the_message_and_loses_the_session() {
    let mut world = World::with(|world| {
        world.remember("general", "s1");
        world.on("session/load", Act::Hang);
    });
    world.mention("general");
    world.calls();
    world.command("general", "!rotate");
    world.answer_late(1, Ok(stop("")));
    let calls = short(&world.calls());
    assert_eq!(
        calls,
        ["session/close s1", "session/delete s1", "session/new", "session/prompt s1"]
    );
}

#[test]
fn a_rotate_while_a_load_hangs_opens_a_fresh_session_after_its_deadline() {
    let mut world = World::with(|world| {
        world.remember("general", "old");
        world.on("session/load", Act::Hang);
    });
    world.mention("general");
    world.command("general", "!rotate");
    world.pass(70_000);
    let calls = short(&world.calls());
    assert_eq!(calls, ["session/load old", "session/new", "session/prompt s1"]);
}

#[test]
fn a_rotate_while_a_session_is_opened_opens_another() {
    let mut world = World::new();
    world.on("session/new", Act::Hang);
    world.mention("general");
    world.command("general", "!rotate");
    world.answer_late(1, Ok(skep_trace::Answer::from_json(json!({"sessionId": "doomed"}))));
    let calls = short(&world.calls());
    assert!(calls.contains(&"session/close doomed".to_owned()), "{calls:?}");
    assert_eq!(calls.last().unwrap(), "session/prompt s1");
    assert_eq!(world.receipt("general"), Some("s1"));
}

#[test]
fn a_rotate_while_the_receipt_is_written_wins() {
    let mut world = World::new();
    world.store_waits = true;
    world.mention("general");
    world.one_store_answer();
    assert_eq!(short(&world.calls()), ["session/new"]);
    world.command("general", "!rotate");
    world.store_answers();
    let calls = short(&world.calls());
    let wanted = ["session/close s1", "session/delete s1", "session/new", "session/prompt s2"];
    assert_eq!(calls, wanted);
    assert_eq!(world.receipt("general"), Some("s2"));
}

#[test]
fn a_cancel_before_the_prompt_announces_the_loss() {
    let mut world = World::new();
    world.on("session/new", Act::Hang);
    world.mention("general");
    world.command("general", "!cancel");
    world.answer_late(1, Ok(skep_trace::Answer::from_json(json!({"sessionId": "x"}))));
    let story = world.story();
    assert!(story.contains(&"lost 1".to_owned()), "{story:?}");
    assert!(story.iter().any(|line| line.starts_with("kind 9 e=1")), "{story:?}");
    assert!(!story.iter().any(|line| line.starts_with("session/prompt")), "{story:?}");
}

#[test]
fn a_cancel_takes_the_session_with_it_unless_the_policy_keeps_it() {
    for (policy, kept) in [(Cancel::Discard, None), (Cancel::Keep, Some("s1"))] {
        let mut world = World::with(|world| world.config.settings.policies.cancel = policy);
        world.on("session/prompt", Act::Hang);
        world.mention("general");
        world.command("general", "!cancel");
        world.answer_late(2, Ok(stop("cancelled")));
        assert_eq!(world.receipt("general"), kept);
        world.mention("general");
        let fresh = short(&world.calls()).iter().filter(|call| *call == "session/new").count();
        assert_eq!(fresh, if kept.is_some() { 1 } else { 2 });
    }
}

#[test]
fn an_idle_cancel_changes_nothing() {
    let mut world = used();
    world.command("general", "!cancel");
    assert_eq!(world.receipt("general"), Some("s1"));
    assert!(world.story().is_empty());
}

#[test]
fn a_full_session_is_replaced_after_its_turn() {
    for reason in ["max_tokens", "max_turn_requests"] {
        let mut world = used();
        world.on("session/prompt", Act::Stop(reason));
        world.mention("general");
        let story = world.story();
        assert_eq!(story[1..], ["done 1", "session/close s1", "session/delete s1"]);
        is_fresh(world);
    }
}

#[test]
fn the_turn_limit_replaces_a_session() {
    let mut world = World::with(|world| world.config.settings.max_turns = 2);
    for _ in 0..3 {
        world.mention("general");
    }
    let calls = short(&world.calls());
    let wanted = [
        "session/new",
        "session/prompt s1",
        "session/prompt s1",
        "session/close s1",
        "session/delete s1",
        "session/new",
        "session/prompt s2",
    ];
    assert_eq!(calls, wanted);
}

#[test]
fn a_model_switch_makes_the_next_session_one_of_the_new_model() {
    let models = json!([{"modelId": "m1"}, {"modelId": "m2"}]);
    let mut world = World::with(|world| {
        world.config.settings.observer = true;
        world.agent.offers = json!({"models": {"currentModelId": "m1", "availableModels": models}});
    });
    world.mention("general");
    world.story();
    world.switch_model("general", "m2");
    assert_eq!(world.receipt("general"), None);
    world.mention("general");
    let calls = short(&world.calls());
    assert_eq!(calls[2..], ["session/new", "session/set_model s2", "session/prompt s2"]);
    is_fresh(world_without_receipts(world));
}

fn world_without_receipts(mut world: World) -> World {
    world.receipts.clear();
    world
}

#[test]
fn a_model_switch_in_mid_turn_lets_the_turn_end_and_keeps_nothing_of_its_session() {
    let mut world = World::with(|world| world.config.settings.observer = true);
    world.on("session/prompt", Act::Hang);
    world.mention("general");
    world.switch_model("general", "m2");
    assert_eq!(world.receipt("general"), None);
    world.story();
    world.answer_late(2, Ok(stop("end_turn")));
    let story = world.story();
    assert!(story.contains(&"done 1".to_owned()) && story.contains(&"session/close s1".to_owned()));
    is_fresh(world);
}

#[test]
fn only_the_owner_switches_models() {
    let mut world = World::with(|world| world.config.settings.observer = true);
    world.mention("general");
    world.config.owner = None;
    world.restart();
    world.switch_model("general", "m2");
    assert_eq!(world.receipt("general"), Some("s1"));
}

#[test]
fn leaving_a_channel_forgets_its_session_and_what_waits_in_it() {
    let mut world = busy();
    world.mention("general");
    world.leave("general");
    assert_eq!(world.receipt("general"), None);
    world.answer_late(3, Ok(stop("cancelled")));
    assert!(world.harness.held().is_empty());
    let story = world.story();
    assert_eq!(story.iter().filter(|line| *line == "lost 1").count(), 2, "{story:?}");
}

#[test]
fn leaving_a_channel_forgets_threads_that_only_an_earlier_life_knew() {
    let mut world = World::with(|world| {
        world.config.settings.policies.session_scope = SessionScope::Thread;
    });
    world.mention("general");
    world.mention("random");
    world.restart();
    world.leave("general");
    let left: Vec<&str> = world.receipts.keys().map(|key| &*key.channel).collect();
    assert_eq!(left, ["random"]);
}

#[test]
fn an_agents_death_forgets_nothing_on_disk() {
    let mut world = busy();
    world.agent_dies();
    assert_eq!(world.receipt("general"), Some("s1"));
    world.pass(10_000);
    let calls = short(&world.calls());
    assert_eq!(calls, ["session/load s1", "session/prompt s1"]);
}

#[test]
fn discarding_one_scope_leaves_the_others() {
    let mut world = used();
    world.mention("random");
    world.command("general", "!rotate");
    assert_eq!(world.receipt("general"), None);
    assert_eq!(world.receipt("random"), Some("s2"));
}

#[test]
fn an_agent_without_close_is_not_asked_for_it() {
    let mut world = World::with(|world| world.agent.capabilities = json!({"loadSession": true}));
    world.mention("general");
    world.story();
    world.command("general", "!rotate");
    assert!(world.story().is_empty());
}

#[test]
fn retained_sessions_are_bounded_and_an_evicted_one_is_loaded_again() {
    let mut world = World::with(|world| {
        world.config.settings.policies.session_scope = SessionScope::Thread;
    });
    for _ in 0..9 {
        world.mention("general");
        world.pass(1);
    }
    let calls = short(&world.calls());
    assert_eq!(calls.iter().filter(|call| *call == "session/close s1").count(), 1, "{calls:?}");
    assert!(!calls.iter().any(|call| call.starts_with("session/delete")));
    assert_eq!(world.receipts.len(), 9);
}

#[test]
fn a_discard_that_the_disk_refuses_is_told_to_the_owner_and_tried_until_it_is_durable() {
    let mut world = used();
    world.store_refuses = 2;
    world.command("general", "!rotate");
    let story = world.story();
    assert!(story.iter().any(|line| line.starts_with("kind 9 e=0 Trouble")), "{story:?}");
    assert_eq!(world.receipt("general"), Some("s1"));
    assert!(!world.is_settled());
    world.pass(20_000);
    assert_eq!(world.receipt("general"), None);
    assert!(world.is_settled());
    assert!(!world.story().iter().any(|line| line.starts_with("kind 9")));
}

#[test]
fn what_could_not_be_forgotten_on_disk_is_not_used_in_this_process() {
    let mut world = World::with(|world| world.remember("general", "old"));
    world.store_refuses = 1;
    world.command("general", "!rotate");
    world.mention("general");
    assert_eq!(short(&world.calls())[0], "session/new");
    // The new receipt took the place of the old one: nothing is owed any more.
    world.pass(600_000);
    assert_eq!(world.receipt("general"), Some("s1"));
}

#[test]
fn a_discard_stays_owed_where_the_new_receipt_could_not_be_written_either() {
    let mut world = World::with(|world| world.remember("general", "old"));
    world.store_refuses = 3;
    world.command("general", "!rotate");
    world.mention("general");
    assert_eq!(world.receipt("general"), Some("old"));
    world.pass(600_000);
    assert_eq!(world.receipt("general"), None);
}

#[test]
fn a_store_that_fails_costs_no_turn() {
    let mut world = World::with(|world| world.remember("general", "old"));
    world.store_refuses = 2;
    world.mention("general");
    let story = world.story();
    assert_eq!(story.iter().filter(|line| *line == "store trouble").count(), 2, "{story:?}");
    assert!(story.contains(&"done 1".to_owned()), "{story:?}");
}

#[test]
fn a_session_that_is_used_up_leaves_another_processs_newer_receipt_alone() {
    let mut world = used();
    world.receipts.insert(key("general", None), ("theirs".into(), Default::default()));
    world.on("session/prompt", Act::Stop("max_tokens"));
    world.mention("general");
    assert_eq!(world.receipt("general"), Some("theirs"));
}

#[test]
fn a_refused_load_goes_on_in_the_session_that_another_process_stored_meanwhile() {
    let mut world = World::with(|world| {
        world.remember("general", "old");
        world.give("theirs");
        world.on("session/load", Act::Hang);
    });
    world.mention("general");
    world.receipts.insert(key("general", None), ("theirs".into(), Default::default()));
    world.calls();
    world.answer_late(1, Err(skep_trace::RpcError::new(-32002, "gone")));
    world.pass(300);
    assert_eq!(short(&world.calls()), ["session/load theirs", "session/prompt theirs"]);
    assert_eq!(world.receipt("general"), Some("theirs"));
}
