//! Turns that nobody asked for: at intervals the agent may do work of its own (H-11).

use crate::effect::Out;
use crate::harness::Harness;
use crate::inbox::Batch;
use crate::scope::Scope;
use crate::timer::Slot;

impl Harness {
    pub(crate) fn start_heartbeat(&mut self, out: &mut Out<'_>) {
        let interval_ms = self.config.settings.heartbeat_ms;
        if interval_ms > 0 {
            self.timers.set(Slot::Heartbeat, interval_ms, out);
        }
    }

    /// One heartbeat, unless people are being served; the next one comes anyway.
    pub(crate) fn on_heartbeat(&mut self, out: &mut Out<'_>) {
        self.start_heartbeat(out);
        if self.turn.is_none() && self.agent.is_ready() {
            let batch = Batch { scope: Scope::Heartbeat, messages: Vec::new(), failures: 0 };
            self.begin_turn(batch, out);
        }
    }
}
