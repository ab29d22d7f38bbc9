//! What each fault of a relay does, and when it ends.

use std::sync::Arc;

use crate::stage::{NOW_S, Stage, agent, answer, config, mention, mentions};
use skep_relay::{Fault, Party};
use skep_trace::{ClientMsg, Filter, HttpCall};

/// Two parties of one identity that listen to `open`.
fn listening() -> Stage {
    let mut stage = Stage::new(config());
    for (conn, party) in [(1, 1), (2, 2)] {
        stage.login(conn, party, agent());
        stage.req(conn, "ch", mentions("open", NOW_S - 5));
    }
    stage
}

fn hear(stage: &mut Stage, content: &str) -> Vec<String> {
    stage.publish(mention("open", content), Some(1))
}

#[test]
fn disconnect_closes_one_party_or_all() {
    let mut stage = listening();
    assert_eq!(stage.fault(Fault::Disconnect(Some(Party(1)))), ["1 is closed"]);
    assert_eq!(stage.publish(mention("open", "a"), None), ["2 EVENT ch a"]);
    assert_eq!(stage.fault(Fault::Disconnect(None)), ["2 is closed"]);
}

#[test]
fn dropped_events_are_lost_live_and_found_again() {
    let mut stage = listening();
    stage.fault(Fault::Drop(1));
    stage.publish(mention("dm", "nobody listens"), None);
    assert!(hear(&mut stage, "lost").is_empty());
    assert_eq!(hear(&mut stage, "heard"), ["1 EVENT ch heard"]);
    let again = stage.req(1, "ch", mentions("open", NOW_S - 5));
    assert_eq!(again, ["1 EVENT ch heard", "1 EVENT ch lost", "1 EOSE ch"]);
}

#[test]
fn duplicated_events_come_twice_in_a_row() {
    let mut stage = listening();
    stage.fault(Fault::Duplicate(1));
    assert_eq!(hear(&mut stage, "a"), ["1 EVENT ch a", "1 EVENT ch a"]);
    assert_eq!(hear(&mut stage, "b"), ["1 EVENT ch b"]);
}

#[test]
fn delayed_events_come_later_and_in_order() {
    let mut stage = listening();
    stage.fault(Fault::Delay(100));
    assert_eq!(hear(&mut stage, "a"), ["timer 1 in 100"]);
    stage.now_ms += 40;
    stage.fault(Fault::Delay(0));
    assert_eq!(hear(&mut stage, "b"), ["timer 2 in 60"]);
    assert_eq!(stage.later(60, 1), ["1 EVENT ch a"]);
    assert_eq!(stage.later(0, 2), ["1 EVENT ch b"]);
    assert_eq!(hear(&mut stage, "c"), ["1 EVENT ch c"]);
}

#[test]
fn a_delayed_event_is_lost_with_its_subscription() {
    let mut stage = listening();
    stage.fault(Fault::Delay(100));
    hear(&mut stage, "a");
    stage.req(1, "ch", mentions("open", NOW_S + 5));
    assert!(stage.later(100, 1).is_empty());
}

#[test]
fn a_reordered_event_comes_after_the_next_one() {
    let mut stage = listening();
    stage.fault(Fault::Reorder);
    assert!(hear(&mut stage, "first").is_empty());
    assert_eq!(hear(&mut stage, "second"), ["1 EVENT ch second", "1 EVENT ch first"]);
    assert_eq!(hear(&mut stage, "third"), ["1 EVENT ch third"]);
}

#[test]
fn a_channels_subscriptions_are_closed_with_that_message() {
    let mut stage = listening();
    stage.req(1, "other", mentions("closed", NOW_S));
    let fault = Fault::CloseSubscription { channel: "open".into(), message: "error: gone".into() };
    assert_eq!(stage.fault(fault), ["1 CLOSED ch error: gone", "2 CLOSED ch error: gone"]);
    assert!(hear(&mut stage, "a").is_empty());
    assert_eq!(stage.publish(mention("closed", "b"), None), ["1 EVENT other b"]);
}

#[test]
fn a_new_challenge_is_to_be_answered_and_nothing_stops_meanwhile() {
    let mut stage = listening();
    assert_eq!(stage.fault(Fault::ReAuth), ["1 AUTH challenge-3", "2 AUTH challenge-4"]);
    assert_eq!(hear(&mut stage, "a"), ["1 EVENT ch a"]);
    let mut reply =
        |challenge| stage.say(1, ClientMsg::Auth(Arc::new(answer(challenge, agent())))).remove(0);
    assert!(reply("challenge-1").starts_with("1 OK false auth-required"));
    assert_eq!(reply("challenge-3"), "1 OK true ");
}

#[test]
fn a_limited_relay_refuses_for_a_while_and_says_how_long() {
    let mut stage = listening();
    let limited = "rate-limited: too much, retry in 3s";
    assert_eq!(
        stage.fault(Fault::RateLimit(3)),
        [format!("1 NOTICE {limited}"), format!("2 NOTICE {limited}")],
    );
    assert_eq!(stage.req(1, "x", Filter::default()), [format!("1 CLOSED x {limited}")]);
    assert_eq!(stage.http(HttpCall::Query(Vec::new())), [format!("429 {limited}")]);
    let typing = Arc::new(crate::stage::event(agent(), 20_002, &[], ""));
    let refused = stage.say(1, ClientMsg::Event(typing.clone()));
    assert_eq!(refused, [format!("1 OK false {limited}")]);
    assert_eq!(hear(&mut stage, "live goes on"), ["1 EVENT ch live goes on"]);
    stage.now_ms += 3_000;
    assert_eq!(stage.say(1, ClientMsg::Event(typing)), ["1 OK true "]);
}

#[test]
fn the_end_of_stored_events_is_said_late() {
    let mut stage = listening();
    hear(&mut stage, "stored");
    stage.fault(Fault::SlowEose(50));
    let asked = stage.req(1, "ch", mentions("open", NOW_S));
    assert_eq!(asked, ["1 EVENT ch stored", "timer 1 in 50"]);
    assert_eq!(hear(&mut stage, "live"), ["1 EVENT ch live"]);
    assert_eq!(stage.later(50, 1), ["1 EOSE ch"]);
}

#[test]
fn a_restarted_relay_takes_nobody_for_a_while_and_keeps_its_events() {
    let mut stage = listening();
    assert_eq!(
        stage.fault(Fault::Restart(500)),
        ["1 is closed", "2 is closed", "down: true", "timer 1 in 500"],
    );
    assert_eq!(stage.connect(3, 1), ["3 is closed"]);
    assert_eq!(stage.http(HttpCall::Query(Vec::new())), ["503 the relay is down"]);
    stage.publish(mention("open", "while down"), None);
    assert_eq!(stage.later(500, 1), ["down: false"]);
    stage.login(3, 1, agent());
    let asked = stage.req(3, "ch", mentions("open", NOW_S - 5));
    assert_eq!(asked, ["3 EVENT ch while down", "3 EOSE ch"]);
}

#[test]
fn too_many_waiting_frames_are_not_made_to_wait() {
    let mut config = config();
    config.bounds.waiting = 1;
    let mut stage = Stage::new(config);
    stage.login(1, 1, agent());
    stage.req(1, "ch", mentions("open", NOW_S - 5));
    stage.fault(Fault::Delay(100));
    assert_eq!(hear(&mut stage, "a"), ["timer 1 in 100"]);
    assert_eq!(
        hear(&mut stage, "b"),
        ["1 NOTICE error: too many frames wait, this one is not delayed", "1 EVENT ch b"],
    );
}
