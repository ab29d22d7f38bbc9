//! What an agent may offer or not: the well-behaved one offers all of it, unless it is told to do
//! without something. What nobody offers, nobody may be judged by.

/// Something that an agent need not offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Loads of sessions.
    Load,
    /// Lists of them.
    List,
    /// Resumes.
    Resume,
    /// Closes.
    Close,
    /// Deletions.
    Delete,
    /// Forks.
    Fork,
    /// Sessions with additional directories.
    Directories,
    /// Pictures in prompts.
    Pictures,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Load,
        Self::List,
        Self::Resume,
        Self::Close,
        Self::Delete,
        Self::Fork,
        Self::Directories,
        Self::Pictures,
    ];

    /// Its name on the command line and, but for the first and the last, in the handshake.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "loadSession",
            Self::List => "list",
            Self::Resume => "resume",
            Self::Close => "close",
            Self::Delete => "delete",
            Self::Fork => "fork",
            Self::Directories => "additionalDirectories",
            Self::Pictures => "image",
        }
    }

    /// The request that is there with it alone.
    pub(super) fn method(self) -> Option<&'static str> {
        Some(match self {
            Self::Load => "session/load",
            Self::List => "session/list",
            Self::Resume => "session/resume",
            Self::Close => "session/close",
            Self::Delete => "session/delete",
            Self::Fork => "session/fork",
            Self::Directories | Self::Pictures => return None,
        })
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}
