//! The relay's HTTP side: queries, counts and publications in one request each.

use skep_trace::{Filter, HttpBody, HttpCall, HttpReply, SharedEvent};

use crate::relay::{Relay, RelayEffect};

/// The paths that take a POST.
const PATHS: [&str; 3] = ["/query", "/count", "/events"];

impl Relay {
    /// Answers one request.
    pub(crate) fn http(&mut self, call: &HttpCall, out: &mut Vec<RelayEffect>) -> HttpReply {
        if self.is_down() {
            return refusal(503, "the relay is down");
        }
        if let Some(limited) = self.limited() {
            return refusal(429, &limited);
        }
        match call {
            HttpCall::Query(filters) if self.too_many(filters) => too_long(),
            HttpCall::Count(filters) if self.too_many(filters) => too_long(),
            HttpCall::Query(filters) => {
                HttpReply::ok(HttpBody::Events(self.archive.answer(filters, None)))
            }
            HttpCall::Count(filters) => HttpReply::ok(HttpBody::Count(self.archive.count(filters))),
            HttpCall::Publish(event) => self.take_posted(event, out),
            HttpCall::Other { path } if PATHS.contains(&&**path) => {
                refusal(400, "the body cannot be read")
            }
            HttpCall::Other { .. } => refusal(404, "there is nothing here"),
        }
    }

    fn too_many(&self, filters: &[Filter]) -> bool {
        filters.len() > self.config.bounds.filters
    }

    /// An event that is posted speaks for its author: its own signature says who that is.
    fn take_posted(&mut self, event: &SharedEvent, out: &mut Vec<RelayEffect>) -> HttpReply {
        let (status, accepted, message) = match self.take(event, &event.pubkey, out) {
            Ok(word) => (200, true, word.into()),
            Err(why) => (400, false, why),
        };
        HttpReply { status, body: HttpBody::Accepted { id: event.id(), accepted, message } }
    }
}

fn too_long() -> HttpReply {
    refusal(400, "the request is too long")
}

fn refusal(status: u16, why: &str) -> HttpReply {
    HttpReply { status, body: HttpBody::Other(why.into()) }
}
