//! What people say in a channel: taken in once, for the scope that it belongs to.

use skep_mutant::Mutant;
use skep_plan::ChannelKind;
use skep_trace::{Hex32, NostrEvent, Note, SharedEvent, Text};

use crate::channel::{MESSAGE_KINDS, SUB_PREFIX};
use crate::command::Command;
use crate::config::RespondTo;
use crate::effect::Out;
use crate::harness::Harness;
use crate::http::Ask;
use crate::scope::Scope;

impl Harness {
    pub(crate) fn on_channel_event(&mut self, sub: &str, event: &SharedEvent, out: &mut Out<'_>) {
        let now_s = out.now_s();
        // The subscription says which channel it is; a tag only says what its author claims.
        let Some(id) = sub.strip_prefix(SUB_PREFIX) else { return };
        let Some(channel) = self.channels.get_mut(id) else { return };
        channel.saw(event.created_at, now_s);
        let kind = channel.kind;
        let (known, id) = (channel.known, channel.id.clone());
        if !self.is_for_us(event) || !self.is_new(event) {
            return;
        }
        if let Some(channel) = self.channels.get_mut(&id) {
            channel.closed.works();
        }
        if !known {
            self.ask_metadata(vec![id.clone()], Ask::LateMetadata, out);
        }
        let scope = self.scoping.of(event, &id, kind);
        match Command::parse(event).filter(|_| self.config.is_owner(event.pubkey)) {
            Some(command) => self.on_command(command, event, &scope, out),
            None if self.may_prompt(event.pubkey, kind) => self.take_in(scope, event, out),
            None => out.log(|| format!("dropping event {}: its author may not prompt", event.id())),
        }
    }

    fn is_for_us(&self, event: &NostrEvent) -> bool {
        let names_us = |tag: &Vec<Text>| match &tag[..] {
            [name, key, ..] => &**name == "p" && Hex32::parse(key) == Some(self.config.pubkey),
            _ => false,
        };
        event.pubkey != self.config.pubkey
            && MESSAGE_KINDS.contains(&event.kind)
            && event.tags.iter().any(names_us)
    }

    fn is_new(&mut self, event: &NostrEvent) -> bool {
        self.seen.insert(event.id()) || self.config.mutants.has(Mutant::NoDedup)
    }

    fn may_prompt(&self, author: Hex32, kind: ChannelKind) -> bool {
        match self.config.respond_to {
            RespondTo::Nobody => false,
            RespondTo::Owner => self.config.is_owner(author),
            RespondTo::Anyone => kind != ChannelKind::Dm || self.config.is_owner(author),
        }
    }

    fn take_in(&mut self, scope: Scope, event: &SharedEvent, out: &mut Out<'_>) {
        let busy = self.turn.is_some();
        if busy && self.config.mutants.has(Mutant::DropsWhenBusy) {
            return;
        }
        if busy
            && self.config.mutants.has(Mutant::ConcurrentTurns)
            && self.overtake(&scope, event, out)
        {
            return;
        }
        match self.inbox.push(scope, event.clone()) {
            Ok(()) => self.react_queued(event, out),
            Err(event) => self.refuse(&event, out),
        }
    }

    /// There is no room for the message: its author is told.
    fn refuse(&mut self, event: &SharedEvent, out: &mut Out<'_>) {
        let why = "too many messages wait in this channel";
        out.note(Note::TurnFailed {
            messages: vec![event.id()],
            retryable: false,
            why: why.into(),
        });
        self.announce_loss(std::slice::from_ref(event), why, out);
    }
}
