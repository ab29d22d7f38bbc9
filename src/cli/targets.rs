//! Reports beside the terminal's: `--report KIND=PATH`.

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::console::Console;
use super::trouble::Trouble;
use crate::outcome::RunOutcome;
use crate::report::{github, json, junit, markdown};

/// A kind of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The versioned document that `docs/report.schema.json` describes.
    Json,
    /// JUnit XML.
    Junit,
    /// Workflow commands for GitHub.
    Github,
    /// A page for the summary of a CI run.
    Markdown,
}

impl Kind {
    /// Every kind and its word.
    pub const WORDS: [(Self, &'static str); 4] = [
        (Self::Json, "json"),
        (Self::Junit, "junit"),
        (Self::Github, "github"),
        (Self::Markdown, "markdown"),
    ];

    fn render(self, outcome: &RunOutcome, timed: bool) -> String {
        match self {
            Self::Json => json::report(outcome, timed).to_string() + "\n",
            Self::Junit => junit::report(outcome, timed),
            Self::Github => github::annotations(outcome),
            Self::Markdown => markdown::page(outcome, !timed),
        }
    }
}

/// A report that is wanted, and where; `-` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    kind: Kind,
    path: PathBuf,
    /// The file may hold what others wrote.
    appends: bool,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = Kind::WORDS.map(|(_, word)| word).join("`, `");
        let Some((kind, path)) = text.split_once('=').filter(|(_, path)| !path.is_empty()) else {
            return Err("write a kind and a path: `junit=skep.xml`".to_owned());
        };
        let known = Kind::WORDS.into_iter().find(|(_, word)| *word == kind);
        let (kind, _) = known.ok_or_else(|| format!("the kinds are `{words}`"))?;
        Ok(Self::new(kind, path.into()))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Kind::WORDS.iter().find(|(kind, _)| *kind == self.kind).map(|(_, word)| word);
        write!(f, "{}={}", word.unwrap_or(&""), self.path.display())
    }
}

impl Target {
    /// A report of that kind at that place.
    pub fn new(kind: Kind, path: PathBuf) -> Self {
        Self { kind, path, appends: false }
    }

    /// The same, behind what the file holds already.
    #[must_use]
    pub fn appending(self) -> Self {
        Self { appends: true, ..self }
    }

    /// What kind of report it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// It goes to standard output.
    pub fn is_stdout(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// The folder that it goes to is there: better said before a long run than after it.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self) -> Result<(), Trouble> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder.unwrap_or(Path::new(".")) {
            folder if self.is_stdout() || folder.is_dir() => Ok(()),
            folder => Err(Trouble::usage(format!("there is no folder `{}`", folder.display()))
                .help(format!("`--report {self}` writes into a folder that exists"))),
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(
        &self,
        outcome: &RunOutcome,
        timed: bool,
        console: &Console,
    ) -> Result<(), Trouble> {
        self.put(&self.kind.render(outcome, timed), console)
    }

    /// Writes a text where the report belongs.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, text: &str, console: &Console) -> Result<(), Trouble> {
        match (self.is_stdout(), self.appends) {
            (true, _) => console.say(text),
            (false, true) => append(&self.path, text.as_bytes()),
            (false, false) => write_file(&self.path, text.as_bytes()),
        }
    }
}

/// Writes a file that the user asked for.
///
/// # Errors
/// When it cannot be written.
#[expect(clippy::disallowed_methods, reason = "the command line writes what the user asks for")]
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    std::fs::write(path, bytes)
        .map_err(|error| Trouble::usage(format!("`{}` cannot be written: {error}", path.display())))
}

fn append(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    let file = File::options().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(bytes))
        .map_err(|error| Trouble::usage(format!("`{}` cannot be written: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_read_back_and_mistakes_say_what_to_write() {
        assert_eq!("junit=a/b=c.xml".parse::<Target>().unwrap().to_string(), "junit=a/b=c.xml");
        assert!("junit".parse::<Target>().unwrap_err().contains("junit=skep.xml"));
        assert!("xml=a".parse::<Target>().unwrap_err().contains("`json`, `junit`"));
    }
}
