//! The ways of talking to a model.

use std::io;

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::http::Body;
use super::speech::Speech;
use super::{anthropic, gemini, openai, responses};

/// A way of talking to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    OpenAi,
    Responses,
    Anthropic,
    Gemini,
}

impl Api {
    /// The way that a path belongs to.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        Some(match path {
            path if path.ends_with("/chat/completions") => Self::OpenAi,
            path if path.ends_with("/responses") => Self::Responses,
            path if path.ends_with("/messages") => Self::Anthropic,
            path if path.contains(":streamGenerateContent") => Self::Gemini,
            path if path.contains(":generateContent") => Self::Gemini,
            _ => return None,
        })
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-chat",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    pub(super) fn read(self, body: &Value) -> Conversation {
        match self {
            Self::OpenAi => openai::read(body),
            Self::Responses => responses::read(body),
            Self::Anthropic => anthropic::read(body),
            Self::Gemini => gemini::read(body),
        }
    }

    pub(super) fn whole(self, speech: &Speech, id: u64) -> Value {
        match self {
            Self::OpenAi => openai::whole(speech, id),
            Self::Responses => responses::whole(speech, id),
            Self::Anthropic => anthropic::whole(speech, id),
            Self::Gemini => gemini::whole(speech, id),
        }
    }

    /// What a provider says when it refuses.
    pub(super) fn refusal(self, status: u16) -> Value {
        let message = "as was wished";
        let limited = status == 429;
        match self {
            Self::OpenAi | Self::Responses => {
                let code = if limited { "rate_limit_exceeded" } else { "server_error" };
                json!({"error": {"message": message, "type": code, "code": code}})
            }
            Self::Anthropic => {
                let kind = if limited { "rate_limit_error" } else { "api_error" };
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            Self::Gemini => {
                let word = if limited { "RESOURCE_EXHAUSTED" } else { "INTERNAL" };
                json!({"error": {"code": status, "message": message, "status": word}})
            }
        }
    }

    pub(super) fn stream(self, body: &mut Body, speech: &Speech, id: u64) -> io::Result<()> {
        match self {
            Self::OpenAi => openai::stream(body, speech, id),
            Self::Responses => responses::stream(body, speech, id),
            Self::Anthropic => anthropic::stream(body, speech, id),
            Self::Gemini => gemini::stream(body, speech, id),
        }
    }
}
