//! What an examination came to: a row for each check.

use std::collections::BTreeMap;
use std::ffi::OsString;

use skep_store::suite::{Failure, Feature};

use super::PROTOCOL_ROW;
use super::protocol::{Offers, feature_name};

/// A store that was examined.
#[derive(Clone, Debug)]
pub struct Examination {
    /// Its command.
    pub command: Vec<OsString>,
    /// The seed of kills and races.
    pub seed: u64,
    /// What it offers.
    pub offers: Offers,
    /// One row for each check, the protocol first.
    pub rows: Vec<Row>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// What one check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The rule: `S-10`.
    pub rule: &'static str,
    /// The check, as a name that says what holds.
    pub name: &'static str,
    /// What it came to.
    pub standing: Standing,
    /// What was seen, or why not.
    pub note: String,
    /// What was done, last acts last; only where the rule is broken.
    pub acts: Vec<String>,
    /// How many acts came before those.
    pub left_out: usize,
    /// What stood on the disk then: path to bits and size.
    pub files: BTreeMap<String, String>,
}

/// The verdict on one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The rule held as far as it was looked at.
    Held,
    /// The rule was broken.
    Violated,
    /// Something of ours stood in the way.
    Inconclusive,
    /// The store has nothing of the kind, or nobody can bring it about here.
    NotApplicable,
}

impl Standing {
    /// All of them, the worst first.
    pub const ALL: [Self; 4] =
        [Self::Violated, Self::Inconclusive, Self::Held, Self::NotApplicable];

    /// Its name in documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Violated => "violated",
            Self::Inconclusive => "inconclusive",
            Self::NotApplicable => "not applicable",
        }
    }
}

impl Examination {
    /// How many rows came to that.
    pub fn count(&self, standing: Standing) -> usize {
        self.rows.iter().filter(|row| row.standing == standing).count()
    }
}

impl Row {
    pub(super) fn new(
        rule: &'static str,
        name: &'static str,
        standing: Standing,
        note: String,
    ) -> Self {
        let (acts, files) = (Vec::new(), BTreeMap::new());
        Self { rule, name, standing, note, acts, left_out: 0, files }
    }

    pub(super) fn spoken(offers: &Offers) -> Self {
        Self::new(PROTOCOL_ROW, "it_speaks_the_protocol", Standing::Held, told(offers))
    }

    pub(super) fn unspoken(failure: &Failure) -> Self {
        let (Failure::Violated(why) | Failure::NotApplicable(why)) = failure;
        Self::new(PROTOCOL_ROW, "it_speaks_the_protocol", Standing::Violated, why.clone())
    }
}

/// What a store offers, in words.
fn told(offers: &Offers) -> String {
    const ALL: [Feature; 4] =
        [Feature::RemoveIf, Feature::List, Feature::Threads, Feature::Configuration];
    let has = ALL.into_iter().filter(|one| offers.features.contains(one)).map(feature_name);
    let has: Vec<_> = ["get", "put", "remove"].into_iter().chain(has).collect();
    let life = match offers.life_ms {
        None => "for ever".to_owned(),
        Some(ms) => format!("for {} days", ms / 86_400_000),
    };
    format!("{}: {}; keeps entries {life}", offers.name, has.join(", "))
}
