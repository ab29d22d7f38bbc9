//! H-80 to H-83: every message, once, or its loss is announced.

use skep_trace::{Hex32, RelayMsg};

use super::world::{Act, OWNER, STRANGER, World, short, stop};

fn prompts(world: &mut World) -> Vec<String> {
    let mut calls = world.calls();
    calls.retain(|call| call.starts_with("session/prompt"));
    calls
}

#[test]
fn messages_that_come_during_a_turn_wait_and_go_together() {
    let mut world = World::new();
    world.on("session/prompt", Act::Hang);
    world.mention("general");
    world.mention("general");
    world.mention("general");
    assert_eq!(prompts(&mut world), ["session/prompt s1 m1"]);
    assert_eq!(world.harness.held().len(), 3);
    world.answer_late(2, Ok(stop("end_turn")));
    assert_eq!(prompts(&mut world), ["session/prompt s1 m2+m3"]);
    assert!(world.harness.held().is_empty());
}

#[test]
fn a_message_that_is_delivered_twice_is_prompted_once() {
    let mut world = World::new();
    let event = world.compose("general", OWNER, &[], None);
    world.publish(&event);
    world.publish(&event);
    assert_eq!(prompts(&mut world).len(), 1);
}

#[test]
fn a_failed_prompt_is_tried_again_on_the_same_session() {
    let mut world = World::new();
    world.on("session/prompt", Act::Error(-32603, "overloaded"));
    world.mention("general");
    assert_eq!(world.story().last().unwrap(), "again 1");
    world.pass(5_000);
    assert_eq!(prompts(&mut world), ["session/prompt s1 m1"]);
}

#[test]
fn a_message_that_fails_eleven_times_is_given_up_aloud() {
    let mut world = World::new();
    for _ in 0..11 {
        world.on("session/prompt", Act::Error(-32603, "overloaded"));
    }
    world.mention("general");
    world.pass(3_600_000);
    let story = world.story();
    assert_eq!(story.iter().filter(|line| *line == "again 1").count(), 10);
    assert!(story.contains(&"lost 1".to_owned()));
    assert!(story.last().unwrap().starts_with("kind 9 e=1"), "{story:?}");
    assert!(world.harness.held().is_empty() && world.is_settled());
}

#[test]
fn a_login_that_a_person_must_renew_is_not_tried_again() {
    let mut world = World::new();
    world.on("session/prompt", Act::Error(-32603, "API Error: 401"));
    world.mention("general");
    assert!(world.story().contains(&"lost 1".to_owned()));
    assert!(world.is_settled());
}

#[test]
fn an_agents_death_costs_no_message() {
    for method in ["session/new", "session/prompt"] {
        let mut world = World::new();
        world.on(method, Act::Exit);
        world.mention("general");
        world.pass(10_000);
        let last = prompts(&mut world).pop();
        assert_eq!(last.as_deref(), Some("session/prompt s1 m1"), "{method}");
        assert!(world.harness.held().is_empty());
    }
}

#[test]
fn a_silent_prompt_is_cancelled_then_its_agent_is_replaced() {
    let mut world = World::new();
    world.on("session/prompt", Act::Hang);
    world.mention("general");
    world.pass(899_999);
    assert_eq!(short(&world.calls()).len(), 2);
    world.pass(1);
    assert_eq!(short(&world.calls()), ["session/cancel s1"]);
    world.pass(60_000);
    assert_eq!(short(&world.calls()), ["session/load s1", "session/prompt s1"]);
}

#[test]
fn output_keeps_a_prompt_alive() {
    let mut world = World::new();
    world.on("session/prompt", Act::Hang);
    world.mention("general");
    world.calls();
    for _ in 0..3 {
        world.pass(800_000);
        world.agent_says("s1", "working");
    }
    assert!(world.calls().is_empty());
}

#[test]
fn an_unknown_stop_reason_costs_the_agent_not_the_message() {
    let mut world = World::new();
    world.on("session/prompt", Act::Stop("bored"));
    world.mention("general");
    world.pass(10_000);
    let calls = short(&world.calls());
    assert_eq!(calls[2..], ["session/load s1", "session/prompt s1"]);
}

#[test]
fn after_a_reconnect_the_gap_is_fetched_and_nothing_is_doubled() {
    let mut world = World::new();
    world.mention("general");
    world.pass(3_000);
    world.happens(crate::event::HarnessEvent::ConnectFailed("blip".into()));
    world.mention("general");
    assert_eq!(prompts(&mut world), ["session/prompt s1 m1", "session/prompt s1 m2"]);
    // A connection that breaks again soon is tried a second later: what is said meanwhile waits
    // at the relay.
    world.disconnect();
    world.mention("general");
    assert!(prompts(&mut world).is_empty());
    world.pass(1_000);
    assert_eq!(prompts(&mut world), ["session/prompt s1 m3"]);
}

#[test]
fn a_channel_that_is_joined_is_heard_from_then_on() {
    let mut world = World::new();
    world.channels.push(("later", "stream"));
    world.join("later");
    world.say("later", STRANGER, &[], None);
    assert_eq!(prompts(&mut world), ["session/prompt s1 m1"]);
}

#[test]
fn what_is_said_before_a_joined_channel_is_known_is_fetched() {
    let mut world = World::new();
    world.channels.push(("later", "stream"));
    let early = world.compose("later", STRANGER, &[], None);
    world.join_saying("later", &early);
    assert_eq!(prompts(&mut world), ["session/prompt s1 m1"]);
}

#[test]
fn a_closed_subscription_is_opened_again_with_patience() {
    let mut world = World::new();
    let closed = || RelayMsg::Closed { sub: "ch-general".into(), message: "error: bad day".into() };
    world.relay_says(closed());
    world.mention("general");
    world.relay_says(closed());
    world.relay_says(closed());
    assert!(!world.is_settled());
    world.pass(1_000);
    assert!(world.is_settled());
    assert_eq!(prompts(&mut world).len(), 1);
}

#[test]
fn a_revoked_channel_is_dropped_like_one_that_was_left() {
    let mut world = World::new();
    world.mention("general");
    let message = "restricted: channel access revoked".into();
    world.relay_says(RelayMsg::Closed { sub: "ch-general".into(), message });
    assert_eq!(world.receipt("general"), None);
}

#[test]
fn a_refused_agent_ends_with_one() {
    let mut world = World::new();
    assert_eq!(world.exit, None);
    for _ in 0..3 {
        world.on("initialize", Act::Exit);
    }
    world.restart();
    world.pass(10_000);
    assert_eq!(world.exit, Some(1));
}

#[test]
fn a_wish_that_it_cannot_fulfil_ends_it_with_one() {
    let world = World::with(|world| world.config.settings.set("in-flight", "steer").unwrap());
    assert_eq!(world.exit, Some(1));
}

#[test]
fn shutdown_and_terminate_end_it_with_zero() {
    let mut world = World::new();
    world.command("general", "!shutdown");
    assert_eq!(world.exit, Some(0));
    let mut world = World::new();
    world.happens(crate::event::HarnessEvent::Terminate);
    assert_eq!(world.exit, Some(0));
}

#[test]
fn a_command_of_an_earlier_life_is_not_obeyed_again() {
    for pause_ms in [1_000, 0] {
        let mut world = World::new();
        world.mention("general");
        world.pass(pause_ms);
        world.command("general", "!rotate");
        world.pass(pause_ms);
        world.mention("general");
        world.pass(pause_ms);
        world.restart_at_once();
        assert_eq!(world.receipt("general"), Some("s2"));
    }
}

#[test]
fn a_strangers_command_is_a_message() {
    let mut world = World::new();
    world.say("general", STRANGER, &[], Some("!rotate"));
    assert_eq!(prompts(&mut world), ["session/prompt s1 !rotate"]);
}

#[test]
fn a_storm_of_deaths_opens_the_circuit() {
    let mut world = World::new();
    for _ in 0..200 {
        world.on("session/prompt", Act::Exit);
    }
    world.mention("general");
    world.pass(600_000);
    let attempts = prompts(&mut world).len();
    assert!((3..12).contains(&attempts), "{attempts}");
}

#[test]
fn messages_from_the_agent_itself_are_not_for_it() {
    let mut world = World::new();
    world.say("general", super::world::AGENT, &[], None);
    assert!(prompts(&mut world).is_empty());
    let id: Hex32 = world.mention("general");
    assert!(world.harness.held().is_empty(), "{id}");
}
