//! What a certificate is asked for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::Profile;
use super::bounds::Bounds;

/// An agent to be certified, and how.
#[derive(Clone, Debug)]
pub struct Order {
    /// The agent's command: a program and its arguments.
    pub command: Vec<OsString>,
    /// How it is set up.
    pub profile: Profile,
    /// What of the user's environment it is given.
    pub env: BTreeMap<OsString, OsString>,
    /// What is waited for.
    pub bounds: Bounds,
    /// The program that plays the server of a session: this very executable.
    pub server: PathBuf,
}
