//! How each way of replaying brings the history back.

use skep_plan::Replay;

use super::*;

const HISTORY: [(&str, &str); 2] = [("q1", "a1"), ("q2", "a2")];

fn loading(replay: Replay) -> Vec<AgentEffect> {
    let mut cast = AgentCast::new("a");
    cast.script.replay = replay;
    let mut rig = Rig::new(cast);
    rig.disk.give("s", &HISTORY);
    let effects = rig.ask(load(&"s".into()));
    let (done, _) = rig.run_out(effects);
    done
}

/// What was replayed, without the session and with the answer in its place.
fn told(effects: &[AgentEffect]) -> Vec<String> {
    frames(effects)
        .map(|frame| match frame.call() {
            Some(call) => super::told(call).unwrap().replace("s user ", "").replace("s agent ", ""),
            None => "answer".into(),
        })
        .collect()
}

#[test]
fn all_comes_in_order_before_the_answer() {
    assert_eq!(told(&loading(Replay::All)), ["q1", "a1", "q2", "a2", "answer"]);
}

#[test]
fn none_only_user_first_last_and_twice_change_what_comes() {
    for (replay, wanted) in [
        (Replay::None, "answer"),
        (Replay::OnlyUser, "q1 q2 answer"),
        (Replay::First(3), "q1 a1 q2 answer"),
        (Replay::Last(1), "a2 answer"),
        (Replay::Last(9), "q1 a1 q2 a2 answer"),
        (Replay::Twice, "q1 a1 q2 a2 q1 a1 q2 a2 answer"),
    ] {
        assert_eq!(told(&loading(replay)).join(" "), wanted, "{replay:?}");
    }
}

#[test]
fn after_the_response_each_update_comes_a_gap_after_the_one_before() {
    let mut cast = AgentCast::new("a");
    cast.script.replay = Replay::AfterResponse { gap_ms: 100 };
    let mut rig = Rig::new(cast);
    rig.disk.give("s", &HISTORY);
    let effects = rig.ask(load(&"s".into()));
    let (done, elapsed_ms) = rig.run_out(effects);
    assert_eq!(told(&done), ["answer", "q1", "a1", "q2", "a2"]);
    assert_eq!(elapsed_ms, 400);
    assert_eq!(told(&loading(Replay::AfterResponse { gap_ms: 0 })), told(&done));
}

#[test]
fn a_late_replay_is_the_history_as_it_was_when_the_load_was_answered() {
    let mut cast = AgentCast::new("a");
    cast.script.replay = Replay::AfterResponse { gap_ms: 100 };
    let mut rig = Rig::new(cast);
    rig.disk.give("s", &[("q1", "a1")]);
    let effects = rig.ask(load(&"s".into()));
    let live = rig.prompt(&"s".into(), "q2");
    assert_eq!(&*stop_reason(&live), "end_turn");
    let (done, _) = rig.run_out(effects);
    assert_eq!(told(&done), ["answer", "q1", "a1"]);
}

#[test]
fn a_load_that_fails_replays_nothing_late() {
    let late = Action::Replay(Replay::AfterResponse { gap_ms: 0 });
    let error = Action::Error { code: 1, message: "no".into(), data: None };
    let mut rig = Rig::scripted("session/load", vec![late, error]);
    rig.disk.give("s", &HISTORY);
    let effects = rig.ask(load(&"s".into()));
    assert!(updates(&effects).is_empty());
}

#[test]
fn another_sessions_updates_stand_between_the_messages() {
    let mut cast = AgentCast::new("a");
    cast.script.replay = Replay::Interleaved;
    let mut rig = Rig::new(cast.clone());
    rig.disk.give("s", &[("q1", "a1")]);
    let live = rig.open();
    let wanted = |other: &str| {
        [
            "s user q1".to_owned(),
            format!("{other} agent meanwhile in {other} (1)"),
            "s agent a1".to_owned(),
            format!("{other} agent meanwhile in {other} (2)"),
        ]
    };
    assert_eq!(updates(&rig.ask(load(&"s".into()))), wanted(&live));

    let mut rig = Rig::new(cast);
    rig.disk.give("s", &[("q1", "a1")]);
    assert_eq!(updates(&rig.ask(load(&"s".into()))), wanted("a-Elsewhere"));
}

#[test]
fn a_rule_that_replays_leaves_the_answer_no_replay_of_its_own() {
    let actions = vec![Action::Replay(Replay::Last(1)), Action::Exit { code: 1 }];
    let mut rig = Rig::scripted("session/load", actions);
    rig.disk.give("s", &HISTORY);
    let effects = rig.ask(load(&"s".into()));
    assert_eq!(updates(&effects), ["s agent a2"]);
    assert_eq!(effects.last(), Some(&AgentEffect::Exit(1)));

    let mut rig = Rig::scripted("session/load", vec![Action::Replay(Replay::OnlyUser)]);
    rig.disk.give("s", &HISTORY);
    assert_eq!(told(&rig.ask(load(&"s".into()))), ["q1", "q2", "answer"]);
}

#[test]
fn a_resume_can_be_made_to_replay() {
    let mut cast = cast(vec![rule("session/resume", vec![Action::Replay(Replay::All)])]);
    cast.resume = true;
    let mut rig = Rig::new(cast);
    rig.disk.give("s", &HISTORY);
    let call = Call::SessionResume { session_id: "s".into(), setup: setup() };
    assert_eq!(told(&rig.ask(call)), ["q1", "a1", "q2", "a2", "answer"]);
}

#[test]
fn a_prompt_of_several_blocks_comes_back_as_several_chunks_of_one_message() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let session_id = rig.open();
    let blocks = ["[Context]".into(), "Content: hi".into()].into();
    rig.ask(Call::SessionPrompt { session_id: session_id.clone(), prompt: blocks });
    let replay = updates(&rig.ask(load(&session_id)));
    let wanted = ["user [Context]", "user Content: hi", "agent reply to hi (turn 1)"];
    assert_eq!(replay, wanted.map(|told| format!("{session_id} {told}")));
}

#[test]
fn a_load_of_an_open_session_and_two_loads_at_once_each_replay_it_all() {
    let mut gate = rule("session/load", vec![Action::Gate]);
    gate.nth = Some(1);
    let mut rig = Rig::new(cast(vec![gate]));
    rig.disk.give("s", &HISTORY);
    rig.ask(load(&"s".into()));
    let second = rig.ask(load(&"s".into()));
    let first = rig.event(AgentEvent::Released);
    assert_eq!(told(&second), ["q1", "a1", "q2", "a2", "answer"]);
    assert_eq!(told(&first), told(&second));
}
