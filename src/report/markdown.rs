//! A page for the summary of a CI run: what did not hold, each story behind a fold.

use std::fmt::Write as _;

use skep_check::verdict::Verdict;

use super::wire::moment::mark;
use super::{Paint, story, terminal};
use crate::outcome::{RunOutcome, TestOutcome};

/// The run as Markdown.
pub fn page(outcome: &RunOutcome, timeless: bool) -> String {
    let summary = terminal::summary(outcome, timeless, Paint::PLAIN);
    let mut page = format!("## skep: {}\n\n{summary}", outcome.verdict());
    let tests = outcome.told();
    let told =
        |test: &&TestOutcome| matches!(test.verdict, Verdict::Violated | Verdict::Inconclusive);
    let (known, told): (Vec<&TestOutcome>, Vec<_>) =
        tests.iter().copied().filter(told).partition(|test| test.known.is_some());
    for entry in outcome.untrue() {
        let complaint = format!("{}; {}", entry.complaint(), entry.advice());
        writeln!(page, "\n- ✗ {}: {}", escape(&entry.file), escape(&complaint))
            .expect("a string takes all");
    }
    let unsteady = outcome.unsteady();
    for test in told {
        if let Some((violated, runs)) = unsteady.get(&test.test) {
            let name = escape(&test.test);
            writeln!(page, "\n- unsteady: {name}, {violated} of {runs} violated")
                .expect("a string takes all");
        }
        page.push_str(&fold(test));
    }
    page.push_str(&list("known failures", &known, |test| test.known.as_deref()));
    let unfit = |test: &&TestOutcome| test.verdict == Verdict::NotApplicable;
    let unfit: Vec<&TestOutcome> = tests.iter().copied().filter(unfit).collect();
    page.push_str(&list("not applicable", &unfit, |test| test.reason.as_deref()));
    page
}

/// Tests and a reason for each, behind a fold; nothing where there are none.
fn list(title: &str, tests: &[&TestOutcome], why: fn(&TestOutcome) -> Option<&str>) -> String {
    if tests.is_empty() {
        return String::new();
    }
    let mut text = format!("\n<details><summary>{title}</summary>\n\n");
    for test in tests {
        let reason = why(test).unwrap_or("no reason given");
        writeln!(text, "- {}: {}", escape(&test.test), escape(reason)).expect("a string takes all");
    }
    text + "\n</details>\n"
}

fn fold(test: &TestOutcome) -> String {
    let story = story::story(test, Paint::PLAIN);
    let judged = test.judged(test.verdict);
    let title = match judged.first() {
        Some(judgement) => judgement.title.as_str(),
        None => test.reason.as_deref().unwrap_or(""),
    };
    let fence = fence(&story);
    format!(
        "\n<details><summary>{} <b>{}</b>: {}</summary>\n\n{fence}text\n{story}{fence}\n\n</details>\n",
        mark(test.verdict),
        escape_html(&test.test),
        escape_html(title),
    )
}

/// A fence that no line of the text can close.
fn fence(text: &str) -> String {
    let runs = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(runs.max(2) + 1)
}

/// What Markdown or HTML would act upon.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in escape_html(text).chars() {
        if matches!(letter, '*' | '_' | '`' | '[' | ']' | '\\' | '|') {
            safe.push('\\');
        }
        safe.push(letter);
    }
    safe
}

/// What HTML would act upon; inside its tags Markdown acts upon nothing.
fn escape_html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fence("a ```` b ` c"), "`````");
        assert_eq!(fence(""), "```");
    }

    #[test]
    fn markup_in_a_name_is_text() {
        assert_eq!(escape("<b>_x_</b>"), "&lt;b&gt;\\_x\\_&lt;/b&gt;");
    }
}
