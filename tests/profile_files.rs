//! Harness profiles as files: what a person is told of a wrong one, and what a right one does.
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the user's files are what these tests are about")]

use std::fs;
use std::path::Path;

use assert_cmd::cargo::cargo_bin_cmd;
use skep::scenario::{SourceFile, parse_profile, render};

#[test]
fn every_mistake_is_told_with_its_place_and_what_to_write_instead() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-profiles");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = SourceFile::new(name, &fs::read_to_string(&path).unwrap());
        let mistakes = parse_profile(&file).unwrap_err();
        assert!(mistakes.iter().all(|one| !one.label.is_empty() && !one.help.is_empty()), "{name}");
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_suffix(name);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!("bad", render(&mistakes, false)));
    }
}

fn skep(folder: &Path, words: &[&str], code: i32) -> String {
    let mut command = cargo_bin_cmd!("skep");
    let output = command.current_dir(folder).args(words).assert().code(code).get_output().clone();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

const NEEDY: &str = r#"
scenario "it-is-found-again" {
    needs "durable-sessions"
    agent "a" load-session=#true
    harness "h" agent="a" load-timeout="10s"
    step "a mention" {
        mention channel="general"
        expect "session/new" count=1
    }
}
"#;

#[test]
fn what_a_profile_lacks_does_not_apply_and_the_reason_names_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.kdl"), NEEDY).unwrap();
    let run = |more: &[&str], code| {
        skep(folder.path(), &[&["run", "s.kdl", "--harness", "/bin/false"], more].concat(), code)
    };
    let text = run(&[], 3);
    assert!(
        text.contains("needs durable-sessions, which the profile `buzz-acp` has not"),
        "{text}"
    );
    let text = run(&["--has", "durable-sessions"], 3);
    assert!(text.contains("needs load-timeout=10s, which the profile `buzz-acp` cannot"), "{text}");
    let text = run(&["--has", "durable-sesions"], 1);
    assert!(text.contains("did you mean `durable-sessions`?"), "{text}");
    let text = run(&["--harness-profile", "buzz-app"], 1);
    assert!(text.contains("did you mean `buzz-acp`?"), "{text}");
    let text = run(&["--harness-profile", "reference"], 2);
    assert!(text.contains("exited with code 1"), "{text}");
}

#[test]
fn a_profile_to_begin_with_is_written_once_and_can_be_played() {
    let folder = tempfile::tempdir().unwrap();
    let text = skep(folder.path(), &["harness", "init", "mine.kdl"], 0);
    assert!(text.contains("mine.kdl is written"), "{text}");
    let text = skep(folder.path(), &["harness", "init", "mine.kdl"], 1);
    assert!(text.contains("is there already"), "{text}");
    let written = fs::read_to_string(folder.path().join("mine.kdl")).unwrap();
    assert_eq!(skep(folder.path(), &["harness", "init"], 0), written);
    let only = ["run", "--harness-profile", "mine.kdl", "--only", "restart-resumes-the-session"];
    let text = skep(folder.path(), &only, 1);
    assert!(text.contains("there is no program `./my-harness`"), "{text}");
}
