//! Every fault of the harness shows in some story, and the reference tells each story the same
//! way twice: a fault that no story shows would be a decision that nothing asks for.

use serde_json::json;
use skep_mutant::Mutant;
use skep_store::Config;
use skep_trace::policy::{ErrorClass, Indeterminate, SessionScope};
use skep_trace::{Hex32, RpcError};

use super::world::{Act, World, key, stop};

type Change = fn(&mut World);
type Story = (Change, Change);

/// A short life: how the world is prepared, and what happens in it.
const STORIES: &[Story] = &[
    (nothing, restarted),
    (mcp, restarted),
    (remembering, refused_load),
    (remembering, refused_load_and_new),
    (remembering, unanswered_load),
    (remembering, dying_load),
    (remembering, three_unanswered_loads),
    (remembering, failing_now_and_then),
    (remembering, talking_load),
    (remembering, endless_load),
    (remembering, null_load),
    (remembering, moved_load),
    (remembering, late_history),
    (remembering, load_that_asks),
    (remembering, echo),
    (remembering, stolen_receipt),
    (remembering, late_answer),
    (old_model, mention),
    (old_mode, mention),
    (unloadable, mention),
    (not_resuming, mention),
    (wishing, mention),
    (heart, |world| world.pass(60_000)),
    (nothing, idle_rotate),
    (nothing, busy_rotate),
    (nothing, busy_rotate_then_restart),
    (limited, mentions),
    (nothing, |world| ends("max_tokens", world)),
    (nothing, |world| ends("max_turn_requests", world)),
    (nothing, cancel),
    (nothing, model_switch),
    (nothing, busy_model_switch),
    (nothing, removal),
    (nothing, death),
    (threads, thread_mentions),
    (nothing, thread_mentions),
    (nothing, reply_in_dm),
    (threads, reply_in_dm),
    (nothing, mention_while_busy),
    (nothing, failing_prompt),
    (nothing, delivered_twice),
    (nothing, reconnect),
    (nothing, failing_store),
    (private_mcp, mention),
];

fn nothing(_: &mut World) {}

fn mcp(world: &mut World) {
    world.config.settings.mcp = true;
}

fn private_mcp(world: &mut World) {
    mcp(world);
    world.channels[0].1 = "private";
}

fn remembering(world: &mut World) {
    world.remember("general", "old");
}

fn old_model(world: &mut World) {
    remembering(world);
    world.config.settings.model = Some("m2".into());
}

fn old_mode(world: &mut World) {
    remembering(world);
    world.config.settings.mode = Some("auto".into());
}

fn unloadable(world: &mut World) {
    remembering(world);
    world.agent.capabilities = json!({"loadSession": false});
}

fn not_resuming(world: &mut World) {
    remembering(world);
    world.config.settings.resume = false;
}

fn wishing(world: &mut World) {
    world.config.settings.model = Some("m2".into());
    world.agent.offers = json!({"models": {"availableModels": [{"modelId": "m2"}]}});
    world.on("session/set_model", Act::Error(-32602, "no"));
}

fn heart(world: &mut World) {
    world.config.settings.heartbeat_ms = 60_000;
}

fn limited(world: &mut World) {
    world.config.settings.max_turns = 2;
}

fn threads(world: &mut World) {
    world.config.settings.policies.session_scope = SessionScope::Thread;
}

fn mention(world: &mut World) {
    world.mention("general");
    world.pass(1_000);
}

fn mentions(world: &mut World) {
    mention(world);
    mention(world);
    world.restart_at_once();
}

fn restarted(world: &mut World) {
    mention(world);
    world.restart();
    mention(world);
}

fn loads(act: Act, world: &mut World) {
    world.on("session/load", act);
    world.on("session/prompt", Act::Say(vec!["answer"]));
    world.mention("general");
    world.pass(100_000);
    mention(world);
}

fn refused_load(world: &mut World) {
    loads(Act::Error(-32002, "gone"), world);
}

fn refused_load_and_new(world: &mut World) {
    world.on("session/new", Act::Error(-32603, "not now"));
    loads(Act::Error(-32002, "gone"), world);
}

fn unanswered_load(world: &mut World) {
    loads(Act::Hang, world);
}

fn dying_load(world: &mut World) {
    loads(Act::Exit, world);
}

fn three_unanswered_loads(world: &mut World) {
    world.on("session/load", Act::Hang);
    world.on("session/load", Act::Hang);
    world.on("session/load", Act::Hang);
    world.mention("general");
    world.pass(1_000_000);
}

fn failing_now_and_then(world: &mut World) {
    world.on("session/load", Act::Exit);
    world.on("session/load", Act::Exit);
    world.mention("general");
    world.pass(100_000);
    world.on("session/load", Act::Exit);
    world.agent_dies();
    world.mention("general");
    world.pass(100_000);
}

fn talking_load(world: &mut World) {
    talking(300, world);
}

fn endless_load(world: &mut World) {
    talking(800, world);
}

fn talking(seconds: u64, world: &mut World) {
    world.on("session/load", Act::Hang);
    world.mention("general");
    for _ in 0..seconds / 20 {
        world.pass(20_000);
        world.agent_says("old", "history");
    }
}

fn null_load(world: &mut World) {
    loads(Act::Result(json!(null)), world);
}

fn moved_load(world: &mut World) {
    loads(Act::Result(json!({"sessionId": "s9"})), world);
}

fn late_history(world: &mut World) {
    world.on("session/load", Act::SayLater(100, vec!["history"]));
    world.on("session/prompt", Act::Hang);
    mention(world);
    world.answer_late(2, Ok(stop("end_turn")));
}

fn load_that_asks(world: &mut World) {
    loads(Act::AskFirst, world);
}

fn echo(world: &mut World) {
    loads(Act::Say(vec!["answer"]), world);
}

fn stolen_receipt(world: &mut World) {
    world.give("theirs");
    world.on("session/load", Act::Hang);
    world.mention("general");
    world.receipts.insert(key("general", None), ("theirs".into(), Config::default()));
    world.answer_late(1, Err(RpcError::new(-32002, "gone")));
    world.pass(1_000);
}

fn late_answer(world: &mut World) {
    world.on("session/load", Act::Hang);
    world.mention("general");
    world.pass(60_000);
    world.answer_late(1, Ok(stop("")));
    world.pass(20_000);
}

fn idle_rotate(world: &mut World) {
    mention(world);
    world.mention("random");
    world.command("general", "!rotate");
    world.restart_at_once();
    mention(world);
}

fn hanging(world: &mut World) {
    mention(world);
    world.on("session/prompt", Act::Hang);
    world.mention("general");
}

fn busy_rotate(world: &mut World) {
    hanging(world);
    world.command("general", "!rotate");
    world.answer_late(3, Ok(stop("cancelled")));
}

fn busy_rotate_then_restart(world: &mut World) {
    busy_rotate(world);
    world.restart();
    mention(world);
}

fn ends(reason: &'static str, world: &mut World) {
    world.on("session/prompt", Act::Stop(reason));
    mention(world);
    world.restart();
    mention(world);
}

fn cancel(world: &mut World) {
    hanging(world);
    world.command("general", "!cancel");
    world.answer_late(3, Ok(stop("cancelled")));
    mention(world);
}

fn model_switch(world: &mut World) {
    mention(world);
    world.switch_model("general", "m2");
}

fn busy_model_switch(world: &mut World) {
    hanging(world);
    world.switch_model("general", "m2");
}

fn removal(world: &mut World) {
    mention(world);
    world.leave("general");
}

fn death(world: &mut World) {
    hanging(world);
    world.agent_dies();
    world.pass(20_000);
}

fn thread_mentions(world: &mut World) {
    let (root, parent) = (Hex32([0xab; 32]), Hex32([0xcd; 32]));
    world.mention("general");
    world.mention("general");
    let (root_text, parent) = (root.to_string(), parent.to_string());
    world.reply("general", &[&["e", &root_text, "", "reply"]]);
    world.reply("general", &[&["e", &root.to_upper(), "", "reply"]]);
    world.reply("general", &[&["e", &root_text, "", "root"], &["e", &parent, "", "reply"]]);
    world.reply("general", &[&["e", &root_text]]);
}

fn reply_in_dm(world: &mut World) {
    world.mention("direct");
    world.reply("direct", &[&["e", &Hex32([0xab; 32]).to_string(), "", "reply"]]);
}

fn mention_while_busy(world: &mut World) {
    hanging(world);
    world.mention("general");
    world.answer_late(3, Ok(stop("end_turn")));
}

fn failing_prompt(world: &mut World) {
    world.on("session/prompt", Act::Error(-32603, "overloaded"));
    world.mention("general");
    world.pass(20_000);
}

fn delivered_twice(world: &mut World) {
    let event = world.compose("general", super::world::OWNER, &[], None);
    world.publish(&event);
    world.publish(&event);
}

fn reconnect(world: &mut World) {
    mention(world);
    world.disconnect();
    world.pass(5_000);
    // Two losses within a minute: the second time there is a gap to be fetched.
    world.disconnect();
    world.mention("general");
    world.pass(5_000);
    mention(world);
}

fn failing_store(world: &mut World) {
    world.store_refuses = 3;
    mention(world);
}

/// What happened, and the receipts at the end.
type Told = (Vec<String>, String);

fn tell(story: &Story, mutant: Option<Mutant>) -> Told {
    let mut world = World::mutated(mutant, |world| {
        world.config.settings.observer = true;
        let policies = &mut world.config.settings.policies;
        policies.indeterminate = Indeterminate::Bounded(3);
        policies.error_class = ErrorClass::Answered;
        (story.0)(world);
    });
    (story.1)(&mut world);
    world.pass(2_000);
    (world.story(), format!("{:?}", world.receipts))
}

#[test]
fn every_fault_of_the_harness_shows_in_some_story() {
    let reference: Vec<_> = STORIES.iter().map(|story| tell(story, None)).collect();
    let faults = Mutant::ALL.iter().filter(|mutant| mutant.id().starts_with("harness/"));
    let hidden: Vec<&str> = faults
        .filter(|mutant| {
            let shows = |(story, told): (&Story, &Told)| tell(story, Some(**mutant)) != *told;
            !STORIES.iter().zip(&reference).any(shows)
        })
        .map(|mutant| mutant.id())
        .collect();
    assert!(hidden.is_empty(), "{hidden:#?}");
}

#[test]
fn the_reference_tells_each_story_the_same_way_twice() {
    for story in STORIES {
        assert_eq!(tell(story, None), tell(story, None));
    }
}
