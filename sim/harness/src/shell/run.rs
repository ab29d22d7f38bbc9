//! The loop: what happens, one step, what is to be done.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use skep_store::Volume;
use skep_trace::Note;
use tokio::sync::Notify;

use super::calls::Calls;
use super::clock::Clock;
use super::keeper::{Keeper, Kept};
use super::pipe::Pipe;
use super::ports::{Agents, Network, Ports, Watch};
use super::status::{StatusHandle, TalkStatus};
use super::wire::Wire;
use crate::config::HarnessConfig;
use crate::effect::HarnessEffect;
use crate::event::HarnessEvent;
use crate::harness::Harness;

/// Runs a harness until it ends, and says with which exit code. Dropping the future kills it.
pub async fn run<N, V, A, W>(config: HarnessConfig, ports: Ports<N, V, A, W>) -> i32
where
    N: Network + 'static,
    V: Volume + 'static,
    A: Agents,
    W: Watch,
{
    let mut shell = Shell::new(config, ports);
    shell.pending.push_back(HarnessEvent::Started);
    loop {
        let event = shell.event().await;
        if let Some(code) = shell.step(event) {
            shell.end(code).await;
            return code;
        }
    }
}

struct Shell<N, V, A: Agents, W> {
    core: Harness,
    network: Rc<N>,
    agents: A,
    watch: W,
    relay: skep_trace::Text,
    terminate: Arc<Notify>,
    status: StatusHandle,
    clock: Clock,
    keeper: Keeper<V>,
    calls: Calls<N>,
    wire: Option<Wire>,
    wires: u64,
    seed: u64,
    pipe: Option<Pipe<A>>,
    /// What the shell itself has to tell the core.
    pending: VecDeque<HarnessEvent>,
    effects: Vec<HarnessEffect>,
    ready: bool,
    steps: u64,
    talk: TalkStatus,
}

impl<N, V, A, W> Shell<N, V, A, W>
where
    N: Network + 'static,
    V: Volume + 'static,
    A: Agents,
    W: Watch,
{
    fn new(config: HarnessConfig, ports: Ports<N, V, A, W>) -> Self {
        let network = Rc::new(ports.network);
        let relay = config.relay_url.clone();
        let remembers = config.settings.resume;
        Self {
            clock: Clock::new(ports.epoch_ms, config.haste),
            keeper: Keeper::new(ports.volume, ports.store, ports.epoch_ms, remembers),
            calls: Calls::new(network.clone(), relay.clone(), ports.keys, ports.seed),
            core: Harness::new(config),
            network,
            agents: ports.agents,
            watch: ports.watch,
            relay,
            terminate: ports.terminate,
            status: ports.status,
            wire: None,
            wires: 0,
            seed: ports.seed,
            pipe: None,
            pending: VecDeque::new(),
            effects: Vec::new(),
            ready: false,
            steps: 0,
            talk: TalkStatus::default(),
        }
    }

    /// Waits for the next thing that the core is to know.
    async fn event(&mut self) -> HarnessEvent {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return event;
            }
            let now_ms = self.clock.real_ms();
            tokio::select! {
                // The order is fixed: two runs of one seed must not differ. What ends things
                // comes first, timers last: what has happened already happened before them.
                biased;
                () = self.terminate.notified() => return HarnessEvent::Terminate,
                kept = self.keeper.next(now_ms) => {
                    if let Some(event) = self.kept(kept) {
                        return event;
                    }
                    self.tell(None);
                }
                event = next(&mut self.pipe, async |pipe| pipe.next().await) => match event {
                    Some(event) => return event,
                    None => self.tell(None),
                },
                event = next(&mut self.wire, async |wire| wire.next().await) => return event,
                event = self.calls.next(now_ms) => return event,
                timer = self.clock.next() => return HarnessEvent::Timer(timer),
            }
        }
    }

    fn kept(&mut self, kept: Kept) -> Option<HarnessEvent> {
        for warning in kept.warnings {
            self.watch.note(&Note::StoreTrouble(warning));
        }
        kept.answer.map(|(ticket, answer)| HarnessEvent::Stored(ticket, answer))
    }

    /// One step of the core and all that it wants done; says with which code it ended, if it did.
    fn step(&mut self, event: HarnessEvent) -> Option<i32> {
        self.steps += 1;
        self.count(&event);
        let mut effects = std::mem::take(&mut self.effects);
        self.core.step(self.clock.core_ms(), event, &mut effects);
        let mut exit = None;
        for effect in effects.drain(..) {
            if let HarnessEffect::Exit(code) = effect {
                exit = Some(code);
                break;
            }
            self.carry_out(effect);
        }
        effects.clear();
        self.effects = effects;
        self.tell(exit);
        exit
    }

    fn count(&mut self, event: &HarnessEvent) {
        match event {
            HarnessEvent::Connected => {
                let connections = self.talk.connections + 1;
                self.talk = TalkStatus { connections, open: true, said: 0, heard: 0 };
            }
            HarnessEvent::Disconnected => self.talk.open = false,
            HarnessEvent::Relay(_) => self.talk.heard += 1,
            _ => {}
        }
    }

    fn carry_out(&mut self, effect: HarnessEffect) {
        match effect {
            HarnessEffect::Connect => {
                self.wires += 1;
                let nth = self.seed.wrapping_add(self.wires);
                self.wire = Some(Wire::open(self.network.clone(), self.relay.clone(), nth));
            }
            HarnessEffect::Disconnect => self.hang_up(),
            HarnessEffect::Send(message) => {
                if let Some(wire) = &mut self.wire {
                    self.talk.said += 1;
                    wire.say(message);
                }
            }
            HarnessEffect::Http(ticket, call) => {
                self.calls.make(ticket, call, self.clock.real_ms());
            }
            HarnessEffect::StartAgent => self.start_agent(),
            HarnessEffect::ToAgent(frame) => {
                if let Some(pipe) = &mut self.pipe {
                    self.watch.to_agent(&frame);
                    pipe.write(&frame);
                }
            }
            HarnessEffect::KillAgent => self.kill_agent(),
            HarnessEffect::SetTimer { timer, after_ms, idle } => {
                self.clock.set(timer, after_ms, idle);
            }
            HarnessEffect::CancelTimer(timer) => self.clock.cancel(timer),
            HarnessEffect::Store(ticket, op) => self.keeper.ask(ticket, op),
            HarnessEffect::Note(note) => self.watch.note(&note),
            HarnessEffect::Log(line) => self.watch.log(&line),
            // The caller ends the run with it.
            HarnessEffect::Exit(_) => {}
        }
    }

    fn start_agent(&mut self) {
        match Pipe::start(&mut self.agents) {
            Ok(pipe) => {
                self.pipe = Some(pipe);
                self.pending.push_back(HarnessEvent::AgentStarted);
            }
            Err(error) => {
                self.watch.log(&format!("the agent could not be started: {error}").into());
                self.pending.push_back(HarnessEvent::AgentEnded);
            }
        }
    }

    fn kill_agent(&mut self) {
        let of_agent = |event: &HarnessEvent| {
            matches!(event, HarnessEvent::AgentStarted | HarnessEvent::AgentEnded)
        };
        self.pending.retain(|event| !of_agent(event));
        if let Some(mut pipe) = self.pipe.take() {
            pipe.kill();
        }
    }

    fn tell(&mut self, exit: Option<i32>) {
        if self.core.ready() && !self.ready {
            self.ready = true;
            self.watch.ready();
        }
        let (timers, next_timer_ms) = self.clock.busy();
        let working = !self.pending.is_empty()
            || self.keeper.is_busy()
            || self.calls.is_busy()
            || self.pipe.as_ref().is_some_and(Pipe::is_writing)
            || self.wire.as_ref().is_some_and(Wire::is_opening);
        self.status.update(|status| {
            status.ready = self.ready;
            status.held = self.core.held();
            status.working = working;
            status.at_rest = self.core.at_rest();
            status.timers = timers;
            status.next_timer_ms = next_timer_ms;
            status.steps = self.steps;
            status.talk = self.talk;
            status.agent = self.pipe.as_ref().and_then(Pipe::status);
            status.exit = exit;
        });
        if !working && exit.is_none() {
            self.watch.rest(&self.status.get());
        }
    }

    /// The connection is given up in mid-run: nothing of it matters any more, not even a goodbye.
    fn hang_up(&mut self) {
        if !self.core.ended() {
            self.wire = None;
            self.talk.open = false;
        }
    }

    /// The last of the process: what it said is written out, nothing that it started lives on.
    async fn end(mut self, code: i32) {
        self.kill_agent();
        if let Some(wire) = self.wire.take() {
            wire.close().await;
        }
        self.status.update(|status| status.exit = Some(code));
    }
}

/// The next event of a part that is there; one that is not has none.
async fn next<T, E>(part: &mut Option<T>, ask: impl AsyncFnOnce(&mut T) -> E) -> E {
    match part {
        Some(part) => ask(part).await,
        None => std::future::pending().await,
    }
}
