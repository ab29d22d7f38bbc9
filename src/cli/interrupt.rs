//! Ctrl-C, TERM and HUP: the first ends a run after what is running now, the second at once.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
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
        let mut signals = listen()?;
        thread::spawn(move || {
            for signal in signals.forever() {
                // Nobody is left to ask twice where the terminal is gone.
                if wanted.swap(true, Ordering::SeqCst) || signal == SIGHUP {
                    clean_up();
                    end_at_once();
                }
                tell();
            }
        });
        Ok(interrupt)
    }

    /// The user wants to stop.
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::SeqCst)
    }
}

/// Calls somebody at every signal from now on, for verbs that end at the first.
///
/// # Errors
/// When the system does not let us listen.
pub fn at_each(called: impl Fn() + Send + 'static) -> Result<(), Trouble> {
    let mut signals = listen()?;
    thread::spawn(move || signals.forever().for_each(|_| called()));
    Ok(())
}

fn listen() -> Result<Signals, Trouble> {
    Signals::new([SIGHUP, SIGINT, SIGTERM])
        .map_err(|error| Trouble::ours(format!("cannot listen for Ctrl-C: {error}")))
}

/// Says how to end at once. Whoever cannot be told has nothing to read it on.
fn tell() {
    let text = "\nstopping after the tests that run now; once more ends them at once\n";
    let _ = io::stderr().write_all(text.as_bytes());
}

#[expect(clippy::exit, reason = "the user asked twice, and everything was cleaned up")]
fn end_at_once() -> ! {
    std::process::exit(ExitCode::Interrupted.number().into())
}
