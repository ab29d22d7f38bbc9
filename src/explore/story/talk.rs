//! What people do: they write, rotate, cancel, switch the model, and take the agent out of a
//! channel.

use std::collections::BTreeMap;

use super::Story;
use super::sheet::StepText;
use super::state::{CHANNELS, Key, Live, channel};
use super::turn::Heard;
use crate::explore::workload::{
    Choice, Dress, LoadFault, Meanwhile, Pair, RelayTrouble, Spot, TurnFault,
};

impl Story {
    /// The line of a mention, and who hears it in which scope.
    pub(super) fn said(&mut self, spot: Spot, dress: Dress) -> (String, Heard) {
        let label = self.state.message();
        let home = self.state.home(spot.harness);
        let thread = self.state.thread(spot);
        let channel = channel(spot);
        if CHANNELS[channel].1 != "stream" {
            self.channels.insert(channel);
        }
        let mut words = format!("mention channel=\"{}\" as=\"{label}\"", CHANNELS[channel].0);
        words.push_str(&self.state.meant(home, "to"));
        let mut marked = thread.clone();
        if let Some(thread) = &thread {
            words.push_str(&format!(" root=\"{thread}\""));
            let (how, mark) = match dress {
                Dress::UpperRoot => (" spelling=\"upper\"".to_owned(), "dress/upper"),
                Dress::MixedRoot => (" spelling=\"mixed\"".to_owned(), "dress/mixed"),
                Dress::RootOnly => (" form=\"root-only\"".to_owned(), "dress/root-only"),
                Dress::ReplyOnly => (" form=\"reply-only\"".to_owned(), "dress/reply-only"),
                Dress::Unmarked => (" form=\"unmarked\"".to_owned(), "dress/unmarked"),
                Dress::Positional => (" form=\"positional\"".to_owned(), "dress/positional"),
                Dress::Nested => match self.last_in(channel, thread) {
                    Some(message) => (format!(" reply-to=\"{message}\""), "dress/nested"),
                    None => (String::new(), "dress/plain"),
                },
                _ => (String::new(), "dress/plain"),
            };
            if matches!(dress, Dress::Unmarked | Dress::Positional) {
                marked = None;
            }
            words.push_str(&how);
            self.mark(mark);
        }
        if dress == Dress::GuestsCommand && CHANNELS[channel].1 != "dm" {
            words.push_str(" by=\"guest\" text=\"!rotate\"");
            self.guest = true;
            self.mark("dress/guests-command");
        }
        let key = self.state.key(spot, marked.as_deref(), &label);
        let place = Key { channel, root: marked };
        self.state.last.insert(place, label.clone());
        let heard = Heard {
            home,
            key,
            label,
            load: LoadFault::None,
            turn: TurnFault::None,
            alone: !self.state.ground.heartbeat,
            goes_on: false,
        };
        (words, heard)
    }

    /// The scope that a plain message would belong to, before it is said. One at the top of a
    /// channel begins a scope of its own under the thread policy, of which nothing is known yet.
    pub(super) fn would_be_in(&self, spot: Spot) -> Key {
        self.state.key(spot, self.state.thread(spot).as_deref(), "")
    }

    fn last_in(&self, channel: usize, thread: &str) -> Option<String> {
        self.state.last.get(&Key { channel, root: Some(thread.to_owned()) }).cloned()
    }

    pub(super) fn mention(
        &mut self,
        spot: Spot,
        dress: Dress,
        load: LoadFault,
        turn: TurnFault,
        relay: RelayTrouble,
    ) {
        let mut step = StepText::new(format!("a mention in {}", CHANNELS[channel(spot)].0));
        self.relay(relay, channel(spot), &mut step);
        let (words, heard) = self.said(spot, dress);
        if dress == Dress::GuestsCommand {
            // Two equal messages of one second are one and the same event.
            step.act("run-for \"2s\"");
        }
        step.act(words);
        self.turn(&Heard { load, turn, ..heard }, &mut step);
        self.sheet.step(step);
        match relay {
            // What is said next is not to be refused as well.
            RelayTrouble::RateLimit => self.sheet.before_the_next("run-for \"15s\""),
            RelayTrouble::Delay => self.late = true,
            _ => {}
        }
    }

    /// What the relay was told reaches the harness before the step is over.
    fn arrives(&self, step: &mut StepText) {
        if self.late {
            step.act("run-for \"5s\"");
        }
    }

    /// What the relay does before a message.
    fn relay(&mut self, trouble: RelayTrouble, channel: usize, step: &mut StepText) {
        // Which of two relays a fault would be about is not said.
        if self.state.ground.pair == Pair::Neighbours {
            return;
        }
        if trouble == RelayTrouble::CloseSubscription {
            self.channels.insert(channel);
        }
        let close = format!(
            "relay-fault close-subscription channel=\"{}\" message=\"error: shutting down\"",
            CHANNELS[channel].0
        );
        let (mark, line) = match trouble {
            RelayTrouble::None => return,
            RelayTrouble::Duplicate => ("relay/duplicate", "relay-fault duplicate"),
            RelayTrouble::Disconnect => ("relay/disconnect", "relay-fault disconnect"),
            RelayTrouble::Away => ("relay/away", "relay-fault restart down=\"30s\""),
            RelayTrouble::Delay => ("relay/delay", "relay-fault delay by=\"3s\""),
            RelayTrouble::ReAuth => ("relay/re-auth", "relay-fault re-auth"),
            RelayTrouble::RateLimit => ("relay/rate-limit", "relay-fault rate-limit for=\"10s\""),
            RelayTrouble::SlowEose => ("relay/slow-eose", "relay-fault slow-eose by=\"10s\""),
            RelayTrouble::CloseSubscription => ("relay/close-subscription", &*close),
        };
        self.mark(mark);
        step.act(line);
    }

    /// Several mentions at one instant: each is answered, and those of one scope share a session.
    pub(super) fn burst(&mut self, spots: [Spot; 3]) {
        // How many turns two messages of one instant make is the harness's choice.
        if self.state.ground.max_turns > 0 {
            return;
        }
        let mut step = StepText::new("three mentions at once");
        let said: Vec<_> = spots.iter().map(|spot| self.said(*spot, Dress::Plain)).collect();
        let lines: Vec<&str> = said.iter().map(|(words, _)| &**words).collect();
        step.act(format!("together {{ {}; }}", lines.join("; ")));
        let heard: Vec<Heard> =
            said.into_iter().map(|(_, one)| Heard { alone: false, ..one }).collect();
        let mut sure: BTreeMap<&Key, bool> = BTreeMap::new();
        for (place, one) in heard.iter().enumerate() {
            let known = self.is_sure(one);
            let sure = *sure.entry(&one.key).or_insert(known);
            let label = &one.label;
            let elsewhere = |other: &Heard| other.key == one.key && other.home != one.home;
            if heard.iter().any(elsewhere) {
                // Two harnesses race for one scope.
                step.expect(format!("expect turn=\"done\" message=\"{label}\""));
                self.unsure(&one.key);
            } else if heard[..place].iter().any(|other| other.key == one.key) {
                self.again(one, sure, &mut step);
            } else {
                self.turn(one, &mut step);
            }
        }
        self.mark(if self.state.homes.len() > 1 { "burst/of-two" } else { "burst/of-one" });
        self.sheet.step(step);
    }

    /// It is known which session a mention comes to.
    fn is_sure(&self, one: &Heard) -> bool {
        let live = self.state.homes[one.home].live.get(&one.key);
        live != Some(&Live::Unsure)
            && (live.is_some() || self.state.loadable(one.home, &one.key).is_ok())
    }

    /// A second mention of one scope in one instant.
    fn again(&mut self, one: &Heard, sure: bool, step: &mut StepText) {
        let label = &one.label;
        if let Some(name) = self.live_name(one.home, &one.key).filter(|_| sure) {
            step.expect(format!(
                "expect \"session/prompt\" count=1 session=\"{name}\" message=\"{label}\""
            ));
        }
        step.expect(format!("expect turn=\"done\" message=\"{label}\""));
        // Both may have gone into one prompt.
        self.state.lose_count();
    }

    /// Nobody can say any more what is known of a scope.
    pub(super) fn unsure(&mut self, key: &Key) {
        self.state.lose_count();
        for home in 0..self.state.homes.len() {
            self.state.homes[home].live.insert(key.clone(), Live::Unsure);
            self.state.keep(home, key, Some(super::state::Kept::Unsure));
        }
    }

    /// A turn runs, and something comes in between.
    pub(super) fn busy(&mut self, spot: Spot, then: Meanwhile) {
        let switches = self.state.ground.feed && self.state.ground.choice == Choice::Models;
        let rotates = self.state.ground.max_turns == 0 && self.state.ground.pair != Pair::Twins;
        let fits = match then {
            Meanwhile::Mention => self.state.ground.max_turns == 0,
            Meanwhile::Rotate | Meanwhile::Cancel => rotates,
            Meanwhile::Switch => rotates && switches && !self.state.ground.threads,
        };
        let Some(nth) = self.state.next("session/prompt").filter(|_| fits) else { return };
        // A command in a thread must be able to name it.
        let threaded = Spot { thread: if self.state.ground.threads { 1 } else { 0 }, ..spot };
        let (words, heard) = self.said(threaded, Dress::Plain);
        let heard = Heard { goes_on: true, ..heard };
        let mut running = StepText::new("a turn is running");
        running.act(words);
        self.turn(&heard, &mut running);
        self.sheet.step(running);
        if self.state.next("session/prompt").is_none() {
            // Whose session it is cannot be said, so neither can what is to be cancelled.
            return;
        }
        match then {
            Meanwhile::Mention => self.wait_behind(&heard, nth, threaded),
            Meanwhile::Rotate => self.end_busy(&heard, nth, "!rotate"),
            Meanwhile::Cancel => self.end_busy(&heard, nth, "!cancel"),
            Meanwhile::Switch => self.switch_busy(&heard, nth),
        }
    }

    fn wait_behind(&mut self, heard: &Heard, nth: u32, spot: Spot) {
        self.sheet.rule("session/prompt", nth, &["delay \"3s\""]);
        self.mark("busy/mention");
        let mut step = StepText::new("a second message waits for its end");
        let (words, second) = self.said(spot, Dress::Plain);
        step.act(words);
        step.expect(format!("expect turn=\"done\" message=\"{}\"", heard.label));
        self.turn(&Heard { alone: false, ..second }, &mut step);
        self.sheet.step(step);
    }

    fn end_busy(&mut self, heard: &Heard, nth: u32, command: &str) {
        self.sheet.rule("session/prompt", nth, &["hang"]);
        self.mark(if command == "!rotate" { "busy/rotate" } else { "busy/cancel" });
        let mut step = StepText::new("the owner ends it");
        step.act("run-for \"2s\"");
        step.act(self.command(command, heard));
        self.arrives(&mut step);
        step.expect("expect \"session/cancel\" count=1");
        step.expect(format!("expect turn=\"cancelled\" message=\"{}\"", heard.label));
        self.state.discard(heard.home, &heard.key);
        self.receipt(heard.home, &heard.key, &mut step);
        self.sheet.step(step);
    }

    fn command(&mut self, command: &str, heard: &Heard) -> String {
        self.channels.insert(heard.key.channel);
        let to = self.state.meant(heard.home, "to");
        format!("command \"{command}\" {}{to}", heard.key.words())
    }

    fn switch_busy(&mut self, heard: &Heard, nth: u32) {
        let Some(session) = self.live_name(heard.home, &heard.key) else { return };
        self.sheet.rule("session/prompt", nth, &["delay \"5s\""]);
        self.mark("busy/switch");
        let mut step = StepText::new("the owner switches the model");
        step.act(self.switch_line(heard.home, heard.key.channel));
        step.act("run-for \"10s\"");
        step.expect(format!("expect receipt session=\"{session}\" count=0"));
        self.sheet.step(step);
        self.state.switched.insert(heard.key.channel);
        self.unsure(&heard.key);
        let mut step = StepText::new("the next message is not for the old session");
        let spot = Spot {
            channel: u8::try_from(heard.key.channel).unwrap_or(0),
            thread: 0,
            harness: u8::try_from(heard.home).unwrap_or(0),
        };
        let (words, next) = self.said(spot, Dress::Plain);
        step.act(words);
        step.expect(format!(
            "expect \"session/prompt\" count=1 not-session=\"{session}\" message=\"{}\"",
            next.label
        ));
        step.expect(format!("never \"session/load\" session=\"{session}\""));
        step.expect(format!("never \"session/prompt\" session=\"{session}\""));
        self.sheet.step(step);
    }

    fn switch_line(&self, home: usize, channel: usize) -> String {
        let of = self.state.meant(home, "harness");
        format!("switch-model \"m2\" channel=\"{}\"{of}", CHANNELS[channel].0)
    }

    pub(super) fn live_name(&self, home: usize, key: &Key) -> Option<String> {
        match self.state.homes[home].live.get(key) {
            Some(Live::Session { name, .. }) => Some(name.clone()),
            _ => None,
        }
    }

    /// The key of a scope that a command can name: not one that a message itself began.
    fn named(&self, spot: Spot) -> Option<Key> {
        let thread = self.state.thread(spot);
        let threads = self.state.ground.threads && CHANNELS[channel(spot)].1 != "dm";
        (!threads || thread.is_some()).then(|| self.would_be_in(spot))
    }

    /// The owner rotates an idle session.
    pub(super) fn rotate(&mut self, spot: Spot, full: bool) {
        let home = self.state.home(spot.harness);
        let Some(key) = self.named(spot) else { return };
        if full {
            return self.rotate_full(home, &key);
        }
        if !self.state.homes[home].resume {
            return;
        }
        let mut step = StepText::new(format!("{} is rotated", CHANNELS[key.channel].0));
        let idle = !self.state.homes[home].live.contains_key(&key);
        // Two equal commands of one second are one and the same event.
        step.act("run-for \"2s\"");
        let heard = self.silent(home, &key);
        step.act(self.command("!rotate", &heard));
        self.arrives(&mut step);
        self.state.discard(home, &key);
        self.mark(if idle { "rotate/of-disk" } else { "rotate/idle" });
        self.receipt(home, &key, &mut step);
        self.receipts(&mut step);
        self.sheet.step(step);
    }

    /// Nobody says anything, in this scope.
    pub(super) fn silent(&self, home: usize, key: &Key) -> Heard {
        Heard {
            home,
            key: key.clone(),
            label: String::new(),
            load: LoadFault::None,
            turn: TurnFault::None,
            alone: true,
            goes_on: false,
        }
    }

    /// How many receipts there are in all.
    pub(super) fn receipts(&self, step: &mut StepText) {
        if let Some(count) = self.state.receipts().filter(|_| self.state.homes.len() == 1) {
            step.expect(format!("expect receipt count={count}"));
        }
    }

    /// A rotation that cannot be written is made good when there is room again.
    fn rotate_full(&mut self, home: usize, key: &Key) {
        let Some(session) = self.live_name(home, key) else { return };
        let plain = self.state.homes.len() == 1 && self.state.homes[home].resume;
        let remembered = matches!(
            self.state.kept(home, key),
            Some(super::state::Kept::Session { name, .. }) if *name == session
        );
        if !plain || !remembered {
            return;
        }
        self.mark("rotate/full");
        let heard = self.silent(home, key);
        let mut step = StepText::new("a rotation cannot be written, and is said to be");
        step.act("disk fill");
        step.act("run-for \"2s\"");
        step.act(self.command("!rotate", &heard));
        self.arrives(&mut step);
        step.expect("expect store-trouble");
        step.expect(format!("expect receipt {} session=\"{session}\" count=1", key.words()));
        self.sheet.step(step);
        self.state.discard(home, key);
        let mut step = StepText::new("there is room again");
        step.act("disk fill #false");
        step.act("run-for \"2m\"");
        self.receipt(home, key, &mut step);
        self.sheet.step(step);
    }

    /// The agent leaves a channel, which ends every session there, and comes back.
    pub(super) fn leave(&mut self, number: u8) {
        let spot = Spot { channel: number, ..Spot::default() };
        let at = channel(spot);
        let two = self.state.ground.pair == Pair::Neighbours;
        if two || CHANNELS[at].1 == "dm" || self.state.homes.iter().any(|home| !home.resume) {
            return;
        }
        let name = CHANNELS[at].0;
        self.channels.insert(at);
        self.mark("leave");
        let mut step = StepText::new(format!("the agent is taken out of {name}"));
        step.act(format!("membership remove channel=\"{name}\""));
        self.arrives(&mut step);
        for home in &mut self.state.homes {
            home.live.retain(|key, _| key.channel != at);
        }
        self.state.kept.retain(|(_, key), _| key.channel != at);
        step.expect(format!("expect receipt channel=\"{name}\" count=0"));
        self.receipts(&mut step);
        self.sheet.step(step);
        self.sheet.before_the_next(format!("membership add channel=\"{name}\""));
        self.sheet.before_the_next("run-for \"5s\"");
    }

    /// The owner switches the model of an idle session.
    pub(super) fn switch(&mut self, spot: Spot) {
        let ground = self.state.ground;
        let home = self.state.home(spot.harness);
        let key = Key { channel: channel(spot), root: None };
        let fits = ground.feed && ground.choice == Choice::Models && !ground.threads;
        let plain = ground.pair == Pair::One && self.state.homes[home].resume;
        if !fits || !plain || self.live_name(home, &key).is_none() {
            return;
        }
        self.mark("switch/idle");
        let mut step = StepText::new("the owner switches the model");
        step.act(self.switch_line(home, key.channel));
        self.arrives(&mut step);
        self.state.discard(home, &key);
        self.receipt(home, &key, &mut step);
        self.sheet.step(step);
        self.state.switched.insert(key.channel);
    }
}
