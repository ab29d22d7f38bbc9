//! Can each requirement fail? The scripted agent is broken in one way at a time, and certified.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use skep_agent::{Capability, Defect};

use super::Profile;
use super::bounds::Bounds;
use super::certificate::Certificate;
use super::order::Order;
use crate::director::parallel::in_parallel;

/// The rows that cannot apply to the scripted agent, each with the reason.
pub const APART: &[(u8, &str)] = &[(32, "it needs no login"), (120, "it offers loads")];

/// The rows that nobody can break, or nobody is judged by.
pub const UNBREAKABLE: &[u8] =
    &[4, 56, 58, 76, 102, 103, 106, 115, 117, 118, 119, 120, 121, 122, 123, 124, 125];

/// One broken agent with what its certificate showed.
#[derive(Clone, Debug)]
pub struct Proven {
    /// What is wrong with the agent.
    pub defect: Defect,
    /// The rows that are broken.
    pub broken: BTreeSet<u8>,
    /// Rows that are broken, and are neither the defect's own nor said to follow from it.
    pub strange: BTreeSet<u8>,
    /// Its own row is not broken.
    pub unnoticed: bool,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

impl Proven {
    /// Its row is broken, and no other that is not said to follow.
    pub fn is_proof(&self) -> bool {
        self.strange.is_empty() && !self.unnoticed
    }
}

/// Certifies the scripted agent with a defect, or without one.
pub fn certify_scripted(skep: &Path, defect: Option<Defect>) -> Certificate {
    let words = defect.map(|defect| ["--broken", defect.name()]);
    certify_with(skep, words.as_slice().as_flattened())
}

/// Certifies the scripted agent that does without a capability.
pub fn certify_without(skep: &Path, lacks: Capability) -> Certificate {
    certify_with(skep, &["--without", lacks.name()])
}

fn certify_with(skep: &Path, words: &[&str]) -> Certificate {
    let mut command = vec![skep.into(), "scripted-agent".into()];
    command.extend(words.iter().map(std::ffi::OsString::from));
    let order = Order {
        command,
        profile: Profile::generic(),
        env: BTreeMap::new(),
        bounds: Bounds::immediate(),
        server: skep.to_owned(),
    };
    super::certify(&order, &|_| {}, &|| false)
}

/// Certifies a broken agent for each of the defects, so many at once.
pub fn prove(
    skep: &Path,
    defects: &[Defect],
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
    ended: &(dyn Fn(&Proven) + Sync),
) -> Vec<Option<Proven>> {
    in_parallel(defects, jobs, stop, &|defect| {
        let proven = proven(*defect, &certify_scripted(skep, Some(*defect)));
        ended(&proven);
        proven
    })
}

fn proven(defect: Defect, certificate: &Certificate) -> Proven {
    let broken = certificate.rows.iter().filter(|row| row.standing.is_broken());
    let broken: BTreeSet<_> = broken.map(|row| row.requirement.number).collect();
    let expected = |row: &u8| *row == defect.row() || defect.follows().contains(row);
    let strange = broken.iter().copied().filter(|row| !expected(row)).collect();
    let unnoticed = !broken.contains(&defect.row());
    Proven { defect, broken, strange, unnoticed, took_ms: certificate.took_ms }
}

/// The defects that break a row first.
pub fn breaking(row: u8) -> Vec<Defect> {
    Defect::ALL.iter().copied().filter(|defect| defect.row() == row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::requirements;

    #[test]
    fn every_row_that_can_be_broken_has_a_broken_agent() {
        for row in requirements() {
            let breakable = !UNBREAKABLE.contains(&row.number);
            assert_eq!(!breaking(row.number).is_empty(), breakable, "{}", row.id());
        }
    }
}
