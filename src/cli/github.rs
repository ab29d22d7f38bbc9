//! What a run does by itself inside GitHub Actions: annotations on standard output, and the page
//! of the step's summary.

use std::path::PathBuf;

use super::options::Format;
use super::targets::{Kind, Target};

/// The reports that GitHub is given without being asked for, as far as the user asks for none of
/// the kind. Programs that read standard output are not disturbed.
pub fn reports(asked: &[Target], format: Format) -> Vec<Target> {
    reports_of(&Surroundings::from_environment(), asked, format)
}

/// What the environment says.
#[derive(Clone, Debug, Default)]
struct Surroundings {
    in_actions: bool,
    summary: Option<PathBuf>,
}

impl Surroundings {
    #[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
    fn from_environment() -> Self {
        let in_actions = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
        Self { in_actions, summary: summary.map(PathBuf::from) }
    }
}

fn reports_of(surroundings: &Surroundings, asked: &[Target], format: Format) -> Vec<Target> {
    if !surroundings.in_actions {
        return Vec::new();
    }
    let lacks = |kind: Kind| !asked.iter().any(|target| target.kind() == kind);
    let annotations = (format == Format::Text && lacks(Kind::Github))
        .then(|| Target::new(Kind::Github, PathBuf::from("-")));
    let summary = surroundings.summary.as_ref().filter(|_| lacks(Kind::Markdown));
    let summary = summary.map(|path| Target::new(Kind::Markdown, path.clone()).appending());
    annotations.into_iter().chain(summary).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(in_actions: bool, asked: &[Target], format: Format) -> Vec<String> {
        let summary = Some(PathBuf::from("/run/summary.md"));
        let targets = reports_of(&Surroundings { in_actions, summary }, asked, format);
        targets.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn actions_get_annotations_and_a_summary_and_nobody_else_does() {
        assert_eq!(given(true, &[], Format::Text), ["github=-", "markdown=/run/summary.md"]);
        assert!(given(false, &[], Format::Text).is_empty());
        assert_eq!(given(true, &[], Format::Json), ["markdown=/run/summary.md"]);
    }

    #[test]
    fn what_the_user_asks_for_stands() {
        let asked: Target = "markdown=mine.md".parse().unwrap();
        assert_eq!(given(true, &[asked], Format::Text), ["github=-"]);
    }
}
