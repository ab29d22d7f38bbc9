//! What a relay is told before it starts.

use skep_trace::{Hex32, SharedEvent, Text};

use crate::bounds::Bounds;
use crate::channels::Channel;
use crate::keys::Keys;

/// A relay's configuration.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// Its URL, as answers to its challenges must name it.
    pub url: Text,
    /// Its own key: it signs descriptions of channels and notices of membership.
    pub pubkey: Hex32,
    /// Who owns the channels.
    pub owner: Hex32,
    /// Its channels and who is in them.
    pub channels: Vec<Channel>,
    /// The names of people and agents, for their profiles. Whoever is missing here is called by
    /// the first digits of the key.
    pub names: Vec<(Hex32, Text)>,
    /// What it keeps from before the run: threads' roots, old messages.
    pub events: Vec<SharedEvent>,
    /// The date of its channels and profiles, in seconds since 1970.
    pub born_s: u64,
    /// How much it takes.
    pub bounds: Bounds,
}

impl RelayConfig {
    /// A relay without channels, its key made from the name `relay`.
    pub fn new(url: &str, owner: Hex32) -> Self {
        Self {
            url: url.into(),
            pubkey: Keys::named("relay").pubkey,
            owner,
            channels: Vec::new(),
            names: Vec::new(),
            events: Vec::new(),
            born_s: 0,
            bounds: Bounds::default(),
        }
    }
}
