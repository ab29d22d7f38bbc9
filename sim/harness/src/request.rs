//! What the agent asks of its client: permissions are given, anything else is not offered (H-41).

use std::sync::Arc;

use serde_json::{Map, Value, json};
use skep_mutant::Mutant;
use skep_trace::{Answer, Call, Frame, RpcError, RpcId};

use crate::effect::Out;
use crate::failure::METHOD_NOT_FOUND;
use crate::harness::Harness;
use crate::turn::Stage;

/// Parameters that do not fit the method.
const INVALID_PARAMS: i64 = -32602;

impl Harness {
    /// Answers at once, in whatever stage the turn is: an agent that waits for a permission while
    /// it loads would never answer the load.
    pub(crate) fn on_agent_request(&mut self, id: &RpcId, call: &Call, out: &mut Out<'_>) {
        let loading =
            self.turn.as_ref().is_some_and(|turn| matches!(turn.stage, Stage::Loading(_)));
        if loading {
            self.load_speaks(out.now_ms);
            if self.config.mutants.has(Mutant::DropsRequestsInLoad) {
                return;
            }
        }
        let outcome = match call {
            Call::Other { method, params } if &**method == "session/request_permission" => {
                permit(params)
            }
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "this client does not offer that")),
        };
        out.tell_agent(Frame::Response { id: id.clone(), outcome });
    }

    /// An agent that asks for something is not silent.
    fn load_speaks(&mut self, now_ms: u64) {
        if let Some(turn) = &mut self.turn
            && let Stage::Loading(load) = &mut turn.stage
            && !self.config.mutants.has(Mutant::TotalLoadTimeout)
        {
            load.heard_ms = now_ms;
        }
    }
}

/// Allows what is asked, once; refuses it, once, where that is not among the options.
fn permit(params: &Value) -> Result<Answer, RpcError> {
    let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_kind = |kind: &str| options.iter().find(|option| option["kind"] == kind);
    let chosen = of_kind("allow_once").or_else(|| of_kind("reject_once"));
    let Some(id) = chosen.and_then(|option| option["optionId"].as_str()) else {
        return Err(RpcError::new(INVALID_PARAMS, "no option to choose"));
    };
    let outcome = json!({"outcome": "selected", "optionId": id});
    let extra = Map::from_iter([("outcome".to_owned(), outcome)]);
    Ok(Answer { extra: Some(Arc::new(extra)), ..Answer::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(kinds: &[&str]) -> Option<String> {
        let options: Vec<Value> = kinds
            .iter()
            .map(|kind| json!({"kind": kind, "optionId": format!("o-{kind}")}))
            .collect();
        let answer = permit(&json!({"options": options})).ok()?;
        Some(answer.field("outcome")?["optionId"].as_str()?.to_owned())
    }

    #[test]
    fn a_permission_is_given_once_never_for_good() {
        assert_eq!(chosen(&["allow_always", "allow_once"]).as_deref(), Some("o-allow_once"));
        assert_eq!(chosen(&["allow_always", "reject_once"]).as_deref(), Some("o-reject_once"));
        assert_eq!(chosen(&["allow_always"]), None);
    }
}
