//! Who was refused how often.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How often a prompt is refused: more than once, so that a client must try again more than once.
const TIMES: u32 = 2;

/// Prompts that are remembered, and how much of each, in letters. Whoever wishes for more begins
/// anew.
const MOST_PROMPTS: usize = 1_000;
const MOST_LETTERS: usize = 1_000;

/// The prompts that were refused.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<BTreeMap<String, u32>>);

impl Refusals {
    /// Whether a prompt is refused once more; it is counted.
    pub(super) fn refuses(&self, prompt: &str) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() > MOST_PROMPTS {
            counts.clear();
        }
        let count = counts.entry(prompt.chars().take(MOST_LETTERS).collect()).or_default();
        *count = count.saturating_add(1);
        *count <= TIMES
    }
}
