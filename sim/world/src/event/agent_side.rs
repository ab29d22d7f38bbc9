//! The agent processes, and what their cores' effects do.

use std::sync::Arc;

use skep_agent::{Agent, AgentEffect, AgentEvent, FramePipe};
use skep_harness::HarnessEvent;
use skep_trace::{End, Frame, Process, Side, Text, What};

use super::queue::Class;
use super::{Due, EventWorld, Via};

/// What SIGKILL is called on every system that we know.
pub(super) const SIGKILL: i32 = 9;

/// One process of an agent.
pub(super) struct AgentHost {
    pub(super) name: Text,
    pub(super) process: Process,
    /// The process, while it runs.
    pub(super) core: Option<Agent>,
    /// Whose child it is: the harness's place and life.
    pub(super) harness: usize,
    pub(super) life: u32,
    /// It waits for the director.
    pub(super) at_gate: bool,
    /// It no longer reads its standard input.
    pub(super) deaf: bool,
    /// What a reader of its standard output makes of what it writes.
    pub(super) pipe: FramePipe,
}

impl EventWorld {
    pub(super) fn start_agent(&mut self, host: usize) {
        let it = &self.harnesses[host];
        let (harness, life) = (it.life(), it.life);
        let name = &self.stage.players[host].agent;
        let cast = self.stage.agent(name).expect("the stage checked that the agent is there");
        let earlier = self.agents.iter().filter(|agent| agent.name == cast.name).count();
        let number = u32::try_from(earlier + 1).expect("a run has few processes");
        let process = Process { agent: cast.name.clone(), process: number };
        self.recorder.note(What::AgentStarted { agent: process.clone(), harness });
        let place = self.agents.len();
        self.agents.push(AgentHost {
            name: cast.name.clone(),
            process,
            core: Some(Agent::new(cast, number)),
            harness: host,
            life,
            at_gate: false,
            deaf: false,
            pipe: FramePipe::default(),
        });
        if let Some(old) = self.harnesses[host].agent.replace(place) {
            self.end_agent(old, End::Signal { signal: SIGKILL, by_us: false });
        }
        let event = HarnessEvent::AgentStarted;
        self.send(Due::Harness { host, life, via: Via::Pipe(place), event });
    }

    pub(super) fn write_to_agent(&mut self, host: usize, frame: Arc<Frame>) {
        let Some(process) = self.harnesses[host].agent else { return };
        if self.agents[process].deaf {
            let life = self.harnesses[host].life;
            let event = HarnessEvent::AgentEnded;
            self.send(Due::Harness { host, life, via: Via::Pipe(process), event });
            return;
        }
        self.send(Due::Agent { process, event: AgentEvent::Frame(frame) });
    }

    pub(super) fn kill_agent(&mut self, host: usize) {
        if let Some(process) = self.harnesses[host].agent.take() {
            self.end_agent(process, End::Signal { signal: SIGKILL, by_us: false });
        }
    }

    /// Its harness is gone. Its input ends; where the whole group was killed, so does it.
    pub(super) fn orphan(&mut self, process: usize, group: bool) {
        if group {
            self.end_agent(process, End::Signal { signal: SIGKILL, by_us: true });
        } else {
            self.send(Due::Agent { process, event: AgentEvent::StdinClosed });
        }
    }

    fn end_agent(&mut self, process: usize, end: End) {
        if self.agents[process].core.take().is_some() {
            let agent = self.agents[process].process.clone();
            self.recorder.note(What::AgentEnded { agent, end });
        }
    }

    pub(super) fn reach_agent(&mut self, process: usize, event: AgentEvent) {
        let it = &mut self.agents[process];
        if it.core.is_none() {
            return;
        }
        if let AgentEvent::Frame(frame) = &event {
            let frame = frame.clone();
            self.note_frame(process, Side::Harness, &frame);
            if self.crash_on_request(process, &frame) {
                return;
            }
        }
        let mut effects = std::mem::take(&mut self.agent_effects);
        let it = &mut self.agents[process];
        let disk = self.disks.get_mut(&it.name).expect("every agent of the cast has a disk");
        if let Some(core) = it.core.as_mut() {
            core.step(event, disk, &mut effects);
        }
        for effect in effects.drain(..) {
            self.agent_effect(process, effect);
        }
        self.agent_effects = effects;
    }

    fn agent_effect(&mut self, process: usize, effect: AgentEffect) {
        if self.agents[process].core.is_none() {
            return;
        }
        if let Some(frame) = self.agents[process].pipe.read(&effect) {
            self.note_frame(process, Side::Agent, &frame);
            self.tell_harness(process, HarnessEvent::AgentFrame(frame));
        }
        match effect {
            AgentEffect::Send(_) | AgentEffect::SendBytes(_) | AgentEffect::Stderr { .. } => {}
            AgentEffect::SetTimer { timer, after_ms } => {
                let due_ms = self.now_ms() + after_ms;
                let due = Due::Agent { process, event: AgentEvent::Timer(timer) };
                self.queue.push(due_ms, Class::Timer, due);
            }
            AgentEffect::Exit(code) => self.agent_dies(process, End::Exit(code)),
            AgentEffect::Die(signal) => {
                self.agent_dies(process, End::Signal { signal, by_us: false });
            }
            AgentEffect::CloseStdout => self.tell_harness(process, HarnessEvent::AgentEnded),
            AgentEffect::CloseStdin => self.agents[process].deaf = true,
            AgentEffect::AtGate => self.agents[process].at_gate = true,
            AgentEffect::Finding(text) => {
                let actor = self.agents[process].process.to_string().into();
                self.recorder.note(What::Finding { actor, text });
            }
        }
    }

    fn agent_dies(&mut self, process: usize, end: End) {
        self.end_agent(process, end);
        self.tell_harness(process, HarnessEvent::AgentEnded);
    }

    fn tell_harness(&mut self, process: usize, event: HarnessEvent) {
        let it = &self.agents[process];
        let (host, life) = (it.harness, it.life);
        self.send(Due::Harness { host, life, via: Via::Pipe(process), event });
    }

    fn note_frame(&mut self, process: usize, from: Side, frame: &Arc<Frame>) {
        let it = &self.agents[process];
        let harness =
            skep_trace::Life { harness: self.harnesses[it.harness].name.clone(), life: it.life };
        let agent = it.process.clone();
        self.recorder.note(What::Acp { agent, harness, from, frame: frame.clone(), raw: None });
    }

    /// Lets the processes of an agent that wait at a gate go on.
    pub(super) fn release(&mut self, name: &str) {
        for process in 0..self.agents.len() {
            let it = &mut self.agents[process];
            if &*it.name == name && std::mem::take(&mut it.at_gate) {
                self.send(Due::Agent { process, event: AgentEvent::Released });
            }
        }
    }
}
