//! Faults that public agents were reported for, each as a script: a scenario can have any of them.

use skep_plan::Replay;

use super::*;

const HISTORY: [(&str, &str); 2] = [("q1", "a1"), ("q2", "a2")];

fn error(code: i64, message: &str, data: Option<Value>) -> Action {
    Action::Error { code, message: message.into(), data }
}

fn result(result: Value) -> Action {
    Action::ReplyWith(result)
}

/// What a harness gets for a load of a session with a history, when these are the actions.
fn loaded(actions: Vec<Action>) -> String {
    let mut rig = Rig::scripted("session/load", actions);
    rig.disk.give("s", &HISTORY);
    let effects = rig.ask(load(&"s".into()));
    told(&rig.run_out(effects).0)
}

/// Effects in the order in which a harness meets them, each in a word or two.
fn told(effects: &[AgentEffect]) -> String {
    let words = effects.iter().map(|effect| match effect {
        AgentEffect::Send(frame) => match &**frame {
            Frame::Response { outcome: Ok(answer), .. } => answer.to_json().to_string(),
            Frame::Response { outcome: Err(error), .. } => error.code.to_string(),
            frame => frame.call().and_then(super::told).expect("an update").replace("s ", ""),
        },
        AgentEffect::Exit(code) => format!("exit {code}"),
        other => format!("{other:?}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[test]
fn an_agent_that_loads_and_replays_nothing_or_the_end_or_an_older_state() {
    assert_eq!(loaded(vec![Action::Replay(Replay::None)]), "{}");
    assert_eq!(loaded(vec![Action::Replay(Replay::Last(1))]), "agent a2, {}");
    assert_eq!(loaded(vec![Action::Replay(Replay::First(2))]), "user q1, agent a1, {}");
}

#[test]
fn an_agent_that_exits_before_within_or_after_its_replay() {
    let exit = Action::Exit { code: 1 };
    assert_eq!(loaded(vec![exit.clone()]), "exit 1");
    let within = vec![Action::Replay(Replay::First(1)), exit.clone()];
    assert_eq!(loaded(within), "user q1, exit 1");
    let after = vec![Action::Reply, exit];
    assert_eq!(loaded(after), "user q1, agent a1, user q2, agent a2, {}, exit 1");
}

#[test]
fn an_agent_whose_pending_requests_are_lost_and_whose_next_ones_are_served() {
    let mut lost = rule("session/prompt", vec![Action::Hang]);
    lost.nth = Some(1);
    let mut rig = Rig::new(cast(vec![lost]));
    let (one, two) = (rig.open(), rig.open());
    assert_eq!(told(&rig.prompt(&one, "hello")), "");
    assert!(told(&rig.prompt(&two, "hello")).contains("end_turn"));
}

#[test]
fn an_agent_that_answers_for_a_session_that_never_was() {
    let ghost = rule("session/load", vec![result(json!({}))]);
    let refusal = rule("session/prompt", vec![Action::Stop("refusal".into())]);
    let mut rig = Rig::new(cast(vec![ghost, refusal]));
    assert_eq!(told(&rig.ask(load(&"ghost".into()))), "{}");
    let effects = rig.prompt(&"ghost".into(), "hello");
    assert_eq!(told(&effects), r#"{"stopReason":"refusal"}"#);
}

#[test]
fn an_agent_whose_new_names_an_id_that_its_load_does_not_know() {
    let new_rule = rule("session/new", vec![result(json!({"sessionId": "provider:7"}))]);
    let load_rule = rule("session/load", vec![error(-32602, "not found", None)]);
    let mut rig = Rig::new(cast(vec![new_rule, load_rule]));
    let session = rig.open();
    assert_eq!(&*session, "provider:7");
    assert_eq!(told(&rig.ask(load(&session))), "-32602");
}

#[test]
fn an_agent_that_says_not_found_in_any_of_the_shapes_in_use() {
    for (code, data) in [
        (-32001, None),
        (-32002, None),
        (-32602, None),
        (-32603, Some(json!({"details": "Session not found"}))),
        (-32603, None),
    ] {
        assert_eq!(loaded(vec![error(code, "session not found", data)]), code.to_string());
    }
}

#[test]
fn an_agent_that_is_busy_first_and_ready_then() {
    let mut busy = rule("session/load", vec![error(-32600, "active writer", None)]);
    busy.nth = Some(1);
    let mut rig = Rig::new(cast(vec![busy]));
    rig.disk.give("s", &[]);
    assert_eq!(told(&rig.ask(load(&"s".into()))), "-32600");
    assert_eq!(told(&rig.ask(load(&"s".into()))), "{}");
}

#[test]
fn an_agent_that_loads_and_has_lost_its_provider() {
    let text = "HTTP 400: no provider".into();
    let said = Action::Update { kind: "agent_message_chunk".into(), text };
    let mut rig = Rig::scripted("session/prompt", vec![said, Action::Stop("end_turn".into())]);
    let session = rig.open();
    let effects = rig.prompt(&session, "hello");
    assert_eq!(updates(&effects), [format!("{session} agent HTTP 400: no provider")]);
    assert_eq!(&*stop_reason(&effects), "end_turn");
}

#[test]
fn an_agent_that_offers_load_and_lacks_it() {
    assert_eq!(loaded(vec![error(-32601, "no such method", None)]), "-32601");
}

#[test]
fn an_agent_that_repeats_tool_call_ids_or_names_calls_that_nobody_made() {
    let update = |kind: &str, text: &str| Action::Update { kind: kind.into(), text: text.into() };
    let call = update("tool_call", "build");
    let actions = vec![call.clone(), call, update("tool_call_update", "other"), Action::Reply];
    let mut rig = Rig::scripted("session/load", actions);
    rig.disk.give("s", &[]);
    let effects = rig.ask(load(&"s".into()));
    let ids: Vec<_> = frames(&effects)
        .filter_map(|frame| {
            frame.to_json()["params"]["update"]["toolCallId"].as_str().map(Text::from)
        })
        .collect();
    assert_eq!(
        ids.iter().map(|id| &**id).collect::<Vec<_>>(),
        ["call-build", "call-build", "call-other"]
    );
}

#[test]
fn an_agent_that_hangs_with_a_sign_of_life_every_few_seconds() {
    let kind = "available_commands_update".into();
    let alive = Action::Chatter { kind, text: "x".into(), gap_ms: 5000, count: 4 };
    assert_eq!(loaded(vec![alive, Action::Hang]), ["available_commands_update "; 4].join(", "));
}
