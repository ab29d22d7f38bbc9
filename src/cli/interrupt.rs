//! Ctrl-C and TERM: the first ends a run after what is running now, the second at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::trouble::Trouble;
use crate::exit_code::ExitCode;

/// Says whether the user wants to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    wanted: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens from now on. `clean_up` is called before a second signal ends the process.
    ///
    /// # Errors
    /// When the system does not let us listen.
    pub fn watch(clean_up: fn()) -> Result<Self, Trouble> {
        let interrupt = Self::default();
        let wanted = interrupt.wanted.clone();
        let mut signals = Signals::new([SIGINT, SIGTERM])
            .map_err(|error| Trouble::ours(format!("cannot listen for Ctrl-C: {error}")))?;
        thread::spawn(move || {
            for _ in signals.forever() {
                if wanted.swap(true, Ordering::SeqCst) {
                    clean_up();
                    end_at_once();
                }
            }
        });
        Ok(interrupt)
    }

    /// The user wants to stop.
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::SeqCst)
    }
}

#[expect(clippy::exit, reason = "the user asked twice, and everything was cleaned up")]
fn end_at_once() -> ! {
    std::process::exit(ExitCode::Interrupted.number().into())
}
