//! What a scenario leaves unsaid about its cast: channels that it only uses.

use std::collections::BTreeSet;

use skep_check::expectation::{Expectation, Wanted};
use skep_plan::{Act, Cast, ChannelCast, ChannelKind, Given};
use skep_trace::Text;

use crate::scenario::Scenario;

/// The scenario's cast with every channel that it uses: those that it does not declare are
/// streams, and the agent is a member of all of them from the start.
pub fn complete(scenario: &Scenario) -> Cast {
    let mut cast = scenario.cast.clone();
    let mut used = BTreeSet::new();
    for given in &cast.given {
        if let Given::Receipt(receipt) = given {
            used.insert(receipt.channel.clone());
        }
    }
    for step in &scenario.steps {
        for act in &step.acts {
            channels_of_act(&act.value, &mut used);
        }
        for expectation in &step.expectations {
            used.extend(channel_of_expectation(&expectation.value));
        }
    }
    for channel in &cast.channels {
        used.remove(&channel.name);
    }
    let streams = used.into_iter().map(|name| ChannelCast { name, kind: ChannelKind::Stream });
    cast.channels.extend(streams);
    cast
}

fn channels_of_act(act: &Act, used: &mut BTreeSet<Text>) {
    match act {
        Act::Say(message) => {
            used.insert(message.channel.clone());
        }
        Act::SwitchModel { channel, .. } | Act::Membership { channel, .. } => {
            used.insert(channel.clone());
        }
        Act::Together(acts) => acts.iter().for_each(|act| channels_of_act(act, used)),
        _ => {}
    }
}

fn channel_of_expectation(expectation: &Expectation) -> Option<Text> {
    match &expectation.wanted {
        Wanted::Receipt(receipt) => receipt.channel.clone(),
        Wanted::Relay(relay) => relay.channel.clone(),
        _ => None,
    }
}
