//! Whatever comes, in whatever order: the judge does not panic, and judging record by record is
//! judging the whole.

use proptest::prelude::*;
use serde_json::json;
use skep_check::{Expectation, Judge, TurnOutcome, Wanted, judge};
use skep_trace::policy::{Delivery, Overlap, SessionScope};
use skep_trace::{End, NameKind, Note, Record, Settled, Trace};

use crate::lines::{call, done, event, expect, failed, file, never, order, receipt, turn_of};
use crate::story::Story;

/// One of every expectation.
fn everything() -> Vec<Expectation> {
    let wanted = || -> Vec<Wanted> {
        vec![
            call("session/new").times(1).bind("s1").into(),
            call("session/new").for_message("m1").into(),
            call("session/load").on("s1").for_message("m2").into(),
            call("session/prompt").not_on("s1").saying("text").into(),
            call("session/update").with("update.content.text", "*").into(),
            order([call("session/new").bind("s2"), call("session/prompt").on("s2")]),
            done(),
            failed(Some(true)),
            failed(Some(false)),
            turn_of("m2", TurnOutcome::Stopped("max_tokens")),
            receipt("general", Some("s1")),
            receipt("random", None),
            file(|it| it.unchanged = true),
            event(24200, |it| it.text = Some("reply".into())),
            Wanted::Exit { harness: None, code: Some(0) },
            Wanted::StoreTrouble { harness: None },
            Wanted::AgentStarted { agent: None, count: skep_check::Count::exactly(2) },
        ]
    };
    wanted().into_iter().map(expect).chain(wanted().into_iter().map(never)).collect()
}

/// A long story in which nearly everything happens once or twice.
fn long_story() -> Story {
    let mut story = Story::new();
    story.harness("new", "h", "h").named(NameKind::Session, "s1", "S1");
    story.step(everything()).starts("h").mention("m1", "general").opens("S1", "general");
    story.prompts("S1", &["m1"]).streams("S1", "a first reply").stops("end_turn");
    story.publishes(24200, "a first reply").remembers(&[("general", "S1")]);
    story.disk(&[(".", 0o700, "<dir>"), ("s.json", 0o600, "{}")]).holds(&["m1"]).settles();
    story.step(everything()).mention("m2", "random").opens("S2", "random");
    story.prompts("S2", &["m2"]).stops("max_tokens").command("!rotate", "general");
    story.mention("m3", "general").prompts("S1", &["m3", "m1"]).command("!cancel", "general");
    story.cancels("S1").stops("cancelled").switch_model("general").removed_from("random");
    story.agent_respawned().wants_load("S1").streams("S1", "a first reply").agent_asks(9);
    story.answers_agent(9).refuses(-32002).publishes(9, "a first reply").announces("m3");
    story.notes(Note::StoreTrouble("full".into())).settles_on(Settled::Bound("x".into()));
    story.step(everything()).killed().starts("h").delivers("m3").loads("S1").turn("S1", &["m3"]);
    story.starts("new").mention("m4", "general").loads("S2").prompts("S2", &["m4"]).agent_dies();
    story.baseline(&[("s.json", 0o644, "<link>")]).disk(&[("s.tmp", 0o644, "x")]).holds(&[]);
    story.ends(End::Exit(0)).connects().settles();
    story
}

fn fed(records: &[Record], story: &Story) -> Vec<skep_check::Judgement> {
    let mut judge = Judge::new(story.asked.clone());
    for record in records {
        judge.feed(record);
        assert_eq!(judge.progress().unmet.len(), judge.unmet());
    }
    judge.finish()
}

#[test]
fn judging_record_by_record_is_judging_the_whole() {
    let story = long_story();
    assert_eq!(fed(&story.records, &story), story.judged());
}

#[test]
fn judging_a_trace_that_was_written_and_read_is_judging_the_trace() {
    let story = long_story();
    let text = skep_trace::jsonl::write(&story.trace());
    let read = skep_trace::jsonl::read(&text).unwrap();
    assert_eq!(judge(&read, story.asked.clone()), story.judged());
}

#[test]
fn every_expectation_and_every_invariant_is_judged_exactly_once_and_in_order() {
    let story = long_story();
    let subjects: Vec<_> = story.judged().iter().map(|judgement| judgement.subject).collect();
    let expected = 3 * everything().len();
    let always = skep_check::RULES.iter().filter(|rule| rule.always);
    let always: Vec<_> = always.map(|rule| skep_check::Subject::Invariant(rule.id)).collect();
    assert_eq!(subjects[expected..expected + always.len()], always);
    assert_eq!(subjects.last(), Some(&skep_check::Subject::Run));
    let mut sorted = subjects.clone();
    sorted.dedup();
    assert_eq!(sorted.len(), subjects.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_records_makes_the_judge_panic(
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..160),
        threads in any::<bool>(),
        durable in any::<bool>(),
        lease in any::<bool>(),
    ) {
        let mut story = long_story();
        for harness in &mut story.asked.harnesses {
            let policies = &mut harness.settings.policies;
            if threads { policies.session_scope = SessionScope::Thread; }
            if durable { policies.delivery = Delivery::Durable; }
            if lease { policies.overlap = Overlap::Lease; }
        }
        let records: Vec<Record> =
            picks.iter().map(|pick| pick.get(&story.records).clone()).collect();
        let whole = Trace { records: records.clone(), ..Trace::default() };
        prop_assert_eq!(fed(&records, &story), judge(&whole, story.asked.clone()));
    }

    #[test]
    fn any_stretch_of_a_run_can_be_judged(from in 0usize..140, to in 0usize..140) {
        let story = long_story();
        let end = story.records.len();
        let (from, to) = (from.min(end), to.min(end));
        let records = &story.records[from.min(to)..from.max(to)];
        prop_assert_eq!(fed(records, &story).len(), story.judged().len());
    }
}

#[test]
fn a_story_holds_no_answer_to_a_question_that_was_not_asked() {
    let mut story = Story::new();
    story.starts("h").asks(skep_trace::Call::Other {
        method: "x/y".into(),
        params: json!({"sessionId": 7}).into(),
    });
    assert!(story.grants(json!([1])).judged().len() > 1);
}
