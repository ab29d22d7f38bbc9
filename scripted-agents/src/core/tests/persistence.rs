//! What survives the agent's process.

use super::*;

#[test]
fn a_respawned_agent_must_load_before_it_prompts() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let session = rig.open();
    rig.prompt(&session, "hello");
    let mut rig = rig.restarted(AgentCast::new("a"));
    assert_eq!(code(answer(&rig.prompt(&session, "more"))), -32002);
    let effects = rig.ask(load(&session));
    let told =
        [format!("{session} user hello"), format!("{session} agent reply to hello (turn 1)")];
    assert_eq!(updates(&effects), told);
    assert_eq!(answer(&effects), Ok(Answer::empty()));
    assert_eq!(updates(&rig.prompt(&session, "more")).len(), 1);
    assert_eq!(rig.disk.processes(), 2);
}

#[test]
fn ids_are_not_used_again_in_the_next_process() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let first = rig.open();
    let mut rig = rig.restarted(AgentCast::new("a"));
    assert_ne!(rig.open(), first);
}

#[test]
fn an_agent_that_does_not_persist_forgets_with_its_process() {
    let mut cast = AgentCast::new("a");
    cast.persists = false;
    let mut rig = Rig::new(cast.clone());
    let session = rig.open();
    assert!(answer(&rig.ask(load(&session))).is_ok());
    let mut rig = rig.restarted(cast);
    assert_eq!(code(answer(&rig.ask(load(&session)))), -32002);
}

#[test]
fn two_processes_at_once_share_the_disk_and_no_open_session() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let one = rig.open();
    let first = std::mem::replace(&mut rig.agent, Agent::new(Arc::new(AgentCast::new("a")), 2));
    rig.ask(Call::Initialize(Arc::new(json!({}))));
    let two = rig.open();
    assert_ne!(one, two);
    assert_eq!(code(answer(&rig.prompt(&one, "hello"))), -32002);
    rig.agent = first;
    assert_eq!(&*stop_reason(&rig.prompt(&one, "hello")), "end_turn");
}

#[test]
fn what_an_agent_did_in_a_turn_comes_back_as_it_was_sent() {
    let tool = |kind: &str| Action::Update { kind: kind.into(), text: "build".into() };
    let usage = Action::Update { kind: "usage_update".into(), text: "x".into() };
    let actions = vec![tool("tool_call"), usage, tool("tool_call_update")];
    let mut rig = Rig::scripted("session/prompt", actions);
    let session = rig.open();
    let live = updates(&rig.prompt(&session, "hello"));
    let replay = updates(&rig.ask(load(&session)));
    assert_eq!(replay[0], format!("{session} user hello"));
    let history: Vec<_> = live.into_iter().filter(|told| !told.contains("usage")).collect();
    assert_eq!(replay[1..], history);
}

#[test]
fn a_load_leaves_the_history_as_it_was() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let session = rig.open();
    rig.prompt(&session, "hello");
    let before = rig.disk.session(&session).unwrap().turns().to_vec();
    rig.ask(load(&session));
    rig.ask(load(&session));
    assert_eq!(rig.disk.session(&session).unwrap().turns(), before);
    assert_eq!(before[0].user_text(), "hello");
    assert_eq!(before[0].agent_text(), "reply to hello (turn 1)");
}

#[test]
fn sessions_are_numbered_as_they_become_known() {
    let mut rig = Rig::new(AgentCast::new("a"));
    rig.disk.give("given", &[]);
    let made = rig.open();
    assert_eq!(rig.disk.session("given").unwrap().number(), 1);
    assert_eq!(rig.disk.session(&made).unwrap().number(), 2);
    assert_eq!(&**rig.disk.session(&made).unwrap().cwd(), "/w");
}

#[test]
fn an_echo_of_the_users_words_is_not_history_twice() {
    let echo = Action::Update { kind: "user_message_chunk".into(), text: "hello".into() };
    let mut rig = Rig::scripted("session/prompt", vec![echo, Action::Stop("end_turn".into())]);
    let session = rig.open();
    assert_eq!(updates(&rig.prompt(&session, "hello")).len(), 1);
    assert_eq!(updates(&rig.ask(load(&session))), [format!("{session} user hello")]);
}
