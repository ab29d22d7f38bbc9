use super::*;

fn request(id: u64, method: &str, session: &str) -> String {
    let params = json!({"sessionId": session, "_meta": {"channel": "c"}});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn answer(id: u64, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

fn update(session: &str) -> String {
    let params = json!({"sessionId": session});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
}

fn read(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_load_is_refused_to_the_harness_only() {
    let mut between = Interposer::new(Tampering::LoadUnknown);
    assert_eq!(between.harness_says(request(1, "session/load", "S")).to_agent.len(), 1);
    let passed = between.agent_says(answer(1, &json!({})));
    assert_eq!(read(&passed.to_harness[0])["error"]["code"], NOT_FOUND);
    // Others are answered as they were.
    let other = answer(2, &json!({}));
    assert_eq!(read(&between.agent_says(other.clone()).to_harness[0]), read(&other));
}

#[test]
fn an_agent_that_can_load_is_said_not_to() {
    let mut between = Interposer::new(Tampering::NoLoadSession);
    let offer = answer(0, &json!({"agentCapabilities": {"loadSession": true}}));
    let passed = between.agent_says(offer);
    assert_eq!(read(&passed.to_harness[0])["result"]["agentCapabilities"]["loadSession"], false);
}

#[test]
fn history_comes_after_the_answer() {
    let mut between = Interposer::new(Tampering::LateReplay);
    between.harness_says(request(1, "session/load", "S"));
    assert_eq!(between.agent_says(update("S")), Passed::default());
    let passed = between.agent_says(answer(1, &json!({})));
    assert_eq!(read(&passed.to_harness[0])["id"], 1);
    assert_eq!(read(&passed.to_harness[1])["method"], "session/update");
    assert_eq!(between.agent_says(update("S")).to_harness.len(), 1);
}

#[test]
fn an_extra_session_is_opened_and_its_answer_kept() {
    let mut between = Interposer::new(Tampering::ExtraSession);
    between.harness_says(request(1, "session/new", "S"));
    let passed = between.harness_says(request(2, "session/prompt", "S"));
    let opened = read(&passed.to_agent[0]);
    assert_eq!(opened["method"], "session/new");
    assert_eq!(read(&passed.to_agent[1])["id"], 2);
    let answer = json!({"id": opened["id"], "result": {"sessionId": "T"}}).to_string();
    assert_eq!(between.agent_says(answer), Passed::default());
}

#[test]
fn every_prompt_goes_to_the_first_session_and_its_updates_come_from_the_meant_one() {
    let mut between = Interposer::new(Tampering::OneSession);
    between.agent_says(answer(1, &json!({"sessionId": "S"})));
    between.agent_says(answer(2, &json!({"sessionId": "T"})));
    let passed = between.harness_says(request(3, "session/prompt", "T"));
    assert_eq!(read(&passed.to_agent[0])["params"]["sessionId"], "S");
    let passed = between.agent_says(update("S"));
    assert_eq!(read(&passed.to_harness[0])["params"]["sessionId"], "T");
}

#[test]
fn prompts_are_lost_and_doubled() {
    let mut between = Interposer::new(Tampering::PromptLost);
    let first = between.harness_says(request(1, "session/prompt", "S"));
    assert!(first.to_agent.is_empty());
    assert_eq!(read(&first.to_harness[0])["result"]["stopReason"], "end_turn");
    assert_eq!(between.harness_says(request(2, "session/prompt", "S")).to_agent.len(), 1);

    let mut between = Interposer::new(Tampering::PromptTwice);
    between.harness_says(request(1, "session/prompt", "S"));
    let passed = between.agent_says(answer(1, &json!({"stopReason": "end_turn"})));
    assert_eq!(read(&passed.to_agent[0])["method"], "session/prompt");
    let second = read(&passed.to_agent[0])["id"].clone();
    let answer = json!({"id": second, "result": {}}).to_string();
    assert_eq!(between.agent_says(answer), Passed::default());
}

#[test]
fn what_says_where_a_session_belongs_is_gone() {
    let mut between = Interposer::new(Tampering::NoMeta);
    let passed = between.harness_says(request(1, "session/new", "S"));
    assert_eq!(read(&passed.to_agent[0])["params"].get("_meta"), None);
}

#[test]
fn cancels_and_requests_are_swallowed() {
    let cancel = request(1, "session/cancel", "S");
    assert_eq!(Interposer::new(Tampering::NoCancel).harness_says(cancel), Passed::default());
    let asked = request(1, "session/request_permission", "S");
    assert_eq!(Interposer::new(Tampering::RequestLost).agent_says(asked), Passed::default());
}
