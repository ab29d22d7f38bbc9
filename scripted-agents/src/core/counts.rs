//! How often each method was asked for.

use skep_trace::Text;

/// Methods that are counted; a harness that invents more gets no counts for the rest.
const MOST_METHODS: usize = 256;

/// Requests and notifications by method. A handful of methods: a list beats a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts(Vec<(Text, u32)>);

impl Counts {
    /// Counts one more and says how many that makes, 0 for a method past the bound.
    pub(crate) fn add(&mut self, method: &str) -> u32 {
        if let Some((_, count)) = self.0.iter_mut().find(|(name, _)| &**name == method) {
            *count = count.saturating_add(1);
            return *count;
        }
        if self.0.len() == MOST_METHODS {
            return 0;
        }
        self.set(method, 1);
        1
    }

    pub(crate) fn get(&self, method: &str) -> u32 {
        self.0.iter().find(|(name, _)| &**name == method).map_or(0, |(_, count)| *count)
    }

    pub(crate) fn set(&mut self, method: &str, count: u32) {
        self.0.push((method.into(), count));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, count)| (&**name, *count))
    }
}
