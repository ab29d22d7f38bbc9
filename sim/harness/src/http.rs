//! The HTTP calls under way: what each was made for, and which are tried again.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_trace::{HttpCall, HttpReply, Text};

use crate::effect::{HarnessEffect, Out};

/// What a call was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Which channels the agent is a member of, at the start.
    Memberships,
    /// What those channels are, at the start.
    Metadata,
    /// What a channel is that came later.
    LateMetadata,
    /// A notice to people: tried until it is out, since it may be all they ever hear.
    Notice,
    /// A reaction: nobody misses one.
    Reaction,
}

/// How often a question is asked again before it counts as failed.
const RETRIES: u32 = 3;

/// How long the first new attempt waits; each further one twice as long.
const RETRY_MS: u64 = 500;

/// The longest wait between two attempts.
const RETRY_CAP_MS: u64 = 60_000;

/// How many calls may be under way or waiting; beyond that the oldest is given up.
const BOUND: usize = 256;

#[derive(Clone, Debug)]
struct Call {
    call: Arc<HttpCall>,
    ask: Ask,
    attempts: u32,
    /// It waits for this instant; `None` while it is under way.
    due_ms: Option<u64>,
}

/// What became of an answered call.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// It succeeded.
    Answered(Ask, Arc<HttpReply>),
    /// It failed for good; why, for a person.
    Failed(Ask, Text),
    /// It is tried again later.
    Again,
    /// Nothing is known of it.
    Unknown,
}

/// The calls under way and those that wait for another attempt.
#[derive(Debug, Default)]
pub(crate) struct Http {
    calls: BTreeMap<u32, Call>,
    last: u32,
}

impl Http {
    pub(crate) fn ask(&mut self, call: HttpCall, ask: Ask, out: &mut Out<'_>) {
        if self.calls.len() >= BOUND {
            self.calls.pop_first();
        }
        self.last += 1;
        let call = Arc::new(call);
        out.push(HarnessEffect::Http(self.last, call.clone()));
        self.calls.insert(self.last, Call { call, ask, attempts: 0, due_ms: None });
    }

    pub(crate) fn answered(
        &mut self,
        ticket: u32,
        answer: Result<Arc<HttpReply>, Text>,
        now_ms: u64,
    ) -> Outcome {
        let Some(mut call) = self.calls.remove(&ticket) else { return Outcome::Unknown };
        let (why, transient) = match answer {
            Ok(reply) if (200..300).contains(&reply.status) => {
                return Outcome::Answered(call.ask, reply);
            }
            Ok(reply) => (
                format!("status {}", reply.status).into(),
                matches!(reply.status, 429 | 502 | 503 | 504),
            ),
            Err(why) => (why, true),
        };
        let patient = match call.ask {
            Ask::Notice => true,
            Ask::Reaction => false,
            _ => call.attempts < RETRIES,
        };
        if !(transient && patient) {
            return Outcome::Failed(call.ask, why);
        }
        let wait_ms = (RETRY_MS << call.attempts.min(10)).min(RETRY_CAP_MS);
        call.due_ms = Some(now_ms + wait_ms);
        call.attempts += 1;
        self.calls.insert(ticket, call);
        Outcome::Again
    }

    /// Makes the calls again whose time has come.
    pub(crate) fn retry(&mut self, out: &mut Out<'_>) {
        for (ticket, call) in &mut self.calls {
            if call.due_ms.is_some_and(|due| due <= out.now_ms) {
                call.due_ms = None;
                out.effects.push(HarnessEffect::Http(*ticket, call.call.clone()));
            }
        }
    }

    /// When the next waiting call is due.
    pub(crate) fn next_due_ms(&self) -> Option<u64> {
        self.calls.values().filter_map(|call| call.due_ms).min()
    }

    /// How many calls are under way or wait.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }
}

#[cfg(test)]
mod tests {
    use skep_trace::HttpBody;

    use super::*;

    fn answers(ask: Ask, status: u16) -> (Http, Vec<HarnessEffect>, Outcome) {
        let mut effects = Vec::new();
        let mut out = Out { now_ms: 0, date_s: 0, logs: false, effects: &mut effects };
        let mut http = Http::default();
        http.ask(HttpCall::Query(Vec::new()), ask, &mut out);
        let reply = HttpReply { status, body: HttpBody::Other("".into()) };
        let outcome = http.answered(1, Ok(Arc::new(reply)), 0);
        (http, effects, outcome)
    }

    #[test]
    fn a_transient_failure_is_tried_again_under_the_same_number() {
        let (mut http, mut effects, outcome) = answers(Ask::Memberships, 503);
        assert_eq!(outcome, Outcome::Again);
        assert_eq!(http.next_due_ms(), Some(500));
        http.retry(&mut Out { now_ms: 500, date_s: 0, logs: false, effects: &mut effects });
        assert_eq!(effects[0], effects[1]);
    }

    #[test]
    fn a_refusal_and_a_lost_reaction_are_final() {
        assert!(matches!(answers(Ask::Memberships, 400).2, Outcome::Failed(..)));
        assert!(matches!(answers(Ask::Reaction, 503).2, Outcome::Failed(..)));
    }

    #[test]
    fn a_question_gives_up_in_the_end_and_a_notice_never() {
        let mut out = Out { now_ms: 0, date_s: 0, logs: false, effects: &mut Vec::new() };
        let mut http = Http::default();
        http.ask(HttpCall::Query(Vec::new()), Ask::Metadata, &mut out);
        http.ask(HttpCall::Query(Vec::new()), Ask::Notice, &mut out);
        let lost = |http: &mut Http, ticket| http.answered(ticket, Err("refused".into()), 0);
        let last = (0..=RETRIES).map(|_| lost(&mut http, 1)).last();
        assert!(matches!(last, Some(Outcome::Failed(Ask::Metadata, _))));
        assert!((0..100).all(|_| lost(&mut http, 2) == Outcome::Again));
    }
}
