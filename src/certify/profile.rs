//! How an agent is set up: a profile, which is a small KDL file.
//!
//! `docs/certify.md` describes the format. In values and in the content of files `{url}` stands
//! for the model stub, `{key}` for a key that it accepts, `{key-end}` for that key's last 20
//! letters, `{home}` for the agent's home.

use std::ffi::{OsStr, OsString};

use kdl::{KdlDocument, KdlNode, KdlValue};

/// A key that opens nothing.
const KEY: &str = "sk-skep-0123456789-0123456789-0123456789";
/// How much of a key some agents remember.
const KEY_END: usize = 20;

/// An agent's setup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The command that starts it; the user may give another one.
    pub start: Vec<String>,
    /// How it is installed, a step a line: skep installs nothing.
    pub install: Vec<String>,
    /// The login method that is used after the handshake, if any.
    pub login: Option<String>,
    /// Variables of its environment.
    pub env: Vec<(String, String)>,
    /// Files of its home: a path below it, and their content.
    pub files: Vec<(String, String)>,
}

/// What the profiles in the program are.
const BUILT_IN: [(&str, &str); 7] = [
    ("generic", include_str!("profiles/generic.kdl")),
    ("opencode", include_str!("profiles/opencode.kdl")),
    ("claude", include_str!("profiles/claude.kdl")),
    ("zed-codex", include_str!("profiles/zed-codex.kdl")),
    ("gemini", include_str!("profiles/gemini.kdl")),
    ("hermes", include_str!("profiles/hermes.kdl")),
    ("pi", include_str!("profiles/pi.kdl")),
];

impl Profile {
    /// For an agent that needs nothing but a home.
    pub fn generic() -> Self {
        Self { name: "generic".to_owned(), ..Self::default() }
    }

    /// The names of the profiles in the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A profile in the program.
    pub fn built_in(name: &str) -> Option<Self> {
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Some(Self::parse(text).expect("a test reads every profile in the program"))
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// When the text is no KDL, or says something that no profile says: what, and what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document: KdlDocument = text.parse().map_err(|error: kdl::KdlError| {
            let first = error.diagnostics.first();
            let line = first.map_or(0, |one| line(text, one.span.offset()));
            let why = first.and_then(|one| one.message.clone()).unwrap_or_default();
            format!("line {line}: this is no KDL: {why}")
        })?;
        let mut nodes = document.nodes().iter();
        let (Some(agent), None) = (nodes.next(), nodes.next()) else {
            return Err("a profile is one `agent \"name\" { … }`".to_owned());
        };
        if agent.name().value() != "agent" {
            return Err("a profile begins with `agent \"name\" {`".to_owned());
        }
        let mut profile = Self { name: one(agent, text)?, ..Self::default() };
        for node in agent.iter_children() {
            profile.take(node, text)?;
        }
        Ok(profile)
    }

    fn take(&mut self, node: &KdlNode, text: &str) -> Result<(), String> {
        match node.name().value() {
            "start" => self.start = words(node, text)?,
            "install" => self.install.push(one(node, text)?),
            "login" => self.login = Some(one(node, text)?),
            "env" => self.env.push(two(node, text)?),
            "file" => {
                let (path, content) = two(node, text)?;
                let inside = !path.starts_with('/') && !path.split('/').any(|part| part == "..");
                if !inside {
                    let at = line(text, node.span().offset());
                    return Err(format!("line {at}: `{path}` is no path below the home"));
                }
                self.files.push((path, content));
            }
            other => {
                let at = line(text, node.span().offset());
                return Err(format!(
                    "line {at}: a profile has no `{other}`; it has start, install, login, env, file"
                ));
            }
        }
        Ok(())
    }
}

/// What the places in a profile stand for.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) url: String,
    pub(super) home: String,
}

impl Places {
    pub(super) fn fill(&self, text: &str) -> String {
        text.replace("{url}", &self.url)
            .replace("{key-end}", &KEY[KEY.len() - KEY_END..])
            .replace("{key}", KEY)
            .replace("{home}", &self.home)
    }

    /// A word of a command line, or a value of the environment. One that is no text has no places.
    pub(super) fn fill_word(&self, word: &OsStr) -> OsString {
        word.to_str().map_or_else(|| word.to_owned(), |text| self.fill(text).into())
    }

    pub(super) fn fill_words(&self, words: &[OsString]) -> Vec<OsString> {
        words.iter().map(|word| self.fill_word(word)).collect()
    }
}

fn line(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

fn words(node: &KdlNode, text: &str) -> Result<Vec<String>, String> {
    let word = |value: &KdlValue| value.as_string().map(str::to_owned);
    let values: Option<Vec<_>> = node.entries().iter().map(|entry| word(entry.value())).collect();
    values.filter(|values| !values.is_empty()).ok_or_else(|| {
        let at = line(text, node.span().offset());
        format!("line {at}: `{}` takes texts in quotes", node.name().value())
    })
}

fn one(node: &KdlNode, text: &str) -> Result<String, String> {
    match <[String; 1]>::try_from(words(node, text)?) {
        Ok([one]) => Ok(one),
        Err(_) => Err(wrong_number(node, text, "one text")),
    }
}

fn two(node: &KdlNode, text: &str) -> Result<(String, String), String> {
    match <[String; 2]>::try_from(words(node, text)?) {
        Ok([one, two]) => Ok((one, two)),
        Err(_) => Err(wrong_number(node, text, "two texts")),
    }
}

fn wrong_number(node: &KdlNode, text: &str, wanted: &str) -> String {
    let at = line(text, node.span().offset());
    format!("line {at}: `{}` takes {wanted}", node.name().value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_in_the_program_can_be_read() {
        for name in Profile::names() {
            let profile = Profile::built_in(name).unwrap();
            assert_eq!(profile.name, name);
            assert!(name == "generic" || !profile.start.is_empty() && !profile.install.is_empty());
        }
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let wrong = |text: &str| Profile::parse(text).unwrap_err();
        assert!(wrong("agent \"a\" {\n  strat \"x\"\n}").starts_with("line 2: a profile has no"));
        assert!(wrong("agent \"a\" {\n  env \"x\"\n}").contains("line 2: `env` takes two texts"));
        assert!(wrong("agent \"a\" { file \"../x\" \"y\" }").contains("below the home"));
        assert!(wrong("agent {").contains("no KDL"));
        assert!(wrong("").contains("agent \"name\""));
    }

    #[test]
    fn places_are_filled() {
        let places = Places { url: "http://x".to_owned(), home: "/h".to_owned() };
        assert_eq!(places.fill("{url}/v1 {home}"), "http://x/v1 /h");
        assert_eq!(places.fill("{key-end}").len(), KEY_END);
    }
}
