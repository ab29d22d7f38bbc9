//! The text form of an agent's disk, for worlds that keep it in a file.
//!
//! `{"skep_agent_disk":1,"agent":…,"seed":…,"minted":…,"known":…,"processes":…,
//! "requests":{method:count},"sessions":{id:SESSION}}`, where a session is
//! `{"number":…,"born":…,"cwd":…,"model":…,"mode":…,"turns":[{"user":[text],"agent":[update]}]}`
//! and an update stands as on the wire.

use serde_json::{Map, Value, json};
use skep_trace::{Text, Update};
use thiserror::Error;

use super::counts::Counts;
use super::disk::{AgentDisk, Session, Turn};

/// The version that this build writes, and the only one that it reads.
const VERSION: u64 = 1;

/// A text that is no agent's disk.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DiskError {
    /// It is no JSON.
    #[error("an agent's disk is JSON, this is not")]
    NotJson,
    /// It has another version, or none.
    #[error("this is no agent's disk of version {VERSION}")]
    Version,
    /// A field is missing or has another type.
    #[error("an agent's disk needs `{0}`")]
    Field(&'static str),
}

impl AgentDisk {
    /// The disk as one JSON text.
    pub fn to_json(&self) -> String {
        let requests: Map<_, _> =
            self.requests.iter().map(|(name, count)| (name.into(), count.into())).collect();
        let sessions: Map<_, _> = self
            .sessions
            .iter()
            .map(|(id, session)| (id.as_ref().into(), session.to_value()))
            .collect();
        json!({
            "skep_agent_disk": VERSION, "agent": &*self.agent, "seed": self.seed,
            "minted": self.minted, "known": self.known, "processes": self.processes,
            "requests": requests, "sessions": sessions,
        })
        .to_string()
    }

    /// Reads what [`AgentDisk::to_json`] wrote.
    ///
    /// # Errors
    /// When the text is no such thing; the disk is not guessed at.
    pub fn from_json(text: &str) -> Result<Self, DiskError> {
        let value: Value = serde_json::from_str(text).map_err(|_| DiskError::NotJson)?;
        if value.get("skep_agent_disk").and_then(Value::as_u64) != Some(VERSION) {
            return Err(DiskError::Version);
        }
        let mut disk = Self::new(&field_text(&value, "agent")?, field_u64(&value, "seed")?);
        disk.minted = field_u32(&value, "minted")?;
        disk.known = field_u32(&value, "known")?;
        disk.processes = field_u32(&value, "processes")?;
        disk.requests = read_requests(&value)?;
        let sessions = value.get("sessions").and_then(Value::as_object);
        for (id, body) in sessions.ok_or(DiskError::Field("sessions"))? {
            disk.sessions.insert(id.as_str().into(), Session::from_value(body)?);
        }
        Ok(disk)
    }
}

fn read_requests(value: &Value) -> Result<Counts, DiskError> {
    let wrong = DiskError::Field("requests");
    let mut counts = Counts::default();
    for (method, count) in value.get("requests").and_then(Value::as_object).ok_or(wrong.clone())? {
        let count = count.as_u64().and_then(|count| u32::try_from(count).ok());
        counts.set(method, count.ok_or(wrong.clone())?);
    }
    Ok(counts)
}

impl Session {
    pub(crate) fn to_value(&self) -> Value {
        let turns: Vec<_> = self.turns.iter().map(Turn::to_value).collect();
        json!({
            "number": self.number, "born": self.born, "cwd": &*self.cwd,
            "model": self.model.as_deref(), "mode": self.mode.as_deref(), "turns": turns,
        })
    }

    pub(crate) fn from_value(value: &Value) -> Result<Self, DiskError> {
        let chosen = |key: &str| value.get(key).and_then(Value::as_str).map(Text::from);
        let turns =
            value.get("turns").and_then(Value::as_array).ok_or(DiskError::Field("turns"))?;
        Ok(Self {
            number: field_u32(value, "number")?,
            born: field_u32(value, "born")?,
            cwd: field_text(value, "cwd")?,
            model: chosen("model"),
            mode: chosen("mode"),
            turns: turns.iter().map(Turn::from_value).collect::<Result<_, _>>()?,
        })
    }
}

impl Turn {
    fn to_value(&self) -> Value {
        let user: Vec<_> = self.user.iter().map(|text| Value::from(&**text)).collect();
        let agent: Vec<_> = self.agent.iter().map(Update::to_json).collect();
        json!({"user": user, "agent": agent})
    }

    fn from_value(value: &Value) -> Result<Self, DiskError> {
        let list = |key| value.get(key).and_then(Value::as_array).ok_or(DiskError::Field(key));
        let block = |text: &Value| text.as_str().map(Text::from).ok_or(DiskError::Field("user"));
        Ok(Self {
            user: list("user")?.iter().map(block).collect::<Result<_, _>>()?,
            agent: list("agent")?.iter().map(Update::from_json).collect(),
        })
    }
}

fn field_text(value: &Value, key: &'static str) -> Result<Text, DiskError> {
    value.get(key).and_then(Value::as_str).map(Text::from).ok_or(DiskError::Field(key))
}

fn field_u64(value: &Value, key: &'static str) -> Result<u64, DiskError> {
    value.get(key).and_then(Value::as_u64).ok_or(DiskError::Field(key))
}

fn field_u32(value: &Value, key: &'static str) -> Result<u32, DiskError> {
    u32::try_from(field_u64(value, key)?).map_err(|_| DiskError::Field(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> AgentDisk {
        let mut disk = AgentDisk::new("a", u64::MAX);
        let id = disk.mint();
        disk.give(&id, &[("earlier question", "earlier answer"), ("line\u{2028}two", "")]);
        disk.requests.add("session/load");
        let tool = Update::from_json(&json!({"sessionUpdate": "tool_call", "toolCallId": "t"}));
        disk.sessions.get_mut(&id).unwrap().turns[0].agent.push(tool);
        disk.sessions.get_mut(&id).unwrap().model = Some("m1".into());
        disk
    }

    #[test]
    fn a_disk_survives_the_round_trip() {
        assert_eq!(AgentDisk::from_json(&disk().to_json()), Ok(disk()));
    }

    #[test]
    fn what_is_no_disk_is_refused_by_what_is_wrong_with_it() {
        assert_eq!(AgentDisk::from_json("{"), Err(DiskError::NotJson));
        assert_eq!(AgentDisk::from_json("{}"), Err(DiskError::Version));
        let other = disk().to_json().replace("\"skep_agent_disk\":1", "\"skep_agent_disk\":2");
        assert_eq!(AgentDisk::from_json(&other), Err(DiskError::Version));
        let torn = disk().to_json().replace("\"turns\"", "\"tur\"");
        assert_eq!(AgentDisk::from_json(&torn), Err(DiskError::Field("turns")));
    }
}
