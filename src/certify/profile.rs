//! How an agent is set up: a profile.

/// An agent's setup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The login method that is used after the handshake, if any.
    pub login: Option<String>,
}

impl Profile {
    /// For an agent that needs nothing but a home.
    pub fn generic() -> Self {
        Self { name: "generic".to_owned(), login: None }
    }
}
