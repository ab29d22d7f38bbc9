//! A line that says how far a run is: on a terminal only, and gone when the run is.

use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skep_check::verdict::Verdict;

use super::console::Console;
use crate::report::clean;

/// What the line looks like; the message says what was red so far and what ended last.
const TEMPLATE: &str = "{bar:28.green/dim} {pos}/{len}{msg:.dim}";

/// How far a run is. Threads share it.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    red: AtomicUsize,
}

impl Progress {
    /// For so many tests; shown only where somebody watches.
    pub fn new(console: &Console, tests: usize) -> Self {
        let shown = console.watched && !console.quiet && tests > 1;
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template(TEMPLATE).expect("the template is ours");
        let bar = ProgressBar::with_draw_target(Some(tests as u64), target);
        bar.set_style(style.progress_chars("━━─"));
        Self { bar, red: AtomicUsize::new(0) }
    }

    /// For so many seeds.
    pub fn of_seeds(console: &Console, seeds: u64) -> Self {
        Self::new(console, usize::try_from(seeds).unwrap_or(usize::MAX))
    }

    /// A seed has ended.
    pub fn seed(&self, failed: bool) {
        if failed {
            let red = self.red.fetch_add(1, Ordering::Relaxed) + 1;
            self.bar.set_message(format!(" · {red} failed"));
        }
        self.bar.inc(1);
    }

    /// A test has ended.
    pub fn ended(&self, test: &str, verdict: Verdict) {
        let red = match verdict {
            Verdict::Violated => self.red.fetch_add(1, Ordering::Relaxed) + 1,
            _ => self.red.load(Ordering::Relaxed),
        };
        let red = if red > 0 { format!(" · {red} violated") } else { String::new() };
        self.bar.set_message(format!("{red} · {}", clean::fit(&clean::clean(test), 48)));
        self.bar.inc(1);
    }

    /// All of them have; the line is taken away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
