//! A workload, told as a scenario: what happens, and what must follow from it.
//!
//! - `sheet`: the text while it is written.
//! - `state`: the model that says what must follow.
//! - `turn`: what a mention leads to.
//! - `talk`, `trouble`: the operations, those of people and those that go wrong.

mod sheet;
mod state;
mod talk;
mod trouble;
mod turn;

use std::collections::BTreeSet;

use self::sheet::Sheet;
use self::state::State;
use super::workload::{Choice, Op, Pair, Workload};

/// A workload as a scenario.
#[derive(Clone, Debug)]
pub struct Told {
    /// The scenario; `None` when nothing is left of the workload that makes sense.
    pub text: Option<String>,
    /// What really happens in it, each by one word: `load/hangs`, `crash/temp-written`.
    pub marks: BTreeSet<&'static str>,
}

/// Tells a workload as a scenario of this name.
pub fn tell(workload: &Workload, name: &str) -> Told {
    let mut story = Story::new(workload);
    for op in &workload.ops {
        story.op(op);
    }
    story.finish(name)
}

/// A story while it is told.
struct Story {
    state: State,
    schedule: u8,
    sheet: Sheet,
    marks: BTreeSet<&'static str>,
    /// The agent lets a load wait on purpose, so that time-outs are to be short.
    impatient: bool,
    /// The agent may still keep something back that nobody can say: the story ends here.
    over: bool,
    /// Somebody besides the owner writes.
    guest: bool,
    /// The relay delivers everything late.
    late: bool,
    /// The channels that must be declared.
    channels: BTreeSet<usize>,
}

impl Story {
    fn new(workload: &Workload) -> Self {
        Self {
            state: State::new(workload.ground),
            schedule: workload.schedule,
            sheet: Sheet::default(),
            marks: BTreeSet::new(),
            impatient: false,
            over: false,
            guest: false,
            late: false,
            channels: BTreeSet::new(),
        }
    }

    /// This really happens.
    fn mark(&mut self, what: &'static str) {
        self.marks.insert(what);
    }

    fn op(&mut self, op: &Op) {
        if self.over {
            return;
        }
        match *op {
            Op::Mention { spot, dress, load, turn, relay } => {
                self.mention(spot, dress, load, turn, relay);
            }
            Op::Burst { spots } => self.burst(spots),
            Op::Busy { spot, then } => self.busy(spot, then),
            Op::Rotate { spot, full } => self.rotate(spot, full),
            Op::Leave { channel } => self.leave(channel),
            Op::Switch { spot } => self.switch(spot),
            Op::Restart { harness, down, change } => self.restart(harness, down, change),
            Op::Crash { spot, at } => self.crash(spot, at),
            Op::Disk { damage, spot } => self.disk(damage, spot),
            Op::Full { spot, read_only } => self.full(spot, read_only),
            Op::Idle => self.idle(),
            Op::Overtaken { spot } => self.overtaken(spot),
        }
    }

    fn finish(self, name: &str) -> Told {
        let text = (!self.sheet.is_empty()).then(|| self.text(name));
        Told { text, marks: self.marks }
    }

    fn text(&self, name: &str) -> String {
        let ground = self.state.ground;
        let mut always = Vec::new();
        match ground.choice {
            Choice::Nothing => {}
            Choice::Models => always.push("models \"m1\" \"m2\"".to_owned()),
            Choice::Modes => always.push("modes \"ask\" \"free\"".to_owned()),
            Choice::RefusedModels => {
                always.push("models \"m1\" \"m2\"".to_owned());
                let refusal = "error code=-32602 message=\"model not available\"";
                always.push(format!("on \"session/set_model\" {{ {refusal}; }}"));
            }
        }
        if ground.feed {
            let words = turn::WORDS;
            let update = format!("update kind=\"agent_message_chunk\" text=\"{words}\"");
            always.push(format!("on \"session/prompt\" {{ {update}; }}"));
        }
        let mut cast = Vec::new();
        for (channel, kind) in self.channels.iter().map(|place| state::CHANNELS[*place]) {
            cast.push(format!("channel \"{channel}\" type=\"{kind}\""));
        }
        if self.guest {
            cast.push("person \"guest\"".to_owned());
        }
        if ground.pair == Pair::Neighbours {
            cast.push("relay \"east\"".to_owned());
            cast.push("relay \"west\"".to_owned());
        }
        if ground.pair != Pair::One {
            cast.push("state \"disk\"".to_owned());
        }
        cast.extend(self.state.homes.iter().map(|home| self.harness(home.name)));
        if ground.spread_ms > 0 {
            let (seed, spread) = (self.schedule, ground.spread_ms);
            cast.insert(0, format!("schedule seed={seed} spread=\"{spread}ms\""));
        }
        self.sheet.text(name, "agent \"a\"", &always, &cast)
    }

    fn harness(&self, name: &str) -> String {
        let ground = self.state.ground;
        let mut words = format!("harness \"{name}\" agent=\"a\"");
        let mut say = |word: &str| {
            words.push(' ');
            words.push_str(word);
        };
        match ground.pair {
            Pair::One => {}
            Pair::Twins => say("state=\"disk\""),
            Pair::Neighbours => {
                let relay = if name == "first" { "east" } else { "west" };
                say(&format!("relay=\"{relay}\" state=\"disk\" key=\"bot\""));
            }
            Pair::Strangers => {
                say("state=\"disk\"");
                say(&format!("key=\"{name}\""));
            }
        }
        let settings = [
            (ground.threads, "session-scope=\"thread\""),
            (ground.tools, "mcp=#true"),
            (ground.feed, "observer=#true"),
            (ground.choice == Choice::Models, "model=\"m1\""),
            (ground.choice == Choice::Modes, "permission-mode=\"ask\""),
            (ground.choice == Choice::RefusedModels, "model=\"m2\""),
            (ground.heartbeat, "heartbeat=\"30s\""),
            (self.impatient, "load-timeout=\"10s\" load-cap=\"15s\""),
        ];
        settings.iter().filter(|(wanted, _)| *wanted).for_each(|(_, word)| say(word));
        if ground.max_turns > 0 {
            say(&format!("max-turns={}", ground.max_turns));
        }
        words
    }
}
