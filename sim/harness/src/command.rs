//! What the owner commands in a channel: it never reaches the agent (H-56).

use skep_mutant::Mutant;
use skep_trace::policy::Cancel;
use skep_trace::{Call, Frame, NostrEvent, SharedEvent};

use crate::effect::Out;
use crate::harness::Harness;
use crate::lifecycle::Why;
use crate::scope::Scope;
use crate::timer::Slot;
use crate::turn::{Cancelled, Stage};

/// How long a cancelled prompt may still take to be answered.
const CANCEL_GRACE_MS: u64 = 5_000;

/// One command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Forget the scope's session.
    Rotate,
    /// Stop the scope's turn.
    Cancel,
    /// End the process.
    Shutdown,
}

impl Command {
    /// Reads a message that is nothing but a command; anything around it makes it a message.
    pub(crate) fn parse(event: &NostrEvent) -> Option<Self> {
        match event.content.trim() {
            "!rotate" => Some(Self::Rotate),
            "!cancel" => Some(Self::Cancel),
            "!shutdown" => Some(Self::Shutdown),
            _ => None,
        }
    }
}

impl Harness {
    pub(crate) fn on_command(
        &mut self,
        command: Command,
        event: &SharedEvent,
        scope: &Scope,
        out: &mut Out<'_>,
    ) {
        if self.is_history(event, scope) {
            return out.log(|| format!("ignoring a command from before the start: {command:?}"));
        }
        match command {
            Command::Rotate => self.rotate(scope, out),
            Command::Cancel => self.cancel(scope, out),
            Command::Shutdown => self.shut_down("the owner said so", out),
        }
    }

    /// A command is meant for the process that ran when it was given. One that the relay serves
    /// again after a restart was obeyed then, and obeying it twice would undo what came after.
    /// Dates have whole seconds, so one of the second of the start is old if it was stored.
    fn is_history(&self, event: &NostrEvent, scope: &Scope) -> bool {
        let channel = scope.channel().and_then(|id| self.channels.get(id));
        let caught_up = channel.is_some_and(|channel| channel.caught_up);
        event.created_at < self.started_s || event.created_at == self.started_s && !caught_up
    }

    fn rotate(&mut self, scope: &Scope, out: &mut Out<'_>) {
        if self.config.mutants.has(Mutant::RotateIgnored) {
            return;
        }
        if !self.turn_is_on(scope) {
            out.log(|| "rotating an idle session".to_owned());
            self.discard(scope, Why::RotateIdle, out);
            // What waits here waited for the old session's sake.
            self.inbox.hurry(scope);
            return;
        }
        out.log(|| "rotating a session in mid-turn".to_owned());
        self.cancel_prompt("the owner rotated the session", out);
        self.discard(scope, Why::RotateBusy, out);
    }

    fn cancel(&mut self, scope: &Scope, out: &mut Out<'_>) {
        if !self.turn_is_on(scope) {
            return out.log(|| "nothing to cancel here".to_owned());
        }
        out.log(|| "cancelling the turn".to_owned());
        self.stop_turn("the owner cancelled it", out);
        if self.config.settings.policies.cancel == Cancel::Discard {
            self.discard(scope, Why::Cancel, out);
        }
    }

    pub(crate) fn turn_is_on(&self, scope: &Scope) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.scope() == scope)
    }

    /// Stops the turn where it fits: its messages are done with.
    pub(crate) fn give_up_turn(
        &mut self,
        fits: impl Fn(&Scope) -> bool,
        why: &'static str,
        out: &mut Out<'_>,
    ) {
        if self.turn.as_ref().is_some_and(|turn| fits(turn.scope())) {
            self.stop_turn(why, out);
        }
    }

    fn stop_turn(&mut self, why: &'static str, out: &mut Out<'_>) {
        let Some(turn) = &mut self.turn else { return };
        if turn.is_running() {
            self.cancel_prompt(why, out);
        } else {
            turn.dropped = Some(why);
        }
    }

    /// Asks the agent to stop the prompt that runs, if one does: its messages are done with.
    fn cancel_prompt(&mut self, why: &'static str, out: &mut Out<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let why = Cancelled::Wanted(why);
        match turn.stage {
            Stage::Prompting { request, heard_ms, .. } => {
                turn.stage = Stage::Cancelling { request, heard_ms, why };
                self.send_cancel(out);
            }
            Stage::Cancelling { request, heard_ms, .. } => {
                turn.stage = Stage::Cancelling { request, heard_ms, why };
            }
            _ => return,
        }
        self.timers.set(Slot::Turn, CANCEL_GRACE_MS, out);
    }

    pub(crate) fn send_cancel(&mut self, out: &mut Out<'_>) {
        if let Some(session_id) = self.turn.as_ref().and_then(|turn| turn.session.clone()) {
            out.tell_agent(Frame::Notification(Call::SessionCancel { session_id }));
        }
    }
}

#[cfg(test)]
mod tests {
    use skep_trace::Hex32;

    use super::*;

    fn parse(content: &str) -> Option<Command> {
        Command::parse(&NostrEvent::new(Hex32::default(), 0, 9, Vec::new(), content.into()))
    }

    #[test]
    fn only_the_bare_word_is_a_command() {
        assert_eq!(parse("!rotate\n"), Some(Command::Rotate));
        assert_eq!(parse(" !cancel"), Some(Command::Cancel));
        for message in ["please !rotate", "!rotate now", "@bee !rotate", "!Rotate", "rotate"] {
            assert_eq!(parse(message), None, "{message}");
        }
    }
}
