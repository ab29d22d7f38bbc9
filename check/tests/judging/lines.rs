//! Expectations as a scenario would write them.

use skep_check::{
    Count, Expectation, TurnOutcome, Wanted, WantedCall, WantedFile, WantedReceipt, WantedRelay,
    WantedTurn,
};

/// `expect …`.
pub(crate) fn expect(wanted: impl Into<Wanted>) -> Expectation {
    Expectation { never: false, wanted: wanted.into() }
}

/// `never …`.
pub(crate) fn never(wanted: impl Into<Wanted>) -> Expectation {
    Expectation { never: true, wanted: wanted.into() }
}

/// A call, as a line that can be narrowed down.
#[derive(Clone)]
pub(crate) struct Line(WantedCall);

impl From<Line> for Wanted {
    fn from(line: Line) -> Self {
        Self::Call(line.0)
    }
}

/// A call of this method, at least once.
pub(crate) fn call(method: &str) -> Line {
    Line(WantedCall { method: method.into(), ..WantedCall::default() })
}

impl Line {
    pub(crate) fn times(mut self, count: u32) -> Self {
        self.0.count = Count::exactly(count);
        self
    }

    pub(crate) fn on(mut self, session: &str) -> Self {
        self.0.session = Some(session.into());
        self
    }

    pub(crate) fn not_on(mut self, session: &str) -> Self {
        self.0.not_session = Some(session.into());
        self
    }

    pub(crate) fn bind(mut self, name: &str) -> Self {
        self.0.bind = Some(name.into());
        self
    }

    pub(crate) fn by(mut self, harness: &str) -> Self {
        self.0.harness = Some(harness.into());
        self
    }

    pub(crate) fn for_message(mut self, label: &str) -> Self {
        self.0.message = Some(label.into());
        self
    }

    pub(crate) fn saying(mut self, text: &str) -> Self {
        self.0.text = Some(text.into());
        self
    }

    pub(crate) fn with(mut self, path: &str, value: &str) -> Self {
        self.0.params.push((path.into(), value.into()));
        self
    }
}

/// Calls in order.
pub(crate) fn order(lines: impl IntoIterator<Item = Line>) -> Wanted {
    Wanted::Order(lines.into_iter().map(|line| line.0).collect())
}

/// Every mention of the step ends well.
pub(crate) fn done() -> Wanted {
    Wanted::Turn(WantedTurn { message: None, outcome: TurnOutcome::Done })
}

/// Every mention of the step fails.
pub(crate) fn failed(retryable: Option<bool>) -> Wanted {
    Wanted::Turn(WantedTurn { message: None, outcome: TurnOutcome::Failed { retryable } })
}

/// The turn of one message ends so.
pub(crate) fn turn_of(label: &str, outcome: TurnOutcome) -> Wanted {
    Wanted::Turn(WantedTurn { message: Some(label.into()), outcome })
}

/// A receipt of a channel, for this session if one is named.
pub(crate) fn receipt(channel: &str, session: Option<&str>) -> Wanted {
    Wanted::Receipt(WantedReceipt {
        channel: Some(channel.into()),
        session: session.map(Into::into),
        ..WantedReceipt::default()
    })
}

/// Any store file, to be narrowed down.
pub(crate) fn file(narrow: impl FnOnce(&mut WantedFile)) -> Wanted {
    let mut wanted = WantedFile::default();
    narrow(&mut wanted);
    Wanted::File(wanted)
}

/// Any published event, to be narrowed down.
pub(crate) fn event(kind: u16, narrow: impl FnOnce(&mut WantedRelay)) -> Wanted {
    let mut wanted = WantedRelay { kind: Some(kind), ..WantedRelay::default() };
    narrow(&mut wanted);
    Wanted::Relay(wanted)
}
