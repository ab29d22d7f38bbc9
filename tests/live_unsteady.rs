//! `--repeat` on a harness that does not always do the same.
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "a program of the user's is written and started")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};

/// A harness that forgets what it knew in its first two lives, and never again.
fn moody(folder: &Path) -> String {
    let (skep, flags) = (cargo_bin!("skep").display(), folder.display());
    let script = format!(
        "#!/bin/sh\n\
         for flag in 1 2; do\n\
         if mkdir {flags}/flag-$flag 2>/dev/null; then\n\
         SKEP_MUTANT=store/forgets-on-restart exec {skep} reference-harness\n\
         fi\n\
         done\n\
         exec {skep} reference-harness\n"
    );
    let path = folder.join("moody.sh");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path.display().to_string()
}

#[test]
fn repeats_that_differ_are_unsteady_and_every_one_keeps_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = cargo_bin_cmd!("skep");
    command.current_dir(&folder).env_remove("GITHUB_ACTIONS").args(["run", "--repeat", "3"]);
    command.args(["--only", "restart-resumes-the-session", "--jobs", "1", "--trace", "traces"]);
    command.args(["--harness", &moody(folder.path()), "--harness-profile", "reference"]);
    command.args([
        "--report",
        "junit=j.xml",
        "--report",
        "github=g.txt",
        "--report",
        "json=r.json",
    ]);
    let output = command.assert().code(3).get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("~ restart-resumes-the-session  unsteady: 1 of 3 violated"), "{text}");
    assert!(text.contains("1 unsteady · in live"), "{text}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    for seed in 0..3 {
        let trace = read(&format!("traces/restart-resumes-the-session.seed-{seed}.jsonl"));
        assert!(trace.lines().count() > 10);
    }
    assert!(read("g.txt").starts_with("::warning file="), "{}", read("g.txt"));
    assert!(read("j.xml").contains("errors=\"1\""), "{}", read("j.xml"));
    assert!(read("r.json").contains(r#""unsteady":[{"runs":3,"#), "{}", read("r.json"));
}
