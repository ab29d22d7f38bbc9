//! The loop: what comes in, one step, what goes out.

use std::collections::VecDeque;
use std::sync::Arc;

use skep_trace::{Frame, Text};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use super::between::{Between, Passed};
use super::clock::Clock;
use super::keep::Keep;
use super::lines::{Front, Lines, MOST_LINE_BYTES};
use super::pipes::{Lifeline, Pipes, Sink, Source, Stream, StreamSink};
use super::seen::{Ended, Seen, Watch};
use crate::core::{Agent, AgentEffect, AgentEvent};
use crate::schema::SchemaCheck;

/// The exit code of an agent that its harness wrote too long a line, or whose disk fails.
const TROUBLE: i32 = 74;

/// An agent with its disk and its watcher, ready to run. Dropping the running future kills it:
/// its streams close and nothing more of it happens.
pub struct Shell<K, W> {
    agent: Agent,
    keep: K,
    watch: W,
    released: Arc<Notify>,
    check: Option<SchemaCheck>,
    clock: Clock,
    lines: Lines,
    between: Option<Box<dyn Between + Send>>,
    /// Lines for the agent that whoever stands between let pass.
    ahead: VecDeque<String>,
}

/// The agent is at its end.
struct Over(Ended);

impl<K: Keep, W: Watch> Shell<K, W> {
    /// An agent over its disk, watched.
    pub fn new(agent: Agent, keep: K, watch: W) -> Self {
        Self {
            agent,
            keep,
            watch,
            released: Arc::new(Notify::new()),
            check: None,
            clock: Clock::new(1),
            lines: Lines::default(),
            between: None,
            ahead: VecDeque::new(),
        }
    }

    /// Also holds what the harness sends against the official schema, and tells what it finds.
    #[must_use]
    pub fn checking_schema(mut self) -> Self {
        self.check = Some(SchemaCheck::new());
        self
    }

    /// Lets somebody stand between the agent and its harness.
    #[must_use]
    pub fn through(mut self, between: Option<Box<dyn Between + Send>>) -> Self {
        self.between = between;
        self
    }

    /// Makes every wait of the script so many times shorter, as its harness's are.
    #[must_use]
    pub fn hastened(mut self, haste: u32) -> Self {
        self.clock = Clock::new(haste);
        self
    }

    /// Each `notify_one` lets the request go on that has waited longest at a gate.
    #[must_use]
    pub fn released_by(mut self, released: Arc<Notify>) -> Self {
        self.released = released;
        self
    }

    /// Runs the agent over byte streams of this process until it ends. Nobody need read its
    /// output for it to read its input.
    pub async fn run(
        self,
        stdin: impl AsyncRead + Unpin,
        stdout: impl AsyncWrite + Unpin,
    ) -> Ended {
        let (source, sink) = (Some(Stream(stdin)), StreamSink(Some(stdout)));
        let pipes = Pipes { source, sink, lifeline: Lifeline(None) };
        self.run_over(pipes).await
    }

    pub(crate) async fn run_over<R: Source, S: Sink>(mut self, mut pipes: Pipes<R, S>) -> Ended {
        loop {
            if let Err(Over(ended)) = self.turn(&mut pipes).await {
                // Whoever is killed while it is held at its end has ended all the same.
                let _ = self.tell(&pipes, Seen::Ended(ended)).await;
                pipes.sink.end(ended).await;
                return ended;
            }
        }
    }

    /// Waits for one event and does all that it sets off.
    async fn turn<R: Source, S: Sink>(&mut self, pipes: &mut Pipes<R, S>) -> Result<(), Over> {
        let event = self.event(pipes).await?;
        let mut effects = Vec::new();
        if let Err(error) = self.keep.step(&mut self.agent, event, &mut effects) {
            let text = format!("the agent's disk failed: {error}");
            self.tell(pipes, Seen::Finding(text.into())).await?;
            return Err(Over(Ended::Exit(TROUBLE)));
        }
        for effect in effects {
            self.perform(pipes, effect).await?;
        }
        Ok(())
    }

    async fn event<R: Source, S: Sink>(
        &mut self,
        pipes: &mut Pipes<R, S>,
    ) -> Result<AgentEvent, Over> {
        loop {
            if let Some(line) = self.ahead.pop_front() {
                return self.heard(pipes, Front::Line(line)).await;
            }
            if pipes.source.is_some()
                && let Some(front) = self.lines.take()
            {
                match front {
                    Front::Line(line) if self.between.is_some() => self.divert(pipes, line).await?,
                    front => return self.heard(pipes, front).await,
                }
                continue;
            }
            let more = self.lines.wants_more();
            self.watch.idle(self.clock.left());
            tokio::select! {
                // The order is fixed: two runs of one seed must not differ.
                biased;
                () = pipes.lifeline.cut() => return Err(Over(Ended::Gone)),
                () = self.released.notified() => return Ok(AgentEvent::Released),
                timer = self.clock.next() => return Ok(AgentEvent::Timer(timer)),
                read = read(&mut pipes.source, &mut self.lines), if more => read?,
            }
        }
    }

    /// Hands a line of the harness to whoever stands between.
    async fn divert<R: Source, S: Sink>(
        &mut self,
        pipes: &mut Pipes<R, S>,
        line: String,
    ) -> Result<(), Over> {
        let Some(between) = &mut self.between else { return Ok(()) };
        let passed = between.harness_says(line);
        let received = 1 - count(&passed.to_agent);
        let sent = count(&passed.to_harness);
        self.pass(pipes, passed, Seen::Diverted { received, sent }).await
    }

    /// Carries on what passed.
    async fn pass<R: Source, S: Sink>(
        &mut self,
        pipes: &mut Pipes<R, S>,
        passed: Passed,
        diverted: Seen,
    ) -> Result<(), Over> {
        if diverted != (Seen::Diverted { received: 0, sent: 0 }) {
            self.tell(pipes, diverted).await?;
        }
        self.ahead.extend(passed.to_agent);
        for line in passed.to_harness {
            self.write(pipes, (line + "\n").as_bytes()).await?;
        }
        Ok(())
    }

    async fn heard<R: Source, S>(
        &mut self,
        pipes: &mut Pipes<R, S>,
        front: Front,
    ) -> Result<AgentEvent, Over> {
        match front {
            Front::Line(line) => {
                let frame = Arc::new(Frame::from_line(&line));
                let found = self.found(&line);
                let raw = Text::from(line);
                self.tell(pipes, Seen::Received { frame: Arc::clone(&frame), raw }).await?;
                for text in found {
                    self.tell(pipes, Seen::Finding(text)).await?;
                }
                Ok(AgentEvent::Frame(frame))
            }
            Front::TooLong => {
                let text = format!("a line of more than {MOST_LINE_BYTES} bytes");
                self.tell(pipes, Seen::Finding(text.into())).await?;
                Err(Over(Ended::Exit(TROUBLE)))
            }
            Front::End => {
                self.tell(pipes, Seen::StdinEnded).await?;
                pipes.source = None;
                Ok(AgentEvent::StdinClosed)
            }
        }
    }

    /// What the schema says to a line. One that is no JSON the agent itself remarks on.
    fn found(&mut self, line: &str) -> Vec<Text> {
        let Some(check) = &mut self.check else { return Vec::new() };
        serde_json::from_str(line).map_or_else(|_| Vec::new(), |message| check.received(&message))
    }

    async fn perform<R: Source, S: Sink>(
        &mut self,
        pipes: &mut Pipes<R, S>,
        effect: AgentEffect,
    ) -> Result<(), Over> {
        match effect {
            AgentEffect::Send(frame) => {
                if let Some(check) = &mut self.check {
                    check.sent(&frame);
                }
                self.tell(pipes, Seen::Sending(Arc::clone(&frame))).await?;
                let line = frame.to_line();
                let passed = match &mut self.between {
                    Some(between) => between.agent_says(line),
                    None => Passed::to_harness(line),
                };
                let received = -count(&passed.to_agent);
                let sent = count(&passed.to_harness) - 1;
                self.pass(pipes, passed, Seen::Diverted { received, sent }).await?;
            }
            AgentEffect::SendBytes(bytes) => {
                self.tell(pipes, Seen::SendingBytes(bytes.clone())).await?;
                self.write(pipes, &bytes).await?;
            }
            AgentEffect::SetTimer { timer, after_ms } => self.clock.set(timer, after_ms),
            AgentEffect::Exit(code) => return Err(Over(Ended::Exit(code))),
            AgentEffect::Die(signal) => return Err(Over(Ended::Signal(signal))),
            AgentEffect::CloseStdout => {
                self.tell(pipes, Seen::ClosingStdout).await?;
                pipes.sink.close().await;
            }
            AgentEffect::CloseStdin => {
                self.tell(pipes, Seen::ClosingStdin).await?;
                pipes.sink.close_stdin().await;
                pipes.source = None;
            }
            AgentEffect::Stderr { bytes } => {
                self.tell(pipes, Seen::Stderr { bytes }).await?;
                pipes.sink.stderr(bytes).await;
            }
            AgentEffect::AtGate => self.tell(pipes, Seen::AtGate).await?,
            AgentEffect::Finding(text) => self.tell(pipes, Seen::Finding(text)).await?,
        }
        Ok(())
    }

    /// Tells the watcher and waits for it; a process that is killed meanwhile waits no longer.
    async fn tell<R: Source, S>(&mut self, pipes: &Pipes<R, S>, seen: Seen) -> Result<(), Over> {
        tokio::select! {
            biased;
            () = pipes.lifeline.cut() => Err(Over(Ended::Gone)),
            () = self.watch.seen(seen) => Ok(()),
        }
    }

    /// Writes, and goes on reading meanwhile. A reader that is gone ends the agent, quietly.
    async fn write<R: Source, S: Sink>(
        &mut self,
        pipes: &mut Pipes<R, S>,
        bytes: &[u8],
    ) -> Result<(), Over> {
        let Pipes { source, sink, lifeline } = pipes;
        let mut write = std::pin::pin!(sink.write(bytes));
        loop {
            let more = self.lines.wants_more();
            tokio::select! {
                biased;
                () = lifeline.cut() => return Err(Over(Ended::Gone)),
                written = &mut write => return written.map_err(|_| Over(Ended::Exit(0))),
                read = read(source, &mut self.lines), if more => read?,
            }
        }
    }
}

fn count(lines: &[String]) -> i64 {
    i64::try_from(lines.len()).unwrap_or(i64::MAX)
}

/// Takes in what has come. A stream that fails has ended.
async fn read<R: Source>(source: &mut Option<R>, lines: &mut Lines) -> Result<(), Over> {
    let Some(source) = source else { return std::future::pending().await };
    if source.read(lines.room()).await.unwrap_or(0) == 0 {
        lines.end();
    }
    Ok(())
}
