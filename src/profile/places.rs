//! Places: words in braces that stand for what is known only when an agent is started.
//!
//! A place is `{word}`, the word in small letters and dashes. Braces around anything else stand for
//! themselves, so that JSON can be written as it is.

use std::ffi::{OsStr, OsString};

/// A key that opens nothing.
const KEY: &str = "sk-skep-0123456789-0123456789-0123456789";

/// How much of a key some agents remember.
const KEY_END: usize = 20;

/// What places stand for.
#[derive(Clone, Debug)]
pub struct Places {
    /// Where the model stub listens, without a slash at the end.
    pub url: String,
    /// The agent's home.
    pub home: String,
}

/// A stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// It stands for itself.
    Text(&'a str),
    /// A place, by its word; there may be none of that word.
    Place(&'a str),
}

impl Places {
    /// The words of all places. `brace` is a brace that begins none.
    pub const WORDS: &[&str] = &["url", "key", "key-end", "home", "brace"];

    /// A text as texts and places.
    pub fn parts(text: &str) -> Vec<Part<'_>> {
        let (mut parts, mut rest, mut looked) = (Vec::new(), text, 0);
        while let Some(at) = rest[looked..].find('{').map(|at| looked + at) {
            match place(&rest[at..]) {
                Some(word) => {
                    parts.push(Part::Text(&rest[..at]));
                    parts.push(Part::Place(word));
                    (rest, looked) = (&rest[at + word.len() + 2..], 0);
                }
                None => looked = at + 1,
            }
        }
        parts.push(Part::Text(rest));
        parts.retain(|part| *part != Part::Text(""));
        parts
    }

    /// A text with its places filled in. What is no place stays as it is written.
    pub fn fill(&self, text: &str) -> String {
        let filled = |part: Part<'_>| match part {
            Part::Text(text) => text.to_owned(),
            Part::Place("url") => self.url.clone(),
            Part::Place("key") => KEY.to_owned(),
            Part::Place("key-end") => KEY[KEY.len() - KEY_END..].to_owned(),
            Part::Place("home") => self.home.clone(),
            Part::Place("brace") => "{".to_owned(),
            Part::Place(other) => format!("{{{other}}}"),
        };
        Self::parts(text).into_iter().map(filled).collect()
    }

    /// A word of a command line, or a value of the environment. One that is no text has no places.
    pub fn fill_word(&self, word: &OsStr) -> OsString {
        word.to_str().map_or_else(|| word.to_owned(), |text| self.fill(text).into())
    }

    /// All words of a command line.
    pub fn fill_words(&self, words: &[OsString]) -> Vec<OsString> {
        words.iter().map(|word| self.fill_word(word)).collect()
    }
}

/// The word of the place that a text begins with.
fn place(text: &str) -> Option<&str> {
    let (word, _) = text.strip_prefix('{')?.split_once('}')?;
    let plain = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    (word.starts_with(|letter: char| letter.is_ascii_lowercase()) && word.chars().all(plain))
        .then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        let places = Places { url: "http://x".to_owned(), home: "/h{key}".to_owned() };
        for (text, filled) in [
            ("{url}/v1 {home}", "http://x/v1 /h{key}"),
            ("{\"model\": {}, \"a\": {\"b\":1}}", "{\"model\": {}, \"a\": {\"b\":1}}"),
            ("${HOME} {env:KEY} {-} {a b} {", "${HOME} {env:KEY} {-} {a b} {"),
            ("{brace}url} {{brace}name}}", "{url} {{name}}"),
            ("{hom}", "{hom}"),
            ("{{url}}", "{http://x}"),
        ] {
            assert_eq!(places.fill(text), filled);
        }
        assert_eq!(places.fill("{key-end}").len(), KEY_END);
    }

    #[test]
    fn every_place_stands_for_something() {
        let places = Places { url: "u".to_owned(), home: "h".to_owned() };
        for word in Places::WORDS {
            assert_ne!(places.fill(&format!("{{{word}}}")), format!("{{{word}}}"));
        }
    }
}
