//! `expect relay event …`, `expect exit …`, store trouble, agents started.

use skep_check::{Blame, Count, Verdict, Wanted};
use skep_trace::{End, Note};

use crate::lines::{event, expect, never};
use crate::story::{Story, assert_broken, assert_held};

fn running(expectations: impl IntoIterator<Item = skep_check::Expectation>) -> Story {
    let mut story = Story::new();
    story.starts("h").step(expectations);
    story
}

#[test]
fn a_published_event_is_found_by_kind_text_channel_and_harness() {
    let mut story = running([
        expect(event(24200, |it| it.text = Some("thinking".into()))),
        expect(event(9, |it| {
            it.channel = Some("general".into());
            it.harness = Some("h".into());
            it.count = Count::exactly(1);
        })),
        never(event(9, |it| it.channel = Some("random".into()))),
    ]);
    story.mention("m1", "general").publishes(24200, "thinking hard").announces("m1").settles();
    for index in 0..3 {
        assert_held(&story.expectation(index));
    }
}

#[test]
fn an_event_that_must_not_be_published_is_told_at_its_instant() {
    let mut story = running([never(event(24200, |it| it.text = Some("old".into())))]);
    story.publishes(24200, "old news");
    let said = story.last();
    story.settles();
    assert_broken(&story.expectation(0), Blame::Harness, said);
}

#[test]
fn an_event_that_is_sent_twice_counts_once_and_a_second_one_is_too_many() {
    let mut story = running([expect(event(24200, |it| it.count = Count::exactly(1)))]);
    story.publishes(24200, "x");
    let again = story.records[story.last()].what.clone();
    story.happens(again);
    assert_held(&story.expectation(0));
    story.publishes(24200, "y");
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
}

#[test]
fn another_harness_s_event_is_not_this_one_s() {
    let mut story = running([expect(event(24200, |it| it.harness = Some("new".into())))]);
    story.harness("new", "h", "h").publishes(24200, "x").settles();
    assert_broken(&story.expectation(0), Blame::Scenario, story.last());
    story.starts("new").publishes(24200, "y");
    assert_held(&story.expectation(0));
}

#[test]
fn an_event_that_was_not_published_is_missing() {
    let mut story = running([expect(event(9, |_| {}))]);
    story.settles();
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
}

#[test]
fn a_harness_that_exits_as_asked_holds_and_another_code_is_told() {
    let exit = |code| expect(Wanted::Exit { harness: Some("h".into()), code });
    let mut story = running([exit(Some(1)), exit(None)]);
    story.ends(End::Exit(1)).settles();
    assert_held(&story.expectation(0));
    assert_held(&story.expectation(1));
    let mut story = running([exit(Some(1)), never(Wanted::Exit { harness: None, code: None })]);
    story.ends(End::Exit(0));
    let ended = story.last();
    story.settles();
    assert_broken(&story.expectation(0), Blame::Harness, ended);
    assert!(story.expectation(0).label.starts_with("h#1 exited with code 0"));
    assert_broken(&story.expectation(1), Blame::Harness, ended);
}

#[test]
fn a_kill_is_no_exit() {
    let mut story = running([never(Wanted::Exit { harness: None, code: None })]);
    story.killed().settles();
    assert_held(&story.expectation(0));
    story.asked.steps[0] = vec![expect(Wanted::Exit { harness: None, code: None })];
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
}

#[test]
fn store_trouble_that_is_reported_holds() {
    let trouble = || Wanted::StoreTrouble { harness: None };
    let mut story = running([expect(trouble())]);
    story.notes(Note::StoreTrouble("disk full".into())).settles();
    assert_held(&story.expectation(0));
    story.asked.steps[0] = vec![never(trouble())];
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
}

#[test]
fn store_trouble_is_missed_only_where_harnesses_are_heard_at_all() {
    let mut story = running([expect(Wanted::StoreTrouble { harness: None })]);
    story.settles();
    assert_eq!(story.expectation(0).verdict, Verdict::Inconclusive);
    story.notes(Note::Other("hello".into()));
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
}

#[test]
fn starting_up_is_a_part_of_the_first_step_but_for_the_agents_that_it_starts() {
    let trouble = || Wanted::StoreTrouble { harness: None };
    let agents = Wanted::AgentStarted { agent: None, count: Count::exactly(1) };
    let mut story = Story::new();
    story.starts("h").notes(Note::StoreTrouble("damaged".into()));
    let said = story.last();
    story.step([expect(trouble()), never(trouble()), expect(agents)]).agent_respawned().settles();
    assert_held(&story.expectation(0));
    assert_broken(&story.expectation(1), Blame::Harness, said);
    assert_held(&story.expectation(2));
    story.step([never(trouble())]).settles();
    assert_held(&story.expectation(0));
}

#[test]
fn agents_that_are_started_are_counted() {
    let agents =
        |count| Wanted::AgentStarted { agent: Some("a".into()), count: Count::exactly(count) };
    let mut story = running([expect(agents(1)), expect(agents(2))]);
    story.agent_respawned().settles();
    assert_held(&story.expectation(0));
    assert_broken(&story.expectation(1), Blame::Harness, story.last());
    story.agent_respawned();
    assert_eq!(story.expectation(0).title, "the harness started an agent too many");
    assert_held(&story.expectation(1));
}
