//! A scenario, as far as the checker must know it.

use skep_check::{Asked, AskedHarness, AskedSession, AskedSettings};
use skep_plan::{Act, Cast, ChannelKind, DiskOp, Given, HarnessCast, Settings};
use skep_relay::Keys;
use skep_trace::Text;

use crate::scenario::{Scenario, Step};

/// What the scenario asks for, with its completed cast.
pub fn of(scenario: &Scenario, cast: &Cast) -> Asked {
    let expectations = |step: &Step| {
        step.expectations.iter().map(|expectation| expectation.value.clone()).collect()
    };
    let dms = cast.channels.iter().filter(|channel| channel.kind == ChannelKind::Dm);
    let owner = cast.people.iter().find(|person| person.owner);
    Asked {
        steps: scenario.steps.iter().map(expectations).collect(),
        harnesses: cast.harnesses.iter().map(|harness| asked_harness(harness, scenario)).collect(),
        dms: dms.map(|channel| channel.name.clone()).collect(),
        owner: owner.map_or_else(|| "owner".into(), |owner| owner.name.clone()),
        given: cast.given.iter().filter_map(asked_session).collect(),
        unwritable: unwritable(&scenario.steps),
        stops: stops(&scenario.steps),
        secrets: cast.harnesses.iter().flat_map(|harness| secrets(&harness.key)).collect(),
    }
}

fn asked_harness(cast: &HarnessCast, scenario: &Scenario) -> AskedHarness {
    let mut settings = cast.settings.clone();
    let mut later = Vec::new();
    for (index, step) in scenario.steps.iter().enumerate() {
        let before = later.len();
        for act in &step.acts {
            if let Act::Set { harness, key, value } = &act.value
                && *harness == cast.name
                && settings.set(key, value).is_ok()
            {
                later.truncate(before);
                later.push((index, asked_settings(&settings)));
            }
        }
    }
    AskedHarness {
        name: cast.name.clone(),
        agent: cast.agent.clone(),
        relay: cast.relay.clone(),
        state: cast.state.clone(),
        key: cast.key.clone(),
        settings: asked_settings(&cast.settings),
        later,
    }
}

fn asked_settings(settings: &Settings) -> AskedSettings {
    AskedSettings {
        policies: settings.policies,
        resume: settings.resume,
        load_timeout_ms: settings.load_timeout_ms,
        max_turns: settings.max_turns,
    }
}

fn asked_session(given: &Given) -> Option<AskedSession> {
    match given {
        Given::Receipt(receipt) => Some(AskedSession {
            name: receipt.session.clone(),
            harness: receipt.harness.clone(),
            channel: receipt.channel.clone(),
            root: receipt.root.clone(),
        }),
        Given::File(_) => None,
    }
}

/// The steps in which the scenario keeps some state directory from being written.
fn unwritable(steps: &[Step]) -> Vec<usize> {
    let mut closed = false;
    let mut found = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let mut touched = closed;
        for act in &step.acts {
            if let Act::Disk { op, .. } = &act.value {
                closed = closes(op, closed);
                touched |= closed;
            }
        }
        if touched {
            found.push(index);
        }
    }
    found
}

/// The harnesses that the scenario asks to end, and when.
fn stops(steps: &[Step]) -> Vec<(usize, Text)> {
    let steps = steps.iter().enumerate();
    let acts = steps.flat_map(|(index, step)| step.acts.iter().map(move |act| (index, &act.value)));
    acts.flat_map(|(index, act)| stopped(act).map(move |name| (index, name.clone()))).collect()
}

fn stopped(act: &Act) -> Box<dyn Iterator<Item = &Text> + '_> {
    match act {
        Act::Stop(harnesses) => Box::new(harnesses.iter()),
        Act::Together(acts) => Box::new(acts.iter().flat_map(stopped)),
        _ => Box::new(std::iter::empty()),
    }
}

fn closes(op: &DiskOp, closed: bool) -> bool {
    match op {
        DiskOp::Fill(on) | DiskOp::ReadOnly(on) => *on,
        DiskOp::Chmod { mode } => mode & 0o200 == 0,
        DiskOp::Symlink => true,
        _ => closed,
    }
}

/// The spellings of an identity's private key.
fn secrets(key: &Text) -> Vec<Text> {
    let keys = Keys::named(key);
    vec![keys.secret_hex().into(), keys.nsec().into()]
}
