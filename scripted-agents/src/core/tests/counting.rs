//! Which requests a rule fits.

use super::*;

fn refuse(nth: Option<u32>, from: Option<u32>, process: Option<u32>) -> AgentCast {
    let error = Action::Error { code: 1, message: "no".into(), data: None };
    let mut refuse = rule("session/new", vec![error]);
    (refuse.nth, refuse.from, refuse.process) = (nth, from, process);
    cast(vec![refuse])
}

/// Which of four requests, two in each of two processes, are refused.
fn refused(cast: &AgentCast) -> Vec<u32> {
    let mut rig = Rig::new(cast.clone());
    let mut refused = Vec::new();
    for number in 1..=4 {
        if number == 3 {
            rig = rig.restarted(cast.clone());
        }
        if answer(&rig.ask(new())).is_err() {
            refused.push(number);
        }
    }
    refused
}

#[test]
fn a_rule_without_numbers_fits_every_request() {
    assert_eq!(refused(&refuse(None, None, None)), [1, 2, 3, 4]);
}

#[test]
fn without_a_process_requests_are_counted_over_all_processes() {
    assert_eq!(refused(&refuse(Some(3), None, None)), [3]);
    assert_eq!(refused(&refuse(None, Some(2), None)), [2, 3, 4]);
}

#[test]
fn with_a_process_requests_are_counted_within_it() {
    assert_eq!(refused(&refuse(Some(2), None, Some(2))), [4]);
    assert_eq!(refused(&refuse(None, Some(2), Some(1))), [2]);
    assert_eq!(refused(&refuse(None, None, Some(2))), [3, 4]);
}

#[test]
fn the_first_rule_that_fits_decides() {
    let mut first = rule("session/prompt", vec![Action::Stop("refusal".into())]);
    first.nth = Some(1);
    let second = rule("session/prompt", vec![Action::Stop("max_tokens".into())]);
    let mut rig = Rig::new(cast(vec![first, second]));
    let session = rig.open();
    assert_eq!(&*stop_reason(&rig.prompt(&session, "one")), "refusal");
    assert_eq!(&*stop_reason(&rig.prompt(&session, "two")), "max_tokens");
}

#[test]
fn methods_are_counted_apart_and_on_the_disk() {
    let mut rig = Rig::new(AgentCast::new("a"));
    let session = rig.open();
    rig.prompt(&session, "one");
    rig.prompt(&session, "two");
    assert_eq!(rig.disk.requests("session/prompt"), 2);
    assert_eq!(rig.disk.requests("session/new"), 1);
    assert_eq!(rig.disk.requests("session/load"), 0);
}
