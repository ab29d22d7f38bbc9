//! What a harness sends, held against the official schema of ACP version 1. Advisory: real
//! harnesses send more than the schema knows, and a finding is never a failure.
//!
//! - [`SchemaCheck`]: the whole of a connection, frame by frame; start here.
//! - [`params_misfit`], [`result_misfit`]: one value against one method.
//! - [`agent_params_misfit`], [`agent_result_misfit`]: the same of what an agent sends, and
//!   [`strange_param`], [`strange_field`]: fields that the schema does not know.
//! - `shape`: the small part of JSON Schema that the official one uses.
//! - `acp-v1.json`: the official schema without its prose. It is made by the package in
//!   `official/`, whose tests hold it and `shape` against the official types.

mod check;
mod shape;
mod strange;

use std::sync::LazyLock;

use serde_json::Value;

pub use check::SchemaCheck;

static TABLE: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("acp-v1.json")).expect("the table is JSON, a test reads it")
});

/// What is wrong with the parameters of a request or notification of the client; `None` where
/// nothing is, or where the protocol does not know the method.
pub fn params_misfit(method: &str, params: &Value) -> Option<String> {
    misfit("params", method, params)
}

/// What is wrong with a client's result to a request of the agent.
pub fn result_misfit(method: &str, result: &Value) -> Option<String> {
    misfit("results", method, result)
}

/// What is wrong with the parameters of a request or notification of an agent; `None` where
/// nothing is, or where the protocol does not know the method.
pub fn agent_params_misfit(method: &str, params: &Value) -> Option<String> {
    misfit("agent_params", method, params)
}

/// What is wrong with an agent's result to a request of its client.
pub fn agent_result_misfit(method: &str, result: &Value) -> Option<String> {
    misfit("agent_results", method, result)
}

/// The path of a field in an agent's parameters that the protocol does not know.
pub fn strange_param(method: &str, params: &Value) -> Option<String> {
    strange::field(&TABLE["shapes"], named("agent_params", method)?, params)
}

/// The path of a field in an agent's result that the protocol does not know.
pub fn strange_field(method: &str, result: &Value) -> Option<String> {
    strange::field(&TABLE["shapes"], named("agent_results", method)?, result)
}

/// Whether an agent may call this method, by the protocol.
pub fn agent_may_call(method: &str) -> bool {
    method == "elicitation/create"
        || method == "elicitation/complete"
        || named("agent_params", method).is_some()
}

fn misfit(part: &str, method: &str, value: &Value) -> Option<String> {
    shape::misfit(&TABLE["shapes"], named(part, method)?, value).map(|misfit| misfit.to_string())
}

/// The name of a method's shape.
fn named(part: &str, method: &str) -> Option<&'static str> {
    TABLE[part].get(method).and_then(Value::as_str)
}
