//! Where the file of a breakage comes from: what breaks in a schedule or in a crash is searched for,
//! the shortest there is; for the rest a play is kept here, which fits any store.

use skep_store::explore::{Outcome, questions};
use skep_store::model::{Break, StoreName};
use skep_store::play;

use super::stores::shortest_of;
use super::{CheckName, check_names};

/// A play as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayFile {
    /// Its name, without a folder: the store, the rule and the check.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Plays that fit any store, by the check that they show broken.
macro_rules! probes {
    ($($check:literal => $file:literal,)+) => {
        &[$(($check, include_str!($file)),)+]
    };
}

const PROBES: &[(&str, &str)] = probes! {
    "a_closed_directory_keeps_the_old_content" => "probes/a_closed_directory_keeps_the_old_content.kdl",
    "a_conditional_remove_looks_first" => "probes/a_conditional_remove_looks_first.kdl",
    "a_damaged_file_is_kept" => "probes/a_damaged_file_is_kept.kdl",
    "a_damaged_file_opens_as_empty" => "probes/a_damaged_file_opens_as_empty.kdl",
    "a_full_disk_keeps_the_old_content" => "probes/a_full_disk_keeps_the_old_content.kdl",
    "a_linked_directory_is_refused" => "probes/a_linked_directory_is_refused.kdl",
    "a_linked_file_is_refused" => "probes/a_linked_file_is_refused.kdl",
    "a_read_only_directory_keeps_the_old_content" => "probes/a_read_only_directory_keeps_the_old_content.kdl",
    "a_stuck_holder_delays_others_only_so_long" => "probes/a_stuck_holder_delays_others_only_so_long.kdl",
    "a_taken_temporary_name_is_left_alone" => "probes/a_taken_temporary_name_is_left_alone.kdl",
    "an_unreadable_file_is_not_replaced" => "probes/an_unreadable_file_is_not_replaced.kdl",
    "another_configuration_is_incompatible" => "probes/another_configuration_is_incompatible.kdl",
    "keys_have_values_and_ids_have_bytes" => "probes/keys_have_values_and_ids_have_bytes.kdl",
    "leftovers_are_ignored_and_go" => "probes/leftovers_are_ignored_and_go.kdl",
    "nobody_else_may_look" => "probes/nobody_else_may_look.kdl",
    "one_bad_entry_costs_one_entry" => "probes/one_bad_entry_costs_one_entry.kdl",
    "only_own_files_are_locked" => "probes/only_own_files_are_locked.kdl",
    "only_own_files_are_read" => "probes/only_own_files_are_read.kdl",
    "only_time_that_passed_forgets" => "probes/only_time_that_passed_forgets.kdl",
    "scopes_do_not_meet" => "probes/scopes_do_not_meet.kdl",
};

/// The one that fits a single store: only its second name is made in that way.
const RECEIPT_SET_ASIDE: &str = include_str!("probes/a_damaged_file_is_kept.receipt.kdl");

/// Where a schedule that breaks a check is searched for: the question, whether the power is cut,
/// and what it may come to, best first.
struct Search {
    checks: &'static [&'static str],
    question: &'static str,
    cuts: bool,
    outcomes: &'static [Outcome],
}

const SEARCHES: &[Search] = &[
    Search {
        checks: &["a_conditional_remove_decides_under_the_lock"],
        question: "put-and-remove-if",
        cuts: false,
        outcomes: &[Outcome::Lost, Outcome::Wrong],
    },
    Search {
        checks: &[
            "no_update_of_another_key_is_lost",
            "a_lock_dies_with_its_holder",
            "a_stuck_holder_delays_others_only_so_long",
        ],
        question: "puts",
        cuts: false,
        outcomes: &[Outcome::Lost],
    },
    Search {
        checks: &["two_first_writes_are_both_kept"],
        question: "first-puts",
        cuts: false,
        outcomes: &[Outcome::Lost],
    },
    Search {
        checks: &["three_writers_and_a_reader_agree"],
        question: "three",
        cuts: false,
        outcomes: &[Outcome::Lost],
    },
    Search {
        checks: &["one_key_has_one_history"],
        question: "put-and-get",
        cuts: false,
        outcomes: &[Outcome::Wrong, Outcome::Lost],
    },
    Search {
        checks: &["a_crash_leaves_the_old_file_or_the_new_one"],
        question: "put",
        cuts: true,
        outcomes: &[Outcome::Torn, Outcome::Lost],
    },
    Search {
        checks: &["what_was_acknowledged_survives", "what_another_left_undone_is_made_durable"],
        question: "put",
        cuts: true,
        outcomes: &[Outcome::Lost],
    },
    Search {
        checks: &["temporary_names_are_unique"],
        question: "puts-and-a-kill",
        cuts: false,
        outcomes: &[Outcome::Torn],
    },
];

/// The file that shows a listed breakage of a store; `None`: nothing was found that does.
pub fn file_of(store: StoreName, broken: &Break) -> Option<PlayFile> {
    let check = check_names().into_iter().find(|check| check.name == broken.check)?;
    let text = match probe(store, check.name) {
        Some(body) => header(store, check, broken) + body,
        None => searched(store, check, broken)?,
    };
    let name = format!("{}.{}.{}.kdl", store.id(), check.rule, check.name.replace('_', "-"));
    Some(PlayFile { name, text })
}

fn probe(store: StoreName, check: &str) -> Option<&'static str> {
    match (store, check) {
        (StoreName::Receipt, "a_damaged_file_is_kept") => return Some(RECEIPT_SET_ASIDE),
        // A store that takes no lock has no holder that could be stuck.
        (
            StoreName::SnapshotMap | StoreName::KeyedTtl,
            "a_stuck_holder_delays_others_only_so_long",
        ) => {
            return None;
        }
        _ => {}
    }
    PROBES.iter().find(|(name, _)| *name == check).map(|(_, body)| *body)
}

fn header(store: StoreName, check: CheckName, broken: &Break) -> String {
    let what = check.name.replace('_', " ");
    let first = play::comment(&format!("Not so: {what}."));
    let why = play::comment(&format!("Why: {}.", broken.why));
    format!("{first}{why}store \"{}\" rule=\"{}\"\n\n", store.id(), check.rule)
}

fn searched(store: StoreName, check: CheckName, broken: &Break) -> Option<String> {
    let search = SEARCHES.iter().find(|search| search.checks.contains(&check.name))?;
    let mut question = questions().into_iter().find(|one| one.name == search.question)?;
    question.cuts = search.cuts;
    let mut outcomes = search.outcomes.iter();
    let found = outcomes
        .find_map(|outcome| shortest_of(store, &question, *outcome).map(|found| (found, *outcome)));
    let (found, outcome) = found?;
    Some(play::file(store, check.rule, broken.why, &question, &found, outcome))
}
