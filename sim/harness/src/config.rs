//! What a harness is told before it starts, and which of it this one cannot do.

use skep_mutant::Mutants;
use skep_plan::Settings;
use skep_trace::policy::{Compatibility, Delivery, InFlight, Overlap};
use skep_trace::{Hex32, Text};
use thiserror::Error;

/// Everything that a harness is told before it starts.
#[derive(Clone, Debug)]
pub struct HarnessConfig {
    /// The relay's WebSocket URL; it also binds the receipts.
    pub relay_url: Text,
    /// The agent identity that it speaks for.
    pub pubkey: Hex32,
    /// Who may give commands; `None` is nobody.
    pub owner: Option<Hex32>,
    /// The absolute directory that sessions work in.
    pub cwd: Text,
    /// Policies, time limits and wishes.
    pub settings: Settings,
    /// The fault that is switched on.
    pub mutants: Mutants,
    /// Whose messages become prompts.
    pub respond_to: RespondTo,
    /// The MCP server that the agent is given where [`Settings::mcp`] says so.
    pub mcp: McpServer,
    /// It reacts to messages (👀 queued, 💬 prompted). Nothing is ever judged by these, so a
    /// simulated run may save them.
    pub reactions: bool,
    /// It shows that it is typing.
    pub typing: bool,
    /// It writes log lines.
    pub logs: bool,
    /// How many times faster than real time the clock runs that the core is given, so that a live
    /// run need not wait for long time limits. Dates in events are told in real time all the same.
    pub haste: u32,
}

/// Whose messages become prompts. In a DM it is the owner's alone, unless nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RespondTo {
    /// Everyone's.
    #[default]
    Anyone,
    /// The owner's.
    Owner,
    /// Nobody's.
    Nobody,
}

impl RespondTo {
    /// Reads the words that `BUZZ_ACP_RESPOND_TO` takes.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "anyone" => Some(Self::Anyone),
            "owner-only" => Some(Self::Owner),
            "nobody" => Some(Self::Nobody),
            _ => None,
        }
    }
}

/// An MCP server that the agent is given with every session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Its name.
    pub name: Text,
    /// The program.
    pub command: Text,
    /// Its environment, without what depends on the channel.
    pub env: Vec<(Text, Text)>,
}

/// A wish that this harness understands and cannot fulfil: better said at once than broken later.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the reference harness does not support {policy}={value}")]
pub struct Unsupported {
    /// The policy.
    pub policy: &'static str,
    /// The value that it cannot follow.
    pub value: String,
}

impl HarnessConfig {
    /// The reference profile for one identity on one relay.
    pub fn new(relay_url: &str, pubkey: Hex32, owner: Hex32, cwd: &str) -> Self {
        Self {
            relay_url: relay_url.into(),
            pubkey,
            owner: Some(owner),
            cwd: cwd.into(),
            settings: Settings::default(),
            mutants: Mutants::NONE,
            respond_to: RespondTo::Anyone,
            mcp: McpServer::relay_tools(relay_url),
            reactions: true,
            typing: true,
            logs: true,
            haste: 1,
        }
    }

    /// Says which wish it cannot fulfil, if any.
    ///
    /// # Errors
    /// When a policy has a value that this harness does not follow.
    pub fn check(&self) -> Result<(), Unsupported> {
        let policies = &self.settings.policies;
        let refuse = |policy, value: String| Err(Unsupported { policy, value });
        if policies.in_flight != InFlight::Queue {
            return refuse("in-flight", policies.in_flight.to_string());
        }
        if policies.overlap != Overlap::Merge {
            return refuse("overlap", policies.overlap.to_string());
        }
        if policies.compatibility != Compatibility::ModelMode {
            return refuse("compatibility", policies.compatibility.to_string());
        }
        match policies.delivery {
            Delivery::Live(_) => Ok(()),
            Delivery::Durable => refuse("delivery", policies.delivery.to_string()),
        }
    }

    /// How many seconds before its start it still asks for.
    pub(crate) fn overlap_s(&self) -> u64 {
        match self.settings.policies.delivery {
            Delivery::Live(seconds) => u64::from(seconds),
            Delivery::Durable => 0,
        }
    }

    /// The author is the owner.
    pub(crate) fn is_owner(&self, author: Hex32) -> bool {
        self.owner == Some(author)
    }
}

impl McpServer {
    /// The server through which an agent speaks to the relay by itself.
    pub fn relay_tools(relay_url: &str) -> Self {
        Self {
            name: "relay-tools".into(),
            command: "relay-tools".into(),
            env: vec![("BUZZ_RELAY_URL".into(), relay_url.into())],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(key: &str, value: &str) -> HarnessConfig {
        let owner = Hex32([2; 32]);
        let mut config = HarnessConfig::new("ws://r", Hex32([1; 32]), owner, "/w");
        config.settings.set(key, value).unwrap();
        config
    }

    #[test]
    fn the_reference_profile_is_supported() {
        assert_eq!(config("max-turns", "3").check(), Ok(()));
    }

    #[test]
    fn what_it_cannot_do_is_refused_by_name() {
        for (key, value) in [
            ("in-flight", "steer"),
            ("in-flight", "interrupt"),
            ("overlap", "lease"),
            ("compatibility", "full"),
            ("delivery", "durable"),
        ] {
            let refusal = config(key, value).check().unwrap_err();
            assert_eq!((refusal.policy, &*refusal.value), (key, value));
        }
    }
}
