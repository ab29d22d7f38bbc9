//! `expect receipt channel="red" session="s1"`: what the store remembers once a step is settled.
//!
//! Where the store answers (sim, and our own store), its receipts are looked at. For a foreign
//! store, whose format is unknown, a receipt is "the session's id stands in a file of the state
//! directory"; a receipt that is asked for by its channel alone means the last session of that
//! channel.

use skep_trace::{Hex32, NameKind, Receipt, Text, What};

use super::file::{contains, looks};
use super::{Bind, Found, Stretch, Watch, cause};
use crate::asked::AskedHarness;
use crate::expectation::WantedReceipt;
use crate::facts::Facts;
use crate::facts::moment::Moment;
use crate::facts::scope::{Scope, channel_of};
use crate::verdict::{Blame, Cause, Verdict};
use crate::words::shortened;

/// Watches for receipts.
pub(crate) struct ReceiptWatch {
    wanted: WantedReceipt,
    never: bool,
    found: Option<Found>,
}

/// The wanted fields, as they stand in a receipt.
struct Key {
    relay: Option<Text>,
    pubkey: Option<Hex32>,
    channel: Option<Text>,
    root: Option<Hex32>,
    session: Option<Text>,
}

impl Key {
    /// Names become ids; a name without one is told.
    fn of(wanted: &WantedReceipt, facts: &Facts) -> Result<Self, String> {
        let id = |kind: NameKind, name: &Option<Text>| match name {
            None => Ok(None),
            Some(name) => match facts.names.id(kind, name) {
                Some(id) => Ok(Some(id.clone())),
                None => Err(format!("no {} has the name {name}", kind.word())),
            },
        };
        let root = match &wanted.root {
            None => None,
            Some(name) => {
                Some(facts.names.event(name).ok_or(format!("no thread has the name {name}"))?)
            }
        };
        let harness = harness(wanted, facts);
        let relay = harness.and_then(|own| facts.names.id(NameKind::Relay, &own.relay)).cloned();
        Ok(Self {
            relay,
            pubkey: harness.and_then(|own| facts.names.hex(NameKind::Harness, &own.name)),
            channel: id(NameKind::Channel, &wanted.channel)?.map(|id| channel_of(&id)),
            root,
            session: id(NameKind::Session, &wanted.session)?,
        })
    }

    fn fits_place(&self, receipt: &Receipt) -> bool {
        let relay = |url: &Text| {
            let plain = |url: &str| url.trim_end_matches('/').to_ascii_lowercase();
            plain(url) == plain(&receipt.relay)
        };
        self.relay.as_ref().is_none_or(relay)
            && self.pubkey.is_none_or(|key| key == receipt.pubkey)
            && self.channel.as_ref().is_none_or(|id| *id == channel_of(&receipt.channel))
            && self.root.is_none_or(|root| receipt.root == Some(root))
    }
}

/// The harness whose receipts are meant: the named one, or the only one.
fn harness<'f>(wanted: &WantedReceipt, facts: &'f Facts) -> Option<&'f AskedHarness> {
    match &wanted.harness {
        Some(name) => facts.asked.harness(name).map(|place| &facts.asked.harnesses[place]),
        None if facts.asked.harnesses.len() == 1 => facts.asked.harnesses.first(),
        None => None,
    }
}

impl ReceiptWatch {
    pub(crate) fn new(wanted: WantedReceipt, never: bool) -> Self {
        Self { wanted, never, found: None }
    }

    /// What about a receipt in the right place is not as asked: what it is about, and both values.
    fn difference(&self, key: &Key, receipt: &Receipt) -> Option<(&'static str, String)> {
        if key.session.as_ref().is_some_and(|session| *session != receipt.session) {
            let wanted = self.wanted.session.as_deref().unwrap_or_default();
            return Some(("session", format!("not as {wanted}")));
        }
        let shown = |value: &str| match value {
            "" => "the agent's default".to_owned(),
            value => shortened(value),
        };
        let differs = |what: &'static str, wanted: &Option<Text>, own: &Option<Text>| {
            let (wanted, own) = (wanted.as_deref()?, own.as_deref().unwrap_or(""));
            let told = || format!("its {what} is {}, not {}", shown(own), shown(wanted));
            (wanted != own).then(|| (what, told()))
        };
        differs("model", &self.wanted.model, &receipt.model)
            .or_else(|| differs("mode", &self.wanted.mode, &receipt.mode))
    }

    fn judge(&self, facts: &Facts, stretch: &Stretch) -> Found {
        let key = match Key::of(&self.wanted, facts) {
            Ok(key) => key,
            Err(missing) => return Found::inconclusive(missing),
        };
        let state = harness(&self.wanted, facts).map(|own| &own.state);
        let names = facts.states.names().filter(|name| state.is_none_or(|state| state == *name));
        let answers: Vec<_> = names
            .filter_map(|name| facts.states.get(name)?.receipts.as_ref())
            .filter(|(record, _)| stretch.holds(*record))
            .collect();
        match answers.iter().map(|(record, _)| *record).max() {
            Some(record) => {
                let receipts = answers.iter().flat_map(|(_, receipts)| receipts);
                self.weigh(&key, &receipts.collect::<Vec<_>>(), record, facts)
            }
            None => self.judge_bytes(&key, state, facts, stretch),
        }
    }

    fn weigh(&self, key: &Key, all: &[&Receipt], record: usize, facts: &Facts) -> Found {
        let there: Vec<_> = all.iter().filter(|receipt| key.fits_place(receipt)).collect();
        let wrong: Vec<_> =
            there.iter().filter_map(|receipt| self.difference(key, receipt)).collect();
        let count = u32::try_from(there.len() - wrong.len()).unwrap_or(u32::MAX);
        let label = match there.first() {
            None => "there is none".to_owned(),
            Some(receipt) => describe(receipt, there.len(), facts),
        };
        let broken = |title: &str, label: &str| {
            Found::violated(Blame::Harness, title, label, record).because(self.history(facts))
        };
        let most = self.wanted.count.at_most;
        match (self.never, count, wrong.first()) {
            (true, 0, _) => Found::held("there is none"),
            (true, ..) => broken(self.left_behind(facts), &label),
            (false, count, _) if self.wanted.count.holds(count) => Found::held(label),
            (false, 0, None) => broken("the receipt is missing", &label),
            (false, 0, Some((what, difference))) => broken(
                &format!("the receipt is of another {what}"),
                &format!("{label}: {difference}"),
            ),
            (false, ..) if most == Some(0) => broken(self.left_behind(facts), &label),
            (false, count, _) => {
                let many = if most.is_some_and(|most| count > most) { "more" } else { "fewer" };
                let title = format!("there are {many} such receipts than there must be");
                broken(&title, &format!("{count} of them, asked for {}", self.wanted.count))
            }
        }
    }

    /// A discarded session is remembered again after the step in which it must not be.
    fn came_back(&self, moment: &Moment<'_>, facts: &Facts) -> Option<Found> {
        let What::Receipts { state, receipts } = moment.what else { return None };
        let name = self.wanted.session.as_ref().filter(|_| self.never)?;
        let id = facts.names.id(NameKind::Session, name)?;
        let gone = facts.sessions.find(id).is_some_and(|id| facts.discards.is_gone(id));
        let own = harness(&self.wanted, facts).is_none_or(|own| own.state == *state);
        if !gone || !own {
            return None;
        }
        let key = Key::of(&self.wanted, facts).ok()?;
        let all: Vec<_> = receipts.iter().collect();
        Some(self.weigh(&key, &all, moment.record, facts))
    }

    fn left_behind(&self, facts: &Facts) -> &'static str {
        let named = self.wanted.session.as_ref();
        let id = named.and_then(|name| facts.names.id(NameKind::Session, name));
        let session = id.and_then(|id| facts.sessions.find(id));
        if session.is_some_and(|session| facts.discards.any(session).is_some()) {
            "a discarded session is still remembered"
        } else {
            "a receipt is there that must not be"
        }
    }

    fn history(&self, facts: &Facts) -> Vec<Cause> {
        let named = self.wanted.session.as_ref();
        let id = named.and_then(|name| facts.names.id(NameKind::Session, name));
        let Some(session) = id.and_then(|id| facts.sessions.find(id)) else { return Vec::new() };
        let name = facts.session_name(session);
        let opened = facts.sessions.get(session).opened();
        let opened = opened.map(|record| cause(record, format!("{name} opened here")));
        let gone = facts.discards.any(session);
        opened.into_iter().chain(gone.map(|it| cause(it.record, it.why.label()))).collect()
    }

    /// A foreign store: its bytes are all that can be looked at.
    fn judge_bytes(
        &self,
        key: &Key,
        state: Option<&Text>,
        facts: &Facts,
        stretch: &Stretch,
    ) -> Found {
        let looks = looks(state, facts, stretch);
        let Some(record) = looks.iter().map(|(record, _, _)| *record).max() else {
            return Found::inconclusive("the store was not asked in this step");
        };
        if self.wanted.model.is_some() || self.wanted.mode.is_some() {
            return Found::inconclusive("the format of this store is unknown");
        }
        let session = key.session.clone().or_else(|| last_session(key, facts));
        let Some(session) = session else {
            return Found::inconclusive(
                "the format of this store is unknown, and no session stands for the receipt",
            );
        };
        let name = facts.names.name(NameKind::Session, &session);
        let holds =
            |bytes: Option<&[u8]>| bytes.is_some_and(|bytes| contains(bytes, session.as_bytes()));
        let mut files = looks.iter().flat_map(|(_, _, snapshot)| snapshot.files());
        let there = files.find(|(_, _, bytes)| holds(*bytes)).map(|(path, _, _)| path.to_owned());
        let broken = |title: &str, label: String| {
            Found::violated(Blame::Harness, title, label, record).because(self.history(facts))
        };
        match (self.never || self.wanted.count.at_most == Some(0), there) {
            (true, Some(path)) => {
                broken(self.left_behind(facts), format!("{name} stands in {path}"))
            }
            (false, None) if self.wanted.count.at_least > 0 => {
                broken("the receipt is missing", format!("{name} stands in no file"))
            }
            (_, None) => Found::held(format!("{name} stands in no file")),
            (_, Some(path)) => Found::held(format!("{name} stands in {path}")),
        }
    }
}

/// The session that a conversation was last known to have.
fn last_session(key: &Key, facts: &Facts) -> Option<Text> {
    let scope = Scope { channel: key.channel.clone()?, root: key.root };
    let known = facts.sessions.iter().rev();
    let mut known =
        known.filter(|(_, session)| session.scope().is_some_and(|own| own.fits(&scope)));
    known.next().map(|(_, session)| session.id.clone())
}

fn describe(receipt: &Receipt, of: usize, facts: &Facts) -> String {
    let channel = facts.names.name(NameKind::Channel, &receipt.channel);
    let session = facts.names.name(NameKind::Session, &receipt.session);
    let with = |what: &str, value: &Option<Text>| match value {
        Some(value) => format!(", {what} {value}"),
        None => String::new(),
    };
    let more = if of > 1 { format!(" (and {} more)", of - 1) } else { String::new() };
    let (model, mode) = (with("model", &receipt.model), with("mode", &receipt.mode));
    format!("{channel} is remembered as {session}{model}{mode}{more}")
}

impl Watch for ReceiptWatch {
    fn see(&mut self, _moment: &Moment<'_>, _facts: &Facts) -> Option<Bind> {
        None
    }

    fn unmet(&self, _facts: &Facts) -> bool {
        false
    }

    fn close(&mut self, facts: &Facts, stretch: &Stretch) {
        self.found = Some(self.judge(facts, stretch));
    }

    fn see_later(&mut self, moment: &Moment<'_>, facts: &Facts) {
        let held = self.found.as_ref().is_some_and(|found| found.verdict == Verdict::Held);
        if let Some(found) = self.came_back(moment, facts).filter(|_| held) {
            self.found = Some(found);
        }
    }

    fn found(&self, _facts: &Facts) -> Found {
        self.found.clone().unwrap_or_else(|| Found::inconclusive("its step never ended"))
    }
}
