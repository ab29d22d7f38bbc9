//! What others may know of a harness while it runs.

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use serde_json::{Value, json};
use skep_trace::Hex32;

/// The state of a harness after its last step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// It hears people.
    pub ready: bool,
    /// The messages that it has taken and not answered.
    pub held: Vec<Hex32>,
    /// Something of its own is under way: a connection being opened or closed, an HTTP call, a
    /// store operation, bytes that the agent has not taken yet.
    pub working: bool,
    /// No turn runs, nothing is asked, nothing is owed.
    pub at_rest: bool,
    /// How many timers run that may change what can be seen.
    pub timers: usize,
    /// How many milliseconds of its clock remain until the first of those fires.
    pub next_timer_ms: Option<u64>,
    /// How many steps it has taken.
    pub steps: u64,
    /// What was exchanged with the relay.
    pub talk: TalkStatus,
    /// What was exchanged with the agent process that runs.
    pub agent: Option<AgentStatus>,
    /// It has ended with this code.
    pub exit: Option<i32>,
}

/// What a harness has exchanged with its relay on its last connection. Whoever counts at the other
/// end knows by it whether anything is still on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TalkStatus {
    /// How many connections were opened in all.
    pub connections: u64,
    /// The last one is open.
    pub open: bool,
    /// Frames that the harness said on it.
    pub said: u64,
    /// Frames that it heard and has dealt with.
    pub heard: u64,
}

/// What a harness has exchanged with an agent process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentStatus {
    /// The process, where it is one of the operating system's.
    pub pid: Option<u32>,
    /// Lines that the harness wrote.
    pub written: u64,
    /// Lines that it read and has dealt with; blank ones do not count.
    pub read: u64,
}

impl Status {
    /// What of it matters at rest, as JSON on one line.
    pub fn rest_to_json(&self) -> Value {
        let held: Vec<_> = self.held.iter().map(Hex32::to_string).collect();
        let talk = &self.talk;
        let agent = |agent: &AgentStatus| json!({"pid": agent.pid, "written": agent.written, "read": agent.read});
        json!({
            "ready": self.ready, "held": held, "at_rest": self.at_rest,
            "timers": self.timers, "next_timer_ms": self.next_timer_ms,
            "connections": talk.connections, "open": talk.open,
            "said": talk.said, "heard": talk.heard,
            "agent": self.agent.as_ref().map(agent),
        })
    }

    /// Reads it back. Nothing that is under way stands in it.
    pub fn rest_from_json(value: &Value) -> Option<Self> {
        let held = value["held"].as_array()?.iter();
        let held = held.map(|id| Hex32::parse(id.as_str()?)).collect::<Option<_>>()?;
        let talk = TalkStatus {
            connections: value["connections"].as_u64()?,
            open: value["open"].as_bool()?,
            said: value["said"].as_u64()?,
            heard: value["heard"].as_u64()?,
        };
        let agent = match &value["agent"] {
            Value::Null => None,
            agent => Some(AgentStatus {
                pid: agent["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()),
                written: agent["written"].as_u64()?,
                read: agent["read"].as_u64()?,
            }),
        };
        Some(Self {
            ready: value["ready"].as_bool()?,
            held,
            at_rest: value["at_rest"].as_bool()?,
            timers: usize::try_from(value["timers"].as_u64()?).ok()?,
            next_timer_ms: value["next_timer_ms"].as_u64(),
            talk,
            agent,
            ..Self::default()
        })
    }
}

/// Shares the status of one harness with whoever runs it.
#[derive(Clone, Debug, Default)]
pub struct StatusHandle(Rc<RefCell<Status>>);

impl StatusHandle {
    /// The status as it stands.
    pub fn get(&self) -> Ref<'_, Status> {
        self.0.borrow()
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.0.borrow_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_at_rest_is_read_back() {
        let status = Status {
            ready: true,
            held: vec![Hex32([7; 32])],
            at_rest: true,
            timers: 2,
            next_timer_ms: Some(50),
            talk: TalkStatus { connections: 3, open: true, said: 4, heard: 5 },
            agent: Some(AgentStatus { pid: Some(6), written: 7, read: 8 }),
            ..Status::default()
        };
        assert_eq!(Status::rest_from_json(&status.rest_to_json()), Some(status));
        assert_eq!(Status::rest_from_json(&json!({"held": []})), None);
    }
}
