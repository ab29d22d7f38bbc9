//! What a seed is a seed of: a random workload, or troubles of a scenario that somebody wrote.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::draw;
use super::seek::{self, Failure, Played};
use super::shrink::{self, Small};
use super::vary::Varied;
use crate::director::Job;

/// What random workloads are called in results.
pub const WORKLOAD: &str = "workload";

/// What a seed is a seed of.
#[derive(Clone, Debug)]
pub enum Source {
    /// A random workload.
    Workload,
    /// A scenario under another schedule, with troubles that it does not mention.
    Scenario(Box<Varied>),
}

impl Source {
    /// What it is about: `workload`, or the test's name.
    pub fn subject(&self) -> &str {
        match self {
            Self::Workload => WORKLOAD,
            Self::Scenario(varied) => varied.name(),
        }
    }

    /// The name of a seed's scenario.
    pub fn name(&self, seed: u64) -> String {
        match self {
            Self::Workload => format!("seed-{seed}"),
            Self::Scenario(varied) => varied.name().to_owned(),
        }
    }

    /// Plays one seed. A panic is our own fault, and costs this seed only.
    ///
    /// # Errors
    /// What was our own fault.
    pub fn play(&self, seed: u64, job: &Job) -> Result<Option<Played>, String> {
        let one = || match self {
            Self::Workload => seek::workload(&draw::tree(seed).current(), &self.name(seed), job),
            Self::Scenario(varied) => varied.play(&varied.draw(seed), job),
        };
        catch_unwind(AssertUnwindSafe(one)).unwrap_or_else(|_| {
            Err("skep itself failed; the lines on standard error say where".into())
        })
    }

    /// The scenario of one seed, as a text; `None` when nothing is left of it.
    pub fn text(&self, seed: u64) -> Option<String> {
        match self {
            Self::Workload => {
                super::story::tell(&draw::tree(seed).current(), &self.name(seed)).text
            }
            Self::Scenario(varied) => varied.text(&varied.draw(seed)),
        }
    }

    /// Makes the failure of a seed small. `None`: it does not fail so.
    pub fn shrink(&self, seed: u64, job: &Job, failure: &Failure) -> Option<Small> {
        let small = || match self {
            Self::Workload => shrink::workload(draw::tree(seed), &self.name(seed), job, failure),
            Self::Scenario(varied) => shrink::varied(varied, varied.draw(seed), job, failure),
        };
        catch_unwind(AssertUnwindSafe(small)).ok().flatten()
    }
}
