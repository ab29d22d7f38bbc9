//! What a user is told when a command cannot be carried out, and what the process ends with.

#![expect(clippy::disallowed_methods, reason = "the test writes files of its own")]

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;

const USAGE: i32 = 1;
const SCENARIO: i32 = 4;

fn skep(words: &[&str]) -> Command {
    let mut command = cargo_bin_cmd!("skep");
    command.args(words).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// Fails with this code, saying this on standard error and nothing on standard output.
fn fails(words: &[&str], code: i32, said: &[&str]) {
    let output = skep(words).assert().code(code).get_output().clone();
    let error = String::from_utf8(output.stderr).expect("errors are text");
    for part in said {
        assert!(error.contains(part), "{words:?} says\n{error}");
    }
    assert!(output.stdout.is_empty(), "{words:?} prints {:?}", output.stdout);
}

#[test]
fn without_a_verb_the_help_is_shown() {
    fails(&[], USAGE, &["Usage: skep <COMMAND>", "prove"]);
}

#[test]
fn what_is_not_understood_is_a_usage_error() {
    fails(&["prov"], USAGE, &["unrecognized subcommand 'prov'", "prove"]);
    fails(&["run", "--sede", "7"], USAGE, &["unexpected argument '--sede'", "--seed"]);
    fails(&["run", "--seed", "seven"], USAGE, &["invalid value 'seven'"]);
    fails(&["run", "--until", "5"], USAGE, &["`1.004s`"]);
    fails(&["run", "--repeat", "0"], USAGE, &["1..=100000"]);
    fails(&["run", "--jobs", "0"], USAGE, &["'0'"]);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    fails(&["run", "--world", "live", "--gear", "event"], USAGE, &["the live world has no gears"]);
    fails(&["prove", "--world", "live", "--gear", "wire"], USAGE, &["no gears"]);
    fails(&["run", "--world", "sim", "--harness", "x"], USAGE, &["cannot run in the simulator"]);
    fails(&["run", "--harness-profile", "buzz-acp"], USAGE, &["does not say what to start"]);
    fails(
        &["run", "--mutant", "harness/never-loads", "--harness", "x"],
        USAGE,
        &["cannot be used"],
    );
}

#[test]
fn a_profile_that_nobody_knows_is_refused_and_not_passed_over() {
    let words = ["run", "--harness", "x", "--harness-profile", "lease"];
    fails(&words, USAGE, &["there is no harness profile `lease`", "skep list profiles"]);
}

#[test]
fn a_command_that_no_shell_reads_is_refused() {
    fails(&["run", "--harness", "\"open"], USAGE, &["is no command", "./buzz-acp"]);
    fails(&["run", "--harness", " "], USAGE, &["is no command"]);
}

#[test]
fn a_misspelled_name_is_answered_with_the_nearest() {
    let mutant = ["run", "--mutant", "store/forgets-on-restrat"];
    fails(&mutant, USAGE, &["did you mean `store/forgets-on-restart`?"]);
    fails(&["list", "rules", "--only", "Q-*"], USAGE, &["nothing fits `--only Q-*`"]);
    fails(&["prove", "--mutant", "zz*"], USAGE, &["no mutant fits", "skep list mutants"]);
    fails(&["run", "--only", "zz*"], USAGE, &["no test fits", "skep list scenarios"]);
}

#[test]
fn until_shows_one_test_only() {
    fails(&["run", "--until", "1s"], USAGE, &["`--until` shows one test", "--only"]);
}

#[test]
fn a_report_goes_to_a_folder_that_is_there() {
    fails(&["run", "--report", "junit"], USAGE, &["`junit=skep.xml`"]);
    fails(&["run", "--report", "xml=x"], USAGE, &["`json`, `junit`, `github`, `markdown`"]);
    fails(&["run", "--report", "junit=/no/such/x.xml"], USAGE, &["there is no folder `/no/such`"]);
}

#[test]
fn a_missing_path_is_a_usage_error() {
    fails(&["run", "no-such.kdl"], USAGE, &["there is no `no-such.kdl`"]);
    fails(&["replay", "no-such.jsonl"], USAGE, &["`no-such.jsonl` cannot be read"]);
}

#[test]
fn what_is_neither_file_nor_folder_is_never_waited_on() {
    fails(&["run", "/dev/zero"], USAGE, &["is neither a file nor a folder"]);
    fails(&["replay", "Cargo.toml"], USAGE, &["is no trace"]);
}

#[test]
fn programs_get_their_mistakes_as_a_document() {
    let output =
        skep(&["run", "no-such.kdl", "--format", "json"]).assert().code(USAGE).get_output().clone();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["exit_code"], USAGE);
    assert_eq!(document["mistakes"][0]["title"], "there is no `no-such.kdl`");
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let escapes = |command: &mut Command| {
        let output = command.assert().code(USAGE).get_output().clone();
        output.stderr.contains(&0x1b)
    };
    let words = ["run", "no-such.kdl"];
    assert!(!escapes(&mut skep(&words)));
    assert!(escapes(skep(&words).env("CLICOLOR_FORCE", "1")));
    assert!(!escapes(skep(&words).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1")));
    assert!(escapes(skep(&words).args(["--color", "always"]).env("NO_COLOR", "1")));
    assert!(!escapes(skep(&words).args(["--color", "never"]).env("CLICOLOR_FORCE", "1")));
}

#[test]
fn standard_input_is_a_scenario_file() {
    let mut command = skep(&["run", "-"]);
    let output = command.write_stdin("scenario").assert().code(SCENARIO).get_output().clone();
    assert!(String::from_utf8_lossy(&output.stderr).contains("[-:1:1]"));
}

#[test]
fn a_port_in_use_is_told_of() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    fails(&["relay", "--port", &port], USAGE, &["in use", "without `--port`"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_of_and_not_taken_for_a_verdict() {
    let one = ["run", "--only", "restart-resumes-the-session"];
    let written = skep(&one).args(["--report", "json=/dev/full"]).assert().code(USAGE);
    let error = String::from_utf8_lossy(&written.get_output().stderr).into_owned();
    assert!(error.contains("/dev/full") && error.contains("No space left"), "{error}");
    fails(&["run", "--trace", "/dev/full/traces"], USAGE, &["cannot be made", "`--trace`"]);
}

#[test]
fn a_harness_is_found_from_where_its_user_stands() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("h.sh");
    std::fs::write(&program, "#!/bin/sh\nexit 3\n").unwrap();
    let run = |harness: &str| {
        let mut command = skep(&["run", "--only", "restart-resumes-the-session"]);
        let one = ["--has", "durable-sessions", "--harness", harness];
        command.args(one).current_dir(folder.path()).output().unwrap()
    };
    let refused = |harness: &str, words: &str| {
        let output = run(harness);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(USAGE), "{error}");
        assert!(error.contains(words), "{error}");
    };
    refused("./h.sh", "it is no program");
    refused("h.sh", "one in this folder is written `./h.sh`");
    refused("./nowhere", "there is no program");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let output = run("./h.sh --flag");
    let story = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(story.contains("exited with code 3"), "{story}");
    assert!(story.contains("blame: harness"), "{story}");
}

#[test]
fn what_cannot_stand_together_is_refused() {
    fails(&["run", "--report", "json=-", "--report", "junit=-"], USAGE, &["two documents"]);
    let last = "18446744073709551615";
    fails(&["run", "--seed", last, "--repeat", "2"], USAGE, &["so many seeds"]);
}

#[test]
fn two_tests_of_one_name_do_not_share_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let text = include_str!("one-seed.kdl");
    std::fs::write(folder.path().join("a.kdl"), text).unwrap();
    std::fs::write(folder.path().join("b.kdl"), text).unwrap();
    let output = skep(&["run", "a.kdl", "b.kdl", "--trace", "traces"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(USAGE));
    assert!(String::from_utf8_lossy(&output.stderr).contains("two tests are called"));
}
