//! The harness as a process: real sockets, a real disk, children, signals.

mod world;

use std::time::Duration;

use rustix::process::Signal;

use self::world::{World, promptly};

#[test]
fn a_session_outlives_a_killed_process() {
    promptly(async {
        let world = World::new().await;
        let mut first = world.start().await;
        world.say("hello");
        first.line("turn-done").await;
        first.signal(Signal::KILL);
        first.exit().await;
        let mut second = world.start().await;
        world.say("again");
        second.line("loading session s1").await;
        second.line("turn-done").await;
        second.signal(Signal::TERM);
        assert_eq!(second.exit().await, Some(0));
    });
}

#[test]
fn asked_to_terminate_it_takes_everything_that_its_agent_started_along() {
    promptly(async {
        let world = World::new().await;
        for signal in [Signal::TERM, Signal::INT] {
            let mut harness = world.start().await;
            let grandchild = world.grandchild().await;
            assert!(world::lives(grandchild));
            harness.signal(signal);
            assert_eq!(harness.exit().await, Some(0));
            world::until(|| !world::lives(grandchild)).await;
        }
    });
}

#[test]
fn an_agent_that_exits_is_replaced_and_leaves_nothing_behind() {
    promptly(async {
        let world = World::new().await;
        let mut harness = world.start().await;
        let (agent, grandchild) = (world.agent().await, world.grandchild().await);
        world::kill(agent);
        harness.line("the agent is replaced").await;
        world::until(|| !world::lives(grandchild)).await;
        harness.line("agent ready").await;
    });
}

#[test]
fn in_haste_long_time_limits_are_short() {
    promptly(async {
        let mut world = World::new().await;
        world.set("SKEP_HASTE", "1000");
        world.set("SKEP_IDLE_TIMEOUT", "15m");
        let mut harness = world.start().await;
        let started = tokio::time::Instant::now();
        world.say("hang");
        harness.line("turn-failed").await;
        assert!(started.elapsed() < Duration::from_secs(20));
    });
}

#[test]
fn a_bad_environment_ends_it_with_two_and_says_why() {
    promptly(async {
        let mut world = World::new().await;
        world.set("BUZZ_ACP_RELAY_OBSERVER", "1");
        let mut harness = world.spawn();
        harness.line("BUZZ_ACP_RELAY_OBSERVER is `true` or `false`, not `1`").await;
        assert_eq!(harness.exit().await, Some(2));
    });
}

#[test]
fn a_wish_that_it_cannot_fulfil_ends_it_with_one() {
    promptly(async {
        let mut world = World::new().await;
        world.set("BUZZ_ACP_MULTIPLE_EVENT_HANDLING", "steer");
        let mut harness = world.spawn();
        harness.line("does not support in-flight=steer").await;
        assert_eq!(harness.exit().await, Some(1));
    });
}
