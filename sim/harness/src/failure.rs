//! What an agent's error means: is the session gone, or was this only a bad moment?

use skep_mutant::{Mutant, Mutants};
use skep_trace::RpcError;
use skep_trace::policy::ErrorClass;

/// The protocol's own code for a session that is not there.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// The agent wants a login; its sessions are as alive as before.
const AUTH_REQUIRED: i64 = -32000;

/// The agent does not know the method at all.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// What agents call a session, in errors that have no code of their own for it.
const NOUNS: [&str; 4] = ["session", "conversation", "thread", "resource"];

/// How agents say that something is not there.
const LOST: [&str; 6] =
    ["not found", "notfound", "not_found", "unknown", "no such", "does not exist"];

/// The error says that the session is not there: by its code, or by one of the shapes that public
/// agents use instead (-32001, -32602, -32603 with the reason in the message or the data).
pub(crate) fn is_not_found(error: &RpcError) -> bool {
    match error.code {
        RESOURCE_NOT_FOUND => true,
        AUTH_REQUIRED | METHOD_NOT_FOUND => false,
        _ => says_lost(error),
    }
}

fn says_lost(error: &RpcError) -> bool {
    let data = error.data.as_ref().map(ToString::to_string).unwrap_or_default();
    let text = format!("{} {data}", error.message).to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    any(&NOUNS) && any(&LOST)
}

/// The error answer to a load proves that the session cannot be had (H-5).
pub(crate) fn is_definitive(error: &RpcError, class: ErrorClass) -> bool {
    match class {
        ErrorClass::Answered => true,
        ErrorClass::NotFound => is_not_found(error),
        ErrorClass::None => false,
    }
}

/// A load that nobody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Its deadline passed.
    TimedOut,
    /// The agent's output ended before the answer.
    Ended,
}

impl Silence {
    /// The fault that takes this silence for an answer is switched on.
    pub(crate) fn taken_for_answer(self, mutants: Mutants) -> bool {
        mutants.has(match self {
            Self::TimedOut => Mutant::TimeoutIsDefinitive,
            Self::Ended => Mutant::ExitIsDefinitive,
        })
    }

    /// For a person.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::TimedOut => "the load was not answered in time",
            Self::Ended => "the agent ended before it answered the load",
        }
    }
}

/// Another attempt would fail the same way until a person does something.
pub(crate) fn wants_a_person(error: &RpcError) -> bool {
    ["Re-authenticate", "API Error: 401"].iter().any(|words| error.message.contains(words))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn error(code: i64, message: &str, details: Option<&str>) -> RpcError {
        let data = details.map(|details| Arc::new(json!({"details": details})));
        RpcError { data, ..RpcError::new(code, message) }
    }

    #[test]
    fn public_shapes_of_not_found_are_recognised() {
        for found in [
            error(-32002, "", None),
            error(-32001, "Session not found", None),
            error(-32602, "unknown session sess_1", None),
            error(-32603, "Internal error", Some("Session s1 does not exist")),
            error(-32603, "No conversation found: no such thread", None),
        ] {
            assert!(is_not_found(&found), "{found:?}");
        }
    }

    #[test]
    fn a_bad_moment_is_not_taken_for_a_lost_session() {
        for passing in [
            error(-32000, "session not found, please log in", None),
            error(-32603, "Internal error", None),
            error(-32603, "overloaded", Some("try again")),
            error(-32602, "model not found", None),
            error(-32600, "session has an active writer", None),
            error(-32601, "Method not found: session/load", None),
        ] {
            assert!(!is_not_found(&passing), "{passing:?}");
        }
    }

    #[test]
    fn the_policy_says_which_answers_are_definitive() {
        let internal = error(-32603, "Internal error", None);
        let lost = error(-32002, "", None);
        assert!(is_definitive(&internal, ErrorClass::Answered));
        assert!(!is_definitive(&internal, ErrorClass::NotFound));
        assert!(is_definitive(&lost, ErrorClass::NotFound));
        assert!(!is_definitive(&lost, ErrorClass::None));
    }
}
