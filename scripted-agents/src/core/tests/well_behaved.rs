//! What an agent without a script does.

use super::*;

#[test]
fn initialize_is_answered_with_version_one_and_what_the_cast_offers() {
    let mut cast = AgentCast::new("a");
    cast.resume = true;
    cast.list = true;
    let mut rig = Rig::new(cast);
    let wanted = Call::Initialize(Arc::new(json!({"protocolVersion": 65535})));
    let result = answer(&rig.ask(wanted)).unwrap().to_json();
    assert_eq!(result["protocolVersion"], 1);
    assert_eq!(result["agentInfo"]["name"], "a");
    let offered = json!({"loadSession": true,
        "sessionCapabilities": {"resume": {}, "close": {}, "delete": {}, "list": {}}});
    assert_eq!(result["agentCapabilities"], offered);
}

#[test]
fn what_load_session_says_is_said_verbatim_and_only_true_counts() {
    for (said, code) in [(None, -32601), (Some(json!("yes")), -32601), (Some(json!(true)), -32002)]
    {
        let mut cast = AgentCast::new("a");
        cast.load_session = said.clone();
        let mut rig = Rig::new(cast);
        let result = answer(&rig.ask(Call::Initialize(Arc::new(json!({}))))).unwrap();
        let capabilities = result.field("agentCapabilities").unwrap();
        assert_eq!(capabilities.get("loadSession"), said.as_ref());
        assert_eq!(super::code(answer(&rig.ask(load(&"ghost".into())))), code);
    }
}

#[test]
fn every_session_gets_an_id_of_its_own() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let (one, two) = (rig.open(), rig.open());
    assert_ne!(one, two);
    assert!(one.starts_with("a-S1-") && two.starts_with("a-S2-"), "{one} {two}");
    assert_eq!(rig.agent.open_sessions().count(), 2);
}

#[test]
fn a_prompt_is_answered_in_its_own_words_and_by_number() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let session = rig.open();
    let effects = rig.prompt(&session, "hello");
    assert_eq!(updates(&effects), [format!("{session} agent reply to hello (turn 1)")]);
    assert_eq!(&*stop_reason(&effects), "end_turn");
    let effects = rig.prompt(&session, "[Buzz event]\nFrom: x\nContent: the words\nTags: []");
    assert_eq!(updates(&effects), [format!("{session} agent reply to the words (turn 2)")]);
}

#[test]
fn a_long_prompt_is_repeated_in_part_whatever_its_letters() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let session = rig.open();
    let effects = rig.prompt(&session, &"é\n".repeat(100));
    let echoed = format!("reply to {} (turn 1)", "é ".repeat(30));
    assert_eq!(updates(&effects), [format!("{session} agent {echoed}")]);
}

#[test]
fn an_unknown_session_is_not_found_and_named() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let ghost: Text = "ghost".into();
    for call in [
        load(&ghost),
        prompt(&ghost, "hello"),
        other(
            "session/set_config_option",
            json!({"sessionId": "ghost", "configId": "mode", "value": "x"}),
        ),
    ] {
        let error = answer(&rig.ask(call)).unwrap_err();
        assert_eq!(error.code, -32002);
        assert_eq!(error.data.as_deref(), Some(&json!({"sessionId": "ghost"})));
    }
    assert_eq!(rig.disk.sessions().count(), 0);
}

#[test]
fn an_id_in_another_case_is_another_id() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let session = rig.open();
    for spelled in [session.to_lowercase(), session.to_uppercase(), format!(" {session}")] {
        assert_eq!(code(answer(&rig.ask(load(&spelled.as_str().into())))), -32002);
    }
    assert!(answer(&rig.ask(load(&session))).is_ok());
}

#[test]
fn a_relative_directory_or_a_missing_server_list_is_refused() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let relative = Setup { cwd: "w".into(), ..setup() };
    assert_eq!(code(answer(&rig.ask(Call::SessionNew(relative)))), -32602);
    let missing = Setup { mcp_servers: Arc::new(Value::Null), ..setup() };
    assert_eq!(code(answer(&rig.ask(Call::SessionNew(missing)))), -32602);
    assert_eq!(rig.disk.sessions().count(), 0);
}

#[test]
fn models_and_modes_are_offered_and_what_was_chosen_survives_a_restart() {
    let mut cast = AgentCast::new("a");
    cast.models = vec!["m1".into(), "m2".into()];
    cast.modes = vec!["ask".into(), "bypassPermissions".into()];
    let mut rig = Rig::new(cast.clone());
    let created = answer(&rig.ask(new())).unwrap();
    assert_eq!(created.field("models").unwrap()["currentModelId"], "m1");
    assert_eq!(created.field("modes").unwrap()["availableModes"][1]["id"], "bypassPermissions");
    let session_id = created.session_id.unwrap();

    let model_id = "m2".into();
    let choose = Call::SetModel { session_id: session_id.clone(), model_id };
    assert_eq!(answer(&rig.ask(choose)), Ok(Answer::empty()));
    let option = other(
        "session/set_config_option",
        json!({"sessionId": &*session_id, "configId": "mode", "value": "bypassPermissions"}),
    );
    let list = answer(&rig.ask(option)).unwrap().to_json();
    assert_eq!(list["configOptions"][0]["currentValue"], "m2");
    assert_eq!(list["configOptions"][1]["currentValue"], "bypassPermissions");

    let mut rig = rig.restarted(cast);
    let loaded = answer(&rig.ask(load(&session_id))).unwrap().to_json();
    assert_eq!(loaded["models"]["currentModelId"], "m2");
    assert_eq!(loaded["modes"]["currentModeId"], "bypassPermissions");
}

#[test]
fn a_model_or_mode_that_is_not_offered_is_refused() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let session_id = rig.open();
    let model = Call::SetModel { session_id: session_id.clone(), model_id: "m1".into() };
    assert_eq!(code(answer(&rig.ask(model))), -32602);
    let mode = Call::SetMode { session_id, mode_id: "ask".into() };
    assert_eq!(code(answer(&rig.ask(mode))), -32602);
}

#[test]
fn a_closed_session_is_kept_and_a_deleted_one_is_gone() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let session_id = rig.open();
    let close = Call::SessionClose { session_id: session_id.clone() };
    assert_eq!(answer(&rig.ask(close.clone())), Ok(Answer::empty()));
    assert_eq!(code(answer(&rig.ask(close))), -32002);
    assert_eq!(code(answer(&rig.prompt(&session_id, "hello"))), -32002);
    assert!(answer(&rig.ask(load(&session_id))).is_ok());

    let delete = Call::SessionDelete { session_id: session_id.clone() };
    assert_eq!(answer(&rig.ask(delete.clone())), Ok(Answer::empty()));
    assert_eq!(answer(&rig.ask(delete)), Ok(Answer::empty()));
    assert_eq!(code(answer(&rig.ask(load(&session_id)))), -32002);
}

#[test]
fn what_is_not_offered_is_no_method() {
    let mut cast = AgentCast::new("a");
    cast.close = false;
    let mut rig = Rig::new(cast);
    let session_id = rig.open();
    for call in [
        Call::SessionClose { session_id: session_id.clone() },
        Call::SessionDelete { session_id: session_id.clone() },
        Call::SessionResume { session_id, setup: setup() },
        other("session/list", json!({})),
        other("_goose/unstable/session/steer", json!({})),
        other("session/archive", json!({})),
    ] {
        assert_eq!(code(answer(&rig.ask(call))), -32601);
    }
    assert!(rig.tell(other("_vendor/news", json!({}))).is_empty());
}

#[test]
fn known_methods_with_other_parameters_are_refused_as_such() {
    let mut rig = Rig::new(AgentCast::new("a"));
    for method in ["session/new", "session/load", "session/prompt"] {
        let call = Call::from_json(method, &json!({"sessionId": 7}));
        assert_eq!(code(answer(&rig.ask(call))), -32602);
    }
}

#[test]
fn a_resume_opens_the_session_without_a_word_of_its_history() {
    let mut cast = AgentCast::new("a");
    cast.resume = true;
    let mut rig = Rig::new(cast);
    rig.disk.give("old", &[("earlier question", "earlier answer")]);
    let session_id: Text = "old".into();
    let effects = rig.ask(Call::SessionResume { session_id: session_id.clone(), setup: setup() });
    assert!(updates(&effects).is_empty());
    assert_eq!(answer(&effects), Ok(Answer::empty()));
    let effects = rig.prompt(&session_id, "more");
    assert_eq!(updates(&effects), ["old agent reply to more (turn 2)"]);
}

#[test]
fn sessions_are_listed_by_directory_and_by_page() {
    let mut cast = AgentCast::new("a");
    cast.list = true;
    let mut rig = Rig::new(cast);
    let ids: Vec<_> = (0..60).map(|_| rig.open()).collect();
    rig.prompt(&ids[0], "a question");
    let page = answer(&rig.ask(other("session/list", json!({"cwd": "/w"})))).unwrap().to_json();
    assert_eq!(page["sessions"].as_array().unwrap().len(), 50);
    let rest = json!({"cwd": "/w", "cursor": page["nextCursor"]});
    let rest = answer(&rig.ask(other("session/list", rest))).unwrap().to_json();
    assert_eq!(rest["sessions"].as_array().unwrap().len(), 10);
    assert_eq!(rest.get("nextCursor"), None);
    let all = [&page, &rest].map(|page| page["sessions"].as_array().unwrap().clone()).concat();
    let first = all.iter().find(|entry| entry["sessionId"] == *ids[0]).unwrap();
    assert_eq!(first["title"], "a question");
    let none = answer(&rig.ask(other("session/list", json!({"cwd": "/else"})))).unwrap();
    assert_eq!(none.to_json(), json!({"sessions": []}));
    let call = other("session/list", json!({"cursor": "x"}));
    assert_eq!(code(answer(&rig.ask(call))), -32602);
}

#[test]
fn nothing_is_served_before_initialize() {
    let mut rig = Rig::new(AgentCast::new("a"));
    rig.agent = Agent::new(Arc::new(AgentCast::new("a")), 2);
    let effects = rig.ask(new());
    assert_eq!(code(answer(&effects)), -32600);
    assert!(effects.contains(&AgentEffect::Finding("`session/new` before `initialize`".into())));
    assert_eq!(rig.disk.sessions().count(), 0);
}

#[test]
fn ids_of_any_kind_come_back_unchanged() {
    let mut rig = Rig::new(AgentCast::new("a"));
    for id in [RpcId::Text("Seven".into()), RpcId::Number(-3), RpcId::Null] {
        let request = Frame::Request { id: id.clone(), call: new() };
        let effects = rig.event(AgentEvent::Frame(Arc::new(request)));
        let echoed = frames(&effects)
            .any(|frame| matches!(frame, Frame::Response { id: answered, .. } if *answered == id));
        assert!(echoed, "{effects:?}");
    }
}

#[test]
fn a_line_that_is_no_message_is_answered_with_a_parse_error() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let effects = rig.event(AgentEvent::Frame(Arc::new(Frame::Garbage("{".into()))));
    assert_eq!(code(answer(&effects)), -32700);
    assert!(answer(&rig.ask(new())).is_ok());
}

#[test]
fn the_end_of_its_input_is_the_end_of_the_agent() {
    let mut rig = Rig::new(AgentCast::new("a"));
    assert_eq!(rig.event(AgentEvent::StdinClosed), [AgentEffect::Exit(0)]);
    assert!(rig.ask(new()).is_empty());
}

#[test]
fn an_answer_to_nothing_is_remarked_on() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let outcome = Ok(Answer::empty());
    let stray = Frame::Response { id: RpcId::Number(0), outcome };
    let effects = rig.event(AgentEvent::Frame(Arc::new(stray)));
    assert_eq!(effects, [AgentEffect::Finding("an answer to nothing that was asked".into())]);
}
