//! What a broken line is called, what led there, and what stood in its way.

use serde_json::json;
use skep_check::{Blame, Expectation, Judgement};
use skep_trace::policy::SessionScope;
use skep_trace::{Call, End, NameKind, Settled, Text};

use crate::lines::{call, done, event, expect, never, order};
use crate::story::{Said, Story, assert_broken, assert_held};

/// A conversation in `general` on `S1`, and a step that asks for this.
fn conversation(line: Expectation) -> Story {
    let mut story = Story::new();
    story.named(NameKind::Session, "s1", "S1").starts("h").mention("m1", "general");
    story.opens("S1", "general").turn("S1", &["m1"]).step([line]);
    story
}

fn title(story: &Story) -> String {
    story.expectation(0).title
}

fn labels(judgement: &Judgement) -> Vec<&str> {
    judgement.causes.iter().map(|cause| cause.label.as_str()).collect()
}

const ALREADY: &str = "the harness opened a session it already had";
const NONE_TO_OPEN: &str = "the harness opened a session where it was to open none";

#[test]
fn a_session_that_was_discarded_is_not_one_that_the_harness_had() {
    let mut story = conversation(never(call("session/new")));
    story.command("!rotate", "general").mention("m2", "general").opens("S2", "general");
    assert_eq!(title(&story), NONE_TO_OPEN);
}

#[test]
fn another_conversation_s_session_is_not_one_that_the_harness_had() {
    let mut story = conversation(never(call("session/new")));
    story.mention("m2", "general").mention("m3", "random").opens("S2", "random");
    assert_eq!(title(&story), NONE_TO_OPEN);
    let mut story = conversation(never(call("session/new")));
    story.mention("m2", "general").wants_new(None);
    assert_eq!(title(&story), ALREADY);
}

#[test]
fn a_message_that_was_handed_into_a_running_turn_waits_for_no_session() {
    let mut story = conversation(never(call("session/new")));
    story.mention("m2", "general");
    let text = format!("Event ID: {}", story.id("m2"));
    let params = json!({"sessionId": "S1", "prompt": [{"type": "text", "text": text}]});
    story.asks(Call::Other { method: "_session/steering".into(), params: params.into() });
    story.wants_new(None);
    assert_eq!(title(&story), NONE_TO_OPEN);
}

#[test]
fn a_channel_alone_does_not_tell_a_thread_s_session() {
    let tell = |scope: SessionScope| {
        let mut story = Story::new();
        story.asked.harnesses[0].settings.policies.session_scope = scope;
        story.starts("h").mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
        story.step([never(call("session/new"))]).wants_new(Some("general"));
        title(&story)
    };
    assert_eq!(tell(SessionScope::Channel), ALREADY);
    assert_eq!(tell(SessionScope::Thread), NONE_TO_OPEN);
}

#[test]
fn a_prompt_after_the_load_of_a_discarded_session_is_a_comeback_too() {
    let mut story = conversation(never(call("session/prompt").on("s1")));
    story.command("!rotate", "general").mention("m2", "general").loads("S1");
    story.prompts("S1", &["m2"]);
    assert_eq!(title(&story), "a discarded session came back");
}

#[test]
fn a_restart_is_a_cause_only_where_it_came_between() {
    let mut story = conversation(never(call("session/new")));
    story.wants_new(Some("general"));
    assert_eq!(labels(&story.expectation(0)), ["s1 opened here"]);
    let mut story = conversation(never(call("session/new")));
    story.killed().starts("h").mention("m2", "general").wants_new(Some("general"));
    let restarted = ["s1 opened here", "h#1 killed, h#2 started"];
    assert_eq!(labels(&story.expectation(0)), restarted);
}

#[test]
fn another_harness_s_start_is_no_restart() {
    let mut story = conversation(never(call("session/new")));
    story.harness("new", "h", "h").starts("new").mention("m2", "general");
    story.wants_new(Some("general"));
    assert_eq!(labels(&story.expectation(0)), ["s1 opened here"]);
}

#[test]
fn other_forbidden_calls_are_named_by_their_method() {
    let mut story = conversation(never(call("session/cancel")));
    story.cancels("S1");
    assert_eq!(title(&story), "the harness sent `session/cancel` where it was not to");
    let mut story = conversation(never(call("session/load")));
    story.wants_load("S9");
    assert_eq!(title(&story), "the harness asked for an old session where it was not to");
}

#[test]
fn an_open_request_that_no_turn_needs_explains_nothing() {
    let mut story = conversation(expect(call("session/load")));
    let (session_id, model_id): (Text, Text) = ("S1".into(), "m2".into());
    story.asks(Call::SetModel { session_id, model_id });
    story.settles_on(Settled::Bound("the load".into()));
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
}

#[test]
fn a_harness_that_does_not_greet_its_agent_is_not_ready_by_its_own_fault() {
    let mut story = conversation(expect(call("session/load")));
    story.killed().starts_up_to("h").agent_starts().settles();
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, story.last());
    assert!(judgement.label.ends_with("h#2 was never ready"), "{}", judgement.label);
}

#[test]
fn a_world_that_tells_nobody_ready_is_not_asked_who_was() {
    let mut story = Story::new();
    story.starts_up_to("h").agent_starts().step([expect(call("session/load"))]).settles();
    let label = story.expectation(0).label;
    assert!(!label.contains("ready"), "{label}");
}

#[test]
fn a_message_of_an_earlier_step_is_not_what_kept_this_one() {
    let mut story = conversation(expect(call("session/load")));
    story.says("m2", Said { channel: "general", ..Said::default() }).settles();
    assert_eq!(story.expectation(0).blame, Some(Blame::Relay));
    story.step([expect(call("session/load"))]).settles();
    assert_eq!(story.expectation(0).blame, Some(Blame::Harness));
}

#[test]
fn a_subscription_that_the_relay_closed_is_none() {
    let mut story = conversation(expect(call("session/prompt")));
    let sub = format!("ch-{}", crate::story::channel_id("general")).into();
    story.hears_relay(skep_trace::RelayMsg::Closed { sub, message: "error: try again".into() });
    story.says("m2", Said { channel: "general", ..Said::default() }).settles();
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
}

#[test]
fn a_subscription_for_newer_messages_only_is_the_harness_s_choice() {
    let asked = |since: u64| {
        let mut story = conversation(expect(call("session/prompt")));
        let (harness, conn) = (skep_trace::Life { harness: "h".into(), life: 1 }, 1);
        story.happens(skep_trace::What::Disconnected { harness, conn });
        story.says("m2", Said { channel: "general", ..Said::default() });
        story.subscribes_since("general", Some(since)).settles();
        story.expectation(0).blame
    };
    assert_eq!(asked(1_000_000), Some(Blame::Harness));
    assert_eq!(asked(0), Some(Blame::Relay));
}

#[test]
fn a_refused_load_keeps_nobody_from_going_on() {
    let mut story = conversation(expect(call("session/prompt")));
    story.killed().starts("h").mention("m2", "general").wants_load("S1").refuses(-32002);
    story.settles_on(Settled::Bound("the prompt".into()));
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
}

#[test]
fn an_agent_that_opens_no_session_is_blamed_while_its_harness_may_try_again() {
    let refused = |how: Settled| {
        let mut story = conversation(expect(call("session/prompt")));
        story.mention("m2", "random").wants_new(Some("random")).refuses(-32603).settles_on(how);
        story.expectation(0).blame
    };
    assert_eq!(refused(Settled::Bound("the prompt".into())), Some(Blame::Agent));
    assert_eq!(refused(Settled::Drained), Some(Blame::Harness));
}

#[test]
fn a_harness_that_tried_again_or_told_the_channel_did_what_it_could() {
    let refused = |then: fn(&mut Story)| {
        let mut story = conversation(expect(call("session/prompt").times(5)));
        story.mention("m2", "general").prompts("S1", &["m2"]).refuses(-32603);
        then(&mut story);
        story.settles();
        story.expectation(0).blame
    };
    assert_eq!(refused(|_| {}), Some(Blame::Harness));
    let again = |story: &mut Story| {
        story.prompts("S1", &["m2"]).refuses(-32603);
    };
    assert_eq!(refused(again), Some(Blame::Agent));
    let told = |story: &mut Story| {
        story.announces("m2");
    };
    assert_eq!(refused(told), Some(Blame::Agent));
}

#[test]
fn the_name_of_a_session_that_died_with_its_agent_goes_to_the_next_one() {
    let mut story = Story::new();
    story
        .starts("h")
        .step([expect(call("session/new").bind("s1")), expect(call("session/prompt").on("s1"))]);
    story.mention("m1", "general").wants_new(None).agent_respawned();
    story.opens("S2", "general").turn("S2", &["m1"]).settles();
    assert_held(&story.expectation(1));
}

#[test]
fn a_load_is_counted_for_a_message_once_a_prompt_shows_whose_it_is() {
    let mut story = Story::new();
    story.starts("h").step([
        expect(call("session/load").times(1).for_message("m1")),
        never(call("session/load").for_message("m2")),
        expect(call("_session/steering").for_message("m2")),
        never(call("_session/steering").for_message("m3")),
    ]);
    story.mention("m1", "general").mention("m2", "general").mention("m3", "random");
    story.loads("S1").prompts("S1", &["m1"]);
    let text = format!("Event ID: {}", story.id("m2"));
    let params = json!({"sessionId": "S1", "prompt": [{"type": "text", "text": text}]});
    story.asks(Call::Other { method: "_session/steering".into(), params: params.into() });
    for index in 0..4 {
        assert_held(&story.expectation(index));
    }
}

#[test]
fn a_call_that_came_otherwise_is_told_with_what_differs() {
    let mut story = conversation(expect(call("session/new").with("_meta.channelId", "elsewhere")));
    story.command("!rotate", "general").mention("m2", "general").opens("S2", "general").settles();
    let title = title(&story);
    assert!(title.starts_with("the harness opened a session, but its `_meta.channelId` is "));
    assert!(title.ends_with(", not \"elsewhere\""), "{title}");
    let mut story = conversation(expect(call("session/load").on("s1")));
    story.killed().starts("h").mention("m2", "general").loads("S9").settles();
    assert_eq!(story.expectation(0).title, "the harness asked for an old session, but it named S9");
}

#[test]
fn a_session_that_nobody_ever_had_is_not_said_to_be_had() {
    let mut story = Story::new();
    story.starts("h").step([expect(call("session/load"))]).mention("m1", "general");
    story.opens("S1", "general").turn("S1", &["m1"]).settles();
    assert_eq!(title(&story), "the harness asked for no old session, and had none");
}

#[test]
fn a_call_too_many_is_counted_where_some_may_come() {
    let mut story = Story::new();
    story.starts("h").step([expect(call("session/new").times(1))]);
    story.mention("m1", "general").mention("m2", "random");
    story.opens("S1", "general").opens("S2", "random").settles();
    assert_eq!(title(&story), "the harness opened 2 sessions where it was to open one");
}

#[test]
fn an_order_does_not_see_what_came_before_its_step() {
    let lines = || order([call("initialize"), call("session/new")]);
    let mut story = Story::new();
    story.starts("h").step([expect(lines())]).mention("m1", "general").opens("S1", "general");
    let judgement = story.settles().expectation(0);
    assert_eq!(judgement.title, "`initialize` came before the step, not in it");
    assert_eq!(judgement.blame, Some(Blame::Scenario));
    let mut story = Story::new();
    story.step([expect(lines())]).starts_up_to("h").agent_starts().wants_new(Some("general"));
    let judgement = story.introduces(&json!({"loadSession": true})).settles().expectation(0);
    assert_eq!(judgement.title, "these came in another order");
    assert_eq!(judgement.blame, Some(Blame::Harness));
}

#[test]
fn a_harness_that_the_scenario_stopped_is_not_blamed_for_what_it_cannot_hear() {
    let stopped = |by_scenario: bool, heard: bool| {
        let mut story = Story::new();
        story.starts("h").step([expect(done())]);
        if by_scenario {
            story.asked.stops.push((0, "h".into()));
        }
        if heard {
            story.mention("m1", "general").ends(End::Exit(0));
        } else {
            story.ends(End::Exit(0)).says("m1", Said { channel: "general", ..Said::default() });
        }
        story.settles().expectation(0).blame
    };
    assert_eq!(stopped(true, false), Some(Blame::Scenario));
    assert_eq!(stopped(true, true), Some(Blame::Harness));
    assert_eq!(stopped(false, false), Some(Blame::Harness));
}

#[test]
fn a_harness_that_was_told_to_shut_down_cannot_hear_either() {
    let mut story = Story::new();
    story.starts("h").step([]).command("!shutdown", "general").ends(End::Exit(0)).settles();
    story.step([expect(done())]).says("m1", Said { channel: "general", ..Said::default() });
    assert_eq!(story.settles().expectation(0).blame, Some(Blame::Scenario));
}

#[test]
fn an_agent_that_dies_over_every_prompt_is_to_blame_and_over_one_is_not() {
    let deaths = |count: usize| {
        let mut story = Story::new();
        story.starts("h").step([expect(done())]).mention("m1", "general").opens("S1", "general");
        for turn in 0..count {
            if turn > 0 {
                story.loads("S1");
            }
            story.prompts("S1", &["m1"]).agent_respawned();
        }
        story.settles().expectation(0).blame
    };
    assert_eq!(deaths(1), Some(Blame::Harness), "nothing was tried again");
    assert_eq!(deaths(3), Some(Blame::Agent));
}

#[test]
fn an_agent_that_dies_over_every_new_session_is_to_blame() {
    let deaths = |count: usize| {
        let mut story = Story::new();
        story.starts("h").step([expect(done())]).mention("m1", "general");
        for _ in 0..count {
            story.wants_new(Some("general")).agent_respawned();
        }
        story.settles().expectation(0).blame
    };
    assert_eq!(deaths(1), Some(Blame::Harness));
    assert_eq!(deaths(2), Some(Blame::Agent));
}

#[test]
fn a_harness_that_gives_up_an_agent_which_never_answers_is_not_to_blame() {
    let mut story = Story::new();
    story.starts_up_to("h").agent_starts();
    story.asks(Call::Initialize(std::sync::Arc::new(json!({"protocolVersion": 1}))));
    story.agent_dies().ends(End::Exit(1)).step([expect(done())]);
    story.says("m1", Said { channel: "general", ..Said::default() });
    assert_eq!(story.settles().expectation(0).blame, Some(Blame::Agent));
}

#[test]
fn an_event_that_came_otherwise_is_told_with_what_differs() {
    let wanted = event(24200, |wanted| wanted.text = Some("offline".into()));
    let mut story = Story::new();
    story.starts("h").step([expect(wanted)]);
    story.publishes(24200, "online").settles();
    let told = "the harness published an event of kind 24200, \
                but its text is \"online\" and does not hold \"offline\"";
    assert_eq!(title(&story), told);
}
