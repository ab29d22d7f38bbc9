//! What keeps a command from being carried out, as the user is told it.

use crate::exit_code::ExitCode;
use crate::report::Paint;
use crate::report::excerpt::Place;
use crate::report::json::{self, Mistake};
use crate::report::paint::Tone;
use crate::scenario::{self, Diagnostic};

use super::console::Console;
use super::options::Format;

/// A command that could not be carried out.
#[derive(Debug)]
pub enum Trouble {
    /// It cannot be carried out as it stands: one line of what, one of what to do instead.
    Told {
        /// What the process ends with.
        code: ExitCode,
        /// What is wrong.
        title: String,
        /// What to do instead; may be empty.
        help: String,
    },
    /// Scenario files have mistakes.
    Scenarios(Vec<Diagnostic>),
}

impl Trouble {
    /// The command line asks for what cannot be done.
    pub fn usage(title: impl Into<String>) -> Self {
        Self::Told { code: ExitCode::Usage, title: title.into(), help: String::new() }
    }

    /// A scenario asks for what cannot be done.
    pub fn scenario(title: impl Into<String>) -> Self {
        Self::Told { code: ExitCode::Scenario, title: title.into(), help: String::new() }
    }

    /// Something of ours failed.
    pub fn ours(title: impl Into<String>) -> Self {
        let help = "this is our fault, not yours; please report it".to_owned();
        Self::Told { code: ExitCode::Ours, title: title.into(), help }
    }

    /// Says what to do instead.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        if let Self::Told { help, .. } = &mut self {
            *help = text.into();
        }
        self
    }

    /// What the process ends with.
    pub fn code(&self) -> ExitCode {
        match self {
            Self::Told { code, .. } => *code,
            Self::Scenarios(_) => ExitCode::Scenario,
        }
    }

    /// Tells the user; programs that asked for JSON get it as a document as well.
    pub fn tell(&self, console: &Console) -> ExitCode {
        console.tell(&self.text(console));
        if console.format == Format::Json {
            let document = json::refusal(&self.mistakes(), self.code());
            if let Err(worse) = console.say(&format!("{document}\n")) {
                console.tell(&worse.text(console));
            }
        }
        self.code()
    }

    fn text(&self, console: &Console) -> String {
        match self {
            Self::Scenarios(diagnostics) => mistakes_text(diagnostics, console.error_paint),
            Self::Told { title, help, .. } => {
                let error = console.error_paint.paint(Tone::Bad, "error:");
                let help =
                    if help.is_empty() { String::new() } else { format!("\n  help: {help}") };
                format!("{error} {title}{help}")
            }
        }
    }

    fn mistakes(&self) -> Vec<Mistake> {
        match self {
            Self::Told { title, help, .. } => {
                vec![Mistake { file: None, place: None, title: title.clone(), help: help.clone() }]
            }
            Self::Scenarios(diagnostics) => diagnostics.iter().map(mistake).collect(),
        }
    }
}

/// Every mistake with its lines of the file, and what became of the command.
fn mistakes_text(diagnostics: &[Diagnostic], paint: Paint) -> String {
    let colour = paint == Paint::COLOUR;
    let mut text: String = diagnostics
        .iter()
        .map(|diagnostic| scenario::render(std::slice::from_ref(diagnostic), colour) + "\n")
        .collect();
    let count = match diagnostics.len() {
        1 => "one mistake".to_owned(),
        count => format!("{count} mistakes"),
    };
    text.push_str(&format!("{} {count}; nothing was played", paint.paint(Tone::Bad, "error:")));
    text
}

fn mistake(diagnostic: &Diagnostic) -> Mistake {
    let at = diagnostic.file.position(diagnostic.span.start);
    Mistake {
        file: Some(diagnostic.file.name.to_string()),
        place: Some(Place { line: at.line, column: at.column }),
        title: diagnostic.title.clone(),
        help: diagnostic.help.clone(),
    }
}
