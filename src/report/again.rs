//! The command that shows a moment again.

use std::fmt::Write as _;

use super::instant;
use crate::crashes;
use crate::outcome::{TestOutcome, WorldName};

/// The command line that plays this test again, up to an instant.
///
/// Options that have their default value are left out; the seed never is. A live run has no
/// instants to return to.
pub fn command(test: &TestOutcome, until_ms: Option<u64>) -> String {
    let of_crashes = &*test.file == crashes::FILE;
    let mut line = if of_crashes { "skep crashes" } else { "skep run" }.to_owned();
    let mut push = |word: &str| {
        write!(line, " {}", shell_word(word)).expect("writing to a string cannot fail");
    };
    if !test.builtin {
        // A name that begins with a dash would be an option.
        let dashed = test.file.len() > 1 && test.file.starts_with('-');
        push(&format!("{}{}", if dashed { "./" } else { "" }, test.file));
    }
    push("--only");
    push(&test.test);
    match test.world {
        // There is no other world for them.
        _ if of_crashes => {}
        WorldName::SimWire => {}
        WorldName::SimEvent => ["--gear", "event"].into_iter().for_each(&mut push),
        WorldName::Live => ["--world", "live"].into_iter().for_each(&mut push),
    }
    test.again.iter().for_each(|word| push(word));
    if let Some(mutant) = test.mutant {
        push("--mutant");
        push(mutant.id());
    }
    push("--seed");
    push(&test.seed.to_string());
    if let Some(until_ms) = until_ms.filter(|_| test.world != WorldName::Live) {
        push("--until");
        push(&instant::show(until_ms));
    }
    line
}

/// A word as a POSIX shell reads it back.
pub fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:@%+,#".contains(letter);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('#') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_read_otherwise_are_quoted() {
        assert_eq!(shell_word("a/b-c.kdl"), "a/b-c.kdl");
        assert_eq!(shell_word("x[rotation=idle]"), "'x[rotation=idle]'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
