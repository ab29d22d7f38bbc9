//! Prompts: which messages each held, and how it ended.

use skep_trace::{Hex32, Text};

use super::ids::{LifeId, MessageId, ProcessId, PromptId, SessionId};
use super::scope::Scope;

/// How a prompt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PromptEnd {
    /// The agent answered with this stop reason; empty when it gave none.
    Stopped(Text),
    /// The agent answered with an error of this code.
    Refused(i64),
    /// The agent's process ended first.
    AgentDied,
    /// The harness's life ended first.
    HarnessGone,
}

/// A prompt that was sent.
#[derive(Debug)]
pub(crate) struct Prompt {
    /// The record of it.
    pub(crate) record: usize,
    /// Which life sent it.
    pub(crate) life: LifeId,
    /// To which process.
    pub(crate) process: ProcessId,
    /// On which session.
    pub(crate) session: SessionId,
    /// The session was created or loaded on this connection before.
    pub(crate) on_live_session: bool,
    /// The messages that it holds, in order, each as often as it stands there.
    pub(crate) messages: Vec<MessageId>,
    /// The conversation of the first of its messages that is known.
    pub(crate) scope: Option<Scope>,
    /// The record that ended it, and how.
    pub(crate) end: Option<(usize, PromptEnd)>,
    /// The record of the first `session/cancel` for it.
    pub(crate) cancelled: Option<usize>,
}

impl Prompt {
    /// It was answered `end_turn`.
    pub(crate) fn done(&self) -> bool {
        self.stopped("end_turn")
    }

    /// It was answered with this reason, however that is spelled.
    pub(crate) fn stopped(&self, wanted: &str) -> bool {
        let end = self.end.as_ref().map(|(_, how)| how);
        matches!(end, Some(PromptEnd::Stopped(own)) if own.eq_ignore_ascii_case(wanted))
    }

    /// It was answered with a stop reason, whichever.
    pub(crate) fn answered(&self) -> bool {
        matches!(&self.end, Some((_, PromptEnd::Stopped(_))))
    }

    /// How it ended, for a reader.
    pub(crate) fn fate(&self) -> String {
        match &self.end {
            None => "is not answered".to_owned(),
            Some((_, PromptEnd::Stopped(reason))) if reason.is_empty() => {
                "was answered without a stop reason".to_owned()
            }
            Some((_, PromptEnd::Stopped(reason))) => format!("was answered `{reason}`"),
            Some((_, PromptEnd::Refused(code))) => format!("was answered with error {code}"),
            Some((_, PromptEnd::AgentDied)) => "ended with the agent's process".to_owned(),
            Some((_, PromptEnd::HarnessGone)) => "ended with the harness's life".to_owned(),
        }
    }
}

/// All prompts so far.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    list: Vec<Prompt>,
    running: Vec<PromptId>,
}

impl Prompts {
    /// The facts of a prompt.
    pub(crate) fn get(&self, id: PromptId) -> &Prompt {
        &self.list[id.0]
    }

    /// Every prompt, the earliest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (PromptId, &Prompt)> {
        self.list.iter().enumerate().map(|(place, prompt)| (PromptId(place), prompt))
    }

    /// The prompts that have not ended, the earliest first.
    pub(crate) fn running(&self) -> impl DoubleEndedIterator<Item = (PromptId, &Prompt)> {
        self.running.iter().map(|id| (*id, self.get(*id)))
    }

    /// The prompts that were sent since a record.
    pub(crate) fn since(&self, record: usize) -> impl DoubleEndedIterator<Item = &Prompt> {
        let from = self.list.partition_point(|prompt| prompt.record < record);
        self.list[from..].iter()
    }

    pub(crate) fn push(&mut self, prompt: Prompt) -> PromptId {
        let id = PromptId(self.list.len());
        self.list.push(prompt);
        self.running.push(id);
        id
    }

    /// A prompt is over.
    pub(crate) fn end(&mut self, id: PromptId, record: usize, how: PromptEnd) {
        self.running.retain(|running| *running != id);
        self.list[id.0].end.get_or_insert((record, how));
    }

    /// A life is over: its running prompts are.
    pub(crate) fn end_life(&mut self, life: LifeId, record: usize) {
        let (ended, running) =
            self.running.iter().copied().partition(|id| self.get(*id).life == life);
        self.running = running;
        let ended: Vec<PromptId> = ended;
        for id in ended {
            self.list[id.0].end = Some((record, PromptEnd::HarnessGone));
        }
    }

    /// The harness cancelled the running turns of a session.
    pub(crate) fn cancel(&mut self, process: ProcessId, session: SessionId, record: usize) {
        for id in &self.running {
            let prompt = &mut self.list[id.0];
            if prompt.process == process && prompt.session == session {
                prompt.cancelled.get_or_insert(record);
            }
        }
    }
}

/// The messages that a prompt says it holds: its `Event ID:` lines, ids by value. Sections of
/// earlier messages given as context are passed over.
pub(crate) fn event_ids(blocks: &[Text]) -> Vec<Hex32> {
    let mut ids = Vec::new();
    for block in blocks {
        push_event_ids(block, &mut ids);
    }
    ids
}

fn push_event_ids(block: &str, ids: &mut Vec<Hex32>) {
    let mut context = false;
    for line in block.lines().map(str::trim) {
        if line.starts_with('[') {
            context = line.starts_with("[Thread Context") || line.starts_with("[Context");
        }
        let id = strip_label(line).filter(|_| !context);
        ids.extend(id.and_then(Hex32::parse));
    }
}

fn strip_label(line: &str) -> Option<&str> {
    const LABEL: &str = "event id:";
    let head = line.get(..LABEL.len())?;
    head.eq_ignore_ascii_case(LABEL).then(|| line[LABEL.len()..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_id_lines_are_read_by_value() {
        let lower = "ab".repeat(32);
        let block = format!(
            "[Buzz event: @mention]\nEvent ID: {}\nContent: hi\nevent id: {lower}\nEvent ID: short",
            lower.to_uppercase()
        );
        let id = Hex32::parse(&lower).unwrap();
        assert_eq!(event_ids(&[block.into()]), [id, id]);
    }

    #[test]
    fn context_holds_no_messages() {
        let (old, new) = ("ab".repeat(32), "cd".repeat(32));
        let block = format!(
            "[Thread Context (1 of 1 messages)]\nEvent ID: {old}\n\
             [Buzz event: @mention]\nEvent ID: {new}"
        );
        assert_eq!(event_ids(&[block.into()]), [Hex32::parse(&new).unwrap()]);
    }
}
