//! What stood in the way of something that did not happen, and whose doing that is.
//!
//! An expectation that is not met is the harness's fault unless the records show that it could
//! not act: nobody started it, the relay kept the message back, the agent did not answer.

use skep_trace::{End, NameKind};

use super::breach::restart;
use super::{Stretch, cause};
use crate::facts::Facts;
use crate::facts::ids::LifeId;
use crate::facts::life::{Asks, LifeFacts};
use crate::facts::message::MessageFacts;
use crate::facts::process::Wants;
use crate::facts::prompt::{Prompt, PromptEnd};
use crate::facts::scope::names_key;
use crate::verdict::{Blame, Cause};

/// Whose doing, why, and where it shows.
pub(crate) struct Obstacle {
    pub(crate) blame: Blame,
    pub(crate) sentence: Option<String>,
    pub(crate) causes: Vec<Cause>,
}

impl Obstacle {
    fn new(blame: Blame, sentence: String, causes: impl IntoIterator<Item = Cause>) -> Self {
        Self { blame, sentence: Some(sentence), causes: causes.into_iter().collect() }
    }
}

/// What kept the harness of that name (or any) from doing what the step asks for.
pub(crate) fn obstacle(facts: &Facts, stretch: &Stretch, harness: Option<&str>) -> Obstacle {
    let wanted = |life: &LifeFacts| harness.is_none_or(|name| &*life.life.harness == name);
    let running = facts.lives.iter().rev();
    let running = running.filter(|(_, life)| wanted(life)).find(|(_, life)| life.ended.is_none());
    let Some((id, life)) = running else { return nobody_runs(facts, stretch, harness) };
    if life.paused {
        let sentence = format!("{} is suspended", life.life);
        return Obstacle::new(Blame::Scenario, sentence, None);
    }
    never_ready(facts, id)
        .or_else(|| not_delivered(facts, stretch, id))
        .or_else(|| not_answered(facts, stretch, id))
        .or_else(|| refused(facts, stretch, id))
        .or_else(|| died(facts, stretch, id))
        .unwrap_or_else(|| Obstacle {
            blame: Blame::Harness,
            sentence: None,
            causes: restart(id, stretch.from, facts).into_iter().collect(),
        })
}

fn nobody_runs(facts: &Facts, stretch: &Stretch, harness: Option<&str>) -> Obstacle {
    let wanted = |life: &LifeFacts| harness.is_none_or(|name| &*life.life.harness == name);
    let last = facts.lives.iter().rev().find(|(_, life)| wanted(life));
    let id = last.map(|(id, _)| id);
    match last.and_then(|(_, life)| Some((life, life.ended?))) {
        Some((life, (record, _))) if was_stopped(facts, stretch, life, id) => {
            let sentence = format!("{} was stopped and not started again", life.life);
            Obstacle::new(Blame::Scenario, sentence, [cause(record, "ended as it was asked to")])
        }
        None => Obstacle::new(Blame::Scenario, "no harness was started".to_owned(), None),
        Some((life, (record, End::Signal { by_us: true, .. }))) => {
            let sentence = format!("{} was killed and not started again", life.life);
            Obstacle::new(Blame::Scenario, sentence, [cause(record, "killed here")])
        }
        Some((life, (record, end))) => {
            let how = match end {
                End::Exit(code) => format!("exited with code {code}"),
                End::Signal { signal, .. } => format!("died by signal {signal}"),
            };
            let at = facts.instant(record);
            let sentence = format!("{} {how}, at {at}", life.life);
            match id.and_then(|id| never_introduced(facts, id)) {
                Some(agents) => {
                    let sentence = format!("{sentence}: {agents}");
                    Obstacle::new(Blame::Agent, sentence, [cause(record, how)])
                }
                None => Obstacle::new(Blame::Harness, sentence, [cause(record, how)]),
            }
        }
    }
}

/// The scenario made it end, or its owner did, and no message of the step came to it before.
fn was_stopped(facts: &Facts, stretch: &Stretch, life: &LifeFacts, id: Option<LifeId>) -> bool {
    let Some((ended, _)) = life.ended else { return false };
    let heard = |message: &MessageFacts| {
        let heard_by = |life, at: usize| Some(life) == id && at < ended;
        let given = message.deliveries.iter().any(|it| heard_by(it.life, it.record));
        let mention = message.event.as_ref().is_some_and(|event| facts.is_mention(event));
        given && mention && message.published.is_some_and(|record| stretch.holds(record))
    };
    life.told_to_end && !facts.messages.iter().any(|(_, message)| heard(message))
}

/// Every agent that a life started was gone before it introduced itself.
fn never_introduced(facts: &Facts, id: LifeId) -> Option<String> {
    let own = || facts.processes.iter().filter(|(_, process)| process.life == id);
    let (_, last) = own().next_back()?;
    let none = own().all(|(_, process)| !process.introduced && process.ended.is_some());
    let asked = own().all(|(_, process)| process.greeted);
    (none && asked).then(|| format!("{} ended without an answer to `initialize`", last.process))
}

/// The harness never came so far as to take messages.
fn never_ready(facts: &Facts, id: LifeId) -> Option<Obstacle> {
    let life = facts.lives.get(id);
    if !facts.tells_ready || life.ready.is_some() {
        return None;
    }
    let own = facts.processes.iter().rev().find(|(_, process)| process.life == id);
    let waiting = own.map(|(_, process)| process).filter(|process| !process.introduced);
    Some(match waiting {
        Some(agent) if agent.greeted => {
            let sentence = format!(
                "{} was never ready: {} did not answer `initialize`",
                life.life, agent.process
            );
            Obstacle::new(Blame::Agent, sentence, None)
        }
        _ => Obstacle::new(Blame::Harness, format!("{} was never ready", life.life), None),
    })
}

/// A mention of this step did not get to the harness.
fn not_delivered(facts: &Facts, stretch: &Stretch, id: LifeId) -> Option<Obstacle> {
    let key = facts.key(id)?;
    let kept = |message: &MessageFacts| {
        let here = message.published.is_some_and(|record| stretch.holds(record));
        let meant = |event: &_| facts.is_mention(event) && names_key(event, key);
        here && message.deliveries.is_empty() && message.event.as_deref().is_some_and(meant)
    };
    let (_, message) = facts.messages.iter().find(|(_, message)| kept(message))?;
    let (life, channel) = (facts.lives.get(id), message.channel.as_deref()?);
    let (published, created_at) = (message.published?, message.event.as_ref()?.created_at);
    let (blame, sentence) = match life.asks(channel, published, created_at) {
        Asks::ForIt => {
            (Blame::Relay, format!("the relay did not deliver the message to {}", life.life))
        }
        Asks::ForNewer => {
            (Blame::Harness, format!("{} asked the relay only for newer messages", life.life))
        }
        Asks::NotForIt => {
            let name = facts.names.name(NameKind::Channel, channel);
            (Blame::Harness, format!("{} had no subscription for {name}", life.life))
        }
    };
    Some(Obstacle::new(blame, sentence, [cause(published, "the message, published here")]))
}

/// The agent owes an answer. A harness that waits for it without any timer is to blame itself.
fn not_answered(facts: &Facts, stretch: &Stretch, id: LifeId) -> Option<Obstacle> {
    let own = facts.processes.iter().filter(|(_, process)| process.life == id);
    let mut open = own.flat_map(|(_, process)| process.open().map(move |open| (process, open)));
    let (agent, open) = open.find(|(_, open)| open.wants != Wants::Other)?;
    let (method, at) = (open.wants.method(), facts.instant(open.record));
    let sent = cause(open.record, format!("`{method}` sent here"));
    Some(if stretch.drained() {
        let life = &facts.lives.get(id).life;
        let sentence = format!("{life} waits for ever for the answer to `{method}`, sent at {at}");
        Obstacle::new(Blame::Harness, sentence, [sent])
    } else {
        let sentence = format!("{} did not answer `{method}`, sent at {at}", agent.process);
        Obstacle::new(Blame::Agent, sentence, [sent])
    })
}

/// The agent refused what no harness can do without: a session, or a prompt on a session it has.
fn refused(facts: &Facts, stretch: &Stretch, id: LifeId) -> Option<Obstacle> {
    let mut prompts = facts.prompts.since(stretch.from).filter(|prompt| prompt.life == id);
    let prompt = prompts.next_back();
    let refused_prompt = prompt.and_then(|prompt| match prompt.end {
        Some((record, PromptEnd::Refused(code))) if prompt.on_live_session => {
            Some((record, code, "session/prompt"))
        }
        _ => None,
    });
    let no_session = facts.setbacks.since(id, stretch.from).last().and_then(|setback| {
        let new = matches!(setback.wants, Wants::New { .. } | Wants::Initialize);
        Some((setback.record, setback.code.filter(|_| new)?, setback.wants.method()))
    });
    let (record, code, method) = refused_prompt.or(no_session)?;
    let life = &facts.lives.get(id).life;
    let (blame, sentence) = if stretch.drained() && !prompt.is_some_and(|it| tried(it, facts)) {
        (Blame::Harness, format!("{life} did not try again after `{method}` failed with {code}"))
    } else {
        (Blame::Agent, format!("the agent answered `{method}` with error {code}"))
    };
    Some(Obstacle::new(blame, sentence, [cause(record, "refused here")]))
}

/// The agent died over what no harness can do without, and the harness did what it could.
fn died(facts: &Facts, stretch: &Stretch, id: LifeId) -> Option<Obstacle> {
    let mut prompts = facts.prompts.since(stretch.from).filter(|prompt| prompt.life == id);
    let over_prompt = prompts.next_back().and_then(|prompt| match prompt.end {
        Some((record, PromptEnd::AgentDied)) if prompt.on_live_session => {
            tried(prompt, facts).then_some((record, prompt.process, "session/prompt"))
        }
        _ => None,
    });
    let over_session = || {
        let new = |wants: &Wants| matches!(wants, Wants::New { .. } | Wants::Initialize);
        let own = facts.setbacks.since(id, stretch.from);
        let deaths: Vec<_> = own.filter(|it| it.code.is_none() && new(&it.wants)).collect();
        let last = deaths.last().filter(|_| deaths.len() > 1)?;
        // A session that was opened since shows that the agent could.
        let since = facts.prompts.since(last.record).any(|prompt| prompt.life == id);
        (!since).then(|| (last.record, last.process, last.wants.method()))
    };
    let (record, process, method) = over_prompt.or_else(over_session)?;
    let process = &facts.processes.get(process).process;
    let sentence = format!("{process} died over `{method}`, and others before it");
    Some(Obstacle::new(Blame::Agent, sentence, [cause(record, "died here")]))
}

/// The harness did what it could: it tried more than once, or told the channel of the loss.
fn tried(prompt: &Prompt, facts: &Facts) -> bool {
    prompt
        .messages
        .iter()
        .map(|id| facts.messages.get(*id))
        .any(|message| message.prompts.len() > 1 || message.announced.is_some())
}
