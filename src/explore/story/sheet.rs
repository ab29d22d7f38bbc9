//! The text of a scenario while it is written.

use std::fmt::Write as _;

/// Lines of a scenario, by the place that they have in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheet {
    /// What the agent does at the nth request of a method.
    rules: Vec<String>,
    steps: Vec<StepText>,
    /// Acts that wait for the next step.
    pending: Vec<String>,
}

/// One step.
#[derive(Clone, Debug, Default)]
pub(super) struct StepText {
    title: String,
    acts: Vec<String>,
    expectations: Vec<String>,
}

impl StepText {
    /// A step without lines.
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// An act.
    pub(super) fn act(&mut self, line: impl Into<String>) {
        self.acts.push(line.into());
    }

    /// An expectation.
    pub(super) fn expect(&mut self, line: impl Into<String>) {
        self.expectations.push(line.into());
    }
}

impl Sheet {
    /// What the agent does at the nth request of a method.
    pub(super) fn rule(&mut self, method: &str, nth: u32, actions: &[&str]) {
        let actions = actions.join("; ");
        self.rules.push(format!("on \"{method}\" nth={nth} {{ {actions}; }}"));
    }

    /// An act that comes before those of the next step.
    pub(super) fn before_the_next(&mut self, act: impl Into<String>) {
        self.pending.push(act.into());
    }

    /// A step; one that expects nothing lends its acts to the next.
    pub(super) fn step(&mut self, mut step: StepText) {
        let mut acts = std::mem::take(&mut self.pending);
        acts.append(&mut step.acts);
        if step.expectations.is_empty() {
            self.pending = acts;
        } else {
            self.steps.push(StepText { acts, ..step });
        }
    }

    /// The whole scenario. `always` is what the agent does besides the rules, `cast` what stands
    /// below it.
    pub(super) fn text(
        &self,
        name: &str,
        agent: &str,
        always: &[String],
        cast: &[String],
    ) -> String {
        let mut text = format!("scenario \"{name}\" {{\n");
        let inner: Vec<&String> = self.rules.iter().chain(always).collect();
        if inner.is_empty() {
            line(&mut text, 1, agent);
        } else {
            line(&mut text, 1, &format!("{agent} {{"));
            for rule in inner {
                line(&mut text, 2, rule);
            }
            line(&mut text, 1, "}");
        }
        for it in cast {
            line(&mut text, 1, it);
        }
        for step in &self.steps {
            line(&mut text, 1, &format!("step \"{}\" {{", step.title));
            for it in step.acts.iter().chain(&step.expectations) {
                line(&mut text, 2, it);
            }
            line(&mut text, 1, "}");
        }
        text.push_str("}\n");
        text
    }

    /// Nothing happens in it.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

fn line(text: &mut String, depth: usize, words: &str) {
    let _infallible = writeln!(text, "{:1$}{words}", "", depth * 4);
}
