//! Hand-made runs that the report tests look at: a trace in a few lines, judged by hand.

use std::ops::Range;
use std::sync::Arc;

use skep::outcome::{Line, RunOutcome, StepOutline, TestOutcome, WorldName};
use skep_check::verdict::{Blame, Cause, Judgement, Subject, Verdict};
use skep_trace::{
    End, Entry, EntryKind, Frame, Hex32, Life, NameKind, Process, Receipt, Record, Settled, Side,
    Snapshot, Text, Trace, What,
};

const RESTART: &str = r#"// A restart must resume the conversation, never fork it.
scenario "restart-resumes-the-session" {
    cites "block/buzz#5342" "managoat/fountain#774"
    rules "H-1" "H-3"

    agent "a" load-session=#true
    harness "h" agent="a"

    step "first mention opens a session" {
        mention channel="general"
        expect "session/new" count=1 bind="s1"
        expect turn="done"
    }
    step "after a restart it is loaded, not replaced" {
        restart "h"
        mention channel="general"
        expect "session/load" count=1 session="s1"
        never "session/new"
    }
}
"#;

const TIMEOUT: &str = r#"scenario "load-timeout-keeps-the-receipt" {
    agent "a" load-session=#true {
        on "session/load" { hang }
    }
    harness "h" agent="a" load-timeout="10s"
    given receipt channel="general" session="s1"

    step "the turn fails retryably" {
        mention channel="general"
        expect "session/load" count=1 session="s1"
        expect turn="failed" retryable=#true
        expect receipt channel="general" session="s1"
    }
}
"#;

/// A trace in the making: each call adds a record at an instant.
#[derive(Default)]
pub(crate) struct Tape {
    records: Vec<Record>,
    next_id: i64,
}

impl Tape {
    pub(crate) fn push(&mut self, at_ms: u64, what: What) -> usize {
        self.records.push(Record { at_ms, what });
        self.records.len() - 1
    }

    pub(crate) fn named(&mut self, kind: NameKind, name: &str, id: &str) {
        self.push(0, What::Named { kind, name: name.into(), id: id.into() });
    }

    pub(crate) fn step(&mut self, at_ms: u64, index: usize, title: &str) {
        self.push(at_ms, What::Step { index, title: title.into() });
    }

    pub(crate) fn act(&mut self, at_ms: u64, index: usize, text: &str) -> usize {
        self.push(at_ms, What::Act { index, text: text.into() })
    }

    /// A line of the harness's `life`th process to the agent process it started.
    pub(crate) fn ask(&mut self, at_ms: u64, number: u32, method: &str, params: &str) -> usize {
        let id = self.next_id;
        self.next_id += 1;
        let line = format!(r#"{{"id":{id},"method":"{method}","params":{params}}}"#);
        self.frame(at_ms, number, Side::Harness, &line)
    }

    /// The answer to the newest request.
    pub(crate) fn answer(&mut self, at_ms: u64, number: u32, outcome: &str) -> usize {
        let line = format!(r#"{{"id":{},{outcome}}}"#, self.next_id - 1);
        self.frame(at_ms, number, Side::Agent, &line)
    }

    pub(crate) fn update(&mut self, at_ms: u64, number: u32, kind: &str, text: &str) -> usize {
        let line = format!(
            r#"{{"method":"session/update","params":{{"sessionId":"a-S1-x9Qz","update":{{"sessionUpdate":"{kind}","content":{{"type":"text","text":"{text}"}}}}}}}}"#
        );
        self.frame(at_ms, number, Side::Agent, &line)
    }

    fn frame(&mut self, at_ms: u64, number: u32, from: Side, line: &str) -> usize {
        let frame = Arc::new(Frame::from_line(line));
        let (agent, harness) = (process(number), life(number));
        self.push(at_ms, What::Acp { agent, harness, from, frame, raw: None })
    }

    pub(crate) fn trace(self) -> Trace {
        Trace { records: self.records, ..Trace::default() }
    }
}

pub(crate) fn life(number: u32) -> Life {
    Life { harness: "h".into(), life: number }
}

pub(crate) fn process(number: u32) -> Process {
    Process { agent: "a".into(), process: number }
}

const CHANNEL: &str = "6f1c0a52-0000-4000-8000-000000000001";

fn setup(session: Option<&str>) -> String {
    let session = session.map_or(String::new(), |id| format!(r#""sessionId":"{id}","#));
    format!(r#"{{{session}"cwd":"/w","mcpServers":[],"_meta":{{"channelId":"{CHANNEL}"}}}}"#)
}

fn prompt(session: &str, text: &str) -> String {
    format!(r#"{{"sessionId":"{session}","prompt":[{{"type":"text","text":"{text}"}}]}}"#)
}

const CAPABLE: &str = r#""result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}"#;
const SESSION: &str = "a-S1-x9Qz";

/// A life from its start to the initialized agent.
fn start(tape: &mut Tape, at_ms: u64, number: u32) -> usize {
    let started = tape.push(at_ms, What::HarnessStarted(life(number)));
    tape.push(at_ms, What::AgentStarted { agent: process(number), harness: life(number) });
    tape.ask(at_ms, number, "initialize", "{}");
    tape.answer(at_ms + 2, number, CAPABLE);
    tape.push(at_ms + 3, What::HarnessReady(life(number)));
    started
}

/// The harness opens a second session where it should have loaded the first.
pub(crate) fn forked() -> TestOutcome {
    let mut tape = Tape::default();
    tape.named(NameKind::Channel, "general", CHANNEL);
    start(&mut tape, 0, 1);
    tape.step(5, 0, "first mention opens a session");
    tape.act(5, 0, "mention channel=\"general\"");
    tape.ask(8, 1, "session/new", &setup(None));
    let opened = tape.answer(10, 1, &format!(r#""result":{{"sessionId":"{SESSION}"}}"#));
    tape.ask(11, 1, "session/prompt", &prompt(SESSION, "hello"));
    tape.update(12, 1, "agent_message_chunk", "reply to hello");
    tape.answer(13, 1, r#""result":{"stopReason":"end_turn"}"#);
    tape.push(14, What::Settled { step: 0, how: Settled::Drained });
    tape.step(14, 1, "after a restart it is loaded, not replaced");
    tape.act(14, 0, "restart \"h\"");
    let killed = tape.push(14, What::HarnessEnded(life(1), End::Signal { signal: 9, by_us: true }));
    let started = start(&mut tape, 1000, 2);
    tape.act(1003, 1, "mention channel=\"general\"");
    let again = tape.ask(1004, 2, "session/new", &setup(None));
    tape.answer(1006, 2, r#""result":{"sessionId":"a-S2-k3Ld"}"#);
    let prompted = tape.ask(1007, 2, "session/prompt", &prompt("a-S2-k3Ld", "and now?"));
    tape.answer(1009, 2, r#""result":{"stopReason":"end_turn"}"#);
    tape.push(1010, What::Settled { step: 1, how: Settled::Drained });
    let causes = [
        (opened, "s1 opened here"),
        (killed, "h#1 killed"),
        (started, "h#2 started"),
        (again, "the agent still holds s1"),
    ];
    let mut test = sample("restart-resumes-the-session", "restart.kdl", RESTART, tape.trace());
    test.bound = vec![("s1".into(), SESSION.into())];
    test.cites = vec!["block/buzz#5342".into(), "managoat/fountain#774".into()];
    test.rules = vec!["H-1".into(), "H-3".into()];
    test.verdict = Verdict::Violated;
    test.judgements = vec![
        held(0, 0),
        judgement(
            Subject::Expectation { step: 1, index: 1 },
            "the harness opened a session it already had",
            "violated once, at 1.004s",
            Some(again),
            &causes,
        ),
        judgement(
            Subject::Expectation { step: 1, index: 0 },
            "the session was never loaded",
            "expected once, seen never",
            None,
            &[],
        ),
        judgement(
            Subject::Invariant("H-21"),
            "a prompt went to another session than the scope's",
            "prompted here",
            Some(prompted),
            &[],
        ),
    ];
    test
}

/// The harness forgets a receipt because nobody answered the load.
pub(crate) fn forgotten() -> TestOutcome {
    let mut tape = Tape::default();
    tape.named(NameKind::Channel, "general", CHANNEL);
    tape.named(NameKind::Session, "s1", SESSION);
    start(&mut tape, 0, 1);
    tape.push(3, receipts(&[SESSION]));
    tape.step(5, 0, "the turn fails retryably");
    tape.act(5, 0, "mention channel=\"general\"");
    let load = tape.ask(8, 1, "session/load", &setup(Some(SESSION)));
    for _ in 0..4 {
        tape.update(9, 1, "user_message_chunk", "earlier question");
    }
    let killed = tape.push(
        10_008,
        What::AgentEnded { agent: process(1), end: End::Signal { signal: 9, by_us: false } },
    );
    let stored = tape.push(10_010, receipts(&[]));
    tape.push(10_010, What::Settled { step: 0, how: Settled::Drained });
    let mut test = sample("load-timeout-keeps-the-receipt", "load.kdl", TIMEOUT, tape.trace());
    test.rules = vec!["H-6".into()];
    test.cites = vec!["block/buzz#6088".into()];
    test.verdict = Verdict::Violated;
    test.mutant = skep_mutant::Mutant::parse("harness/timeout-is-definitive");
    test.judgements = vec![judgement(
        Subject::Expectation { step: 0, index: 2 },
        "the receipt is gone",
        "no receipt of general, at 10.010s",
        Some(stored),
        &[(load, "nobody answered this"), (killed, "the load's time was over")],
    )];
    test
}

/// A rule breaks that no line of the scenario asked for, and a file shows it.
pub(crate) fn readable_by_all() -> TestOutcome {
    let mut tape = Tape::default();
    tape.named(NameKind::Channel, "general", CHANNEL);
    start(&mut tape, 0, 1);
    tape.push(3, disk(0o600, "{\n  \"version\": 1,\n  \"scopes\": {}\n}\n"));
    tape.step(5, 0, "first mention opens a session");
    tape.act(5, 0, "mention channel=\"general\"");
    tape.ask(8, 1, "session/new", &setup(None));
    tape.answer(10, 1, &format!(r#""result":{{"sessionId":"{SESSION}"}}"#));
    let seen = tape.push(
        14,
        disk(0o644, "{\n  \"version\": 1,\n  \"scopes\": {\"general\": \"a-S1-x9Qz\"}\n}\n"),
    );
    tape.push(14, What::Settled { step: 0, how: Settled::Drained });
    let mut test = sample("restart-resumes-the-session", "restart.kdl", RESTART, tape.trace());
    test.verdict = Verdict::Violated;
    test.world = WorldName::SimEvent;
    test.judgements = vec![judgement(
        Subject::Invariant("H-90"),
        "the store file can be read by others",
        "sessions-1.json has mode 0644",
        Some(seen),
        &[],
    )];
    test
}

/// A bound was reached before anything could be seen.
pub(crate) fn unseen() -> TestOutcome {
    let mut tape = Tape::default();
    start(&mut tape, 0, 1);
    tape.step(5, 0, "first mention opens a session");
    tape.act(5, 0, "mention channel=\"general\"");
    let bound = tape
        .push(60_000, What::Settled { step: 0, how: Settled::Bound("the end of a turn".into()) });
    let mut test = sample("restart-resumes-the-session", "restart.kdl", RESTART, tape.trace());
    test.verdict = Verdict::Inconclusive;
    test.judgements = vec![Judgement {
        verdict: Verdict::Inconclusive,
        blame: None,
        ..judgement(
            Subject::Expectation { step: 0, index: 1 },
            "the turn never ended",
            "still awaited when the bound was reached, at 60.000s",
            Some(bound),
            &[],
        )
    }];
    test
}

/// A test that does not apply.
pub(crate) fn unfit() -> TestOutcome {
    let mut test = sample("leases-refuse-the-second-owner", "overlap.kdl", "", Trace::default());
    test.verdict = Verdict::NotApplicable;
    test.reason = Some("needs overlap=lease, which the profile `reference` has not".into());
    test
}

/// A test that holds.
pub(crate) fn fine(name: &str, file: &str) -> TestOutcome {
    sample(name, file, "", Trace::default())
}

/// A whole run with one of each.
pub(crate) fn run() -> RunOutcome {
    RunOutcome {
        world: WorldName::SimWire,
        known: Vec::new(),
        tests: vec![
            fine("a-restart-without-a-message-leaves-the-store", "restart.kdl"),
            forked(),
            fine("rotation[kind=idle,then=restart]", "rotation.kdl"),
            forgotten(),
            unfit(),
        ],
        interrupted: false,
        wall_ms: 812,
    }
}

fn receipts(sessions: &[&str]) -> What {
    let receipts = sessions.iter().map(|session| Receipt {
        relay: "ws://relay".into(),
        pubkey: Hex32([1; 32]),
        channel: CHANNEL.into(),
        root: None,
        session: Text::from(*session),
        model: None,
        mode: None,
    });
    What::Receipts { state: "h".into(), receipts: receipts.collect() }
}

fn disk(mode: u32, text: &str) -> What {
    let entry = Entry { kind: EntryKind::file(text.as_bytes()), mode };
    let snapshot = Snapshot { entries: [("sessions-1.json".into(), entry)].into() };
    What::Disk { state: "h".into(), snapshot: Arc::new(snapshot), baseline: false }
}

pub(crate) fn judgement(
    subject: Subject,
    title: &str,
    label: &str,
    record: Option<usize>,
    causes: &[(usize, &str)],
) -> Judgement {
    let cause = |(record, label): &(usize, &str)| Cause { record: *record, label: (*label).into() };
    Judgement {
        subject,
        verdict: Verdict::Violated,
        blame: Some(Blame::Harness),
        title: title.into(),
        label: label.into(),
        record,
        causes: causes.iter().map(cause).collect(),
    }
}

fn held(step: usize, index: usize) -> Judgement {
    Judgement {
        verdict: Verdict::Held,
        blame: None,
        ..judgement(Subject::Expectation { step, index }, "", "seen once", None, &[])
    }
}

fn sample(name: &str, file: &str, source: &str, trace: Trace) -> TestOutcome {
    TestOutcome {
        test: name.into(),
        file: file.into(),
        builtin: false,
        source: source.into(),
        span: span(source, "scenario"),
        steps: outline(source),
        cites: Vec::new(),
        rules: Vec::new(),
        world: WorldName::SimWire,
        seed: 7,
        mutant: None,
        verdict: Verdict::Held,
        reason: None,
        known: None,
        judgements: Vec::new(),
        trace,
        silences: Vec::new(),
        remarks: Vec::new(),
        bound: Vec::new(),
        again: Vec::new(),
        wall_ms: 3,
    }
}

/// Reads just enough of a scenario to point at its lines: the fixtures are laid out one verb a
/// line, and need no parser.
fn outline(source: &str) -> Vec<StepOutline> {
    let mut steps: Vec<StepOutline> = Vec::new();
    let mut offset = 0;
    for line in source.split_inclusive('\n') {
        let words = line.trim();
        let start = offset + (line.len() - line.trim_start().len());
        let span = start..start + words.len();
        offset += line.len();
        let mut parts = words.split('"');
        let (verb, named) = (parts.next().unwrap_or("").trim(), parts.next().unwrap_or(""));
        match (verb, steps.last_mut()) {
            ("step", _) => {
                steps.push(StepOutline { title: named.into(), span, ..StepOutline::default() });
            }
            ("expect" | "never", Some(step)) => {
                let code = format!("{verb}/{}", named.replace('/', "-")).into();
                let method = Some(named.into());
                step.expectations.push(Line { span, code, method });
            }
            (verb, Some(step)) if verb.starts_with("expect ") => {
                let word = verb.trim_start_matches("expect ");
                let word = word.split([' ', '=']).next().unwrap_or("");
                let code = format!("expect/{word}").into();
                step.expectations.push(Line { span, code, method: None });
            }
            ("mention channel=" | "restart", Some(step)) => step.acts.push(span),
            _ => {}
        }
    }
    steps
}

fn span(source: &str, named: &str) -> Range<usize> {
    source.find(named).map_or(0..0, |start| start..start + named.len())
}
