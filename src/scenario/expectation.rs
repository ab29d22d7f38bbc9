//! `expect` and `never`: what must follow from the acts of a step, and what must not.

mod call;
mod count;
mod state;

use skep_check::expectation::{Expectation, TurnOutcome, Wanted, WantedRelay, WantedTurn};

use super::diagnostic::Reporter;
use super::line::Line;
use super::method;
use super::scope::Scope;
use super::suggest;
use super::tree::{Kind, Node, Value};
use super::verb::{self, Verb};

/// Everything that can be expected besides calls and turns.
pub(super) const WANTED: &[Verb<Wanted>] = &[
    Verb::new("receipt", 0, state::RECEIPT, |line, scope| {
        Wanted::Receipt(state::receipt(line, scope))
    }),
    Verb::new("file", 0, state::FILE, |line, scope| Wanted::File(state::file(line, scope))),
    Verb::two_words("relay", |line, scope| Wanted::Relay(relay(line, scope))),
    Verb::new("exit", 0, &["code", "harness"], |line, scope| Wanted::Exit {
        harness: scope.harness_prop(line, "harness"),
        code: line.number_prop("code"),
    }),
    Verb::new("store-trouble", 0, &["harness"], |line, scope| Wanted::StoreTrouble {
        harness: scope.harness_prop(line, "harness"),
    }),
    Verb::new("agent-started", 0, STARTED, |line, scope| Wanted::AgentStarted {
        agent: line.name_prop("agent").map(|word| scope.agents.refer(line.at, &word)),
        count: count::read(line),
    }),
    Verb::new("order", 0, &[], |line, scope| Wanted::Order(call::order(line, scope))).with_block(),
];

const RELAY: &[&str] = &["kind", "text", "channel", "harness", "count", "at-least", "at-most"];
const STARTED: &[&str] = &["agent", "count", "at-least", "at-most"];
const TURN: &[&str] = &["turn", "message", "retryable"];

/// Reads an `expect` or a `never`; `None` when it says nothing that is understood.
pub(super) fn read(line: &Line<'_>, scope: &mut Scope) -> Option<Expectation> {
    let never = &*line.node.name.text == "never";
    let wanted = wanted(line, scope)?;
    if never {
        check_never(line, &wanted);
    }
    Some(Expectation { never, wanted })
}

fn wanted(line: &Line<'_>, scope: &mut Scope) -> Option<Wanted> {
    let Some(first) = line.args().first() else {
        if line.node.prop("turn").is_some() {
            return Some(Wanted::Turn(turn(line, scope)));
        }
        let title = format!("`{}` does not say what", line.verb());
        let help = format!("write `{} \"session/new\"`, or `turn=\"done\"`", line.verb());
        line.at.error(line.node.span, title, "nothing is looked for", help);
        return None;
    };
    let word = match &first.kind {
        Kind::Text(word) => word,
        // What else is wrong with the line can still be said.
        Kind::Reported => &"".into(),
        _ => {
            let title = format!("a method belongs here, not {}", first.what());
            line.at.error(first.span, title, first.what(), "write `\"session/new\"`");
            return None;
        }
    };
    if let Some(verb) = verb::find(WANTED, word) {
        return Some(verb.read(&line.deeper(), scope));
    }
    if !method::is_method(word) && first.kind != Kind::Reported {
        unknown(line, first, word);
        return None;
    }
    Some(Wanted::Call(call::read(line, word, scope)))
}

fn unknown(line: &Line<'_>, first: &Value, word: &str) {
    let short = super::value::shortened(word);
    let title = match word.contains('/') {
        true => format!("`{short}` is no method"),
        false => format!("`{short}` cannot be expected"),
    };
    let turn = TURNS.iter().any(|(known, _)| *known == word) || word == "turn";
    let help = match word {
        _ if turn => format!("write `{} turn=\"done\"`", line.verb()),
        _ if word.contains('/') => method::instead(word, []),
        _ => suggest::instead(word, verb::words(WANTED)),
    };
    line.at.error(first.span, title, "unknown", help);
}

/// How turns end, by the words that scenarios use.
const TURNS: &[(&str, TurnOutcome)] = &[
    ("done", TurnOutcome::Done),
    ("failed", TurnOutcome::Failed { retryable: None }),
    ("cancelled", TurnOutcome::Stopped("cancelled")),
    ("max_tokens", TurnOutcome::Stopped("max_tokens")),
    ("max_turn_requests", TurnOutcome::Stopped("max_turn_requests")),
    ("refusal", TurnOutcome::Stopped("refusal")),
];

fn turn(line: &Line<'_>, scope: &mut Scope) -> WantedTurn {
    line.takes(0, TURN);
    line.no_block();
    let outcome = line.word_prop("turn", "an end of a turn", TURNS).unwrap_or(TurnOutcome::Done);
    let retryable = line.node.prop("retryable").map(|value| (value, line.switch(value)));
    let outcome = match (outcome, retryable) {
        (TurnOutcome::Failed { .. }, retryable) => {
            TurnOutcome::Failed { retryable: retryable.map(|(_, switch)| switch) }
        }
        (other, None) => other,
        (other, Some((value, _))) => {
            let help = "write `turn=\"failed\"`, or remove it";
            line.at.error(value.span, "only a failed turn can be retryable", "no effect", help);
            other
        }
    };
    WantedTurn { message: message(line, scope), outcome }
}

/// A message that is looked at, by its label.
fn message(line: &Line<'_>, scope: &Scope) -> Option<skep_trace::Text> {
    let word = line.name_prop("message")?;
    Some(scope.messages.refer(line.at, &word))
}

/// `expect relay event …`: the second word leaves room for other things a relay sees.
fn relay(line: &Line<'_>, scope: &mut Scope) -> WantedRelay {
    const SEEN: &[Verb<WantedRelay>] = &[Verb::new("event", 0, RELAY, |line, scope| WantedRelay {
        kind: line.number_prop("kind"),
        text: line.text_prop("text"),
        channel: scope.known_channel(line),
        harness: scope.harness_prop(line, "harness"),
        count: count::read(line),
    })];
    let seen = verb::second_word(SEEN, "nothing that a relay sees", line, scope);
    seen.unwrap_or_default()
}

/// A `never` counts nothing and names nothing.
fn check_never(line: &Line<'_>, wanted: &Wanted) {
    // What counts nothing in an `expect` either is complained about already.
    let counts =
        !matches!(wanted, Wanted::Turn(_) | Wanted::Exit { .. } | Wanted::StoreTrouble { .. });
    for key in ["count", "at-least", "at-most"].into_iter().filter(|_| counts) {
        if let Some(value) = line.node.prop(key) {
            let help = "remove it, or write `expect … at-most=`";
            line.at.error(value.span, format!("`never` has no `{key}=`"), "no effect", help);
        }
    }
    if let Some(value) = line.node.prop("bind") {
        let help = "what never happens has no name; remove it";
        line.at.error(value.span, "`never` has no `bind=`", "no effect", help);
    }
    if matches!(wanted, Wanted::Order(_)) {
        let help = "write what must not happen at all, or `expect order` with the right order";
        line.at.error(line.node.span, "`never` has no `order`", "not clear", help);
    }
}

/// It can hold though nothing happened at all. What a state holds, or no longer holds, is seen
/// in any case.
fn is_vacuous(expectation: &Expectation) -> bool {
    let count = match &expectation.wanted {
        Wanted::Call(call) => call.count,
        Wanted::Relay(relay) => relay.count,
        Wanted::AgentStarted { count, .. } => *count,
        Wanted::Receipt(_)
        | Wanted::File(_)
        | Wanted::Turn(_)
        | Wanted::Exit { .. }
        | Wanted::StoreTrouble { .. }
        | Wanted::Order(_) => return expectation.never,
    };
    expectation.never || count.at_least == 0
}

/// Complains about a step whose expectations would all hold if nothing happened.
pub(super) fn check_step(step: &Node, found: &[(&Node, Expectation)], at: Reporter<'_>) {
    let vacuous = |(_, expectation): &(&Node, Expectation)| is_vacuous(expectation);
    if let Some((first, _)) = found.first().filter(|_| found.iter().all(vacuous)) {
        let title = "this step would hold if nothing happened at all";
        let fault = at.fault(first.span, title).label("only says what must not happen");
        let fault = fault.other(step.span, "this step");
        let help = "say what must happen as well, such as `expect turn=\"done\"`";
        at.put(fault.help(help));
    }
}
