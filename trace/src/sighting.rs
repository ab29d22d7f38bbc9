//! What the client of a certificate notices beside the frames themselves.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::acp::{RpcId, Text};

/// Something that a certificate's client did or saw at one process of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// The request with this id, which comes next, is made for the named probe.
    Asked {
        /// The probe.
        probe: Text,
        /// The id of its request.
        request: RpcId,
    },
    /// Something that is no request was done for the named probe.
    Did {
        /// The probe.
        probe: Text,
        /// What it was about: a session, a path, a count; may be empty.
        about: Text,
    },
    /// Something could not be done: what, in a few words that programs may read.
    Trouble(Text),
    /// The client stopped waiting for the answer to a request.
    GaveUp {
        /// The request's id.
        request: RpcId,
        /// How long it had waited, in milliseconds.
        after_ms: u64,
    },
    /// The time for everything was up before a request was answered: nothing can be said of it.
    OutOfTime {
        /// The request's id.
        request: RpcId,
    },
    /// A line held bytes that are no UTF-8; it stands in the trace with them replaced.
    NotUtf8,
    /// A line had more bytes than the client reads; what it said is lost.
    LongLine {
        /// The bound that it broke.
        bytes: u64,
    },
    /// The process wrote more than the client reads in all and was killed.
    Flood {
        /// The bound that it broke, in bytes.
        bytes: u64,
    },
    /// The input was closed and the process lived on.
    OutlivedEof {
        /// How long the client waited, in milliseconds.
        after_ms: u64,
    },
    /// The process was gone and others of its group were not; they were killed.
    Orphans,
    /// Something that the process had started left its group and would have lived on; it was killed.
    Strayed {
        /// Its command line, or the beginning of it.
        command: Text,
    },
    /// The process's model was asked.
    ModelAsked {
        /// Which provider's way of asking: `openai-chat`, `anthropic`, …
        api: Text,
        /// The texts of the user in the conversation that it was sent, oldest first.
        said: Arc<[Text]>,
    },
    /// A server that a session brought along was started.
    ServerStarted {
        /// Its name.
        server: Text,
    },
}

impl Sighting {
    /// The sighting as JSON, as it stands in a trace.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Asked { probe, request } => {
                json!({"saw": "asked", "probe": &**probe, "request": request.to_json()})
            }
            Self::Did { probe, about } => {
                json!({"saw": "did", "probe": &**probe, "about": &**about})
            }
            Self::Trouble(text) => json!({"saw": "trouble", "text": &**text}),
            Self::GaveUp { request, after_ms } => {
                json!({"saw": "gave-up", "request": request.to_json(), "after_ms": after_ms})
            }
            Self::OutOfTime { request } => {
                json!({"saw": "out-of-time", "request": request.to_json()})
            }
            Self::NotUtf8 => json!({"saw": "not-utf8"}),
            Self::LongLine { bytes } => json!({"saw": "long-line", "bytes": bytes}),
            Self::Flood { bytes } => json!({"saw": "flood", "bytes": bytes}),
            Self::OutlivedEof { after_ms } => json!({"saw": "outlived-eof", "after_ms": after_ms}),
            Self::Orphans => json!({"saw": "orphans"}),
            Self::Strayed { command } => json!({"saw": "strayed", "command": &**command}),
            Self::ModelAsked { api, said } => {
                let said: Vec<&str> = said.iter().map(|text| &**text).collect();
                json!({"saw": "model-asked", "api": &**api, "said": said})
            }
            Self::ServerStarted { server } => {
                json!({"saw": "server-started", "server": &**server})
            }
        }
    }

    /// Reads what [`Self::to_json`] wrote.
    pub fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(Text::from);
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        let request = || RpcId::from_json(value.get("request")?);
        Some(match value.get("saw")?.as_str()? {
            "asked" => Self::Asked { probe: text("probe")?, request: request()? },
            "did" => Self::Did { probe: text("probe")?, about: text("about")? },
            "trouble" => Self::Trouble(text("text")?),
            "gave-up" => Self::GaveUp { request: request()?, after_ms: number("after_ms")? },
            "out-of-time" => Self::OutOfTime { request: request()? },
            "not-utf8" => Self::NotUtf8,
            "long-line" => Self::LongLine { bytes: number("bytes")? },
            "flood" => Self::Flood { bytes: number("bytes")? },
            "outlived-eof" => Self::OutlivedEof { after_ms: number("after_ms")? },
            "orphans" => Self::Orphans,
            "strayed" => Self::Strayed { command: text("command")? },
            "model-asked" => Self::ModelAsked {
                api: text("api")?,
                said: value
                    .get("said")?
                    .as_array()?
                    .iter()
                    .map(|said| said.as_str().map(Text::from))
                    .collect::<Option<_>>()?,
            },
            "server-started" => Self::ServerStarted { server: text("server")? },
            _ => return None,
        })
    }

    /// The sighting in a few words, for a listing.
    pub fn told(&self) -> String {
        match self {
            Self::Asked { probe, .. } | Self::Did { probe, .. } => format!("probe {probe}"),
            Self::Trouble(text) => text.to_string(),
            Self::GaveUp { after_ms, .. } => format!("no answer within {after_ms} ms"),
            Self::OutOfTime { .. } => "the time for everything is up".to_owned(),
            Self::NotUtf8 => "a line that is no UTF-8".to_owned(),
            Self::LongLine { bytes } => format!("a line of more than {bytes} bytes"),
            Self::Flood { bytes } => format!("more than {bytes} bytes of output: killed"),
            Self::OutlivedEof { after_ms } => format!("lives {after_ms} ms after its input ended"),
            Self::Orphans => "is gone, but left processes behind".to_owned(),
            Self::Strayed { command } => {
                format!("had started `{command}`, out of its group: killed")
            }
            Self::ModelAsked { api, said } => format!("asks its model ({api}, {})", said.len()),
            Self::ServerStarted { server } => format!("started the server `{server}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sightings_survive_the_round_trip() {
        let all = [
            Sighting::Asked { probe: "load".into(), request: RpcId::Text("x".into()) },
            Sighting::Did { probe: "kill".into(), about: "group".into() },
            Sighting::Trouble("spawn".into()),
            Sighting::GaveUp { request: RpcId::Number(-7), after_ms: 5 },
            Sighting::OutOfTime { request: RpcId::Null },
            Sighting::NotUtf8,
            Sighting::LongLine { bytes: 1 },
            Sighting::Flood { bytes: 2 },
            Sighting::OutlivedEof { after_ms: 3 },
            Sighting::Orphans,
            Sighting::Strayed { command: "sleep 1000".into() },
            Sighting::ModelAsked { api: "anthropic".into(), said: ["a".into()].into() },
            Sighting::ServerStarted { server: "s".into() },
        ];
        for sighting in all {
            assert_eq!(Sighting::from_json(&sighting.to_json()), Some(sighting));
        }
    }
}
