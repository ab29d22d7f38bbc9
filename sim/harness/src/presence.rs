//! What people see of the agent besides its words: that it is there, and that it is typing.

use skep_trace::{ClientMsg, Text};

use crate::effect::Out;
use crate::harness::Harness;
use crate::timer::Slot;

const KIND_PRESENCE: u16 = 20001;
const KIND_TYPING: u16 = 20002;

/// How often presence is shown.
const PRESENCE_MS: u64 = 60_000;

/// How often typing is shown while a turn runs.
const TYPING_MS: u64 = 3_000;

impl Harness {
    /// Says that it is there, once: from now on people are heard.
    pub(crate) fn show_presence(&mut self, out: &mut Out<'_>) {
        if self.present {
            return;
        }
        self.present = true;
        let online = self.event(KIND_PRESENCE, Vec::new(), "online".into(), out);
        self.ask_relay(ClientMsg::Event(online), out);
        self.timers.set(Slot::Presence, PRESENCE_MS, out);
        out.log(|| "presence set to online".to_owned());
    }

    pub(crate) fn show_presence_again(&mut self, out: &mut Out<'_>) {
        if self.link.is_free() {
            out.publish(self.event(KIND_PRESENCE, Vec::new(), "online".into(), out));
        }
        self.timers.set(Slot::Presence, PRESENCE_MS, out);
    }

    pub(crate) fn show_offline(&mut self, out: &mut Out<'_>) {
        if self.present && self.link.is_open() {
            out.publish(self.event(KIND_PRESENCE, Vec::new(), "offline".into(), out));
        }
    }

    /// Shows that it is typing where the turn runs, now and again until it ends (H-60).
    pub(crate) fn show_typing(&mut self, out: &mut Out<'_>) {
        let Some(turn) = self.turn.as_ref().filter(|turn| turn.is_running()) else { return };
        let Some(key) = turn.scope().key().filter(|_| self.config.typing) else { return };
        let mut tags: Vec<Vec<Text>> = vec![vec!["h".into(), key.channel.clone()]];
        if let Some(root) = key.root {
            tags.push(vec!["e".into(), root.to_string().into(), "".into(), "root".into()]);
        }
        if self.link.is_free() {
            out.publish(self.event(KIND_TYPING, tags, "".into(), out));
        }
        self.timers.set(Slot::Typing, TYPING_MS, out);
    }
}
