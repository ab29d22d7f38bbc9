//! H-40 to H-43, and H-4: history is not output.

use serde_json::json;
use skep_mutant::Mutant;

use super::world::{Act, World};

/// A world whose observer is on and which remembers a session of the channel.
fn observed(mutant: Option<Mutant>) -> World {
    World::mutated(mutant, |world| {
        world.config.settings.observer = true;
        world.remember("general", "old");
    })
}

/// Everything that the owner could watch, as one text.
fn watched(world: &mut World) -> String {
    world.pass(20_000);
    let mut story = world.story();
    story.retain(|line| line.starts_with("observed"));
    story.join("\n")
}

#[test]
fn history_that_is_replayed_in_a_load_is_not_observed() {
    let mut world = observed(None);
    world.on("session/load", Act::Say(vec!["history"]));
    world.on("session/prompt", Act::Say(vec!["answer"]));
    world.mention("general");
    let watched = watched(&mut world);
    assert!(watched.contains("answer") && !watched.contains("history"), "{watched}");
}

#[test]
fn history_that_trickles_in_after_a_load_is_waited_for() {
    let mut world = observed(None);
    world.on("session/load", Act::SayLater(200, vec!["history", "more history"]));
    world.mention("general");
    world.pass(600);
    assert!(!world.calls().iter().any(|call| call.starts_with("session/prompt")));
    world.pass(50);
    assert_eq!(world.calls().len(), 1);
    assert!(!watched(&mut world).contains("history"));
}

#[test]
fn an_agent_that_never_goes_quiet_is_prompted_all_the_same() {
    let mut world = observed(None);
    world.on("session/load", Act::SayLater(200, vec!["chatter"; 100]));
    world.mention("general");
    world.pass(9_900);
    assert!(!world.calls().iter().any(|call| call.starts_with("session/prompt")));
    world.pass(200);
    assert!(world.calls().iter().any(|call| call.starts_with("session/prompt")));
}

#[test]
fn live_output_that_repeats_history_is_let_through() {
    let mut world = observed(None);
    world.on("session/load", Act::Say(vec!["ok"]));
    world.on("session/prompt", Act::Say(vec!["ok"]));
    world.mention("general");
    assert!(watched(&mut world).contains(r#""output":"ok""#));
}

#[test]
fn the_window_closes_when_the_load_fails() {
    let mut world = observed(None);
    world.on("session/load", Act::Error(-32002, "gone"));
    world.on("session/prompt", Act::Say(vec!["answer"]));
    world.mention("general");
    assert!(watched(&mut world).contains("answer"));
}

#[test]
fn what_an_agent_asks_during_a_load_is_answered() {
    let mut world = observed(None);
    world.on("session/load", Act::AskFirst);
    world.mention("general");
    world.pass(300);
    let story = world.story();
    assert_eq!(story.iter().filter(|line| *line == "permitted").count(), 1, "{story:?}");
    assert!(story.contains(&"done 1".to_owned()), "{story:?}");
}

#[test]
fn updates_of_other_sessions_are_nobodys_output() {
    let mut world = observed(None);
    world.mention("general");
    world.pass(5_000);
    world.on("session/prompt", Act::Hang);
    world.mention("general");
    world.story();
    world.agent_says("elsewhere", "stray");
    assert!(!watched(&mut world).contains("stray"));
}

#[test]
fn what_a_restored_session_used_before_is_not_counted() {
    let mut world = observed(None);
    world.on("session/prompt", Act::Say(vec!["used 5000"]));
    world.mention("general");
    assert!(watched(&mut world).contains(r#""tokens":0"#));
    world.on("session/prompt", Act::Say(vec!["used 5040"]));
    world.mention("general");
    assert!(watched(&mut world).contains(r#""tokens":40"#));
}

#[test]
fn what_a_new_session_uses_is_counted_from_the_start() {
    let mut world = observed(None);
    world.on("session/prompt", Act::Say(vec!["used 120"]));
    world.mention("random");
    assert!(watched(&mut world).contains(r#""tokens":120"#));
}

#[test]
fn observer_events_come_at_most_once_a_second_and_lose_nothing() {
    let mut world = observed(None);
    world.on("session/prompt", Act::Say(vec!["a1", "a2", "a3"]));
    world.mention("general");
    world.pass(300);
    let at_once = world.story().iter().filter(|line| line.starts_with("observed")).count();
    assert_eq!(at_once, 1);
    let rest = watched(&mut world);
    assert_eq!(rest.lines().count(), 1);
    assert!(["a1", "a2", "a3", "turn_ended"].iter().all(|part| rest.contains(part)), "{rest}");
}

#[test]
fn the_observer_is_off_unless_it_is_asked_for() {
    let mut world = World::new();
    world.mention("general");
    assert!(watched(&mut world).is_empty());
    assert_eq!(world.config.settings.observer, json!(false));
}
