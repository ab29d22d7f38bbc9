//! The harness's shell over byte streams: a real relay's bytes, a real agent's pipes, a simulated
//! disk, virtual time.

mod world;

use std::time::Duration;

use skep_plan::{Action, AgentCast, Rule};
use skep_relay::Fault;
use tokio::time::sleep;

use self::world::{World, virtually};

fn scripted(method: &str, nth: u32, action: Action) -> AgentCast {
    let rule = Rule {
        method: method.into(),
        nth: Some(nth),
        from: None,
        process: None,
        actions: vec![action],
    };
    let mut cast = AgentCast::new("a");
    cast.script.rules = vec![rule];
    cast
}

/// The method and the session of a request, the session as its place among those that were named.
fn named(calls: &[String]) -> Vec<String> {
    let mut sessions: Vec<&str> = Vec::new();
    let name = |call: &&String| -> String { call.split(' ').next().unwrap_or("").to_owned() };
    for call in calls {
        if let Some(session) = call.split(' ').nth(1)
            && !sessions.contains(&session)
        {
            sessions.push(session);
        }
    }
    let place = |call: &String| {
        let session = call.split(' ').nth(1)?;
        sessions.iter().position(|it| *it == session)
    };
    calls
        .iter()
        .map(|call| match place(call) {
            Some(at) => format!("{} s{}", name(&call), at + 1),
            None => name(&call),
        })
        .collect()
}

#[test]
fn a_session_outlives_its_harness() {
    virtually(async {
        let mut world = World::new(AgentCast::new("a"));
        world.start().await;
        world.say("hello");
        world.settle().await;
        world.restart().await;
        world.say("again");
        world.settle().await;
        let calls = named(&world.calls());
        let wanted = ["session/new", "session/prompt s1", "session/load s1", "session/prompt s1"];
        assert_eq!(calls, wanted);
    });
}

#[test]
fn two_runs_of_one_story_agree_in_every_byte() {
    let mut told = Vec::new();
    for _ in 0..2 {
        virtually(async {
            let mut world = World::new(AgentCast::new("a"));
            world.start().await;
            world.say("hello");
            world.settle().await;
            world.restart().await;
            world.say("again");
            world.settle().await;
            sleep(Duration::from_secs(5)).await;
            told.push((world.story(), world.wire()));
        });
    }
    assert_eq!(told[0], told[1]);
    assert!(told[0].1.iter().any(|line| line.contains("turn_ended")));
}

#[test]
fn a_dead_agent_is_replaced_and_its_message_tried_again() {
    virtually(async {
        let mut world = World::new(scripted("session/prompt", 1, Action::Exit { code: 3 }));
        world.start().await;
        world.say("hello");
        world.settle().await;
        let calls = named(&world.calls());
        let wanted = ["session/new", "session/prompt s1", "session/load s1", "session/prompt s1"];
        assert_eq!(calls, wanted);
    });
}

#[test]
fn an_agent_that_says_nothing_is_killed_and_its_late_answer_is_never_heard() {
    virtually(async {
        let mut world = World::new(scripted("session/prompt", 1, Action::Hang));
        world.config.settings.idle_timeout_ms = 10_000;
        world.start().await;
        world.say("hello");
        world.settle().await;
        let calls = named(&world.calls());
        assert_eq!(calls[2..], ["session/cancel s1", "session/load s1", "session/prompt s1"]);
    });
}

#[test]
fn a_broken_connection_is_opened_again_and_the_gap_is_fetched() {
    virtually(async {
        let mut world = World::new(AgentCast::new("a"));
        world.start().await;
        world.fault(Fault::Restart(3_000));
        world.say("into the gap");
        sleep(Duration::from_secs(10)).await;
        assert_eq!(named(&world.calls()), ["session/new", "session/prompt s1"]);
    });
}

#[test]
fn a_relay_that_says_nothing_any_more_is_noticed_within_a_minute_and_a_half() {
    virtually(async {
        let mut world = World::new(AgentCast::new("a"));
        world.start().await;
        sleep(Duration::from_secs(100)).await;
        world.freeze();
        world.say("into the silence");
        sleep(Duration::from_secs(90)).await;
        assert_eq!(named(&world.calls()), ["session/new", "session/prompt s1"]);
    });
}

#[test]
fn the_owners_sealed_word_switches_the_model() {
    virtually(async {
        let mut cast = AgentCast::new("a");
        cast.models = vec!["m1".into(), "m2".into()];
        let mut world = World::new(cast);
        world.start().await;
        world.say("hello");
        world.settle().await;
        world.story();
        world.switch_model("m2");
        sleep(Duration::from_secs(1)).await;
        world.say("and now");
        world.settle().await;
        let calls = named(&world.calls());
        assert!(calls.contains(&"session/set_model s2".to_owned()), "{calls:?}");
    });
}

#[test]
fn it_says_goodbye_when_it_is_asked_to_terminate() {
    virtually(async {
        let mut world = World::new(AgentCast::new("a"));
        world.start().await;
        assert_eq!(world.terminate().await, 0);
        let wire = world.wire();
        assert!(wire.last().unwrap().contains("offline"), "{wire:?}");
        assert_eq!(world.status.get().exit, Some(0));
    });
}

#[test]
fn a_harness_that_was_told_to_remember_nothing_touches_no_disk() {
    virtually(async {
        let mut world = World::new(AgentCast::new("a"));
        world.config.settings.resume = false;
        world.start().await;
        world.say("hello");
        world.settle().await;
        world.command("!rotate");
        sleep(Duration::from_secs(1)).await;
        assert!(world.disk.snapshot("/state").entries.is_empty());
    });
}

#[test]
fn when_nothing_is_to_be_done_only_idle_timers_run() {
    virtually(async {
        let mut world = World::new(AgentCast::new("a"));
        world.start().await;
        world.say("hello");
        world.settle().await;
        sleep(Duration::from_secs(2)).await;
        let status = world.status.get().clone();
        assert_eq!((status.timers, status.working, status.held.len()), (0, false, 0));
    });
}
