//! Scenario files that nobody wrote: whatever they hold, reading them ends, soon, and with an
//! answer that can be shown.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use skep::scenario::{MAX_BYTES, SourceFile, parse, render};

const EVERYTHING: &str = include_str!("good-scenarios/everything.kdl");

/// Pieces that mean something to the language or to KDL.
const PIECES: &[&str] = &[
    "scenario",
    "step",
    "agent",
    "harness",
    "expect",
    "never",
    "mention",
    "matrix",
    "axis",
    "value",
    "vary",
    "use",
    "given",
    "together",
    "on",
    "order",
    "\"session/new\"",
    "\"x\"",
    "x",
    "channel=",
    "count=",
    "session=",
    "=",
    "{",
    "}",
    "{ ",
    " }",
    "(",
    ")",
    "\"",
    "\"\"\"",
    "#\"",
    "\"#",
    "#",
    "/*",
    "*/",
    "/-",
    "//",
    "\\",
    "\n",
    "\r\n",
    ";",
    " ",
    "\t",
    ",",
    "1",
    "-1",
    "1.5",
    "99999999999999999999999999999999999999999",
    "10s",
    "true",
    "#true",
    "#null",
    "é",
    "\u{2028}",
    "\u{feff}",
    "\0",
    "\u{202e}",
    "\\u{",
    "r#\"",
];

/// The time that nothing may take, in a debug build on a busy machine.
const SOON: Duration = Duration::from_secs(60);

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Reads and shows a file, and holds the answer to what every answer must be.
fn survives(name: &str, text: &str) {
    let file = SourceFile::new(name, text);
    let (scenarios, diagnostics) = parse(&file);
    for diagnostic in &diagnostics {
        let span = diagnostic.span;
        assert!(diagnostic.file.text.get(span.start..span.end).is_some(), "{diagnostic}: {text:?}");
        assert!(!diagnostic.help.is_empty(), "{diagnostic}: {text:?}");
    }
    assert!(!render(&diagnostics, false).contains('\u{1b}') || text.contains('\u{1b}'));
    assert_eq!(parse(&file), (scenarios, diagnostics), "the same file, another answer");
}

/// One change to a text: a stretch is cut out, doubled, or has a piece put in its place.
fn mutate(text: &str, at: f64, length: usize, piece: &str, kind: u8) -> String {
    let boundary = |offset: usize| text.floor_char_boundary(offset.min(text.len()));
    let start = boundary((at * text.len() as f64) as usize);
    let end = boundary(start + length);
    let (head, cut, tail) = (&text[..start], &text[start..end], &text[end..]);
    match kind {
        0 => format!("{head}{tail}"),
        1 => format!("{head}{cut}{cut}{tail}"),
        2 => format!("{head}{piece}{tail}"),
        _ => format!("{head}{piece}{cut}{tail}"),
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn any_text_is_answered(text in "(?s).{0,300}") {
        survives("x.kdl", &text);
    }

    #[test]
    fn any_mixture_of_known_pieces_is_answered(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..120),
        spaced in any::<bool>(),
    ) {
        survives("x.kdl", &pieces.join(if spaced { " " } else { "" }));
    }

    #[test]
    fn any_markdown_is_answered(
        pieces in prop::collection::vec(
            prop::sample::select(&["```kdl\n", "```", "~~~\n", "\n", "scenario \"a\" {\n}\n", "<!--",
                "-->\n", "- ", "> ", "text", "    ", "`", "kdl\n"][..]),
            0..60,
        ),
    ) {
        survives("x.md", &pieces.concat());
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn a_damaged_scenario_is_answered(
        changes in prop::collection::vec(
            (0.0..1.0, 0_usize..60, prop::sample::select(PIECES), 0_u8..4),
            1..6,
        ),
    ) {
        let mut text = EVERYTHING.to_owned();
        for (at, length, piece, kind) in changes {
            text = mutate(&text, at, length, piece, kind);
        }
        survives("x.kdl", &text);
    }
}

#[expect(clippy::disallowed_methods, reason = "that it ends soon is what is tested")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

#[test]
fn no_file_takes_long_however_it_is_filled() {
    let heads = ["", "\""];
    let pieces = [
        "( ", "} ", "a { ", "{ ", "/-{} ", "a /- { ", "/- a { ", "\"", "\\u{", "a=", "#\"", "\\ ",
        "/*", "\"\"\"\n", "a {\n", "a\n", ";", "[ ", "a /-\n",
    ];
    for head in heads {
        for piece in pieces {
            let text = format!("{head}{}", piece.repeat(MAX_BYTES / 2 / piece.len()));
            let start = now();
            let (_, diagnostics) = parse(&SourceFile::new("x.kdl", &text));
            let rendered = render(&diagnostics, false);
            assert!(start.elapsed() < SOON, "{head:?} {piece:?}: {:?}", start.elapsed());
            assert!(rendered.len() < 1 << 20, "{head:?} {piece:?}: {} bytes", rendered.len());
        }
    }
}

#[test]
fn blocks_that_are_commented_out_in_each_other_do_not_double_the_time() {
    let text = format!("{}{}", "a /- { ".repeat(30), "} ".repeat(30));
    let start = now();
    let (_, diagnostics) = parse(&SourceFile::new("x.kdl", &text));
    assert!(start.elapsed() < SOON);
    assert!(!diagnostics.is_empty());
}
