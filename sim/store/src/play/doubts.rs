//! A power cut as a file tells it.

use super::{Doubted, End};
use crate::sim::{Choose, Doubt};
use crate::suite::sim_ground::nameless;

/// Makes the choices that a file names.
pub(super) struct Told<'a> {
    pub(super) doubts: &'a [Doubted],
    /// So many of them were met.
    pub(super) at: usize,
    pub(super) unfit: Option<End>,
}

impl Choose for Told<'_> {
    fn choose(&mut self, ways: usize) -> usize {
        ways - 1
    }

    fn choose_of(&mut self, ways: usize, doubt: &dyn Fn() -> Doubt) -> usize {
        let doubt = doubt();
        let what = nameless(&doubt.what);
        // What the file does not speak of reached the disk.
        let Some(told) = self.doubts.get(self.at).filter(|told| *told.what == *what) else {
            return ways - 1;
        };
        self.at += 1;
        let way = doubt.ways.iter().position(|way| **way == *told.way);
        way.unwrap_or_else(|| {
            let what = format!("it can be `{}`", doubt.ways.join("` or `"));
            self.unfit.get_or_insert(End::Unfit(told.place, what));
            ways - 1
        })
    }
}
