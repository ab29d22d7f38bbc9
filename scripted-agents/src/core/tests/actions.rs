//! What each action of a script does.

use super::*;
use crate::FramePipe;

fn on_prompt(actions: Vec<Action>) -> (Rig, Text) {
    let mut rig = Rig::scripted("session/prompt", actions);
    let session = rig.open();
    (rig, session)
}

fn timer(effects: &[AgentEffect]) -> (u32, u64) {
    let timers = effects.iter().filter_map(|effect| match effect {
        AgentEffect::SetTimer { timer, after_ms } => Some((*timer, *after_ms)),
        _ => None,
    });
    let timers: Vec<_> = timers.collect();
    assert_eq!(timers.len(), 1, "one timer in {effects:?}");
    timers[0]
}

#[test]
fn reply_with_answers_exactly_that() {
    for result in [json!(null), json!({}), json!({"sessionId": "s9"}), json!({"modes": {}})] {
        let mut rig = Rig::scripted("session/load", vec![Action::ReplyWith(result.clone())]);
        rig.disk.give("old", &[("q", "a")]);
        let effects = rig.ask(load(&"old".into()));
        assert_eq!(answer(&effects).unwrap().to_json(), result);
        assert!(updates(&effects).is_empty());
    }
}

#[test]
fn a_scripted_success_for_an_unknown_id_opens_an_empty_session() {
    let mut rig = Rig::scripted("session/load", vec![Action::ReplyWith(json!({}))]);
    let ghost: Text = "ghost".into();
    rig.ask(load(&ghost));
    assert_eq!(updates(&rig.prompt(&ghost, "hello")), ["ghost agent reply to hello (turn 1)"]);
}

#[test]
fn a_scripted_id_is_the_sessions_id_from_then_on() {
    let odd = "provider:A/b c\"é";
    let mut rig = Rig::scripted("session/new", vec![Action::ReplyWith(json!({"sessionId": odd}))]);
    let session = rig.open();
    assert_eq!(&*session, odd);
    assert_eq!(&*stop_reason(&rig.prompt(&session, "hello")), "end_turn");
}

#[test]
fn an_id_in_a_loads_result_moves_nothing() {
    let other_id = vec![Action::ReplyWith(json!({"sessionId": "s9"}))];
    let mut rig = Rig::scripted("session/load", other_id);
    rig.disk.give("old", &[]);
    rig.ask(load(&"old".into()));
    assert_eq!(rig.agent.open_sessions().collect::<Vec<_>>(), [&Text::from("old")]);
}

#[test]
fn stop_ends_a_prompt_without_a_word() {
    let (mut rig, session) = on_prompt(vec![Action::Stop("refusal".into())]);
    let effects = rig.prompt(&session, "hello");
    assert!(updates(&effects).is_empty());
    assert_eq!(&*stop_reason(&effects), "refusal");
}

#[test]
fn an_error_has_the_code_the_message_and_the_data_of_the_script() {
    let data = Some(json!({"details": "Session not found"}));
    let error = Action::Error { code: -32603, message: "no".into(), data: data.clone() };
    let (mut rig, session) = on_prompt(vec![error]);
    let error = answer(&rig.prompt(&session, "hello")).unwrap_err();
    assert_eq!((error.code, &*error.message, error.data.as_deref()), (-32603, "no", data.as_ref()));
}

#[test]
fn a_hang_answers_never_and_serves_others() {
    let (mut rig, session) = on_prompt(vec![Action::Hang, Action::Reply]);
    assert!(rig.prompt(&session, "hello").is_empty());
    assert!(answer(&rig.ask(new())).is_ok());
}

#[test]
fn a_second_prompt_of_a_session_is_busy_and_one_of_another_is_not() {
    let mut hang = rule("session/prompt", vec![Action::Hang]);
    hang.nth = Some(1);
    let mut rig = Rig::new(cast(vec![hang]));
    let (one, two) = (rig.open(), rig.open());
    assert!(rig.prompt(&one, "hello").is_empty());
    assert_eq!(code(answer(&rig.prompt(&one, "again"))), -32600);
    assert_eq!(&*stop_reason(&rig.prompt(&two, "hello")), "end_turn");
    assert_eq!(rig.disk.session(&one).unwrap().turns().len(), 1);
}

#[test]
fn a_delay_holds_one_request_up_and_no_other() {
    let (mut rig, session) = on_prompt(vec![Action::Delay { ms: 500 }]);
    let effects = rig.prompt(&session, "hello");
    let (timer, after_ms) = timer(&effects);
    assert_eq!((after_ms, effects.len()), (500, 1));
    assert!(answer(&rig.ask(new())).is_ok());
    assert_eq!(&*stop_reason(&rig.event(AgentEvent::Timer(timer))), "end_turn");
    assert!(rig.event(AgentEvent::Timer(timer)).is_empty(), "a timer runs out once");
}

#[test]
fn a_blocked_agent_serves_nobody_and_catches_up() {
    let mut rig = Rig::scripted("session/load", vec![Action::Block { ms: 90_000 }]);
    rig.disk.give("old", &[]);
    let effects = rig.ask(load(&"old".into()));
    let (timer, _) = timer(&effects);
    assert!(rig.ask(new()).is_empty());
    assert!(rig.event(AgentEvent::StdinClosed).is_empty());
    let effects = rig.event(AgentEvent::Timer(timer));
    assert_eq!(outcomes(&effects).len(), 2);
    assert_eq!(effects.last(), Some(&AgentEffect::Exit(0)));
}

#[test]
fn a_blocked_agents_pipe_is_bounded() {
    let (mut rig, session) = on_prompt(vec![Action::Block { ms: 1 }]);
    rig.prompt(&session, "hello");
    let full = (0..5000).map(|_| rig.ask(new())).filter(|effects| !effects.is_empty()).count();
    assert_eq!(full, 5000 - 4096);
}

#[test]
fn exit_and_die_are_the_last_that_is_done() {
    for (action, effect) in [
        (Action::Exit { code: 3 }, AgentEffect::Exit(3)),
        (Action::Die { signal: 9 }, AgentEffect::Die(9)),
    ] {
        let (mut rig, session) = on_prompt(vec![action, Action::Reply]);
        assert_eq!(rig.prompt(&session, "hello"), [effect]);
        assert!(rig.ask(new()).is_empty());
        assert_eq!(rig.disk.session(&session).unwrap().turns().len(), 1, "the words were heard");
    }
}

#[test]
fn an_agent_that_exits_after_its_answer_has_answered() {
    let (mut rig, session) = on_prompt(vec![Action::Reply, Action::Exit { code: 1 }]);
    let effects = rig.prompt(&session, "hello");
    assert_eq!(&*stop_reason(&effects), "end_turn");
    assert_eq!(effects.last(), Some(&AgentEffect::Exit(1)));
}

#[test]
fn with_its_output_closed_the_agent_lives_on_unheard() {
    let (mut rig, session) = on_prompt(vec![Action::CloseStdout]);
    assert_eq!(rig.prompt(&session, "hello"), [AgentEffect::CloseStdout]);
    assert!(rig.prompt(&session, "again").is_empty());
    assert_eq!(rig.disk.session(&session).unwrap().turns().len(), 2, "it still works");
}

#[test]
fn with_its_input_closed_the_agent_finishes_and_hears_nothing_more() {
    let (mut rig, session) = on_prompt(vec![Action::CloseStdin, Action::Delay { ms: 1 }]);
    let effects = rig.prompt(&session, "hello");
    assert_eq!(effects[0], AgentEffect::CloseStdin);
    assert!(rig.ask(new()).is_empty());
    assert!(rig.event(AgentEvent::StdinClosed).is_empty(), "it does not see the end");
    let (timer, _) = timer(&effects);
    assert_eq!(&*stop_reason(&rig.event(AgentEvent::Timer(timer))), "end_turn");
}

#[test]
fn half_a_frame_is_the_first_half_of_the_answer_and_the_next_line_sticks_to_it() {
    let mut half = rule("session/new", vec![Action::HalfFrame]);
    half.nth = Some(1);
    let mut rig = Rig::new(cast(vec![half]));
    let effects = rig.ask(new());
    let [AgentEffect::SendBytes(bytes)] = &effects[..] else { panic!("{effects:?}") };
    let id = rig.disk.sessions().next().unwrap().0.clone();
    let whole = format!(r#"{{"id":{},"jsonrpc":"2.0","result":{{"sessionId":"{id}"}}}}"#, rig.next);
    assert_eq!(&**bytes, &whole.as_bytes()[..whole.len() / 2]);

    let mut pipe = FramePipe::default();
    assert_eq!(pipe.read(&effects[0]), None);
    let effects = rig.ask(new());
    let line = pipe.read(&effects[0]).expect("a whole line");
    assert!(matches!(&*line, Frame::Garbage(text) if text.starts_with(r#"{"id":"#)), "{line:?}");
    let effects = rig.ask(new());
    assert!(matches!(*pipe.read(&effects[0]).unwrap(), Frame::Response { .. }));
}

#[test]
fn garbage_is_sent_as_it_is_before_the_answer() {
    let (mut rig, session) = on_prompt(vec![Action::Garbage("npm warn\nold".into())]);
    let effects = rig.prompt(&session, "hello");
    let lines: Vec<_> = frames(&effects).take(2).map(Frame::to_line).collect();
    assert_eq!(lines, ["npm warn", "old"]);
    assert_eq!(&*stop_reason(&effects), "end_turn");
}

#[test]
fn a_flood_on_standard_error_is_that_long() {
    let (mut rig, session) = on_prompt(vec![Action::StderrFlood { bytes: 1 << 20 }]);
    assert_eq!(rig.prompt(&session, "hello")[0], AgentEffect::Stderr { bytes: 1 << 20 });
}

#[test]
fn updates_of_every_kind_have_what_the_protocol_wants_of_them() {
    for (kind, field) in [
        ("tool_call", "toolCallId"),
        ("tool_call_update", "toolCallId"),
        ("plan", "entries"),
        ("available_commands_update", "availableCommands"),
        ("current_mode_update", "currentModeId"),
        ("session_info_update", "title"),
        ("usage_update", "used"),
        ("config_option_update", "configOptions"),
        ("agent_thought_chunk", "content"),
        ("user_message_chunk", "content"),
        ("something_else", "text"),
    ] {
        let update = Action::Update { kind: kind.into(), text: "build".into() };
        let (mut rig, session) = on_prompt(vec![update, Action::Stop("end_turn".into())]);
        let effects = rig.prompt(&session, "hello");
        let params = frames(&effects).next().unwrap().to_json()["params"].clone();
        assert_eq!(params["sessionId"], *session);
        assert_eq!(params["update"]["sessionUpdate"], kind);
        assert!(params["update"].get(field).is_some(), "{params}");
    }
}

#[test]
fn an_update_may_say_anything_verbatim() {
    let body = json!({"sessionUpdate": "agent_message_chunk", "messageId": null,
        "content": {"type": "terminal", "terminalId": "unknown"}});
    let (mut rig, session) = on_prompt(vec![Action::UpdateWith(body.clone())]);
    let effects = rig.prompt(&session, "hello");
    assert_eq!(frames(&effects).next().unwrap().to_json()["params"]["update"], body);
}

#[test]
fn an_update_before_a_new_session_is_answered_names_that_session() {
    let early = Action::Update { kind: "available_commands_update".into(), text: "x".into() };
    let mut rig = Rig::scripted("session/new", vec![early]);
    let effects = rig.ask(new());
    let session = answer(&effects).unwrap().session_id.unwrap();
    assert_eq!(updates(&effects), [format!("{session} available_commands_update ")]);
}

#[test]
fn chatter_goes_on_beside_everything_else_and_ends() {
    let kind: Text = "agent_thought_chunk".into();
    let chatter = Action::Chatter { kind, text: "hm".into(), gap_ms: 5000, count: 3 };
    let (mut rig, session) = on_prompt(vec![chatter, Action::Hang]);
    let effects = rig.prompt(&session, "hello");
    let (done, elapsed_ms) = rig.run_out(effects);
    assert_eq!(updates(&done), vec![format!("{session} agent_thought_chunk hm"); 3]);
    assert_eq!(elapsed_ms, 15_000);
    assert!(outcomes(&done).is_empty());
}

#[test]
fn a_request_of_the_agent_holds_its_own_up_until_it_is_answered() {
    let ask = Action::Request { method: "session/request_permission".into() };
    let (mut rig, session) = on_prompt(vec![ask]);
    let effects = rig.prompt(&session, "hello");
    let Some(Frame::Request { id, call }) = frames(&effects).next() else { panic!("{effects:?}") };
    assert_eq!(call.params()["options"][0]["kind"], "allow_once");
    assert_eq!(call.session_id(), Some(&*session));
    assert!(outcomes(&effects).is_empty());
    let outcome = Err(RpcError::new(-32601, "no such method"));
    let refusal = Frame::Response { id: id.clone(), outcome };
    let effects = rig.event(AgentEvent::Frame(Arc::new(refusal)));
    assert_eq!(&*stop_reason(&effects), "end_turn");
}

#[test]
fn a_gate_waits_for_the_director_and_the_oldest_goes_first() {
    let (mut rig, one) = on_prompt(vec![Action::Gate]);
    let two = rig.open();
    assert_eq!(rig.prompt(&one, "hello"), [AgentEffect::AtGate]);
    assert_eq!(rig.prompt(&two, "hello"), [AgentEffect::AtGate]);
    assert_eq!(
        updates(&rig.event(AgentEvent::Released)),
        [format!("{one} agent reply to hello (turn 1)")]
    );
    assert_eq!(
        updates(&rig.event(AgentEvent::Released)),
        [format!("{two} agent reply to hello (turn 1)")]
    );
    assert!(rig.event(AgentEvent::Released).is_empty());
}

#[test]
fn a_rule_for_one_session_leaves_the_others_alone() {
    let error = Action::Error { code: -32603, message: "dead".into(), data: None };
    let (mut rig, one) = on_prompt(vec![Action::OnlySession(1), error]);
    let two = rig.open();
    assert_eq!(code(answer(&rig.prompt(&one, "hello"))), -32603);
    assert_eq!(&*stop_reason(&rig.prompt(&two, "hello")), "end_turn");
    assert_eq!(code(answer(&rig.prompt(&one, "again"))), -32603);
}

#[test]
fn a_prompt_while_its_session_is_loading_is_refused_and_the_load_goes_on() {
    let mut rig = Rig::scripted("session/load", vec![Action::Gate]);
    rig.disk.give("old", &[("q", "a")]);
    let old: Text = "old".into();
    rig.ask(load(&old));
    assert_eq!(code(answer(&rig.prompt(&old, "early"))), -32600);
    let effects = rig.event(AgentEvent::Released);
    assert_eq!(updates(&effects), ["old user q", "old agent a"]);
    assert_eq!(&*stop_reason(&rig.prompt(&old, "now")), "end_turn");
}
