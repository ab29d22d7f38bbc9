//! What goes wrong: restarts, kills, damaged files, full disks.

use super::Story;
use super::sheet::StepText;
use super::state::{Kept, Live};
use super::turn::Heard;
use crate::explore::workload::{
    Change, Choice, Damage, Death, Down, Dress, LoadFault, Pair, RelayTrouble, Spot, TurnFault,
};

impl Story {
    /// A harness starts again, and reads its store without changing it.
    pub(super) fn restart(&mut self, harness: u8, down: Down, change: Change) {
        let home = self.state.home(harness);
        let name = self.state.homes[home].name;
        let mut step = StepText::new(format!("{name} starts again"));
        self.change(home, change, &mut step);
        let alone = self.state.homes.len() == 1;
        match down {
            Down::Stopped => {
                step.act(format!("stop \"{name}\""));
                step.act("run-for \"10s\"");
                step.act(format!("start \"{name}\""));
                self.mark("restart/stop");
            }
            Down::Long if alone && !self.state.ground.heartbeat => {
                step.act(format!("restart \"{name}\" downtime=\"960h\""));
                self.mark("restart/long");
            }
            _ => {
                step.act(format!("restart \"{name}\""));
                self.mark("restart/kill");
            }
        }
        self.state.respawn(home);
        self.state.switched.clear();
        if self.state.file && alone && !self.state.ground.heartbeat {
            step.expect("expect file unchanged=#true count=1");
        }
        self.receipts(&mut step);
        self.sheet.step(step);
    }

    fn change(&mut self, home: usize, change: Change, step: &mut StepText) {
        let name = self.state.homes[home].name;
        match change {
            Change::None => {}
            Change::Choice => {
                let (setting, values) = match self.state.ground.choice {
                    Choice::Models => ("model", ["m1", "m2"]),
                    Choice::Modes => ("permission-mode", ["ask", "free"]),
                    Choice::Nothing | Choice::RefusedModels => return,
                };
                let it = &mut self.state.homes[home];
                it.choice = 1 - it.choice;
                let value = values[usize::from(it.choice)];
                step.act(format!("set \"{name}\" {setting}=\"{value}\""));
                self.mark("change/choice");
            }
            Change::Title => {
                step.act(format!("set \"{name}\" title=\"Bee\""));
                self.mark("change/title");
            }
            Change::Resume => {
                let it = &mut self.state.homes[home];
                it.resume = !it.resume;
                step.act(format!("set \"{name}\" resume=#{}", it.resume));
                self.mark("change/resume");
            }
            Change::LoadSession => {
                self.state.loads = !self.state.loads;
                step.act(format!("set-agent \"a\" load-session=#{}", self.state.loads));
                self.mark("change/load-session");
            }
        }
    }

    /// A harness is killed at a point of a mention, and answers it in its next life.
    pub(super) fn crash(&mut self, spot: Spot, at: Death) {
        let ground = self.state.ground;
        if ground.heartbeat || ground.max_turns > 0 {
            return;
        }
        let home = self.state.home(spot.harness);
        if !self.state.homes[home].resume || !self.state.loads {
            return;
        }
        let key = self.would_be_in(spot);
        let live = self.state.homes[home].live.get(&key).cloned();
        let Ok(loadable) = self.state.loadable(home, &key) else { return };
        if live == Some(Live::Unsure) {
            return;
        }
        let (point, opens) = match (live, loadable) {
            (Some(_), _) => {
                (if at == Death::Answered { "prompt-answered" } else { "prompt-sent" }, false)
            }
            (None, Some(_)) => (
                match at {
                    Death::Early => "load-sent",
                    Death::TempWritten | Death::Renamed | Death::Stored => "mid-replay",
                    Death::Answered => "load-answered",
                    Death::PromptSent | Death::PowerLoss => "prompt-sent",
                },
                false,
            ),
            (None, None) => (
                match at {
                    Death::Early => "new-sent",
                    Death::Answered => "new-answered",
                    Death::TempWritten => "temp-written",
                    Death::Renamed => "renamed",
                    Death::Stored => "stored",
                    Death::PromptSent | Death::PowerLoss => "prompt-sent",
                },
                true,
            ),
        };
        let power = at == Death::PowerLoss && self.state.homes.len() == 1;
        self.mark(crash_mark(point, power));
        let (words, heard) = self.said(spot, Dress::Plain);
        self.die(&heard, words, point, power);
        self.come_back(&heard, point, opens);
    }

    fn die(&mut self, heard: &Heard, words: String, point: &str, power: bool) {
        let name = self.state.homes[heard.home].name;
        let mut step = StepText::new(format!("{name} is killed at {point}"));
        // Only this message is to come again in the next life.
        step.act("run-for \"10s\"");
        let power = if power { " power=#true" } else { "" };
        step.act(format!("crash \"{name}\" at=\"{point}\"{power}"));
        step.act(words);
        step.expect(match point {
            "load-sent" | "mid-replay" | "load-answered" => {
                "expect \"session/load\" count=1".to_owned()
            }
            "prompt-sent" | "prompt-answered" => {
                format!("expect \"session/prompt\" count=1 message=\"{}\"", heard.label)
            }
            _ => "expect \"session/new\" count=1".to_owned(),
        });
        for ((_, key), kept) in &self.state.kept {
            let other = *key != heard.key && self.state.homes.len() == 1;
            if let (true, Kept::Session { name, .. }) = (other, kept) {
                step.expect(format!("expect receipt {} session=\"{name}\" count=1", key.words()));
            }
        }
        self.sheet.step(step);
    }

    fn come_back(&mut self, heard: &Heard, point: &str, opens: bool) {
        let name = self.state.homes[heard.home].name;
        let mut step = StepText::new(format!("{name} comes back"));
        step.act(format!("start \"{name}\""));
        step.expect(format!("expect turn=\"done\" message=\"{}\"", heard.label));
        self.state.respawn(heard.home);
        let session = self.state.session();
        let stored = matches!(point, "renamed" | "stored" | "prompt-sent" | "prompt-answered");
        let loads =
            self.state.homes[heard.home].loads && self.state.ground.choice != Choice::RefusedModels;
        // What a twin wrote meanwhile may have taken its place.
        let alone = self.state.homes.len() == 1;
        if alone && (!opens || (stored && loads)) {
            // What was stored is loaded, and nothing is opened beside it.
            step.expect(format!("never \"session/new\" message=\"{}\"", heard.label));
        }
        step.expect(format!(
            "expect \"session/prompt\" at-least=1 message=\"{}\" bind=\"{session}\"",
            heard.label
        ));
        step.expect("never file path=\"*tmp*\"");
        self.sheet.step(step);
        self.state.lose_count();
        self.state.file = true;
        let choice = self.state.homes[heard.home].choice;
        let live = Live::Session { name: session.clone(), turns: 1 };
        self.state.homes[heard.home].live.insert(heard.key.clone(), live);
        // What was renamed and never synced was never acknowledged: the power may still take it.
        let kept = match point {
            "renamed" => Kept::Unsure,
            _ => Kept::Session { name: session, choice },
        };
        self.state.keep(heard.home, &heard.key, Some(kept));
    }

    /// Something happens to the file while everybody is down, and costs no turn.
    pub(super) fn disk(&mut self, damage: Damage, spot: Spot) {
        let whole = self.state.homes.iter().all(|home| home.resume);
        if !self.state.file || !whole || self.state.homes.len() > 1 || self.state.ground.heartbeat {
            return;
        }
        if damage == Damage::Chmod {
            if self.state.loads {
                self.loosened(spot);
            }
            return;
        }
        let (mark, line, trouble) = match damage {
            Damage::Corrupt => ("disk/corrupt", "disk corrupt", true),
            Damage::Truncate => ("disk/truncate", "disk truncate bytes=5", true),
            Damage::NulTail => ("disk/nul-tail", "disk nul-tail bytes=512", true),
            Damage::Garbage => ("disk/garbage", "disk append-garbage", true),
            Damage::Delete | Damage::Chmod => ("disk/delete", "disk delete", false),
            Damage::Newer => ("disk/newer", "disk write text=#\"{\"version\": 99}\"#", true),
            Damage::Symlink => ("disk/symlink", "disk symlink", true),
            Damage::Precious => ("disk/precious", "disk write text=\"precious, and cut o\"", true),
        };
        self.mark(mark);
        let mut step = StepText::new("the store is damaged, and costs no turn");
        step.act(line);
        step.act(format!("restart \"{}\"", self.state.homes[0].name));
        self.state.respawn(0);
        match damage {
            // One bad entry does not lose the good ones (S-31): which are good is not for us to say.
            Damage::Corrupt | Damage::Truncate | Damage::NulTail | Damage::Garbage => {
                self.state.kept.values_mut().for_each(|kept| *kept = Kept::Unsure);
            }
            _ => self.state.kept.clear(),
        }
        self.state.file = damage != Damage::Delete;
        let refused = matches!(damage, Damage::Newer | Damage::Symlink);
        // A store that is left alone remembers nothing.
        self.state.homes[0].resume = !refused;
        let (words, heard) = self.said(spot, Dress::Plain);
        step.act(words);
        self.turn(&heard, &mut step);
        if trouble {
            step.expect("expect store-trouble");
        }
        match damage {
            Damage::Newer => step.expect("expect file text=#\"{\"version\": 99}\"# count=1"),
            Damage::Symlink => step.expect("expect file symlink=#true count=1"),
            Damage::Precious => step.expect("expect file path=\"*\" text=\"precious\""),
            _ => {}
        }
        self.sheet.step(step);
        if refused {
            self.made_good();
        }
    }

    /// What the store refuses is taken away, and it begins afresh.
    fn made_good(&mut self) {
        self.sheet.before_the_next("disk delete");
        self.sheet.before_the_next(format!("restart \"{}\"", self.state.homes[0].name));
        self.state.respawn(0);
        self.state.kept.clear();
        self.state.homes[0].resume = true;
        self.state.file = false;
    }

    /// The file is readable by all, until it is written again.
    fn loosened(&mut self, spot: Spot) {
        self.sheet.before_the_next("disk chmod mode=\"0644\"");
        let before = self.state.kept.clone();
        self.mark("disk/chmod");
        self.mention(spot, Dress::Plain, LoadFault::None, TurnFault::None, RelayTrouble::None);
        if before == self.state.kept {
            return;
        }
        let mut step = StepText::new("what was written is tight again");
        step.act("run-for \"1s\"");
        step.expect("expect file mode=\"0600\" count=1");
        self.sheet.step(step);
    }

    /// A mention while nothing can be written.
    pub(super) fn full(&mut self, spot: Spot, read_only: bool) {
        let ground = self.state.ground;
        let plain = ground.pair == Pair::One && !ground.heartbeat && ground.max_turns == 0;
        let plain = plain && self.state.homes[0].loads;
        if !plain || !self.state.file || !self.state.homes[0].resume {
            return;
        }
        let what = if read_only { "read-only" } else { "fill" };
        let key = self.would_be_in(spot);
        if self.state.homes[0].live.contains_key(&key) || self.state.kept(0, &key).is_some() {
            return;
        }
        let (words, heard) = self.said(spot, Dress::Plain);
        self.mark(if read_only { "disk/read-only" } else { "disk/full" });
        let mut step = StepText::new("nothing can be written, and the turn is served");
        step.act(format!("disk {what}"));
        step.act(words);
        self.state.homes[0].resume = false;
        self.turn(&heard, &mut step);
        self.state.homes[0].resume = true;
        step.expect("expect store-trouble");
        self.receipts(&mut step);
        self.sheet.step(step);
        self.sheet.before_the_next(format!("disk {what} #false"));
        self.state.keep(0, &heard.key, Some(Kept::Unsure));
    }

    /// Time passes, and with it heartbeats.
    pub(super) fn idle(&mut self) {
        let mut step = StepText::new("time passes");
        step.act("run-for \"40s\"");
        if self.state.ground.heartbeat {
            step.expect("expect \"session/prompt\" at-least=1");
            step.expect("never \"session/new\" { param \"_meta.channelId\" \"*\"; }");
        }
        self.mark("idle");
        self.receipts(&mut step);
        self.sheet.step(step);
    }

    /// One twin's load is refused when the other has long opened a session in its place.
    pub(super) fn overtaken(&mut self, spot: Spot) {
        let ground = self.state.ground;
        let twins = ground.pair == Pair::Twins && ground.max_turns == 0;
        let able = self.state.loads && self.state.homes.iter().all(|home| home.resume);
        if !twins || !able || self.state.next("session/load").is_none() {
            return;
        }
        // Both remember a conversation, and neither has it open.
        let spot = Spot { thread: if ground.threads { 1 } else { 0 }, harness: 0, ..spot };
        self.mention(spot, Dress::Plain, LoadFault::None, TurnFault::None, RelayTrouble::None);
        self.sheet.before_the_next("restart \"old\" \"new\"");
        self.state.respawn(0);
        self.state.respawn(1);
        self.state.switched.clear();
        let (Some(load), Some(new)) =
            (self.state.next("session/load"), self.state.next("session/new"))
        else {
            return;
        };
        let key = self.would_be_in(spot);
        let Ok(Some(session)) = self.state.loadable(0, &key) else { return };
        if self.state.loadable(1, &key) != Ok(Some(session.clone())) {
            return;
        }
        self.mark("overtaken");
        let gone = "error code=-32002 message=\"Resource not found\"";
        self.sheet.rule("session/load", load, &["gate", gone]);
        self.sheet.rule("session/load", load + 1, &[gone]);
        self.sheet.rule("session/new", new + 1, &["hang"]);
        let mut step = StepText::new("the old one asks for the session and waits");
        let (words, _) = self.said(spot, Dress::Plain);
        step.act(words);
        step.expect(format!(
            "expect \"session/load\" count=1 session=\"{session}\" harness=\"old\""
        ));
        self.sheet.step(step);
        let mut step = StepText::new("the new one is refused at once, and opens another");
        let (words, heard) = self.said(Spot { harness: 1, ..spot }, Dress::Plain);
        step.act(words);
        step.expect(format!(
            "expect \"session/load\" count=1 session=\"{session}\" harness=\"new\""
        ));
        self.state.keep(1, &key, None);
        self.turn(&Heard { alone: false, ..heard }, &mut step);
        self.sheet.step(step);
        let mut step = StepText::new("the late refusal does not cost the new receipt");
        step.act("release \"a\"");
        self.receipt(1, &key, &mut step);
        self.sheet.step(step);
        // Whether the old one asked for a new session, which hangs, is its own affair.
        self.over = true;
    }
}

fn crash_mark(point: &str, power: bool) -> &'static str {
    match (point, power) {
        (_, true) => "crash/power-loss",
        ("new-sent", _) => "crash/new-sent",
        ("new-answered", _) => "crash/new-answered",
        ("temp-written", _) => "crash/temp-written",
        ("renamed", _) => "crash/renamed",
        ("stored", _) => "crash/stored",
        ("load-sent", _) => "crash/load-sent",
        ("mid-replay", _) => "crash/mid-replay",
        ("load-answered", _) => "crash/load-answered",
        ("prompt-sent", _) => "crash/prompt-sent",
        _ => "crash/prompt-answered",
    }
}
