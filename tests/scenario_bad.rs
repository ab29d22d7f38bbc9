//! Scenario files that are wrong, one kind of mistake each: what a person is told.
//!
//! Each file in `bad-scenarios` is a test, and its snapshot is what `skep` prints about it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skep::scenario::{
    Diagnostic, MAX_BYTES, MAX_DIAGNOSTICS, MAX_LINES, Scenario, SourceFile, parse, parse_with,
    render,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-scenarios")
}

#[expect(clippy::disallowed_methods, reason = "the files are the test")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file of the repository is readable")
}

/// Every file of the folder, by name.
fn files() -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder()).expect("the folder is part of the repository");
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let files = paths.filter(|path| path.is_file());
    let named = files.filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, read(&path)))
    });
    named.collect()
}

fn check(name: &str, text: &str) -> (Vec<Scenario>, Vec<Diagnostic>) {
    parse_with(&SourceFile::new(name, text), &mut |used| {
        let path = folder().join("used").join(used);
        path.exists().then(|| SourceFile::new(used, &read(&path))).ok_or("no such file".to_owned())
    })
}

#[test]
fn every_mistake_is_told_with_its_place_and_what_to_write_instead() {
    for (name, text) in files() {
        let (_, diagnostics) = check(&name, &text);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_suffix(&name);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!("bad", render(&diagnostics, false)));
    }
}

#[test]
fn every_complaint_has_a_place_a_label_and_help() {
    for (name, text) in files() {
        let (_, diagnostics) = check(&name, &text);
        assert!(!diagnostics.is_empty(), "{name} is not wrong");
        for diagnostic in diagnostics {
            let span = diagnostic.span;
            assert!(diagnostic.file.text.get(span.start..span.end).is_some(), "{diagnostic}");
            assert!(!diagnostic.label.is_empty() && !diagnostic.help.is_empty(), "{diagnostic}");
        }
    }
}

#[test]
fn no_scenario_with_a_mistake_is_handed_out() {
    for (name, text) in files() {
        let (scenarios, diagnostics) = check(&name, &text);
        for scenario in scenarios {
            let start = scenario.span.start;
            let end = text[start..].find("\n}").map_or(text.len(), |at| start + at);
            let inside = |one: &&Diagnostic| (start..end).contains(&one.span.start);
            let wrong = diagnostics.iter().find(inside);
            assert!(wrong.is_none(), "{name}: {} was handed out", scenario.name);
        }
    }
}

fn only_complaint(text: &str) -> String {
    let (scenarios, diagnostics) = parse(&SourceFile::new("x.kdl", text));
    assert!(scenarios.is_empty());
    assert_eq!(diagnostics.len(), 1, "{}", render(&diagnostics, false));
    diagnostics[0].title.clone()
}

#[test]
fn a_file_that_is_too_long_is_not_read() {
    let text = "a".repeat(MAX_BYTES + 1);
    assert_eq!(only_complaint(&text), "the file is longer than 262144 bytes");
    let error = SourceFile::from_bytes("x.kdl", text.as_bytes()).unwrap_err();
    assert_eq!(error.title, "the file is longer than 262144 bytes");
    assert!(error.file.text.is_empty(), "it is not kept");
}

#[test]
fn a_file_with_too_many_lines_is_not_read() {
    let text = "a\n".repeat(MAX_LINES + 1);
    assert_eq!(only_complaint(&text), "the file has 10001 lines of scenario");
}

#[test]
fn a_matrix_that_writes_out_too_many_lines_is_stopped() {
    let values = (0..200).map(|at| format!("value \"v{at}\"; ")).collect::<String>();
    let steps = "mention channel=\"c\"\n".repeat(100);
    let text = format!(
        "scenario \"large\" {{\nagent \"a\"\nharness \"h\"\nmatrix {{ axis \"x\" {{ {values} }}; }}\n\
         step \"s\" {{\nvary \"x\"\n{steps}expect turn=\"done\"\n}}\n}}\n"
    );
    let (_, diagnostics) = parse(&SourceFile::new("x.kdl", &text));
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].title, "written out, the file has more than 10000 lines");
}

#[test]
fn a_shared_cast_is_read_once_and_so_many_at_most() {
    let uses = (0..40).map(|at| format!("use \"cast{at}.kdl\"\nuse \"cast{at}.kdl\"\n"));
    let text = format!("{}scenario \"x\" {{\n}}\n", uses.collect::<String>());
    let mut read = Vec::new();
    let (_, diagnostics) = parse_with(&SourceFile::new("x.kdl", &text), &mut |used| {
        read.push(used.to_owned());
        Ok(SourceFile::new(used, "// nobody\n"))
    });
    assert_eq!(read.len(), 16);
    assert_eq!(diagnostics[0].title, "the file uses more than 16 others");
}

#[test]
fn more_mistakes_than_a_person_can_read_are_cut_off() {
    let text = "metnion channel=general/x\n".repeat(5_000);
    let (_, diagnostics) = parse(&SourceFile::new("x.kdl", &text));
    assert_eq!(diagnostics.len(), MAX_DIAGNOSTICS + 1);
    assert_eq!(diagnostics.last().unwrap().title, "there are more mistakes than these");
}

#[test]
fn bytes_that_are_no_text_are_shown_where_they_stand() {
    let error = SourceFile::from_bytes("x.kdl", b"scenario \"a\" {\n    agent \"\xc3\x28\"\n}\n");
    insta::assert_snapshot!(render(&[error.unwrap_err()], false));
}

#[test]
fn letters_that_cannot_be_seen_are_refused() {
    let title = only_complaint("scenario \"a\u{202e}b\" {}\n");
    assert_eq!(title, "the file holds the letter U+202E");
}

#[test]
fn colour_is_the_callers_choice() {
    let (_, diagnostics) = parse(&SourceFile::new("x.kdl", "scenrio \"a\"\n"));
    assert!(!render(&diagnostics, false).contains('\u{1b}'));
    assert!(render(&diagnostics, true).contains('\u{1b}'));
}
