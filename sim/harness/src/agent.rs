//! The agent process: where it stands in its life, what it can do, when it is started again.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use skep_mutant::{Mutant, Mutants};
use skep_trace::{Answer, Call, Frame, RpcId};

/// How long the first restart waits, in milliseconds; each further one twice as long.
const RESPAWN_MS: u64 = 1_000;

/// The longest wait between two restarts of an agent that does come up.
const RESPAWN_CAP_MS: u64 = 30_000;

/// Three deaths within this time open the circuit …
const STORM_MS: u64 = 60_000;

/// … for this long: an agent that dies at once whatever it is given gets no more of it.
const CIRCUIT_MS: u64 = 300_000;

/// How often the very first start is tried before the harness gives up.
pub(crate) const FIRST_STARTS: u32 = 3;

/// What every process is told at its start. Protocol version 1 is the stable one.
static INITIALIZE: LazyLock<Arc<Value>> = LazyLock::new(|| {
    Arc::new(json!({
        "protocolVersion": 1,
        "clientCapabilities": {},
        "clientInfo": {
            "name": "skep-reference-harness", "title": "skep", "version": env!("CARGO_PKG_VERSION"),
        },
    }))
});

/// Where the process stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// There is none.
    Down,
    /// It is being started.
    Starting,
    /// It was sent `initialize` under this id.
    Initializing(i64),
    /// It takes requests.
    Ready,
}

/// What the agent said that it offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    pub(crate) load: bool,
    pub(crate) resume: bool,
    pub(crate) close: bool,
    pub(crate) delete: bool,
}

impl Offers {
    /// Reads the answer to `initialize`. `loadSession` counts only as the boolean `true`, the
    /// others only as objects: anything else is not what the protocol calls advertising.
    fn read(answer: &Answer, mutants: Mutants) -> Self {
        let capabilities = answer.field("agentCapabilities").unwrap_or(&Value::Null);
        let sessions = &capabilities["sessionCapabilities"];
        let marked = |name: &str| sessions[name].is_object();
        let load = capabilities["loadSession"] == true || mutants.has(Mutant::LoadsUnadvertised);
        Self { load, resume: marked("resume"), close: marked("close"), delete: marked("delete") }
    }

    /// It can go on with a session of an earlier process.
    pub(crate) fn can_restore(self) -> bool {
        self.load || self.resume
    }
}

/// The agent process and its predecessors.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) state: State,
    pub(crate) offers: Offers,
    next_request: i64,
    /// Deaths since a turn last ended well.
    deaths: u32,
    /// When the last three deaths were.
    recent_ms: [u64; 3],
    /// One process at least came up.
    pub(crate) came_up: bool,
}

impl Agent {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Down,
            offers: Offers::default(),
            next_request: 0,
            deaths: 0,
            recent_ms: [0; 3],
            came_up: false,
        }
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// A request with an id of its own. Ids count up over all processes, so an answer to a dead
    /// one is never taken for an answer to its successor.
    pub(crate) fn request(&mut self, call: Call) -> (i64, Frame) {
        let id = self.next_request;
        self.next_request += 1;
        (id, Frame::Request { id: RpcId::Number(id), call })
    }

    pub(crate) fn initialize(&mut self) -> Frame {
        let (id, frame) = self.request(Call::Initialize(INITIALIZE.clone()));
        self.state = State::Initializing(id);
        frame
    }

    pub(crate) fn initialized(&mut self, answer: &Answer, mutants: Mutants) {
        self.offers = Offers::read(answer, mutants);
        self.state = State::Ready;
        self.came_up = true;
    }

    /// The process is gone: says how long the next one waits.
    pub(crate) fn died(&mut self, now_ms: u64) -> u64 {
        self.state = State::Down;
        self.recent_ms.rotate_left(1);
        self.recent_ms[2] = now_ms;
        self.deaths += 1;
        if self.deaths >= 3 && now_ms.saturating_sub(self.recent_ms[0]) < STORM_MS {
            return CIRCUIT_MS;
        }
        (RESPAWN_MS << (self.deaths - 1).min(8)).min(RESPAWN_CAP_MS)
    }

    pub(crate) fn deaths(&self) -> u32 {
        self.deaths
    }

    /// A turn ended well: whatever ailed it is over.
    pub(crate) fn proved_well(&mut self) {
        self.deaths = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(capabilities: &Value) -> Offers {
        let answer = Answer::from_json(json!({"agentCapabilities": capabilities}));
        Offers::read(&answer, Mutants::NONE)
    }

    #[test]
    fn only_true_advertises_load_and_only_objects_the_rest() {
        assert!(offers(&json!({"loadSession": true})).load);
        for value in [json!(false), json!("yes"), json!({}), json!(1), Value::Null] {
            assert!(!offers(&json!({"loadSession": value})).load);
        }
        let marked = |value| offers(&json!({"sessionCapabilities": {"resume": value}})).resume;
        assert!(marked(json!({})));
        assert!(!marked(json!(true)));
        assert!(!marked(Value::Null));
    }

    #[test]
    fn restarts_wait_ever_longer_and_a_storm_opens_the_circuit() {
        let mut agent = Agent::new();
        assert_eq!(agent.died(0), 1_000);
        assert_eq!(agent.died(70_000), 2_000);
        assert_eq!(agent.died(140_000), 4_000);
        assert_eq!(agent.died(141_000), 8_000);
        assert_eq!(agent.died(142_000), CIRCUIT_MS);
        agent.proved_well();
        assert_eq!(agent.died(143_000), 1_000);
    }
}
