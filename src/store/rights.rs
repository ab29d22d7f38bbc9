//! What a store's process may do that runs as user 0.
//!
//! To user 0 no permission bit means anything, and a store would never meet a closed directory. So
//! processes that are started from here on get user 0 without the rights to pass over bits and
//! owners; this process keeps its own.

use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

/// Gives up, for the processes that this thread and its threads start, what would let them pass over
/// permissions. Where that is refused they keep it, and checks of permissions say what they see.
pub(super) fn give_up() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for right in [
        CapabilitySet::DAC_OVERRIDE,
        CapabilitySet::DAC_READ_SEARCH,
        CapabilitySet::FOWNER,
        CapabilitySet::CHOWN,
    ] {
        let _kept = remove_capability_from_bounding_set(right);
    }
}
