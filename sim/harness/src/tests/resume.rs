//! H-1 to H-14: sessions that outlive the process.

use serde_json::json;
use skep_trace::policy::{ErrorClass, Indeterminate};

use super::world::{Act, World, short, stop};

fn policy(world: &mut World, indeterminate: &str, class: &str) {
    let policies = &mut world.config.settings.policies;
    policies.indeterminate = Indeterminate::parse(indeterminate).unwrap();
    policies.error_class = ErrorClass::parse(class).unwrap();
}

#[test]
fn the_first_mention_opens_a_session_stores_it_and_prompts_it() {
    let mut world = World::new();
    assert!(world.harness.ready());
    world.mention("general");
    assert_eq!(short(&world.calls()), ["session/new", "session/prompt s1"]);
    assert_eq!(world.receipt("general"), Some("s1"));
}

#[test]
fn after_a_restart_the_session_is_loaded_not_replaced() {
    let mut world = World::new();
    world.mention("general");
    world.calls();
    world.restart();
    world.mention("general");
    world.pass(300);
    assert_eq!(short(&world.calls()), ["session/load s1", "session/prompt s1"]);
    world.mention("general");
    assert_eq!(short(&world.calls()), ["session/prompt s1"]);
}

#[test]
fn an_agent_that_does_not_advertise_load_gets_a_new_session_and_keeps_the_old_receipt() {
    for value in [json!(false), json!("yes"), json!({})] {
        let mut world = World::with(|world| {
            world.agent.capabilities = json!({"loadSession": value});
            world.remember("general", "old");
        });
        world.mention("general");
        assert_eq!(short(&world.calls()), ["session/new", "session/prompt s1"]);
        assert_eq!(world.receipt("general"), Some("old"));
    }
}

#[test]
fn an_agent_that_only_resumes_is_resumed() {
    let mut world = World::with(|world| {
        world.agent.capabilities = json!({"sessionCapabilities": {"resume": {}}});
        world.remember("general", "old");
    });
    world.mention("general");
    world.pass(300);
    assert_eq!(short(&world.calls()), ["session/resume old", "session/prompt old"]);
}

#[test]
fn a_load_carries_what_a_new_session_would() {
    let mut world = World::with(|world| world.config.settings.mcp = true);
    world.mention("general");
    let opened = world.calls()[0].clone();
    world.restart();
    world.mention("general");
    world.pass(300);
    let loaded = world.calls()[0].clone();
    assert_eq!(opened.strip_prefix("session/new "), loaded.strip_prefix("session/load s1 "));
    assert!(opened.contains("/w mcp1"), "{opened}");
}

#[test]
fn a_refused_load_opens_one_fresh_session_in_the_same_turn() {
    let mut world = World::with(|world| {
        world.remember("general", "old");
        world.on("session/load", Act::Error(-32603, "broken"));
    });
    world.mention("general");
    let story = world.story();
    assert!(story.contains(&"done 1".to_owned()), "{story:?}");
    assert!(!story.iter().any(|line| line.starts_with("again")), "{story:?}");
    assert_eq!(world.receipt("general"), Some("s1"));
}

#[test]
fn a_fresh_receipt_is_written_only_once_the_session_is_there() {
    let mut world = World::with(|world| {
        world.remember("general", "old");
        world.on("session/load", Act::Error(-32002, "gone"));
        world.on("session/new", Act::Hang);
    });
    world.mention("general");
    assert_eq!(world.receipt("general"), None);
}

#[test]
fn an_unanswered_load_keeps_the_receipt_and_the_message() {
    for (act, unanswered_ms) in [(Act::Hang, 60_000), (Act::Exit, 0)] {
        let mut world = World::with(|world| {
            world.remember("general", "old");
            world.on("session/load", act);
        });
        world.mention("general");
        world.pass(unanswered_ms);
        let story = world.story();
        assert!(!story.iter().any(|line| line.starts_with("session/new")), "{story:?}");
        assert!(story.contains(&"again 1".to_owned()), "{story:?}");
        assert_eq!(world.receipt("general"), Some("old"));
        world.pass(60_000);
        assert_eq!(short(&world.calls()), ["session/load old", "session/prompt old"]);
        assert!(world.harness.held().is_empty());
    }
}

#[test]
fn after_three_unanswered_loads_in_a_row_the_session_is_replaced() {
    let mut world = World::with(|world| {
        world.remember("general", "old");
        for _ in 0..3 {
            world.on("session/load", Act::Hang);
        }
    });
    world.mention("general");
    world.pass(600_000);
    let calls = short(&world.calls());
    let loads = calls.iter().filter(|call| call.starts_with("session/load")).count();
    assert_eq!(loads, 3);
    assert_eq!(calls[3..], ["session/new", "session/prompt s1"]);
    assert_eq!(world.receipt("general"), Some("s1"));
}

#[test]
fn a_success_starts_the_count_of_unanswered_loads_anew() {
    let mut world = World::with(|world| {
        world.remember("general", "old");
        world.on("session/load", Act::Exit);
        world.on("session/load", Act::Exit);
    });
    world.mention("general");
    world.pass(100_000);
    world.on("session/load", Act::Exit);
    world.agent_dies();
    world.mention("general");
    world.pass(100_000);
    assert!(!short(&world.calls()).contains(&"session/new".to_owned()));
}

#[test]
fn retain_never_gives_a_session_up() {
    let mut world = World::with(|world| {
        policy(world, "retain", "not-found");
        world.remember("general", "old");
        for _ in 0..20 {
            world.on("session/load", Act::Hang);
        }
    });
    world.mention("general");
    world.pass(8 * 3_600_000);
    let calls = short(&world.calls());
    assert_eq!(calls.len(), 22);
    assert_eq!(calls[20..], ["session/load old", "session/prompt old"]);
}

#[test]
fn fork_opens_a_fresh_session_after_any_failure() {
    let mut world = World::with(|world| {
        policy(world, "fork", "answered");
        world.remember("general", "old");
        world.on("session/load", Act::Hang);
    });
    world.mention("general");
    world.pass(70_000);
    let calls = short(&world.calls());
    assert_eq!(calls, ["session/load old", "session/new", "session/prompt s1"]);
}

#[test]
fn under_not_found_an_expired_login_says_nothing_about_the_session() {
    let mut world = World::with(|world| {
        policy(world, "retain", "not-found");
        world.remember("general", "old");
        world.on("session/load", Act::Error(-32000, "session not found: please log in"));
    });
    world.mention("general");
    assert_eq!(short(&world.calls()), ["session/load old"]);
    world.pass(6_000);
    assert_eq!(short(&world.calls()), ["session/load old", "session/prompt old"]);
}

#[test]
fn under_not_found_a_lost_session_is_replaced() {
    let mut world = World::with(|world| {
        policy(world, "retain", "not-found");
        world.remember("general", "old");
        world.on("session/load", Act::Error(-32603, "Session does not exist"));
    });
    world.mention("general");
    let calls = short(&world.calls());
    assert_eq!(calls, ["session/load old", "session/new", "session/prompt s1"]);
}

#[test]
fn under_none_only_the_owners_rotate_frees_the_scope() {
    let mut world = World::with(|world| {
        policy(world, "retain", "none");
        world.remember("general", "old");
        for _ in 0..3 {
            world.on("session/load", Act::Error(-32002, "gone"));
        }
    });
    world.mention("general");
    world.pass(20_000);
    assert!(short(&world.calls()).iter().all(|call| call == "session/load old"));
    world.command("general", "!rotate");
    assert_eq!(short(&world.calls()), ["session/new", "session/prompt s1"]);
}

#[test]
fn a_load_without_the_method_is_no_word_about_the_session() {
    let mut world = World::with(|world| {
        policy(world, "retain", "not-found");
        world.remember("general", "old");
        world.on("session/load", Act::Error(-32601, "Method not found"));
    });
    world.mention("general");
    let calls = short(&world.calls());
    assert_eq!(calls, ["session/load old", "session/new", "session/prompt s1"]);
    assert_eq!(world.receipt("general"), Some("old"));
}

#[test]
fn a_load_answered_after_its_deadline_changes_nothing() {
    let mut world = World::with(|world| {
        world.remember("general", "old");
        world.on("session/load", Act::Hang);
    });
    world.mention("general");
    world.pass(60_000);
    world.calls();
    // Requests count from initialize, which is 0.
    world.answer_late(1, Ok(stop("")));
    world.pass(10_000);
    assert_eq!(short(&world.calls()), ["session/load old", "session/prompt old"]);
}

#[test]
fn a_receipt_of_another_model_or_mode_is_not_even_tried() {
    for key in ["model", "permission-mode"] {
        let mut world = World::with(|world| {
            world.remember("general", "old");
            world.config.settings.set(key, "other").unwrap();
        });
        world.mention("general");
        assert_eq!(short(&world.calls())[0], "session/new");
    }
}

#[test]
fn only_what_the_agent_accepted_is_recorded() {
    let models = json!([{"modelId": "m1"}, {"modelId": "m2"}]);
    for (act, recorded) in [(None, Some("m2")), (Some(Act::Error(-32602, "no")), None)] {
        let mut world = World::with(|world| {
            world.config.settings.model = Some("m2".into());
            world.agent.offers =
                json!({"models": {"currentModelId": "m1", "availableModels": models}});
            act.into_iter().for_each(|act| world.on("session/set_model", act));
        });
        world.mention("general");
        assert_eq!(short(&world.calls())[1], "session/set_model s1");
        let (_, config) = world.receipts.values().next().unwrap();
        assert_eq!(config.model.as_deref(), recorded);
    }
}

#[test]
fn a_loaded_session_is_put_into_the_wished_mode_again() {
    let modes = json!([{"id": "ask"}, {"id": "auto"}]);
    let mut world = World::with(|world| {
        world.config.settings.mode = Some("auto".into());
        world.agent.offers = json!({"modes": {"currentModeId": "ask", "availableModes": modes}});
    });
    world.mention("general");
    world.restart();
    world.calls();
    world.mention("general");
    world.pass(300);
    let wanted = ["session/load s1", "session/set_mode s1", "session/prompt s1"];
    assert_eq!(short(&world.calls()), wanted);
}

#[test]
fn with_resume_switched_off_nothing_is_read_or_written() {
    let mut world = World::with(|world| {
        world.config.settings.resume = false;
        world.remember("general", "old");
    });
    world.mention("general");
    world.command("general", "!rotate");
    world.mention("random");
    assert_eq!(world.receipt("general"), Some("old"));
    assert_eq!(world.receipt("random"), None);
    assert!(!short(&world.calls()).iter().any(|call| call.starts_with("session/load")));
}

#[test]
fn heartbeat_sessions_are_never_stored_and_carry_no_channel() {
    let mut world = World::with(|world| world.config.settings.heartbeat_ms = 60_000);
    world.pass(60_000);
    assert_eq!(world.calls()[..2], ["session/new /w ", "session/prompt s1 "]);
    assert!(world.receipts.is_empty());
    world.pass(60_000);
    assert_eq!(short(&world.calls()), ["session/prompt s1"]);
}

#[test]
fn any_result_of_a_load_is_success_and_never_moves_the_session() {
    for result in [json!(null), json!({}), json!({"sessionId": "s9"}), json!({"modes": {}})] {
        let mut world = World::with(|world| {
            world.remember("general", "old");
            world.on("session/load", Act::Result(result));
        });
        world.mention("general");
        world.pass(300);
        assert_eq!(short(&world.calls()), ["session/load old", "session/prompt old"]);
    }
}

#[test]
fn an_agent_that_was_replaced_is_loaded_before_it_is_prompted() {
    let mut world = World::new();
    world.mention("general");
    world.calls();
    world.agent_dies();
    world.pass(2_000);
    world.mention("general");
    world.pass(300);
    assert_eq!(short(&world.calls()), ["session/load s1", "session/prompt s1"]);
}

#[test]
fn a_loads_time_counts_silence_but_not_for_ever() {
    let talk = |seconds: u64| {
        let mut world = World::with(|world| {
            world.remember("general", "old");
            world.on("session/load", Act::Hang);
        });
        world.mention("general");
        for _ in 0..seconds / 20 {
            world.pass(20_000);
            world.agent_says("old", "history");
        }
        world.story()
    };
    let failed = |story: &[String]| story.contains(&"again 1".to_owned());
    assert!(!failed(&talk(300)));
    assert!(failed(&talk(620)));
}

#[test]
fn a_session_that_the_agent_lost_is_loaded_once_and_then_replaced() {
    let mut world = World::new();
    world.mention("general");
    world.calls();
    for _ in 0..2 {
        world.on("session/prompt", Act::Error(-32603, "Session not found"));
    }
    world.mention("general");
    world.pass(300);
    let wanted = [
        "session/prompt s1",
        "session/load s1",
        "session/prompt s1",
        "session/new",
        "session/prompt s2",
    ];
    assert_eq!(short(&world.calls()), wanted);
    assert_eq!(world.receipt("general"), Some("s2"));
}

#[test]
fn a_session_that_refuses_after_an_empty_load_is_replaced_once() {
    let mut world = World::with(|world| {
        world.remember("general", "ghost");
        world.on("session/prompt", Act::Stop("refusal"));
    });
    world.mention("general");
    world.pass(300);
    let wanted = ["session/load ghost", "session/prompt ghost", "session/new", "session/prompt s1"];
    assert_eq!(short(&world.calls()), wanted);
}
