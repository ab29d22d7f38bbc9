//! Reads what harnesses and the relay say to each other into facts.

use serde_json::Value;
use skep_trace::{ClientMsg, HttpCall, NostrEvent, RelayMsg, SharedEvent, Sig, Text};

use super::Facts;
use super::ids::{LifeId, MessageId};
use super::message::{Delivery, MESSAGE_KINDS};
use super::moment::{Command, Seen};
use super::scope::{channel_of, channel_tag, names_key};

/// The owner's control frames to a harness.
const CONTROL: u16 = 24200;
/// The relay tells a member that it was removed from a channel.
const REMOVED: u16 = 44101;
/// What a relay says when it closes the subscription of someone who is no member any more.
const REVOKED: [&str; 2] =
    ["restricted: not a channel member", "restricted: channel access revoked"];

impl Facts {
    /// What the relay said.
    pub(super) fn relay_said<'r>(
        &mut self,
        life: LifeId,
        conn: u32,
        message: &'r RelayMsg,
    ) -> Seen<'r> {
        match message {
            RelayMsg::Event { event, .. } if MESSAGE_KINDS.contains(&event.kind) => {
                self.delivered(life, conn, event)
            }
            RelayMsg::Event { event, .. } if event.kind == CONTROL => {
                self.controlled(life, conn, event).unwrap_or(Seen::Nothing)
            }
            RelayMsg::Event { event, .. } if event.kind == REMOVED => {
                let meant = self.key(life).is_some_and(|key| names_key(event, key));
                match channel_tag(event).filter(|_| meant) {
                    Some(channel) => {
                        let copy = !self.lives.get_mut(life).is_told(event.id());
                        Seen::Left { life, conn, channels: vec![channel], copy }
                    }
                    None => Seen::Nothing,
                }
            }
            RelayMsg::Closed { sub, message } => {
                let channels = self.lives.get(life).channels_of(conn, sub).to_vec();
                self.lives.get_mut(life).unsubscribe(conn, sub);
                if REVOKED.contains(&&**message) && !channels.is_empty() {
                    Seen::Left { life, conn, channels, copy: false }
                } else {
                    Seen::Nothing
                }
            }
            _ => Seen::Nothing,
        }
    }

    fn delivered<'r>(&mut self, life: LifeId, conn: u32, event: &SharedEvent) -> Seen<'r> {
        let Some(key) = self.key(life).filter(|key| names_key(event, *key)) else {
            self.messages.see(event);
            return Seen::Nothing;
        };
        let message = self.messages.see(event);
        if let Some(command) = Command::parse(&event.content).filter(|_| self.is_owner(event)) {
            let own = self.lives.get_mut(life);
            own.told_to_end |= command == Command::Shutdown;
            let copy = !own.is_told(event.id());
            return Seen::Command { life, conn, command, message, copy };
        }
        if event.pubkey == key {
            return Seen::Nothing;
        }
        let delivery = Delivery { life, conn, record: self.record };
        self.messages.get_mut(message).deliveries.push(delivery);
        Seen::Delivered { life, message }
    }

    /// The owner wrote it. Before the owner has a key, nobody did.
    pub(crate) fn is_owner(&self, event: &NostrEvent) -> bool {
        self.owner() == Some(event.pubkey)
    }

    /// A control frame of the owner that asks for another model. Harnesses verify these.
    fn controlled<'r>(&self, life: LifeId, conn: u32, event: &NostrEvent) -> Option<Seen<'r>> {
        let key = self.key(life)?;
        if !self.is_owner(event) || !names_key(event, key) || event.sig == Sig::Forged {
            return None;
        }
        let frame: Value = serde_json::from_str(&event.content).ok()?;
        if frame.get("type")?.as_str()? != "switch_model" {
            return None;
        }
        let channel: Text = channel_of(frame.get("channelId")?.as_str()?);
        Some(Seen::ModelSwitch { life, conn, channel })
    }

    /// What a harness said to the relay.
    pub(super) fn said_to_relay<'r>(
        &mut self,
        life: LifeId,
        conn: u32,
        message: &'r ClientMsg,
    ) -> Seen<'r> {
        match message {
            ClientMsg::Event(event) => self.spoke(life, event),
            ClientMsg::Req { sub, filters } => {
                let record = self.record;
                self.lives.get_mut(life).subscribe(record, conn, sub, filters);
                Seen::Nothing
            }
            ClientMsg::Close { sub } => {
                self.lives.get_mut(life).unsubscribe(conn, sub);
                Seen::Nothing
            }
            ClientMsg::Auth(_) | ClientMsg::Other(_) => Seen::Nothing,
        }
    }

    /// What a harness said over HTTP.
    pub(super) fn http<'r>(&mut self, life: LifeId, call: &'r HttpCall) -> Seen<'r> {
        match call {
            HttpCall::Publish(event) => self.spoke(life, event),
            _ => Seen::Nothing,
        }
    }

    fn spoke<'r>(&mut self, life: LifeId, event: &'r NostrEvent) -> Seen<'r> {
        if event.kind == 9 {
            self.announce(event);
        }
        Seen::Spoke { life, event }
    }

    /// A harness's post to a channel is about the messages that its tags name, their threads, and
    /// what was prompted together with them.
    fn announce(&mut self, notice: &NostrEvent) {
        let tags = notice.tags.iter().filter(|tag| tag.len() >= 2 && &*tag[0] == "e");
        let named: Vec<_> = tags.filter_map(|tag| skep_trace::Hex32::parse(&tag[1])).collect();
        if named.is_empty() {
            return;
        }
        let meant = |id: &skep_trace::Hex32| named.contains(id);
        let about = self
            .messages
            .iter()
            .filter(|(_, message)| meant(&message.id) || message.root.as_ref().is_some_and(meant));
        let mut told: Vec<MessageId> = about.map(|(id, _)| id).collect();
        let prompts = told.iter().filter_map(|id| self.messages.get(*id).prompts.last());
        let together = prompts.flat_map(|prompt| &self.prompts.get(*prompt).messages);
        let together: Vec<MessageId> = together.copied().collect();
        told.extend(together);
        for message in told {
            self.messages.get_mut(message).announced.get_or_insert(self.record);
        }
    }

    /// A person, or the relay, published an event.
    pub(super) fn published<'r>(&mut self, event: &SharedEvent) -> Seen<'r> {
        if MESSAGE_KINDS.contains(&event.kind) {
            let message = self.messages.see(event);
            self.messages.get_mut(message).published.get_or_insert(self.record);
        }
        Seen::Nothing
    }
}
