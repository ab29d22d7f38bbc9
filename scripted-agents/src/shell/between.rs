//! Whoever stands between an agent and its harness, and may change what they say to each other.

/// Takes every line in hand before it goes on. What the agent gets and says is what is seen of it:
/// to everybody else the harness and whoever stands here are one.
pub trait Between {
    /// A line of the harness.
    fn harness_says(&mut self, line: String) -> Passed;

    /// A line of the agent.
    fn agent_says(&mut self, line: String) -> Passed;
}

/// What becomes of a line: lines for either side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// The agent reads these.
    pub to_agent: Vec<String>,
    /// The harness reads these.
    pub to_harness: Vec<String>,
}

impl Passed {
    /// One line, to the agent.
    pub fn to_agent(line: String) -> Self {
        Self { to_agent: vec![line], ..Self::default() }
    }

    /// One line, to the harness.
    pub fn to_harness(line: String) -> Self {
        Self { to_harness: vec![line], ..Self::default() }
    }
}
