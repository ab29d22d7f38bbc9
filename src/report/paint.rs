//! The few colours of a report, by what they mean.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};
use skep_check::verdict::Verdict;

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    colour: bool,
}

/// What a piece of text is, so that one place decides what that looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// What is broken.
    Bad,
    /// What holds.
    Good,
    /// What could not be seen.
    Doubt,
    /// What led there.
    Cause,
    /// What the eye should find first.
    Strong,
    /// What is there to be looked up, not read.
    Faint,
}

impl Paint {
    /// No colour at all: pipes, files, snapshots.
    pub const PLAIN: Self = Self { colour: false };
    /// Colour, for a terminal.
    pub const COLOUR: Self = Self { colour: true };

    /// Colour or none.
    pub fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// The text in that tone.
    pub fn paint(self, tone: Tone, text: impl Display) -> String {
        if !self.colour {
            return text.to_string();
        }
        let style = tone.style();
        format!("{style}{text}{style:#}")
    }
}

impl Tone {
    /// The tone of a verdict.
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Held => Self::Good,
            Verdict::NotApplicable => Self::Faint,
            Verdict::Inconclusive => Self::Doubt,
            Verdict::Violated => Self::Bad,
        }
    }

    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Bad => colour(AnsiColor::Red).bold(),
            Self::Good => colour(AnsiColor::Green),
            Self::Doubt => colour(AnsiColor::Yellow),
            Self::Cause => colour(AnsiColor::Cyan),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_as_it_is_and_colour_ends_where_it_began() {
        assert_eq!(Paint::PLAIN.paint(Tone::Bad, "x"), "x");
        let painted = Paint::COLOUR.paint(Tone::Good, "x");
        assert_eq!(painted, "\u{1b}[32mx\u{1b}[0m");
    }
}
