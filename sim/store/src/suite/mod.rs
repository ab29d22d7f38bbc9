//! The S-rules as checks that any store can be put to.
//!
//! A check does things to a store through a [`Host`] and says whether a rule held. The same checks
//! run on the simulated disk, where every crash and every interleaving is tried, and on the real
//! one, where as many are as a machine has patience for. A foreign store joins as a [`Subject`]
//! (a Rust type over any volume) or as a [`Host`] of its own (a program behind pipes).
//!
//! - `host`: what a check needs; `local`, `sim_ground`, `real_ground`: who offers it.
//! - `case`: the words that checks are written in.
//! - `meaning`, `concurrency`, `crash`, `damage`, `permissions`, `cost`: the checks, by family.
//! - `explore`, `course`, `commute`, `sequence`: every order in which operations can meet, which
//!   are the same, and what may be left.
//!
//! A check is an ordinary function that the host's futures are polled inside of: a store that does
//! not end is a finding, and not a test that hangs.

pub mod case;
pub(crate) mod commute;
mod concurrency;
mod cost;
pub(crate) mod course;
mod crash;
mod damage;
mod explore;
mod gate;
pub(crate) mod host;
mod local;
mod meaning;
mod permissions;
mod real_ground;
mod reference;
pub(crate) mod sequence;
pub(crate) mod sim_ground;

pub use gate::GatedVolume;
pub use host::{Edit, Failure, Feature, Host, Process, STATE, Scope, Step, Verdict, Visit};
pub use local::{Ground, Handle, LocalHost, Subject};
pub use real_ground::{RealGround, edit_real};
pub use reference::Reference;
pub use sim_ground::SimGround;

/// One check: the rule that it is about, its name, and what it does.
pub struct Check<H> {
    /// The rule: `S-10`.
    pub rule: &'static str,
    /// What holds if it does, in words.
    pub name: &'static str,
    /// Carries it out on a fresh disk.
    pub run: fn(&mut H) -> Verdict,
}

/// Declares the table: `rule module::function`; the function's name is the check's.
macro_rules! table {
    ($($rule:literal $family:ident::$name:ident,)+) => {
        vec![$(Check { rule: $rule, name: stringify!($name), run: $family::$name::<H> },)+]
    };
}

/// Every check, in the order of the rules.
pub fn checks<H: Host>() -> Vec<Check<H>> {
    table! {
        "S-1" meaning::a_put_is_read_here_and_after_a_reopen,
        "S-2" meaning::a_remove_forgets_for_good,
        "S-3" meaning::a_conditional_remove_looks_first,
        "S-3" concurrency::a_conditional_remove_decides_under_the_lock,
        "S-4" meaning::scopes_do_not_meet,
        "S-5" meaning::another_configuration_is_incompatible,
        "S-6" meaning::looking_changes_nothing,
        "S-6" meaning::looking_makes_nothing,
        "S-7" meaning::keys_have_values_and_ids_have_bytes,
        "S-8" meaning::only_time_that_passed_forgets,
        "S-10" concurrency::no_update_of_another_key_is_lost,
        "S-10" concurrency::two_first_writes_are_both_kept,
        "S-10" concurrency::three_writers_and_a_reader_agree,
        "S-10" concurrency::racing_threads_lose_nothing,
        "S-11" concurrency::one_key_has_one_history,
        "S-12" concurrency::a_lock_dies_with_its_holder,
        "S-12" concurrency::a_stuck_holder_delays_others_only_so_long,
        "S-13" concurrency::no_reader_sees_half_a_file,
        "S-13" concurrency::racing_readers_see_whole_files,
        "S-20" crash::a_crash_leaves_the_old_file_or_the_new_one,
        "S-21" crash::what_was_acknowledged_survives,
        "S-21" crash::what_another_left_undone_is_made_durable,
        "S-22" crash::leftovers_are_ignored_and_go,
        "S-23" crash::temporary_names_are_unique,
        "S-23" crash::a_taken_temporary_name_is_left_alone,
        "S-30" damage::a_damaged_file_opens_as_empty,
        "S-31" damage::a_damaged_file_is_kept,
        "S-31" damage::one_bad_entry_costs_one_entry,
        "S-32" damage::a_newer_file_is_left_alone,
        "S-33" damage::a_full_disk_keeps_the_old_content,
        "S-33" damage::a_read_only_directory_keeps_the_old_content,
        "S-33" damage::a_closed_directory_keeps_the_old_content,
        "S-33" damage::an_unreadable_file_is_not_replaced,
        "S-40" permissions::nobody_else_may_look,
        "S-41" permissions::a_linked_file_is_refused,
        "S-41" permissions::a_linked_directory_is_refused,
        "S-42" permissions::only_own_files_are_read,
        "S-42" permissions::only_own_files_are_locked,
        "S-50" cost::an_operation_costs_one_reading_and_one_writing,
    }
}
