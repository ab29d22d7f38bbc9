//! Expectations in plain words: for progress lines, and for reports where nothing went wrong.

use std::fmt;

use crate::expectation::{
    Expectation, TurnOutcome, Wanted, WantedCall, WantedFile, WantedReceipt, WantedRelay,
    WantedTurn,
};
use skep_trace::Text;

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.never {
            f.write_str("never ")?;
        }
        let counted = |count: &dyn fmt::Display| match self.never {
            true => String::new(),
            false => format!(" {count}"),
        };
        match &self.wanted {
            Wanted::Call(call) => write!(f, "{call}{}", counted(&call.count)),
            Wanted::Turn(turn) => turn.fmt(f),
            Wanted::Receipt(receipt) => write!(f, "{receipt}{}", counted(&receipt.count)),
            Wanted::File(file) => write!(f, "{file}{}", counted(&file.count)),
            Wanted::Relay(event) => write!(f, "{event}{}", counted(&event.count)),
            Wanted::Exit { harness, code } => {
                write!(f, "{} exits", harness.as_deref().unwrap_or("the harness"))?;
                code.map_or(Ok(()), |code| write!(f, " with code {code}"))
            }
            Wanted::StoreTrouble { harness } => {
                let who = harness.as_deref().unwrap_or("the harness");
                write!(f, "{who} reports trouble with its store")
            }
            Wanted::AgentStarted { agent, count } => {
                let who = agent.as_deref().unwrap_or("an agent");
                write!(f, "{who} is started{}", counted(count))
            }
            Wanted::Order(lines) => {
                f.write_str("in this order:")?;
                lines.iter().enumerate().try_for_each(|(place, line)| {
                    write!(f, "{} {line}", if place > 0 { "," } else { "" })
                })
            }
        }
    }
}

impl fmt::Display for WantedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.method)?;
        part(f, " on ", &self.session)?;
        part(f, " on another session than ", &self.not_session)?;
        part(f, " by ", &self.harness)?;
        part(f, " to ", &self.agent)?;
        part(f, " for the message ", &self.message)?;
        part(f, " that holds ", &self.text)?;
        self.params.iter().try_for_each(|(path, value)| write!(f, " with {path}={value}"))
    }
}

impl fmt::Display for WantedTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "the turn of {message}")?,
            None => f.write_str("the turn")?,
        }
        match self.outcome {
            TurnOutcome::Done => f.write_str(" ends well"),
            TurnOutcome::Failed { retryable: None } => f.write_str(" fails"),
            TurnOutcome::Failed { retryable: Some(true) } => {
                f.write_str(" fails and can be retried")
            }
            TurnOutcome::Failed { retryable: Some(false) } => f.write_str(" fails for good"),
            TurnOutcome::Stopped(reason) => write!(f, " ends with `{reason}`"),
        }
    }
}

impl fmt::Display for WantedReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a receipt")?;
        part(f, " of ", &self.harness)?;
        part(f, " for ", &self.channel)?;
        part(f, " in the thread ", &self.root)?;
        part(f, " that names ", &self.session)?;
        part(f, " with model ", &self.model)?;
        part(f, " with mode ", &self.mode)
    }
}

impl fmt::Display for WantedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "a file {path}")?,
            None => f.write_str("a store file")?,
        }
        part(f, " in ", &self.state)?;
        part(f, " that holds ", &self.text)?;
        if let Some(mode) = self.mode {
            write!(f, " with mode {mode:04o}")?;
        }
        match self.symlink {
            Some(true) => f.write_str(" that is a symbolic link")?,
            Some(false) => f.write_str(" that is no symbolic link")?,
            None => {}
        }
        f.write_str(if self.unchanged { ", unchanged" } else { "" })
    }
}

impl fmt::Display for WantedRelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a published event")?;
        if let Some(kind) = self.kind {
            write!(f, " of kind {kind}")?;
        }
        part(f, " in ", &self.channel)?;
        part(f, " by ", &self.harness)?;
        part(f, " that holds ", &self.text)
    }
}

fn part(f: &mut fmt::Formatter<'_>, before: &str, value: &Option<Text>) -> fmt::Result {
    value.as_ref().map_or(Ok(()), |value| write!(f, "{before}{value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expectation::Count;

    fn call(method: &str) -> WantedCall {
        WantedCall { method: method.into(), count: Count::exactly(1), ..WantedCall::default() }
    }

    #[test]
    fn expectations_read_as_sentences() {
        let wanted = WantedCall { session: Some("s1".into()), ..call("session/load") };
        let expected = Expectation { never: false, wanted: Wanted::Call(wanted.clone()) };
        assert_eq!(expected.to_string(), "`session/load` on s1 once");
        let never = Expectation { never: true, wanted: Wanted::Call(wanted) };
        assert_eq!(never.to_string(), "never `session/load` on s1");
        let lines = vec![call("session/load"), call("session/prompt")];
        let order = Expectation { never: false, wanted: Wanted::Order(lines) };
        assert_eq!(order.to_string(), "in this order: `session/load`, `session/prompt`");
    }
}
