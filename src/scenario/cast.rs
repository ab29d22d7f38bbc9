//! The lines before the first step: who takes part, and what is there before they start.

mod agent;
mod given;
mod harness;

use skep_plan::{
    AgentCast, Cast, ChannelCast, ChannelKind, Given, HarnessCast, PersonCast, RelayCast,
};
use skep_trace::Text;

use super::diagnostic::Reporter;
use super::line::Line;
use super::scope::{Names, Scope};
use super::tree::Node;
use super::verb::Verb;

pub(super) use agent::{capability, read_replay};
#[cfg(test)]
pub(super) use given::GIVEN;
pub(super) use given::{bytes, path};
pub(super) use harness::{complain, setting_text};

/// One member of the cast.
pub(super) enum Member {
    Relay(RelayCast),
    Channel(ChannelCast),
    Person(PersonCast),
    Agent(AgentCast),
    State(Text),
    Harness(HarnessCast),
    Given(Given),
    /// It was complained about.
    Nobody,
}

/// Every kind of line that a cast has. Names are made before any line is read, and lines are read
/// in this order, so that a harness may stand above its agent.
pub(super) const CAST: &[Verb<Member>] = &[
    Verb::new("relay", 1, &[], relay),
    Verb::new("channel", 1, &["type"], channel),
    Verb::new("person", 1, &["owner"], person),
    Verb::new("agent", 1, agent::PROPS, |line, scope| Member::Agent(agent::read(line, scope)))
        .with_block(),
    Verb::new("state", 1, &[], |line, _| Member::State(line.first_name("state").text)),
    // What a harness takes is more than a row can hold.
    Verb::two_words("harness", |line, scope| Member::Harness(harness::read(line, scope))),
    Verb::two_words("given", |line, scope| match given::read(line, scope) {
        Some(given) => Member::Given(given),
        None => Member::Nobody,
    }),
];

/// The relay of a scenario that declares none.
const RELAY: &str = "relay";
/// The owner of a scenario that declares none.
const OWNER: &str = "owner";

/// A line of the cast and the file that it stands in.
pub(super) type CastLine<'a> = (&'a Node, Reporter<'a>);

/// Reads the cast, and makes its names known.
pub(super) fn read(lines: &[CastLine<'_>], scope: &mut Scope) -> Cast {
    for (node, at) in lines {
        make_name(&Line::new(node, *at), scope);
    }
    let mut cast = Cast::default();
    for verb in CAST {
        for (node, at) in lines.iter().filter(|(node, _)| &*node.name.text == verb.word) {
            let line = Line::new(node, *at);
            enlist(&mut cast, verb.read(&line, scope), &line);
        }
        imply(verb.word, &mut cast, scope);
    }
    cast
}

fn make_name(line: &Line<'_>, scope: &mut Scope) {
    let names = match &*line.node.name.text {
        "relay" => &mut scope.relays,
        "channel" => &mut scope.channels,
        "person" => &mut scope.people,
        "agent" => &mut scope.agents,
        "state" => &mut scope.states,
        "harness" => &mut scope.harnesses,
        _ => return,
    };
    declare(names, line);
}

/// A name that is no name is complained about when its line is read.
fn declare(names: &mut Names, line: &Line<'_>) {
    if let Some((value, text)) = line.args().first().and_then(|arg| Some((arg, arg.text()?))) {
        names.define(line.at, &super::tree::Word { text: text.clone(), span: value.span });
    }
}

fn enlist(cast: &mut Cast, member: Member, line: &Line<'_>) {
    match member {
        Member::Relay(relay) => cast.relays.push(relay),
        Member::Channel(channel) => cast.channels.push(channel),
        Member::Person(person) => {
            if person.owner && cast.people.iter().any(|other| other.owner) {
                let help = "take `owner=#true` from one of them";
                line.at.error(line.node.span, "a second owner", "owns as well", help);
            }
            cast.people.push(person);
        }
        Member::Agent(agent) => cast.agents.push(agent),
        Member::State(state) => cast.states.push(state),
        Member::Harness(harness) => {
            if !cast.states.contains(&harness.state) {
                cast.states.push(harness.state.clone());
            }
            cast.harnesses.push(harness);
        }
        Member::Given(given) => cast.given.push(given),
        Member::Nobody => {}
    }
}

/// What every scenario has, once all lines of a kind are read.
fn imply(word: &str, cast: &mut Cast, scope: &mut Scope) {
    if word == "relay" && cast.relays.is_empty() {
        scope.relays.imply(&RELAY.into());
        cast.relays.push(RelayCast { name: RELAY.into() });
    }
    if word == "person" && !cast.people.iter().any(|person| person.owner) {
        scope.people.imply(&OWNER.into());
        cast.people.push(PersonCast { name: OWNER.into(), owner: true });
    }
}

fn relay(line: &Line<'_>, _: &mut Scope) -> Member {
    Member::Relay(RelayCast { name: line.first_name("relay").text })
}

fn channel(line: &Line<'_>, _: &mut Scope) -> Member {
    let kinds = [
        ("stream", ChannelKind::Stream),
        ("private", ChannelKind::Private),
        ("dm", ChannelKind::Dm),
    ];
    Member::Channel(ChannelCast {
        name: line.first_name("channel").text,
        kind: line.word_prop("type", "a type of channel", &kinds).unwrap_or_default(),
    })
}

fn person(line: &Line<'_>, _: &mut Scope) -> Member {
    let name = line.first_name("person").text;
    let owner = line.switch_prop("owner");
    if &*name == OWNER && !owner {
        let help = format!("write `person \"{OWNER}\" owner=#true`, or choose another name");
        let title = format!("a person named `{OWNER}` who is not the owner");
        line.at.error(line.node.span, title, "misleads", help);
    }
    Member::Person(PersonCast { name, owner })
}
