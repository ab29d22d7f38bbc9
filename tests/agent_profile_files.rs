//! Agent profiles as files: what a person is told of a wrong one.
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the user's files are what these tests are about")]

use std::fs;
use std::path::Path;

use assert_cmd::cargo::cargo_bin_cmd;
use skep::scenario::{SourceFile, parse_agent_profile, render};

#[test]
fn every_mistake_is_told_with_its_place_and_what_to_write_instead() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-agent-profiles");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = SourceFile::new(name, &fs::read_to_string(&path).unwrap());
        let mistakes = parse_agent_profile(&file).unwrap_err();
        assert!(mistakes.iter().all(|one| !one.label.is_empty() && !one.help.is_empty()), "{name}");
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_suffix(name);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!("bad", render(&mistakes, false)));
    }
}

fn skep(words: &[&str], code: i32) -> String {
    let mut command = cargo_bin_cmd!("skep");
    let output = command.args(words).assert().code(code).get_output().clone();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_file_with_mistakes_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.kdl");
    fs::write(&path, "agent \"mine\" {\n    start \"sh\" \"{hom}\"\n    strat \"x\"\n}\n").unwrap();
    for verb in ["certify", "model-stub"] {
        let text = skep(&[verb, "--agent-profile", path.to_str().unwrap()], 4);
        assert!(text.contains("did you mean `{home}`?"), "{text}");
        assert!(text.contains("mine.kdl:3:5") && text.contains("2 mistakes"), "{text}");
    }
}

#[test]
fn a_file_is_read_no_further_than_a_profile_is_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.kdl");
    fs::write(&path, "// long\n".repeat(100_000)).unwrap();
    let text = skep(&["model-stub", "--agent-profile", path.to_str().unwrap()], 4);
    assert!(text.contains("a file has at most 256 KiB"), "{text}");
}

#[test]
fn a_program_that_is_missing_is_told_with_its_installation_and_its_notes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.kdl");
    let text = "agent \"mine\" {\n start \"no-such-agent\"\n install \"npm install it\"\n note \"wants Node 22\"\n}";
    fs::write(&path, text).unwrap();
    let text = skep(&["certify", "--agent-profile", path.to_str().unwrap()], 1);
    assert!(text.contains("`no-such-agent` is not installed"), "{text}");
    assert!(text.contains("npm install it\n") && text.contains("wants Node 22"), "{text}");
}

#[test]
fn the_profiles_on_the_page_can_be_read() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/certify.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```kdl\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
    let names: Vec<_> = blocks
        .map(|text| parse_agent_profile(&SourceFile::new("certify.md", text)).unwrap().name)
        .collect();
    assert_eq!(names, ["mine", "qwen"]);
}
