//! How the history comes back: what each way of replaying means.

use std::sync::Arc;

use skep_plan::Replay;
use skep_trace::{Call, Frame, Text, Update};

use super::disk::Session;
use super::step::Step;
use super::stream::Stream;
use super::task::Task;

/// One message: the blocks of a prompt, or what the agent did in answer.
type Message = Vec<Update>;

impl Step<'_> {
    /// Replays a request's session. Where the request names none, or one that the agent does not
    /// know, there is nothing to replay. A load whose script replays brings nothing of its own.
    pub(super) fn replay(&mut self, task: &mut Task, replay: Replay) {
        task.replayed = true;
        let Some(id) = self.session_of(task).filter(|id| self.knows(id)) else { return };
        match replay {
            // `after-response` waits for the answer; without a success nothing follows.
            Replay::AfterResponse { gap_ms } => task.late_ms = Some(gap_ms),
            // `interleaved`: after each message one of another session.
            Replay::Interleaved => self.interleave(&id),
            _ => {
                for update in self.wanted(&id, replay).into_iter().flatten() {
                    self.notify(&id, update);
                }
            }
        }
    }

    fn wanted(&self, id: &str, replay: Replay) -> Vec<Message> {
        let mut messages = self.messages(id, replay == Replay::OnlyUser);
        match replay {
            Replay::First(count) => messages.truncate(size(count)),
            Replay::Last(count) => {
                messages.drain(..messages.len().saturating_sub(size(count)));
            }
            Replay::Twice => messages.extend_from_within(..),
            Replay::None => messages.clear(),
            // `all` in order; `only-user` was made so; the other two pick their own moment.
            Replay::All | Replay::OnlyUser | Replay::AfterResponse { .. } | Replay::Interleaved => {
            }
        }
        messages
    }

    /// The conversation, oldest first. A turn in which the agent said nothing is one message.
    fn messages(&self, id: &str, only_user: bool) -> Vec<Message> {
        let turns = self.disk.session(id).map_or(&[][..], Session::turns);
        let mut messages = Vec::with_capacity(turns.len() * 2);
        for turn in turns {
            messages.push(turn.user.iter().cloned().map(Update::UserMessageChunk).collect());
            if !only_user && !turn.agent.is_empty() {
                messages.push(turn.agent.clone());
            }
        }
        messages
    }

    fn interleave(&mut self, id: &Text) {
        let other = self.another(id);
        for (at, message) in self.messages(id, false).into_iter().enumerate() {
            for update in message {
                self.notify(id, update);
            }
            let text = format!("meanwhile in {other} ({})", at + 1);
            self.notify(&other, Update::AgentMessageChunk(text.into()));
        }
    }

    /// Another session that this connection knows, else one that the agent knows, else a name
    /// that nobody knows.
    fn another(&self, id: &Text) -> Text {
        let open = self.agent.open.iter().find(|other| *other != id);
        let known = || self.disk.sessions().map(|(other, _)| other).find(|other| *other != id);
        open.or_else(known)
            .cloned()
            .unwrap_or_else(|| format!("{}-Elsewhere", self.agent.cast.name).into())
    }

    fn notify(&mut self, id: &Text, update: Update) {
        self.send(notification(id, update));
    }

    /// After a success: the history that was put off, as it is at this moment.
    pub(super) fn follow_up(&mut self, task: &mut Task) {
        let Some(gap_ms) = task.late_ms.take() else { return };
        let Some(id) = self.session_of(task) else { return };
        let updates = self.messages(&id, false).into_iter().flatten();
        let frames = updates.map(|update| (Arc::new(notification(&id, update)), 1)).collect();
        self.start(Stream { timer: 0, gap_ms, frames });
    }
}

pub(super) fn notification(id: &Text, update: Update) -> Frame {
    Frame::Notification(Call::SessionUpdate { session_id: Text::clone(id), update })
}

/// A count of messages, as a length.
fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
