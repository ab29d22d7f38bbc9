//! Every check that a store is put to, in the order of the rules.

use skep_store::suite::{Check, Verdict, checks};

use super::checks::{kills, limits, names, races, stuck, syncs};
use super::crash;
use super::ground::Kind;
use super::host::ProgramHost;

/// One check of a store.
pub(super) struct Test {
    pub(super) rule: &'static str,
    pub(super) name: &'static str,
    pub(super) ground: Kind,
    pub(super) run: fn(&mut ProgramHost) -> Verdict,
}

/// Checks of the suite that stop inside operations or cut the power; those below take their place.
const STEPWISE: [&str; 15] = [
    "a_conditional_remove_decides_under_the_lock",
    "no_update_of_another_key_is_lost",
    "two_first_writes_are_both_kept",
    "three_writers_and_a_reader_agree",
    "racing_threads_lose_nothing",
    "one_key_has_one_history",
    "a_lock_dies_with_its_holder",
    "a_stuck_holder_delays_others_only_so_long",
    "no_reader_sees_half_a_file",
    "a_crash_leaves_the_old_file_or_the_new_one",
    "what_was_acknowledged_survives",
    "what_another_left_undone_is_made_durable",
    "leftovers_are_ignored_and_go",
    "temporary_names_are_unique",
    "a_taken_temporary_name_is_left_alone",
];

/// Checks that need a disk which can be filled or made read-only.
const SMALL_DISK: [&str; 2] =
    ["a_full_disk_keeps_the_old_content", "a_read_only_directory_keeps_the_old_content"];

/// Declares checks of processes: `rule module::function`; the function's name is the check's.
macro_rules! processes {
    ($($rule:literal $family:ident::$name:ident,)+) => {
        vec![$(Test {
            rule: $rule,
            name: stringify!($name),
            ground: Kind::Folder,
            run: $family::$name,
        },)+]
    };
}

/// All of them; with `crash_points`, also those that fail every call.
pub(super) fn tests(crash_points: bool) -> Vec<Test> {
    let mut tests: Vec<Test> = checks::<ProgramHost>()
        .iter()
        .filter(|check| !STEPWISE.contains(&check.name))
        .map(of_the_suite)
        .collect();
    tests.extend(of_processes());
    if crash_points {
        tests.extend(of_crash_points());
    }
    let number = |rule: &str| rule.trim_start_matches("S-").parse::<u32>().unwrap_or(u32::MAX);
    tests.sort_by_key(|test| number(test.rule));
    tests
}

/// Rule and name of every check.
pub fn names() -> Vec<(&'static str, &'static str)> {
    tests(true).into_iter().map(|test| (test.rule, test.name)).collect()
}

/// Whether a pattern of a user's means a check: its rule, or its name with `*` for any letters.
pub fn named(rule: &str, name: &str, fits: &dyn Fn(&str) -> bool) -> bool {
    fits(rule) || fits(name) || fits(&name.replace('_', "-"))
}

fn of_the_suite(check: &Check<ProgramHost>) -> Test {
    let small = SMALL_DISK.contains(&check.name);
    let ground = if small { Kind::SmallDisk } else { Kind::Folder };
    Test { rule: check.rule, name: check.name, ground, run: check.run }
}

fn of_processes() -> Vec<Test> {
    processes! {
        "S-3" races::a_conditional_remove_decides_under_the_lock,
        "S-10" races::racing_processes_lose_nothing,
        "S-10" races::two_first_writes_are_both_kept,
        "S-11" races::one_key_has_one_history,
        "S-12" kills::a_lock_dies_with_its_holder,
        "S-12" stuck::a_stuck_holder_delays_others_only_so_long,
        "S-20" kills::a_kill_leaves_the_old_receipts_or_the_new,
        "S-21" kills::what_was_acknowledged_survives_a_kill,
        "S-21" syncs::what_is_acknowledged_is_synced,
        "S-22" names::leftovers_are_ignored_and_go,
        "S-23" names::temporary_names_are_unique,
        "S-23" syncs::temporary_files_are_made_exclusively,
        "S-23" names::a_taken_temporary_name_is_left_alone,
        "S-33" limits::a_file_size_limit_keeps_the_old_content,
    }
}

fn of_crash_points() -> Vec<Test> {
    processes! {
        "S-20" crash::killed_at_every_call,
        "S-33" crash::every_call_fails_once,
        "S-21" crash::every_sync_lies,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_of_the_suite_runs_or_has_one_in_its_place() {
        let suite = checks::<ProgramHost>();
        for name in STEPWISE.into_iter().chain(SMALL_DISK) {
            assert!(suite.iter().any(|check| check.name == name), "{name} is no check");
        }
        let rules = |name: &str| suite.iter().find(|one| one.name == name).map(|one| one.rule);
        let own = of_processes();
        for name in STEPWISE {
            let rule = rules(name);
            // That no reader sees half a file is raced for by another check of the suite.
            let other = own.iter().any(|test| Some(test.rule) == rule) || rule == Some("S-13");
            assert!(other, "{name} has nothing in its place");
        }
    }

    #[test]
    fn names_are_not_used_twice() {
        let mut names = names();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
