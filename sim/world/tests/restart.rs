//! A whole restart in the event gear, without any scenario language or checker around it.

#![expect(clippy::unwrap_used, reason = "a test's helpers are tests")]

use skep_mutant::Mutants;
use skep_plan::{Act, AgentCast, Cast, ChannelCast, ChannelKind, HarnessCast, Message};
use skep_plan::{PersonCast, RelayCast, Settings};
use skep_trace::{Call, Frame, Header, Side, What, jsonl};
use skep_world::{EventWorld, Outlook, Setup, World};

fn cast() -> Cast {
    Cast {
        relays: vec![RelayCast { name: "relay".into() }],
        channels: vec![ChannelCast { name: "general".into(), kind: ChannelKind::Stream }],
        people: vec![PersonCast { name: "owner".into(), owner: true }],
        agents: vec![AgentCast::new("a")],
        states: vec!["h".into()],
        harnesses: vec![HarnessCast {
            name: "h".into(),
            agent: "a".into(),
            relay: "relay".into(),
            state: "h".into(),
            key: "agent".into(),
            started: true,
            settings: Settings::default(),
            said: Vec::new(),
        }],
        given: Vec::new(),
    }
}

fn run(seed: u64) -> skep_trace::Trace {
    let cast = cast();
    let setup = Setup {
        cast: &cast,
        seed,
        mutants: Mutants::NONE,
        header: Header::default(),
        interleave: false,
        schedule: None,
    };
    let mut world: Box<dyn World> = Box::new(EventWorld::new(setup).unwrap());
    world.open().unwrap();
    let restart = Act::Restart { harnesses: vec!["h".into()], downtime_ms: None };
    let steps = [
        vec![Act::Say(Message::mention("general"))],
        vec![restart, Act::Say(Message::mention("general"))],
    ];
    for (step, acts) in steps.iter().enumerate() {
        world.begin(step, "");
        for (index, act) in acts.iter().enumerate() {
            world.act(index, "", act).unwrap();
        }
        world.settle(step, &mut |_| Outlook::Open).unwrap();
    }
    world.close()
}

fn calls(trace: &skep_trace::Trace) -> Vec<String> {
    let call = |what: &What| match what {
        What::Acp { from: Side::Harness, frame, .. } => {
            frame.call().map(Call::method).map(str::to_owned)
        }
        _ => None,
    };
    trace.records.iter().filter_map(|record| call(&record.what)).collect()
}

#[test]
fn a_restart_loads_the_session_and_prompts_it() {
    let trace = run(7);
    let calls = calls(&trace);
    let wanted = [
        "initialize",
        "session/new",
        "session/prompt",
        "initialize",
        "session/load",
        "session/prompt",
    ];
    assert_eq!(calls, wanted, "{}", jsonl::write(&trace));
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    assert_eq!(jsonl::digest(&run(7)), jsonl::digest(&run(7)));
    assert_ne!(jsonl::digest(&run(7)), jsonl::digest(&run(8)));
}

#[test]
fn garbage_never_comes_from_a_well_behaved_agent() {
    let garbage = |what: &What| matches!(what, What::Acp { frame, .. } if matches!(**frame, Frame::Garbage(_)));
    assert!(!run(1).records.iter().any(|record| garbage(&record.what)));
}
