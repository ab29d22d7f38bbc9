//! What the relay says to what it hears, exchange by exchange.

use std::sync::Arc;

use crate::stage::{
    NOW_S, Stage, agent, answer, config, event, mention, mention_before, mentions, owner,
};
use skep_relay::{ConnId, Keys, RelayEvent};
use skep_trace::{ClientMsg, Filter, Hex32, HttpCall, Sig};

fn stage() -> Stage {
    Stage::new(config())
}

/// A stage on which the agent is connected as connection 1 of party 1 and listens to `open`.
fn listening() -> Stage {
    let mut stage = stage();
    stage.login(1, 1, agent());
    assert_eq!(stage.req(1, "ch-open", mentions("open", NOW_S - 5)), ["1 EOSE ch-open"]);
    stage
}

fn by_p(kind: u16, pubkey: Hex32) -> Filter {
    let tags = vec![('p', vec![pubkey.to_string().into()])];
    Filter { kinds: Some(vec![kind]), tags, ..Filter::default() }
}

#[test]
fn the_relay_speaks_first_and_no_challenge_is_used_twice() {
    let mut stage = stage();
    assert_eq!(stage.connect(1, 1), ["1 AUTH challenge-1"]);
    assert_eq!(stage.connect(2, 1), ["2 AUTH challenge-2"]);
    let answer = Arc::new(answer("challenge-1", agent()));
    assert_eq!(
        stage.say(2, ClientMsg::Auth(answer.clone())),
        ["2 OK false auth-required: that is not this connection's challenge"],
    );
    assert_eq!(stage.say(1, ClientMsg::Auth(answer)), ["1 OK true "]);
}

#[test]
fn nothing_is_served_before_the_challenge_is_answered() {
    let mut stage = stage();
    stage.connect(1, 1);
    assert_eq!(
        stage.req(1, "s", Filter::default()),
        ["1 CLOSED s auth-required: answer the challenge first"],
    );
    assert_eq!(
        stage.say(1, ClientMsg::Event(mention("open", "hello"))),
        ["1 OK false auth-required: answer the challenge first"],
    );
    assert!(stage.publish(mention("open", "hello"), None).is_empty());
}

#[test]
fn stored_events_come_newest_first_then_their_end_then_live_ones() {
    let mut stage = stage();
    for (content, seconds) in [("old", 9), ("b", 4), ("a", 5), ("c", 3)] {
        stage.publish(mention_before("open", content, seconds), None);
    }
    stage.login(1, 1, agent());
    let newest = Filter { limit: Some(2), ..mentions("open", NOW_S - 5) };
    assert_eq!(
        stage.req(1, "ch-open", newest),
        ["1 EVENT ch-open c", "1 EVENT ch-open b", "1 EOSE ch-open"],
    );
    assert_eq!(stage.publish(mention("open", "d"), None), ["1 EVENT ch-open d"]);
}

#[test]
fn a_live_event_is_delivered_whatever_its_date() {
    let mut stage = listening();
    let dated = mention_before("open", "from the past", 600);
    assert_eq!(stage.publish(dated, None), ["1 EVENT ch-open from the past"]);
}

#[test]
fn only_what_was_asked_for_is_delivered() {
    let mut stage = listening();
    assert!(stage.publish(mention("dm", "elsewhere"), None).is_empty());
    assert!(stage.publish(mention("OPEN", "spelled"), None).is_empty());
    let aside = event(owner(), 9, &[&["h", "open"]], "not to the agent");
    assert!(stage.publish(Arc::new(aside), None).is_empty());
}

#[test]
fn a_forged_event_of_the_director_is_delivered_as_it_stands() {
    let mut stage = listening();
    let mut forged = (*mention("open", "forged")).clone();
    forged.sig = Sig::Forged;
    assert_eq!(stage.publish(Arc::new(forged), None), ["1 EVENT ch-open forged"]);
}

#[test]
fn a_closed_subscription_hears_nothing_and_a_repeated_name_replaces() {
    let mut stage = listening();
    stage.req(1, "ch-open", mentions("closed", NOW_S));
    assert!(stage.publish(mention("open", "replaced"), None).is_empty());
    assert_eq!(stage.publish(mention("closed", "heard"), None), ["1 EVENT ch-open heard"]);
    assert!(stage.say(1, ClientMsg::Close { sub: "ch-open".into() }).is_empty());
    assert!(stage.publish(mention("closed", "closed"), None).is_empty());
}

#[test]
fn what_goes_to_one_party_is_never_another_partys() {
    let mut stage = stage();
    for (conn, party) in [(1, 1), (2, 2)] {
        stage.login(conn, party, agent());
        stage.req(conn, "ch-open", mentions("open", NOW_S - 5));
    }
    let both = ["1 EVENT ch-open both", "2 EVENT ch-open both"];
    assert_eq!(stage.publish(mention("open", "both"), None), both);
    assert_eq!(stage.publish(mention("open", "one"), Some(1)), ["1 EVENT ch-open one"]);
    // Both come again: the one gets what it missed, the other still not.
    stage.login(3, 1, agent());
    let again = stage.req(3, "ch-open", mentions("open", NOW_S - 5));
    assert_eq!(again, ["3 EVENT ch-open one", "3 EVENT ch-open both", "3 EOSE ch-open"]);
    stage.login(4, 2, agent());
    let again = stage.req(4, "ch-open", mentions("open", NOW_S - 5));
    assert_eq!(again, ["4 EVENT ch-open both", "4 EOSE ch-open"]);
}

#[test]
fn clients_publish_and_are_told_whether_it_was_taken() {
    let mut stage = listening();
    stage.login(2, 2, owner());
    let mine = mention("open", "hello");
    assert_eq!(
        stage.say(2, ClientMsg::Event(mine.clone())),
        ["1 EVENT ch-open hello", "2 OK true "],
    );
    assert_eq!(
        stage.say(2, ClientMsg::Event(mine.clone())),
        ["2 OK true duplicate: that event is here already"],
    );
    assert_eq!(
        stage.say(1, ClientMsg::Event(mine)),
        ["1 OK false invalid: the event's author is somebody else"],
    );
}

#[test]
fn presence_typing_and_observer_frames_are_passed_on_and_not_kept() {
    let mut stage = stage();
    stage.login(1, 1, agent());
    stage.login(2, 2, owner());
    stage.req(2, "feed", by_p(24_200, owner()));
    let owner = owner().to_string();
    for (kind, tags) in [(20_001, vec![]), (20_002, vec!["h", "open"]), (24_200, vec!["p", &owner])]
    {
        let event = Arc::new(event(agent(), kind, &[&tags], "now"));
        let said = stage.say(1, ClientMsg::Event(event));
        assert_eq!(said.last().map(String::as_str), Some("1 OK true "));
        assert_eq!(said.len() == 2, kind == 24_200);
    }
    assert_eq!(stage.req(2, "again", by_p(24_200, Keys::named("owner").pubkey)), ["2 EOSE again"]);
}

#[test]
fn a_harness_finds_its_channels_over_http() {
    let mut stage = stage();
    let query = |filter| HttpCall::Query(vec![filter]);
    assert_eq!(
        stage.http(query(by_p(39_002, agent()))),
        ["200 39002 open, 39002 closed, 39002 dm, 39002 gone"],
    );
    let tags = vec![('d', vec!["dm".into(), "open".into(), "nowhere".into()])];
    let asked = Filter { kinds: Some(vec![39_000]), tags, ..Filter::default() };
    assert_eq!(stage.http(query(asked)), ["200 39000 open, 39000 dm"]);
    assert_eq!(stage.http(query(by_p(30_174, agent()))), ["200 "]);
}

#[test]
fn a_turn_finds_profiles_roots_and_replies_over_http() {
    let mut stage = stage();
    let root = mention("open", "the root");
    stage.publish(root.clone(), None);
    let id = root.id().to_string();
    let reply = event(owner(), 9, &[&["h", "open"], &["e", &id, "", "reply"]], "the reply");
    stage.publish(Arc::new(reply), None);

    let roots = Filter { ids: Some(vec![root.id()]), ..Filter::default() };
    let tags = vec![('e', vec![id.into()]), ('h', vec!["open".into()])];
    let replies =
        Filter { kinds: Some(vec![9, 40_002]), tags, limit: Some(13), ..Filter::default() };
    let thread = vec![roots, replies.clone()];
    assert_eq!(stage.http(HttpCall::Query(thread)), ["200 the root, the reply"]);
    let none = Filter { limit: Some(0), ..replies };
    assert_eq!(stage.http(HttpCall::Count(vec![none])), ["200 1"]);
    let upper = vec![('e', vec![root.id().to_upper().into()])];
    let spelled = Filter { tags: upper, ..Filter::default() };
    assert_eq!(stage.http(HttpCall::Query(vec![spelled])), ["200 "]);

    let authors = Some(vec![owner()]);
    let profile = Filter { kinds: Some(vec![0]), authors, ..Filter::default() };
    let said = stage.http(HttpCall::Query(vec![profile]));
    assert_eq!(said, [r#"200 {"display_name":"Ada","name":"Ada"}"#]);
}

#[test]
fn reactions_are_posted_found_and_erased_again() {
    let mut stage = stage();
    let eyes = Arc::new(event(agent(), 7, &[&["e", "m1"]], "eyes"));
    assert_eq!(stage.http(HttpCall::Publish(eyes.clone())), ["200 true "]);
    let tags = vec![('e', vec!["m1".into()])];
    let authors = Some(vec![agent()]);
    let asked = Filter { kinds: Some(vec![7]), authors, tags, ..Filter::default() };
    assert_eq!(stage.http(HttpCall::Query(vec![asked.clone()])), ["200 eyes"]);
    let deletion = event(agent(), 5, &[&["e", &eyes.id().to_string()]], "");
    assert_eq!(stage.http(HttpCall::Publish(Arc::new(deletion))), ["200 true "]);
    assert_eq!(stage.http(HttpCall::Query(vec![asked])), ["200 "]);
}

#[test]
fn what_is_posted_must_be_signed_and_what_is_asked_must_exist() {
    let mut stage = stage();
    let mut forged = event(agent(), 9, &[&["h", "open"]], "forged");
    forged.sig = Sig::Forged;
    let said = stage.http(HttpCall::Publish(Arc::new(forged)));
    assert_eq!(said, ["400 false invalid: the event is not signed by its author"]);
    let nowhere = HttpCall::Other { path: "/api/channels".into() };
    assert_eq!(stage.http(nowhere), ["404 there is nothing here"]);
    let junk = HttpCall::Other { path: "/query".into() };
    assert_eq!(stage.http(junk), ["400 the body cannot be read"]);
}

#[test]
fn strangers_hear_nothing_of_closed_channels() {
    let mut stage = stage();
    let stranger = Keys::named("stranger").pubkey;
    stage.login(1, 1, stranger);
    let refused = stage.req(1, "s", mentions("closed", NOW_S));
    assert_eq!(refused, ["1 CLOSED s restricted: not a channel member"]);
    stage.publish(mention("dm", "stored secret"), None);
    let notes = Filter { kinds: Some(vec![9]), ..Filter::default() };
    assert_eq!(stage.req(1, "all", notes), ["1 EOSE all"]);
    assert!(stage.publish(mention("dm", "live secret"), None).is_empty());
    assert_eq!(stage.publish(mention("open", "public"), None), ["1 EVENT all public"]);
}

#[test]
fn members_come_and_go_and_are_told() {
    let mut stage = listening();
    let notices = Filter { since: Some(NOW_S), ..by_p(44_100, agent()) };
    let notices = Filter { kinds: Some(vec![44_100, 44_101]), ..notices };
    stage.req(1, "membership-notif", notices);
    let mut member = |joins| {
        let (channel, pubkey) = ("open".into(), agent());
        stage.step(RelayEvent::Member { channel, pubkey, joins, at_s: NOW_S })
    };
    assert_eq!(
        member(false),
        [
            "1 CLOSED ch-open restricted: channel access revoked",
            "1 EVENT membership-notif 44101 open",
        ],
    );
    assert!(member(false).is_empty());
    assert_eq!(member(true), ["1 EVENT membership-notif 44100 open"]);
}

#[test]
fn a_bound_is_said_when_it_is_reached() {
    let mut config = config();
    config.bounds.connections = 1;
    config.bounds.subscriptions = 1;
    config.bounds.filters = 1;
    config.bounds.events = 1;
    let mut stage = Stage::new(config);
    stage.login(1, 1, owner());
    assert_eq!(stage.connect(2, 2), ["2 NOTICE error: too many connections", "2 is closed"]);
    stage.req(1, "a", Filter::default());
    assert_eq!(stage.req(1, "b", Filter::default()), ["1 CLOSED b error: too many subscriptions"],);
    assert_eq!(stage.req(1, "a", Filter::default()), ["1 EOSE a"]);
    let filters = vec![Filter::default(); 2];
    let long = ClientMsg::Req { sub: "a".into(), filters: filters.clone() };
    assert_eq!(stage.say(1, long), ["1 CLOSED a error: the request is too long"]);
    assert_eq!(stage.http(HttpCall::Query(filters)), ["400 the request is too long"]);
    assert_eq!(stage.publish(mention("open", "first"), None), ["1 EVENT a first"]);
    assert_eq!(
        stage.say(1, ClientMsg::Event(mention("open", "second"))),
        ["1 OK false error: the relay is full"],
    );
    assert_eq!(
        stage.publish(mention("open", "third"), None),
        ["1 NOTICE error: the relay is full, an event is not kept", "1 EVENT a third"],
    );
}

#[test]
fn what_is_no_message_is_answered_and_who_is_gone_is_not() {
    let mut stage = listening();
    let junk = ClientMsg::Other("[]".into());
    assert_eq!(stage.say(1, junk.clone()), ["1 NOTICE error: that is no message"]);
    assert!(stage.step(RelayEvent::Disconnected(ConnId(1))).is_empty());
    assert!(stage.say(1, junk).is_empty());
    assert!(stage.publish(mention("open", "too late"), None).is_empty());
}
