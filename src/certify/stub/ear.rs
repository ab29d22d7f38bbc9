//! Who is told what the stub is asked.

use std::fmt;

use serde_json::Value;

/// Somebody who is told of every request, before it is answered, from several threads.
pub trait Ear: fmt::Debug + Send + Sync {
    /// The stub was asked something.
    fn hears(&self, asked: &Asked<'_>);
}

/// A request to the stub, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    /// It goes on with a conversation.
    Talk {
        /// The way of talking.
        api: &'static str,
        /// The texts of the user.
        said: &'a [&'a str],
        /// The names of the tools that may be called.
        tools: &'a [&'a str],
        /// What is answered, in a few words.
        answer: &'a str,
        /// The request itself.
        body: &'a Value,
    },
    /// Anything else: which models there are, or what the stub does not understand.
    Aside {
        /// The method of HTTP.
        method: &'a str,
        /// The path with its query.
        path: &'a str,
        /// The status of the answer.
        status: u16,
    },
}
