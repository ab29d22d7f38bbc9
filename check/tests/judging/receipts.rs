//! `expect receipt …` and `expect file …`.

use skep_check::{Blame, Count, Verdict};
use skep_trace::NameKind;

use crate::lines::{expect, file, never, receipt};
use crate::story::{Story, assert_broken, assert_held};

fn opened(expectations: impl IntoIterator<Item = skep_check::Expectation>) -> Story {
    let mut story = Story::new();
    story.named(NameKind::Session, "s1", "S1").named(NameKind::Session, "s2", "S2");
    story.starts("h").step(expectations);
    story.mention("m1", "general").opens("S1", "general").turn("S1", &["m1"]);
    story
}

#[test]
fn a_receipt_that_the_store_answers_holds() {
    let mut story = opened([
        expect(receipt("general", Some("s1"))),
        expect(receipt("general", None)),
        never(receipt("random", None)),
        never(receipt("general", Some("s2"))),
    ]);
    story.remembers(&[("general", "S1")]).settles();
    for index in 0..4 {
        assert_held(&story.expectation(index));
    }
}

#[test]
fn a_missing_receipt_and_one_that_says_something_else_are_told_apart() {
    let mut story = opened([expect(receipt("general", Some("s1")))]);
    story.remembers(&[("random", "S1")]);
    let asked = story.last();
    story.settles();
    assert_eq!(story.expectation(0).title, "the receipt is missing");
    assert_broken(&story.expectation(0), Blame::Harness, asked);
    story.remembers(&[("general", "S2")]);
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.title, "the receipt is of another session");
    assert_eq!(judgement.label, "general is remembered as s2: not as s1");
}

#[test]
fn a_receipt_of_a_discarded_session_is_told_as_such() {
    let mut story = opened([never(receipt("general", Some("s1")))]);
    story.command("!rotate", "general").remembers(&[("general", "S1")]).settles();
    assert_eq!(story.expectation(0).title, "a discarded session is still remembered");
    story.remembers(&[]);
    assert_held(&story.expectation(0));
}

#[test]
fn a_discarded_session_must_not_be_remembered_again_later() {
    let mut story = opened([never(receipt("general", Some("s1")))]);
    story.command("!rotate", "general").remembers(&[]).settles();
    story.step([]).remembers(&[]).settles();
    let first = skep_check::Subject::Expectation { step: 0, index: 0 };
    assert_held(&story.judgement(first));
    story.remembers(&[("general", "S1")]);
    assert_broken(&story.judgement(first), Blame::Harness, story.last());
}

#[test]
fn a_session_that_came_anew_or_could_not_be_forgotten_may_be_remembered_later() {
    let later = |then: fn(&mut Story)| {
        let mut story = opened([never(receipt("general", Some("s1")))]);
        story.command("!rotate", "general").remembers(&[]).settles().step([]);
        then(&mut story);
        story.remembers(&[("general", "S1")]).settles();
        story.judgement(skep_check::Subject::Expectation { step: 0, index: 0 }).verdict
    };
    assert_eq!(later(|_| {}), Verdict::Violated);
    let anew = |story: &mut Story| {
        story.opens("S1", "general");
    };
    assert_eq!(later(anew), Verdict::Held);
    let unwritable = |story: &mut Story| story.asked.unwritable = vec![0, 1];
    assert_eq!(later(unwritable), Verdict::Held);
}

#[test]
fn a_receipt_that_is_not_of_a_discarded_session_may_be_there_later() {
    let mut story = opened([never(receipt("general", Some("s1")))]);
    story.remembers(&[]).settles().step([]).remembers(&[("general", "S1")]).settles();
    let first = skep_check::Subject::Expectation { step: 0, index: 0 };
    assert_held(&story.judgement(first));
}

#[test]
fn receipts_are_counted_and_their_model_compared() {
    let mut wanted = skep_check::WantedReceipt { count: Count::exactly(2), ..Default::default() };
    let mut story = opened([expect(skep_check::Wanted::Receipt(wanted.clone()))]);
    story.remembers(&[("general", "S1"), ("random", "S2")]).settles();
    assert_held(&story.expectation(0));
    wanted.model = Some("m2".into());
    story.asked.steps[0] = vec![expect(skep_check::Wanted::Receipt(wanted.clone()))];
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
    wanted.model = Some("".into());
    story.asked.steps[0] = vec![expect(skep_check::Wanted::Receipt(wanted.clone()))];
    assert_held(&story.expectation(0));
    wanted.mode = Some("plan".into());
    story.asked.steps[0] = vec![expect(skep_check::Wanted::Receipt(wanted))];
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
}

#[test]
fn where_several_harnesses_could_be_meant_any_of_them_is() {
    let mut story = Story::new();
    story.asked.harnesses.clear();
    story.harness("first", "h", "else").harness("h", "h", "h");
    story.step([expect(receipt("general", None))]).remembers(&[("general", "S1")]).settles();
    assert_held(&story.expectation(0));
}

#[test]
fn a_receipt_that_came_back_later_is_looked_for_in_its_own_directory() {
    let wanted = skep_check::WantedReceipt {
        harness: Some("h".into()),
        session: Some("s1".into()),
        ..Default::default()
    };
    let mut story = opened([never(skep_check::Wanted::Receipt(wanted))]);
    story.command("!rotate", "general").remembers(&[]).settles();
    story.step([]).remembers(&[("general", "S1")]);
    let back = story.last();
    let own = skep_check::Subject::Expectation { step: 0, index: 0 };
    assert_broken(&story.judgement(own), Blame::Harness, back);
    if let skep_trace::What::Receipts { state, .. } = &mut story.records[back].what {
        *state = "else".into();
    }
    assert_held(&story.judgement(own));
}

#[test]
fn a_receipt_that_was_never_gone_is_told_where_it_was_first_seen() {
    let mut story = opened([never(receipt("general", Some("s1")))]);
    story.command("!rotate", "general").remembers(&[("general", "S1")]);
    let first = story.last();
    story.settles().step([]).remembers(&[("general", "S1")]);
    let own = skep_check::Subject::Expectation { step: 0, index: 0 };
    assert_broken(&story.judgement(own), Blame::Harness, first);
}

#[test]
fn another_identity_s_receipt_is_not_this_harness_s() {
    let mut story = Story::new();
    story.harness("other", "h", "else");
    let harness = Some("other".into());
    let wanted = skep_check::WantedReceipt { harness, ..Default::default() };
    story.step([expect(skep_check::Wanted::Receipt(wanted))]);
    story.remembers(&[("general", "S1")]).settles();
    assert_eq!(story.expectation(0).title, "the receipt is missing");
}

#[test]
fn a_receipt_of_another_relay_or_thread_is_not_the_one() {
    let wanted = skep_check::WantedReceipt { root: Some("m1".into()), ..Default::default() };
    let mut story = opened([
        expect(receipt("general", None)),
        expect(skep_check::Wanted::Receipt(wanted.clone())),
    ]);
    let receipt_of = |relay: &str, root| skep_trace::Receipt {
        relay: relay.into(),
        pubkey: crate::story::key_of("h"),
        channel: crate::story::channel_id("general").to_uppercase().into(),
        root,
        session: "S1".into(),
        model: None,
        mode: None,
    };
    let told = |relay: &str, root| {
        let receipts = vec![receipt_of(relay, root)];
        skep_trace::What::Receipts { state: "h".into(), receipts }
    };
    let root = Some(story.id("m1"));
    story.happens(told("WS://r/", root)).settles();
    assert_held(&story.expectation(0));
    assert_held(&story.expectation(1));
    story.happens(told("ws://elsewhere", root));
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
    story.happens(told("ws://r", None));
    assert_held(&story.expectation(0));
    assert_broken(&story.expectation(1), Blame::Harness, story.last());
}

#[test]
fn what_the_store_answered_in_an_earlier_step_does_not_count() {
    let mut story = opened([]);
    story.remembers(&[("general", "S1")]).settles().step([expect(receipt("general", None))]);
    story.settles();
    assert_eq!(story.expectation(0).verdict, Verdict::Inconclusive);
}

#[test]
fn a_store_that_was_not_asked_tells_nothing() {
    let mut story = opened([expect(receipt("general", None)), never(receipt("general", None))]);
    story.settles();
    assert_eq!(story.expectation(0).verdict, Verdict::Inconclusive);
    assert_eq!(story.expectation(1).verdict, Verdict::Inconclusive);
}

#[test]
fn in_a_foreign_store_the_session_s_id_stands_for_the_receipt() {
    let mut story = opened([
        expect(receipt("general", Some("s1"))),
        expect(receipt("general", None)),
        never(receipt("general", Some("s2"))),
    ]);
    story.disk(&[("state.db", 0o600, "general => S1")]).settles();
    for index in 0..3 {
        assert_held(&story.expectation(index));
    }
    story.disk(&[("state.db", 0o600, "general => S2")]);
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
    assert_eq!(story.expectation(2).verdict, Verdict::Violated);
}

#[test]
fn in_a_foreign_store_no_model_can_be_read_and_none_can_be_asked_for() {
    let model = skep_check::WantedReceipt { model: Some("m2".into()), ..Default::default() };
    let none = skep_check::WantedReceipt {
        session: Some("s1".into()),
        count: Count::exactly(0),
        ..Default::default()
    };
    let mut story = opened([
        expect(skep_check::Wanted::Receipt(model)),
        expect(skep_check::Wanted::Receipt(none)),
    ]);
    story.disk(&[("state.db", 0o600, "empty")]).settles();
    assert_eq!(story.expectation(0).verdict, Verdict::Inconclusive);
    assert_held(&story.expectation(1));
    story.disk(&[("state.db", 0o600, "S1")]);
    assert_broken(&story.expectation(1), Blame::Harness, story.last());
}

#[test]
fn files_must_have_the_mode_that_is_asked_for() {
    let mut story = opened([expect(file(|it| it.mode = Some(0o600)))]);
    story.disk(&[("a.json", 0o600, "{}"), ("a.lock", 0o644, "")]).settles();
    assert_held(&story.expectation(0));
    story.disk(&[("a.json", 0o600, "{}"), ("b.json", 0o644, "{}")]);
    let judgement = story.expectation(0);
    assert_broken(&judgement, Blame::Harness, story.last());
    assert_eq!(judgement.label, "b.json has mode 0644, not 0600");
}

#[test]
fn an_unchanged_file_is_what_it_was_when_the_step_began() {
    let mut story = opened([]);
    story.disk(&[("a.json", 0o600, "{}")]).settles();
    story.step([expect(file(|it| it.unchanged = true))]);
    story.disk(&[("a.json", 0o600, "{}")]).settles();
    assert_held(&story.expectation(0));
    story.disk(&[("a.json", 0o600, "{ }")]);
    assert_broken(&story.expectation(0), Blame::Harness, story.last());
    story.disk(&[]);
    assert_eq!(story.expectation(0).verdict, Verdict::Violated);
}

#[test]
fn the_scenario_s_own_change_is_what_an_unchanged_file_is_compared_with() {
    let mut story = opened([]);
    story.disk(&[("a.json", 0o600, "{}")]).settles();
    story.step([expect(file(|it| it.unchanged = true))]);
    story.baseline(&[("a.json", 0o600, "broken")]).disk(&[("a.json", 0o600, "broken")]).settles();
    assert_held(&story.expectation(0));
}

#[test]
fn files_are_chosen_by_path_text_and_kind() {
    let mut story = opened([
        expect(file(|it| {
            it.path = Some("a.*".into());
            it.text = Some("S1".into());
            it.count = Count::exactly(1);
        })),
        expect(file(|it| it.symlink = Some(false))),
        never(file(|it| it.path = Some("*.tmp*".into()))),
        expect(file(|it| it.path = Some(".".into()))),
    ]);
    story.disk(&[(".", 0o700, "<dir>"), ("a.json", 0o600, "S1"), ("a.lock", 0o600, "")]).settles();
    for index in 0..4 {
        assert_held(&story.expectation(index));
    }
    story.disk(&[("a.json", 0o777, "<link>"), ("a.tmp.7", 0o600, "S1"), ("a.x", 0o600, "S1")]);
    for index in 0..4 {
        assert_broken(&story.expectation(index), Blame::Harness, story.last());
    }
}

#[test]
fn what_differs_in_a_receipt_is_told_and_so_is_one_too_many() {
    let told = |change: fn(&mut skep_check::WantedReceipt)| {
        let mut wanted = skep_check::WantedReceipt::default();
        change(&mut wanted);
        let mut story = opened([expect(skep_check::Wanted::Receipt(wanted))]);
        story.remembers(&[("general", "S1")]).settles();
        let judgement = story.expectation(0);
        (judgement.title, judgement.label)
    };
    let (title, label) = told(|wanted| wanted.model = Some("huge".into()));
    assert_eq!(title, "the receipt is of another model");
    let differs = "general is remembered as s1: its model is the agent's default, not huge";
    assert_eq!(label, differs);
    let (title, _) = told(|wanted| wanted.count = Count::exactly(0));
    assert_eq!(title, "a receipt is there that must not be");
    let (title, _) = told(|wanted| wanted.count = Count::exactly(2));
    assert_eq!(title, "there are fewer such receipts than there must be");
}
