//! H-73: a session is used only under the relay, the identity and the conversation that it was
//! made in.

use super::{Broken, Invariant, Tally};
use crate::expect::history;
use crate::facts::Facts;
use crate::facts::ids::{LifeId, SessionId};
use crate::facts::moment::{Moment, Seen};
use crate::facts::prompt::Prompt;
use crate::facts::session::Origin;

/// The rule; all it needs is in the facts.
pub(crate) struct ForeignSession;

impl Invariant for ForeignSession {
    fn rule(&self) -> &'static str {
        "H-73"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        let broken = match &moment.seen {
            Seen::Load { process, session, .. } => {
                let life = facts.processes.get(*process).life;
                let known = !facts.sessions.get(*session).origins.is_empty();
                if known {
                    tally.came_up();
                }
                (known && foreign(life, *session, facts)).then_some((
                    life,
                    *session,
                    "the harness asked for a session of another community or identity",
                ))
            }
            Seen::Prompt(prompt) => {
                let prompt = facts.prompts.get(*prompt);
                tally.came_up();
                astray(prompt, facts).map(|title| (prompt.life, prompt.session, title))
            }
            _ => None,
        };
        if let Some((life, session, title)) = broken {
            tally.broke(|| {
                let name = facts.session_name(session);
                Broken::by_harness(moment, title)
                    .saying(format!("{name} was made elsewhere"))
                    .because(history(session, life, facts))
            });
        }
    }
}

/// No origin of the session is under this life's relay and identity.
fn foreign(life: LifeId, session: SessionId, facts: &Facts) -> bool {
    let own = facts.lives.home(facts.lives.get(life).home);
    let home = |origin: &Origin| facts.lives.home(origin.home);
    let origins = &facts.sessions.get(session).origins;
    !origins.iter().map(home).any(|home| home.relay == own.relay && home.key == own.key)
}

/// The session of the prompt belongs to another identity, or to another conversation than one of
/// the messages.
fn astray(prompt: &Prompt, facts: &Facts) -> Option<&'static str> {
    let session = facts.sessions.get(prompt.session);
    if session.origins.is_empty() {
        return None;
    }
    if foreign(prompt.life, prompt.session, facts) {
        return Some("the harness prompted a session of another community or identity");
    }
    let astray = prompt.messages.iter().any(|message| {
        facts.scope(prompt.life, *message).is_some_and(|scope| {
            let own = session.origins.iter().filter_map(|origin| origin.scope.as_ref());
            let mut own = own.peekable();
            own.peek().is_some() && !own.any(|own| own.fits(&scope))
        })
    });
    astray.then_some("a message was prompted in another conversation's session")
}
