//! Store models: the shapes of four stores that people use or proposed, for the suite to be tried
//! on and for a reader to see what breaks where.
//!
//! A model is written from the description in the session-store contract and from nothing else. It
//! is a finding about that shape, and not about anybody's product. Of [`Receipt`] the contract
//! names no fault but one, so the model keeps every rule that the steps it lists can keep; the
//! other three do what their description says and nothing beyond it.
//!
//! - `receipt`, `snapshot_map`, `binding`, `keyed_ttl`: the models, each with its `BREAKS`.
//! - `conversation`, `plain`: the little that they share.
//!
//! Each model's `BREAKS` lists every check of the [`suite`](crate::suite) that it breaks, with the
//! reason, and nothing else: a test holds the list against the suite.

mod binding;
mod conversation;
mod keyed_ttl;
mod plain;
mod receipt;
mod snapshot_map;

pub use binding::Binding;
pub use keyed_ttl::KeyedTtl;
pub use receipt::Receipt;
pub use snapshot_map::SnapshotMap;

/// A check that a model breaks, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// The check's name in the suite.
    pub check: &'static str,
    /// The contract says that this must be seen.
    pub expected: bool,
    /// Why it breaks, in one sentence.
    pub why: &'static str,
}

/// A rule of the contract that a store cannot be asked about, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// The rule.
    pub rule: &'static str,
    /// Why no check of a store can see it, in one sentence.
    pub why: &'static str,
}

const fn must(check: &'static str, why: &'static str) -> Break {
    Break { check, expected: true, why }
}

const fn also(check: &'static str, why: &'static str) -> Break {
    Break { check, expected: false, why }
}

/// A store by name: the reference, or a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoreName {
    /// [`Reference`](crate::suite::Reference).
    Reference,
    /// [`Receipt`].
    Receipt,
    /// [`SnapshotMap`].
    SnapshotMap,
    /// [`Binding`].
    Binding,
    /// [`KeyedTtl`].
    KeyedTtl,
}

impl StoreName {
    /// All of them, the reference first.
    pub const ALL: [Self; 5] =
        [Self::Reference, Self::Receipt, Self::SnapshotMap, Self::Binding, Self::KeyedTtl];

    /// The name, as files and the command line have it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Receipt => "receipt",
            Self::SnapshotMap => "snapshot-map",
            Self::Binding => "binding",
            Self::KeyedTtl => "keyed-ttl",
        }
    }

    /// The store of a name.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|store| store.id() == id)
    }

    /// Every check that it breaks; the reference breaks none.
    pub fn breaks(self) -> &'static [Break] {
        match self {
            Self::Reference => &[],
            Self::Receipt => receipt::BREAKS,
            Self::SnapshotMap => snapshot_map::BREAKS,
            Self::Binding => binding::BREAKS,
            Self::KeyedTtl => keyed_ttl::BREAKS,
        }
    }

    /// What the contract says of it that no store can be asked about.
    pub fn beyond(self) -> &'static [Beyond] {
        match self {
            Self::Receipt => receipt::BEYOND,
            Self::KeyedTtl => keyed_ttl::BEYOND,
            _ => &[],
        }
    }
}
