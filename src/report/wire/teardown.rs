//! What ends only because the run does: connections and processes, after the last step settled.
//!
//! Shown at the end of a story it would read like the cause of whatever the story tells.

use skep_trace::{End, Record, What};

/// The first record after the last step came to rest, or after the step that was cut short.
pub fn begin(records: &[Record]) -> usize {
    let last = |fits: &dyn Fn(&What) -> bool| records.iter().rposition(|it| fits(&it.what));
    let settled = last(&|what| matches!(what, What::Settled { .. }));
    let step = last(&|what| matches!(what, What::Step { .. }));
    match settled {
        Some(settled) if Some(settled) > step => settled + 1,
        // Nothing settled the last step: what stands at the very end was taken down.
        _ => last(&|what| !is_of_it(what)).map_or(0, |at| at + 1),
    }
}

/// Something ends, and not by its own doing.
pub fn is_of_it(what: &What) -> bool {
    matches!(
        what,
        What::Disconnected { .. }
            | What::AgentEnded { end: End::Signal { by_us: true, .. }, .. }
            | What::HarnessEnded(_, End::Signal { by_us: true, .. })
    )
}

#[cfg(test)]
mod tests {
    use skep_trace::{Life, Settled};

    use super::*;

    fn records(whats: impl IntoIterator<Item = What>) -> Vec<Record> {
        whats.into_iter().map(|what| Record { at_ms: 0, what }).collect()
    }

    fn lost() -> What {
        What::Disconnected { harness: Life { harness: "h".into(), life: 1 }, conn: 1 }
    }

    #[test]
    fn what_ends_in_a_step_is_part_of_it_and_what_ends_after_the_last_is_not() {
        let step = || What::Step { index: 0, title: "s".into() };
        let settled = || What::Settled { step: 0, how: Settled::Drained };
        assert_eq!(begin(&records([step(), lost(), settled(), lost()])), 3);
        let act = || What::Act { index: 0, text: "disk corrupt".into() };
        assert_eq!(begin(&records([step(), lost(), act(), lost()])), 3, "it was cut short");
        assert_eq!(begin(&[]), 0);
    }
}
