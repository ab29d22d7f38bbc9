//! The rules on the real disk. One test in a process of its own: it changes the umask and the user.

use skep_mutant::Mutants;
use skep_store::suite::{Failure, LocalHost, RealGround, Reference, checks};

/// What a test cannot do to a real disk.
const BEYOND: [&str; 3] = [
    "a_full_disk_keeps_the_old_content",
    "a_read_only_directory_keeps_the_old_content",
    "a_taken_temporary_name_is_left_alone",
];

#[test]
fn the_reference_keeps_every_rule_on_a_real_disk() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().to_str().expect("a path that is text");
    let mut host = LocalHost::new(Reference { mutants: Mutants::NONE }, RealGround::new(root));
    let mut broken = Vec::new();
    for check in checks() {
        match (check.run)(&mut host) {
            Ok(seen) => println!("{:5} {}: {seen}", check.rule, check.name),
            Err(Failure::NotApplicable(why)) => {
                println!("{:5} {}: not applicable, {why}", check.rule, check.name);
                assert!(BEYOND.contains(&check.name), "{} must be applicable", check.name);
            }
            Err(Failure::Violated(how)) => broken.push(format!("{}: {how}", check.name)),
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
