//! What `session/cancel` ends.

use super::*;

fn running(actions: Vec<Action>) -> (Rig, Text) {
    let mut rig = Rig::scripted("session/prompt", actions);
    let session = rig.open();
    assert!(outcomes(&rig.prompt(&session, "hello")).is_empty());
    (rig, session)
}

#[test]
fn a_prompt_that_waits_for_anything_is_answered_cancelled_once() {
    for waits in [
        Action::Hang,
        Action::Gate,
        Action::Delay { ms: 10 },
        Action::Request { method: "session/request_permission".into() },
    ] {
        let (mut rig, session) = running(vec![waits, Action::Stop("end_turn".into())]);
        assert_eq!(&*stop_reason(&rig.tell(cancel(&session))), "cancelled");
        assert!(rig.tell(cancel(&session)).is_empty());
        let late = Frame::Response { id: RpcId::Number(0), outcome: Ok(Answer::empty()) };
        for event in [AgentEvent::Released, AgentEvent::Timer(1), AgentEvent::Frame(Arc::new(late))]
        {
            assert!(outcomes(&rig.event(event)).is_empty());
        }
    }
}

#[test]
fn a_cancel_ends_the_prompts_of_its_own_session_only() {
    let (mut rig, one) = running(vec![Action::Hang]);
    let two = rig.open();
    rig.prompt(&two, "hello");
    assert_eq!(outcomes(&rig.tell(cancel(&one))).len(), 1);
    assert_eq!(outcomes(&rig.tell(cancel(&two))).len(), 1);
}

#[test]
fn after_a_cancel_the_session_takes_the_next_prompt_and_remembers_the_first() {
    let mut hang = rule("session/prompt", vec![Action::Hang]);
    hang.nth = Some(1);
    let mut rig = Rig::new(cast(vec![hang]));
    let session = rig.open();
    rig.prompt(&session, "hello");
    rig.tell(cancel(&session));
    assert_eq!(&*stop_reason(&rig.prompt(&session, "again")), "end_turn");
    let replay = updates(&rig.ask(load(&session)));
    assert_eq!(replay[0], format!("{session} user hello"));
    assert_eq!(replay[1], format!("{session} user again"));
}

#[test]
fn a_prompt_that_ignores_cancel_runs_to_its_end() {
    let (mut rig, session) = running(vec![Action::IgnoreCancel, Action::Gate]);
    assert!(rig.tell(cancel(&session)).is_empty());
    assert_eq!(&*stop_reason(&rig.event(AgentEvent::Released)), "end_turn");
}

#[test]
fn an_agent_that_ignores_cancel_ignores_it_in_every_prompt() {
    let deaf = rule("session/new", vec![Action::IgnoreCancel]);
    let mut rig = Rig::new(cast(vec![deaf, rule("session/prompt", vec![Action::Hang])]));
    let session = rig.open();
    rig.prompt(&session, "hello");
    assert!(rig.tell(cancel(&session)).is_empty());
}

#[test]
fn a_scripted_cancel_takes_its_time_and_is_never_answered_itself() {
    let late = rule("session/cancel", vec![Action::Delay { ms: 10_000 }]);
    let mut rig = Rig::new(cast(vec![late, rule("session/prompt", vec![Action::Hang])]));
    let session = rig.open();
    rig.prompt(&session, "hello");
    let effects = rig.tell(cancel(&session));
    assert!(outcomes(&effects).is_empty());
    let (done, elapsed_ms) = rig.run_out(effects);
    assert_eq!((&*stop_reason(&done), elapsed_ms), ("cancelled", 10_000));
}

#[test]
fn close_and_delete_end_what_runs_before_they_are_answered() {
    for close in [true, false] {
        let (mut rig, session_id) = running(vec![Action::Hang]);
        let call = if close {
            Call::SessionClose { session_id }
        } else {
            Call::SessionDelete { session_id }
        };
        let ended = outcomes(&rig.ask(call));
        assert_eq!(ended[0].as_ref().unwrap().stop_reason.as_deref(), Some("cancelled"));
        assert_eq!(ended[1], Ok(Answer::empty()));
    }
}
