//! H-50 to H-54, as they show on the wire.

use skep_trace::Hex32;
use skep_trace::policy::SessionScope;

use super::world::{Act, STRANGER, World, key, short, stop};

const ROOT: Hex32 = Hex32([0xab; 32]);

fn threaded() -> World {
    World::with(|world| world.config.settings.policies.session_scope = SessionScope::Thread)
}

#[test]
fn the_channel_policy_has_one_session_whatever_the_threads() {
    let mut world = World::new();
    world.mention("general");
    world.reply("general", &[&["e", &ROOT.to_string(), "", "reply"]]);
    assert_eq!(short(&world.calls()), ["session/new", "session/prompt s1", "session/prompt s1"]);
}

#[test]
fn a_reply_to_a_top_level_mention_lands_in_the_thread_that_it_rooted() {
    let mut world = threaded();
    let top = world.mention("general");
    world.mention("general");
    world.reply("general", &[&["e", &top.to_upper(), "", "reply"]]);
    let wanted = ["session/new", "session/prompt s1", "session/new", "session/prompt s2"];
    let calls = short(&world.calls());
    assert_eq!(calls[..4], wanted);
    assert_eq!(calls[4..], ["session/prompt s1"]);
}

#[test]
fn every_spelling_of_a_root_is_one_session_also_after_a_restart() {
    let mut world = threaded();
    world.reply("general", &[&["e", &ROOT.to_string(), "", "reply"]]);
    world.reply("general", &[&["e", &ROOT.to_upper(), "", "reply"]]);
    world.restart();
    world.reply("general", &[&["e", &ROOT.to_upper(), "", "root"]]);
    world.pass(300);
    let calls = short(&world.calls());
    let wanted = ["session/new", "session/prompt s1", "session/prompt s1"];
    assert_eq!(calls[..3], wanted);
    assert_eq!(calls[3..], ["session/load s1", "session/prompt s1"]);
    assert_eq!(world.receipts.keys().collect::<Vec<_>>(), [&key("general", Some(ROOT))]);
}

#[test]
fn a_dm_is_one_conversation_and_the_owners_alone() {
    let mut world = threaded();
    world.mention("direct");
    world.reply("direct", &[&["e", &ROOT.to_string(), "", "reply"]]);
    world.say("direct", STRANGER, &[], None);
    assert_eq!(short(&world.calls()), ["session/new", "session/prompt s1", "session/prompt s1"]);
}

#[test]
fn commands_reach_exactly_the_scope_that_they_were_sent_in() {
    let mut world = threaded();
    let one = world.mention("general");
    let two = world.mention("general");
    let within = [["e", &one.to_string(), "", "reply"].map(str::to_owned)];
    let tags: Vec<&str> = within[0].iter().map(String::as_str).collect();
    world.say("general", super::world::OWNER, &[&tags], Some("!rotate"));
    assert!(!world.receipts.contains_key(&key("general", Some(one))));
    assert!(world.receipts.contains_key(&key("general", Some(two))));
}

#[test]
fn a_busy_scope_delays_others_but_never_starves_them() {
    let mut world = threaded();
    world.on("session/prompt", Act::Hang);
    world.mention("general");
    world.mention("general");
    world.mention("random");
    assert_eq!(world.calls().len(), 2);
    world.answer_late(2, Ok(stop("end_turn")));
    let calls = short(&world.calls());
    assert_eq!(calls, ["session/new", "session/prompt s2", "session/new", "session/prompt s3"]);
}
