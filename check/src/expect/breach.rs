//! What a call that must not be means, in the domain's words, and what led to it.

use skep_trace::{Call, End, Side};

use super::cause;
use crate::facts::Facts;
use crate::facts::ids::{LifeId, SessionId};
use crate::facts::moment::{CallSeen, Moment};
use crate::facts::scope::{Scope, channel_of};
use crate::verdict::{Blame, Cause};
use crate::words::{number, times};

/// What went wrong, who did it, what led there.
pub(crate) struct Breach {
    /// What it means where none of these may come.
    pub(crate) title: String,
    /// It means nothing worse than that: where some may come, their number tells more.
    pub(crate) plain: bool,
    pub(crate) blame: Blame,
    pub(crate) causes: Vec<Cause>,
}

/// Explains the moment's call, which an expectation forbids.
pub(crate) fn breach(moment: &Moment<'_>, facts: &Facts) -> Breach {
    let Some(seen) = &moment.call else {
        let title = String::new();
        return Breach { title, plain: true, blame: Blame::Harness, causes: Vec::new() };
    };
    let blame = if seen.from == Side::Agent { Blame::Agent } else { Blame::Harness };
    let session = match seen.call {
        Call::SessionNew(_) => already_open(seen, facts),
        call => call.session_id().and_then(|id| facts.sessions.find(id)),
    };
    let (title, plain) = title(moment, seen, session, facts);
    let causes = session.map(|session| history(session, seen.life, facts)).unwrap_or_default();
    Breach { title, plain, blame, causes }
}

/// What a call means that must not be, and whether that is no more than that it came.
fn title(
    moment: &Moment<'_>,
    seen: &CallSeen<'_>,
    session: Option<SessionId>,
    facts: &Facts,
) -> (String, bool) {
    let discarded = session.is_some_and(|session| facts.discards.any(session).is_some());
    match (seen.call, session) {
        (Call::SessionNew(_), Some(_)) => {
            ("the harness opened a session it already had".to_owned(), false)
        }
        (Call::SessionLoad { .. } | Call::SessionResume { .. } | Call::SessionPrompt { .. }, _)
            if moment.comeback.is_some() || discarded =>
        {
            ("a discarded session came back".to_owned(), false)
        }
        (call, _) => (unwanted(call.method(), seen.from), true),
    }
}

fn unwanted(method: &str, from: Side) -> String {
    match method {
        "session/new" => "the harness opened a session where it was to open none".to_owned(),
        "session/load" | "session/resume" => {
            "the harness asked for an old session where it was not to".to_owned()
        }
        "session/prompt" => "the harness sent a prompt that it was not to send".to_owned(),
        _ => {
            let who = if from == Side::Agent { "agent" } else { "harness" };
            format!("the {who} sent `{method}` where it was not to")
        }
    }
}

/// What it means that so many calls of a method came where only so many, but some, may come.
pub(crate) fn beyond(method: &str, count: u32, most: u32) -> String {
    let (did, to, what) = match method {
        "session/new" => ("the harness opened", "open", "sessions".to_owned()),
        "session/load" | "session/resume" => {
            return format!(
                "the harness asked for an old session {}, not {}",
                times(count),
                times(most)
            );
        }
        "session/prompt" => ("the harness sent", "send", "such prompts".to_owned()),
        _ => return format!("`{method}` came {}, not {}", times(count), times(most)),
    };
    format!("{did} {count} {what} where it was to {to} {}", number(most))
}

/// The session that a conversation had when another was opened for it.
fn already_open(seen: &CallSeen<'_>, facts: &Facts) -> Option<SessionId> {
    let Call::SessionNew(setup) = seen.call else { return None };
    let meta = setup.meta.as_ref().and_then(|meta| meta.get("channelId")?.as_str());
    let from_meta = meta.map(|id| Scope { channel: channel_of(id), root: None });
    let waiting = facts.waiting(seen.life, from_meta.as_ref());
    let mut scopes: Vec<_> = waiting.filter_map(|id| facts.scope(seen.life, id)).collect();
    if scopes.is_empty() {
        scopes.extend(from_meta.filter(|scope| !facts.splits(seen.life, &scope.channel)));
    }
    let home = facts.lives.get(seen.life).home;
    scopes.iter().find_map(|scope| {
        let mut known = facts.sessions.of(home, scope).rev();
        known.find(|(id, _)| facts.discards.any(*id).is_none()).map(|(id, _)| id)
    })
}

/// Where a session came from, what discarded it, and how the life that names it came to be.
pub(crate) fn history(session: SessionId, life: LifeId, facts: &Facts) -> Vec<Cause> {
    let mut causes = Vec::new();
    let own = facts.sessions.get(session);
    if let Some(record) = own.opened() {
        causes.push(cause(record, format!("{} opened here", facts.session_name(session))));
    } else if let Some(first) = own.prompts.first() {
        let record = facts.prompts.get(*first).record;
        causes.push(cause(record, format!("{} in use here", facts.session_name(session))));
    }
    if let Some(discard) = facts.discards.any(session) {
        causes.push(cause(discard.record, discard.why.label()));
    }
    let since = causes.last().map_or(0, |last| last.record);
    causes.extend(restart(life, since, facts));
    causes.sort_by_key(|cause| cause.record);
    causes
}

/// How a life took the place of the one before it, if that was since a record.
pub(crate) fn restart(life: LifeId, since: usize, facts: &Facts) -> Option<Cause> {
    let own = facts.lives.get(life);
    let before = facts.lives.iter().take_while(|(id, _)| *id != life);
    let before = before.filter(|(_, other)| other.life.harness == own.life.harness).last();
    let (_, before) = before.filter(|_| own.started > since)?;
    let how = match before.ended {
        Some((_, End::Signal { by_us: true, .. })) => "killed",
        Some((_, End::Signal { .. })) => "died",
        Some((_, End::Exit(_))) => "exited",
        None => "still ran",
    };
    Some(cause(own.started, format!("{} {how}, {} started", before.life, own.life)))
}

/// The same method, but not the call that is looked for: the best guess at what came instead, and
/// what about it differs.
pub(crate) struct NearMiss {
    /// The call.
    pub(crate) record: usize,
    /// What differs: `its `cwd` is "/w", not "/elsewhere"`.
    pub(crate) difference: String,
}

impl NearMiss {
    /// What came, with what differs, in one sentence.
    pub(crate) fn title(&self, method: &str) -> String {
        let came = match method {
            "session/new" => "the harness opened a session".to_owned(),
            "session/load" | "session/resume" => "the harness asked for an old session".to_owned(),
            "session/prompt" => "the harness sent a prompt".to_owned(),
            _ => format!("`{method}` came"),
        };
        format!("{came}, but {}", self.difference)
    }

    /// The call, as something that explains a verdict.
    pub(crate) fn cause(&self, method: &str) -> Cause {
        cause(self.record, format!("`{method}` came here, but {}", self.difference))
    }
}
