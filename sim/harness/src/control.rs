//! The owner's control frames (kind 24200): which model a channel is to use.

use serde_json::Value;
use skep_store::Key;
use skep_trace::{NostrEvent, Sig, Text};

use crate::effect::Out;
use crate::harness::Harness;
use crate::lifecycle::Why;
use crate::scope::Scope;

/// How far a frame's date may lie from now, in seconds: an old one is somebody's recording.
const FRESH_S: u64 = 300;

impl Harness {
    pub(crate) fn on_control(&mut self, event: &NostrEvent, out: &mut Out<'_>) {
        let trusted = self.config.is_owner(event.pubkey)
            && event.sig == Sig::Valid
            && event.sealed_to == Some(self.config.pubkey)
            && event.created_at.abs_diff(out.now_s()) <= FRESH_S;
        if !trusted || !self.seen.insert(event.id()) {
            return;
        }
        let Ok(frame) = serde_json::from_str::<Value>(&event.content) else { return };
        let text = |key: &str| frame.get(key).and_then(Value::as_str);
        if let (Some("switch_model"), Some(channel), Some(model)) =
            (text("type"), text("channelId"), text("modelId"))
        {
            self.switch_model(&channel.to_ascii_lowercase(), model, out);
        }
    }

    /// From now on the channel's sessions are of another model; those that there are end.
    fn switch_model(&mut self, channel: &str, model: &str, out: &mut Out<'_>) {
        let Some(channel) = self.channels.get(channel).map(|channel| channel.id.clone()) else {
            return out.log(|| format!("no channel {channel} to switch the model of"));
        };
        out.log(|| format!("channel {channel} switches to model {model}"));
        self.models.insert(channel.clone(), model.into());
        for scope in self.scopes_of(&channel) {
            let busy = self.turn_is_on(&scope);
            self.discard(&scope, if busy { Why::SwitchBusy } else { Why::SwitchIdle }, out);
            self.inbox.hurry(&scope);
        }
    }

    /// The scopes of a channel that this process knows of, the channel itself always among them.
    pub(crate) fn scopes_of(&self, channel: &Text) -> Vec<Scope> {
        let running = self.turn.iter().map(crate::turn::Turn::scope);
        let known = self.book.scopes().chain(self.inbox.scopes()).chain(running);
        let inside = known.filter(|scope| scope.channel() == Some(channel));
        let mut scopes: Vec<Scope> = inside.cloned().collect();
        scopes.push(Scope::Talk(Key { channel: channel.clone(), root: None }));
        scopes.sort();
        scopes.dedup();
        scopes
    }
}
